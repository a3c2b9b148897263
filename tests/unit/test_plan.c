// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <errno.h>

#include "kwitness.skel.h"
#include "plan.h"
#include "symbols.h"

/* A kernel that never was: it has whatever the programs want, but for what a test takes away. */
struct kernel {
	const char *without; /* function or trace event */
	const char *members; /* of struct task_delay_info, separated by spaces */
	const char *kallsyms;
};

#define ALL_MEMBERS "blkio_delay wpcopy_delay irq_delay"
#define SOME_KALLSYMS "ffffffff81000000 T _stext\n"

static struct kwitness_bpf *skeleton;
static struct plan plan;

static int open_skeleton(void **state)
{
	(void)state;
	libbpf_set_print(NULL);
	skeleton = kwitness_bpf__open();
	return skeleton ? 0 : -1;
}

static int close_skeleton(void **state)
{
	(void)state;
	kwitness_bpf__destroy(skeleton);
	return 0;
}

/* In BTF a function has a prototype, and a trace event is a typedef of a pointer to one. */
static void add_target(struct btf *btf, int prototype, const char *section)
{
	const char *target = strchr(section, '/') + 1;
	char name[128];

	if (strstr(section, "tp_btf/")) {
		snprintf(name, sizeof(name), "btf_trace_%s", target);
		assert_true(btf__add_typedef(btf, name, btf__add_ptr(btf, prototype)) > 0);
	} else if (btf__find_by_name_kind(btf, target, BTF_KIND_FUNC) < 0) {
		assert_true(btf__add_func(btf, target, BTF_FUNC_GLOBAL, prototype) > 0);
	}
}

static void add_targets(struct btf *btf, const char *without)
{
	int prototype = btf__add_func_proto(btf, 0);
	struct bpf_program *program;

	bpf_object__for_each_program (program, skeleton->obj) {
		const char *section = bpf_program__section_name(program);

		if (!without || strcmp(strchr(section, '/') + 1, without))
			add_target(btf, prototype, section);
	}
}

static void add_delay_info(struct btf *btf, const char *members)
{
	char *names = strdup(members), *rest = NULL;
	int number = btf__add_int(btf, "long", 8, 0), offset = 0;

	assert_true(btf__add_struct(btf, "task_delay_info", 64) > 0);
	for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		assert_int_equal(btf__add_field(btf, name, number, offset, 0), 0);
		offset += 64;
	}
	free(names);
}

/* Writes the kernel's BTF to a new file; the caller unlinks and frees the path. */
static char *btf_file(const struct kernel *kernel)
{
	struct btf *btf = btf__new_empty();
	char *path = file_with("");
	const void *raw;
	FILE *file;
	uint32_t size;

	assert_non_null(btf);
	add_targets(btf, kernel->without);
	add_delay_info(btf, kernel->members ? kernel->members : ALL_MEMBERS);
	raw = btf__raw_data(btf, &size);
	assert_non_null(raw);
	file = fopen(path, "w");
	assert_int_equal(fwrite(raw, 1, size, file), size);
	fclose(file);
	btf__free(btf);
	return path;
}

static void load_symbols(const char *kallsyms)
{
	char *path = file_with(kallsyms);

	assert_int_equal(symbols_load_from(path), 0);
	unlink(path);
	free(path);
}

/* Makes the plan for @kernel and the invariants that match @glob. */
static void make(const struct kernel *kernel, const char *glob)
{
	char *path = btf_file(kernel);
	bool chosen[NR_INVARIANTS] = {};

	load_symbols(kernel->kallsyms ? kernel->kallsyms : SOME_KALLSYMS);
	assert_true(catalogue_match(glob, chosen) > 0);
	assert_int_equal(plan_make(&plan, skeleton->obj, path, chosen), 0);
	unlink(path);
	free(path);
}

static int drop_plan(void **state)
{
	(void)state;
	plan_free(&plan);
	symbols_free();
	return 0;
}

static const struct hook *hook(const char *name)
{
	const struct hook *found = plan_find(&plan, name);

	if (!found)
		fail_msg("the plan has no hook %s", name);
	return found;
}

