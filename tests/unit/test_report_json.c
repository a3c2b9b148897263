// SPDX-License-Identifier: GPL-2.0-only
/* With "--write DIRECTORY", writes its reports there instead, for schema.t. */
#include "json_text.h"
#include "sample.h"

static struct report *failed(void)
{
	struct report *report = calloc(1, sizeof(*report));

	strcpy(report->kernel, "6.12.0-sample");
	strcpy(report->arch, "x86_64");
	report->error = strdup("no \"BTF\"\nat all");
	report->status = EXIT_CANNOT_CHECK;
	return report;
}

static struct report *failed_to_start_command(void)
{
	static char *const argv[] = { "./none", NULL };
	struct report *report = failed();

	report->command.argv = argv;
	report->status = EXIT_USAGE;
	return report;
}

static struct report *quiet(void)
{
	struct report *report = sample_empty();

	sample_choose(report, INV_cputime_monotonic, 12);
	return report;
}

static struct json_object *parsed(struct report *report)
{
	struct json_object *document;
	struct text text;

	verdict_judge(report);
	assert_int_equal(report_write_json(text_begin(&text), report), 0);
	document = json_tokener_parse(text_end(&text));
	if (!document)
		fail_msg("no JSON:\n%s", text.text);
	free(text.text);
	sample_free(report);
	return document;
}

/* What @pointer (RFC 6901) leads to. */
static struct json_object *at(struct json_object *document, const char *pointer)
{
	struct json_object *object;

	if (json_pointer_get(document, pointer, &object))
		fail_msg("%s is missing", pointer);
	return object;
}

static void text_at(struct json_object *document, const char *pointer, const char *expected)
{
	assert_string_equal(json_object_get_string(at(document, pointer)), expected);
}

static void number_at(struct json_object *document, const char *pointer, int64_t expected)
{
	assert_int_equal(json_object_get_int64(at(document, pointer)), expected);
}

static void test_order_of_keys(void **state)
{
	static const char *const keys[] = { "kwitness", "kernel", "arch",    "cpus",	   "duration_ns",
					    "verdict",	"lost",	  "command", "invariants", "violations" };
	struct json_object *document = parsed(sample_full());
	size_t i = 0;

	(void)state;
	json_object_object_foreach (document, key, value) {
		(void)value;
		i += i < sizeof(keys) / sizeof(keys[0]) && !strcmp(key, keys[i]);
	}
	assert_int_equal(i, sizeof(keys) / sizeof(keys[0]));
	json_object_put(document);
}

static void test_run(void **state)
{
	struct json_object *document = parsed(sample_full());

	(void)state;
	text_at(document, "/verdict", "violated");
	number_at(document, "/exit_status", 1);
	number_at(document, "/duration_ns", 1000000000);
	number_at(document, "/lost/cputimer_groups_full", 9);
	number_at(document, "/lost/cputime_calls_full", 0);
	number_at(document, "/lost/records", 2);
	number_at(document, "/violations_not_kept", 8);
	number_at(document, "/cost/run_ns", 250000);
	text_at(document, "/cost/percent", "0.0125");
	number_at(document, "/command/status", 3);
	text_at(document, "/command/argv/1", "with a space");
	text_at(document, "/command/argv/2", "\xef\xbf\xbd\xc3\xa4");
	json_object_put(document);
}

static void test_invariants(void **state)
{
	struct json_object *document = parsed(sample_full());

	(void)state;
	assert_int_equal(json_object_array_length(at(document, "/invariants")), 6);
	text_at(document, "/invariants/0/id", "cputimer.no_lost_update");
	text_at(document, "/invariants/0/verdict", "inconclusive");
	text_at(document, "/invariants/1/id", "cputime.monotonic");
	number_at(document, "/invariants/1/violations", 9);
	assert_null(at(document, "/invariants/1/reason"));
	text_at(document, "/invariants/3/id", "delayacct.paired");
	number_at(document, "/invariants/3/known", 1);
	assert_true(json_object_get_boolean(at(document, "/invariants/3/only_known")));
	text_at(document, "/invariants/3/probes/1/name", "__delayacct_blkio_end");
	text_at(document, "/invariants/3/probes/1/ns_per_hit", "250.0");
	text_at(document, "/invariants/3/probes/0/ns_per_hit", "0.0");
	number_at(document, "/invariants/4/exempted/single_user", 77);
	number_at(document, "/invariants/4/exempted/one_cpu", 0);
	json_object_put(document);
}

