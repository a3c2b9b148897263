/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cputime.monotonic: for one prev_cputime, the utime and stime that cputime_adjust() hands out never decrease.
 *
 * Source: kernel/sched/cputime.c, cputime_adjust(). It keeps in prev_cputime what it last handed out and clamps to it.
 *
 * Sound: what prev_cputime holds when a call begins has been handed out before, and other callers can only raise it
 * while this one waits for prev->lock. So the result of a call is compared with prev_cputime as it was at its entry;
 * nothing is remembered from one call to the next, and no lifetime has to be tracked. The two halves are read without
 * the lock, but each is judged on its own.
 */
#ifndef KWITNESS_CPUTIME_H
#define KWITNESS_CPUTIME_H

struct cputime_pair {
	unsigned long long utime; /* ns */
	unsigned long long stime; /* ns */
};

static inline int cputime_went_back(const struct cputime_pair *before, const struct cputime_pair *handed_out)
{
	return handed_out->utime < before->utime || handed_out->stime < before->stime;
}

#endif /* KWITNESS_CPUTIME_H */
