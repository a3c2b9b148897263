// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the other workloads side by side, and one of them alone, and thereby exercises what each of
 * them names, under mutual contention.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

/*
 * Under contention hardly any thread keeps its CPU throughout a membarrier(),
 * which is the case that matters; so the storm has a time of its own, too.
 */
#define ALONE_SHARE 4
#define ALONE_MIN_SECONDS 3

/* A program has this long to end after its time; more than its own limit. */
#define GRACE_SECONDS 75
#define PROGRESS_SECONDS 5

enum { PROGRAMS, FAILED };

static const struct workload_counter counters[] = {
	[PROGRAMS] = { "programs", MORE_TIME }, [FAILED] = { "failed" }, {}
};

static const char *directory = ".";
static const char *cgroup;
static bool no_realtime;
static bool no_block_io;

static const struct workload_option options[] = {
	{ "directory", 'd', "DIR", "Where files are made; it must lie on a block device", .text = &directory },
	{ "cgroup", 'c', "PATH", "Make memory scarce in this cgroup v2 directory", .text = &cgroup },
	{ "no-realtime", 'r', NULL, "Stay in SCHED_OTHER", .flag = &no_realtime },
	{ "no-block-io", 'n', NULL, "Leave out block_io: there is no block device", .flag = &no_block_io },
	{},
};

static struct workload workload = {
	.help = "Runs all the workloads beside this program at once, then membarrier_storm alone for a "
		"quarter of that time. --threads is handed on to each of them.",
	.options = options,
	.counters = counters,
	.seconds = 10,
};

struct program {
	const char *name;
	bool alone; /* runs after the others */
	pid_t process; /* 0 when it does not run (any more) */
};

static struct program programs[] = {
	{ .name = "cpu_timers" }, { .name = "fork_exit" }, { .name = "membarrier_storm" },
	{ .name = "pingpong" },	  { .name = "block_io" },  { .name = "memory_pressure" },
	{ .name = "membarrier_storm", .alone = true },
};

#define PROGRAM_COUNT (sizeof(programs) / sizeof(programs[0]))

struct arguments {
	const char *list[16];
	unsigned int count;
};

static void add_argument(struct arguments *arguments, const char *name, const char *value)
{
	arguments->list[arguments->count++] = name;
	if (value)
		arguments->list[arguments->count++] = value;
}

static void add_own_arguments(struct arguments *arguments, const char *name)
{
	bool is_memory_pressure = !strcmp(name, "memory_pressure");

	if (!strcmp(name, "cpu_timers") && no_realtime)
		add_argument(arguments, "--no-realtime", NULL);
	if (!strcmp(name, "block_io") || is_memory_pressure)
		add_argument(arguments, "--directory", directory);
	if (is_memory_pressure && cgroup)
		add_argument(arguments, "--cgroup", cgroup);
}

static unsigned int seconds_alone(void)
{
	unsigned int seconds = workload.seconds / ALONE_SHARE;

	return seconds > ALONE_MIN_SECONDS ? seconds : ALONE_MIN_SECONDS;
}

/* The siblings lie where this program does, wherever it is called from. */
static void execute_sibling(const struct program *program)
{
	const char *name = program->name;
	char own_path[PATH_MAX] = "", path[PATH_MAX + NAME_MAX], seconds[16], threads[16];
	struct arguments arguments = {};

	if (readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) < 0)
		fail("cannot find this program (is /proc mounted?): %m");
	snprintf(path, sizeof(path), "%s/%s", dirname(own_path), name);
	snprintf(seconds, sizeof(seconds), "%u", program->alone ? seconds_alone() : workload.seconds);
	snprintf(threads, sizeof(threads), "%u", workload.threads);
	add_argument(&arguments, name, NULL);
	add_argument(&arguments, "--seconds", seconds);
	if (workload.threads)
		add_argument(&arguments, "--threads", threads);
	add_own_arguments(&arguments, name);
	execv(path, (char **)arguments.list);
	fail("cannot execute %s: %m", path);
}

static void start(struct program *program)
{
	program->process = fork();
	if (program->process < 0)
		fail("cannot fork: %m");
	if (!program->process) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execute_sibling(program);
	}
	count(PROGRAMS, 1);
}

static void report_end(const struct program *program, int status)
{
	char text[64] = "succeeded";

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(text, sizeof(text), "failed with status %d", WEXITSTATUS(status));
	printf("mix: %s %s\n", program->name, text);
	fflush(stdout);
	if (status) {
		count(FAILED, 1);
		workload_failed();
	}
}

/* Returns how many programs still run. */
static unsigned int reap(void)
{
	unsigned int i, running = 0;
	int status;

	for (i = 0; i < PROGRAM_COUNT; i++) {
		if (!programs[i].process)
			continue;
		if (waitpid(programs[i].process, &status, WNOHANG) == programs[i].process) {
			programs[i].process = 0;
			report_end(&programs[i], status);
		} else {
			running++;
		}
	}
	return running;
}

static void send_signal(int signal)
{
	unsigned int i;

	for (i = 0; i < PROGRAM_COUNT; i++)
		if (programs[i].process)
			kill(programs[i].process, signal);
}

static bool overdue(void)
{
	return workload.seconds && elapsed_seconds() > workload.seconds + seconds_alone() + 2 * GRACE_SECONDS;
}

/* Returns whether a signal has asked for an early end. */
static bool wait_for_programs(const sigset_t *signals)
{
	const struct timespec timeout = { .tv_sec = PROGRESS_SECONDS };
	unsigned int running;
	bool stopped = false;
	int signal;

	while ((running = reap())) {
		signal = sigtimedwait(signals, NULL, &timeout);
		if (signal == SIGTERM || signal == SIGINT)
			stopped = true;
		if (stopped)
			send_signal(SIGTERM);
		else if (signal < 0 && errno == EAGAIN)
			note("%.0f of %u s, %u programs running", elapsed_seconds(), workload.seconds, running);
		if (overdue())
			send_signal(SIGKILL);
	}
	return stopped;
}

static void start_all(bool alone)
{
	unsigned int i;

	for (i = 0; i < PROGRAM_COUNT; i++) {
		if (programs[i].alone != alone)
			continue;
		if (no_block_io && !strcmp(programs[i].name, "block_io"))
			note("block_io is left out, as asked for");
		else
			start(&programs[i]);
	}
}

int main(int argc, char **argv)
{
	sigset_t signals;

	workload_begin(&workload, argc, argv);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	start_all(false);
	if (!wait_for_programs(&signals)) {
		start_all(true);
		wait_for_programs(&signals);
	}
	return workload_end();
}
