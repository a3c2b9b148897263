// SPDX-License-Identifier: GPL-2.0-only
#include "sample.h"

#define LAW INV_delayacct_paired
#define OTHER INV_cputime_monotonic

/* Judges; checks the law's verdict and the status; frees. @reason: a part of the reason, or NULL for none at all. */
static void judged(struct report *report, enum verdict verdict, const char *reason, enum exit_status status)
{
	const struct invariant_report *law = &report->invariants[LAW];

	verdict_judge(report);
	assert_string_equal(verdict_name(law->verdict), verdict_name(verdict));
	if (reason)
		text_contains(law->reason, reason);
	else
		assert_null(law->reason);
	assert_int_equal(report->status, status);
	sample_free(report);
}

/* A run in which another invariant holds and the law was judged so many times. */
static struct report *run(uint64_t evaluated)
{
	struct report *report = sample_empty();

	sample_choose(report, OTHER, 10);
	sample_choose(report, LAW, evaluated);
	return report;
}

static void test_holds(void **state)
{
	(void)state;
	judged(run(1), VERDICT_HOLDS, NULL, EXIT_HOLDS);
}

static void test_not_exercised(void **state)
{
	struct report *report;

	(void)state;
	judged(run(0), VERDICT_NOT_EXERCISED, NULL, EXIT_HOLDS);
	report = run(0);
	report->invariants[LAW].required = true;
	judged(report, VERDICT_INCONCLUSIVE, "required", EXIT_INCONCLUSIVE);
}

static void test_nothing_exercised_is_no_pass(void **state)
{
	struct report *report = sample_empty();

	(void)state;
	sample_choose(report, LAW, 0);
	judged(report, VERDICT_NOT_EXERCISED, NULL, EXIT_INCONCLUSIVE);
}

static struct report *run_without_probe(void)
{
	struct report *report = run(0);

	report->invariants[LAW].available = false;
	report->invariants[LAW].unavailable_reason = strdup("it was inlined");
	return report;
}

static void test_unavailable(void **state)
{
	struct report *report;

	(void)state;
	judged(run_without_probe(), VERDICT_UNAVAILABLE, "it was inlined", EXIT_HOLDS);
	report = run_without_probe();
	report->invariants[LAW].required = true;
	judged(report, VERDICT_UNAVAILABLE, "it was inlined", EXIT_INCONCLUSIVE);
	report = run_without_probe();
	report->invariants[LAW].unavailable_reason[0] = 'I';
	report->lost[LOST_delayacct_tasks_full] = 1;
	judged(report, VERDICT_UNAVAILABLE, "It was inlined", EXIT_HOLDS);
}

static void test_unavailable_outranks_violations(void **state)
{
	struct report *report = run_without_probe();

	(void)state;
	sample_violate(report, LAW, NULL);
	judged(report, VERDICT_UNAVAILABLE, "prove nothing", EXIT_HOLDS);
}

static void test_nothing_available(void **state)
{
	struct report *report = run_without_probe();

	(void)state;
	report->invariants[OTHER].chosen = false;
	judged(report, VERDICT_UNAVAILABLE, "it was inlined", EXIT_CANNOT_CHECK);
}

static void test_violated(void **state)
{
	struct report *report = run(5);

	(void)state;
	sample_violate(report, LAW, NULL);
	judged(report, VERDICT_VIOLATED, NULL, EXIT_VIOLATED);
}

static void test_violated_outranks_losses_and_command(void **state)
{
	static char *const argv[] = { "false", NULL };
	struct report *report = run(5);

	(void)state;
	sample_violate(report, LAW, NULL);
	report->lost[LOST_delayacct_tasks_full] = 3;
	report->ended_by = "command";
	report->command = (struct command_report){ .argv = argv, .status = 1 << 8, .started = true };
	judged(report, VERDICT_VIOLATED, "3 lost", EXIT_VIOLATED);
}

static void test_known(void **state)
{
	struct report *report = run(5);

	(void)state;
	sample_violate(report, LAW, SAMPLE_KNOWN);
	sample_violate(report, LAW, SAMPLE_KNOWN);
	verdict_judge(report);
	assert_int_equal(report->invariants[LAW].verdict, VERDICT_VIOLATED);
	assert_true(report->invariants[LAW].only_known);
	assert_null(report->invariants[LAW].reason);
	assert_int_equal(report->status, EXIT_HOLDS);
	sample_free(report);
}

