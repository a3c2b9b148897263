// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define OPTIONS_MAX 16
#define COUNTERS_MAX 32
#define WORKERS_MAX 512
#define STACK_BYTES (256 * 1024)
/* Joining takes long under emulation, but a hang must not look like work. */
#define JOIN_LIMIT_SECONDS 60

/* All processes of a program see one copy; a counter fills a cache line. */
struct shared {
	atomic_bool stop;
	atomic_bool failed;
	struct {
		_Alignas(64) atomic_ulong value;
	} counters[COUNTERS_MAX];
};

static struct shared *shared;
static struct workload *workload;
static struct timespec begin;
static cpu_set_t allowed_cpus;
static bool ended_by_signal;
static pid_t main_process;

/* Those of this process only: run_process() starts the child with none. */
static struct worker threads[WORKERS_MAX];
static unsigned int thread_count;
static pid_t processes[WORKERS_MAX];
static unsigned int process_count;

static void print_message(const char *prefix, const char *format, va_list arguments)
{
	char text[512];

	/* One write, since several processes share stderr. */
	vsnprintf(text, sizeof(text), format, arguments);
	dprintf(STDERR_FILENO, "%s: %s%s\n", program_invocation_short_name, prefix, text);
}

void note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_message("note: ", format, arguments);
	va_end(arguments);
}

void fail(const char *format, ...)
{
	va_list arguments;

	if (!atomic_exchange(&shared->failed, true)) {
		va_start(arguments, format);
		print_message("", format, arguments);
		va_end(arguments);
	}
	workload_stop();
	_exit(EXIT_FAILURE);
}

void workload_failed(void)
{
	atomic_store(&shared->failed, true);
}

static const struct workload_option *find_option(const struct workload_option *option, int key)
{
	while (option && option->name && option->key != key)
		option++;
	return option && option->name ? option : NULL;
}

static void parse_number(const struct workload_option *option, const char *text, struct argp_state *state)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > 1000000000)
		argp_error(state, "--%s needs a whole number from 0 to 1000000000, not '%s'", option->name, text);
	*option->number = value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	const struct workload_option *option = find_option(state->input, key);

	if (!option)
		return ARGP_ERR_UNKNOWN;
	if (option->number)
		parse_number(option, text, state);
	else if (option->text)
		*option->text = text;
	else
		*option->flag = true;
	return 0;
}

static void parse_command_line(int argc, char **argv)
{
	struct workload_option table[OPTIONS_MAX] = {
		{ "seconds", 's', "N", "Run for N seconds; 0: until SIGTERM or SIGINT", .number = &workload->seconds },
		{ "threads", 't', "N", "Size of the crew; 0: according to the number of CPUs",
		  .number = &workload->threads },
	};
	struct argp_option options[OPTIONS_MAX] = {};
	struct argp argp = {
		.options = options,
		.parser = parse_option,
		.doc = workload->help,
	};
	unsigned int i;

	for (i = 0; workload->options && workload->options[i].name; i++)
		table[i + 2] = workload->options[i];
	for (i = 0; table[i].name; i++)
		options[i] = (struct argp_option){
			.name = table[i].name,
			.key = table[i].key,
			.arg = table[i].argument,
			.doc = table[i].help,
		};
	argp_parse(&argp, argc, argv, 0, NULL, table);
}

/* SIGUSR1 is how a worker of any process wakes workload_wait(). */
static void waking_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGUSR1);
}

void workload_begin(struct workload *description, int argc, char **argv)
{
	sigset_t signals;

	if (argc == 2 && !strcmp(argv[1], EXIT_AT_ONCE))
		_exit(EXIT_SUCCESS);
	workload = description;
	main_process = getpid();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("cannot map the memory shared by all processes");
		exit(EXIT_FAILURE);
	}
	parse_command_line(argc, argv);

	/* Blocked for good, in every worker: only workload_wait() takes them. */
	waking_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (sched_getaffinity(0, sizeof(allowed_cpus), &allowed_cpus))
		fail("cannot read the CPU affinity: %m");
	if (!workload->threads)
		workload->threads = workload->threads_per_cpu * cpu_count();
	clock_gettime(CLOCK_MONOTONIC, &begin);
}

static int64_t elapsed_nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin.tv_sec) * 1000000000LL + now.tv_nsec - begin.tv_nsec;
}

double elapsed_seconds(void)
{
	return elapsed_nanoseconds() / 1e9;
}

/* Like sigtimedwait(), up to the deadline; -1 with EAGAIN there. */
static int wait_for_signal(const sigset_t *signals)
{
	int64_t left = workload->seconds * 1000000000LL - elapsed_nanoseconds();
	struct timespec timeout = { left / 1000000000, left % 1000000000 };

	if (!workload->seconds)
		return sigwaitinfo(signals, NULL);
	if (left <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return sigtimedwait(signals, NULL, &timeout);
}

void workload_wait(void)
{
	sigset_t signals;
	int signal;

	waking_signals(&signals);
	while (!stopping()) {
		signal = wait_for_signal(&signals);
		if (signal == SIGTERM || signal == SIGINT)
			ended_by_signal = true;
		if (ended_by_signal || (signal < 0 && errno == EAGAIN))
			break;
	}
	atomic_store(&shared->stop, true);
}

void workload_stop(void)
{
	atomic_store(&shared->stop, true);
	kill(main_process, SIGUSR1);
}

bool stopping(void)
{
	return atomic_load_explicit(&shared->stop, memory_order_relaxed);
}

void count(unsigned int counter, unsigned long amount)
{
	atomic_fetch_add_explicit(&shared->counters[counter].value, amount, memory_order_relaxed);
}

static void *thread_main(void *argument)
{
	struct worker *worker = argument;

	worker->role(worker->index);
	return NULL;
}

void worker_start(struct worker *worker, role_function role, unsigned int index)
{
	pthread_attr_t attributes;
	int error;

	worker->role = role;
	worker->index = index;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&worker->thread, &attributes, thread_main, worker);
	pthread_attr_destroy(&attributes);
	if (error)
		fail("cannot create a thread: %s", strerror(error));
}

