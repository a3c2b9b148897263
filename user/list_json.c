// SPDX-License-Identifier: GPL-2.0-only
#include "list.h"

#include "fields.h"
#include "json_text.h"

/* An object of two strings. */
static struct json_object *pair(const char *first_key, const char *first, const char *second_key, const char *second)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, first_key, json_text(first));
	json_object_object_add(object, second_key, json_text(second));
	return object;
}

static struct json_object *exemptions_json(size_t id)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < NR_EXEMPTIONS; i++)
		if (exemptions[i].invariant == id)
			json_object_array_add(array, pair("name", exemptions[i].name, "why", exemptions[i].why));
	return array;
}

static struct json_object *losses_json(const struct invariant *invariant)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < NR_LOSSES; i++)
		if (list_loss_concerns(&losses[i], invariant))
			json_object_array_add(array, pair("name", losses[i].name, "what", losses[i].what));
	return array;
}

static struct json_object *values_json(const struct invariant *invariant)
{
	struct json_object *array = json_object_new_array();
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(invariant->values, fields, RECORD_NR_VALUES);

	for (int i = 0; i < count; i++)
		json_object_array_add(array, pair("name", fields[i].name, "unit", fields[i].unit));
	return array;
}

static void add_hook(const char *word, int length, void *array)
{
	json_object_array_add(array, json_object_new_string_len(word, length));
}

static struct json_object *invariant_json(size_t id)
{
	const struct invariant *invariant = &invariants[id];
	struct json_object *object = pair("id", invariant->id, "title", invariant->title);
	struct json_object *hooks = json_object_new_array();

	json_object_object_add(object, "law", json_text(invariant->law));
	json_object_object_add(object, "source", json_text(invariant->source));
	json_object_object_add(object, "soundness", json_text(invariant->soundness));
	json_object_object_add(object, "exemptions", exemptions_json(id));
	json_object_object_add(object, "losses", losses_json(invariant));
	list_for_each_word(invariant->hooks, add_hook, hooks);
	json_object_object_add(object, "hooks", hooks);
	json_object_object_add(object, "values", values_json(invariant));
	return object;
}

int list_write_json(FILE *out, const bool chosen[NR_INVARIANTS])
{
	struct json_object *document = json_object_new_object();
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (chosen[i])
			json_object_array_add(array, invariant_json(i));
	json_object_object_add(document, "kwitness", json_text(KWITNESS_VERSION));
	json_object_object_add(document, "invariants", array);
	return json_write(out, document);
}
