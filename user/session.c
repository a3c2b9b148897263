// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "kwitness.skel.h"
#include "log.h"
#include "membarrier.h" /* the layout of membarrier_calls */

/* Groups that the cputimer checks can watch: as many as fit into this, within the limits. */
#define CPUTIMER_GROUPS_BYTES (64 << 20)
#define CPUTIMER_MIN_GROUPS 256
#define CPUTIMER_MAX_GROUPS 16384

/* The kernel takes ring buffers of any power of two pages; larger ones would not be swapped out for anything. */
#define MAX_BUFFER_BYTES (64 << 20)

struct session {
	struct kwitness_bpf *skel;
	struct plan plan;
	struct bpf_link *links[PLAN_MAX_HOOKS]; /* by hook */
	struct ring_buffer *ring;
	int stats_fd; /* BPF_ENABLE_STATS, held for as long as we measure */
	unsigned int nr_cpus;
	uint64_t started_ns;
	const struct check_options *options;
	struct violation_report *violations;
	size_t nr_violations;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint32_t round_up_to_power_of_two(uint64_t bytes)
{
	uint32_t power = getpagesize();

	while (power < bytes && power < MAX_BUFFER_BYTES)
		power *= 2;
	return power;
}

static uint32_t buffer_bytes(const struct session *session)
{
	uint64_t evidence = sizeof(struct violation_record) + session->nr_cpus * (sizeof(struct history_record) + 8);

	if (session->options->buffer_bytes)
		return round_up_to_power_of_two(session->options->buffer_bytes);
	return round_up_to_power_of_two(evidence * session->options->max_violations * NR_INVARIANTS);
}

static void size_per_cpu_value(struct bpf_map *map, struct bpf_map *blank, uint32_t bytes)
{
	bpf_map__set_value_size(map, bytes);
	bpf_map__set_value_size(blank, bytes);
}

static void size_maps(struct session *session)
{
	struct kwitness_bpf *skel = session->skel;
	uint32_t cpus = session->nr_cpus;
	uint32_t group = skel->rodata->cputimer_group_size + cpus * skel->rodata->cputimer_cpu_size;
	uint32_t groups = CPUTIMER_GROUPS_BYTES / group;

	bpf_map__set_max_entries(skel->maps.counters, cpus);
	bpf_map__set_max_entries(skel->maps.recorders, cpus);
	bpf_map__set_max_entries(skel->maps.membarrier_cpus, cpus);
	bpf_map__set_max_entries(skel->maps.cputimer_cpus, cpus);
	bpf_map__set_max_entries(skel->maps.records, buffer_bytes(session));
	size_per_cpu_value(skel->maps.membarrier_calls, skel->maps.membarrier_blank,
			   cpus * sizeof(struct membarrier_view));
	size_per_cpu_value(skel->maps.cputimer_groups, skel->maps.cputimer_blank, group);
	if (groups < CPUTIMER_MIN_GROUPS)
		groups = CPUTIMER_MIN_GROUPS;
	if (groups > CPUTIMER_MAX_GROUPS)
		groups = CPUTIMER_MAX_GROUPS;
	bpf_map__set_max_entries(skel->maps.cputimer_groups, groups);
}

static int set_up(struct session *session)
{
	const struct check_options *options = session->options;
	struct kwitness_bpf *skel = session->skel;
	struct stat cgroup;

	skel->rodata->nr_cpus = session->nr_cpus;
	skel->rodata->max_records = options->max_violations;
	skel->rodata->attached_ns = now_ns();
	memcpy((void *)skel->rodata->invariant_chosen, options->chosen, sizeof(options->chosen));
	if (options->cgroup) {
		/* On 64-bit kernels the inode number of a cgroup-v2 directory is its id. */
		if (stat(options->cgroup, &cgroup))
			return -errno;
		skel->rodata->selected_cgroup = cgroup.st_ino;
	}
	size_maps(session);
	return 0;
}

static void want_programs(struct session *session)
{
	for (size_t i = 0; i < session->plan.nr_hooks; i++) {
		const struct hook *hook = &session->plan.hooks[i];

		if (hook->wanted && *hook->program)
			bpf_program__set_autoload(
				bpf_object__find_program_by_name(session->skel->obj, hook->program), true);
	}
	bpf_program__set_autoload(session->skel->progs.find_process, session->options->pid != 0);
}

static int open_object(struct session *session)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = session->options->btf);

	kwitness_bpf__destroy(session->skel);
	session->skel = kwitness_bpf__open_opts(&opts);
	return session->skel ? set_up(session) : -errno;
}

