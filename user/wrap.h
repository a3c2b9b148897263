/* SPDX-License-Identifier: GPL-2.0-only */
/* Paragraphs of text for a terminal. */
#ifndef KWITNESS_WRAP_H
#define KWITNESS_WRAP_H

#include <stdio.h>

#define WRAP_WIDTH 110

/*
 * Writes @text from @column on, breaks lines at spaces before WRAP_WIDTH and indents the further lines by @indent. A
 * word that is longer than a line stands on its own. Ends with a newline.
 */
void wrap_print(FILE *out, const char *text, int column, int indent);

#endif /* KWITNESS_WRAP_H */
