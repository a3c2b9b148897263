// SPDX-License-Identifier: GPL-2.0-only
/* kwitness list: show the catalogue, or explain one invariant. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "list.h"
#include "log.h"
#include "report.h"

typedef int (*list_writer)(FILE *out, const bool chosen[NR_INVARIANTS]);

struct format {
	const char *name;
	list_writer table; /* of several */
	list_writer explanation; /* of the one that was named by its id */
};

static const struct format formats[] = {
	{ "text", list_write_table, list_write_text },
	{ "json", list_write_json, list_write_json },
	{ "markdown", list_write_markdown, list_write_markdown },
};

struct list_options {
	const char *argument; /* glob or id */
	const struct format *format;
};

static const struct argp_option argp_options[] = {
	{ "format", 'f', "text|json|markdown", 0,
	  "format of the list (default text); json and markdown tell everything", 0 },
	{}
};

static const char argp_doc[] =
	"Lists the invariants that kwitness can check: id, title, and where the rule comes from. GLOB narrows the list; "
	"an ID explains that invariant: the law, why the check is sound, what is not judged, the probes, the values.\v"
	"Exit status: 0; or 2 for wrong usage or an invariant that does not exist.";

static const struct format *find_format(struct argp_state *state, const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	argp_error(state, "--format: '%s' is neither text, json nor markdown", name);
	return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct list_options *options = state->input;

	switch (key) {
	case 'f':
		options->format = find_format(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (options->argument)
			argp_error(state, "one GLOB or ID at most; quote a glob, so that the shell leaves it alone");
		options->argument = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Says which ids contain the argument, or one of its parts on either side of the dot. */
static void hint(const char *argument)
{
	char *name = strdup(argument), *rest = name, *part;
	bool similar[NR_INVARIANTS] = {};

	while ((part = strsep(&rest, "."))) {
		char *glob = format_string("*%s*", part);

		if (*part)
			catalogue_match(glob, similar);
		free(glob);
	}
	free(name);
	log_error("no invariant matches '%s'; `kwitness list` shows them all", argument);
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (similar[i])
			log_error("did you mean %s?", invariants[i].id);
}

int cmd_list(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse_option, "[GLOB|ID]", argp_doc, NULL, NULL, NULL };
	struct list_options options = { .format = &formats[0] };
	bool chosen[NR_INVARIANTS] = {};
	bool one;
	int err;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!catalogue_match(options.argument ? options.argument : "*", chosen)) {
		hint(options.argument);
		return EXIT_USAGE;
	}
	one = options.argument && catalogue_find(options.argument) >= 0;
	err = one ? options.format->explanation(stdout, chosen) : options.format->table(stdout, chosen);
	if (err) {
		log_error("the list could not be written: %s", strerror(-err));
		return EXIT_USAGE;
	}
	return EXIT_HOLDS;
}
