// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <errno.h>

#include "fields.h"

static void test_parse(void **state)
{
	struct field fields[3];

	(void)state;
	assert_int_equal(fields_parse("kind:enum(a|bc) total_before:ns  mm:pointer", fields, 3), 3);
	assert_string_equal(fields[0].name, "kind");
	assert_string_equal(fields[0].unit, "enum(a|bc)");
	assert_string_equal(fields[1].name, "total_before");
	assert_string_equal(fields[1].unit, "ns");
	assert_string_equal(fields[2].unit, "pointer");
	assert_int_equal(fields_parse("", fields, 3), 0);
}

static void test_parse_rejects(void **state)
{
	static const char *const malformed[] = {
		"a",
		":ns",
		"a:",
		"a:parsec",
		"a:ns(1)",
		"a:enum",
		"a:enum()",
		"a:enum(b",
		"a:enum(|)",
		"a:enum(b|)",
		"a:enum(b||c)",
		"a:enum(b)c",
		"A:ns",
		"a b:ns",
		"a:ns b:ns c:ns d:ns",
		"a_name_that_is_longer_than_any_field_may_have:ns",
		"a:enum(bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb)",
	};
	struct field fields[3];

	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		if (fields_parse(malformed[i], fields, 3) != -EINVAL)
			fail_msg("\"%s\" was taken", malformed[i]);
}

static void prints(const char *unit, __u64 value, const char *expected)
{
	struct field field = { .name = "x" };
	struct text text;

	snprintf(field.unit, sizeof(field.unit), "%s", unit);
	field_print(text_begin(&text), &field, value);
	assert_string_equal(text_end(&text), expected);
	free(text.text);
}

static void test_print(void **state)
{
	(void)state;
	prints("ns", 4000000, "4000000 ns");
	prints("ns", -1, "-1 ns");
	prints("count", UINT64_MAX, "18446744073709551615");
	prints("pointer", 0xffff888100000000, "0xffff888100000000");
	prints("pointer", 0, "0x0000000000000000");
	prints("hex", 0x1f, "0x1f");
	prints("cpu", 3, "3");
	prints("cpu", -1, "-1");
	prints("pid", 4194304, "4194304");
	prints("flag", 0, "no");
	prints("flag", 1, "yes");
	prints("enum(a|bc|d)", 0, "a");
	prints("enum(a|bc|d)", 1, "bc");
	prints("enum(a|bc|d)", 2, "d");
	prints("enum(a|bc|d)", 3, "unknown(3)");
	prints("enum(a|bc|d)", UINT64_MAX, "unknown(18446744073709551615)");
}

static void scans(const char *unit, const char *text, __u64 expected)
{
	struct field field = { .name = "x" };
	__u64 value;

	snprintf(field.unit, sizeof(field.unit), "%s", unit);
	assert_int_equal(field_scan(&field, text, &value), 0);
	assert_int_equal(value, expected);
}

static void does_not_scan(const char *unit, const char *text)
{
	struct field field = { .name = "x" };
	__u64 value;

	snprintf(field.unit, sizeof(field.unit), "%s", unit);
	assert_int_equal(field_scan(&field, text, &value), -EINVAL);
}

static void test_scan(void **state)
{
	(void)state;
	scans("ns", "-5", -5);
	scans("count", "18446744073709551615", UINT64_MAX);
	scans("pointer", "0xffff888100000000", 0xffff888100000000);
	scans("enum(a|bc|d)", "d", 2);
	does_not_scan("enum(a|bc|d)", "b");
	does_not_scan("enum(a|bc|d)", "");
	does_not_scan("enum(a|bc|d)", "1");
	does_not_scan("count", "18446744073709551616");
	does_not_scan("count", "12x");
	does_not_scan("count", "");
	does_not_scan("flag", "true");
}

static void test_type(void **state)
{
	static const struct field fields[] = { { "a", "ns" }, { "b", "count" }, { "c", "enum(x|y)" }, { "d", "cpu" } };

	(void)state;
	assert_int_equal(field_type(&fields[0]), FIELD_SIGNED);
	assert_int_equal(field_type(&fields[1]), FIELD_UNSIGNED);
	assert_int_equal(field_type(&fields[2]), FIELD_TEXT);
	assert_int_equal(field_type(&fields[3]), FIELD_SIGNED);
}

static void message_is(const char *message, const char *expected)
{
	const struct violation_record record = {
		.cpu = 2, .pid = 11, .tgid = 10, .comm = "a\033[31mb", .values = { 1, -7 }
	};
	struct text text;

	fields_message(text_begin(&text), message, "kind:enum(cat|dog) delay:ns", &record);
	assert_string_equal(text_end(&text), expected);
	free(text.text);
}

static void test_message(void **state)
{
	(void)state;
	message_is("plain", "plain");
	message_is("{kind} of {pid} on CPU {cpu}: {delay}.", "dog of 11 on CPU 2: -7 ns.");
	message_is("{tgid}{pid}", "1011");
	message_is("{comm}", "a?[31mb");
	message_is("{kin} {kinds} {}", "{kin} {kinds} {}");
	message_is("open {kind", "open dog");
}

static void test_comm_without_terminator(void **state)
{
	char comm[RECORD_COMM_LEN];
	struct text text;

	(void)state;
	memset(comm, 'x', sizeof(comm));
	print_comm(text_begin(&text), comm);
	assert_int_equal(strlen(text_end(&text)), RECORD_COMM_LEN);
	free(text.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_rejects),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_type),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_comm_without_terminator),
	};

	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
