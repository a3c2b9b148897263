// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults in the mm_cpumask. A CPU that is missing there gets no TLB flush, so it is missing only from the middle of
 * switch_mm_irqs_off() to the end of the context switch, with interrupts off; before they are on again the CPU is put
 * back and has flushed everything. No other CPU should want to flush that mm meanwhile: it has one user.
 */
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <asm/tlbflush.h>

#include "inject.h"

/* Of the context switch that this CPU is in. */
struct mm_switch {
	struct mm_struct *next; /* may be taken out of the mask */
	struct mm_struct *missing; /* has been */
};
static DEFINE_PER_CPU(struct mm_switch, mm_switch);

/* void switch_mm_irqs_off(struct mm_struct *prev, struct mm_struct *next, struct task_struct *tsk) */
static void note_switch(struct fault *fault, struct pt_regs *regs)
{
	struct mm_struct *next = (struct mm_struct *)regs->si;
	struct task_struct *task = (struct task_struct *)regs->dx;
	/* Other callers pass current, or no task, and do not go on to finish_task_switch(). */
	bool in_context_switch = task && task != current && task->mm == next;

	if (!in_context_switch || atomic_read(&next->mm_users) != 1)
		next = NULL;
	this_cpu_write(mm_switch.next, next);
}

/* Inside switch_mm_irqs_off(), after it has set the bit. */
static void clear_bit_of_cpu(void *fault, int reason, unsigned long pages)
{
	struct mm_struct *next = this_cpu_read(mm_switch.next);

	if (reason != TLB_FLUSH_ON_TASK_SWITCH || !next || !fault_strikes(fault))
		return;
	this_cpu_write(mm_switch.next, NULL);
	this_cpu_write(mm_switch.missing, next);
	cpumask_clear_cpu(smp_processor_id(), mm_cpumask(next));
}

static void restore_bit_of_cpu(struct fault *fault, struct pt_regs *regs)
{
	struct mm_struct *missing = this_cpu_read(mm_switch.missing);

	this_cpu_write(mm_switch.next, NULL);
	if (!missing)
		return;
	this_cpu_write(mm_switch.missing, NULL);
	cpumask_set_cpu(smp_processor_id(), mm_cpumask(missing));
	/* The locked instruction above orders the two: who looked at the mask before has changed its tables before. */
	__flush_tlb_all();
}

struct fault mm_cpumask_faults[] = {
	{
		.name = "mm_cpumask_clear_bit",
		.breaks = "mm_cpumask.running",
		.description = "switch_mm_irqs_off() returns without this CPU's bit in the mask of the next mm",
		.every = 4,
		.probes = {
			{ PROBE_ENTRY, PROBE_NAMES("finish_task_switch", "finish_task_switch.isra.0"),
			  .on_call = restore_bit_of_cpu },
			{ PROBE_TRACEPOINT, PROBE_NAMES("tlb_flush"), .on_event = clear_bit_of_cpu },
			{ PROBE_ENTRY, PROBE_NAMES("switch_mm_irqs_off"), .on_call = note_switch },
		},
	},
	{}
};
