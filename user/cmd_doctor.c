// SPDX-License-Identifier: GPL-2.0-only
/* kwitness doctor: what can be checked on this kernel, by which probes, and what to change to get the rest. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "commands.h"
#include "host.h"
#include "options.h"
#include "session.h"
#include "symbols.h"

static const char argp_doc[] =
	"Tells what kwitness can check on this kernel: facts about the kernel and this user, then for each invariant the "
	"probes it would use and what is missing. Every probe is really attached for a moment.\v"
	"Exit status: 0 something can be checked; 2 wrong usage; 4 nothing can be checked here.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct check_options *options = state->input;

	switch (key) {
	case 'b':
		options->btf = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_facts(const char *btf)
{
	static const char *const states[] = { [FACT_FINE] = "ok",
					      [FACT_UNKNOWN] = "unknown",
					      [FACT_LIMITS] = "limits",
					      [FACT_NO_PRIVILEGE] = "prevents",
					      [FACT_PREVENTS] = "prevents" };
	struct host host;

	host_read(&host, "", btf);
	for (size_t i = 0; i < HOST_NR_FACTS; i++) {
		const struct fact *fact = &host.facts[i];

		printf("  %-13s %-8s  %s\n", fact->name, states[fact->state], fact->text);
		if (fact->advice)
			printf("  %-13s %-8s  -> %s\n", "", "", fact->advice);
	}
	host_free(&host);
}

struct diagnosis {
	bool available;
	bool complete;
};

static void print_hook(struct hook *hook, void *arg)
{
	struct diagnosis *diagnosis = arg;

	if (*hook->program) {
		printf("    %-20s %s\n", hook->how, hook->target);
	} else {
		diagnosis->available = false;
		printf("    %-20s %s: %s\n", "missing", hook->name, hook->reason);
	}
	if (hook->uncovered) {
		diagnosis->complete = false;
		printf("    %-20s %s\n", "not covered", hook->uncovered);
	}
}

/* Prints one invariant; returns whether it can be checked. */
static bool print_invariant(struct plan *plan, const struct invariant *invariant)
{
	struct diagnosis diagnosis = { .available = true, .complete = true };
	const char *advice = catalogue_switched_off(invariant->id);

	printf("\n%s: %s\n", invariant->id, invariant->title);
	plan_for_each_hook(plan, invariant, print_hook, &diagnosis);
	if (!diagnosis.available)
		printf("    => unavailable on this kernel\n");
	else if (!diagnosis.complete)
		printf("    => can be violated, but never holds: part of the code has no probe\n");
	else
		printf("    => %s\n", advice ? "can be checked, but:" : "can be checked");
	if (advice)
		printf("       %s\n", advice);
	return diagnosis.available;
}

static int diagnose(const struct check_options *options)
{
	enum exit_status status;
	char *error = NULL;
	struct session *session = session_start(options, &error, &status);
	bool any = false;

	if (!session) {
		printf("\nNothing can be checked here: %s\n", error);
		free(error);
		return EXIT_CANNOT_CHECK;
	}
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		any |= print_invariant(session_plan(session), &invariants[i]);
	session_free(session);
	return any ? EXIT_HOLDS : EXIT_CANNOT_CHECK;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp_option argp_options[] = {
		{ "btf", 'b', "PATH", 0, "BTF of the running kernel, if it does not carry its own", 0 }, {}
	};
	static const struct argp argp = { argp_options, parse_option, NULL, argp_doc, NULL, NULL, NULL };
	struct check_options options = { .max_violations = 1 };
	struct utsname name;
	int status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	memset(options.chosen, true, sizeof(options.chosen));
	uname(&name);
	printf("Linux %s %s\n", name.release, name.machine);
	print_facts(options.btf);
	fflush(stdout);
	status = diagnose(&options);
	symbols_free();
	return status;
}
