/* SPDX-License-Identifier: GPL-2.0-only */
/* What the running kernel lets kwitness do, each fact from the file that states it. */
#ifndef KWITNESS_HOST_H
#define KWITNESS_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum fact_state {
	FACT_FINE,
	FACT_UNKNOWN, /* could not be read; it matters only if something is refused */
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

enum fact_id {
	FACT_BTF,
	FACT_LOCKDOWN,
	FACT_CAPABILITIES,
	FACT_KPTR_RESTRICT,
	FACT_JIT,
	FACT_FTRACE,
	HOST_NR_FACTS
};

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

/*
 * Explains why the kernel refused with @err, from the facts and nothing else. The caller frees the text. *@prevents:
 * it is the kernel that does not let itself be checked, not this user's privilege.
 */
char *host_explain(const struct host *host, int err, bool *prevents);

void host_free(struct host *host);

/* Reads the start of a small file; the number of bytes, or -errno. @text is terminated. */
int read_file(const char *path, char *text, size_t size);

#endif /* KWITNESS_HOST_H */
