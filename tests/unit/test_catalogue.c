// SPDX-License-Identifier: GPL-2.0-only
/* A row of bpf/invariants.def that is incomplete or contradicts another one fails here. */
#include "unit.h"

#include <ctype.h>
#include <fnmatch.h>

#include "catalogue.h"
#include "fields.h"

static const char *const record_fields[] = { "pid", "tgid", "comm", "cpu" };
#define NR_RECORD_FIELDS (sizeof(record_fields) / sizeof(record_fields[0]))

static void is_a_text(const char *owner, const char *text)
{
	if (!text || strlen(text) < 3 || isspace(text[0]) || isspace(text[strlen(text) - 1]))
		fail_msg("%s has an empty text, or one with spaces around it: \"%s\"", owner, text);
}

static void test_every_invariant_has_all_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		const struct invariant *invariant = &invariants[i];

		is_a_text(invariant->id, invariant->title);
		is_a_text(invariant->id, invariant->law);
		is_a_text(invariant->id, invariant->source);
		is_a_text(invariant->id, invariant->soundness);
		is_a_text(invariant->id, invariant->hooks);
		is_a_text(invariant->id, invariant->values);
		is_a_text(invariant->id, invariant->message);
		assert_int_equal(fnmatch("[a-z]*.[a-z]*", invariant->id, 0), 0);
		assert_int_equal(strspn(invariant->id, "abcdefghijklmnopqrstuvwxyz0123456789_."),
				 strlen(invariant->id));
	}
}

static void test_ids_are_unique(void **state)
{
	(void)state;
	for (int i = 0; i < NR_INVARIANTS; i++)
		assert_int_equal(catalogue_find(invariants[i].id), i);
	assert_int_equal(catalogue_find("delayacct"), -1);
}

static void test_values_parse(void **state)
{
	struct field fields[RECORD_NR_VALUES];

	(void)state;
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		int count = fields_parse(invariants[i].values, fields, RECORD_NR_VALUES);

		if (count < 1)
			fail_msg("%s: its values are malformed, or more than %d", invariants[i].id, RECORD_NR_VALUES);
		for (int j = 0; j < count; j++) {
			assert_int_equal(fields_find(fields, count, fields[j].name, strlen(fields[j].name)), j);
			for (size_t k = 0; k < NR_RECORD_FIELDS; k++)
				assert_string_not_equal(fields[j].name, record_fields[k]);
		}
	}
}

static void test_events_parse(void **state)
{
	struct field fields[RECORDER_NR_ARGS];

	(void)state;
	for (size_t i = EVENT_NONE + 1; i < NR_EVENTS; i++) {
		is_a_text(event_kinds[i].name, event_kinds[i].text);
		if (fields_parse(event_kinds[i].args, fields, RECORDER_NR_ARGS) < 0)
			fail_msg("event %s: its arguments are malformed, or more than %d", event_kinds[i].name,
				 RECORDER_NR_ARGS);
	}
}

/* Whatever fields_message() does not know stays in braces. */
static void test_messages_have_only_known_placeholders(void **state)
{
	const struct violation_record record = { .comm = "name" };

	(void)state;
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		struct text text;

		fields_message(text_begin(&text), invariants[i].message, invariants[i].values, &record);
		text_lacks(text_end(&text), "{");
		text_lacks(text.text, "}");
		free(text.text);
	}
}

static void test_exemptions(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_EXEMPTIONS; i++) {
		is_a_text(exemptions[i].name, exemptions[i].why);
		assert_in_range(exemptions[i].invariant, 0, NR_INVARIANTS - 1);
		for (size_t j = 0; j < i; j++)
			assert_false(exemptions[j].invariant == exemptions[i].invariant &&
				     !strcmp(exemptions[j].name, exemptions[i].name));
	}
}

static void test_losses_concern_something(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_LOSSES; i++) {
		bool chosen[NR_INVARIANTS] = {};

		is_a_text(losses[i].name, losses[i].what);
		/* The reports use this name for what the ring buffer lost. */
		assert_string_not_equal(losses[i].name, "records");
		if (!catalogue_match(losses[i].invariants, chosen))
			fail_msg("loss %s: its glob %s matches no invariant", losses[i].name, losses[i].invariants);
	}
}

static void test_match(void **state)
{
	bool chosen[NR_INVARIANTS] = {};

	(void)state;
	assert_int_equal(catalogue_match("no.such", chosen), 0);
	assert_true(catalogue_match("delayacct.*", chosen) >= 2);
	assert_true(chosen[INV_delayacct_paired] && chosen[INV_delayacct_monotonic]);
	assert_int_equal(catalogue_match("cputime.monotonic", chosen), 1);
	assert_true(chosen[INV_delayacct_paired] && chosen[INV_cputime_monotonic]);
	assert_false(chosen[INV_cputimer_monotonic]);
	assert_int_equal(catalogue_match("*", chosen), NR_INVARIANTS);
}

static void test_switch(void **state)
{
	FILE *file = fopen("/proc/sys/kernel/task_delayacct", "re");
	int first = file ? fgetc(file) : EOF;

	(void)state;
	if (file)
		fclose(file);
	assert_null(catalogue_switched_off("cputime.monotonic"));
	assert_int_equal(catalogue_switched_off("delayacct.paired") != NULL, first == '0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_invariant_has_all_texts),
		cmocka_unit_test(test_ids_are_unique),
		cmocka_unit_test(test_values_parse),
		cmocka_unit_test(test_events_parse),
		cmocka_unit_test(test_messages_have_only_known_placeholders),
		cmocka_unit_test(test_exemptions),
		cmocka_unit_test(test_losses_concern_something),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_switch),
	};

	return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}
