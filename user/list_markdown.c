// SPDX-License-Identifier: GPL-2.0-only
#include "list.h"

#include "fields.h"
#include "report.h"

/* Ids and names of functions have underscores, which Markdown would take for emphasis. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text == '_' || *text == '*' || *text == '<' || *text == '|' ? "\\%c" : "%c", *text);
}

static void print_paragraph(FILE *out, const char *label, const char *text)
{
	fprintf(out, "**%s.** ", label);
	print_escaped(out, text);
	fputs("\n\n", out);
}

static void print_item(FILE *out, const char *name, const char *text)
{
	fprintf(out, "- `%s`: ", name);
	print_escaped(out, text);
	fputc('\n', out);
}

static void print_exemptions(FILE *out, size_t id)
{
	const char *head = "**Not judged, and counted:**\n\n", *tail = "";

	for (size_t i = 0; i < NR_EXEMPTIONS; i++) {
		if (exemptions[i].invariant != id)
			continue;
		fputs(head, out);
		print_item(out, exemptions[i].name, exemptions[i].why);
		head = "";
		tail = "\n";
	}
	fputs(tail, out);
}

static void print_losses(FILE *out, const struct invariant *invariant)
{
	const char *head = "**Inconclusive if lost:**\n\n", *tail = "";

	for (size_t i = 0; i < NR_LOSSES; i++) {
		if (!list_loss_concerns(&losses[i], invariant))
			continue;
		fputs(head, out);
		print_item(out, losses[i].name, losses[i].what);
		head = "";
		tail = "\n";
	}
	fputs(tail, out);
}

static void print_hook(const char *word, int length, void *out)
{
	fprintf(out, " `%.*s`", length, word);
}

static void print_values(FILE *out, const struct invariant *invariant)
{
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(invariant->values, fields, RECORD_NR_VALUES);

	fputs("**Values of a violation:**\n\n", out);
	for (int i = 0; i < count; i++)
		fprintf(out, "- `%s`: `%s`\n", fields[i].name, fields[i].unit);
	fputc('\n', out);
}

static void explain(FILE *out, size_t id)
{
	const struct invariant *invariant = &invariants[id];

	fprintf(out, "## `%s`\n\n", invariant->id);
	print_escaped(out, invariant->title);
	fputs("\n\n", out);
	print_paragraph(out, "Law", invariant->law);
	print_paragraph(out, "Source", invariant->source);
	print_paragraph(out, "Soundness", invariant->soundness);
	print_exemptions(out, id);
	print_losses(out, invariant);
	fputs("**Hooks:**", out);
	list_for_each_word(invariant->hooks, print_hook, out);
	fputs("\n\n", out);
	print_values(out, invariant);
}

int list_write_markdown(FILE *out, const bool chosen[NR_INVARIANTS])
{
	fprintf(out, "# Invariants\n\nWritten by `kwitness list --format markdown`.\n\n");
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (chosen[i])
			explain(out, i);
	return report_flush(out);
}
