// SPDX-License-Identifier: GPL-2.0-only
/* The report for programs; docs/report.schema.json describes it. */
#include <stdlib.h>

#include "fields.h"
#include "json_text.h"
#include "report.h"
#include "symbols.h"

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_text(text) : NULL);
}

static void add_count(struct json_object *object, const char *key, uint64_t count)
{
	json_object_object_add(object, key, json_object_new_uint64(count));
}

/* @digits after the point: json-c would write 17 significant ones. */
static void add_decimal(struct json_object *object, const char *key, double number, int digits)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f", digits, number);
	json_object_object_add(object, key, json_object_new_double_s(number, text));
}

static struct json_object *value_json(const struct field *field, __u64 value)
{
	struct json_stream stream;

	switch (field_type(field)) {
	case FIELD_SIGNED:
		return json_object_new_int64(value);
	case FIELD_UNSIGNED:
		return json_object_new_uint64(value);
	case FIELD_TEXT:
		break;
	}
	field_print(json_stream_begin(&stream), field, value);
	return json_stream_end(&stream);
}

static struct json_object *values_json(const char *spec, const __u64 *values, size_t max)
{
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(spec, fields, max);
	struct json_object *object = json_object_new_object();

	for (int i = 0; i < count; i++)
		json_object_object_add(object, fields[i].name, value_json(&fields[i], values[i]));
	return object;
}

static struct json_object *lost_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();

	for (size_t i = 0; i < NR_LOSSES; i++)
		add_count(object, losses[i].name, report->lost[i]);
	add_count(object, "records", report->records_lost);
	return object;
}

static struct json_object *exempted_json(const struct report *report, size_t invariant)
{
	struct json_object *object = json_object_new_object();

	for (size_t i = 0; i < NR_EXEMPTIONS; i++)
		if (exemptions[i].invariant == invariant)
			add_count(object, exemptions[i].name, report->exempted[i]);
	return object;
}

static struct json_object *command_json(const struct report *report)
{
	const struct command_report *command = &report->command;
	struct json_object *object, *argv;

	if (!command->argv)
		return NULL;
	object = json_object_new_object();
	argv = json_object_new_array();
	for (char *const *word = command->argv; *word; word++)
		json_object_array_add(argv, json_text(*word));
	json_object_object_add(object, "argv", argv);
	json_object_object_add(object, "status",
			       command->started ? json_object_new_int(command_status(command)) : NULL);
	return object;
}

static struct json_object *probe_json(const struct probe_report *probe)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "name", probe->name);
	add_text(object, "how", probe->how);
	add_text(object, "program", probe->program);
	add_count(object, "hits", probe->hits);
	add_decimal(object, "ns_per_hit", probe->hits ? (double)probe->run_ns / probe->hits : 0, 1);
	add_count(object, "recursion_misses", probe->recursion_misses);
	return object;
}

static struct json_object *invariant_json(const struct report *report, size_t id)
{
	const struct invariant_report *invariant = &report->invariants[id];
	struct json_object *object = json_object_new_object(), *probes = json_object_new_array();

	add_text(object, "id", invariant->invariant->id);
	add_text(object, "title", invariant->invariant->title);
	add_text(object, "verdict", verdict_name(invariant->verdict));
	add_text(object, "reason", invariant->reason);
	json_object_object_add(object, "required", json_object_new_boolean(invariant->required));
	add_count(object, "evaluated", invariant->evaluated);
	add_count(object, "violations", invariant->violations);
	add_count(object, "known", invariant->known);
	json_object_object_add(object, "only_known", json_object_new_boolean(invariant->only_known));
	json_object_object_add(object, "exempted", exempted_json(report, id));
	for (size_t i = 0; i < invariant->nr_probes; i++)
		json_object_array_add(probes, probe_json(&report->probes[invariant->probes[i]]));
	json_object_object_add(object, "probes", probes);
	return object;
}

static struct json_object *invariants_json(const struct report *report)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (report->invariants[i].chosen)
			json_object_array_add(array, invariant_json(report, i));
	return array;
}

