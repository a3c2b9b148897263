/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults: each breaks one law of bpf/invariants.def under a running stock kernel, so that kwitness can be seen to
 * report it. A fault is an entry in the table of its subsystem's file; nothing else is needed to add one.
 */
#ifndef KWITNESS_INJECT_H
#define KWITNESS_INJECT_H

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

#define FAULT_MAX_PROBES 3

enum probe_place {
	PROBE_NONE,
	PROBE_ENTRY, /* before the BPF programs attached to the function */
	PROBE_BODY, /* after its fentry programs and before its first instruction */
	PROBE_RETURN, /* after its fexit programs */
	PROBE_TRACEPOINT,
};

struct fault;

/* Handlers run with preemption off and must not sleep. */
struct fault_probe {
	enum probe_place place;
	/* Functions or a tracepoint; the first one that this kernel has is taken. */
	const char *const *names;
	/* ENTRY and BODY: what it writes to @regs the function sees as its arguments. */
	void (*on_call)(struct fault *fault, struct pt_regs *regs);
	/* RETURN: does this call matter? @regs as the function was entered. */
	bool (*follows)(struct fault *fault, struct pt_regs *regs);
	/* RETURN, for calls that matter. @second is the second argument, as it was at the entry. */
	void (*on_return)(struct fault *fault, unsigned long second);
	/* TRACEPOINT: takes the fault, then the tracepoint's arguments. */
	void *on_event;

	/* The rest belongs to probe.c. */
	struct fault *fault;
	struct kprobe kprobe;
	struct kretprobe kretprobe;
	struct tracepoint *tracepoint;
};

#define PROBE_NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct fault {
	const char *name; /* SUBSYSTEM_WHAT */
	const char *breaks; /* ids of the invariants, separated by spaces */
	const char *description; /* one line */
	unsigned int every; /* inject at each Nth occasion; at least 1 */
	const char *target; /* a function whose address the handlers need, or NULL */
	bool calls_target; /* by its address, which not every CPU allows */
	/*
	 * Registered in this order and removed in the opposite one: a probe that undoes what another one does comes
	 * first.
	 */
	struct fault_probe probes[FAULT_MAX_PROBES];

	/* The rest belongs to main.c and probe.c. */
	unsigned long target_address;
	bool enabled; /* under faults_lock */
	atomic64_t occasions;
	atomic64_t hits;
};

/* The tables, each ended by an entry without a name. */
extern struct fault cputimer_faults[];
extern struct fault cputime_faults[];
extern struct fault delayacct_faults[];
extern struct fault membarrier_faults[];
extern struct fault mm_cpumask_faults[];

/*
 * Is it time to inject? Call it last, when everything else allows it: it counts the occasion, and the hit if it
 * returns true. Any context.
 */
bool fault_strikes(struct fault *fault);

/* 0, or a negative errno, and then nothing is left registered: -ENOENT this kernel has none of the names. */
int fault_install(struct fault *fault);

/* When it returns no handler runs any more. */
void fault_remove(struct fault *fault);

#endif /* KWITNESS_INJECT_H */
