// SPDX-License-Identifier: GPL-2.0-only
/* kwitness check: run the checks until the command, the duration or the user ends them, then report. */
#include <argp.h>
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "commands.h"
#include "known.h"
#include "log.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "symbols.h"

#define POLL_NS 100000000
#define COMMAND_GRACE_SECONDS 5

enum {
	OPTION_REQUIRE = 256,
	OPTION_KNOWN,
	OPTION_MAX_VIOLATIONS,
	OPTION_BUFFER,
	OPTION_FORMAT,
	OPTION_BTF,
};

static const struct argp_option argp_options[] = {
	{ "invariant", 'i', "GLOB", 0, "check only invariants whose id matches (repeatable)", 0 },
	{ "duration", 'd', "SECONDS", 0, "stop after this time", 0 },
	{ "pid", 'p', "PID", 0, "judge only this process (a PID of your own pid namespace)", 0 },
	{ "cgroup", 'c', "PATH", 0, "judge only tasks below this cgroup-v2 directory", 0 },
	{ "require", OPTION_REQUIRE, "GLOB", 0, "not exercised counts as inconclusive for these (repeatable)", 1 },
	{ "known", OPTION_KNOWN, "FILE", 0, "violations that are known and explained, as findings/*.json (repeatable)",
	  1 },
	{ "max-violations", OPTION_MAX_VIOLATIONS, "N", 0, "violations told with evidence, per invariant (default 10)",
	  1 },
	{ "buffer", OPTION_BUFFER, "BYTES", 0, "ring buffer for evidence (default: all that may be told)", 1 },
	{ "format", OPTION_FORMAT, "text|json", 0, "format of the report (default text)", 2 },
	{ "output", 'o', "FILE", 0, "write the report to FILE", 2 },
	{ "btf", OPTION_BTF, "PATH", 0, "BTF of the running kernel, if it does not carry its own", 2 },
	{ "verbose", 'v', NULL, 0, "tell the steps; twice: libbpf's own log", 2 },
	{}
};

static const char argp_doc[] =
	"Checks invariants inside the running kernel while COMMAND runs, or until -d or Ctrl-C, and prints a verdict for "
	"each.\v"
	"Exit status: 0 everything that was exercised holds; 1 something is violated; 2 wrong usage, or kwitness failed; "
	"3 inconclusive (evidence is missing, nothing was exercised, or COMMAND failed); 4 this kernel cannot be checked.";

static void choose(struct argp_state *state, const char *glob, bool chosen[NR_INVARIANTS])
{
	if (!catalogue_match(glob, chosen))
		argp_error(state, "no invariant matches '%s'; `kwitness list` shows them all", glob);
}

static double parse_number(struct argp_state *state, const char *text, const char *what, double min, double max)
{
	char *end;
	double number = strtod(text, &end);

	if (*end || end == text || !(number >= min && number <= max))
		argp_error(state, "%s: '%s' is not a number from %.15g to %.15g", what, text, min, max);
	return number;
}

static uint32_t parse_count(struct argp_state *state, const char *text, const char *what, uint32_t min, uint32_t max)
{
	double number = parse_number(state, text, what, min, max);

	if (number != (uint32_t)number)
		argp_error(state, "%s: '%s' is not a whole number", what, text);
	return number;
}

static error_t parse_narrowing(int key, char *arg, struct argp_state *state, struct check_options *options)
{
	switch (key) {
	case 'i':
		choose(state, arg, options->chosen);
		break;
	case 'd':
		options->seconds = parse_number(state, arg, "-d", 0.001, 1e9);
		break;
	case 'p':
		options->pid = parse_count(state, arg, "-p", 1, 4194304);
		break;
	case 'c':
		options->cgroup = arg;
		break;
	case OPTION_REQUIRE:
		choose(state, arg, options->required);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void end_parsing(struct check_options *options)
{
	bool any = false;

	for (size_t i = 0; i < NR_INVARIANTS; i++)
		any |= options->chosen[i];
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		options->chosen[i] |= !any || options->required[i];
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct check_options *options = state->input;

	switch (key) {
	case OPTION_KNOWN:
		if (options->nr_known == OPTIONS_MAX_KNOWN)
			argp_error(state, "--known: more than %d files", OPTIONS_MAX_KNOWN);
		options->known[options->nr_known++] = arg;
		break;
	case OPTION_MAX_VIOLATIONS:
		options->max_violations = parse_count(state, arg, "--max-violations", 1, 10000);
		break;
	case OPTION_BUFFER:
		options->buffer_bytes = parse_count(state, arg, "--buffer", 4096, 1 << 26);
		break;
	case OPTION_FORMAT:
		if (strcmp(arg, "text") && strcmp(arg, "json"))
			argp_error(state, "--format: '%s' is neither text nor json", arg);
		options->json = !strcmp(arg, "json");
		break;
	case 'o':
		options->output = arg;
		break;
	case OPTION_BTF:
		options->btf = arg;
		break;
	case 'v':
		options->verbosity++;
		break;
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		end_parsing(options);
		break;
	default:
		return parse_narrowing(key, arg, state, options);
	}
	return 0;
}

struct run {
	const struct check_options *options;
	struct command command;
	sigset_t original_mask;
	sigset_t waited; /* signals that the loop takes */
	FILE *output;
	struct known_findings *known[OPTIONS_MAX_KNOWN];
};

static void block_signals(struct run *run)
{
	sigemptyset(&run->waited);
	sigaddset(&run->waited, SIGINT);
	sigaddset(&run->waited, SIGTERM);
	sigaddset(&run->waited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &run->waited, &run->original_mask);
}

static bool is_over(const struct timespec *start, double seconds)
{
	struct timespec now;

	if (!seconds)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) + (now.tv_nsec - start->tv_nsec) / 1e9 >= seconds;
}

/* Polls until something ends the run; returns what. */
static const char *wait_for_end(struct run *run, struct session *session)
{
	const struct timespec tick = { .tv_nsec = POLL_NS };
	struct timespec start;
	siginfo_t info;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		int signal = sigtimedwait(&run->waited, &info, &tick);

		session_poll(session);
		/* The signal first: a terminal sends SIGINT to the command as well, which then is no failure of it. */
		if (signal == SIGINT || signal == SIGTERM) {
			if (info.si_code != SI_KERNEL)
				command_end(&run->command, signal, COMMAND_GRACE_SECONDS);
			return signal == SIGINT ? "SIGINT" : "SIGTERM";
		}
		command_poll(&run->command);
		if (run->command.ended)
			return "command";
		if (is_over(&start, run->options->seconds))
			return "duration";
	}
}