static void test_violation(void **state)
{
	struct json_object *document = parsed(sample_full());

	(void)state;
	text_at(document, "/violations/0/invariant", "delayacct.paired");
	text_at(document, "/violations/0/known", SAMPLE_KNOWN);
	text_at(document, "/violations/0/comm", "sampler");
	number_at(document, "/violations/0/time_ns", 5000000000);
	text_at(document, "/violations/0/values/kind", "blkio");
	number_at(document, "/violations/0/values/stamp_of_previous_end", -5);
	text_at(document, "/violations/0/stack/0", "0xffffffff81000042");
	assert_int_equal(json_object_array_length(at(document, "/violations/0/stack")), 2);
	assert_null(at(document, "/violations/1/known"));
	text_at(document, "/violations/1/comm", "fifteen bytes \xef\xbf\xbd");
	text_at(document, "/violations/1/values/prev_cputime", "0x0000000000000000");
	assert_int_equal(json_object_array_length(at(document, "/violations/1/stack")), 0);
	assert_int_equal(json_object_get_uint64(at(document, "/violations/2/values/count_before")), UINT64_MAX);
	json_object_put(document);
}

static void test_history(void **state)
{
	struct json_object *document = parsed(sample_full());

	(void)state;
	assert_int_equal(json_object_array_length(at(document, "/violations/0/history")), 3);
	number_at(document, "/violations/0/history/0/time_ns", 4999000000);
	number_at(document, "/violations/0/history/0/cpu", 0);
	text_at(document, "/violations/0/history/1/event", "delay_end");
	number_at(document, "/violations/0/history/1/cpu", 1);
	number_at(document, "/violations/0/history/1/args/waker", -1);
	number_at(document, "/violations/0/history/2/time_ns", 5000002500);
	json_object_put(document);
}

static void test_error(void **state)
{
	struct json_object *document;
	struct report *report = failed_to_start_command();
	struct text text;

	(void)state;
	assert_int_equal(report_write_json(text_begin(&text), report), 0);
	document = json_tokener_parse(text_end(&text));
	assert_non_null(document);
	text_at(document, "/error", "no \"BTF\"\nat all");
	number_at(document, "/exit_status", EXIT_USAGE);
	text_at(document, "/command/argv/0", "./none");
	assert_null(at(document, "/command/status"));
	json_object_put(document);
	free(text.text);
	sample_free(report);
}

static void test_command_killed(void **state)
{
	static char *const argv[] = { "sleep", NULL };
	struct report *report = quiet();
	struct json_object *document;

	(void)state;
	report->ended_by = "command";
	report->command = (struct command_report){ .argv = argv, .status = 9, .started = true };
	document = parsed(report);
	number_at(document, "/command/status", 137);
	text_at(document, "/verdict", "inconclusive");
	json_object_put(document);
}

static void test_text(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xc3", "\xef\xbf\xbd" },
		{ "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *string = json_text(cases[i].text);

		assert_string_equal(json_object_get_string(string), cases[i].expected);
		json_object_put(string);
	}
}

static int write_sample(const char *directory, const char *name, struct report *report)
{
	char path[4096];
	FILE *out;
	int err;

	if (!report->error)
		verdict_judge(report);
	snprintf(path, sizeof(path), "%s/%s.json", directory, name);
	out = fopen(path, "w");
	err = out ? report_write_json(out, report) : -1;
	if (out)
		fclose(out);
	sample_free(report);
	return err;
}

static int write_samples(const char *directory)
{
	int err = write_sample(directory, "full", sample_full());

	err |= write_sample(directory, "quiet", quiet());
	err |= write_sample(directory, "failed", failed());
	err |= write_sample(directory, "failed_to_start_command", failed_to_start_command());
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_keys),  cmocka_unit_test(test_run),
		cmocka_unit_test(test_invariants),     cmocka_unit_test(test_violation),
		cmocka_unit_test(test_history),	       cmocka_unit_test(test_error),
		cmocka_unit_test(test_command_killed), cmocka_unit_test(test_text),
	};

	if (argc == 3 && !strcmp(argv[1], "--write"))
		return write_samples(argv[2]);
	return cmocka_run_group_tests_name("report_json", tests, NULL, NULL);
}
