/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only interface between a check and the rest of kwitness. A check calls chosen() and selected() to learn whether
 * it is wanted, evaluated() when it judges, exempt() when it legally does not, lost() when evidence is missing, and
 * violation() when the law is broken. What happens then is decided here.
 */
#ifndef KWITNESS_CORE_BPF_H
#define KWITNESS_CORE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "record.h"

/* Set by user space before loading; the verifier sees them as constants and drops what is not wanted. */
extern const volatile __u32 nr_cpus; /* possible CPUs: the bound of every loop over CPUs */
extern const volatile bool invariant_chosen[NR_INVARIANTS];
extern const volatile __u32 max_records; /* violation records sent per invariant */
extern const volatile __u64 selected_cgroup; /* 0: every cgroup. Its kernfs id */

/* Found by find_process after loading. 0: every process. As in the initial pid namespace. */
extern volatile __u32 selected_tgid;

/*
 * Set by user space once every program is attached and every call that was under way before has ended. Programs keep
 * their books from the first moment on, but judge nothing before: a half-watched call would look like a breach.
 */
extern volatile bool checking;

/* One element per CPU. Arrays, not per-CPU maps: the lookup is inlined, and a violation reads other CPUs' recorders. */
extern struct counters_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_counters);
} counters SEC(".maps");

extern struct recorders_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct recorder);
} recorders SEC(".maps");

extern struct records_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

extern __u64 serials;
extern __u32 records_sent[NR_INVARIANTS];

/* More CPUs than this are not dumped on a violation: their recorders would not fit into one ring buffer. */
#define HISTORY_MAX_CPUS 64

static __always_inline struct cpu_counters *this_cpu_counters(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counters, &cpu);
}

static __always_inline bool chosen(enum invariant_id id)
{
	return invariant_chosen[id];
}

/* Interrupts may lose an increment between two programs on one CPU, so this count is a floor, which is what it says. */
static __always_inline void evaluated(enum invariant_id id)
{
	struct cpu_counters *mine = this_cpu_counters();

	if (mine)
		mine->invariants[id].evaluated++;
}

static __always_inline void exempt(enum exemption_id id)
{
	struct cpu_counters *mine = this_cpu_counters();

	if (mine)
		mine->exempted[id]++;
}

/* Atomic, since one lost loss would be a silent pass. Rare, so its price does not matter. */
static __always_inline void lost(enum loss_id id)
{
	struct cpu_counters *mine = this_cpu_counters();

	if (mine)
		__sync_fetch_and_add(&mine->lost[id], 1);
}

/* Deeper cgroups than this are taken as not selected; the kernel's own default limit is far lower. */
#define MAX_CGROUP_LEVEL 64

/* The levels are walked, since a container does not know how deep its own root is. */
static __noinline bool in_selected_cgroup(struct task_struct *task)
{
	struct cgroup *cgroup = task->cgroups->dfl_cgrp;
	void *ancestors = (void *)cgroup + bpf_core_field_offset(struct cgroup, ancestors);

	for (int level = 0; level < MAX_CGROUP_LEVEL && level <= cgroup->level; level++) {
		struct cgroup *ancestor = NULL;

		bpf_probe_read_kernel(&ancestor, sizeof(ancestor), ancestors + level * sizeof(ancestor));
		if (BPF_CORE_READ(ancestor, kn, id) == selected_cgroup)
			return true;
	}
	return false;
}

/* Is @task among those that the user asked for? Narrows what is judged, never what the books are kept of. */
static __always_inline bool selected(struct task_struct *task)
{
	if (selected_tgid && task->tgid != (pid_t)selected_tgid)
		return false;
	return !selected_cgroup || in_selected_cgroup(task);
}

/*
 * Notes an event in this CPU's flight recorder. Only this CPU writes it; a reader on another CPU may meet the slot half
 * written, so time_ns is 0 meanwhile and user space leaves such slots out.
 */
static __always_inline void record_event(enum event_id id, __u32 pid, __u64 a, __u64 b, __u64 c)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct recorder *recorder = bpf_map_lookup_elem(&recorders, &cpu);
	volatile struct recorder_event *event;

	if (!recorder)
		return;
	event = &recorder->events[recorder->next & (RECORDER_NR_EVENTS - 1)];
	event->time_ns = 0;
	event->pid = pid;
	event->event = id;
	event->args[0] = a;
	event->args[1] = b;
	event->args[2] = c;
	event->time_ns = bpf_ktime_get_ns();
	recorder->next++;
}

static __always_inline void record_lost(void)
{
	struct cpu_counters *mine = this_cpu_counters();

	if (mine)
		__sync_fetch_and_add(&mine->records_lost, 1);
}

/* Sends the flight recorder of every CPU: the interleaving that led here. */
static __noinline int send_histories(__u64 serial)
{
	for (__u32 cpu = 0; cpu < HISTORY_MAX_CPUS && cpu < nr_cpus; cpu++) {
		__u32 key = cpu; /* the verifier wants the counter itself in a register */
		struct recorder *recorder = bpf_map_lookup_elem(&recorders, &key);
		struct history_record *record;

		if (!recorder || !recorder->next)
			continue;
		record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
		if (!record) {
			record_lost();
			continue;
		}
		record->type = RECORD_HISTORY;
		record->cpu = cpu;
		record->serial = serial;
		bpf_probe_read_kernel(&record->recorder, sizeof(record->recorder), recorder);
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	}
	return 0;
}

/* BPF_RB_NO_WAKEUP: a wake-up from here would take locks that the traced code may hold. User space polls. */
static __noinline int send_violation(void *ctx, __u32 id, struct task_struct *task, const __u64 *values)
{
	struct violation_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	__u64 serial = __sync_fetch_and_add(&serials, 1);

	if (!record) {
		record_lost();
		return 0;
	}
	record->type = RECORD_VIOLATION;
	record->invariant = id;
	record->serial = serial;
	record->time_ns = bpf_ktime_get_ns();
	record->cpu = bpf_get_smp_processor_id();
	record->pid = task->pid;
	record->tgid = task->tgid;
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
	bpf_probe_read_kernel(record->values, sizeof(record->values), values);
	record->stack_bytes = bpf_get_stack(ctx, record->stack, sizeof(record->stack), 0);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return send_histories(serial);
}

/*
 * Reports that the law @id is broken for @task. Every violation is counted; the first max_records of each invariant are
 * sent with their evidence. @values has RECORD_NR_VALUES elements, described by the invariant's row.
 */
static __always_inline void violation(void *ctx, enum invariant_id id, struct task_struct *task, const __u64 *values)
{
	struct cpu_counters *mine = this_cpu_counters();

	if (mine)
		__sync_fetch_and_add(&mine->invariants[id].violations, 1);
	if (records_sent[id] < max_records && __sync_fetch_and_add(&records_sent[id], 1) < max_records)
		send_violation(ctx, id, task, values);
}

#endif /* KWITNESS_CORE_BPF_H */
