// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"
#include "wrap.h"

static void wraps(const char *input, int column, int indent, const char *expected)
{
	struct text text;

	wrap_print(text_begin(&text), input, column, indent);
	assert_string_equal(text_end(&text), expected);
	free(text.text);
}

static void test_short(void **state)
{
	(void)state;
	wraps("", 0, 0, "\n");
	wraps("one", 0, 4, "one\n");
	wraps("  one   two ", 0, 4, "one two\n");
}

static void test_breaks(void **state)
{
	(void)state;
	wraps("ab cd", WRAP_WIDTH - 5, 2, "ab cd\n");
	wraps("ab cd", WRAP_WIDTH - 4, 2, "ab\n  cd\n");
	wraps("ab cd", WRAP_WIDTH, 2, "ab\n  cd\n");
}

static void test_long_word(void **state)
{
	char word[WRAP_WIDTH + 10], input[WRAP_WIDTH + 20], expected[WRAP_WIDTH + 20];

	(void)state;
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	snprintf(input, sizeof(input), "a %s b", word);
	snprintf(expected, sizeof(expected), "a\n %s\n b\n", word);
	wraps(input, 0, 1, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_breaks),
		cmocka_unit_test(test_long_word),
	};

	return cmocka_run_group_tests_name("wrap", tests, NULL, NULL);
}
