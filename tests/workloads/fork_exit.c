// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes and threads are born and die as fast as they can.
 *
 * Kernel paths: copy_process (posix_cputimers_group_init, delayacct_tsk_init),
 * do_exit, __exit_signal and release_task (the times of a dead thread move to
 * its group), posix_cpu_timers_exit and _exit_group, wait_task_zombie
 * (cputime_adjust), exec_mmap (a new mm under a running task), de_thread (a
 * thread that calls exec takes the leader's place), free_task, switch_mm to
 * address spaces that were just made.
 */
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"
#include "cpu_usage.h"

#define THREADS_AT_ONCE 4
#define FORKS_AT_ONCE 16

enum { FORKS, SPAWNS, THREADS, EXECS, THREADED_EXECS, GROUP_EXITS };

static const struct workload_counter counters[] = {
	[FORKS] = { "forks", MORE_TIME },
	[SPAWNS] = { "vforks", MORE_TIME },
	[THREADS] = { "threads", MORE_TIME },
	[EXECS] = { "execs", MORE_TIME },
	[THREADED_EXECS] = { "execs with threads", MORE_TIME },
	[GROUP_EXITS] = { "exits with threads", MORE_TIME },
	{},
};

static struct workload workload = {
	.help = "Fork, thread, exec and exit storm. --threads is the number of processes that "
		"do it at once.",
	.counters = counters,
	.seconds = 5,
	.threads_per_cpu = 1,
};

/* A child cannot have used more time than passed for all its threads together. */
static void check_child(pid_t child, int expected_status)
{
	double limit, used;
	struct cpu_usage usage;
	struct rusage rusage;

	wait_for_child(child, expected_status, &rusage);
	usage = usage_from_rusage(&rusage);
	used = (usage.user + usage.system) / 1e6;
	limit = (elapsed_seconds() + 1) * (THREADS_AT_ONCE + 2);
	if (used > limit)
		fail("process %d used %.6f s of CPU time, more than passed", child, used);
}

static void fork_child(role_function child_main, unsigned int argument, int expected_status)
{
	pid_t child = fork();

	if (child < 0)
		fail("cannot fork: %m");
	if (!child) {
		child_main(argument);
		_exit(expected_status);
	}
	check_child(child, expected_status);
}

static void do_nothing(unsigned int index)
{
	(void)index;
}

static void execute(unsigned int index)
{
	(void)index;
	exec_self();
}

/* By index: burn user time, sleep in the kernel, or end before the others. */
static void live_until_group_ends(unsigned int index)
{
	if (index % 3 == 2)
		return;
	for (;;) {
		if (index % 3 == 0)
			compute();
		else
			pause();
	}
}

static void start_crew(void)
{
	static struct worker crew[THREADS_AT_ONCE];
	unsigned int i;

	for (i = 0; i < THREADS_AT_ONCE; i++)
		worker_start(&crew[i], live_until_group_ends, i);
}

static void exit_with_threads(unsigned int index)
{
	(void)index;
	start_crew();
}

static void execute_with_threads(unsigned int from_other_thread)
{
	static struct worker other;

	start_crew();
	if (!from_other_thread)
		exec_self();
	worker_start(&other, execute, 0);
	for (;;)
		pause();
}

static void spawn_self(void)
{
	char *arguments[] = { "fork_exit", EXIT_AT_ONCE, NULL };
	char *environment[] = { NULL };
	pid_t child;
	int error;

	error = posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environment);
	if (error)
		fail("cannot spawn /proc/self/exe (is /proc mounted?): %s", strerror(error));
	check_child(child, 0);
}

static void run_threads_to_end(void)
{
	struct worker crew[THREADS_AT_ONCE];
	unsigned int i;

	for (i = 0; i < THREADS_AT_ONCE; i++)
		worker_start(&crew[i], do_nothing, i);
	for (i = 0; i < THREADS_AT_ONCE; i++)
		worker_join(&crew[i]);
	count(THREADS, THREADS_AT_ONCE);
}

static void storm(unsigned int index)
{
	unsigned int round, i;

	for (round = index; !stopping(); round++) {
		for (i = 0; i < FORKS_AT_ONCE; i++)
			fork_child(do_nothing, 0, (round + i) % 128);
		count(FORKS, FORKS_AT_ONCE);
		fork_child(exit_with_threads, 0, round % 128);
		count(GROUP_EXITS, 1);
		fork_child(execute, 0, 0);
		count(EXECS, 1);
		fork_child(execute_with_threads, round % 2, 0);
		count(THREADED_EXECS, 1);
		spawn_self();
		count(SPAWNS, 1);
		run_threads_to_end();
	}
}

int main(int argc, char **argv)
{
	unsigned int i;

	workload_begin(&workload, argc, argv);
	for (i = 0; i < workload.threads; i++)
		run_process(storm, i);
	workload_wait();
	return workload_end();
}
