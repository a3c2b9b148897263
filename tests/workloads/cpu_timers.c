// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads burn CPU time while the CPU timers of their process are armed,
 * re-armed and disarmed, and while everybody asks for that CPU time.
 *
 * Kernel paths: account_user_time, account_system_index_time, update_curr,
 * update_curr_rt, update_curr_dl (account_group_*), cpu_clock_sample_group and
 * thread_group_start_cputime (timers start), check_process_timers and
 * stop_process_timers (they fire, or none is left), update_rlimit_cpu,
 * posix_cputimers_group_init (fork under RLIMIT_CPU), posix_cpu_timers_exit and
 * _exit_group (threads end with armed timers), cputime_adjust (getrusage,
 * times, wait4, /proc/PID/stat).
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "cpu_usage.h"
#include "scheduling.h"

#define PROCESS_SIGNAL SIGRTMIN
#define THREAD_SIGNAL (SIGRTMIN + 1)
#define CROSS_SIGNAL (SIGRTMIN + 2)
/* One tick of a kernel with HZ=250, so that a timer fires at nearly every tick. */
#define INTERVAL_MICROSECONDS 4000
/*
 * The process's CPU time as sampled by ticks, which is what RLIMIT_CPU and
 * ITIMER_PROF go by. The kernel has the clock, only glibc has no name for it.
 */
#define PROCESS_TICK_CLOCK ((clockid_t)-8)
/* Every so many spinners, one owns a timer of its own, one changes its class. */
#define SHARE 4

enum {
	CYCLES,
	SIGPROF_COUNT,
	SIGVTALRM_COUNT,
	SIGXCPU_COUNT,
	PROCESS_TIMER,
	THREAD_TIMER,
	CROSS_TIMER,
	CLOCK_READS,
	CLOCK_BACKWARDS,
	USAGE_READS,
	USAGE_BACKWARDS,
	THREADS_ENDED,
	PROCESSES_EXECUTED,
	CLASS_CHANGES,
};

static const struct workload_counter counters[] = {
	[CYCLES] = { "arm cycles", MORE_TIME },
	[SIGPROF_COUNT] = { "SIGPROF", MORE_TIME },
	[SIGVTALRM_COUNT] = { "SIGVTALRM", MORE_TIME },
	[SIGXCPU_COUNT] = { "SIGXCPU" },
	[PROCESS_TIMER] = { "process timer signals", MORE_TIME },
	[THREAD_TIMER] = { "thread timer signals", MORE_TIME },
	[CROSS_TIMER] = { "signals from another process's clock", MORE_TIME },
	[CLOCK_READS] = { "clock reads", MORE_TIME },
	[CLOCK_BACKWARDS] = { "clock went backwards" },
	[USAGE_READS] = { "usage reads", MORE_TIME },
	[USAGE_BACKWARDS] = { "usage went backwards" },
	[THREADS_ENDED] = { "threads ended", MORE_TIME },
	[PROCESSES_EXECUTED] = { "processes executed", MORE_TIME },
	[CLASS_CHANGES] = { "class changes" },
	{},
};

static bool no_realtime;

static const struct workload_option options[] = {
	{ "no-realtime", 'r', NULL, "Stay in SCHED_OTHER (SCHED_FIFO, RR and DEADLINE need root)",
	  .flag = &no_realtime },
	{},
};

static struct workload workload = {
	.help = "Process CPU timers under many threads. --threads is the number of spinners; "
		"others arm timers and read clocks.",
	.options = options,
	.counters = counters,
	.seconds = 5,
	.threads_per_cpu = 2,
};

/* Spinners whose class another thread changes; they live until the end. */
static _Atomic pid_t victims[2];
#define VICTIMS (sizeof(victims) / sizeof(victims[0]))

static void count_signal(int signal)
{
	if (signal == SIGPROF)
		count(SIGPROF_COUNT, 1);
	else if (signal == SIGVTALRM)
		count(SIGVTALRM_COUNT, 1);
	else if (signal == SIGXCPU)
		count(SIGXCPU_COUNT, 1);
	else if (signal == PROCESS_SIGNAL)
		count(PROCESS_TIMER, 1);
	else if (signal == THREAD_SIGNAL)
		count(THREAD_TIMER, 1);
	else
		count(CROSS_TIMER, 1);
}

static void handle_signals(void)
{
	const int signals[] = { SIGPROF, SIGVTALRM, SIGXCPU, PROCESS_SIGNAL, THREAD_SIGNAL, CROSS_SIGNAL };
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
	unsigned int i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static timer_t create_timer(clockid_t clock, int signal)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };
	timer_t timer;

	if (timer_create(clock, &event, &timer))
		fail("cannot create a timer on CPU clock %d: %m", clock);
	return timer;
}

