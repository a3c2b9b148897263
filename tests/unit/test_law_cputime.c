// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include "cputime.h"
#include "random.h"

static int went_back(uint64_t utime_before, uint64_t stime_before, uint64_t utime, uint64_t stime)
{
	struct cputime_pair before = { utime_before, stime_before }, handed_out = { utime, stime };

	return cputime_went_back(&before, &handed_out);
}

static void test_good(void **state)
{
	(void)state;
	assert_false(went_back(0, 0, 0, 0));
	assert_false(went_back(100, 50, 100, 50));
	assert_false(went_back(100, 50, 101, 50));
	assert_false(went_back(100, 50, 100, 51));
	assert_false(went_back(0, 0, UINT64_MAX, UINT64_MAX));
}

static void test_bad(void **state)
{
	(void)state;
	assert_true(went_back(100, 50, 99, 50));
	assert_true(went_back(100, 50, 100, 49));
	/* What one loses is not made up for by what the other wins. */
	assert_true(went_back(100, 50, 99, 1000));
	assert_true(went_back(100, 50, 1000, 49));
	assert_true(went_back(UINT64_MAX, 0, 0, 0));
}

/* Callers on several CPUs that adjust one prev_cputime, each by a run time that it has read some time before. */
#define CALLERS 4

struct caller {
	enum { OUTSIDE, READ_UTIME, READ_STIME, WAITS_FOR_LOCK, RETURNS } step;
	struct cputime_pair before, handed_out;
	uint64_t runtime;
};

struct adjusting {
	struct chance chance;
	struct cputime_pair prev;
	uint64_t runtime;
	bool clamps; /* as the kernel does; else the last caller's split is taken as it is */
	struct caller callers[CALLERS];
	unsigned long judged, broken;
};

/* Splits the run time at random, as ticks would, and keeps both parts from falling. Under prev->lock. */
static void adjust(struct adjusting *model, struct caller *caller)
{
	uint64_t stime = chance_next(&model->chance) % (caller->runtime + 1);

	if (model->clamps) {
		if (model->prev.utime + model->prev.stime >= caller->runtime) {
			caller->handed_out = model->prev;
			return;
		}
		if (stime < model->prev.stime)
			stime = model->prev.stime;
		if (caller->runtime - stime < model->prev.utime)
			stime = caller->runtime - model->prev.utime;
	}
	model->prev = (struct cputime_pair){ caller->runtime - stime, stime };
	caller->handed_out = model->prev;
}

static void caller_step(struct adjusting *model, struct caller *caller)
{
	switch (caller->step) {
	case OUTSIDE:
		caller->runtime = model->runtime;
		caller->step = READ_UTIME;
		return;
	case READ_UTIME:
		caller->before.utime = model->prev.utime;
		caller->step = READ_STIME;
		return;
	case READ_STIME:
		caller->before.stime = model->prev.stime;
		caller->step = WAITS_FOR_LOCK;
		return;
	case WAITS_FOR_LOCK:
		adjust(model, caller);
		caller->step = RETURNS;
		return;
	case RETURNS:
		model->judged++;
		model->broken += cputime_went_back(&caller->before, &caller->handed_out);
		caller->step = OUTSIDE;
		return;
	}
}

static struct adjusting run(bool clamps)
{
	struct adjusting model = { .chance = { 1 }, .clamps = clamps };

	for (unsigned int step = 0; step < 200000; step++) {
		model.runtime += chance_below(&model.chance, 1000);
		caller_step(&model, &model.callers[chance_below(&model.chance, CALLERS)]);
	}
	print_message("# %lu judged, %lu broken\n", model.judged, model.broken);
	assert_true(model.judged > 10000);
	return model;
}

static void test_concurrent_callers(void **state)
{
	(void)state;
	assert_int_equal(run(true).broken, 0);
}

static void test_concurrent_callers_without_clamping(void **state)
{
	(void)state;
	assert_true(run(false).broken > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_concurrent_callers),
		cmocka_unit_test(test_concurrent_callers_without_clamping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
