/* SPDX-License-Identifier: GPL-2.0-only */
/* The forms in which `kwitness list` shows the catalogue. */
#ifndef KWITNESS_LIST_H
#define KWITNESS_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "catalogue.h"

/* Each writes the chosen invariants and returns 0, or -errno when @out could not be written. */
int list_write_table(FILE *out, const bool chosen[NR_INVARIANTS]);
int list_write_text(FILE *out, const bool chosen[NR_INVARIANTS]); /* everything about each */
int list_write_json(FILE *out, const bool chosen[NR_INVARIANTS]);
int list_write_markdown(FILE *out, const bool chosen[NR_INVARIANTS]);

/* Calls @use for each word of a list that is separated by spaces. */
void list_for_each_word(const char *words, void (*use)(const char *word, int length, void *arg), void *arg);

/* Does losing what @loss counts make the invariant inconclusive? */
bool list_loss_concerns(const struct loss *loss, const struct invariant *invariant);

#endif /* KWITNESS_LIST_H */
