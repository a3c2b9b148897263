// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include "delayacct.h"
#include "random.h"

/* A task that was forked under our eyes: no stamp that it has can be older than what we know. */
static struct delay_memory new_task(void)
{
	return (struct delay_memory){ .known = 1 };
}

static void ends_as(struct delay_memory *memory, unsigned long long stamp, unsigned int switches, enum pairing expected)
{
	assert_int_equal(delay_end(memory, stamp, switches), expected);
}

static void test_pairs(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	for (unsigned long long stamp = 100; stamp < 200; stamp++) {
		delay_start(&memory, 0);
		ends_as(&memory, stamp, 0, PAIRING_HOLDS);
	}
}

static void test_end_without_start(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	ends_as(&memory, 0, 0, PAIRING_BROKEN);
	delay_start(&memory, 0);
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	ends_as(&memory, 100, 0, PAIRING_BROKEN);
	ends_as(&memory, 100, 0, PAIRING_BROKEN);
	delay_start(&memory, 0);
	ends_as(&memory, 200, 0, PAIRING_HOLDS);
}

/* A start that the probe missed has left its stamp all the same. */
static void test_missed_start(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	ends_as(&memory, 200, 0, PAIRING_HOLDS);
	ends_as(&memory, 200, 0, PAIRING_BROKEN);
}

static void test_missed_end(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	delay_start(&memory, 0);
	delay_start(&memory, 0);
	ends_as(&memory, 200, 0, PAIRING_HOLDS);
	ends_as(&memory, 200, 0, PAIRING_BROKEN);
}

/* A miss hides a breach, as the start that the missed end closed counts for the next end. */
static void test_missed_end_hides(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	delay_start(&memory, 0);
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	delay_start(&memory, 0);
	/* not seen: the end that uses 200 */
	ends_as(&memory, 200, 0, PAIRING_HOLDS);
}

static void test_clock_returns_a_value_twice(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	delay_start(&memory, 0);
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	delay_start(&memory, 0);
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	ends_as(&memory, 100, 0, PAIRING_BROKEN);
}

/* The kernel keeps one stamp for each kind: the outer end uses it again and charges the inner wait twice. */
static void test_nested(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	delay_start(&memory, 0);
	delay_start(&memory, 0);
	ends_as(&memory, 200, 0, PAIRING_HOLDS);
	ends_as(&memory, 200, 0, PAIRING_BROKEN);
}

static void test_first_sight(void **state)
{
	struct delay_memory waiting = {}, never_waited = {}, starting = {};

	(void)state;
	ends_as(&waiting, 100, 0, PAIRING_FIRST_SIGHT);
	ends_as(&waiting, 100, 0, PAIRING_BROKEN);
	ends_as(&never_waited, 0, 0, PAIRING_FIRST_SIGHT);
	ends_as(&never_waited, 0, 0, PAIRING_BROKEN);
	delay_start(&starting, 0);
	ends_as(&starting, 100, 0, PAIRING_HOLDS);
}

/* Even counts are between writes to kernel.task_delayacct, odd ones in the middle of one. */
static void test_switched(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	delay_start(&memory, 0);
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	/* off: the start leaves no stamp; on again */
	ends_as(&memory, 100, 4, PAIRING_SWITCHED);
	ends_as(&memory, 100, 4, PAIRING_BROKEN);
	delay_start(&memory, 4);
	ends_as(&memory, 200, 5, PAIRING_SWITCHED);
	ends_as(&memory, 200, 5, PAIRING_SWITCHED);
	ends_as(&memory, 200, 6, PAIRING_SWITCHED);
	ends_as(&memory, 200, 6, PAIRING_BROKEN);
}

static void test_switched_since_the_task_was_forked(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	ends_as(&memory, 0, 2, PAIRING_SWITCHED);
	delay_start(&memory, 2);
	ends_as(&memory, 100, 2, PAIRING_HOLDS);
}

