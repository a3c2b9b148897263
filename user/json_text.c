// SPDX-License-Identifier: GPL-2.0-only
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* RFC 3629, section 4: the second byte's range depends on the first, which rules out surrogates and long forms. */
struct utf8_form {
	unsigned char first_from, first_to;
	unsigned char second_from, second_to;
	size_t length;
};

static const struct utf8_form utf8_forms[] = {
	{ 0x01, 0x7f, 0, 0xff, 1 },    { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

/* Bytes of the character that @text starts with, or 0 if it is none. */
static size_t utf8_length(const unsigned char *text)
{
	for (size_t i = 0; i < sizeof(utf8_forms) / sizeof(utf8_forms[0]); i++) {
		const struct utf8_form *form = &utf8_forms[i];

		if (text[0] < form->first_from || text[0] > form->first_to)
			continue;
		if (form->length > 1 && (text[1] < form->second_from || text[1] > form->second_to))
			return 0;
		for (size_t byte = 2; byte < form->length; byte++)
			if ((text[byte] & 0xc0) != 0x80)
				return 0;
		return form->length;
	}
	return 0;
}

/* Returns a copy of @text, at most three times as long, that is UTF-8. */
static char *clean(const char *text)
{
	char *copy = malloc(strlen(text) * strlen(REPLACEMENT) + 1), *end = copy;

	while (*text) {
		size_t length = utf8_length((const unsigned char *)text);

		end = length ? mempcpy(end, text, length) : stpcpy(end, REPLACEMENT);
		text += length ? length : 1;
	}
	*end = '\0';
	return copy;
}

struct json_object *json_text(const char *text)
{
	char *copy = clean(text);
	struct json_object *string = json_object_new_string(copy);

	free(copy);
	return string;
}

FILE *json_stream_begin(struct json_stream *stream)
{
	stream->out = open_memstream(&stream->text, &stream->size);
	return stream->out;
}

struct json_object *json_stream_end(struct json_stream *stream)
{
	struct json_object *string;

	fclose(stream->out);
	string = json_text(stream->text);
	free(stream->text);
	return string;
}

int json_write(FILE *out, struct json_object *document)
{
	const int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;

	fprintf(out, "%s\n", json_object_to_json_string_ext(document, flags));
	json_object_put(document);
	return report_flush(out);
}
