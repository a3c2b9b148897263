// SPDX-License-Identifier: GPL-2.0-only
/* Faults in what cputime_adjust() hands out. */
#include <linux/sched/cputime.h>
#include <linux/sched/task_stack.h>

#include "inject.h"

/*
 * Lowers what was handed out last, and pretends that no time has passed since, so that exactly this is handed out. The
 * sample is thrown away after the call only if it is the caller's own, on its stack: that of a cgroup is kept.
 */
static bool hand_out_again(struct fault *fault, struct pt_regs *regs, bool user)
{
	struct task_cputime *sample = (struct task_cputime *)regs->di;
	struct prev_cputime *previous = (struct prev_cputime *)regs->si;
	u64 *time = user ? &previous->utime : &previous->stime;
	unsigned long flags;

	if (!object_is_on_stack(sample) || READ_ONCE(*time) < 2 || !fault_strikes(fault))
		return false;
	raw_spin_lock_irqsave(&previous->lock, flags);
	*time /= 2;
	raw_spin_unlock_irqrestore(&previous->lock, flags);
	sample->sum_exec_runtime = 0;
	return true;
}

/* void cputime_adjust(struct task_cputime *curr, struct prev_cputime *prev, u64 *ut, u64 *st) */
static void halve_utime(struct fault *fault, struct pt_regs *regs)
{
	hand_out_again(fault, regs, true);
}

static void halve_stime(struct fault *fault, struct pt_regs *regs)
{
	hand_out_again(fault, regs, false);
}

struct fault cputime_faults[] = {
	{
		.name = "cputime_goes_back",
		.breaks = "cputime.monotonic",
		.description = "cputime_adjust() hands out half of the utime that it handed out before",
		.every = 8,
		.probes = { { PROBE_BODY, PROBE_NAMES("cputime_adjust"), .on_call = halve_utime } },
	},
	{
		.name = "cputime_stime_goes_back",
		.breaks = "cputime.monotonic",
		.description = "cputime_adjust() hands out half of the stime that it handed out before",
		.every = 8,
		.probes = { { PROBE_BODY, PROBE_NAMES("cputime_adjust"), .on_call = halve_stime } },
	},
	{}
};
