// SPDX-License-Identifier: GPL-2.0-only
#include "evidence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "symbols.h"
#include "wrap.h"

static void print_message(FILE *out, const struct invariant *invariant, const struct violation_record *record)
{
	char *message = NULL;
	size_t size;
	FILE *stream = open_memstream(&message, &size);

	fields_message(stream, invariant->message, invariant->values, record);
	fclose(stream);
	fputs("  ", out);
	wrap_print(out, message, 2, 2);
	free(message);
}

static void print_task(FILE *out, const struct violation_record *record)
{
	fprintf(out, "  found       on CPU %u, at %" PRIu64 ".%09" PRIu64 " s of CLOCK_MONOTONIC\n", record->cpu,
		(uint64_t)record->time_ns / 1000000000, (uint64_t)record->time_ns % 1000000000);
	fprintf(out, "  task        %u (", record->pid);
	print_comm(out, record->comm);
	fprintf(out, "), of process %u\n", record->tgid);
}

static void print_values(FILE *out, const struct invariant *invariant, const struct violation_record *record)
{
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(invariant->values, fields, RECORD_NR_VALUES), width = 0;

	for (int i = 0; i < count; i++)
		width = (int)strlen(fields[i].name) > width ? (int)strlen(fields[i].name) : width;
	for (int i = 0; i < count; i++) {
		fprintf(out, "  %-10s  %-*s  ", i ? "" : "values", width, fields[i].name);
		field_print(out, &fields[i], record->values[i]);
		fputc('\n', out);
	}
}

static void print_stack(FILE *out, const struct violation_record *record)
{
	size_t frames;
	const __u64 *stack = report_stack(record, &frames);

	if (record->stack_bytes < 0)
		fprintf(out, "  stack       not available: %s\n", strerror(-record->stack_bytes));
	for (size_t i = 0; i < frames; i++) {
		fprintf(out, "  %-10s  ", i ? "" : "stack");
		symbols_print(out, stack[i]);
		fputc('\n', out);
	}
}

static void print_event(FILE *out, const struct cpu_event *event, uint64_t violation_ns)
{
	const struct event_kind *kind = &event_kinds[event->event.event];
	int64_t relative_ns = event->event.time_ns - violation_ns;
	struct field fields[RECORDER_NR_ARGS];
	int count = fields_parse(kind->args, fields, RECORDER_NR_ARGS);

	fprintf(out, "    %+14.3f  %3u  %8u  %-30s", relative_ns / 1e3, event->cpu, event->event.pid, kind->text);
	for (int i = 0; i < count; i++) {
		fprintf(out, " %s=", fields[i].name);
		field_print(out, &fields[i], event->event.args[i]);
	}
	fputc('\n', out);
}

static void print_history(FILE *out, const struct violation_report *violation)
{
	size_t count;
	struct cpu_event *events = history_merge(violation, &count);

	if (!count) {
		fputs("  history     none was recorded, or it was lost\n", out);
		return;
	}
	fprintf(out, "  history     the last events of %zu CPUs, in us from the moment of the report\n",
		violation->nr_histories);
	fprintf(out, "    %14s  %3s  %8s  %s\n", "us", "CPU", "task", "event");
	for (size_t i = 0; i < count; i++)
		print_event(out, &events[i], violation->record.time_ns);
	free(events);
}

static void print_violation(FILE *out, const struct violation_report *violation, uint64_t number, uint64_t all)
{
	const struct violation_record *record = &violation->record;
	const struct invariant *invariant = &invariants[record->invariant];

	fprintf(out, "\nViolation %" PRIu64 " of %" PRIu64 " of %s", number, all, invariant->id);
	fprintf(out, violation->known ? " (known: %s)\n" : "\n", violation->known);
	print_message(out, invariant, record);
	print_task(out, record);
	print_values(out, invariant, record);
	print_stack(out, record);
	print_history(out, violation);
}

static void print_invariant(FILE *out, const struct report *report, enum invariant_id id)
{
	const struct invariant_report *invariant = &report->invariants[id];
	uint64_t kept = report_kept(report, id), number = 0;

	for (size_t i = 0; i < report->nr_violations; i++)
		if (report->violations[i].record.invariant == id)
			print_violation(out, &report->violations[i], ++number, invariant->violations);
	if (invariant->violations > kept)
		fprintf(out, "\n%" PRIu64 " more violations of %s are not shown (--max-violations N tells more)\n",
			invariant->violations - kept, invariant->invariant->id);
}

void evidence_write_text(FILE *out, const struct report *report)
{
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (report->invariants[i].chosen)
			print_invariant(out, report, i);
}
