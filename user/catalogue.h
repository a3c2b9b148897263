/* SPDX-License-Identifier: GPL-2.0-only */
/* The catalogue of bpf/invariants.def as tables, for everything in user space that lists, explains or formats. */
#ifndef KWITNESS_CATALOGUE_H
#define KWITNESS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

struct invariant {
	const char *id; /* "subsystem.name" */
	const char *title;
	const char *law;
	const char *source;
	const char *soundness;
	const char *hooks; /* space separated, see bpf/invariants.def */
	const char *values; /* "name:unit ...", see user/fields.h */
	const char *message; /* template, see fields_message() */
};

struct exemption {
	enum invariant_id invariant;
	const char *name;
	const char *why;
};

struct loss {
	const char *name;
	const char *invariants; /* glob over ids */
	const char *what;
};

struct event_kind {
	const char *name;
	const char *text;
	const char *args; /* "name:unit ..." */
};

/* Indexed by the enums of bpf/record.h. */
extern const struct invariant invariants[NR_INVARIANTS];
extern const struct exemption exemptions[NR_EXEMPTIONS];
extern const struct loss losses[NR_LOSSES];
extern const struct event_kind event_kinds[NR_EVENTS];

/* Marks in @chosen every invariant whose id matches the shell glob @glob; returns how many match. */
size_t catalogue_match(const char *glob, bool chosen[NR_INVARIANTS]);

/* Returns the position of the invariant with exactly this id, or -1. */
int catalogue_find(const char *id);

/* The advice of the first switch that @id depends on and that is off, or NULL when all are on. */
const char *catalogue_switched_off(const char *id);

#endif /* KWITNESS_CATALOGUE_H */
