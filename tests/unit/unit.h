/* SPDX-License-Identifier: GPL-2.0-only */
/* What the unit tests share: cmocka with the headers that it wants first, and texts to look into. */
#ifndef KWITNESS_TESTS_UNIT_H
#define KWITNESS_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A text that is written to @out until text_end(); free() @text. */
struct text {
	FILE *out;
	char *text;
	size_t size;
};

static inline FILE *text_begin(struct text *text)
{
	text->out = open_memstream(&text->text, &text->size);
	assert_non_null(text->out);
	return text->out;
}

static inline const char *text_end(struct text *text)
{
	assert_int_equal(fclose(text->out), 0);
	return text->text;
}

static inline void text_contains(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("\"%s\" is missing in:\n%s", part, text ? text : "(no text)");
}

static inline void text_lacks(const char *text, const char *part)
{
	if (!text || strstr(text, part))
		fail_msg("\"%s\" should not be in:\n%s", part, text ? text : "(no text)");
}

/* Writes @content to a new file; the caller unlinks and frees the path. */
static inline char *file_with(const char *content)
{
	char *path = strdup("/tmp/kwitness-unit-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
	return path;
}

#endif /* KWITNESS_TESTS_UNIT_H */
