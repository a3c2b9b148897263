/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * membarrier.coverage: a private expedited membarrier() that returns 0 leaves no CPU that was running the same task of
 * that mm throughout the call, without a context switch, that did not run the IPI handler in between.
 *
 * Source: membarrier(2); kernel/sched/membarrier.c; Documentation/scheduler/membarrier.rst.
 *
 * Sound: of each CPU, the entry reads first the count of switches, then rq->curr; the return reads first rq->curr and
 * its mm, then the count. The kernel stores rq->curr before the sched_switch event that moves the count. So if both ends
 * show one task and one count, no switch began between the two reads of rq->curr, and membarrier() must have found that
 * task there. The mm is compared at both ends, since exec changes it without a switch (mm never comes back). The
 * handler's count is raised before the caller is released, so it is visible at the return. An IPI that a concurrent
 * caller sent can hide a breach, never invent one. Relies on total store order, as x86 has it.
 */
#ifndef KWITNESS_MEMBARRIER_H
#define KWITNESS_MEMBARRIER_H

/* kernel/sched/membarrier.c: the flags argument of membarrier_private_expedited(). */
#define MEMBARRIER_FLAG_SYNC_CORE 1
#define MEMBARRIER_FLAG_RSEQ 2

enum membarrier_handler {
	HANDLER_ipi_mb,
	HANDLER_ipi_sync_core,
	HANDLER_ipi_rseq,
	NR_HANDLERS
};

/* What one CPU counts; read by callers on other CPUs. */
struct membarrier_cpu {
	unsigned long long switches; /* context switches begun */
	unsigned long long handlers[NR_HANDLERS]; /* IPI handlers begun */
};

/* What a caller saw of one CPU. */
struct membarrier_view {
	unsigned long long switches;
	unsigned long long curr; /* rq->curr, 0: not looked at */
	unsigned long long mm; /* of curr */
	unsigned long long handlers; /* those that serve the command, membarrier_handlers() */
};

/*
 * How many handlers of @cpu so far serve a command with @flags. Every handler executes a full barrier, so any serves the
 * plain command; SYNC_CORE and RSEQ need their own.
 */
static inline unsigned long long membarrier_handlers(const struct membarrier_cpu *cpu, int flags)
{
	if (flags == MEMBARRIER_FLAG_SYNC_CORE)
		return cpu->handlers[HANDLER_ipi_sync_core];
	if (flags == MEMBARRIER_FLAG_RSEQ)
		return cpu->handlers[HANDLER_ipi_rseq];
	return cpu->handlers[HANDLER_ipi_mb] + cpu->handlers[HANDLER_ipi_sync_core] + cpu->handlers[HANDLER_ipi_rseq];
}

/* Did one task of @mm run on the CPU throughout, as far as the two views can prove it? */
static inline int membarrier_ran_throughout(const struct membarrier_view *entry, const struct membarrier_view *exit,
					    unsigned long long mm)
{
	return entry->curr && entry->curr == exit->curr && entry->switches == exit->switches && entry->mm == mm &&
	       exit->mm == mm;
}

static inline int membarrier_covered(const struct membarrier_view *entry, const struct membarrier_view *exit)
{
	return entry->handlers != exit->handlers;
}

#endif /* KWITNESS_MEMBARRIER_H */