static void test_totals(void **state)
{
	struct delay_memory memory = {};
	struct delay_now now = { .total = 500, .count = 3 };

	(void)state;
	assert_false(delay_went_back(&memory, &now));
	delay_remember(&memory, &now);
	assert_false(delay_went_back(&memory, &now));
	assert_true(delay_went_back(&memory, &(struct delay_now){ .total = 499, .count = 3 }));
	assert_true(delay_went_back(&memory, &(struct delay_now){ .total = 500, .count = 2 }));
	assert_true(delay_went_back(&memory, &(struct delay_now){ .total = 1000, .count = 2 }));
	assert_false(delay_went_back(&memory, &(struct delay_now){ .total = 500, .count = 4 }));
	assert_false(delay_went_back(&memory, &(struct delay_now){ .total = 501, .count = 4 }));
}

/* What one end has found does not change what the totals say, nor the other way round. */
static void test_totals_and_pairing_are_apart(void **state)
{
	struct delay_memory memory = new_task();

	(void)state;
	delay_remember(&memory, &(struct delay_now){ .total = 500, .count = 3 });
	delay_start(&memory, 0);
	ends_as(&memory, 100, 0, PAIRING_HOLDS);
	assert_int_equal(memory.total, 500);
	assert_int_equal(memory.count, 3);
	delay_remember(&memory, &(struct delay_now){ .total = 600, .count = 4 });
	ends_as(&memory, 100, 0, PAIRING_BROKEN);
}

/* One task that waits again and again for one thing, and two who throw the switch meanwhile. */
struct wait_model {
	struct chance chance;
	/* What may happen; one in so many times, 0: never. */
	unsigned int misses_start, misses_end, throws_switch, coarse_clock, breaks;
	/* The kernel. */
	unsigned long long clock, stamp;
	bool on;
	/* The task. */
	enum { AWAKE, STARTING, STAMPING, WAITING, ENDING } step;
	bool start_stolen; /* the kernel gives the stamp to another task */
	/* Who throws the switch, and how many writes have begun and ended. */
	enum { RESTING, THROWING, THROWN } throwers[2];
	unsigned int begun, ended;
	struct delay_memory memory;
	unsigned long results[PAIRING_BROKEN + 1];
	unsigned long stolen;
};

static bool happens(struct wait_model *model, unsigned int one_in)
{
	return one_in && chance_one_in(&model->chance, one_in);
}

/* As the probes tell it: odd while some write is under way. */
static unsigned int switches(const struct wait_model *model)
{
	return model->begun * 2 + (model->begun != model->ended);
}

static void end_step(struct wait_model *model)
{
	model->step = AWAKE;
	if (!happens(model, model->misses_end))
		model->results[delay_end(&model->memory, model->stamp, switches(model))]++;
}

static void task_step(struct wait_model *model)
{
	switch (model->step) {
	case AWAKE:
		model->start_stolen = happens(model, model->breaks);
		model->stolen += model->start_stolen;
		model->step = model->on && !model->start_stolen ? STARTING : WAITING;
		return;
	case STARTING:
		if (!happens(model, model->misses_start))
			delay_start(&model->memory, switches(model));
		model->step = STAMPING;
		return;
	case STAMPING:
		model->stamp = model->clock;
		model->step = WAITING;
		return;
	case WAITING:
		model->step = model->on ? ENDING : AWAKE;
		return;
	case ENDING:
		end_step(model);
		return;
	}
}

static void thrower_step(struct wait_model *model)
{
	unsigned int thrower = chance_below(&model->chance, 2);

	switch (model->throwers[thrower]) {
	case RESTING:
		if (!happens(model, model->throws_switch))
			return;
		model->begun++;
		model->throwers[thrower] = THROWING;
		return;
	case THROWING:
		if (chance_one_in(&model->chance, 2))
			model->on = !model->on;
		model->throwers[thrower] = THROWN;
		return;
	case THROWN:
		model->ended++;
		model->throwers[thrower] = RESTING;
		return;
	}
}

