/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user asked `kwitness check` for. */
#ifndef KWITNESS_OPTIONS_H
#define KWITNESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record.h"

#define OPTIONS_MAX_KNOWN 32

struct check_options {
	bool chosen[NR_INVARIANTS];
	bool required[NR_INVARIANTS];
	pid_t pid; /* in the caller's pid namespace; 0: every process */
	const char *cgroup; /* path of a cgroup-v2 directory, or NULL */
	double seconds; /* 0: until the command ends or a signal comes */
	uint32_t max_violations; /* told with evidence, per invariant */
	uint32_t buffer_bytes; /* of the ring buffer; 0: large enough for all evidence that may be sent */
	bool json;
	const char *output; /* file, or NULL for standard output */
	const char *known[OPTIONS_MAX_KNOWN]; /* files of findings, nr_known of them */
	size_t nr_known;
	const char *btf; /* file with the kernel's BTF, or NULL for its own */
	int verbosity;
	char **command; /* argv, or NULL */
};

#endif /* KWITNESS_OPTIONS_H */