static void is_served(const char *name, const char *target, const char *how)
{
	const struct hook *served = hook(name);

	assert_string_equal(served->program, name);
	assert_string_equal(served->target, target);
	assert_string_equal(served->how, how);
	assert_null(served->reason);
}

static void is_missing(const char *name, const char *reason)
{
	const struct hook *missing = hook(name);

	assert_string_equal(missing->program, "");
	text_contains(missing->reason, reason);
}

/* Every hook that the catalogue names has a program; a typing error in either would end here. */
static void test_everything_is_there(void **state)
{
	(void)state;
	make(&(struct kernel){}, "*");
	assert_true(plan.nr_hooks > 0);
	for (size_t i = 0; i < plan.nr_hooks; i++) {
		if (plan.hooks[i].reason)
			fail_msg("%s: %s", plan.hooks[i].name, plan.hooks[i].reason);
		assert_true(*plan.hooks[i].program);
		assert_true(plan.hooks[i].wanted);
		assert_null(plan.hooks[i].uncovered);
	}
	is_served("cputime_adjust_entry", "cputime_adjust", "fentry");
	is_served("cputime_adjust_exit", "cputime_adjust", "fexit");
	is_served("sched_switch", "sched_switch", "tp_btf");
}

/* Every program but the one that serves -p stands in the catalogue: the others would never be loaded. */
static void test_every_program_is_planned(void **state)
{
	struct bpf_program *program;

	(void)state;
	make(&(struct kernel){}, "*");
	bpf_object__for_each_program (program, skeleton->obj) {
		const char *name = bpf_program__name(program);
		bool planned = program == skeleton->progs.find_process;

		for (size_t i = 0; i < plan.nr_hooks; i++)
			planned |= !strcmp(plan.hooks[i].program, name);
		if (!planned)
			fail_msg("no hook of the catalogue is served by %s", name);
	}
}

/* Hooks of what was not chosen are in the plan, for `kwitness doctor`, but not wanted. */
static void test_chosen(void **state)
{
	(void)state;
	make(&(struct kernel){}, "cputime.*");
	assert_true(hook("cputime_adjust_entry")->wanted);
	assert_false(hook("sched_switch")->wanted);
	assert_null(hook("sched_switch")->reason);
	assert_null(plan_find(&plan, "no_such_hook"));
}

/* A hook that two invariants stand on is wanted if either is chosen, wherever it stands in the catalogue. */
static void test_chosen_by_one_of_two(void **state)
{
	(void)state;
	make(&(struct kernel){}, "delayacct.paired");
	assert_true(hook("delayacct_blkio_end")->wanted);
	assert_false(hook("delayacct_irq")->wanted);
}

static void test_inlined(void **state)
{
	(void)state;
	make(&(struct kernel){ .without = "cputime_adjust" }, "*");
	is_missing("cputime_adjust_entry", "cputime_adjust() is inlined or not part of this kernel");
	is_missing("cputime_adjust_exit", "cputime_adjust() is inlined");
}

static void test_only_as_copy(void **state)
{
	(void)state;
	make(&(struct kernel){ .without = "ipi_mb",
			       .kallsyms = "ffffffff81000000 t ipi_mb.isra.0\n"
					   "ffffffff81000100 t ipi_mb.isra.0.cold\n"
					   "ffffffff81000200 t ipi_mb.constprop.0\n" },
	     "*");
	is_missing("ipi_mb", "exists only as ipi_mb.isra.0, ipi_mb.constprop.0, whose arguments");
	text_lacks(hook("ipi_mb")->reason, "cold");
}

static void test_not_in_btf(void **state)
{
	(void)state;
	make(&(struct kernel){ .without = "ipi_mb", .kallsyms = "ffffffff81000000 t ipi_mb\n" }, "*");
	is_missing("ipi_mb", "ipi_mb() is not in BTF");
}