static int fail(struct report *report, enum exit_status status, char *error)
{
	report->error = error;
	report->status = status;
	return -1;
}

/* Why @path cannot be a cgroup; NULL if it can. */
static const char *why_no_cgroup(const char *path)
{
	struct statfs filesystem;
	struct stat file;

	if (statfs(path, &filesystem) || stat(path, &file))
		return strerror(errno);
	if (!S_ISDIR(file.st_mode))
		return strerror(ENOTDIR);
	return filesystem.f_type == CGROUP2_SUPER_MAGIC ? NULL : "not on a cgroup-v2 file system";
}

/* Everything that can be wrong without touching the kernel is found before anything is attached. */
static int prepare(struct run *run, struct report *report)
{
	const struct check_options *options = run->options;
	const char *reason;
	char *error = NULL;

	for (size_t i = 0; i < options->nr_known; i++) {
		run->known[i] = known_read(options->known[i], &error);
		if (!run->known[i])
			return fail(report, EXIT_USAGE, error);
	}
	reason = options->cgroup ? why_no_cgroup(options->cgroup) : NULL;
	if (reason)
		return fail(report, EXIT_USAGE,
			    format_string("-c %s: %s; name a directory below the cgroup-v2 mount, as "
					  "/sys/fs/cgroup/NAME",
					  options->cgroup, reason));
	if (options->pid && kill(options->pid, 0) && errno == ESRCH)
		return fail(report, EXIT_USAGE,
			    format_string("-p %d: no such process; name one that ps shows", options->pid));
	return 0;
}

static int check(struct run *run, struct session *session, struct report *report)
{
	const struct check_options *options = run->options;
	int err = 0;

	report->command.argv = options->command;
	if (options->command)
		err = command_start(&run->command, options->command, &run->original_mask);
	if (err)
		return fail(report, EXIT_USAGE,
			    format_string("cannot start %s: %s", options->command[0], strerror(-err)));
	report->command.started = options->command != NULL;
	report->ended_by = wait_for_end(run, session);
	command_end(&run->command, SIGTERM, COMMAND_GRACE_SECONDS);
	report->command.status = run->command.status;
	session_stop(session, report);
	return 0;
}

static void match_known(const struct run *run, struct report *report)
{
	for (size_t i = 0; i < report->nr_violations; i++) {
		struct violation_report *violation = &report->violations[i];

		for (size_t k = 0; k < run->options->nr_known && !violation->known; k++)
			violation->known = known_match(run->known[k], &violation->record, report->kernel);
		if (violation->known)
			report->invariants[violation->record.invariant].known++;
	}
}

/* A report that nobody can read is no verdict, whatever it says. */
static enum exit_status write_report(const struct run *run, const struct report *report)
{
	int err = run->options->json ? report_write_json(run->output, report) : report_write_text(run->output, report);

	if (!err)
		return report->status;
	log_error("the report could not be written: %s", strerror(-err));
	return EXIT_USAGE;
}

static void name_machine(struct report *report)
{
	struct utsname name;

	uname(&name);
	snprintf(report->kernel, sizeof(report->kernel), "%s", name.release);
	snprintf(report->arch, sizeof(report->arch), "%s", name.machine);
}

static enum exit_status run_checks(struct run *run)
{
	struct report report = {};
	struct session *session = NULL;
	enum exit_status status;

	name_machine(&report);
	if (!prepare(run, &report)) {
		log_step("attaching");
		session = session_start(run->options, &report.error, &report.status);
	}
	if (session && !check(run, session, &report)) {
		match_known(run, &report);
		verdict_judge(&report);
	}
	if (report.error)
		log_error("%s", report.error);
	if (symbols_load() || symbols_hidden())
		log_step("kernel symbols are not readable: stacks show addresses");
	status = report.status;
	if (!report.error || run->options->json)
		status = write_report(run, &report);
	report_free(&report);
	session_free(session);
	return status;
}

int cmd_check(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse_option, "[-- COMMAND...]", argp_doc, NULL, NULL, NULL };
	struct check_options options = { .max_violations = 10 };
	struct run run = { .options = &options, .output = stdout };
	enum exit_status status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	log_set_verbosity(options.verbosity);
	if (options.output)
		run.output = fopen(options.output, "we");
	if (!run.output) {
		log_error("-o %s: %s; name a file that can be written", options.output, strerror(errno));
		return EXIT_USAGE;
	}
	block_signals(&run);
	status = run_checks(&run);
	if (fclose(run.output)) {
		log_error("the report could not be written: %s", strerror(errno));
		status = EXIT_USAGE;
	}
	for (size_t i = 0; i < options.nr_known; i++)
		known_free(run.known[i]);
	symbols_free();
	return status;
}