/* Periodic from one interval after now; 0 disarms. */
static void set_timer(timer_t timer, unsigned int microseconds)
{
	struct itimerspec setting = {
		.it_value.tv_nsec = microseconds * 1000L,
		.it_interval.tv_nsec = microseconds * 1000L,
	};

	if (timer_settime(timer, 0, &setting, NULL))
		fail("cannot set a CPU timer: %m");
}

/* Once, at a point of the CPU time itself, which starts from an exact sample. */
static void set_timer_absolute(timer_t timer, clockid_t clock)
{
	uint64_t when = clock_nanoseconds(clock) + INTERVAL_MICROSECONDS * 1000;
	struct itimerspec setting = {
		.it_value = { when / 1000000000, when % 1000000000 },
	};

	if (timer_settime(timer, TIMER_ABSTIME, &setting, NULL))
		fail("cannot set an absolute CPU timer: %m");
}

static void set_interval(int which, unsigned int microseconds)
{
	struct itimerval setting = {
		.it_value.tv_usec = microseconds,
		.it_interval.tv_usec = microseconds,
	};

	if (setitimer(which, &setting, NULL))
		fail("cannot set interval timer %d: %m", which);
}

/* The soft limit sends SIGXCPU at the next full second of CPU time. */
static void limit_cpu_time(bool limited)
{
	struct rlimit limit;

	getrlimit(RLIMIT_CPU, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (limited)
		limit.rlim_cur = clock_nanoseconds(PROCESS_TICK_CLOCK) / 1000000000 + 1;
	if (setrlimit(RLIMIT_CPU, &limit))
		fail("cannot set RLIMIT_CPU: %m");
}

/*
 * The pause without any timer lets a tick find that none is left, so that the
 * next cycle starts the group's accounting anew. A limit keeps it going, hence
 * only every fourth cycle has one.
 */
static void arm_timers(unsigned int index)
{
	timer_t timer = create_timer(CLOCK_PROCESS_CPUTIME_ID, PROCESS_SIGNAL);
	unsigned int cycle;

	(void)index;
	for (cycle = 0; !stopping(); cycle++) {
		limit_cpu_time(cycle % 4 == 3);
		set_interval(ITIMER_PROF, INTERVAL_MICROSECONDS);
		set_interval(ITIMER_VIRTUAL, INTERVAL_MICROSECONDS);
		set_timer(timer, INTERVAL_MICROSECONDS);
		sleep_for(20 + cycle % 4 * 20);

		set_interval(ITIMER_PROF, INTERVAL_MICROSECONDS * 2);
		set_interval(ITIMER_VIRTUAL, 0);
		set_timer_absolute(timer, CLOCK_PROCESS_CPUTIME_ID);
		sleep_for(20);

		set_interval(ITIMER_PROF, 0);
		set_timer(timer, 0);
		limit_cpu_time(false);
		sleep_for(15);
		count(CYCLES, 1);
	}
	timer_delete(timer);
}

/* Runs in a process of its own: the timer is its, the CPU time that of the main one. */
static void arm_timers_of_parent(unsigned int index)
{
	clockid_t clock;
	timer_t timer;

	(void)index;
	if (clock_getcpuclockid(getppid(), &clock))
		fail("cannot find the CPU clock of the parent process");
	while (!stopping()) {
		timer = create_timer(clock, CROSS_SIGNAL);
		set_timer(timer, INTERVAL_MICROSECONDS);
		sleep_for(40);
		set_timer_absolute(timer, clock);
		sleep_for(20);
		timer_delete(timer);
		sleep_for(15);
	}
}

static void spin_in_class(unsigned int policy)
{
	if (!set_class(0, policy, 1))
		return;
	spin_for(1);
	count(CLASS_CHANGES, 1);
}

static void tour_of_classes(void)
{
	spin_in_class(SCHED_FIFO);
	spin_in_class(SCHED_RR);
	spin_in_class(SCHED_DEADLINE);
	set_class(0, SCHED_OTHER, 0);
}

static void burn(unsigned int index, unsigned int rounds)
{
	unsigned int i, j;

	for (i = 0; i < rounds && !stopping(); i++) {
		if (index % 2 == 0)
			compute();
		else
			for (j = 0; j < 100; j++)
				syscall(SYS_getppid);
	}
}

static void spin(unsigned int index)
{
	bool has_timer = index % SHARE == 1;
	bool tours = !no_realtime && index % SHARE == SHARE - 1;
	timer_t timer = 0;

	if (index < VICTIMS)
		victims[index] = gettid();
	if (has_timer) {
		timer = create_timer(CLOCK_THREAD_CPUTIME_ID, THREAD_SIGNAL);
		set_timer(timer, INTERVAL_MICROSECONDS);
	}
	while (!stopping()) {
		burn(index, 2000);
		if (tours)
			tour_of_classes();
	}
	if (has_timer)
		timer_delete(timer);
}

/*
 * Changes running threads from outside. It outranks what it makes of them, or a
 * spinner on the only CPU would never be changed back.
 */
static void change_classes(unsigned int index)
{
	const unsigned int policies[] = { SCHED_FIFO, SCHED_RR, SCHED_DEADLINE };
	unsigned int i;

	(void)index;
	set_class(0, SCHED_FIFO, 10);
	for (i = 0; !stopping(); i++) {
		pid_t victim = victims[i % VICTIMS];

		if (victim && set_class(victim, policies[i % 3], 1)) {
			sleep_for(2);
			set_class(victim, SCHED_OTHER, 0);
			count(CLASS_CHANGES, 2);
		}
		sleep_for(20);
	}
}

static void note_clock(uint64_t *last, clockid_t clock)
{
	uint64_t now = clock_nanoseconds(clock);

	count(CLOCK_READS, 1);
	if (now < *last)
		count(CLOCK_BACKWARDS, 1);
	*last = now;
}

static void read_clocks(unsigned int index)
{
	uint64_t last_process = 0, last_ticks = 0, last_thread = 0;
	unsigned int i;

	(void)index;
	while (!stopping()) {
		for (i = 0; i < 100; i++) {
			note_clock(&last_process, CLOCK_PROCESS_CPUTIME_ID);
			note_clock(&last_ticks, PROCESS_TICK_CLOCK);
			note_clock(&last_thread, CLOCK_THREAD_CPUTIME_ID);
		}
		sleep_for(1);
	}
}

static void note_usage(struct cpu_usage *last, struct cpu_usage now)
{
	count(USAGE_READS, 1);
	if (usage_decreased(last, now))
		count(USAGE_BACKWARDS, 1);
}

static void read_usage(unsigned int index)
{
	struct cpu_usage last_process = {}, last_thread = {}, last_times = {};
	struct rusage process, thread;

	(void)index;
	while (!stopping()) {
		getrusage(RUSAGE_SELF, &process);
		getrusage(RUSAGE_THREAD, &thread);
		note_usage(&last_process, usage_from_rusage(&process));
		note_usage(&last_thread, usage_from_rusage(&thread));
		note_usage(&last_times, usage_from_times());
		sleep_for(1);
	}
}

static void read_threads_of(pid_t process)
{
	struct cpu_usage usage;
	struct dirent *entry;
	char path[300];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", process, entry->d_name);
		if (usage_from_stat(path, &usage))
			count(USAGE_READS, 1);
	}
	if (directory)
		closedir(directory);
}

