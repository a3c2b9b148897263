/* SPDX-License-Identifier: GPL-2.0-only */
/* Text for JSON documents. */
#ifndef KWITNESS_JSON_TEXT_H
#define KWITNESS_JSON_TEXT_H

#include <json-c/json.h>
#include <stdio.h>

/*
 * A JSON string of @text. What is no UTF-8 becomes U+FFFD: names of tasks and arguments of commands may hold any bytes,
 * and the kernel cuts names after 15 of them.
 */
struct json_object *json_text(const char *text);

/* A string that is written piece by piece: write to what begin returns, then end. */
struct json_stream {
	FILE *out;
	char *text;
	size_t size;
};

FILE *json_stream_begin(struct json_stream *stream);
struct json_object *json_stream_end(struct json_stream *stream);

/* Writes the document indented, frees it and flushes. Returns 0 or -errno. */
int json_write(FILE *out, struct json_object *document);

#endif /* KWITNESS_JSON_TEXT_H */
