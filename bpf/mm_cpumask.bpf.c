// SPDX-License-Identifier: GPL-2.0-only
/* Probes of mm_cpumask on x86; the law is in mm_cpumask.h. */
#include "core.bpf.h"
#include "mm_cpumask.h"

/* Not in BTF, since it is no per-CPU variable: only its address is used. Weak: a kernel may hide its addresses. */
extern const void init_mm __ksym __weak;

SEC("?fexit/switch_mm_irqs_off")
int BPF_PROG(switch_mm_irqs_off, struct mm_struct *prev, struct mm_struct *next, struct task_struct *task)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 values[RECORD_NR_VALUES] = {};
	__u64 word = 0;

	if (!checking)
		return 0;
	if (!&init_mm) {
		lost(LOST_init_mm_hidden);
		return 0;
	}
	if ((void *)next == &init_mm) {
		exempt(EXEMPT_mm_cpumask_running_init_mm);
		return 0;
	}
	/* cpu_bitmap is a flexible array: BTF pointers do not reach into it. */
	bpf_probe_read_kernel(&word, sizeof(word),
			      (void *)next + bpf_core_field_offset(struct mm_struct, cpu_bitmap) +
				      mm_cpumask_word_offset(cpu));
	record_event(EVENT_switch_mm, task ? task->pid : current->pid, (__u64)next, word, 0);
	if (!selected(task ? task : current))
		return 0;
	evaluated(INV_mm_cpumask_running);
	if (mm_cpumask_has_cpu(word, cpu))
		return 0;
	values[0] = (__u64)next;
	values[1] = word;
	values[2] = cpu;
	violation(ctx, INV_mm_cpumask_running, task ? task : current, values);
	return 0;
}
