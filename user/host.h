/* SPDX-License-Identifier: GPL-2.0-only */
/* What the running kernel lets kwitness do, each fact from the file that states it. */
#ifndef KWITNESS_HOST_H
#define KWITNESS_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum fact_state {
	FACT_FINE,
	FACT_LIMITS, /* something is missing from the reports */
	FACT_NO_PRIVILEGE, /* this user may not; another may */
	FACT_PREVENTS, /* this kernel cannot be checked as it is */
};

struct fact {
	const char *name;
	enum fact_state state;
	char *text; /* what was found, and where */
	const char *advice; /* what to change; NULL when fine */
};

#define HOST_NR_FACTS 6

struct host {
	struct fact facts[HOST_NR_FACTS];
};

/*
 * Reads the facts. @root is put before every path: "" but for tests. @btf: the file that --btf names, or NULL for the
 * kernel's own. host_free() frees the texts.
 */
void host_read(struct host *host, const char *root, const char *btf);

/* The worst fact, or NULL when all are fine. */
const struct fact *host_worst(const struct host *host);

void host_free(struct host *host);

/* Reads the start of a small file; the number of bytes, or -errno. @text is terminated. */
int read_file(const char *path, char *text, size_t size);

#endif /* KWITNESS_HOST_H */
