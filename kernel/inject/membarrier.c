// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults in the IPIs of membarrier(2): CPUs are taken out of the mask that it has made for one call. What it loses is a
 * barrier between threads of user space; the kernel does not rely on it.
 */
#include <linux/cpumask.h>
#include <linux/smp.h>

#include "inject.h"

/* Never the caller's own CPU: it is in the mask but needs no IPI. */
static unsigned int first_other_cpu(const struct cpumask *mask)
{
	unsigned int cpu = cpumask_first(mask);

	return cpu == smp_processor_id() ? cpumask_next(cpu, mask) : cpu;
}

/* void smp_call_function_many_cond(const struct cpumask *mask, smp_call_func_t func, ...) */
static bool is_target(const struct fault *fault, const struct pt_regs *regs)
{
	return regs->si == fault->target_address &&
	       first_other_cpu((struct cpumask *)regs->di) < nr_cpu_ids;
}

static void skip_one(struct fault *fault, struct pt_regs *regs)
{
	struct cpumask *mask = (struct cpumask *)regs->di;

	if (is_target(fault, regs) && fault_strikes(fault))
		cpumask_clear_cpu(first_other_cpu(mask), mask);
}

static void skip_all(struct fault *fault, struct pt_regs *regs)
{
	if (is_target(fault, regs) && fault_strikes(fault))
		cpumask_clear((struct cpumask *)regs->di);
}

#define SEND_IPIS PROBE_NAMES("smp_call_function_many_cond")

struct fault membarrier_faults[] = {
	{
		.name = "membarrier_skip_cpu",
		.breaks = "membarrier.coverage",
		.description = "PRIVATE_EXPEDITED leaves out the first CPU that it should reach",
		.every = 1,
		.target = "ipi_mb",
		.probes = { { PROBE_ENTRY, SEND_IPIS, .on_call = skip_one } },
	},
	{
		.name = "membarrier_no_ipi",
		.breaks = "membarrier.coverage",
		.description = "PRIVATE_EXPEDITED reaches no CPU",
		.every = 1,
		.target = "ipi_mb",
		.probes = { { PROBE_ENTRY, SEND_IPIS, .on_call = skip_all } },
	},
	{
		.name = "membarrier_no_sync_core",
		.breaks = "membarrier.coverage",
		.description = "PRIVATE_EXPEDITED_SYNC_CORE reaches no CPU",
		.every = 1,
		.target = "ipi_sync_core",
		.probes = { { PROBE_ENTRY, SEND_IPIS, .on_call = skip_all } },
	},
	{
		.name = "membarrier_no_rseq",
		.breaks = "membarrier.coverage",
		.description = "PRIVATE_EXPEDITED_RSEQ reaches no CPU",
		.every = 1,
		.target = "ipi_rseq",
		.probes = { { PROBE_ENTRY, SEND_IPIS, .on_call = skip_all } },
	},
	{}
};
