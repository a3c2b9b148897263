/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every workload shares: options, the deadline, threads and processes,
 * counters and the summary.
 *
 * A program calls workload_begin(), starts its workers, calls workload_wait()
 * and returns workload_end(). Workers run until stopping() is true. Whatever
 * goes wrong in a worker, in whichever process, ends in fail(), so that the
 * program exits with 1 and never reports success for work it did not do.
 *
 * Exit status: 0 done, 1 failed (the reason is on stderr), 64 wrong usage.
 */
#ifndef KWITNESS_WORKLOAD_COMMON_H
#define KWITNESS_WORKLOAD_COMMON_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct rusage;

#define MEBIBYTE (1024UL * 1024UL)

/*
 * One option of a workload besides --seconds and --threads. Exactly one of
 * number, text and flag is set and names where the value goes; it holds the
 * default. A table of options ends with an entry without a name.
 */
struct workload_option {
	const char *name;
	int key;
	const char *argument; /* how --help calls the value; NULL for a flag */
	const char *help;
	unsigned int *number;
	const char **text; /* points into argv afterwards */
	bool *flag;
};

/*
 * One number of the summary. With advice, it is required: if it is still 0 after
 * a full run, what it stands for was not exercised, so the program fails and
 * tells the user what to do. A table ends with an entry without a name.
 */
struct workload_counter {
	const char *name;
	const char *advice;
};

/* The advice when nothing but a lack of time keeps a counter at 0. */
#define MORE_TIME "try a larger --seconds"

struct workload {
	const char *help;
	const struct workload_option *options; /* may be NULL */
	const struct workload_counter *counters; /* at most 32 */
	unsigned int seconds; /* default on entry; 0: no limit */
	unsigned int threads; /* default on entry; 0: see below */
	unsigned int threads_per_cpu; /* used when threads is 0 */
};

/* Work of one thread or process; index tells those of one kind apart. */
typedef void (*role_function)(unsigned int index);

struct worker {
	role_function role;
	unsigned int index;
	pthread_t thread;
};

/*
 * Parses the command line into workload (which must live as long as the
 * program), and starts the clock. Does not return for --help, wrong usage, and
 * when exec_self() started this program.
 */
void workload_begin(struct workload *workload, int argc, char **argv);

/* Returns at the deadline, after workload_stop(), SIGTERM or SIGINT. */
void workload_wait(void);

/* Ends the run early, as a success; for any thread of any process. */
void workload_stop(void);

/* Joins all workers, prints the summary line, returns the exit status. */
int workload_end(void);

/* True as soon as workers must return. Never enters the kernel. */
bool stopping(void);

/* Seconds since workload_begin(). */
double elapsed_seconds(void);

/* Adds to a number of the summary; for any thread of any process. */
void count(unsigned int counter, unsigned long amount);

/* Makes the program end with 1, but goes on; the caller has told the user why. */
void workload_failed(void);

/*
 * Prints the reason (%m is errno), stops the run and ends this process with 1.
 * Only the first reason is printed, since others tend to follow from it.
 */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Prints a remark to stderr: something is left out, and the user must know. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Start role(index) in a new thread or process, which workload_end() joins.
 * Only the main thread of a process may call them; a process started so may
 * start threads of its own.
 */
void run_thread(role_function role, unsigned int index);
void run_process(role_function role, unsigned int index);

/* The same for a thread that its creator joins itself; worker is the creator's. */
void worker_start(struct worker *worker, role_function role, unsigned int index);
void worker_join(struct worker *worker);

/*
 * Waits for a child of the caller and fails unless it exited with that status.
 * rusage gets what the child used; it may be NULL.
 */
void wait_for_child(pid_t child, int expected_status, struct rusage *rusage);

/* As its only argument, makes any of the programs exit with 0 at once. */
#define EXIT_AT_ONCE "--exit-at-once"

/* Replaces this process by a fresh copy of the program that does that. */
void exec_self(void) __attribute__((noreturn));

/* CPUs this program may run on, as found at the start. */
unsigned int cpu_count(void);

/* Pins the calling thread to the nth of them (modulo their count), or frees it again. */
void run_on_cpu(unsigned int nth);
void run_on_all_cpus(void);

/* Time in milliseconds, asleep or computing; signals do not shorten it. */
void sleep_for(unsigned int milliseconds);
void spin_for(unsigned int milliseconds);

/* A few microseconds of pure computing. */
void compute(void);

/* Opens an unlinked file in directory for reading and writing, or fails. */
int open_unnamed_file(const char *directory);

#endif