static struct json_object *stack_json(const struct violation_record *record)
{
	struct json_object *array = json_object_new_array();
	size_t frames;
	const __u64 *stack = report_stack(record, &frames);

	for (size_t i = 0; i < frames; i++) {
		struct json_stream stream;

		symbols_print(json_stream_begin(&stream), stack[i]);
		json_object_array_add(array, json_stream_end(&stream));
	}
	return array;
}

static struct json_object *history_json(const struct violation_report *violation)
{
	struct json_object *array = json_object_new_array();
	size_t count;
	struct cpu_event *events = history_merge(violation, &count);

	for (size_t i = 0; i < count; i++) {
		const struct recorder_event *event = &events[i].event;
		struct json_object *object = json_object_new_object();

		add_count(object, "time_ns", event->time_ns);
		add_count(object, "cpu", events[i].cpu);
		add_count(object, "pid", event->pid);
		add_text(object, "event", event_kinds[event->event].name);
		json_object_object_add(object, "args",
				       values_json(event_kinds[event->event].args, event->args, RECORDER_NR_ARGS));
		json_object_array_add(array, object);
	}
	free(events);
	return array;
}

static struct json_object *message_json(const struct invariant *invariant, const struct violation_record *record)
{
	struct json_stream stream;

	fields_message(json_stream_begin(&stream), invariant->message, invariant->values, record);
	return json_stream_end(&stream);
}

static struct json_object *violation_json(const struct violation_report *violation)
{
	const struct violation_record *record = &violation->record;
	const struct invariant *invariant = &invariants[record->invariant];
	struct json_object *object = json_object_new_object();
	char comm[RECORD_COMM_LEN + 1];

	snprintf(comm, sizeof(comm), "%.*s", RECORD_COMM_LEN, record->comm);
	add_text(object, "invariant", invariant->id);
	add_text(object, "known", violation->known);
	add_count(object, "time_ns", record->time_ns);
	add_count(object, "cpu", record->cpu);
	add_count(object, "pid", record->pid);
	add_count(object, "tgid", record->tgid);
	add_text(object, "comm", comm);
	json_object_object_add(object, "message", message_json(invariant, record));
	json_object_object_add(object, "values", values_json(invariant->values, record->values, RECORD_NR_VALUES));
	json_object_object_add(object, "stack", stack_json(record));
	json_object_object_add(object, "history", history_json(violation));
	return object;
}

static struct json_object *violations_json(const struct report *report)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < report->nr_violations; i++)
		json_object_array_add(array, violation_json(&report->violations[i]));
	return array;
}

static struct json_object *cost_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();

	add_count(object, "run_ns", report_cost_ns(report));
	add_count(object, "cpu_time_ns", report->cpu_time_ns);
	add_decimal(object, "percent", report_overhead_percent(report), 4);
	return object;
}

static void add_findings(struct json_object *document, const struct report *report)
{
	json_object_object_add(document, "invariants", invariants_json(report));
	json_object_object_add(document, "violations", violations_json(report));
	add_count(document, "violations_not_kept", report->violations_not_kept);
	json_object_object_add(document, "cost", cost_json(report));
}

int report_write_json(FILE *out, const struct report *report)
{
	struct json_object *document = json_object_new_object();

	add_text(document, "kwitness", KWITNESS_VERSION);
	add_text(document, "kernel", report->kernel);
	add_text(document, "arch", report->arch);
	if (report->error) {
		add_text(document, "error", report->error);
	} else {
		add_count(document, "cpus", report->cpus);
		add_count(document, "duration_ns", report->duration_ns);
		add_text(document, "ended_by", report->ended_by);
		add_text(document, "verdict", verdict_name(report->verdict));
		json_object_object_add(document, "lost", lost_json(report));
	}
	json_object_object_add(document, "exit_status", json_object_new_int(report->status));
	json_object_object_add(document, "command", command_json(report));
	if (!report->error)
		add_findings(document, report);
	return json_write(out, document);
}
