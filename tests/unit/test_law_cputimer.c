// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include "cputimer.h"
#include "cputimer_model.h"

/* A group with one field, whose looks are taken in one piece. */
static struct cputimer_sums sums(uint64_t started, uint64_t finished, uint64_t value)
{
	return (struct cputimer_sums){ .started = started, .finished = finished, .value = value };
}

static int within(struct cputimer_sums base, struct cputimer_sums now)
{
	return cputimer_within_bounds(&base, &now);
}

static void test_nothing_happened(void **state)
{
	struct cputimer_sums look = sums(500, 400, 10000);

	(void)state;
	assert_true(within(look, look));
	assert_int_equal(cputimer_at_least(&look, &look), 0);
	assert_int_equal(cputimer_at_most(&look, &look), 100);
}

static void test_exact_when_all_has_finished(void **state)
{
	struct cputimer_sums base = sums(400, 400, 10000);

	(void)state;
	assert_true(within(base, sums(700, 700, 10300)));
	assert_false(within(base, sums(700, 700, 10299)));
	assert_false(within(base, sums(700, 700, 10301)));
}

/* A call in flight may or may not have added its delta, at the base as well as at the look. */
static void test_calls_in_flight(void **state)
{
	(void)state;
	assert_true(within(sums(400, 400, 10000), sums(700, 600, 10200)));
	assert_true(within(sums(400, 400, 10000), sums(700, 600, 10300)));
	assert_false(within(sums(400, 400, 10000), sums(700, 600, 10199)));
	assert_false(within(sums(400, 400, 10000), sums(700, 600, 10301)));
	assert_true(within(sums(500, 400, 10000), sums(500, 500, 10100)));
	assert_true(within(sums(500, 400, 10100), sums(500, 500, 10100)));
	assert_false(within(sums(500, 400, 10000), sums(500, 500, 10101)));
}

/* A base can have more in flight than has finished since. */
static void test_bound_is_not_negative(void **state)
{
	struct cputimer_sums base = sums(900, 100, 10000), now = sums(900, 300, 10000);

	(void)state;
	assert_int_equal(cputimer_at_least(&base, &now), 0);
	assert_true(within(base, now));
}

/* A call that the probe did not count, since the timers were not active yet, lowers the base's finished sum. */
static void test_call_that_missed_the_activation(void **state)
{
	(void)state;
	assert_false(within(sums(0, 0, 10000), sums(100, 100, 10400)));
	assert_true(within(sums(0, -300ULL, 10000), sums(100, 100, 10400)));
	assert_true(within(sums(0, -300ULL, 10000), sums(100, 100, 10100)));
	assert_false(within(sums(0, -300ULL, 10000), sums(100, 100, 10401)));
}

/* A task without sighand is accounted, but its delta is not added: it stays started for good. */
static void test_call_that_never_adds(void **state)
{
	(void)state;
	assert_true(within(sums(400, 400, 10000), sums(800, 500, 10100)));
	assert_true(within(sums(400, 400, 10000), sums(9800, 9500, 19100)));
	assert_false(within(sums(400, 400, 10000), sums(9800, 9500, 19099)));
}

/* The sums run over the whole life of a group; the kernel's value is an s64 that is read as u64. */
static void test_wraparound(void **state)
{
	(void)state;
	assert_true(within(sums(-100ULL, -100ULL, -50ULL), sums(200, 200, 250)));
	assert_false(within(sums(-100ULL, -100ULL, -50ULL), sums(200, 200, 249)));
	assert_false(within(sums(-100ULL, -100ULL, -50ULL), sums(200, 200, 251)));
}

static void test_value_below_base(void **state)
{
	(void)state;
	assert_false(within(sums(400, 400, 10000), sums(400, 400, 9999)));
	assert_false(within(sums(900, 100, 10000), sums(900, 100, 9999)));
}

static void test_went_back(void **state)
{
	(void)state;
	assert_false(cputimer_went_back(0, 0));
	assert_false(cputimer_went_back(1000, 1000));
	assert_false(cputimer_went_back(1000, 1001));
	assert_true(cputimer_went_back(1000, 999));
	assert_true(cputimer_went_back(UINT64_MAX, 0));
}

/* Runs one group for a while, with the timers started and stopped all the time. */
static struct model run_restarting(enum model_flaw flaw, uint64_t seed, unsigned int steps)
{
	struct model model;