/* The function is there, and so are copies of it that a probe on it does not see. */
static void test_uncovered_copies(void **state)
{
	(void)state;
	make(&(struct kernel){ .kallsyms = "ffffffff81000000 t ipi_mb\n"
					   "ffffffff81000100 t ipi_mb.constprop.0\n"
					   "ffffffff81000200 t ipi_mb.cold\n"
					   "ffffffff81000300 t ipi_mb_other\n" },
	     "*");
	is_served("ipi_mb", "ipi_mb", "fentry");
	assert_string_equal(hook("ipi_mb")->uncovered, "ipi_mb.constprop.0");
	assert_null(hook("ipi_rseq")->uncovered);
}

static void test_no_trace_event(void **state)
{
	(void)state;
	make(&(struct kernel){ .without = "sched_switch" }, "*");
	is_missing("sched_switch", "this kernel has no trace event sched_switch");
}

static void count_hook(struct hook *used, void *arg)
{
	(void)used;
	++*(size_t *)arg;
}

static size_t count_hooks(enum invariant_id id)
{
	size_t count = 0;

	plan_for_each_hook(&plan, &invariants[id], count_hook, &count);
	return count;
}

static void test_conditional_hooks(void **state)
{
	size_t with_all;

	(void)state;
	make(&(struct kernel){}, "*");
	assert_non_null(plan_find(&plan, "delayacct_irq"));
	assert_true(plan_needs(&plan, "?delayacct_irq@task_delay_info.irq_delay"));
	with_all = count_hooks(INV_delayacct_monotonic);
	plan_free(&plan);

	make(&(struct kernel){ .members = "blkio_delay wpcopy_delay" }, "*");
	assert_null(plan_find(&plan, "delayacct_irq"));
	assert_non_null(plan_find(&plan, "delayacct_wpcopy_start"));
	assert_false(plan_needs(&plan, "?delayacct_irq@task_delay_info.irq_delay"));
	assert_int_equal(count_hooks(INV_delayacct_monotonic), with_all - 1);
}

static void test_needs(void **state)
{
	(void)state;
	make(&(struct kernel){}, "*");
	assert_true(plan_needs(&plan, "any_hook"));
	assert_true(plan_needs(&plan, "?any_hook@task_delay_info.blkio_delay"));
	assert_false(plan_needs(&plan, "?any_hook@task_delay_info.no_such_delay"));
	assert_false(plan_needs(&plan, "?any_hook@no_such_struct.blkio_delay"));
}

static void test_give_up(void **state)
{
	(void)state;
	make(&(struct kernel){}, "*");
	plan_give_up(&plan, "ipi_mb", strdup("the kernel did not take it"));
	is_missing("ipi_mb", "the kernel did not take it");
	is_served("ipi_rseq", "ipi_rseq", "fentry");
	/* It has been given up already, and another was never planned. */
	plan_give_up(&plan, "ipi_mb", strdup("again"));
	plan_give_up(&plan, "no_such_program", strdup("nobody"));
	is_missing("ipi_mb", "the kernel did not take it");
}

static void test_no_btf(void **state)
{
	const bool chosen[NR_INVARIANTS] = {};
	char *path = file_with("no BTF");

	(void)state;
	assert_int_equal(plan_make(&plan, skeleton->obj, "/no/such/file", chosen), -ENOENT);
	assert_int_equal(plan.nr_hooks, 0);
	assert_true(plan_make(&plan, skeleton->obj, path, chosen) < 0);
	unlink(path);
	free(path);
}

#define PLAN_TEST(test) cmocka_unit_test_teardown(test, drop_plan)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAN_TEST(test_everything_is_there),
		PLAN_TEST(test_every_program_is_planned),
		PLAN_TEST(test_chosen),
		PLAN_TEST(test_chosen_by_one_of_two),
		PLAN_TEST(test_inlined),
		PLAN_TEST(test_only_as_copy),
		PLAN_TEST(test_not_in_btf),
		PLAN_TEST(test_uncovered_copies),
		PLAN_TEST(test_no_trace_event),
		PLAN_TEST(test_conditional_hooks),
		PLAN_TEST(test_needs),
		PLAN_TEST(test_give_up),
		PLAN_TEST(test_no_btf),
	};

	return cmocka_run_group_tests(tests, open_skeleton, close_skeleton);
}
