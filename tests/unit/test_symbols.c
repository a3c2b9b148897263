// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <errno.h>

#include "symbols.h"

static const char kallsyms[] = "0000000000000000 T of_no_address\n"
			       "ffffffff81000200 T second\n"
			       "ffffffff81000100 T first\n"
			       "ffffffff81000180 d data_between\n"
			       "ffffffff81000300 t second.isra.0\n"
			       "ffffffff81000380 t second.constprop.0.cold\n"
			       "ffffffff81000400 t second_cousin\n"
			       "ffffffff81000480 t a_second\n"
			       "ffffffffc0000000 t in_module\t[sample]\n"
			       "ffffffffc0000100 T last\t[sample]\n";

static const char hidden[] = "0000000000000000 T first\n0000000000000000 t first.part.0\n0000000000000000 D data\n";

static void load(const char *content)
{
	char *path = file_with(content);

	assert_int_equal(symbols_load_from(path), 0);
	unlink(path);
	free(path);
}

static void prints(uint64_t address, const char *expected)
{
	struct text text;

	symbols_print(text_begin(&text), address);
	assert_string_equal(text_end(&text), expected);
	free(text.text);
}

static void count(const char *symbol, void *arg)
{
	(void)symbol;
	++*(size_t *)arg;
}

static void note(const char *symbol, void *arg)
{
	strcat(arg, symbol);
	strcat(arg, " ");
}

static void test_print(void **state)
{
	(void)state;
	load(kallsyms);
	assert_false(symbols_hidden());
	prints(0xffffffff81000100, "first+0x0");
	prints(0xffffffff810001a0, "first+0xa0");
	prints(0xffffffff81000212, "second+0x12");
	prints(0xffffffff81000301, "second.isra.0+0x1");
	prints(0xffffffffc0000010, "in_module+0x10 [sample]");
	prints(0xffffffffc0000104, "last+0x4 [sample]");
	symbols_free();
}

static void test_addresses_of_no_symbol(void **state)
{
	(void)state;
	load(kallsyms);
	prints(0x10, "0x0000000000000010");
	prints(0xffffffff810000ff, "0xffffffff810000ff");
	prints(0xffffffffffffffff, "0xffffffffffffffff");
	symbols_free();
	prints(0xffffffff81000100, "0xffffffff81000100");
}

static void test_copies(void **state)
{
	char found[128] = "";

	(void)state;
	load(kallsyms);
	assert_int_equal(symbols_copies("second", note, found), 3);
	assert_string_equal(found, "second second.isra.0 second.constprop.0.cold ");
	found[0] = '\0';
	assert_int_equal(symbols_copies("data_between", note, found), 0);
	assert_int_equal(symbols_copies("in_module", note, found), 1);
	assert_string_equal(found, "in_module ");
	symbols_free();
}

static void test_hidden(void **state)
{
	size_t found = 0;

	(void)state;
	load(hidden);
	assert_true(symbols_hidden());
	prints(0, "0x0000000000000000");
	prints(0xffffffff81000100, "0xffffffff81000100");
	assert_int_equal(symbols_copies("first", count, &found), 2);
	assert_int_equal(found, 2);
	symbols_free();
	assert_false(symbols_hidden());
}

static void test_odd_files(void **state)
{
	(void)state;
	assert_int_equal(symbols_load_from("/no/such/file"), -ENOENT);
	load("");
	prints(1, "0x0000000000000001");
	load("no symbols here\n\nffffffff81000100 T\n");
	prints(0xffffffff81000100, "0xffffffff81000100");
	symbols_free();
}

static void test_loads_once(void **state)
{
	(void)state;
	load(kallsyms);
	assert_int_equal(symbols_load(), 0);
	prints(0xffffffff81000100, "first+0x0");
	symbols_free();
}

/* The array grows while it is read. */
static void test_many_symbols(void **state)
{
	struct text text;
	FILE *out = text_begin(&text);

	(void)state;
	for (unsigned int i = 0; i < 20000; i++)
		fprintf(out, "%016llx t f%u\n", 0xffffffff90000000ULL - i * 16, i);
	load(text_end(&text));
	free(text.text);
	prints(0xffffffff90000008, "f0+0x8");
	prints(0xffffffff90000000 - 19999 * 16 + 15, "f19999+0xf");
	symbols_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),	     cmocka_unit_test(test_addresses_of_no_symbol),
		cmocka_unit_test(test_copies),	     cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_odd_files),    cmocka_unit_test(test_loads_once),
		cmocka_unit_test(test_many_symbols),
	};

	return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
