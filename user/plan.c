// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "symbols.h"

/* A section name is "kind/target", with a leading '?' for programs that are loaded on demand only. */
static const char *section_target(const struct bpf_program *program)
{
	const char *slash = strchr(bpf_program__section_name(program), '/');

	return slash ? slash + 1 : "";
}

static bool section_is(const struct bpf_program *program, const char *kind)
{
	const char *section = bpf_program__section_name(program);

	section += section[0] == '?';
	return !strncmp(section, kind, strlen(kind)) && section[strlen(kind)] == '/';
}

static const char *section_how(const struct bpf_program *program)
{
	if (section_is(program, "fentry"))
		return "fentry";
	if (section_is(program, "fexit"))
		return "fexit";
	return strncmp(section_target(program), "kwitness_", strlen("kwitness_")) ? "tp_btf" : "kwitness tracepoint";
}

static bool serves(const struct bpf_program *program, const char *hook)
{
	const char *name = bpf_program__name(program);
	size_t len = strlen(hook);

	return !strncmp(name, hook, len) && (!name[len] || !strncmp(name + len, "__", 2));
}

struct copies {
	char *list; /* those that are not the function itself; NULL when there are none */
	bool exact;
	const char *function;
};

/* function.cold is the unlikely part of the function, not a copy of it. */
static void note_copy(const char *symbol, void *arg)
{
	struct copies *copies = arg;
	char *longer;

	if (!strcmp(symbol, copies->function)) {
		copies->exact = true;
		return;
	}
	if (strstr(symbol, ".cold"))
		return;
	longer = format_string("%s%s%s", copies->list ? copies->list : "", copies->list ? ", " : "", symbol);
	free(copies->list);
	copies->list = longer;
}

static struct copies find_copies(const char *function)
{
	struct copies copies = { .function = function };

	symbols_load();
	symbols_copies(function, note_copy, &copies);
	return copies;
}

/* Why BTF does not know @function, from the kernel's symbols. */
static char *why_not_in_btf(const char *function)
{
	struct copies copies = find_copies(function);
	char *reason;

	if (copies.exact)
		reason = format_string("%s() is not in BTF", function);
	else if (copies.list)
		reason = format_string("%s() exists only as %s, whose arguments BTF does not describe", function,
				       copies.list);
	else
		reason = format_string("%s() is inlined or not part of this kernel", function);
	free(copies.list);
	return reason;
}

/* NULL if @program's target is there, else the reason; the caller frees it. */
static char *why_unavailable(const struct plan *plan, const struct bpf_program *program)
{
	const char *target = section_target(program);
	char typedef_name[HOOK_NAME_LEN + 16];

	if (!section_is(program, "tp_btf"))
		return btf__find_by_name_kind(plan->btf, target, BTF_KIND_FUNC) >= 0 ? NULL : why_not_in_btf(target);
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", target);
	if (btf__find_by_name_kind(plan->btf, typedef_name, BTF_KIND_TYPEDEF) >= 0)
		return NULL;
	return format_string("this kernel has no trace event %s", target);
}

/* Takes the first program that serves the hook and whose target this kernel has. */
static void choose_program(const struct plan *plan, const struct bpf_object *object, struct hook *hook)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		if (!serves(program, hook->name))
			continue;
		free(hook->reason);
		snprintf(hook->program, sizeof(hook->program), "%s", bpf_program__name(program));
		snprintf(hook->target, sizeof(hook->target), "%s", section_target(program));
		hook->how = section_how(program);
		hook->reason = why_unavailable(plan, program);
		if (hook->reason)
			continue;
		if (!section_is(program, "tp_btf"))
			hook->uncovered = find_copies(hook->target).list;
		return;
	}
	if (!hook->reason)
		hook->reason = format_string("kwitness has no program for it");
	hook->program[0] = '\0';
}

struct hook *plan_find(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nr_hooks; i++)
		if (!strcmp(plan->hooks[i].name, name))
			return &plan->hooks[i];
	return NULL;
}

static bool btf_has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *structure = id < 0 ? NULL : btf__type_by_id(btf, id);
	const struct btf_member *members = structure ? btf_members(structure) : NULL;

	for (int i = 0; members && i < btf_vlen(structure); i++)
		if (!strcmp(btf__name_by_offset(btf, members[i].name_off), member))
			return true;
	return false;
}

/* Splits a word of the catalogue: the hook's name, and for "?hook@struct.member" the type and the member. */
static bool split_word(const char *word, char name[HOOK_NAME_LEN], char type[HOOK_NAME_LEN],
		       char member[HOOK_NAME_LEN])
{
	if (word[0] != '?') {
		snprintf(name, HOOK_NAME_LEN, "%s", word);
		return false;
	}
	return sscanf(word, "?%63[^@]@%63[^.].%63s", name, type, member) == 3;
}

bool plan_needs(const struct plan *plan, const char *word)
{
	char name[HOOK_NAME_LEN], type[HOOK_NAME_LEN], member[HOOK_NAME_LEN];

	return !split_word(word, name, type, member) || btf_has_member(plan->btf, type, member);
}

static struct hook *add_hook(struct plan *plan, const struct bpf_object *object, const char *word)
{
	char name[HOOK_NAME_LEN], type[HOOK_NAME_LEN], member[HOOK_NAME_LEN];
	struct hook *hook;

	split_word(word, name, type, member);
	hook = plan_find(plan, name);
	if (hook || plan->nr_hooks == PLAN_MAX_HOOKS)
		return hook;
	hook = &plan->hooks[plan->nr_hooks++];
	snprintf(hook->name, sizeof(hook->name), "%s", name);
	choose_program(plan, object, hook);
	return hook;
}

static void add_hooks(struct plan *plan, const struct bpf_object *object, const struct invariant *invariant,
		      bool wanted)
{
	char *words = strdup(invariant->hooks), *rest = NULL;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		struct hook *hook = plan_needs(plan, word) ? add_hook(plan, object, word) : NULL;

		if (hook)
			hook->wanted |= wanted;
	}
	free(words);
}

int plan_make(struct plan *plan, const struct bpf_object *object, const char *btf_path,
	      const bool chosen[NR_INVARIANTS])
{
	memset(plan, 0, sizeof(*plan));
	plan->btf = btf_path ? btf__parse(btf_path, NULL) : btf__load_vmlinux_btf();
	if (!plan->btf)
		return -errno;
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		add_hooks(plan, object, &invariants[i], chosen[i]);
	return 0;
}

void plan_give_up(struct plan *plan, const char *program, char *reason)
{
	for (size_t i = 0; i < plan->nr_hooks; i++) {
		struct hook *hook = &plan->hooks[i];

		if (strcmp(hook->program, program))
			continue;
		hook->program[0] = '\0';
		free(hook->reason);
		hook->reason = reason;
		return;
	}
	free(reason);
}

void plan_for_each_hook(struct plan *plan, const struct invariant *invariant,
			void (*use)(struct hook *hook, void *arg), void *arg)
{
	char *words = strdup(invariant->hooks), *rest = NULL;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char name[HOOK_NAME_LEN], type[HOOK_NAME_LEN], member[HOOK_NAME_LEN];
		struct hook *hook;

		split_word(word, name, type, member);
		hook = plan_needs(plan, word) ? plan_find(plan, name) : NULL;
		if (hook)
			use(hook, arg);
	}
	free(words);
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_hooks; i++) {
		free(plan->hooks[i].reason);
		free(plan->hooks[i].uncovered);
	}
	btf__free(plan->btf);
	memset(plan, 0, sizeof(*plan));
}
