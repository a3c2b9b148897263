/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named numbers: the catalogue describes the values of a violation and the arguments of an event as "name:unit ...".
 * Units: ns, count, pointer, cpu, pid, flag, hex, enum(a|b|...).
 */
#ifndef KWITNESS_FIELDS_H
#define KWITNESS_FIELDS_H

#include <stdbool.h>
#include <stdio.h>

#include "record.h"

#define FIELD_NAME_LEN 32
#define FIELD_UNIT_LEN 96

struct field {
	char name[FIELD_NAME_LEN];
	char unit[FIELD_UNIT_LEN];
};

/* What a program that reads the value should take it for. */
enum field_type {
	FIELD_SIGNED, /* ns, cpu, pid: a difference of times can be negative, and CPU -1 means none */
	FIELD_UNSIGNED, /* count, flag (0 or 1) */
	FIELD_TEXT, /* pointer, hex, enum: what field_print() writes */
};

/* Parses @spec into at most @max fields; returns how many, or -EINVAL if it is malformed or does not fit. */
int fields_parse(const char *spec, struct field *fields, size_t max);

/* Returns the position of the field with this name (not terminated, @length bytes), or -1. */
int fields_find(const struct field *fields, int count, const char *name, size_t length);

enum field_type field_type(const struct field *field);

/*
 * Writes one value with its unit as a person reads it: "4000000 ns", "0xffff...", "3" for a CPU, "yes". Values of signed
 * units that are negative are printed as such, never as huge unsigned numbers. What an enum does not name is
 * "unknown(7)".
 */
void field_print(FILE *out, const struct field *field, __u64 value);

/*
 * The other way: the name of an enum, else a number (decimal, or hexadecimal after 0x). Returns 0, or -EINVAL if @text
 * is no value of @field.
 */
int field_scan(const struct field *field, const char *text, __u64 *value);

/*
 * Writes @message with each {name} replaced by the value of that name (or by the record's pid, tgid, comm, cpu).
 * An unknown name is written as it stands: the unit tests reject catalogue rows that have one.
 */
void fields_message(FILE *out, const char *message, const char *spec, const struct violation_record *record);

/* Writes the task's name without the control characters that a task may put into it. */
void print_comm(FILE *out, const char comm[RECORD_COMM_LEN]);

#endif /* KWITNESS_FIELDS_H */
