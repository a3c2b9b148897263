/* SPDX-License-Identifier: GPL-2.0-only */
/* Seeded chance for the randomized tests: a seed gives the same run on every machine. */
#ifndef KWITNESS_TESTS_RANDOM_H
#define KWITNESS_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state; /* any seed will do */
};

/* A Weyl sequence, mixed by multiplication and shifts. */
static inline uint64_t chance_next(struct chance *chance)
{
	uint64_t mixed = chance->state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
	mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
	return mixed ^ mixed >> 32;
}

/* 0 to @limit - 1 */
static inline unsigned int chance_below(struct chance *chance, unsigned int limit)
{
	return chance_next(chance) % limit;
}

static inline bool chance_one_in(struct chance *chance, unsigned int times)
{
	return !chance_below(chance, times);
}

#endif /* KWITNESS_TESTS_RANDOM_H */
