// SPDX-License-Identifier: GPL-2.0-only
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "report.h"

static enum invariant_id id_of(const struct report *report, const struct invariant_report *invariant)
{
	return invariant - report->invariants;
}

static void note_losses(FILE *out, const struct report *report, const char *id, const char **separator)
{
	for (size_t i = 0; i < NR_LOSSES; i++) {
		if (!report->lost[i] || fnmatch(losses[i].invariants, id, 0))
			continue;
		fprintf(out, "%s%s: %" PRIu64 " lost (%s)", *separator, losses[i].name, report->lost[i],
			losses[i].what);
		*separator = "; ";
	}
}

static void note_recursion(FILE *out, const struct report *report, const struct invariant_report *invariant,
			   const char **separator)
{
	if (!invariant->recursion_misses)
		return;
	fprintf(out, "%s%" PRIu64 " runs of its probes were skipped, since the probe was running on that CPU already",
		*separator, invariant->recursion_misses);
	for (size_t i = 0; i < invariant->nr_probes; i++) {
		const struct probe_report *probe = &report->probes[invariant->probes[i]];

		if (probe->recursion_misses)
			fprintf(out, ", %s %" PRIu64, probe->name, probe->recursion_misses);
	}
	*separator = "; ";
}

/* What this invariant's counters do not know about; NULL when that is nothing. */
static char *missing_evidence(const struct report *report, const struct invariant_report *invariant)
{
	const char *separator = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	note_losses(out, report, invariant->invariant->id, &separator);
	note_recursion(out, report, invariant, &separator);
	if (invariant->uncovered)
		fprintf(out, "%sno probe covers %s", separator, invariant->uncovered);
	fclose(out);
	if (size)
		return text;
	free(text);
	return NULL;
}

/* Appends @addition, which is freed, to the reason. */
static void add_reason(struct invariant_report *invariant, char *addition)
{
	char *reason = invariant->reason;

	if (!reason || !addition) {
		invariant->reason = reason ? reason : addition;
		return;
	}
	invariant->reason = format_string("%s; %s", reason, addition);
	free(reason);
	free(addition);
}

/*
 * Everything that was told is known. What was not told is taken as the same if the limit cut it off, since a known
 * finding that fires a thousand times must not hide behind that limit; but not if it was lost, nor if events were.
 */
static void judge_known(const struct report *report, struct invariant_report *invariant, uint64_t kept, char *missing)
{
	bool cut = kept < invariant->violations;
	char *names = report_known_names(report, id_of(report, invariant));

	if (cut)
		add_reason(invariant, format_string("%" PRIu64 " of %" PRIu64 " violations were examined", kept,
						    invariant->violations));
	if (missing || (cut && report->records_lost)) {
		invariant->verdict = VERDICT_INCONCLUSIVE;
		add_reason(invariant, format_string("those are known (%s), but evidence is missing", names));
		add_reason(invariant, missing ? missing
					      : format_string("%" PRIu64 " records did not fit into the ring buffer",
							      report->records_lost));
	} else {
		invariant->verdict = VERDICT_VIOLATED;
		invariant->only_known = true;
	}
	free(names);
}

static void judge_violations(const struct report *report, struct invariant_report *invariant, char *missing)
{
	uint64_t kept = report_kept(report, id_of(report, invariant));

	if (invariant->known && invariant->known == kept) {
		judge_known(report, invariant, kept, missing);
		return;
	}
	invariant->verdict = VERDICT_VIOLATED;
	if (invariant->known)
		add_reason(invariant, format_string("%" PRIu64 " of the %" PRIu64 " that were examined are known",
						    invariant->known, kept));
	add_reason(invariant, missing);
}

static void judge_unavailable(struct invariant_report *invariant)
{
	invariant->verdict = VERDICT_UNAVAILABLE;
	add_reason(invariant, format_string("%s", invariant->unavailable_reason ? invariant->unavailable_reason
										: "a probe that it needs is missing"));
	if (invariant->violations)
		add_reason(invariant, format_string("the violations that were counted prove nothing without it"));
}

static void judge_invariant(const struct report *report, struct invariant_report *invariant)
{
	char *missing;

	if (!invariant->available) {
		judge_unavailable(invariant);
		return;
	}
	missing = missing_evidence(report, invariant);
	if (invariant->violations) {
		judge_violations(report, invariant, missing);
	} else if (missing) {
		invariant->verdict = VERDICT_INCONCLUSIVE;
		add_reason(invariant, missing);
	} else if (invariant->evaluated) {
		invariant->verdict = VERDICT_HOLDS;
	} else if (invariant->required) {
		invariant->verdict = VERDICT_INCONCLUSIVE;
		add_reason(invariant, format_string("required, but nothing that it is about has happened"));
	} else {
		invariant->verdict = VERDICT_NOT_EXERCISED;
	}
}

struct tally {
	bool violated; /* by something new */
	bool available;
	bool inconclusive;
	bool decided;
};

static void count(struct tally *tally, const struct invariant_report *invariant)
{
	switch (invariant->verdict) {
	case VERDICT_HOLDS:
		tally->decided = true;
		break;
	case VERDICT_VIOLATED:
		tally->decided = true;
		tally->violated |= !invariant->only_known;
		break;
	case VERDICT_INCONCLUSIVE:
		tally->inconclusive = true;
		break;
	case VERDICT_NOT_EXERCISED:
	case VERDICT_UNAVAILABLE:
		tally->inconclusive |= invariant->required;
		break;
	}
	tally->available |= invariant->verdict != VERDICT_UNAVAILABLE;
}

static void judge_run(struct report *report, const struct tally *tally)
{
	if (tally->violated) {
		report->verdict = VERDICT_VIOLATED;
		report->status = EXIT_VIOLATED;
	} else if (!tally->available) {
		report->verdict = VERDICT_UNAVAILABLE;
		report->status = EXIT_CANNOT_CHECK;
	} else if (tally->inconclusive || !tally->decided || report_command_failed(report)) {
		report->verdict = VERDICT_INCONCLUSIVE;
		report->status = EXIT_INCONCLUSIVE;
	} else {
		report->verdict = VERDICT_HOLDS;
		report->status = EXIT_HOLDS;
	}
}

void verdict_judge(struct report *report)
{
	struct tally tally = {};
	uint64_t violations = 0;

	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		struct invariant_report *invariant = &report->invariants[i];

		if (!invariant->chosen)
			continue;
		judge_invariant(report, invariant);
		count(&tally, invariant);
		violations += invariant->violations;
	}
	report->violations_not_kept = violations > report->nr_violations ? violations - report->nr_violations : 0;
	judge_run(report, &tally);
}
