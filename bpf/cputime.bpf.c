// SPDX-License-Identifier: GPL-2.0-only
/* Probes of cputime_adjust(); the law is in cputime.h. */
#include "core.bpf.h"
#include "cputime.h"

struct cputime_call {
	__u64 prev; /* the prev_cputime of this call */
	struct cputime_pair before;
};

/*
 * The calls under way, by task: cputime_adjust() can be preempted, and its caller migrated, before it takes prev->lock.
 * An entry that is left behind because the return was missed is overwritten by the task's next call.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct cputime_call);
} cputime_calls SEC(".maps");

SEC("?fentry/cputime_adjust")
int BPF_PROG(cputime_adjust_entry, void *curr, struct prev_cputime *prev, u64 *utime, u64 *stime)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cputime_call call = { .prev = (__u64)prev };
	__u64 key = (__u64)current;

	if (!checking || !selected(current))
		return 0;
	call.before.utime = prev->utime;
	call.before.stime = prev->stime;
	if (bpf_map_update_elem(&cputime_calls, &key, &call, BPF_ANY))
		lost(LOST_cputime_calls_full);
	return 0;
}

static __always_inline void judge(void *ctx, struct task_struct *task, const struct cputime_call *call,
				  const struct cputime_pair *now)
{
	__u64 values[RECORD_NR_VALUES] = {
		call->before.utime, now->utime, call->before.stime, now->stime, call->prev,
	};

	evaluated(INV_cputime_monotonic);
	if (cputime_went_back(&call->before, now))
		violation(ctx, INV_cputime_monotonic, task, values);
}

SEC("?fexit/cputime_adjust")
int BPF_PROG(cputime_adjust_exit, void *curr, struct prev_cputime *prev, u64 *utime, u64 *stime)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 key = (__u64)current;
	struct cputime_call *call = bpf_map_lookup_elem(&cputime_calls, &key);
	struct cputime_pair now = {};

	if (!call)
		return 0;
	/* Both point to the caller's stack, which BPF may not follow without a helper. */
	bpf_probe_read_kernel(&now.utime, sizeof(now.utime), utime);
	bpf_probe_read_kernel(&now.stime, sizeof(now.stime), stime);
	record_event(EVENT_cputime_adjust, current->pid, now.utime, now.stime, (__u64)prev);
	if (call->prev == (__u64)prev)
		judge(ctx, current, call, &now);
	bpf_map_delete_elem(&cputime_calls, &key);
	return 0;
}
