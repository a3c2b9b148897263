// SPDX-License-Identifier: GPL-2.0-only
/* The maps and settings that all checks share, and the search for the process that -p names. */
#include "core.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_cpus = 1;
const volatile bool invariant_chosen[NR_INVARIANTS] = {};
const volatile __u32 max_records = 1;
const volatile __u64 selected_cgroup = 0;

volatile __u32 selected_tgid = 0;
volatile bool checking = false;
__u64 serials = 0;
__u32 records_sent[NR_INVARIANTS] = {};

struct counters_map counters SEC(".maps");
struct recorders_map recorders SEC(".maps");
struct records_map records SEC(".maps");

/* What -p names: a process id in the pid namespace with this inode number. */
volatile __u32 wanted_pid = 0;
volatile __u32 wanted_pid_namespace = 0;

/* include/linux/pid_namespace.h */
#define MAX_PID_NS_LEVEL 32

static __always_inline bool is_wanted(struct pid *pid)
{
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	for (int level = 0; level <= MAX_PID_NS_LEVEL && level <= (int)pid->level; level++) {
		struct upid *upid = numbers + level * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(upid, ns, ns.inum) == wanted_pid_namespace)
			return (__u32)BPF_CORE_READ(upid, nr) == wanted_pid;
	}
	return false;
}

/* Run once before checking: the caller's pid means nothing in the initial namespace, which the probes see. */
SEC("?iter/task")
int find_process(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid == task->tgid && is_wanted(task->thread_pid))
		selected_tgid = task->tgid;
	return 0;
}