void worker_join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
}

void run_thread(role_function role, unsigned int index)
{
	if (thread_count == WORKERS_MAX)
		fail("more than %d threads: choose a smaller --threads", WORKERS_MAX);
	worker_start(&threads[thread_count++], role, index);
}

void wait_for_child(pid_t child, int expected_status, struct rusage *rusage)
{
	int status;

	while (wait4(child, &status, 0, rusage) != child)
		if (errno != EINTR)
			fail("cannot wait for process %d: %m", child);
	/* A child that failed has said why, and the summary is still to come. */
	if (atomic_load(&shared->failed))
		return;
	if (WIFSIGNALED(status))
		fail("process %d was killed by signal %d (%s)", child, WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != expected_status)
		fail("process %d exited with %d instead of %d", child, WEXITSTATUS(status), expected_status);
}

static void join_workers(void)
{
	while (thread_count)
		worker_join(&threads[--thread_count]);
	while (process_count)
		wait_for_child(processes[--process_count], EXIT_SUCCESS, NULL);
}

void run_process(role_function role, unsigned int index)
{
	pid_t parent = getpid();
	pid_t child;

	if (process_count == WORKERS_MAX)
		fail("more than %d processes: choose a smaller --threads", WORKERS_MAX);
	child = fork();
	if (child < 0)
		fail("cannot fork: %m");
	if (child) {
		processes[process_count++] = child;
		return;
	}
	thread_count = 0;
	process_count = 0;
	/* Nobody may outlive a main process that was killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	role(index);
	join_workers();
	_exit(EXIT_SUCCESS);
}

void exec_self(void)
{
	execl("/proc/self/exe", program_invocation_short_name, EXIT_AT_ONCE, NULL);
	fail("cannot execute /proc/self/exe (is /proc mounted?): %m");
}

static void join_took_too_long(int signal)
{
	static const char text[] = ": workers did not end in time, giving up\n";

	(void)signal;
	if (write(STDERR_FILENO, program_invocation_short_name, strlen(program_invocation_short_name)) < 0 ||
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

static void check_required(const struct workload_counter *counter, unsigned long value)
{
	if (!counter->advice || value || ended_by_signal || atomic_load(&shared->failed))
		return;
	note("'%s' is still 0: %s", counter->name, counter->advice);
	workload_failed();
}

static void format_counters(char *line, size_t size)
{
	const struct workload_counter *counter;
	unsigned long value;
	size_t used = 0;
	unsigned int i;

	for (i = 0; workload->counters[i].name; i++) {
		counter = &workload->counters[i];
		value = atomic_load(&shared->counters[i].value);
		check_required(counter, value);
		used += snprintf(line + used, size - used, "%s%s %lu", i ? ", " : "", counter->name, value);
	}
}

int workload_end(void)
{
	char line[COUNTERS_MAX * 48] = "";
	const char *outcome = ended_by_signal ? "stopped early" : "done";

	atomic_store(&shared->stop, true);
	signal(SIGALRM, join_took_too_long);
	alarm(JOIN_LIMIT_SECONDS);
	join_workers();
	format_counters(line, sizeof(line));
	if (atomic_load(&shared->failed))
		outcome = "FAILED";
	printf("%s: %s after %.1f s: %s\n", program_invocation_short_name, outcome, elapsed_seconds(), line);
	fflush(stdout);
	return atomic_load(&shared->failed) ? EXIT_FAILURE : EXIT_SUCCESS;
}

unsigned int cpu_count(void)
{
	return CPU_COUNT(&allowed_cpus);
}

static void set_affinity(const cpu_set_t *set)
{
	/* EINVAL: that CPU was unplugged since the start, which is legal. */
	if (sched_setaffinity(0, sizeof(*set), set) && errno != EINVAL)
		fail("cannot set the CPU affinity: %m");
}

void run_on_cpu(unsigned int nth)
{
	cpu_set_t set;
	int cpu = -1;

	nth %= cpu_count();
	do {
		cpu++;
	} while (!CPU_ISSET(cpu, &allowed_cpus) || nth--);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	set_affinity(&set);
}

void run_on_all_cpus(void)
{
	set_affinity(&allowed_cpus);
}

void sleep_for(unsigned int milliseconds)
{
	struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

void spin_for(unsigned int milliseconds)
{
	int64_t end = elapsed_nanoseconds() + milliseconds * 1000000LL;

	while (elapsed_nanoseconds() < end)
		compute();
}

void compute(void)
{
	unsigned int i;

	/* The empty asm keeps the compiler from dropping the loop. */
	for (i = 0; i < 10000; i++)
		__asm__ volatile("" ::: "memory");
}

int open_unnamed_file(const char *directory)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/workload-XXXXXX", directory);
	file = mkostemp(path, O_CLOEXEC);
	if (file < 0)
		fail("cannot create a file in %s (choose another --directory): %m", directory);
	unlink(path);
	return file;
}