static void test_known_alone_is_a_pass(void **state)
{
	struct report *report = sample_empty();

	(void)state;
	sample_choose(report, LAW, 5);
	sample_violate(report, LAW, SAMPLE_KNOWN);
	judged(report, VERDICT_VIOLATED, NULL, EXIT_HOLDS);
}

static void test_known_and_new(void **state)
{
	struct report *report = run(5);

	(void)state;
	sample_violate(report, LAW, SAMPLE_KNOWN);
	sample_violate(report, LAW, NULL);
	verdict_judge(report);
	assert_false(report->invariants[LAW].only_known);
	judged(report, VERDICT_VIOLATED, "1 of the 2", EXIT_VIOLATED);
}

static void test_known_beyond_the_limit(void **state)
{
	struct report *report = run(500);

	(void)state;
	sample_violate(report, LAW, SAMPLE_KNOWN);
	report->invariants[LAW].violations += 99;
	verdict_judge(report);
	assert_true(report->invariants[LAW].only_known);
	assert_int_equal(report->violations_not_kept, 99);
	text_contains(report->invariants[LAW].reason, "1 of 100 violations were examined");
	assert_int_equal(report->status, EXIT_HOLDS);
	sample_free(report);
}

static void test_known_but_records_lost(void **state)
{
	struct report *report = run(500);

	(void)state;
	sample_violate(report, LAW, SAMPLE_KNOWN);
	report->invariants[LAW].violations += 99;
	report->records_lost = 4;
	judged(report, VERDICT_INCONCLUSIVE, "4 records did not fit", EXIT_INCONCLUSIVE);
}

static void test_known_and_all_examined_although_records_lost(void **state)
{
	struct report *report = run(500);

	(void)state;
	sample_violate(report, LAW, SAMPLE_KNOWN);
	report->records_lost = 4;
	judged(report, VERDICT_VIOLATED, NULL, EXIT_HOLDS);
}

static void test_known_but_events_lost(void **state)
{
	struct report *report = run(5);

	(void)state;
	sample_violate(report, LAW, SAMPLE_KNOWN);
	report->lost[LOST_delayacct_tasks_full] = 3;
	judged(report, VERDICT_INCONCLUSIVE, "3 lost", EXIT_INCONCLUSIVE);
}

static void test_none_examined_is_new(void **state)
{
	struct report *report = run(5);

	(void)state;
	report->invariants[LAW].violations = 3;
	report->records_lost = 3;
	judged(report, VERDICT_VIOLATED, NULL, EXIT_VIOLATED);
}

static void test_known_of_another_invariant_does_not_help(void **state)
{
	struct report *report = run(5);

	(void)state;
	sample_violate(report, OTHER, SAMPLE_KNOWN);
	sample_violate(report, LAW, NULL);
	judged(report, VERDICT_VIOLATED, NULL, EXIT_VIOLATED);
}

static void test_loss(void **state)
{
	struct report *report = run(5);

	(void)state;
	report->lost[LOST_delayacct_tasks_full] = 3;
	judged(report, VERDICT_INCONCLUSIVE, "delayacct_tasks_full: 3 lost", EXIT_INCONCLUSIVE);
	report = run(0);
	report->lost[LOST_delayacct_tasks_full] = 3;
	judged(report, VERDICT_INCONCLUSIVE, "3 lost", EXIT_INCONCLUSIVE);
	report = run(5);
	report->lost[LOST_membarrier_calls_full] = 3;
	judged(report, VERDICT_HOLDS, NULL, EXIT_HOLDS);
}

static void test_recursion(void **state)
{
	struct report *report = run(5);

	(void)state;
	sample_probes(report, &report->invariants[LAW]);
	report->probes[1].recursion_misses = 6;
	report->invariants[LAW].recursion_misses = 6;
	judged(report, VERDICT_INCONCLUSIVE, "6 runs of its probes were skipped", EXIT_INCONCLUSIVE);
	report = run(5);
	sample_probes(report, &report->invariants[LAW]);
	report->probes[1].recursion_misses = 6;
	report->invariants[LAW].recursion_misses = 6;
	judged(report, VERDICT_INCONCLUSIVE, "__delayacct_blkio_end 6", EXIT_INCONCLUSIVE);
}

