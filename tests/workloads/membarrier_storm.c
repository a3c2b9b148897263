// SPDX-License-Identifier: GPL-2.0-only
/*
 * membarrier() is called with every command while threads of the same address
 * space spin, sleep and migrate, and others share nothing with it.
 *
 * Kernel paths: membarrier_private_expedited with each flag and with cpu_id,
 * ipi_mb, ipi_sync_core, ipi_rseq, membarrier_global_expedited,
 * synchronize_rcu (GLOBAL), membarrier_exec_mmap (exec drops the registration),
 * sync_runqueues_membarrier_state (registration), rq->curr changes and
 * switch_mm_irqs_off on the CPUs that a call looks at; the exemptions for a
 * single user of the mm, for cpu_id elsewhere and for the caller's own CPU.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

enum {
	PRIVATE,
	SYNC_CORE,
	RSEQ,
	RSEQ_ON_CPU,
	GLOBAL_EXPEDITED,
	GLOBAL,
	SINGLE_THREADED,
	MIGRATIONS,
	SLEEPS,
};

static const struct workload_counter counters[] = {
	[PRIVATE] = { "private calls", MORE_TIME },
	[SYNC_CORE] = { "sync-core calls" },
	[RSEQ] = { "rseq calls" },
	[RSEQ_ON_CPU] = { "rseq calls for one CPU" },
	[GLOBAL_EXPEDITED] = { "global expedited calls", MORE_TIME },
	[GLOBAL] = { "global calls" },
	[SINGLE_THREADED] = { "calls without sibling threads", MORE_TIME },
	[MIGRATIONS] = { "migrations", MORE_TIME },
	[SLEEPS] = { "sleeps", MORE_TIME },
	{},
};

static struct workload workload = {
	.help = "membarrier() storm. --threads is the number of callers, spinners, sleepers and "
		"migrators each.",
	.counters = counters,
	.seconds = 5,
	.threads_per_cpu = 1,
};

/* What MEMBARRIER_CMD_QUERY offers, a set of commands. */
static int offered;

static int membarrier(int command, unsigned int flags, int cpu)
{
	return syscall(SYS_membarrier, command, flags, cpu);
}

/* Leaves out what the kernel was built without, which main() reports. */
static void call(unsigned int counter, int command, unsigned int flags, int cpu)
{
	if (!(offered & command))
		return;
	if (membarrier(command, flags, cpu))
		fail("membarrier command %#x with flags %u for CPU %d failed: %m", command, flags, cpu);
	count(counter, 1);
}

/* Says what this kernel lacks; what it has must be refused before its registration. */
static void check_private_command(int command, const char *name)
{
	if (!(offered & command))
		note("this kernel does not offer the %s command, it is left out", name);
	else if (!membarrier(command, 0, 0) || errno != EPERM)
		fail("the %s command should fail with EPERM before its registration", name);
}

static void register_address_space(void)
{
	const int commands[] = {
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ,
		MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
	};
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if ((offered & commands[i]) && membarrier(commands[i], 0, 0))
			fail("cannot register for membarrier with command %#x: %m", commands[i]);
}

/* The pause gives the CPU back, or only callers would ever meet each other. */
static void make_calls(unsigned int index)
{
	unsigned int round;

	for (round = index; !stopping(); round++) {
		call(PRIVATE, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		call(SYNC_CORE, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
		call(RSEQ, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
		call(RSEQ_ON_CPU, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, MEMBARRIER_CMD_FLAG_CPU,
		     round % (cpu_count() + 1));
		if (round % 16 == 0)
			sleep_for(1);
	}
}

static void make_global_calls(unsigned int index)
{
	unsigned int round;

	(void)index;
	for (round = 0; !stopping(); round++) {
		call(GLOBAL_EXPEDITED, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
		/* A grace period each; CPUs with nohz_full have no such command. */
		if (round % 16 == 0)
			call(GLOBAL, MEMBARRIER_CMD_GLOBAL, 0, 0);
		sleep_for(10);
	}
}

/* Never enters the kernel: what a barrier must reach is this thread. */
static void spin(unsigned int index)
{
	if (index % 2)
		run_on_cpu(index);
	while (!stopping())
		compute();
}

static void sleep_and_wake(unsigned int index)
{
	unsigned int round;

	for (round = index; !stopping(); round++) {
		sleep_for(round % 3);
		compute();
		count(SLEEPS, 1);
	}
}

static void migrate(unsigned int index)
{
	unsigned int round;

	for (round = index; !stopping(); round++) {
		run_on_cpu(round);
		compute();
		count(MIGRATIONS, 1);
		if (round % 64 == 0)
			sleep_for(1);
	}
}

static void start_crew(unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++) {
		run_thread(spin, i);
		run_thread(make_calls, i);
		run_thread(sleep_and_wake, i);
		run_thread(migrate, i);
	}
}

/* Another address space that is registered too, with a small crew. */
static void run_sibling(unsigned int index)
{
	(void)index;
	register_address_space();
	start_crew(1);
}

/* With one user of its mm the kernel may skip the barrier; it must still succeed. */
static void call_alone(unsigned int index)
{
	(void)index;
	register_address_space();
	while (!stopping()) {
		call(SINGLE_THREADED, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		call(SINGLE_THREADED, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
		sleep_for(1);
	}
}

/* Not registered: its CPU time must not be bothered, its switches still matter. */
static void bystand(unsigned int index)
{
	(void)index;
	while (!stopping()) {
		compute();
		sleep_for(1);
	}
}

int main(int argc, char **argv)
{
	workload_begin(&workload, argc, argv);
	offered = membarrier(MEMBARRIER_CMD_QUERY, 0, 0);
	if (offered < 0)
		fail("this kernel has no membarrier() (CONFIG_MEMBARRIER): %m");
	check_private_command(MEMBARRIER_CMD_PRIVATE_EXPEDITED, "private expedited");
	check_private_command(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, "sync-core");
	check_private_command(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, "rseq");
	run_process(run_sibling, 0);
	run_process(call_alone, 0);
	run_process(bystand, 0);
	register_address_space();
	start_crew(workload.threads);
	run_thread(make_global_calls, 0);
	workload_wait();
	return workload_end();
}
