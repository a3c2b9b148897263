// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults in the sums of the process CPU timers. A changed `cputime` argument is seen by the function's body and not by
 * the programs attached to its entry, and the sum itself never takes a false value in between.
 */
#include <linux/percpu.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>

#include "inject.h"

static bool is_accounted_in_group(const struct task_struct *task)
{
	return READ_ONCE(task->signal->posix_cputimers.timers_active) && task->sighand;
}

/* void account_xxx_time(struct task_struct *p, u64 cputime, ...) */
static void lose_cputime(struct fault *fault, struct pt_regs *regs)
{
	if (is_accounted_in_group((struct task_struct *)regs->di) && fault_strikes(fault))
		regs->si = 0;
}

static void double_cputime(struct fault *fault, struct pt_regs *regs)
{
	if (is_accounted_in_group((struct task_struct *)regs->di) && fault_strikes(fault))
		regs->si *= 2;
}

static void double_runtime(void *fault, struct task_struct *task, u64 runtime)
{
	if (!(task->flags & PF_KTHREAD) && is_accounted_in_group(task) && fault_strikes(fault))
		atomic64_add(runtime, &task->signal->cputimer.cputime_atomic.sum_exec_runtime);
}

/* The group whose timers are being started on this CPU; siglock keeps interrupts off until it is done. */
static DEFINE_PER_CPU(struct signal_struct *, group_starting);

/* u64 cpu_clock_sample_group(const clockid_t clkid, struct task_struct *p, bool start) */
static void note_start(struct fault *fault, struct pt_regs *regs)
{
	struct signal_struct *signal = ((struct task_struct *)regs->si)->signal;
	bool starts = (regs->dx & 0xff) && !READ_ONCE(signal->posix_cputimers.timers_active);

	if (!starts)
		signal = NULL;
	this_cpu_write(group_starting, signal);
}

/* void thread_group_cputime(struct task_struct *tsk, struct task_cputime *times) */
static bool is_sample_for_start(struct fault *fault, struct pt_regs *regs)
{
	struct signal_struct *signal = ((struct task_struct *)regs->di)->signal;

	return irqs_disabled_flags(regs->flags) && this_cpu_read(group_starting) == signal;
}

/*
 * The start raises the sums to the sample, so both are lowered. Nobody else uses the sums before it has ended: what
 * follows is accounted without a fault, from a base that is too low.
 */
static void start_from_half(struct fault *fault, unsigned long second)
{
	struct signal_struct *signal = this_cpu_read(group_starting);
	struct task_cputime *sample = (struct task_cputime *)second;
	atomic64_t *utime = &signal->cputimer.cputime_atomic.utime;

	this_cpu_write(group_starting, NULL);
	if (!atomic64_read(utime) || !fault_strikes(fault))
		return;
	sample->utime /= 2;
	atomic64_set(utime, atomic64_read(utime) / 2);
}

struct fault cputimer_faults[] = {
	{
		.name = "cputimer_goes_back",
		.breaks = "cputimer.monotonic",
		.description = "the timers of a process start again from half of its utime",
		.every = 1,
		.probes = {
			{ PROBE_RETURN, PROBE_NAMES("thread_group_cputime"),
			  .follows = is_sample_for_start, .on_return = start_from_half },
			{ PROBE_ENTRY, PROBE_NAMES("cpu_clock_sample_group"), .on_call = note_start },
		},
	},
	{
		.name = "cputimer_lost_update",
		.breaks = "cputimer.no_lost_update",
		.description = "account_user_time() adds nothing",
		.every = 4,
		.probes = { { PROBE_BODY, PROBE_NAMES("account_user_time"), .on_call = lose_cputime } },
	},
	{
		.name = "cputimer_lost_stime",
		.breaks = "cputimer.no_lost_update",
		.description = "account_system_index_time() adds nothing",
		.every = 4,
		.probes = { { PROBE_BODY, PROBE_NAMES("account_system_index_time"), .on_call = lose_cputime } },
	},
	{
		.name = "cputimer_double_count",
		.breaks = "cputimer.no_lost_update",
		.description = "account_user_time() adds the delta twice",
		.every = 4,
		.probes = { { PROBE_BODY, PROBE_NAMES("account_user_time"), .on_call = double_cputime } },
	},
	{
		.name = "cputimer_double_stime",
		.breaks = "cputimer.no_lost_update",
		.description = "account_system_index_time() adds the delta twice",
		.every = 4,
		.probes = { { PROBE_BODY, PROBE_NAMES("account_system_index_time"), .on_call = double_cputime } },
	},
	{
		.name = "cputimer_double_runtime",
		.breaks = "cputimer.no_lost_update",
		.description = "sum_exec_runtime grows by twice the runtime",
		.every = 1,
		.probes = { { PROBE_TRACEPOINT, PROBE_NAMES("sched_stat_runtime"), .on_event = double_runtime } },
	},
	{}
};
