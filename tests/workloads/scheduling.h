/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of the scheduling class, which glibc 2.36 cannot express in full. */
#ifndef KWITNESS_WORKLOAD_SCHEDULING_H
#define KWITNESS_WORKLOAD_SCHEDULING_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "common.h"

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* <linux/sched/types.h> clashes with <sched.h>; this is its first version. */
struct scheduling_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns;
	uint64_t deadline_ns;
	uint64_t period_ns;
};

_Static_assert(sizeof(struct scheduling_attributes) == 48, "SCHED_ATTR_SIZE_VER0");

/*
 * Puts a thread (0: the caller) into policy: SCHED_FIFO and SCHED_RR with the
 * given priority, SCHED_DEADLINE with 2 ms every 20 ms, SCHED_OTHER with
 * nice 0. Returns false when the thread is gone, or the kernel cannot admit one
 * more deadline task; fails the program when it refuses for another reason.
 */
static inline bool set_class(pid_t thread, unsigned int policy, unsigned int priority)
{
	struct scheduling_attributes attributes = {
		.size = sizeof(attributes),
		.policy = policy,
	};

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		attributes.priority = priority;
	if (policy == SCHED_DEADLINE) {
		attributes.runtime_ns = 2000000;
		attributes.deadline_ns = 20000000;
		attributes.period_ns = 20000000;
	}
	if (!syscall(SYS_sched_setattr, thread, &attributes, 0))
		return true;
	if (errno == ESRCH || (policy == SCHED_DEADLINE && errno == EBUSY))
		return false;
	fail("cannot enter scheduling policy %u (run as root, or use --no-realtime): %m", policy);
}

#endif
