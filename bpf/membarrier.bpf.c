// SPDX-License-Identifier: GPL-2.0-only
/* Probes of membarrier(2); the law is in membarrier.h. */
#include "core.bpf.h"
#include "membarrier.h"

/* Per-CPU variable of kernel/sched/core.c. Weak: a kernel without it must not stop the other checks. */
extern const struct rq runqueues __ksym __weak;
/* Not in BTF; read with a helper. Weak: what it serves is a count, not a verdict. */
extern const void __num_online_cpus __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* one per CPU */
	__type(key, __u32);
	__type(value, struct membarrier_cpu);
} membarrier_cpus SEC(".maps");

/*
 * The calls under way: what each caller saw of every CPU when it entered. The value is an array of nr_cpus views; user
 * space sets its size, and that of membarrier_blank, which new entries are made from. Keyed by the task, since a caller
 * sleeps and migrates between entry and return.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, 8);
} membarrier_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 8);
} membarrier_blank SEC(".maps");

static __always_inline struct membarrier_cpu *membarrier_cpu_of(__u32 cpu)
{
	__u32 key = cpu; /* a loop's counter has to stay in a register */

	return bpf_map_lookup_elem(&membarrier_cpus, &key);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct membarrier_cpu *mine = membarrier_cpu_of(bpf_get_smp_processor_id());

	if (mine)
		mine->switches++;
	record_event(EVENT_sched_switch, next->pid, prev->pid, next->pid, (__u64)next->mm);
	return 0;
}

static __always_inline int handler_runs(enum membarrier_handler handler)
{
	struct membarrier_cpu *mine = membarrier_cpu_of(bpf_get_smp_processor_id());
	struct task_struct *current = bpf_get_current_task_btf();

	if (mine)
		mine->handlers[handler]++;
	record_event(EVENT_ipi, current->pid, handler, (__u64)current->mm, 0);
	return 0;
}

