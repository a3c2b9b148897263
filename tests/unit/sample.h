/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports for the tests of what judges and writes them. */
#ifndef KWITNESS_TESTS_SAMPLE_H
#define KWITNESS_TESTS_SAMPLE_H

#include "report.h"
#include "unit.h"

#define SAMPLE_KNOWN "blkio-start-wrong-task"

/* A run of one second on two CPUs in which nothing happened. */
static inline struct report *sample_empty(void)
{
	struct report *report = calloc(1, sizeof(*report));

	strcpy(report->kernel, "6.12.0-sample");
	strcpy(report->arch, "x86_64");
	report->cpus = 2;
	report->duration_ns = 1000000000;
	report->cpu_time_ns = 2000000000;
	report->ended_by = "duration";
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		report->invariants[i] = (struct invariant_report){ .invariant = &invariants[i], .available = true };
	return report;
}

static inline struct invariant_report *sample_choose(struct report *report, enum invariant_id id, uint64_t evaluated)
{
	report->invariants[id].chosen = true;
	report->invariants[id].evaluated = evaluated;
	return &report->invariants[id];
}

/* Adds a violation that is told with evidence. */
static inline struct violation_report *sample_violate(struct report *report, enum invariant_id id, const char *known)
{
	struct violation_report *violation;

	report->violations = realloc(report->violations, (report->nr_violations + 1) * sizeof(*report->violations));
	violation = &report->violations[report->nr_violations++];
	*violation = (struct violation_report){ .known = known };
	violation->record = (struct violation_record){ .type = RECORD_VIOLATION,
						       .invariant = id,
						       .time_ns = 5000000000,
						       .cpu = 1,
						       .pid = 4321,
						       .tgid = 1234,
						       .comm = "sampler" };
	report->invariants[id].violations++;
	report->invariants[id].known += known != NULL;
	return violation;
}

static inline void sample_event(struct violation_report *violation, uint32_t cpu, uint64_t time_ns, enum event_id event,
				uint64_t first_arg)
{
	struct history_record *history = NULL;

	for (size_t i = 0; i < violation->nr_histories; i++)
		if (violation->histories[i].cpu == cpu)
			history = &violation->histories[i];
	if (!history) {
		violation->histories =
			realloc(violation->histories, (violation->nr_histories + 1) * sizeof(*violation->histories));
		history = &violation->histories[violation->nr_histories++];
		*history = (struct history_record){ .type = RECORD_HISTORY, .cpu = cpu };
	}
	history->recorder.events[history->recorder.next++ % RECORDER_NR_EVENTS] = (struct recorder_event){
		.time_ns = time_ns, .pid = 4321, .event = event, .args = { first_arg, 3000000, UINT64_MAX }
	};
}

static inline void sample_probes(struct report *report, struct invariant_report *invariant)
{
	report->probes = calloc(2, sizeof(*report->probes));
	report->nr_probes = 2;
	report->probes[0] = (struct probe_report){ .name = "__delayacct_blkio_start",
						   .program = "delayacct_blkio_start",
						   .how = "fentry" };
	report->probes[1] = (struct probe_report){ .name = "__delayacct_blkio_end",
						   .program = "delayacct_blkio_end",
						   .how = "fentry",
						   .hits = 1000,
						   .run_ns = 250000 };
	invariant->probes = calloc(2, sizeof(*invariant->probes));
	invariant->nr_probes = 2;
	invariant->probes[1] = 1;
}

/* A report in which everything that a report can have occurs; not judged yet. */
static inline struct report *sample_full(void)
{
	static char *const argv[] = { "./workload", "with a space", "\xff\xc3\xa4", NULL };
	struct report *report = sample_empty();
	struct invariant_report *paired = sample_choose(report, INV_delayacct_paired, 5000);
	struct violation_report *violation;

	report->command = (struct command_report){ .argv = argv, .status = 3 << 8, .started = true };
	report->ended_by = "command";
	sample_probes(report, paired);
	sample_choose(report, INV_cputime_monotonic, 42);
	sample_choose(report, INV_membarrier_coverage, 0)->required = true;
	sample_choose(report, INV_mm_cpumask_running, 0)->available = false;
	report->invariants[INV_mm_cpumask_running].unavailable_reason = strdup("switch_mm_irqs_off was inlined");
	sample_choose(report, INV_cputimer_no_lost_update, 7);
	sample_choose(report, INV_delayacct_monotonic, 0);
	report->lost[LOST_cputimer_groups_full] = 9;
	report->records_lost = 2;
	report->exempted[EXEMPT_membarrier_coverage_single_user] = 77;

	violation = sample_violate(report, INV_delayacct_paired, SAMPLE_KNOWN);
	violation->record.values[1] = 4000000;
	violation->record.values[2] = -5;
	violation->record.values[3] = 1;
	violation->record.stack_bytes = 16;
	violation->record.stack[0] = 0xffffffff81000042;
	violation->record.stack[1] = 0x10;
	sample_event(violation, 1, 4999990000, EVENT_delay_end, 0);
	sample_event(violation, 0, 4999000000, EVENT_delay_start, 0);
	sample_event(violation, 0, 5000002500, EVENT_delay_start, 1);
	/* A slot that its CPU was writing, and one that makes no sense. */
	sample_event(violation, 0, 0, EVENT_delay_end, 0);
	sample_event(violation, 0, 5000002600, NR_EVENTS, 0);

	violation = sample_violate(report, INV_cputime_monotonic, NULL);
	violation->record.stack_bytes = -14;
	memcpy(violation->record.comm, "fifteen bytes \xc3", RECORD_COMM_LEN);
	violation->record.values[0] = UINT64_MAX;
	report->invariants[INV_cputime_monotonic].violations += 8;

	violation = sample_violate(report, INV_delayacct_monotonic, NULL);
	violation->record.values[3] = UINT64_MAX;
	return report;
}

static inline void sample_free(struct report *report)
{
	report_free(report);
	free(report);
}

#endif /* KWITNESS_TESTS_SAMPLE_H */
