// SPDX-License-Identifier: GPL-2.0-only
#include "known.h"
#include "unit.h"

#define FINDING "findings/blkio-start-wrong-task.json"

static struct violation_record blkio(void)
{
	return (struct violation_record){ .invariant = INV_delayacct_paired, .comm = "reader" };
}

static struct known_findings *read_text(const char *json, char **error)
{
	char *path = file_with(json);
	struct known_findings *known = known_read(path, error);

	unlink(path);
	free(path);
	return known;
}

static void test_the_finding_of_this_project(void **state)
{
	struct violation_record record = blkio();
	char *error = NULL;
	struct known_findings *known = known_read(FINDING, &error);

	(void)state;
	if (!known)
		fail_msg("%s", error);
	assert_string_equal(known_match(known, &record, "6.12.117+deb12-cloud-amd64"), "blkio-start-wrong-task");
	assert_null(known_match(known, &record, "6.1.0-57-cloud-amd64"));
	record.values[0] = 1;
	assert_null(known_match(known, &record, "6.12.117+deb12-cloud-amd64"));
	record.values[0] = 0;
	record.invariant = INV_delayacct_monotonic;
	assert_null(known_match(known, &record, "6.12.117+deb12-cloud-amd64"));
	known_free(known);
}

static void test_list_with_everything(void **state)
{
	static const char json[] =
		"[{\"finding\": \"one\", \"invariant\": \"cputime.monotonic\", \"kernels\": [\"5.*\", \"6.*\"],"
		"  \"values\": {\"utime\": -3, \"stime\": 18446744073709551615, \"prev_cputime\": \"0xffff888000000000\"}},"
		" {\"finding\": \"two\", \"invariant\": \"delayacct.paired\", \"kernels\": [\"*\"], \"comm\": \"read*\","
		"  \"summary\": \"s\", \"documentation\": \"d\"}]";
	struct violation_record record = { .invariant = INV_cputime_monotonic,
					   .values = { 9, -3, 9, UINT64_MAX, 0xffff888000000000 } };
	char *error = NULL;
	struct known_findings *known = read_text(json, &error);

	(void)state;
	if (!known)
		fail_msg("%s", error);
	assert_string_equal(known_match(known, &record, "6.1"), "one");
	assert_string_equal(known_match(known, &record, "5.10"), "one");
	assert_null(known_match(known, &record, "4.19"));
	record.values[1] = 3;
	assert_null(known_match(known, &record, "6.1"));
	record = blkio();
	assert_string_equal(known_match(known, &record, "6.1"), "two");
	strcpy(record.comm, "writer");
	assert_null(known_match(known, &record, "6.1"));
	known_free(known);
}

static void rejects(const char *json, const char *complaint)
{
	char *error = NULL;

	assert_null(read_text(json, &error));
	assert_non_null(error);
	text_contains(error, "--known");
	text_contains(error, complaint);
	free(error);
}

#define HEAD "{\"finding\": \"x\", \"invariant\": \"delayacct.paired\", \"kernels\": [\"*\"]"

static void test_rejects(void **state)
{
	(void)state;
	rejects("{", "/tmp/kwitness-unit-");
	rejects("", "/tmp/kwitness-unit-");
	rejects("[]", "no finding");
	rejects("\"text\"", "must be an object");
	rejects("[" HEAD "}, null]", "finding 2: a finding must be an object");
	rejects("{\"invariant\": \"delayacct.paired\", \"kernels\": [\"*\"]}", "\"finding\" must be its name");
	rejects("{\"finding\": \"x\", \"invariant\": \"no.such\", \"kernels\": [\"*\"]}", "no invariant \"no.such\"");
	rejects("{\"finding\": \"x\", \"kernels\": [\"*\"]}", "no invariant");
	rejects("{\"finding\": \"x\", \"invariant\": \"delayacct.paired\"}", "\"kernels\" must be");
	rejects("{\"finding\": \"x\", \"invariant\": \"delayacct.paired\", \"kernels\": []}", "at least one");
	rejects("{\"finding\": \"x\", \"invariant\": \"delayacct.paired\", \"kernels\": [1]}", "list of strings");
	rejects(HEAD ", \"kernel\": \"*\"}", "unknown key \"kernel\"");
	rejects(HEAD ", \"comm\": 1}", "\"comm\" must be a string");
	rejects(HEAD ", \"values\": []}", "\"values\" must be an object");
	rejects(HEAD ", \"values\": {\"sort\": \"blkio\"}}", "delayacct.paired has no value \"sort\"");
	rejects(HEAD ", \"values\": {\"kind\": \"tape\"}}", "value \"kind\" must be of enum(blkio|");
	rejects(HEAD ", \"values\": {\"kind\": null}}", "value \"kind\"");
	rejects(HEAD ", \"values\": {\"waker\": 1.5}}", "value \"waker\" must be of pid");
}

static void test_missing_file(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(known_read("/no/such/file", &error));
	text_contains(error, "/no/such/file");
	text_contains(error, "No such file");
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_finding_of_this_project),
		cmocka_unit_test(test_list_with_everything),
		cmocka_unit_test(test_rejects),
		cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
