// SPDX-License-Identifier: GPL-2.0-only
#include "fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

struct unit {
	const char *name;
	enum field_type type;
	const char *format; /* of the value as an unsigned long long */
};

/* An enum and a flag have words instead of a format. */
static const struct unit units[] = {
	{ "ns", FIELD_SIGNED, "%lld ns" },   { "cpu", FIELD_SIGNED, "%lld" },  { "pid", FIELD_SIGNED, "%lld" },
	{ "count", FIELD_UNSIGNED, "%llu" }, { "flag", FIELD_UNSIGNED, NULL }, { "pointer", FIELD_TEXT, "0x%016llx" },
	{ "hex", FIELD_TEXT, "0x%llx" },     { "enum", FIELD_TEXT, NULL },
};

static const struct unit *find_unit(const char *text)
{
	size_t length = strcspn(text, "(");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == length && !strncmp(units[i].name, text, length))
			return &units[i];
	return NULL;
}

/* The names of an enum, "a|b|c)", or NULL for other units. */
static const char *enum_names(const struct field *field)
{
	return strncmp(field->unit, "enum(", 5) ? NULL : field->unit + 5;
}

static bool unit_is_valid(const struct field *field)
{
	size_t length = strlen(field->unit);
	const char *names = enum_names(field);

	if (!find_unit(field->unit))
		return false;
	if (!names)
		return !strchr(field->unit, '(') && strcmp(field->unit, "enum");
	return strcspn(names, ")") == strlen(names) - 1 && field->unit[length - 2] != '(' && !strstr(names, "||") &&
	       names[0] != '|' && field->unit[length - 2] != '|';
}

static int parse_field(const char *text, size_t length, struct field *field)
{
	size_t name_length = strspn(text, NAME_CHARACTERS);
	size_t unit_length = length - name_length - 1;

	if (!name_length || text[name_length] != ':' || name_length >= length || name_length >= FIELD_NAME_LEN ||
	    unit_length >= FIELD_UNIT_LEN)
		return -EINVAL;
	snprintf(field->name, sizeof(field->name), "%.*s", (int)name_length, text);
	snprintf(field->unit, sizeof(field->unit), "%.*s", (int)unit_length, text + name_length + 1);
	return unit_is_valid(field) ? 0 : -EINVAL;
}

int fields_parse(const char *spec, struct field *fields, size_t max)
{
	size_t count = 0;

	for (const char *text = spec + strspn(spec, " "); *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " ");

		if (count == max || parse_field(text, length, &fields[count]))
			return -EINVAL;
		count++;
		text += length;
	}
	return count;
}

int fields_find(const struct field *fields, int count, const char *name, size_t length)
{
	for (int i = 0; i < count; i++)
		if (strlen(fields[i].name) == length && !strncmp(fields[i].name, name, length))
			return i;
	return -1;
}

enum field_type field_type(const struct field *field)
{
	return find_unit(field->unit)->type;
}

static void print_enum(FILE *out, const char *names, __u64 value)
{
	for (__u64 i = 0; *names && *names != ')'; i++) {
		size_t length = strcspn(names, "|)");

		if (i == value) {
			fprintf(out, "%.*s", (int)length, names);
			return;
		}
		names += length + (names[length] == '|');
	}
	fprintf(out, "unknown(%llu)", (unsigned long long)value);
}

void field_print(FILE *out, const struct field *field, __u64 value)
{
	const struct unit *unit = find_unit(field->unit);
	const char *names = enum_names(field);

	if (names)
		print_enum(out, names, value);
	else if (unit->format)
		fprintf(out, unit->format, (unsigned long long)value);
	else
		fputs(value ? "yes" : "no", out);
}

static int scan_enum(const char *names, const char *text, __u64 *value)
{
	for (__u64 i = 0; *names && *names != ')'; i++) {
		size_t length = strcspn(names, "|)");

		if (strlen(text) == length && !strncmp(names, text, length)) {
			*value = i;
			return 0;
		}
		names += length + (names[length] == '|');
	}
	return -EINVAL;
}

int field_scan(const struct field *field, const char *text, __u64 *value)
{
	const char *names = enum_names(field);
	char *end;

	if (names)
		return scan_enum(names, text, value);
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno || end == text || *end ? -EINVAL : 0;
}

void print_comm(FILE *out, const char comm[RECORD_COMM_LEN])
{
	for (size_t i = 0; i < RECORD_COMM_LEN && comm[i]; i++)
		fputc(iscntrl((unsigned char)comm[i]) ? '?' : comm[i], out);
}

static bool print_own(FILE *out, const char *name, size_t length, const struct violation_record *record)
{
	if (length == 3 && !strncmp(name, "pid", length))
		fprintf(out, "%u", record->pid);
	else if (length == 4 && !strncmp(name, "tgid", length))
		fprintf(out, "%u", record->tgid);
	else if (length == 4 && !strncmp(name, "comm", length))
		print_comm(out, record->comm);
	else if (length == 3 && !strncmp(name, "cpu", length))
		fprintf(out, "%u", record->cpu);
	else
		return false;
	return true;
}

void fields_message(FILE *out, const char *message, const char *spec, const struct violation_record *record)
{
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(spec, fields, RECORD_NR_VALUES);

	while (*message) {
		size_t text = strcspn(message, "{"), name;
		int position;

		fprintf(out, "%.*s", (int)text, message);
		message += text;
		if (!*message)
			return;
		name = strcspn(message + 1, "}");
		position = fields_find(fields, count, message + 1, name);
		if (position >= 0)
			field_print(out, &fields[position], record->values[position]);
		else if (!print_own(out, message + 1, name, record))
			fprintf(out, "{%.*s}", (int)name, message + 1);
		message += 1 + name + (message[1 + name] == '}');
	}
}