/* The program that libbpf says it could not load, or NULL. It names it as: prog 'NAME': ... */
static const char *complained_about(const struct session *session)
{
	struct bpf_program *program;
	char quoted[HOOK_NAME_LEN + 16];

	bpf_object__for_each_program(program, session->skel->obj) {
		snprintf(quoted, sizeof(quoted), "prog '%s'", bpf_program__name(program));
		if (strstr(log_libbpf_complaints(), quoted))
			return bpf_program__name(program);
	}
	return NULL;
}

static char *first_complaint(void)
{
	const char *complaint = log_libbpf_complaints();

	if (!strncmp(complaint, "libbpf: ", 8))
		complaint += 8;
	return strndup(complaint, strcspn(complaint, "\n"));
}

/* The verifier's own reason is the line before its statistics; without one, libbpf's complaint has to do. */
static char *verifier_reason(void)
{
	const char *complaints = log_libbpf_complaints();
	const char *end = strstr(complaints, "\nprocessed "), *line = end;

	if (!end)
		return first_complaint();
	while (line > complaints && line[-1] != '\n')
		line--;
	return strndup(line, end - line);
}

static const struct hook *hook_of_program(const struct session *session, const char *program)
{
	for (size_t i = 0; i < session->plan.nr_hooks; i++) {
		const struct hook *hook = &session->plan.hooks[i];

		if (!strcmp(hook->program, program))
			return hook;
	}
	return NULL;
}

/*
 * Gives up the one program that libbpf named and makes the object anew: libbpf loads all or nothing. Returns 0 if
 * another try makes sense.
 */
static int drop_program(struct session *session, int err)
{
	const char *named = complained_about(session);
	const struct hook *hook = named ? hook_of_program(session, named) : NULL;
	char *complaint;

	if (!hook)
		return err;
	complaint = verifier_reason();
	log_step("cannot load %s for %s: %s", named, hook->target, complaint);
	plan_give_up(&session->plan, named,
		     format_string("the kernel did not take %s on %s: %s", hook->how, hook->target, complaint));
	free(complaint);
	return 0;
}

static int load(struct session *session)
{
	int err;

	for (;;) {
		want_programs(session);
		log_forget_libbpf();
		err = kwitness_bpf__load(session->skel);
		/* Privilege is the caller's to have; what else a program cannot be loaded for is the program's. */
		if (!err || err == -EPERM)
			return err;
		err = drop_program(session, err);
		if (err)
			return err;
		err = open_object(session);
		if (err)
			return err;
	}
}

static void attach_hook(struct session *session, size_t i)
{
	struct hook *hook = &session->plan.hooks[i];
	struct bpf_program *program = bpf_object__find_program_by_name(session->skel->obj, hook->program);
	char *complaint;

	log_forget_libbpf();
	session->links[i] = bpf_program__attach(program);
	if (session->links[i])
		return;
	complaint = first_complaint();
	plan_give_up(&session->plan, hook->program,
		     format_string("%s cannot be attached to %s: %s", hook->how, hook->target,
				   *complaint ? complaint : strerror(errno)));
	free(complaint);
}

static void attach(struct session *session)
{
	for (size_t i = 0; i < session->plan.nr_hooks; i++)
		if (session->plan.hooks[i].wanted && *session->plan.hooks[i].program)
			attach_hook(session, i);
}