/* A fine clock moves between any two steps, a coarse one stands still for many. */
static void run_waits(struct wait_model *model, uint64_t seed)
{
	model->chance.state = seed;
	model->clock = 1;
	model->on = true;
	for (unsigned int step = 0; step < 20000; step++) {
		if (!model->coarse_clock || happens(model, model->coarse_clock))
			model->clock++;
		if (chance_one_in(&model->chance, 3))
			thrower_step(model);
		else
			task_step(model);
	}
}

/* Runs @model with 100 seeds: tasks forked under our eyes, and older ones in the middle of a wait; returns the sum. */
static struct wait_model run_many(const struct wait_model *model)
{
	struct wait_model sum = {};

	for (uint64_t seed = 0; seed < 100; seed++) {
		struct wait_model run = *model;

		run.memory.known = seed & 1;
		run.step = run.memory.known ? AWAKE : WAITING;
		run_waits(&run, seed);
		for (size_t i = 0; i <= PAIRING_BROKEN; i++)
			sum.results[i] += run.results[i];
		sum.stolen += run.stolen;
	}
	print_message("# %lu held, %lu first seen, %lu switched, %lu broken, %lu stolen\n", sum.results[PAIRING_HOLDS],
		      sum.results[PAIRING_FIRST_SIGHT], sum.results[PAIRING_SWITCHED], sum.results[PAIRING_BROKEN],
		      sum.stolen);
	assert_true(sum.results[PAIRING_HOLDS] > 10000);
	return sum;
}

static void model_is_quiet(const struct wait_model *model)
{
	assert_int_equal(run_many(model).results[PAIRING_BROKEN], 0);
}

static void test_model_raises_no_false_alarm(void **state)
{
	(void)state;
	model_is_quiet(&(struct wait_model){});
	model_is_quiet(&(struct wait_model){ .misses_start = 5 });
	model_is_quiet(&(struct wait_model){ .misses_end = 5 });
	model_is_quiet(&(struct wait_model){ .misses_start = 2, .misses_end = 2 });
	model_is_quiet(&(struct wait_model){ .coarse_clock = 20 });
	model_is_quiet(&(struct wait_model){ .coarse_clock = 20, .misses_end = 5 });
}

static void test_model_survives_the_switch(void **state)
{
	struct wait_model sum;

	(void)state;
	model_is_quiet(&(struct wait_model){ .throws_switch = 3 });
	model_is_quiet(&(struct wait_model){ .throws_switch = 50 });
	model_is_quiet(&(struct wait_model){ .throws_switch = 50, .coarse_clock = 20, .misses_end = 5 });
	sum = run_many(&(struct wait_model){ .throws_switch = 20, .misses_start = 5, .misses_end = 5 });
	assert_int_equal(sum.results[PAIRING_BROKEN], 0);
	assert_true(sum.results[PAIRING_SWITCHED] > 1000);
}

/* What a wrong task's blkio start does on stock 6.12: the waiter ends without a stamp of its own. */
static void test_model_finds_stolen_starts(void **state)
{
	struct wait_model sum;

	(void)state;
	sum = run_many(&(struct wait_model){ .breaks = 10 });
	/* The wait under way when a run stops has not ended; the first one of an older task is exempt. */
	assert_true(sum.stolen > 1000);
	assert_in_range(sum.results[PAIRING_BROKEN], sum.stolen - 2 * 100, sum.stolen);
	sum = run_many(&(struct wait_model){ .breaks = 10, .misses_start = 5, .misses_end = 5, .throws_switch = 50 });
	assert_in_range(sum.results[PAIRING_BROKEN], 1000, sum.stolen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_end_without_start),
		cmocka_unit_test(test_missed_start),
		cmocka_unit_test(test_missed_end),
		cmocka_unit_test(test_missed_end_hides),
		cmocka_unit_test(test_clock_returns_a_value_twice),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_first_sight),
		cmocka_unit_test(test_switched),
		cmocka_unit_test(test_switched_since_the_task_was_forked),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_totals_and_pairing_are_apart),
		cmocka_unit_test(test_model_raises_no_false_alarm),
		cmocka_unit_test(test_model_survives_the_switch),
		cmocka_unit_test(test_model_finds_stolen_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