/* Runs in a process of its own, as ps and top do. */
static void poll_parent(unsigned int index)
{
	struct cpu_usage last = {}, now;
	pid_t parent = getppid();
	char path[64];

	(void)index;
	snprintf(path, sizeof(path), "/proc/%d/stat", parent);
	while (!stopping()) {
		if (!usage_from_stat(path, &now))
			fail("cannot read %s (is /proc mounted?)", path);
		note_usage(&last, now);
		read_threads_of(parent);
		sleep_for(5);
	}
}

/* Leaves its timer armed, so that the exit of the thread has to detach it. */
static timer_t abandoned_timer;

static void short_life(unsigned int index)
{
	abandoned_timer = create_timer(CLOCK_THREAD_CPUTIME_ID, THREAD_SIGNAL);
	set_timer(abandoned_timer, INTERVAL_MICROSECONDS);
	burn(index, 50);
}

/* The interval timer survives exec, its handler does not: hence SIG_IGN. */
static void execute_with_timers(void)
{
	pid_t child = fork();

	if (child < 0)
		fail("cannot fork: %m");
	if (!child) {
		signal(SIGPROF, SIG_IGN);
		signal(SIGXCPU, SIG_IGN);
		set_interval(ITIMER_PROF, INTERVAL_MICROSECONDS);
		exec_self();
	}
	wait_for_child(child, 0, NULL);
	count(PROCESSES_EXECUTED, 1);
}

static void churn(unsigned int index)
{
	struct worker worker;
	unsigned int i;

	(void)index;
	while (!stopping()) {
		for (i = 0; i < 10; i++) {
			worker_start(&worker, short_life, i);
			worker_join(&worker);
			timer_delete(abandoned_timer);
			count(THREADS_ENDED, 1);
		}
		execute_with_timers();
	}
}

int main(int argc, char **argv)
{
	unsigned int i;

	workload_begin(&workload, argc, argv);
	handle_signals();
	run_process(poll_parent, 0);
	run_process(arm_timers_of_parent, 0);
	for (i = 0; i < workload.threads; i++)
		run_thread(spin, i);
	run_thread(arm_timers, 0);
	run_thread(read_clocks, 0);
	run_thread(read_usage, 0);
	run_thread(churn, 0);
	if (!no_realtime)
		run_thread(change_classes, 0);
	workload_wait();
	return workload_end();
}
