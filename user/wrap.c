// SPDX-License-Identifier: GPL-2.0-only
#include "wrap.h"

#include <stdbool.h>
#include <string.h>

void wrap_print(FILE *out, const char *text, int column, int indent)
{
	bool first_of_line = true;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		int length = strcspn(text, " ");

		if (!first_of_line && column + 1 + length > WRAP_WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			first_of_line = true;
		}
		column += fprintf(out, "%s%.*s", first_of_line ? "" : " ", length, text);
		first_of_line = false;
		text += length;
	}
	fputc('\n', out);
}
