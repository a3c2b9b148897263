// SPDX-License-Identifier: GPL-2.0-only
/* Probes of delay accounting; the laws are in delayacct.h. */
#include "core.bpf.h"
#include "delayacct.h"

/* When kwitness attached, CLOCK_MONOTONIC: tasks that are older may be in the middle of a wait. */
const volatile __u64 attached_ns = 0;

/* Writes to kernel.task_delayacct that have begun, and that have ended, since then. Several may be under way at once. */
volatile __u32 delayacct_switches_begun = 0;
volatile __u32 delayacct_switches_ended = 0;

/* Odd while some write is under way. Ended is read first, so that a write in between counts as under way. */
static __always_inline __u32 delayacct_switches(void)
{
	__u32 ended = delayacct_switches_ended;
	__u32 begun = delayacct_switches_begun;

	return begun * 2 + (begun != ended);
}

struct delayacct_task {
	__u64 start_time; /* of the task: tells a reused task_struct */
	struct delay_memory kinds[NR_DELAY_KINDS];
};

/*
 * Lives from a task's first delay until the task is freed. Allocated on demand, since most machines run far fewer tasks
 * than the limit; the allocator (bpf_mem_alloc, kernel 6.1) works under run-queue locks. Elements of one kind are
 * written in one place at a time, see delayacct.h.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, __u64);
	__type(value, struct delayacct_task);
} delayacct_tasks SEC(".maps");

static __always_inline void first_sight(struct delayacct_task *state, struct task_struct *task)
{
	state->start_time = task->start_time;
	for (int kind = 0; kind < NR_DELAY_KINDS; kind++) {
		struct delay_memory *memory = &state->kinds[kind];

		__builtin_memset(memory, 0, sizeof(*memory));
		memory->known = task->start_time > attached_ns;
	}
}

static __noinline struct delayacct_task *create_state(struct task_struct *task)
{
	struct delayacct_task blank = {};
	__u64 key = (__u64)task;

	first_sight(&blank, task);
	/* Another CPU may have been faster: its element serves as well. */
	bpf_map_update_elem(&delayacct_tasks, &key, &blank, BPF_NOEXIST);
	return NULL;
}

static __always_inline struct delayacct_task *state_of(struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct delayacct_task *state = bpf_map_lookup_elem(&delayacct_tasks, &key);

	if (!state) {
		create_state(task);
		state = bpf_map_lookup_elem(&delayacct_tasks, &key);
	}
	if (!state)
		lost(LOST_delayacct_tasks_full);
	else if (state->start_time != task->start_time)
		first_sight(state, task);
	return state;
}

static __always_inline void judge_totals(void *ctx, struct task_struct *task, enum delay_kind kind,
					 struct delay_memory *memory, const struct delay_now *now)
{
	__u64 values[RECORD_NR_VALUES] = { kind, memory->total, now->total, memory->count, now->count };

	if (checking && chosen(INV_delayacct_monotonic) && selected(task)) {
		evaluated(INV_delayacct_monotonic);
		if (delay_went_back(memory, now))
			violation(ctx, INV_delayacct_monotonic, task, values);
	}
	delay_remember(memory, now);
}

static __always_inline void judge_pairing(void *ctx, struct task_struct *task, enum delay_kind kind,
					  struct delay_memory *memory, const struct delay_now *now)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 values[RECORD_NR_VALUES] = { kind, now->stamp, memory->used_stamp, BPF_CORE_READ_BITFIELD(task, in_iowait),
					   current->pid };
	enum pairing pairing = delay_end(memory, now->stamp, delayacct_switches());

	if (!checking || !chosen(INV_delayacct_paired) || !selected(task))
		return;
	if (pairing == PAIRING_FIRST_SIGHT)
		return exempt(EXEMPT_delayacct_paired_first_sight);
	if (pairing == PAIRING_SWITCHED)
		return exempt(EXEMPT_delayacct_paired_switched);
	evaluated(INV_delayacct_paired);
	if (pairing == PAIRING_BROKEN)
		violation(ctx, INV_delayacct_paired, task, values);
}

static __always_inline int starts(void *ctx, enum delay_kind kind, const struct delay_now *now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct delayacct_task *state = state_of(task);

	record_event(EVENT_delay_start, task->pid, kind, now->stamp, BPF_CORE_READ_BITFIELD(task, in_iowait));
	if (!state)
		return 0;
	judge_totals(ctx, task, kind, &state->kinds[kind], now);
	delay_start(&state->kinds[kind], delayacct_switches());
	return 0;
}

