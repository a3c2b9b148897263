// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include "membarrier.h"
#include "membarrier_model.h"

#define MM 0xffff888000001000
#define TASK 0xffff888000002000

/* A CPU that runs one task of MM and counts one switch and one handler more than nothing. */
static struct membarrier_view running(void)
{
	return (struct membarrier_view){ .switches = 1, .curr = TASK, .mm = MM, .handlers = 1 };
}

static void test_ran_throughout(void **state)
{
	struct membarrier_view entry = running(), exit = running();

	(void)state;
	assert_true(membarrier_ran_throughout(&entry, &exit, MM));
	/* The handlers do not matter for this. */
	exit.handlers++;
	assert_true(membarrier_ran_throughout(&entry, &exit, MM));
}

static void test_not_looked_at(void **state)
{
	struct membarrier_view entry = {}, exit = {};

	(void)state;
	assert_false(membarrier_ran_throughout(&entry, &exit, 0));
	exit = running();
	assert_false(membarrier_ran_throughout(&entry, &exit, MM));
	assert_false(membarrier_ran_throughout(&exit, &entry, MM));
}

static void test_switch_to_another_task(void **state)
{
	struct membarrier_view entry = running(), exit = running();

	(void)state;
	exit.curr++;
	exit.switches++;
	assert_false(membarrier_ran_throughout(&entry, &exit, MM));
	/* Between the store to rq->curr and the event the count has not moved yet. */
	exit.switches--;
	assert_false(membarrier_ran_throughout(&entry, &exit, MM));
}

/* Away and back again: only the count tells. */
static void test_switch_there_and_back(void **state)
{
	struct membarrier_view entry = running(), exit = running();

	(void)state;
	exit.switches += 2;
	assert_false(membarrier_ran_throughout(&entry, &exit, MM));
}

static void test_exec(void **state)
{
	struct membarrier_view entry = running(), exit = running();

	(void)state;
	exit.mm++;
	assert_false(membarrier_ran_throughout(&entry, &exit, MM));
	assert_false(membarrier_ran_throughout(&exit, &entry, MM));
	entry.mm++;
	assert_false(membarrier_ran_throughout(&entry, &exit, MM));
}

static void test_covered(void **state)
{
	struct membarrier_view entry = running(), exit = running();

	(void)state;
	assert_false(membarrier_covered(&entry, &exit));
	exit.handlers++;
	assert_true(membarrier_covered(&entry, &exit));
}

/* Which of the three handlers serves a command: all of them the plain one, the others only their own. */
static void test_handlers(void **state)
{
	const struct membarrier_cpu cpu = {
		.handlers = { [HANDLER_ipi_mb] = 1, [HANDLER_ipi_sync_core] = 10, [HANDLER_ipi_rseq] = 100 }
	};

	(void)state;
	assert_int_equal(membarrier_handlers(&cpu, 0), 111);
	assert_int_equal(membarrier_handlers(&cpu, MEMBARRIER_FLAG_SYNC_CORE), 10);
	assert_int_equal(membarrier_handlers(&cpu, MEMBARRIER_FLAG_RSEQ), 100);
}

static struct model run(enum model_flaw flaw, unsigned int skips, uint64_t seed)
{
	struct model model;

	model_init(&model, seed);
	model.flaw = flaw;
	model.skips = skips;
	model_run(&model, 200000);
	return model;
}

static void test_model_raises_no_false_alarm(void **state)
{
	unsigned long evaluated = 0, switches = 0, execs = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct model model = run(FLAW_NONE, 0, seed);

		assert_int_equal(model.uncovered, 0);
		evaluated += model.evaluated;
		switches += model.switches;
		execs += model.execs;
	}
	print_message("# %lu evaluated, %lu switches, %lu execs\n", evaluated, switches, execs);
	assert_true(evaluated > 10000 && switches > 10000 && execs > 1000);
}

/* Each part of the law is needed: without it the model raises false alarms, so the model has the race. */
static void test_model_knows_the_races(void **state)
{
	static const char *const names[] = {
		[FLAW_COUNT_AFTER_CURR_AT_ENTRY] = "count read after curr at entry",
		[FLAW_COUNT_BEFORE_CURR_AT_EXIT] = "count read before curr at exit",
		[FLAW_SWITCHES_IGNORED] = "switches ignored",
		[FLAW_MM_AT_EXIT_IGNORED] = "mm at exit ignored",
		[FLAW_KERNEL_THREADS_JUDGED] = "kernel threads judged",
		[FLAW_CALLER_JUDGED] = "the caller judged",
	};

	(void)state;
	for (enum model_flaw flaw = FLAW_NONE + 1; flaw <= FLAW_CALLER_JUDGED; flaw++) {
		unsigned long alarms = 0;

		for (uint64_t seed = 0; seed < 50; seed++)
			alarms += run(flaw, 0, seed).uncovered;
		print_message("# %s: %lu false alarms\n", names[flaw], alarms);
		assert_true(alarms > 0);
	}
}

/* Not every CPU left out is a breach: its task may leave it, or the IPI of the other caller may come. */
static void test_model_finds_cpus_left_out(void **state)
{
	(void)state;
	for (unsigned int skips = 2; skips <= 20; skips++) {
		struct model model = run(FLAW_NONE, skips, skips);

		assert_in_range(model.uncovered, model.skipped / 20 + 1, model.skipped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ran_throughout),
		cmocka_unit_test(test_not_looked_at),
		cmocka_unit_test(test_switch_to_another_task),
		cmocka_unit_test(test_switch_there_and_back),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_handlers),
		cmocka_unit_test(test_model_raises_no_false_alarm),
		cmocka_unit_test(test_model_knows_the_races),
		cmocka_unit_test(test_model_finds_cpus_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
