// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include "mm_cpumask.h"

#define NR_CPUS 8192 /* the most that x86 can be configured for */

static unsigned long long mask[NR_CPUS / BITS_PER_MASK_WORD];

/* The word is found as the probe finds it: by its byte offset from the start of the mask. */
static int has_cpu(unsigned int cpu)
{
	unsigned int offset = mm_cpumask_word_offset(cpu);
	unsigned long long word;

	assert_true(offset + sizeof(word) <= sizeof(mask));
	memcpy(&word, (char *)mask + offset, sizeof(word));
	return mm_cpumask_has_cpu(word, cpu);
}

static void set_cpu(unsigned int cpu)
{
	((unsigned char *)mask)[cpu / 8] |= 1 << cpu % 8;
}

static void test_empty_mask(void **state)
{
	(void)state;
	memset(mask, 0, sizeof(mask));
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		assert_false(has_cpu(cpu));
}

static void test_full_mask(void **state)
{
	(void)state;
	memset(mask, 0xff, sizeof(mask));
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		assert_true(has_cpu(cpu));
}

/* Exactly the CPU that was set, and no neighbour within its word or at its ends. */
static void test_each_cpu_alone(void **state)
{
	(void)state;
	for (unsigned int cpu = 1; cpu < NR_CPUS - BITS_PER_MASK_WORD; cpu++) {
		memset(mask, 0, sizeof(mask));
		set_cpu(cpu);
		assert_int_equal(has_cpu(cpu), 1);
		assert_false(has_cpu(cpu - 1));
		assert_false(has_cpu(cpu + 1));
		assert_false(has_cpu(cpu + BITS_PER_MASK_WORD));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_mask),
		cmocka_unit_test(test_full_mask),
		cmocka_unit_test(test_each_cpu_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
