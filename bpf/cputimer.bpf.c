// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of the process CPU timers; the laws, and why they are sound, are in cputimer.h. The hot one is
 * sched_stat_runtime: without an armed timer it publishes, reads one flag and leaves.
 */
#include "core.bpf.h"
#include "cputimer.h"

/* Low bit of a published signal_struct: its delta is in the started sums. */
#define PUBLISHED_COUNTED 1ULL

/* The accounting call that this CPU saw last: under way until the CPU's next probe. Scanned by other CPUs. */
struct cputimer_call {
	__u64 published; /* signal_struct, PUBLISHED_COUNTED; 0 while the rest is being written */
	__u64 delta; /* ns */
	__u32 field; /* enum cputimer_field */
	/* Read by this CPU only: what it takes to know that the delta was added. */
	__u32 counted;
	__u64 generation;
	__u64 task;
	__u64 task_start_time;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* one per CPU */
	__type(key, __u32);
	__type(value, struct cputimer_call);
} cputimer_cpus SEC(".maps");

/* What one CPU knows of a group. The sums and seen are read by all, the base by this CPU only. */
struct cputimer_cpu {
	__u64 started[NR_CPUTIMER_FIELDS];
	__u64 finished[NR_CPUTIMER_FIELDS];
	__u64 seen[NR_CPUTIMER_FIELDS]; /* highest value of the kernel that this CPU has looked at */
	__u64 base_generation; /* 0: no base */
	struct cputimer_sums base[NR_CPUTIMER_FIELDS];
	__u64 unlooked; /* accounting calls since this CPU's last look */
	__u64 padding[12]; /* no two CPUs' parts share a cache line, wherever the map puts the value */
};

struct cputimer_group {
	__u64 generation; /* when the timers were last started; never 0 */
	__u64 padding[15]; /* keeps the CPUs' parts off this line, which all read */
	struct cputimer_cpu cpus[];
};

/*
 * The groups whose timers are or were active, by signal_struct, from their first accounting until the group dies. The
 * value has nr_cpus parts: user space sets its size and that of cputimer_blank, which new groups are made from.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, sizeof(struct cputimer_group));
} cputimer_groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct cputimer_group));
} cputimer_blank SEC(".maps");

/* User space sizes the maps by this; it must see the same layout. */
const volatile __u32 cputimer_group_size = sizeof(struct cputimer_group);
const volatile __u32 cputimer_cpu_size = sizeof(struct cputimer_cpu);

static __always_inline struct cputimer_call *call_of(__u32 cpu)
{
	__u32 key = cpu;

	return bpf_map_lookup_elem(&cputimer_cpus, &key);
}

/* The barriers keep check and use in one register: the verifier does not follow a copy of it, nor one on the stack. */
static __always_inline struct cputimer_cpu *part_of(struct cputimer_group *group, __u64 cpu)
{
	barrier_var(cpu);
	if (cpu >= nr_cpus)
		return NULL;
	barrier_var(cpu);
	return &group->cpus[cpu];
}

static __always_inline struct cputimer_group *group_of(__u64 signal)
{
	struct cputimer_group *group = bpf_map_lookup_elem(&cputimer_groups, &signal);

	if (group && !group->generation)
		__sync_val_compare_and_swap(&group->generation, 0, bpf_ktime_get_ns());
	return group;
}

/*
 * A group is made by a task that has not exited, so before the group can be freed; see cputimer_group_free. If another
 * CPU was faster, its group serves as well.
 */
static __noinline int create_group(struct task_struct *task)
{
	__u64 signal = (__u64)task->signal;
	__u32 zero = 0;
	void *blank = bpf_map_lookup_elem(&cputimer_blank, &zero);

	if (blank && !task->exit_state)
		bpf_map_update_elem(&cputimer_groups, &signal, blank, BPF_NOEXIST);
	return 0;
}

/*
 * The last accounting call of this CPU has finished, since another probe runs here. Counts its delta as added if that is
 * certain. timers_active is read before the generation: if that is still the call's, no restart lies between, so the
 * timers were active all the time. The task may be gone meanwhile: then sighand is NULL, or the memory is another task's
 * with another start_time.
 */
