// SPDX-License-Identifier: GPL-2.0-only
#include "known.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogue.h"
#include "fields.h"
#include "log.h"

struct finding {
	const char *name;
	enum invariant_id invariant;
	struct json_object *kernels; /* array of globs over the kernel's release */
	const char *comm; /* glob over the task's name, or NULL */
	bool fixed[RECORD_NR_VALUES]; /* these values must be equal */
	__u64 values[RECORD_NR_VALUES];
};

struct known_findings {
	struct json_object *root; /* owns every string */
	size_t count;
	struct finding findings[];
};

static const char *get_string(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

/* A misspelt key would make a finding match more than its author meant. */
static char *check_keys(struct json_object *object)
{
	static const char *const keys[] = { "finding", "invariant", "kernels",	    "values",
					    "comm",    "summary",   "documentation" };

	json_object_object_foreach (object, key, value) {
		size_t i = 0;

		while (i < sizeof(keys) / sizeof(keys[0]) && strcmp(key, keys[i]))
			i++;
		if (i == sizeof(keys) / sizeof(keys[0]))
			return format_string("unknown key \"%s\"", key);
		if (strcmp(key, "kernels") && strcmp(key, "values") && !json_object_is_type(value, json_type_string))
			return format_string("\"%s\" must be a string", key);
	}
	return NULL;
}

static char *read_kernels(struct finding *finding, struct json_object *object)
{
	if (!json_object_object_get_ex(object, "kernels", &finding->kernels) ||
	    !json_object_is_type(finding->kernels, json_type_array) || !json_object_array_length(finding->kernels))
		return format_string("\"kernels\" must be a list of globs over `uname -r`, with at least one");
	for (size_t i = 0; i < json_object_array_length(finding->kernels); i++)
		if (!json_object_is_type(json_object_array_get_idx(finding->kernels, i), json_type_string))
			return format_string("\"kernels\" must be a list of strings");
	return NULL;
}

static char *read_values(struct finding *finding, struct json_object *object)
{
	const struct invariant *invariant = &invariants[finding->invariant];
	struct field fields[RECORD_NR_VALUES];
	int count = fields_parse(invariant->values, fields, RECORD_NR_VALUES);
	struct json_object *values;

	if (!json_object_object_get_ex(object, "values", &values))
		return NULL;
	if (!json_object_is_type(values, json_type_object))
		return format_string("\"values\" must be an object");
	json_object_object_foreach (values, key, value) {
		int position = fields_find(fields, count, key, strlen(key));

		if (position < 0)
			return format_string("%s has no value \"%s\"; its values are: %s", invariant->id, key,
					     invariant->values);
		if (!value || field_scan(&fields[position], json_object_get_string(value), &finding->values[position]))
			return format_string("value \"%s\" must be of %s", key, fields[position].unit);
		finding->fixed[position] = true;
	}
	return NULL;
}

/* Returns what is wrong with the finding, or NULL. */
static char *read_finding(struct finding *finding, struct json_object *object)
{
	const char *id = get_string(object, "invariant");
	char *error;
	int invariant;

	if (!json_object_is_type(object, json_type_object))
		return format_string("a finding must be an object");
	error = check_keys(object);
	if (error)
		return error;
	finding->name = get_string(object, "finding");
	if (!finding->name || !*finding->name)
		return format_string("\"finding\" must be its name");
	invariant = id ? catalogue_find(id) : -1;
	if (invariant < 0)
		return format_string("no invariant \"%s\"; `kwitness list` shows them all", id ? id : "");
	finding->invariant = invariant;
	finding->comm = get_string(object, "comm");
	error = read_kernels(finding, object);
	return error ? error : read_values(finding, object);
}

static struct known_findings *read_findings(struct json_object *root, char **error)
{
	bool is_list = json_object_is_type(root, json_type_array);
	size_t count = is_list ? json_object_array_length(root) : 1;
	struct known_findings *known = calloc(1, sizeof(*known) + count * sizeof(known->findings[0]));

	known->root = root;
	*error = count ? NULL : format_string("it has no finding");
	while (!*error && known->count < count) {
		struct json_object *object = is_list ? json_object_array_get_idx(root, known->count) : root;

		*error = read_finding(&known->findings[known->count], object);
		known->count++;
	}
	return known;
}

static struct json_object *read_document(const char *path, char **problem)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct json_object *root;

	if (fd < 0) {
		*problem = strdup(strerror(errno));
		return NULL;
	}
	root = json_object_from_fd(fd);
	close(fd);
	if (!root) {
		const char *complaint = json_util_get_last_err() ?: "null";

		*problem = format_string("it is no JSON document: %.*s", (int)strcspn(complaint, "\n"), complaint);
	}
	return root;
}

struct known_findings *known_read(const char *path, char **error)
{
	char *problem = NULL;
	struct json_object *root = read_document(path, &problem);
	struct known_findings *known = root ? read_findings(root, &problem) : NULL;

	if (!problem)
		return known;
	if (known && known->count)
		*error = format_string("--known %s: finding %zu: %s", path, known->count, problem);
	else
		*error = format_string("--known %s: %s", path, problem);
	free(problem);
	known_free(known);
	return NULL;
}

static bool is_for_kernel(const struct finding *finding, const char *release)
{
	for (size_t i = 0; i < json_object_array_length(finding->kernels); i++)
		if (!fnmatch(json_object_get_string(json_object_array_get_idx(finding->kernels, i)), release, 0))
			return true;
	return false;
}

static bool explains(const struct finding *finding, const struct violation_record *record, const char *release)
{
	char comm[RECORD_COMM_LEN + 1];

	if (record->invariant != finding->invariant || !is_for_kernel(finding, release))
		return false;
	snprintf(comm, sizeof(comm), "%.*s", RECORD_COMM_LEN, record->comm);
	if (finding->comm && fnmatch(finding->comm, comm, 0))
		return false;
	for (size_t i = 0; i < RECORD_NR_VALUES; i++)
		if (finding->fixed[i] && finding->values[i] != record->values[i])
			return false;
	return true;
}

const char *known_match(const struct known_findings *known, const struct violation_record *record, const char *release)
{
	for (size_t i = 0; i < known->count; i++)
		if (explains(&known->findings[i], record, release))
			return known->findings[i].name;
	return NULL;
}

void known_free(struct known_findings *known)
{
	if (!known)
		return;
	json_object_put(known->root);
	free(known);
}
