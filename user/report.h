/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run of `kwitness check` found out: filled by the session, judged by verdict.c, written by report_*.c. */
#ifndef KWITNESS_REPORT_H
#define KWITNESS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "catalogue.h"
#include "record.h"

enum verdict {
	VERDICT_HOLDS, /* exercised, nothing wrong, nothing lost */
	VERDICT_VIOLATED,
	VERDICT_NOT_EXERCISED,
	VERDICT_UNAVAILABLE, /* not observable on this kernel; the reason says why */
	VERDICT_INCONCLUSIVE, /* exercised or required, but evidence is missing; the reason says what */
};

/* Exit statuses of kwitness; part of its interface. */
enum exit_status {
	EXIT_HOLDS = 0,
	EXIT_VIOLATED = 1,
	EXIT_USAGE = 2, /* wrong usage, or a failure of kwitness itself */
	EXIT_INCONCLUSIVE = 3,
	EXIT_CANNOT_CHECK = 4, /* as kselftest's skip */
};

/* One BPF program in use. */
struct probe_report {
	const char *name; /* kernel function or trace event */
	const char *program; /* BPF program */
	const char *how; /* "fentry", "fexit", "tp_btf", "kwitness tracepoint" */
	uint64_t hits;
	uint64_t run_ns; /* time spent in the program */
	uint64_t recursion_misses;
};

struct invariant_report {
	const struct invariant *invariant;
	bool chosen;
	bool required; /* by --require */
	bool available; /* every hook that it needs is attached */
	char *unavailable_reason; /* when !available; owned by the report */
	const char *uncovered; /* copies of a probed function that no probe covers: part was not seen. NULL: none */
	uint64_t evaluated;
	uint64_t violations; /* all, those that are known included */
	uint64_t known; /* of these, reported and matched by --known */
	uint64_t recursion_misses; /* of the programs that it stands on */
	size_t *probes; /* indices into report.probes; owned by the report */
	size_t nr_probes;

	/* Filled by verdict_judge(). */
	enum verdict verdict;
	bool only_known; /* violated, but by nothing that --known does not explain */
	char *reason; /* NULL when there is nothing to say; owned by the report */
};

/* One violation with its evidence. */
struct violation_report {
	struct violation_record record;
	struct history_record *histories; /* one per CPU that had something to say; owned by the report */
	size_t nr_histories;
	const char *known; /* the finding of --known that explains it, or NULL */
};

struct command_report {
	char *const *argv; /* NULL: no command was given */
	int status; /* as wait(2) reports it */
	bool started;
};

struct report {
	char kernel[65]; /* uname -r */
	char arch[65]; /* uname -m */
	unsigned int cpus; /* possible CPUs */
	uint64_t duration_ns;
	uint64_t cpu_time_ns; /* online CPUs x duration: what the cost is a share of */
	const char *ended_by; /* "command", "duration", "SIGINT", "SIGTERM" */
	struct command_report command;

	struct probe_report *probes;
	size_t nr_probes;
	struct invariant_report invariants[NR_INVARIANTS];
	struct violation_report *violations;
	size_t nr_violations;

	uint64_t exempted[NR_EXEMPTIONS];
	uint64_t lost[NR_LOSSES];
	uint64_t records_lost; /* evidence that did not fit into the ring buffer */

	/* Filled by verdict_judge(). */
	uint64_t violations_not_kept; /* counted, but beyond --max-violations or lost */
	enum verdict verdict;
	enum exit_status status;

	char *error; /* set: kwitness failed; the other fields may be empty. Owned by the report */
};

const char *verdict_name(enum verdict verdict);

/* How many violations of one invariant are told with evidence. */
uint64_t report_kept(const struct report *report, enum invariant_id id);

/*
 * The findings that explain violations of this invariant, each once: "name, name". The caller frees it; empty when
 * there are none.
 */
char *report_known_names(const struct report *report, enum invariant_id id);

/* The command's status as a shell shows it: what it exited with, or 128 + N after signal N. */
int command_status(const struct command_report *command);

/* True if the command ended by itself and not with status 0; ended by kwitness, it did not fail. */
bool report_command_failed(const struct report *report);

/*
 * Judges each chosen invariant and the whole run from what was counted. Pure: looks at nothing but @report.
 * Overall: violated > inconclusive > unavailable (when nothing could be checked) > holds.
 */
void verdict_judge(struct report *report);

/* Time that all probes took together. */
uint64_t report_cost_ns(const struct report *report);

/* Share of all CPU time that kwitness's own programs took, in percent; 0 when nothing was measured. */
double report_overhead_percent(const struct report *report);

/*
 * The frames of the kernel stack that are the kernel's own: those of the probe that reported stand before them and say
 * nothing. *@count is 0 when there is no stack.
 */
const __u64 *report_stack(const struct violation_record *record, size_t *count);

/* Events of all histories of @violation, merged by time, oldest first, slots that were never written left out.
 * The caller frees the array; NULL with *count 0 when there are none. Each event knows its CPU. */
struct cpu_event {
	uint32_t cpu;
	struct recorder_event event;
};
struct cpu_event *history_merge(const struct violation_report *violation, size_t *count);

/* Write the whole report, or only the error if there is one. Return 0, or -errno when @out could not be written. */
int report_write_text(FILE *out, const struct report *report);
int report_write_json(FILE *out, const struct report *report);

/* For the writers: ends the writing. Returns 0, or -errno if anything of it failed. */
int report_flush(FILE *out);

/* Frees everything that the report owns; @report itself is the caller's. */
void report_free(struct report *report);

#endif /* KWITNESS_REPORT_H */