static __always_inline void finish_call(struct cputimer_call *call, __u32 cpu)
{
	struct task_struct *task = (struct task_struct *)call->task;
	struct cputimer_group *group;
	struct cputimer_cpu *mine;

	if (!call->counted)
		return;
	call->counted = 0;
	if (!BPF_CORE_READ(task, signal, posix_cputimers.timers_active) || !BPF_CORE_READ(task, sighand) ||
	    BPF_CORE_READ(task, start_time) != call->task_start_time)
		return;
	group = group_of(call->published & ~PUBLISHED_COUNTED);
	if (!group || *(volatile __u64 *)&group->generation != call->generation)
		return;
	mine = part_of(group, cpu);
	if (mine && call->field < NR_CPUTIMER_FIELDS)
		mine->finished[call->field] += call->delta;
}

/* A full barrier between the publication and the look at timers_active: see activation in cputimer.h. */
static __always_inline void publish(struct cputimer_call *call, __u64 signal, enum cputimer_field field, __u64 delta)
{
	*(volatile __u64 *)&call->published = 0;
	*(volatile __u64 *)&call->delta = delta;
	*(volatile __u32 *)&call->field = field;
	__sync_lock_test_and_set(&call->published, signal);
}

static __always_inline void count_started(struct cputimer_call *call, struct cputimer_group *group, __u32 cpu,
					  struct task_struct *task)
{
	struct cputimer_cpu *mine = part_of(group, cpu);
	__u32 field = call->field;

	if (!mine || field >= NR_CPUTIMER_FIELDS)
		return;
	mine->started[field] += call->delta;
	*(volatile __u64 *)&call->published |= PUBLISHED_COUNTED;
	call->generation = group->generation;
	call->task = (__u64)task;
	call->task_start_time = task->start_time;
	call->counted = task->sighand != NULL;
}

struct cputimer_look {
	__u64 signal; /* handed over in memory, since a global function takes no pointer as a number */
	struct cputimer_sums sums[NR_CPUTIMER_FIELDS];
	__u64 seen_before[NR_CPUTIMER_FIELDS];
};

/* The kernel's sums, each read in one piece. */
static __always_inline void read_values(struct signal_struct *signal, struct cputimer_look *look)
{
	look->sums[CPUTIMER_utime].value = BPF_CORE_READ(signal, cputimer.cputime_atomic.utime.counter);
	look->sums[CPUTIMER_stime].value = BPF_CORE_READ(signal, cputimer.cputime_atomic.stime.counter);
	look->sums[CPUTIMER_sum_exec_runtime].value =
		BPF_CORE_READ(signal, cputimer.cputime_atomic.sum_exec_runtime.counter);
}

/* The greater of two values below 2^63, without a branch: the verifier would follow each, for every CPU and field. */
static __always_inline __u64 max_without_branch(__u64 a, __u64 b)
{
	__s64 ahead = a - b;

	return b + (ahead & ~(ahead >> 63));
}

/*
 * Reads the sums of a group. The order of the three steps is what makes the bounds sound. A global function, as is the
 * next one: the verifier takes each on its own instead of once for every path of every program that leads here.
 */
__noinline int take_look(struct cputimer_look *look)
{
	struct cputimer_group *group;

	if (!look)
		return 0;
	group = group_of(look->signal);
	if (!group)
		return 0;
	for (__u64 cpu = 0; cpu < nr_cpus; cpu++) {
		volatile struct cputimer_cpu *part = part_of(group, cpu);

		for (int field = 0; part && field < NR_CPUTIMER_FIELDS; field++) {
			look->sums[field].finished += part->finished[field];
			look->seen_before[field] = max_without_branch(part->seen[field], look->seen_before[field]);
		}
	}
	read_values((struct signal_struct *)look->signal, look);
	for (__u64 cpu = 0; cpu < nr_cpus; cpu++) {
		volatile struct cputimer_cpu *part = part_of(group, cpu);

		for (int field = 0; part && field < NR_CPUTIMER_FIELDS; field++)
			look->sums[field].started += part->started[field];
	}
	return 0;
}