/* Runs on every CPU in turn: where we run, whatever ran with interrupts off before has ended. */
static void visit_every_cpu(const struct session *session)
{
	cpu_set_t before, one;

	sched_getaffinity(0, sizeof(before), &before);
	for (unsigned int cpu = 0; cpu < session->nr_cpus && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

/*
 * Waits until every call has ended that some probe may have seen half of. MEMBARRIER_CMD_GLOBAL is synchronize_rcu(),
 * which waits for every section with interrupts or preemption off; kernels with nohz_full CPUs refuse it.
 */
static void wait_for_calls_under_way(const struct session *session)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		visit_every_cpu(session);
}

/* Lets the iterator look for the process that -p names, in the caller's pid namespace. */
static int find_process(struct session *session)
{
	struct kwitness_bpf *skel = session->skel;
	struct bpf_link *link;
	struct stat namespace;
	char buffer[64];
	int fd;

	if (!session->options->pid)
		return 0;
	if (stat("/proc/self/ns/pid", &namespace))
		return -errno;
	skel->bss->wanted_pid = session->options->pid;
	skel->bss->wanted_pid_namespace = namespace.st_ino;
	link = bpf_program__attach_iter(skel->progs.find_process, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return skel->bss->selected_tgid ? 0 : -ESRCH;
}

/* Adds a history to the violation with its serial, which came just before it. */
static void add_history(struct session *session, const struct history_record *history)
{
	for (size_t i = session->nr_violations; i-- > 0;) {
		struct violation_report *violation = &session->violations[i];

		if (violation->record.serial != history->serial)
			continue;
		violation->histories = reallocarray(violation->histories, violation->nr_histories + 1,
						    sizeof(*violation->histories));
		violation->histories[violation->nr_histories++] = *history;
		return;
	}
}

static int receive(void *arg, void *data, size_t size)
{
	struct session *session = arg;
	const struct violation_record *record = data;

	if (size >= sizeof(struct history_record) && record->type == RECORD_HISTORY) {
		add_history(session, data);
	} else if (size >= sizeof(*record) && record->type == RECORD_VIOLATION) {
		session->violations = reallocarray(session->violations, session->nr_violations + 1,
						   sizeof(*session->violations));
		session->violations[session->nr_violations++] = (struct violation_report){ .record = *record };
	}
	return 0;
}

/* Why the session could not start: what failed, libbpf's own reason, and what this kernel's facts say. */
static char *explain(const struct session *session, const char *what, int err, enum exit_status *status)
{
	char *complaint = verifier_reason(), *explanation, *error;
	struct host host;
	char reason[128];
	bool prevents;

	libbpf_strerror(err, reason, sizeof(reason)); /* it has error codes of its own */
	host_read(&host, "", session->options->btf);
	explanation = host_explain(&host, err, &prevents);
	*status = prevents ? EXIT_CANNOT_CHECK : EXIT_USAGE;
	error = format_string("%s: %s%s%s%s%s%s", what, reason, *complaint ? " (" : "", complaint,
			      *complaint ? ")" : "", explanation ? "; " : "", explanation ? explanation : "");
	free(explanation);
	free(complaint);
	host_free(&host);
	return error;
}

static int start(struct session *session, const char **what)
{
	int err;

	*what = "cannot open the BPF object";
	err = open_object(session);
	if (err)
		return err;
	*what = "cannot read the kernel's BTF";
	err = plan_make(&session->plan, session->skel->obj, session->options->btf, session->options->chosen);
	if (err)
		return err;
	*what = "cannot load the BPF programs";
	err = load(session);
	if (err)
		return err;
	*what = "cannot find the process that -p names";
	err = find_process(session);
	if (err)
		return err;
	*what = "cannot read the ring buffer";
	session->ring = ring_buffer__new(bpf_map__fd(session->skel->maps.records), receive, session, NULL);
	return session->ring ? 0 : -errno;
}

static struct session *try_to_start(const struct check_options *options, char **error, enum exit_status *status)
{
	struct session *session = calloc(1, sizeof(*session));
	const char *what;
	int err;

	session->options = options;
	session->nr_cpus = libbpf_num_possible_cpus();
	session->stats_fd = -1;
	log_capture_libbpf();
	log_forget_libbpf();
	err = start(session, &what);
	if (err) {
		*error = explain(session, what, err, status);
		session_free(session);
		return NULL;
	}
	session->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	attach(session);
	wait_for_calls_under_way(session);
	session->started_ns = now_ns();
	session->skel->bss->checking = true;
	return session;
}

/*
 * A kernel that states in a file that it cannot be checked is not tried: it would refuse one program after another, each
 * with a reason that hides the real one. Returns the explanation, or NULL.
 */
static char *stated_obstacle(const char *btf)
{
	const struct fact *worst;
	char *obstacle = NULL;
	struct host host;

	host_read(&host, "", btf);
	worst = host_worst(&host);
	if (worst && worst->state == FACT_PREVENTS)
		obstacle = format_string("this kernel cannot be checked: %s: %s; %s", worst->name, worst->text,
					 worst->advice);
	host_free(&host);
	return obstacle;
}

struct session *session_start(const struct check_options *options, char **error, enum exit_status *status)
{
	*error = stated_obstacle(options->btf);
	if (*error) {
		*status = EXIT_CANNOT_CHECK;
		return NULL;
	}
	return try_to_start(options, error, status);
}

void session_poll(struct session *session)
{
	ring_buffer__consume(session->ring);
}

struct plan *session_plan(struct session *session)
{
	return &session->plan;
}

static void fill_probe(struct session *session, struct hook *hook, struct report *report)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(session->skel->obj, hook->program);
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	struct probe_report *probe = &report->probes[report->nr_probes];

	bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
	*probe = (struct probe_report){ .name = hook->target,
					.program = hook->program,
					.how = hook->how,
					.hits = info.run_cnt,
					.run_ns = info.run_time_ns,
					.recursion_misses = info.recursion_misses };
	hook->probe = report->nr_probes++;
}

static void fill_probes(struct session *session, struct report *report)
{
	report->probes = calloc(session->plan.nr_hooks, sizeof(*report->probes));
	for (size_t i = 0; i < session->plan.nr_hooks; i++)
		if (session->links[i])
			fill_probe(session, &session->plan.hooks[i], report);
}

struct collection {
	struct report *report;
	struct invariant_report *invariant;
	size_t *probes;
};

static void collect_hook(struct hook *hook, void *arg)
{
	struct collection *collection = arg;
	struct invariant_report *invariant = collection->invariant;

	if (!*hook->program) {
		invariant->available = false;
		if (!invariant->unavailable_reason)
			invariant->unavailable_reason = strdup(hook->reason);
		return;
	}
	if (hook->uncovered)
		invariant->uncovered = hook->uncovered;
	collection->probes[invariant->nr_probes++] = hook->probe;
	invariant->recursion_misses += collection->report->probes[hook->probe].recursion_misses;
}

static void fill_invariant(struct session *session, struct report *report, size_t i)
{
	struct invariant_report *invariant = &report->invariants[i];
	struct collection collection = { .report = report, .invariant = invariant };

	*invariant = (struct invariant_report){ .invariant = &invariants[i],
						.chosen = session->options->chosen[i],
						.required = session->options->required[i],
						.available = true };
	if (!invariant->chosen)
		return;
	collection.probes = calloc(PLAN_MAX_HOOKS, sizeof(*collection.probes));
	plan_for_each_hook(&session->plan, invariant->invariant, collect_hook, &collection);
	invariant->probes = collection.probes;
}

static void add_counters(struct report *report, const struct cpu_counters *counters)
{
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		report->invariants[i].evaluated += counters->invariants[i].evaluated;
		report->invariants[i].violations += counters->invariants[i].violations;
	}
	for (size_t i = 0; i < NR_EXEMPTIONS; i++)
		report->exempted[i] += counters->exempted[i];
	for (size_t i = 0; i < NR_LOSSES; i++)
		report->lost[i] += counters->lost[i];
	report->records_lost += counters->records_lost;
}