static void test_uncovered_copy(void **state)
{
	struct report *report = run(5);

	(void)state;
	report->invariants[LAW].uncovered = "f.constprop.0";
	judged(report, VERDICT_INCONCLUSIVE, "no probe covers f.constprop.0", EXIT_INCONCLUSIVE);
}

static void test_all_losses_are_named(void **state)
{
	struct report *report = run(5);

	(void)state;
	report->lost[LOST_delayacct_tasks_full] = 3;
	report->invariants[LAW].recursion_misses = 6;
	report->invariants[LAW].uncovered = "f.isra.0";
	verdict_judge(report);
	text_contains(report->invariants[LAW].reason, "3 lost");
	text_contains(report->invariants[LAW].reason, "; 6 runs");
	text_contains(report->invariants[LAW].reason, "; no probe covers f.isra.0");
	sample_free(report);
}

static void test_records_lost_alone_forbid_nothing(void **state)
{
	struct report *report = run(5);

	(void)state;
	report->records_lost = 5;
	judged(report, VERDICT_HOLDS, NULL, EXIT_HOLDS);
}

static void command_gives(const char *ended_by, int wait_status, enum exit_status status)
{
	static char *const argv[] = { "command", NULL };
	struct report *report = run(5);

	report->ended_by = ended_by;
	report->command = (struct command_report){ .argv = argv, .status = wait_status, .started = true };
	judged(report, VERDICT_HOLDS, NULL, status);
}

static void test_command(void **state)
{
	(void)state;
	command_gives("command", 0, EXIT_HOLDS);
	command_gives("command", 1 << 8, EXIT_INCONCLUSIVE);
	command_gives("command", 9, EXIT_INCONCLUSIVE);
	/* What kwitness itself has ended did not fail. */
	command_gives("duration", 15, EXIT_HOLDS);
	command_gives("SIGINT", 2, EXIT_HOLDS);
}

static void test_command_does_not_hide_that_nothing_can_be_checked(void **state)
{
	static char *const argv[] = { "command", NULL };
	struct report *report = run_without_probe();

	(void)state;
	report->invariants[OTHER].chosen = false;
	report->ended_by = "command";
	report->command = (struct command_report){ .argv = argv, .status = 1 << 8, .started = true };
	judged(report, VERDICT_UNAVAILABLE, "it was inlined", EXIT_CANNOT_CHECK);
}

static void test_what_was_not_chosen_does_not_count(void **state)
{
	struct report *report = run(5);

	(void)state;
	report->invariants[INV_membarrier_coverage].available = false;
	report->invariants[INV_mm_cpumask_running].violations = 1;
	judged(report, VERDICT_HOLDS, NULL, EXIT_HOLDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_not_exercised),
		cmocka_unit_test(test_nothing_exercised_is_no_pass),
		cmocka_unit_test(test_unavailable),
		cmocka_unit_test(test_unavailable_outranks_violations),
		cmocka_unit_test(test_nothing_available),
		cmocka_unit_test(test_violated),
		cmocka_unit_test(test_violated_outranks_losses_and_command),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_known_alone_is_a_pass),
		cmocka_unit_test(test_known_and_new),
		cmocka_unit_test(test_known_beyond_the_limit),
		cmocka_unit_test(test_known_but_records_lost),
		cmocka_unit_test(test_known_and_all_examined_although_records_lost),
		cmocka_unit_test(test_known_but_events_lost),
		cmocka_unit_test(test_none_examined_is_new),
		cmocka_unit_test(test_known_of_another_invariant_does_not_help),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_uncovered_copy),
		cmocka_unit_test(test_all_losses_are_named),
		cmocka_unit_test(test_records_lost_alone_forbid_nothing),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_does_not_hide_that_nothing_can_be_checked),
		cmocka_unit_test(test_what_was_not_chosen_does_not_count),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
