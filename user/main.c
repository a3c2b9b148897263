// SPDX-License-Identifier: GPL-2.0-only
/* kwitness: chooses the subcommand. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "report.h"

struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
};

static const struct subcommand subcommands[] = {
	{ "check", cmd_check },
	{ "list", cmd_list },
	{ "doctor", cmd_doctor },
};

const char *argp_program_version = "kwitness " KWITNESS_VERSION;

static const char argp_doc[] =
	"Checks, inside a running Linux kernel, invariants of its time accounting and memory ordering.\v"
	"Subcommands (each has its own --help):\n"
	"  check    run the checks and report a verdict per invariant\n"
	"  list     show the catalogue of invariants; explain one\n"
	"  doctor   tell what can be checked on this kernel, and how to get the rest";

static int run_subcommand(struct argp_state *state)
{
	const char *name = state->argv[state->next - 1];
	char *full_name;

	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
		if (strcmp(name, subcommands[i].name))
			continue;
		/* argp names the program by argv[0] in its messages. */
		if (asprintf(&full_name, "kwitness %s", name) < 0)
			return -1;
		state->argv[state->next - 1] = full_name;
		program_invocation_name = full_name;
		return subcommands[i].run(state->argc - state->next + 1, state->argv + state->next - 1);
	}
	argp_error(state, "no subcommand '%s'; `kwitness --help` lists them", name);
	return EXIT_USAGE;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		*(int *)state->input = run_subcommand(state);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = { NULL, parse_option, "check|list|doctor [OPTIONS]", argp_doc, NULL, NULL, NULL };
	int status = EXIT_USAGE;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &status);
	return status;
}
