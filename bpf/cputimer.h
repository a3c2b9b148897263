/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cputimer.monotonic: signal->cputimer.cputime_atomic.{utime,stime,sum_exec_runtime} never decrease while that
 * signal_struct lives.
 * cputimer.no_lost_update: while the group's timers are active, each sum is at least its value at the start plus every
 * delta whose accounting call has finished, and at most that plus every delta whose call has started.
 *
 * Source: include/linux/sched/cputime.h, account_group_*_time(); kernel/time/posix-cpu-timers.c,
 * thread_group_start_cputime() and update_gt_cputime(); commit 1018016c706f.
 *
 * How: each CPU sums the deltas of the accounting calls that it has seen start and finish, and never resets the sums.
 * A look reads all finished sums, then the kernel's value, then all started sums. So every finished delta that it counts
 * is in the value, and every delta that is in the value is among the started ones; calls in flight widen the bounds.
 * Each CPU judges by a base of its own, so that no base is written by two.
 *
 * When a call has finished: it runs with interrupts off, so it has, once this CPU runs any later probe of ours. It has
 * added its delta for certain only if the timers were active and the task had its sighand at both ends, within one
 * generation; otherwise it stays counted as started only, which widens the bounds for good.
 *
 * Survives activation: timers_active is set while accounting calls are under way on other CPUs. One that looked at it
 * before, in our probe, may still find it set in the kernel. Therefore every call publishes its signal_struct, with a
 * full barrier, before it looks; whoever takes a base scans what is published after it has seen the timers active, and
 * lowers the base's finished sums by the deltas of those calls.
 * Survives restarting: cpu_clock_sample_group(start) may raise the sums while the timers are off. It begins a new
 * generation before it does, and a look that sees the generation change says nothing.
 * Survives reuse of the signal_struct: what is known of an address is dropped when the last task of the group is freed, a
 * grace period after it was released and before put_signal_struct().
 *
 * Exemptions: restarted (above); kernel_thread: before 6.7 the stop class accounts without the sched_stat_runtime event.
 *
 * Relies on total store order, as x86 has it: the sums are plain per-CPU stores before the kernel's atomic add.
 */
#ifndef KWITNESS_CPUTIMER_H
#define KWITNESS_CPUTIMER_H

enum cputimer_field {
	CPUTIMER_utime,
	CPUTIMER_stime,
	CPUTIMER_sum_exec_runtime,
	NR_CPUTIMER_FIELDS
};

/* One field of a group, summed over CPUs or read from the kernel. All in ns. */
struct cputimer_sums {
	unsigned long long started;
	unsigned long long finished;
	unsigned long long value; /* of the kernel */
};

/*
 * How far the value must and may have grown since @base, a look of the same generation. Neither bound is below 0: a
 * base's started sum can be ahead of all that has finished since.
 */
static inline unsigned long long cputimer_at_least(const struct cputimer_sums *base, const struct cputimer_sums *now)
{
	long long certain = now->finished - base->started;

	return certain > 0 ? certain : 0;
}

static inline unsigned long long cputimer_at_most(const struct cputimer_sums *base, const struct cputimer_sums *now)
{
	return now->started - base->finished;
}

static inline int cputimer_within_bounds(const struct cputimer_sums *base, const struct cputimer_sums *now)
{
	unsigned long long grown = now->value - base->value;

	/* A value below the base is for cputimer.monotonic to tell; here it is a lost update like any other. */
	if ((long long)grown < 0)
		return 0;
	return grown >= cputimer_at_least(base, now) && grown <= cputimer_at_most(base, now);
}

/* @seen_before must have been read before @value. */
static inline int cputimer_went_back(unsigned long long seen_before, unsigned long long value)
{
	return value < seen_before;
}

#endif /* KWITNESS_CPUTIMER_H */
