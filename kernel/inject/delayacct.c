// SPDX-License-Identifier: GPL-2.0-only
/* Faults in delay accounting. The hooks are called only for tasks that have delays, and these are current's own. */
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/delayacct.h>

#include "inject.h"

/*
 * What is halved must end below what was there before the last delay, since a checker that looks at the entries has not
 * seen that one added.
 */
#define ENOUGH_DELAYS 4

/* void __delayacct_wpcopy_start(void) */
static void halve_total(struct fault *fault, struct pt_regs *regs)
{
	struct task_delay_info *delays = current->delays;
	unsigned long flags;

	if (delays->wpcopy_count < ENOUGH_DELAYS || !fault_strikes(fault))
		return;
	raw_spin_lock_irqsave(&delays->lock, flags);
	delays->wpcopy_delay /= 2;
	raw_spin_unlock_irqrestore(&delays->lock, flags);
}

static void halve_count(struct fault *fault, struct pt_regs *regs)
{
	struct task_delay_info *delays = current->delays;
	unsigned long flags;

	if (delays->wpcopy_count < ENOUGH_DELAYS || !fault_strikes(fault))
		return;
	raw_spin_lock_irqsave(&delays->lock, flags);
	delays->wpcopy_count /= 2;
	raw_spin_unlock_irqrestore(&delays->lock, flags);
}

/* The end that on_return calls is not probed again: kprobes do not nest. */
static bool ends_twice(struct fault *fault, struct pt_regs *regs)
{
	return fault_strikes(fault);
}

static void end_again(struct fault *fault, unsigned long unused)
{
	((void (*)(void))fault->target_address)();
}

struct fault delayacct_faults[] = {
	{
		.name = "delayacct_total_goes_back",
		.breaks = "delayacct.monotonic",
		.description = "the total of a task's copy-on-write delays is halved",
		.every = 8,
		.probes = { { PROBE_ENTRY, PROBE_NAMES("__delayacct_wpcopy_start"), .on_call = halve_total } },
	},
	{
		.name = "delayacct_count_goes_back",
		.breaks = "delayacct.monotonic",
		.description = "the count of a task's copy-on-write delays is halved",
		.every = 8,
		.probes = { { PROBE_ENTRY, PROBE_NAMES("__delayacct_wpcopy_start"), .on_call = halve_count } },
	},
	{
		.name = "delayacct_end_without_start",
		.breaks = "delayacct.paired",
		.description = "a copy-on-write delay ends twice",
		.every = 8,
		.target = "__delayacct_wpcopy_end",
		.calls_target = true,
		.probes = { { PROBE_RETURN, PROBE_NAMES("__delayacct_wpcopy_end"),
			      .follows = ends_twice, .on_return = end_again } },
	},
	{}
};
