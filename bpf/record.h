/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF side tells user space: ids from the catalogue, per-CPU counters, the flight recorder and the violation
 * record. Included by both sides, hence no kernel and no libc type beyond the __uN ones.
 */
#ifndef KWITNESS_RECORD_H
#define KWITNESS_RECORD_H

#ifndef __bpf__ /* the BPF side has vmlinux.h */
#include <linux/types.h>
#endif

/* Ids are positions in the catalogue: they name a row within one build and are never written to a file. */
enum invariant_id {
#define INVARIANT(subsystem, name, ...) INV_##subsystem##_##name,
#include "invariants.def"
	NR_INVARIANTS
};

/* A legal reason for which a check did not judge an event. Each is counted on its own. */
enum exemption_id {
#define EXEMPTION(subsystem, invariant, name, ...) EXEMPT_##subsystem##_##invariant##_##name,
#include "invariants.def"
	NR_EXEMPTIONS
};

/* Evidence that went missing inside the kernel. Each forbids `holds` for the invariants that its row names. */
enum loss_id {
#define LOSS(name, ...) LOST_##name,
#include "invariants.def"
	NR_LOSSES
};

/* What the flight recorder can hold. */
enum event_id {
	EVENT_NONE,
#define EVENT(name, ...) EVENT_##name,
#include "invariants.def"
	NR_EVENTS
};

#define RECORD_COMM_LEN 16
#define RECORD_NR_VALUES 8
#define RECORD_NR_FRAMES 32
#define RECORDER_NR_EVENTS 32 /* a power of two: the recorder's index is masked */
#define RECORDER_NR_ARGS 3

/* One event of the flight recorder. A slot that was never written, or is being written, has time_ns 0. */
struct recorder_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 pid; /* thread id of the task that the event is about, as in the initial pid namespace */
	__u32 event; /* enum event_id */
	__u64 args[RECORDER_NR_ARGS]; /* meaning: the event's row in the catalogue */
};

/* The last events of one CPU. Written by that CPU only; read by whichever CPU reports a violation. */
struct recorder {
	__u64 next; /* events written so far; the next goes to slot next % RECORDER_NR_EVENTS */
	struct recorder_event events[RECORDER_NR_EVENTS];
};

struct invariant_counters {
	__u64 evaluated; /* times the law was judged */
	__u64 violations; /* times it was found broken, whether or not a record could be sent */
};

/* Everything that one CPU counts. One map element per CPU, each written by its own CPU only. */
struct cpu_counters {
	struct invariant_counters invariants[NR_INVARIANTS];
	__u64 exempted[NR_EXEMPTIONS + 1]; /* + 1: an array must not be empty when a build has no row */
	__u64 lost[NR_LOSSES + 1];
	__u64 records_lost; /* violation or history records that did not fit into the ring buffer */
};

enum record_type {
	RECORD_VIOLATION = 1,
	RECORD_HISTORY = 2,
};

/* Sent once per violation, up to the limit of records per invariant; followed by one history per CPU. */
struct violation_record {
	__u32 type; /* RECORD_VIOLATION */
	__u32 invariant; /* enum invariant_id */
	__u64 serial; /* ties the histories to their violation */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 cpu; /* the CPU that found it */
	__u32 pid; /* task the law is about, as in the initial pid namespace */
	__u32 tgid;
	__s32 stack_bytes; /* bytes of stack[] in use, or a negative errno */
	char comm[RECORD_COMM_LEN];
	__u64 values[RECORD_NR_VALUES]; /* meaning: the invariant's row in the catalogue */
	__u64 stack[RECORD_NR_FRAMES]; /* kernel addresses, innermost first */
};

struct history_record {
	__u32 type; /* RECORD_HISTORY */
	__u32 cpu;
	__u64 serial;
	struct recorder recorder;
};

_Static_assert(sizeof(struct recorder_event) == 40, "recorder events are read by two compilers");
_Static_assert(sizeof(struct violation_record) == 48 + 16 + 8 * (RECORD_NR_VALUES + RECORD_NR_FRAMES) - 8,
	       "violation records are read by two compilers");
_Static_assert((RECORDER_NR_EVENTS & (RECORDER_NR_EVENTS - 1)) == 0, "the recorder's index is masked");

#endif /* KWITNESS_RECORD_H */