	model_init(&model, seed);
	model.flaw = flaw;
	model_run(&model, steps);
	return model;
}

static void test_model_raises_no_false_alarm(void **state)
{
	unsigned long judged = 0, restarted = 0, starts = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct model model = run_restarting(FLAW_NONE, seed, 200000);

		assert_int_equal(model.out_of_bounds, 0);
		assert_int_equal(model.went_back, 0);
		judged += model.judged;
		restarted += model.restarted;
		starts += model.starts;
	}
	print_message("# %lu judged, %lu exempted as restarted, %lu starts of the timers\n", judged, restarted, starts);
	assert_true(judged > 10000 && restarted > 1000 && starts > 1000);
}

/* Long activations: what has piled up must not matter. */
static void test_model_without_restarts(void **state)
{
	struct model model;

	(void)state;
	model_init(&model, 7);
	model.stop_one_in = 1000000;
	model_run(&model, 1000000);
	assert_int_equal(model.out_of_bounds, 0);
	assert_int_equal(model.went_back, 0);
	assert_true(model.judged > 10000);
}

/* Each precaution is needed: without it the model raises false alarms, so the model has the race. */
static void test_model_knows_the_races(void **state)
{
	static const char *const names[] = {
		[FLAW_NO_ALLOWANCE] = "no allowance for calls that missed the activation",
		[FLAW_STARTED_BEFORE_VALUE] = "started sums before the value",
		[FLAW_FINISHED_AFTER_VALUE] = "finished sums after the value",
		[FLAW_NO_GENERATIONS] = "no generations",
		[FLAW_FINISHED_UNCHECKED] = "calls finish unchecked",
		[FLAW_SEEN_AFTER_VALUE] = "what was seen read after the value",
	};

	(void)state;
	for (enum model_flaw flaw = FLAW_NONE + 1; flaw <= FLAW_SEEN_AFTER_VALUE; flaw++) {
		unsigned long alarms = 0;

		for (uint64_t seed = 0; seed < 50; seed++) {
			struct model model = run_restarting(flaw, seed, 200000);

			alarms += flaw == FLAW_SEEN_AFTER_VALUE ? model.went_back : model.out_of_bounds;
		}
		print_message("# %s: %lu false alarms\n", names[flaw], alarms);
		assert_true(alarms > 0);
	}
}

/* Timers that stay active and a kernel that does @fault, to every 17th delta or to one that is @delta long. */
static struct model run_faulty(enum model_fault fault, uint64_t seed, uint64_t delta)
{
	struct model model;

	model_init(&model, seed);
	model.fault = fault;
	model.fault_delta = delta;
	model.adds_to_fault = 100;
	model.steady = true;
	model_run(&model, 20000);
	assert_true(model.faults > 0);
	return model;
}

/* A single delta that exceeds all that can be in flight is found by each CPU, once. */
static void test_model_finds_one_fault(void **state)
{
	(void)state;
	for (enum model_fault fault = FAULT_LOST; fault <= FAULT_DECREASED; fault++)
		for (uint64_t seed = 0; seed < 50; seed++) {
			struct model model = run_faulty(fault, seed, 2000000);

			assert_int_equal(model.faults, 1);
			assert_int_equal(model.out_of_bounds, MODEL_CPUS);
		}
}

static void test_model_finds_repeated_faults(void **state)
{
	(void)state;
	for (enum model_fault fault = FAULT_LOST; fault <= FAULT_DECREASED; fault++)
		for (uint64_t seed = 0; seed < 50; seed++) {
			struct model model = run_faulty(fault, seed, 0);

			assert_true(model.out_of_bounds > 0);
			assert_int_equal(model.went_back > 0, fault == FAULT_DECREASED);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_happened),
		cmocka_unit_test(test_exact_when_all_has_finished),
		cmocka_unit_test(test_calls_in_flight),
		cmocka_unit_test(test_bound_is_not_negative),
		cmocka_unit_test(test_call_that_missed_the_activation),
		cmocka_unit_test(test_call_that_never_adds),
		cmocka_unit_test(test_wraparound),
		cmocka_unit_test(test_value_below_base),
		cmocka_unit_test(test_went_back),
		cmocka_unit_test(test_model_raises_no_false_alarm),
		cmocka_unit_test(test_model_without_restarts),
		cmocka_unit_test(test_model_knows_the_races),
		cmocka_unit_test(test_model_finds_one_fault),
		cmocka_unit_test(test_model_finds_repeated_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
