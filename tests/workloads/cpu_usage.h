/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways in which user space learns how much CPU time somebody used. */
#ifndef KWITNESS_WORKLOAD_CPU_USAGE_H
#define KWITNESS_WORKLOAD_CPU_USAGE_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

/* Unit: that of the source; compare only values of one source. */
struct cpu_usage {
	uint64_t user;
	uint64_t system;
};

/* In microseconds. */
static inline struct cpu_usage usage_from_rusage(const struct rusage *rusage)
{
	return (struct cpu_usage){
		.user = rusage->ru_utime.tv_sec * 1000000ULL + rusage->ru_utime.tv_usec,
		.system = rusage->ru_stime.tv_sec * 1000000ULL + rusage->ru_stime.tv_usec,
	};
}

/* From times(), in clock ticks, without waited-for children. */
static inline struct cpu_usage usage_from_times(void)
{
	struct tms tms;

	times(&tms);
	return (struct cpu_usage){ tms.tms_utime, tms.tms_stime };
}

/* From a stat file in /proc, in clock ticks; false when its task is gone. */
static inline bool usage_from_stat(const char *path, struct cpu_usage *usage)
{
	char text[1024], *name_end;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (file < 0)
		return false;
	length = read(file, text, sizeof(text) - 1);
	close(file);
	if (length <= 0)
		return false;
	text[length] = '\0';
	/* The name may hold anything, so count the fields from its end. */
	name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end + 1,
				" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
				" %" SCNu64 " %" SCNu64,
				&usage->user, &usage->system) != 2)
		fail("cannot understand %s: %s", path, text);
	return true;
}

/* True when either part of now is below that of last, which then becomes now. */
static inline bool usage_decreased(struct cpu_usage *last, struct cpu_usage now)
{
	bool decreased = now.user < last->user || now.system < last->system;

	*last = now;
	return decreased;
}

/* A clock in nanoseconds; fails the program when it cannot be read. */
static inline uint64_t clock_nanoseconds(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		fail("cannot read clock %d: %m", clock);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#endif