#define IPI_HANDLER(name)                                                                                               \
	SEC("?fentry/" #name)                                                                                           \
	int BPF_PROG(name, void *info)                                                                                  \
	{                                                                                                               \
		return handler_runs(HANDLER_##name);                                                                    \
	}

IPI_HANDLER(ipi_mb)
IPI_HANDLER(ipi_sync_core)
IPI_HANDLER(ipi_rseq)

static __always_inline struct task_struct *curr_of(__u32 cpu)
{
	const struct rq *rq = &runqueues ? bpf_per_cpu_ptr(&runqueues, cpu) : NULL;

	return rq ? rq->curr : NULL;
}

/* The order of the reads is what makes the law sound: switches before curr. */
static __always_inline void view_at_entry(struct membarrier_view *view, __u32 cpu, int flags)
{
	volatile struct membarrier_cpu *counts = membarrier_cpu_of(cpu);
	struct task_struct *curr;

	view->curr = 0;
	if (!counts)
		return;
	view->switches = counts->switches;
	curr = curr_of(cpu);
	if (!curr)
		return;
	view->curr = (__u64)curr;
	view->mm = (__u64)curr->mm;
	view->handlers = membarrier_handlers((const struct membarrier_cpu *)counts, flags);
}

/* The order of the reads is what makes the law sound: curr and its mm before switches. */
static __always_inline struct task_struct *view_at_exit(struct membarrier_view *view, __u32 cpu, int flags)
{
	volatile struct membarrier_cpu *counts = membarrier_cpu_of(cpu);
	struct task_struct *curr = curr_of(cpu);

	if (!counts || !curr)
		return NULL;
	view->curr = (__u64)curr;
	view->mm = (__u64)curr->mm;
	view->handlers = membarrier_handlers((const struct membarrier_cpu *)counts, flags);
	view->switches = counts->switches;
	return curr;
}

SEC("?fentry/membarrier_private_expedited")
int BPF_PROG(membarrier_private_expedited_entry, int flags, int cpu_id)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 key = (__u64)current;
	struct membarrier_view *views;
	__u32 zero = 0;
	void *blank;

	if (!checking || !selected(current))
		return 0;
	if (!&runqueues) {
		lost(LOST_runqueues_hidden);
		return 0;
	}
	blank = bpf_map_lookup_elem(&membarrier_blank, &zero);
	if (!blank)
		return 0;
	if (bpf_map_update_elem(&membarrier_calls, &key, blank, BPF_ANY)) {
		lost(LOST_membarrier_calls_full);
		return 0;
	}
	views = bpf_map_lookup_elem(&membarrier_calls, &key);
	if (!views)
		return 0;
	record_event(EVENT_membarrier_enter, current->pid, flags, cpu_id, (__u64)current->mm);
	for (__u32 cpu = 0; cpu < nr_cpus; cpu++)
		view_at_entry(&views[cpu], cpu, flags);
	return 0;
}

/* The cases in which membarrier() legally sends no IPI at all. True if one was counted. */
static __always_inline bool legally_skipped(struct task_struct *current, int flags)
{
	int online = 0;

	if (flags == MEMBARRIER_FLAG_SYNC_CORE)
		return false;
	if (current->mm->mm_users.counter == 1) {
		exempt(EXEMPT_membarrier_coverage_single_user);
		return true;
	}
	if (&__num_online_cpus)
		bpf_probe_read_kernel(&online, sizeof(online), &__num_online_cpus);
	if (online == 1) {
		exempt(EXEMPT_membarrier_coverage_one_cpu);
		return true;
	}
	return false;
}

struct membarrier_call {
	void *ctx;
	struct task_struct *caller;
	int flags;
	int cpu_id;
};

static __noinline int report_uncovered(struct membarrier_call *call, __u32 cpu, struct task_struct *missed,
				       const struct membarrier_view *entry, const struct membarrier_view *exit)
{
	__u64 values[RECORD_NR_VALUES] = {
		cpu,		 missed->pid,	call->flags, (__u64)(__s64)call->cpu_id,
		entry->switches, entry->handlers, exit->handlers,	    exit->mm,
	};

	violation(call->ctx, INV_membarrier_coverage, call->caller, values);
	return 0;
}

static __always_inline void judge_cpu(struct membarrier_call *call, __u32 cpu, const struct membarrier_view *entry)
{
	struct membarrier_view exit = {};
	struct task_struct *curr = view_at_exit(&exit, cpu, call->flags);

	if (!curr || !membarrier_ran_throughout(entry, &exit, (__u64)call->caller->mm))
		return;
	if (call->cpu_id >= 0 && cpu != (__u32)call->cpu_id) {
		exempt(EXEMPT_membarrier_coverage_cpu_id);
		return;
	}
	if (curr == call->caller) {
		exempt(EXEMPT_membarrier_coverage_caller);
		return;
	}
	if (curr->flags & PF_KTHREAD) {
		exempt(EXEMPT_membarrier_coverage_kernel_thread);
		return;
	}
	evaluated(INV_membarrier_coverage);
	if (!membarrier_covered(entry, &exit))
		report_uncovered(call, cpu, curr, entry, &exit);
}

SEC("?fexit/membarrier_private_expedited")
int BPF_PROG(membarrier_private_expedited_exit, int flags, int cpu_id, int ret)
{
	struct membarrier_call call = {
		.ctx = ctx, .caller = bpf_get_current_task_btf(), .flags = flags, .cpu_id = cpu_id
	};
	__u64 key = (__u64)call.caller;
	struct membarrier_view *views = bpf_map_lookup_elem(&membarrier_calls, &key);

	if (!views)
		return 0;
	if (!ret) {
		record_event(EVENT_membarrier_return, call.caller->pid, flags, cpu_id, (__u64)call.caller->mm);
		if (!legally_skipped(call.caller, flags))
			for (__u32 cpu = 0; cpu < nr_cpus; cpu++)
				judge_cpu(&call, cpu, &views[cpu]);
	}
	bpf_map_delete_elem(&membarrier_calls, &key);
	return 0;
}