static void fill_counters(struct session *session, struct report *report)
{
	struct cpu_counters counters;

	for (uint32_t cpu = 0; cpu < session->nr_cpus; cpu++)
		if (!bpf_map__lookup_elem(session->skel->maps.counters, &cpu, sizeof(cpu), &counters,
					  sizeof(counters), 0))
			add_counters(report, &counters);
}

/* A switch of the kernel that was off explains why nothing was exercised. */
static void apply_switches(struct report *report)
{
	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		struct invariant_report *invariant = &report->invariants[i];
		const char *advice = invariant->evaluated ? NULL : catalogue_switched_off(invariant->invariant->id);

		if (!invariant->chosen || !invariant->available || !advice)
			continue;
		invariant->available = false;
		invariant->unavailable_reason = strdup(advice);
	}
}

static void fill_machine(struct session *session, struct report *report)
{
	struct utsname name;

	uname(&name);
	snprintf(report->kernel, sizeof(report->kernel), "%s", name.release);
	snprintf(report->arch, sizeof(report->arch), "%s", name.machine);
	report->cpus = session->nr_cpus;
	report->duration_ns = now_ns() - session->started_ns;
	report->cpu_time_ns = report->duration_ns * sysconf(_SC_NPROCESSORS_ONLN);
}

void session_stop(struct session *session, struct report *report)
{
	fill_machine(session, report);
	session->skel->bss->checking = false;
	wait_for_calls_under_way(session);
	session_poll(session);
	fill_probes(session, report);
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		fill_invariant(session, report, i);
	fill_counters(session, report);
	apply_switches(report);
	report->violations = session->violations;
	report->nr_violations = session->nr_violations;
	session->violations = NULL;
	for (size_t i = 0; i < session->plan.nr_hooks; i++) {
		bpf_link__destroy(session->links[i]);
		session->links[i] = NULL;
	}
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->plan.nr_hooks; i++)
		bpf_link__destroy(session->links[i]);
	ring_buffer__free(session->ring);
	if (session->stats_fd >= 0)
		close(session->stats_fd);
	plan_free(&session->plan);
	kwitness_bpf__destroy(session->skel);
	free(session);
}
