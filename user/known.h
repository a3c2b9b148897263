/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings: violations that are known and explained, as findings/NAME.json describes them for --known. */
#ifndef KWITNESS_KNOWN_H
#define KWITNESS_KNOWN_H

#include "record.h"

struct known_findings;

/*
 * Reads @path. Returns NULL and sets *@error (the caller frees it) when the file cannot be read, is no JSON, names an
 * invariant that does not exist, or says nothing that could match.
 */
struct known_findings *known_read(const char *path, char **error);

/*
 * Returns the name of the finding that explains @record on the kernel with release @release, or NULL. The name lives
 * as long as @known.
 */
const char *known_match(const struct known_findings *known, const struct violation_record *record,
			const char *release);

void known_free(struct known_findings *known);

#endif /* KWITNESS_KNOWN_H */
