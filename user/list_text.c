// SPDX-License-Identifier: GPL-2.0-only
#include "list.h"

#include <fnmatch.h>
#include <string.h>

#include "fields.h"
#include "report.h"
#include "wrap.h"

#define LABEL_WIDTH 14

void list_for_each_word(const char *words, void (*use)(const char *word, int length, void *arg), void *arg)
{
	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		int length = strcspn(words, " ");

		use(words, length, arg);
		words += length;
	}
}

bool list_loss_concerns(const struct loss *loss, const struct invariant *invariant)
{
	return !fnmatch(loss->invariants, invariant->id, 0);
}

int list_write_table(FILE *out, const bool chosen[NR_INVARIANTS])
{
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		if (!chosen[i])
			continue;
		fprintf(out, "%-26s %s\n%-26s ", invariants[i].id, invariants[i].title, "");
		wrap_print(out, invariants[i].source, 27, 27);
	}
	return report_flush(out);
}

static void print_paragraph(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%-*s", LABEL_WIDTH, label);
	wrap_print(out, text, LABEL_WIDTH, LABEL_WIDTH);
}

static void print_named(FILE *out, const char *label, const char *name, const char *text)
{
	int column = fprintf(out, "%-*s%s: ", LABEL_WIDTH, label, name);

	wrap_print(out, text, column, LABEL_WIDTH + 2);
}

static void print_exemptions(FILE *out, size_t id)
{
	const char *label = "Not judged";

	for (size_t i = 0; i < NR_EXEMPTIONS; i++) {
		if (exemptions[i].invariant != id)
			continue;
		print_named(out, label, exemptions[i].name, exemptions[i].why);
		label = "";
	}
}

static void print_losses(FILE *out, const struct invariant *invariant)
{
	print_paragraph(out, "Inconclusive",
			"if a run of one of the probes below was skipped, if a probe misses a copy of "
			"its function that the compiler made, or if something was lost:");
	for (size_t i = 0; i < NR_LOSSES; i++)
		if (list_loss_concerns(&losses[i], invariant))
			print_named(out, "", losses[i].name, losses[i].what);
}

static void print_hook(const char *word, int length, void *arg)
{
	const char *condition = memchr(word, '@', length);

	if (!condition) {
		fprintf(arg, "%-*s%.*s\n", LABEL_WIDTH, "", length, word);
		return;
	}
	fprintf(arg, "%-*s%.*s, where the kernel has %.*s\n", LABEL_WIDTH, "", (int)(condition - word - 1), word + 1,
		(int)(word + length - condition - 1), condition + 1);
}

static void print_values(FILE *out, const struct invariant *invariant)
{
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(invariant->values, fields, RECORD_NR_VALUES);

	print_paragraph(out, "Values", "of a violation, with their units:");
	for (int i = 0; i < count; i++)
		fprintf(out, "%-*s%s, %s\n", LABEL_WIDTH, "", fields[i].name, fields[i].unit);
}

static void explain(FILE *out, size_t id)
{
	const struct invariant *invariant = &invariants[id];

	fprintf(out, "%s: %s\n\n", invariant->id, invariant->title);
	print_paragraph(out, "Law", invariant->law);
	print_paragraph(out, "Source", invariant->source);
	print_paragraph(out, "Soundness", invariant->soundness);
	print_exemptions(out, id);
	print_losses(out, invariant);
	print_paragraph(out, "Hooks", "that it stands on (`kwitness doctor` tells which probes serve them here):");
	list_for_each_word(invariant->hooks, print_hook, out);
	print_values(out, invariant);
}

int list_write_text(FILE *out, const bool chosen[NR_INVARIANTS])
{
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (chosen[i])
			explain(out, i);
	return report_flush(out);
}