/*
 * Lowers the finished sums of a base by the calls of other CPUs that may have missed, in our probe, that the timers are
 * active: they are not in the started sums but may yet be added. Runs after timers_active was seen set in this
 * generation, so no later call can miss it, and before the kernel's value is read, so a call that is replaced meanwhile
 * is in the value; a torn delta only widens the bounds.
 */
__noinline int allow_for_uncounted(__u32 this_cpu, struct cputimer_look *look)
{
	if (!look)
		return 0;
	for (__u32 cpu = 0; cpu < nr_cpus; cpu++) {
		volatile struct cputimer_call *call = call_of(cpu);

		if (!call || cpu == this_cpu || call->published != look->signal)
			continue;
		for (__u32 field = 0; field < NR_CPUTIMER_FIELDS; field++)
			if (call->field == field)
				look->sums[field].finished -= call->delta;
	}
	return 0;
}

static __always_inline void judge_monotonic(void *ctx, struct task_struct *task, struct cputimer_cpu *mine,
					    const struct cputimer_look *look, int field)
{
	__u64 value = look->sums[field].value;
	__u64 values[RECORD_NR_VALUES] = { field, look->seen_before[field], value, (__u64)task->signal };

	if (value > mine->seen[field])
		mine->seen[field] = value;
	if (!cputimer_went_back(look->seen_before[field], value))
		return;
	violation(ctx, INV_cputimer_monotonic, task, values);
}

static __always_inline bool judge_bounds(void *ctx, struct task_struct *task, const struct cputimer_sums *base,
					 const struct cputimer_sums *now, int field)
{
	__u64 values[RECORD_NR_VALUES] = {
		field,
		now->value,
		base->value,
		now->value - base->value,
		cputimer_at_least(base, now),
		cputimer_at_most(base, now),
		(__u64)task->signal,
	};

	if (cputimer_within_bounds(base, now))
		return true;
	violation(ctx, INV_cputimer_no_lost_update, task, values);
	return false;
}

static __always_inline bool judge_all_bounds(void *ctx, struct task_struct *task, struct cputimer_cpu *mine,
					     const struct cputimer_look *now)
{
	bool within = true;

	evaluated(INV_cputimer_no_lost_update);
	for (int field = 0; field < NR_CPUTIMER_FIELDS; field++)
		within &= judge_bounds(ctx, task, &mine->base[field], &now->sums[field], field);
	return within;
}

/*
 * Looks at the group of @task and judges it; takes a base where there is none of this generation. Runs before the call
 * of this CPU is counted: its delta cannot be in the kernel's value yet, so leaving it out keeps the bounds tight.
 */
static __noinline int judge_group(void *ctx, struct task_struct *task, struct cputimer_group *group, __u32 cpu)
{
	__u64 generation = *(volatile __u64 *)&group->generation;
	struct cputimer_cpu *mine = part_of(group, cpu);
	struct cputimer_look now = { .signal = (__u64)task->signal };
	struct cputimer_look slack = { .signal = (__u64)task->signal };
	bool rebase;

	if (!mine || !*(volatile unsigned int *)&task->signal->posix_cputimers.timers_active)
		return 0;
	rebase = mine->base_generation != generation;
	allow_for_uncounted(cpu, &slack);
	take_look(&now);
	record_event(EVENT_cputimer_look, task->pid, now.sums[CPUTIMER_utime].value, now.sums[CPUTIMER_stime].value,
		     now.sums[CPUTIMER_sum_exec_runtime].value);
	if (chosen(INV_cputimer_monotonic)) {
		evaluated(INV_cputimer_monotonic);
		for (int field = 0; field < NR_CPUTIMER_FIELDS; field++)
			judge_monotonic(ctx, task, mine, &now, field);
	}
	if (!chosen(INV_cputimer_no_lost_update))
		return 0;
	if (*(volatile __u64 *)&group->generation != generation) {
		exempt(EXEMPT_cputimer_no_lost_update_restarted);
		return 0;
	}
	/* What was lost stays lost: a new base, so that each CPU tells one breach once. */
	if (!rebase)
		rebase = !judge_all_bounds(ctx, task, mine, &now);
	for (int field = 0; rebase && field < NR_CPUTIMER_FIELDS; field++) {
		mine->base[field] = now.sums[field];
		mine->base[field].finished += slack.sums[field].finished;
	}
	mine->base_generation = generation;
	return 0;
}

