// SPDX-License-Identifier: GPL-2.0-only
#include "sample.h"
#include "symbols.h"

static char *written(const struct report *report)
{
	struct text text;

	assert_int_equal(report_write_text(text_begin(&text), report), 0);
	text_end(&text);
	return text.text;
}

static char *full_text(void)
{
	struct report *report = sample_full();
	char *text;

	verdict_judge(report);
	text = written(report);
	sample_free(report);
	return text;
}

/* Is @second somewhere behind @first? */
static void in_order(const char *text, const char *first, const char *second)
{
	const char *start = strstr(text, first);

	text_contains(text, first);
	text_contains(start + strlen(first), second);
}

/* The line that starts with @start, as a new string. */
static char *line_of(const char *text, const char *start)
{
	const char *line = text;

	while (line && strncmp(line, start, strlen(start))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		fail_msg("no line starts with \"%s\" in:\n%s", start, text);
	return strndup(line, strcspn(line, "\n"));
}

static void line_contains(const char *text, const char *start, const char *part)
{
	char *line = line_of(text, start);

	text_contains(line, part);
	free(line);
}

static void test_head(void **state)
{
	char *text = full_text();

	(void)state;
	line_contains(text, "kwitness ", "Linux 6.12.0-sample (x86_64), 2 CPUs");
	line_contains(text, "kwitness ", "1.000 s, ended by the command");
	line_contains(text, "Command:", "./workload \"with a space\"");
	line_contains(text, "Command:", ": exited with status 3");
	free(text);
}

static void test_table(void **state)
{
	char *text = full_text();

	(void)state;
	line_contains(text, "delayacct.paired", "5000            1  violated (known: blkio-start-wrong-task)");
	line_contains(text, "cputime.monotonic", "42            9  violated");
	line_contains(text, "membarrier.coverage", "inconclusive");
	line_contains(text, "mm_cpumask.running", "unavailable");
	line_contains(text, "cputimer.no_lost_update", "inconclusive");
	in_order(text, "mm_cpumask.running", "    switch_mm_irqs_off was inlined");
	text_lacks(text, "cputimer.monotonic");
	free(text);
}

static void test_what_is_missing(void **state)
{
	char *text = full_text();

	(void)state;
	in_order(text, "not judged:", "77  membarrier.coverage: single_user: mm_users is 1");
	text_lacks(text, "kernel_thread");
	in_order(text, "Lost:", "9  map cputimer_groups or cputimer_sums is full");
	in_order(text, "Lost:", "2  records of violations");
	text_contains(text, "8 more violations of cputime.monotonic are not shown");
	text_lacks(text, "more violations of delayacct.paired");
	free(text);
}

static void test_evidence(void **state)
{
	char *text = full_text();

	(void)state;
	in_order(text, "Violation 1 of 1 of delayacct.paired (known: blkio-start-wrong-task)",
		 "blkio delay of task 4321 ended without a start of its own: its stamp 4000000 ns was used before");
	text_contains(text, "on CPU 1, at 5.000000000 s");
	text_contains(text, "4321 (sampler), of process 1234");
	text_contains(text, "stamp_of_previous_end  -5 ns");
	text_contains(text, "in_iowait              yes");
	in_order(text, "stack ", "0xffffffff81000042");
	text_contains(text, "not available: Bad address");
	text_contains(text, "18446744073709551615");
	text_contains(text, "-1 ns");
	free(text);
}

static void test_history_is_merged_by_time(void **state)
{
	char *text = full_text();

	(void)state;
	text_contains(text, "the last events of 2 CPUs");
	in_order(text, "-1000.000    0      4321  delay starts", "-10.000    1      4321  delay ends");
	in_order(text, "-10.000    1", "+2.500    0      4321  delay starts");
	text_contains(text, "kind=blkio previous_stamp=3000000 ns in_iowait=yes");
	text_contains(text, "kind=swapin");
	free(text);
}

static void test_stack_has_symbols(void **state)
{
	char *path = file_with("ffffffff81000000 T sample_function\n"), *text;

	(void)state;
	assert_int_equal(symbols_load_from(path), 0);
	unlink(path);
	free(path);
	text = full_text();
	text_contains(text, "sample_function+0x42");
	text_contains(text, "0x0000000000000010");
	free(text);
	symbols_free();
}

static void test_cost(void **state)
{
	char *text = full_text();

	(void)state;
	/* 250 us of 2 s */
	text_contains(text, "Cost of kwitness: 0.013 % of all CPU time");
	line_contains(text, "  __delayacct_blkio_end ", "fentry");
	line_contains(text, "  __delayacct_blkio_end ", "1000      250");
	line_contains(text, "  __delayacct_blkio_start ", "0        -");
	in_order(text, "  __delayacct_blkio_end ", "  __delayacct_blkio_start ");
	free(text);
}

static void test_verdict_line(void **state)
{
	char *text = full_text();

	(void)state;
	line_contains(text, "Verdict: violated", "exit status 1");
	free(text);
}

/* Judges a run in which one invariant was judged @evaluated times, and returns the last line. */
static char *last_line(struct report *report)
{
	char *text, *line;

	verdict_judge(report);
	text = written(report);
	line = line_of(text, "Verdict:");
	free(text);
	sample_free(report);
	return line;
}

static void test_verdict_lines(void **state)
{
	struct report *report = sample_empty();
	char *line;

	(void)state;
	sample_choose(report, INV_delayacct_paired, 3);
	line = last_line(report);
	assert_string_equal(line, "Verdict: holds (exit status 0: everything that was exercised holds)");
	free(line);
	report = sample_empty();
	sample_choose(report, INV_delayacct_paired, 3);
	sample_violate(report, INV_delayacct_paired, SAMPLE_KNOWN);
	line = last_line(report);
	text_contains(line, "apart from known findings");
	free(line);
	report = sample_empty();
	sample_choose(report, INV_delayacct_paired, 0);
	line = last_line(report);
	text_contains(line, "Verdict: inconclusive (exit status 3");
	free(line);
	report = sample_empty();
	sample_choose(report, INV_delayacct_paired, 0)->available = false;
	line = last_line(report);
	text_contains(line, "Verdict: unavailable (exit status 4");
	free(line);
}

static void test_quiet_run(void **state)
{
	struct report *report = sample_empty();
	char *text;

	(void)state;
	sample_choose(report, INV_delayacct_paired, 3);
	verdict_judge(report);
	text = written(report);
	text_contains(text, "Lost: nothing");
	text_contains(text, "nothing was measured");
	text_contains(text, "ended by duration");
	text_lacks(text, "Command:");
	text_lacks(text, "Violation");
	free(text);
	sample_free(report);
}

static void test_command_killed(void **state)
{
	static char *const argv[] = { "sleep", "", NULL };
	struct report *report = sample_empty();
	char *text;

	(void)state;
	sample_choose(report, INV_delayacct_paired, 3);
	report->ended_by = "command";
	report->command = (struct command_report){ .argv = argv, .status = 9, .started = true };
	verdict_judge(report);
	text = written(report);
	text_contains(text, "Command: sleep \"\": killed by signal 9 (Killed)");
	text_contains(text, "the command failed");
	free(text);
	report->ended_by = "duration";
	text = written(report);
	text_contains(text, ": ended by kwitness");
	free(text);
	sample_free(report);
}

static void test_error(void **state)
{
	struct report report = { .error = "no BTF" };
	char *text = written(&report);

	(void)state;
	text_contains(text, "failed: no BTF");
	free(text);
}

static void test_full_disk(void **state)
{
	struct report *report = sample_full();
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	verdict_judge(report);
	assert_true(report_write_text(full, report) < 0);
	fclose(full);
	sample_free(report);
}

/* What is wider can only be data: an event with its arguments, or one long word. */
static void test_width(void **state)
{
	char *text = full_text(), *rest = text, *line;

	(void)state;
	while ((line = strsep(&rest, "\n")))
		if (strlen(line) > 120 && !strchr(line, '='))
			fail_msg("%zu columns: %s", strlen(line), line);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_history_is_merged_by_time),
		cmocka_unit_test(test_stack_has_symbols),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_verdict_line),
		cmocka_unit_test(test_verdict_lines),
		cmocka_unit_test(test_quiet_run),
		cmocka_unit_test(test_command_killed),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_width),
	};

	return cmocka_run_group_tests_name("report_text", tests, NULL, NULL);
}
