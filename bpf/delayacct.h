/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * delayacct.monotonic: the delay total and the count of each kind in tsk->delays never decrease while the task lives.
 * delayacct.paired: each __delayacct_*_end() closes a start of the same task and kind that no earlier end has closed.
 *
 * Source: Documentation/accounting/delay-accounting.rst (delays are cumulative); kernel/delayacct.c.
 *
 * Sound, monotonic: one kind of one task is changed in one place at a time: by the task itself, for blkio by its waker
 * under pi_lock while the task sleeps, for irq under the run-queue lock. The same place compares, before its own
 * change, with what it saw before.
 *
 * Sound, paired: a start leaves a stamp in tsk->delays. An end is wrong only if the stamp that it finds is the very one
 * that an earlier end of this task and kind has used (or 0: no start ever left one), and no start was seen since. The
 * second condition is for clocks that return one value twice. A start that the probes missed (recursion) has left a new
 * stamp, so it cannot turn into a breach, unless the clock has stood still since the start before it; both at once are
 * out of reach of a clock that counts nanoseconds, and the misses are told in the report.
 *
 * Exemptions, paired. first_sight: the task is older than the attachment, so its wait may be, too; the first event of a
 * kind only tells the stamp. switched: kernel.task_delayacct was off in between, and starts leave no stamp while it is.
 *
 * Survives the reuse of a task_struct: what is remembered carries the task's start_time.
 */
#ifndef KWITNESS_DELAYACCT_H
#define KWITNESS_DELAYACCT_H

enum delay_kind {
	DELAY_blkio,
	DELAY_swapin,
	DELAY_freepages,
	DELAY_thrashing,
	DELAY_compact,
	DELAY_wpcopy,
	DELAY_irq,
	NR_DELAY_KINDS
};

/* What is remembered of one kind of delay of one task. */
struct delay_memory {
	unsigned long long total; /* ns, as last seen */
	unsigned long long used_stamp; /* the start stamp that the last end used; 0: none */
	unsigned int count; /* as last seen */
	unsigned int switches; /* of kernel.task_delayacct, at the last event of this kind */
	unsigned char known; /* used_stamp says what it means */
	unsigned char started; /* a start was seen since the last end */
};

/* What the kernel's own record of that kind says now. */
struct delay_now {
	unsigned long long stamp; /* XXX_start; 0 for irq, which has none */
	unsigned long long total; /* ns */
	unsigned int count;
};

enum pairing {
	PAIRING_HOLDS,
	PAIRING_FIRST_SIGHT,
	PAIRING_SWITCHED,
	PAIRING_BROKEN
};

static inline int delay_went_back(const struct delay_memory *memory, const struct delay_now *now)
{
	return now->total < memory->total || now->count < memory->count;
}

static inline void delay_remember(struct delay_memory *memory, const struct delay_now *now)
{
	memory->total = now->total;
	memory->count = now->count;
}

static inline void delay_start(struct delay_memory *memory, unsigned int switches)
{
	memory->known = 1;
	memory->started = 1;
	memory->switches = switches;
}

/* @switches is odd while the switch is being thrown: then nothing can be said of an end. */
static inline enum pairing delay_end(struct delay_memory *memory, unsigned long long stamp, unsigned int switches)
{
	enum pairing result = PAIRING_HOLDS;

	if (!memory->known)
		result = PAIRING_FIRST_SIGHT;
	else if (memory->switches != switches || switches & 1)
		result = PAIRING_SWITCHED;
	else if (stamp == memory->used_stamp && !memory->started)
		result = PAIRING_BROKEN;
	memory->known = 1;
	memory->started = 0;
	memory->used_stamp = stamp;
	memory->switches = switches;
	return result;
}

#endif /* KWITNESS_DELAYACCT_H */