/* With many CPUs a look reads many cache lines, so it is then taken at every few calls only. */
static __always_inline bool look_is_due(struct cputimer_cpu *mine)
{
	if (!checking || ++mine->unlooked <= nr_cpus / 8)
		return false;
	mine->unlooked = 0;
	return true;
}

static __always_inline void account_armed(void *ctx, struct cputimer_call *call, __u32 cpu, struct task_struct *task)
{
	struct cputimer_group *group;
	struct cputimer_cpu *mine;

	if (task->flags & PF_KTHREAD)
		return exempt(EXEMPT_cputimer_no_lost_update_kernel_thread);
	group = group_of((__u64)task->signal);
	if (!group) {
		create_group(task);
		group = group_of((__u64)task->signal);
	}
	if (!group) {
		if (!task->exit_state)
			lost(LOST_cputimer_groups_full);
		return;
	}
	record_event(EVENT_account_started, task->pid, call->field, call->delta, (__u64)task->signal);
	mine = part_of(group, cpu);
	if (mine && look_is_due(mine) && selected(task))
		judge_group(ctx, task, group, cpu);
	count_started(call, group, cpu, task);
}

/* An accounting call starts on this CPU. Interrupts are off, here and until the kernel has added the delta. */
static __always_inline int account(void *ctx, struct task_struct *task, enum cputimer_field field, __u64 delta)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cputimer_call *call = call_of(cpu);

	if (!call)
		return 0;
	finish_call(call, cpu);
	publish(call, (__u64)task->signal, field, delta);
	if (*(volatile unsigned int *)&task->signal->posix_cputimers.timers_active)
		account_armed(ctx, call, cpu, task);
	return 0;
}

SEC("?tp_btf/sched_stat_runtime")
int BPF_PROG(sched_stat_runtime, struct task_struct *task, u64 runtime)
{
	return account(ctx, task, CPUTIMER_sum_exec_runtime, runtime);
}

SEC("?fentry/account_user_time")
int BPF_PROG(account_user_time, struct task_struct *task, u64 cputime)
{
	return account(ctx, task, CPUTIMER_utime, cputime);
}

SEC("?fentry/account_guest_time")
int BPF_PROG(account_guest_time, struct task_struct *task, u64 cputime)
{
	return account(ctx, task, CPUTIMER_utime, cputime);
}

SEC("?fentry/account_system_index_time")
int BPF_PROG(account_system_index_time, struct task_struct *task, u64 cputime)
{
	return account(ctx, task, CPUTIMER_stime, cputime);
}

/* The only way to thread_group_start_cputime(), which may raise the sums. Under siglock, so one at a time per group. */
SEC("?fentry/cpu_clock_sample_group")
int BPF_PROG(cpu_clock_sample_group, int clock, struct task_struct *task, int start)
{
	bool active = task->signal->posix_cputimers.timers_active;
	struct cputimer_group *group;
	__u64 now;

	/* A bool argument: the rest of the register is not defined. */
	if (!(start & 0xff))
		return 0;
	group = group_of((__u64)task->signal);
	record_event(EVENT_cputimer_start, task->pid, active, group ? group->generation : 0, (__u64)task->signal);
	if (active || !group)
		return 0;
	now = bpf_ktime_get_ns();
	*(volatile __u64 *)&group->generation = now > group->generation ? now : group->generation + 1;
	return 0;
}

/*
 * A grace period after release_task(): when it is the leader's and nobody is left, every task of the group was released
 * at least that long ago. So no CPU is still inside an accounting call of theirs that could write to the element.
 */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(cputimer_group_free, struct task_struct *task)
{
	__u64 signal = (__u64)task->signal;

	if (task->group_leader == task && !task->signal->nr_threads)
		bpf_map_delete_elem(&cputimer_groups, &signal);
	return 0;
}
