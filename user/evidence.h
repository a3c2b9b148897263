/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of the text report that tells the violations. */
#ifndef KWITNESS_EVIDENCE_H
#define KWITNESS_EVIDENCE_H

#include "report.h"

/* Writes every violation that is told with evidence, and how many are not. */
void evidence_write_text(FILE *out, const struct report *report);

#endif /* KWITNESS_EVIDENCE_H */
