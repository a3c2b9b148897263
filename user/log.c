// SPDX-License-Identifier: GPL-2.0-only
#include "log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int log_verbosity;
static char *complaints; /* NULL: none */

void log_set_verbosity(int verbosity)
{
	log_verbosity = verbosity;
}

static void say(const char *prefix, const char *format, va_list args)
{
	fprintf(stderr, "kwitness: %s", prefix);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
}

void log_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("warning: ", format, args);
	va_end(args);
}

void log_step(const char *format, ...)
{
	va_list args;

	if (log_verbosity < 1)
		return;
	va_start(args, format);
	say("", format, args);
	va_end(args);
}

static int libbpf_print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *complaint, *all;
	va_list copy;

	va_copy(copy, args);
	if (level == LIBBPF_WARN && vasprintf(&complaint, format, copy) >= 0) {
		all = format_string("%s%s", log_libbpf_complaints(), complaint);
		free(complaint);
		free(complaints);
		complaints = all;
	}
	va_end(copy);
	return log_verbosity < 2 ? 0 : vfprintf(stderr, format, args);
}

void log_capture_libbpf(void)
{
	libbpf_set_print(libbpf_print);
}

void log_forget_libbpf(void)
{
	free(complaints);
	complaints = NULL;
}

const char *log_libbpf_complaints(void)
{
	return complaints ? complaints : "";
}

char *format_string(const char *format, ...)
{
	char *string = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&string, format, args) < 0)
		string = NULL;
	va_end(args);
	return string;
}