static __always_inline int ends(void *ctx, struct task_struct *task, enum delay_kind kind, const struct delay_now *now)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct delayacct_task *state = state_of(task);

	record_event(EVENT_delay_end, task->pid, kind, now->stamp, current->pid);
	if (!state)
		return 0;
	judge_totals(ctx, task, kind, &state->kinds[kind], now);
	judge_pairing(ctx, task, kind, &state->kinds[kind], now);
	return 0;
}

/* The kernel's record of one kind, as it is before the traced function changes it. */
#define DELAY_NOW(task, kind)                                                                                           \
	{                                                                                                               \
		.stamp = (task)->delays->kind##_start, .total = (task)->delays->kind##_delay,                          \
		.count = (task)->delays->kind##_count                                                                  \
	}

#define DELAY_STARTS(kind)                                                                                              \
	SEC("?fentry/__delayacct_" #kind "_start")                                                                      \
	int BPF_PROG(delayacct_##kind##_start)                                                                          \
	{                                                                                                               \
		struct task_struct *task = bpf_get_current_task_btf();                                                  \
		struct delay_now now = DELAY_NOW(task, kind);                                                           \
                                                                                                                        \
		return starts(ctx, DELAY_##kind, &now);                                                                 \
	}

/* Kinds that the waiting task ends itself. */
#define DELAY_ENDS(kind)                                                                                                \
	SEC("?fentry/__delayacct_" #kind "_end")                                                                        \
	int BPF_PROG(delayacct_##kind##_end)                                                                            \
	{                                                                                                               \
		struct task_struct *task = bpf_get_current_task_btf();                                                  \
		struct delay_now now = DELAY_NOW(task, kind);                                                           \
                                                                                                                        \
		return ends(ctx, task, DELAY_##kind, &now);                                                             \
	}

DELAY_STARTS(blkio)
DELAY_STARTS(swapin)
DELAY_ENDS(swapin)
DELAY_STARTS(freepages)
DELAY_ENDS(freepages)
DELAY_STARTS(compact)
DELAY_ENDS(compact)
DELAY_STARTS(wpcopy)
DELAY_ENDS(wpcopy)

/* Thrashing sections nest (a page lock inside a swap-in); the kernel counts the outer one only, and so do the laws. */
SEC("?fentry/__delayacct_thrashing_start")
int BPF_PROG(delayacct_thrashing_start, bool *in_thrashing)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct delay_now now = DELAY_NOW(task, thrashing);

	if (BPF_CORE_READ_BITFIELD(task, in_thrashing))
		return 0;
	return starts(ctx, DELAY_thrashing, &now);
}

SEC("?fentry/__delayacct_thrashing_end")
int BPF_PROG(delayacct_thrashing_end, bool *in_thrashing)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct delay_now now = DELAY_NOW(task, thrashing);
	bool nested = true;

	bpf_probe_read_kernel(&nested, sizeof(nested), in_thrashing);
	if (nested)
		return 0;
	return ends(ctx, task, DELAY_thrashing, &now);
}

/* Block I/O ends in try_to_wake_up(), under the pi_lock of the sleeper, while current is its waker. */
SEC("?fentry/__delayacct_blkio_end")
int BPF_PROG(delayacct_blkio_end, struct task_struct *task)
{
	struct delay_now now = DELAY_NOW(task, blkio);

	return ends(ctx, task, DELAY_blkio, &now);
}

/* Kernel 6.2 and later. No start: interrupt time is charged as it was measured. */
SEC("?fentry/__delayacct_irq")
int BPF_PROG(delayacct_irq, struct task_struct *task, u32 delta)
{
	struct delay_now now = { .total = task->delays->irq_delay, .count = task->delays->irq_count };
	struct delayacct_task *state = state_of(task);

	if (state)
		judge_totals(ctx, task, DELAY_irq, &state->kinds[DELAY_irq], &now);
	return 0;
}

SEC("?tp_btf/sched_process_free")
int BPF_PROG(delayacct_task_free, struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(&delayacct_tasks, &key);
	return 0;
}

/* An end while the switch is being thrown cannot tell which side of it it is on. */
SEC("?fentry/sysctl_delayacct")
int BPF_PROG(delayacct_switch_entry, void *table, int write)
{
	if (write)
		__sync_fetch_and_add(&delayacct_switches_begun, 1);
	return 0;
}

SEC("?fexit/sysctl_delayacct")
int BPF_PROG(delayacct_switch_exit, void *table, int write)
{
	if (write)
		__sync_fetch_and_add(&delayacct_switches_ended, 1);
	return 0;
}
