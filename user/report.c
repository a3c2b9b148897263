// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "symbols.h"

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = { [VERDICT_HOLDS] = "holds",
					     [VERDICT_VIOLATED] = "violated",
					     [VERDICT_NOT_EXERCISED] = "not-exercised",
					     [VERDICT_UNAVAILABLE] = "unavailable",
					     [VERDICT_INCONCLUSIVE] = "inconclusive" };

	return names[verdict];
}

uint64_t report_kept(const struct report *report, enum invariant_id id)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < report->nr_violations; i++)
		kept += report->violations[i].record.invariant == id;
	return kept;
}

static bool is_first_of_its_name(const struct report *report, size_t position)
{
	const struct violation_report *violation = &report->violations[position];

	for (size_t i = 0; i < position; i++) {
		const struct violation_report *earlier = &report->violations[i];

		if (earlier->known && earlier->record.invariant == violation->record.invariant &&
		    !strcmp(earlier->known, violation->known))
			return false;
	}
	return true;
}

char *report_known_names(const struct report *report, enum invariant_id id)
{
	const char *separator = "";
	char *names = NULL;
	size_t size;
	FILE *out = open_memstream(&names, &size);

	for (size_t i = 0; i < report->nr_violations; i++) {
		const struct violation_report *violation = &report->violations[i];

		if (!violation->known || violation->record.invariant != id || !is_first_of_its_name(report, i))
			continue;
		fprintf(out, "%s%s", separator, violation->known);
		separator = ", ";
	}
	fclose(out);
	return names;
}

int command_status(const struct command_report *command)
{
	return WIFSIGNALED(command->status) ? 128 + WTERMSIG(command->status) : WEXITSTATUS(command->status);
}

bool report_command_failed(const struct report *report)
{
	return report->command.started && report->command.status && !strcmp(report->ended_by, "command");
}

uint64_t report_cost_ns(const struct report *report)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < report->nr_probes; i++)
		cost += report->probes[i].run_ns;
	return cost;
}

double report_overhead_percent(const struct report *report)
{
	return report->cpu_time_ns ? 100.0 * report_cost_ns(report) / report->cpu_time_ns : 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct cpu_event *one = a, *other = b;

	if (one->event.time_ns != other->event.time_ns)
		return one->event.time_ns < other->event.time_ns ? -1 : 1;
	return (one->cpu > other->cpu) - (one->cpu < other->cpu);
}

/* Adds the events of one CPU; a slot that its CPU was writing when it was copied has no time. */
static size_t add_events(struct cpu_event *events, const struct history_record *history)
{
	size_t count = 0;

	for (size_t i = 0; i < RECORDER_NR_EVENTS; i++) {
		const struct recorder_event *event = &history->recorder.events[i];

		if (event->time_ns && event->event != EVENT_NONE && event->event < NR_EVENTS)
			events[count++] = (struct cpu_event){ .cpu = history->cpu, .event = *event };
	}
	return count;
}

struct cpu_event *history_merge(const struct violation_report *violation, size_t *count)
{
	struct cpu_event *events = calloc(violation->nr_histories * RECORDER_NR_EVENTS + 1, sizeof(*events));

	*count = 0;
	for (size_t i = 0; events && i < violation->nr_histories; i++)
		*count += add_events(events + *count, &violation->histories[i]);
	if (!*count) {
		free(events);
		return NULL;
	}
	qsort(events, *count, sizeof(*events), compare_events);
	return events;
}

int report_flush(FILE *out)
{
	if (fflush(out))
		return -errno;
	return ferror(out) ? -EIO : 0;
}

void report_free(struct report *report)
{
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		free(report->invariants[i].unavailable_reason);
		free(report->invariants[i].reason);
		free(report->invariants[i].probes);
	}
	for (size_t i = 0; i < report->nr_violations; i++)
		free(report->violations[i].histories);
	free(report->violations);
	free(report->probes);
	free(report->error);
	memset(report, 0, sizeof(*report));
}

const __u64 *report_stack(const struct violation_record *record, size_t *count)
{
	size_t frames = record->stack_bytes > 0 ? record->stack_bytes / sizeof(record->stack[0]) : 0, own = 0;

	if (frames > RECORD_NR_FRAMES)
		frames = RECORD_NR_FRAMES;
	while (own < frames && symbols_is_bpf(record->stack[own]))
		own++;
	*count = frames - own;
	return record->stack + own;
}
