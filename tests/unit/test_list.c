// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>

#include "commands.h"
#include "json_text.h"
#include "list.h"
#include "report.h"
#include "unit.h"

/* What kwitness list with up to two arguments writes to @fd; the caller frees it. */
static char *output_of(int fd, int expected_status, char *first, char *second)
{
	char *argv[] = { "kwitness list", first, second, NULL };
	char *path = file_with(""), *text = calloc(1, 1 << 16);
	int file = open(path, O_RDWR), before;

	fflush(NULL);
	before = dup(fd);
	dup2(file, fd);
	assert_int_equal(cmd_list(1 + (first != NULL) + (second != NULL), argv), expected_status);
	fflush(NULL);
	dup2(before, fd);
	close(before);
	assert_true(pread(file, text, (1 << 16) - 1, 0) > 0);
	close(file);
	unlink(path);
	free(path);
	return text;
}

static void test_table(void **state)
{
	char *text = output_of(STDOUT_FILENO, 0, NULL, NULL);

	(void)state;
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		text_contains(text, invariants[i].id);
		text_contains(text, invariants[i].title);
	}
	free(text);
}

static void test_glob(void **state)
{
	char *text = output_of(STDOUT_FILENO, 0, "delayacct.*", NULL);

	(void)state;
	text_contains(text, "delayacct.paired");
	text_contains(text, "delayacct.monotonic");
	text_lacks(text, "membarrier");
	text_lacks(text, "Soundness");
	free(text);
}

static void test_explanation(void **state)
{
	char *text = output_of(STDOUT_FILENO, 0, "delayacct.paired", NULL);

	(void)state;
	text_contains(text, "Law           Each __delayacct_*_end() closes a start");
	text_contains(text, "Source        Documentation/accounting");
	text_contains(text, "Soundness     A start leaves a stamp");
	text_contains(text, "first_sight: the task is older");
	text_contains(text, "delayacct_tasks_full: map delayacct_tasks is full");
	text_lacks(text, "cputimer");
	text_contains(text, "              delayacct_blkio_start\n");
	text_contains(text, "delayacct_wpcopy_end, where the kernel has task_delay_info.wpcopy_delay\n");
	text_contains(text, "in_iowait, flag\n");
	free(text);
}

static void test_unknown(void **state)
{
	char *text = output_of(STDERR_FILENO, EXIT_USAGE, "delayacct.pared", NULL);

	(void)state;
	text_contains(text, "no invariant matches 'delayacct.pared'; `kwitness list` shows them all");
	text_contains(text, "did you mean delayacct.paired?");
	text_lacks(text, "membarrier");
	free(text);
}

static void test_json(void **state)
{
	char *text = output_of(STDOUT_FILENO, 0, "--format=json", NULL);
	struct json_object *document = json_tokener_parse(text), *array, *id;

	(void)state;
	assert_non_null(document);
	assert_true(json_object_object_get_ex(document, "invariants", &array));
	assert_int_equal(json_object_array_length(array), NR_INVARIANTS);
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		assert_true(json_object_object_get_ex(json_object_array_get_idx(array, i), "id", &id));
		assert_string_equal(json_object_get_string(id), invariants[i].id);
	}
	json_object_put(document);
	free(text);
}

static void test_markdown(void **state)
{
	char *text = output_of(STDOUT_FILENO, 0, "--format=markdown", "mm_cpumask.running");

	(void)state;
	text_contains(text, "## `mm_cpumask.running`");
	text_contains(text, "- `init_mm`: next is init\\_mm");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	cmocka_unit_test(test_glob), cmocka_unit_test(test_explanation),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_json), cmocka_unit_test(test_markdown),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
