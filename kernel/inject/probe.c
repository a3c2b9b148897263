// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers the probes of a fault. Where BPF programs are attached to a function too, ftrace runs kprobes at its entry
 * first, then the programs; kprobes behind the ftrace call come after the fentry programs, and the return probe after
 * the fexit programs. A fault chooses its place so that kwitness sees the state which the fault wants it to see.
 */
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <asm/cpufeature.h>

#include "inject.h"

/* An endbr that may come before the ftrace call is shorter than the alignment of functions. */
#define FUNCTION_ALIGNMENT 16UL

#define CONCURRENT_CALLS 256

/*
 * Where the ftrace call of the first of @names is. Registering a disabled kprobe patches nothing, and is the only way
 * for a module to look up a symbol that is not exported.
 */
static int find_ftrace_call(const char *const *names, kprobe_opcode_t **call)
{
	int error = -ENOENT;

	for (; *names; names++) {
		struct kprobe probe = { .symbol_name = *names, .flags = KPROBE_FLAG_DISABLED };

		error = register_kprobe(&probe);
		if (error)
			continue;
		*call = probe.addr;
		error = probe.flags & KPROBE_FLAG_FTRACE ? 0 : -EOPNOTSUPP;
		unregister_kprobe(&probe);
		break;
	}
	return error;
}

static int find_target(struct fault *fault)
{
	kprobe_opcode_t *call;
	int error;

	if (!fault->target)
		return 0;
	/* Functions that the kernel itself calls by name only are no legal target there. */
	if (fault->calls_target && boot_cpu_has(X86_FEATURE_IBT))
		return -EOPNOTSUPP;
	error = find_ftrace_call(PROBE_NAMES(fault->target), &call);
	if (!error)
		fault->target_address = (unsigned long)call & ~(FUNCTION_ALIGNMENT - 1);
	return error;
}

static int handle_call(struct kprobe *kprobe, struct pt_regs *regs)
{
	struct fault_probe *probe = container_of(kprobe, struct fault_probe, kprobe);

	probe->on_call(probe->fault, regs);
	return 0;
}

static int register_call_probe(struct fault_probe *probe)
{
	kprobe_opcode_t *address;
	int error = find_ftrace_call(probe->names, &address);

	if (error)
		return error;
	if (probe->place == PROBE_BODY)
		address += MCOUNT_INSN_SIZE;
	/* The kprobe must be blank: an earlier registration has left its marks. */
	probe->kprobe = (struct kprobe){ .addr = address, .pre_handler = handle_call };
	return register_kprobe(&probe->kprobe);
}

static struct fault_probe *probe_of(struct kretprobe_instance *instance)
{
	return container_of(get_kretprobe(instance), struct fault_probe, kretprobe);
}

/* Non-zero: the return of this call is not followed. */
static int handle_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct fault_probe *probe = probe_of(instance);

	*(unsigned long *)instance->data = regs->si;
	return !probe->follows(probe->fault, regs);
}

static int handle_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct fault_probe *probe = probe_of(instance);

	probe->on_return(probe->fault, *(unsigned long *)instance->data);
	return 0;
}

static int register_return_probe(struct fault_probe *probe)
{
	kprobe_opcode_t *address;
	int error = find_ftrace_call(probe->names, &address);

	if (error)
		return error;
	probe->kretprobe = (struct kretprobe){
		.kp.addr = address,
		.entry_handler = handle_entry,
		.handler = handle_return,
		.data_size = sizeof(unsigned long),
		.maxactive = CONCURRENT_CALLS,
	};
	return register_kretprobe(&probe->kretprobe);
}

static void note_tracepoint(struct tracepoint *tracepoint, void *data)
{
	struct fault_probe *probe = data;

	if (!strcmp(tracepoint->name, probe->names[0]))
		probe->tracepoint = tracepoint;
}

static int register_tracepoint_probe(struct fault_probe *probe)
{
	for_each_kernel_tracepoint(note_tracepoint, probe);
	if (!probe->tracepoint)
		return -ENOENT;
	return tracepoint_probe_register(probe->tracepoint, probe->on_event, probe->fault);
}

static int register_probe(struct fault_probe *probe)
{
	switch (probe->place) {
	case PROBE_ENTRY:
	case PROBE_BODY:
		return register_call_probe(probe);
	case PROBE_RETURN:
		return register_return_probe(probe);
	case PROBE_TRACEPOINT:
		return register_tracepoint_probe(probe);
	default:
		return 0;
	}
}

static void unregister_probe(struct fault_probe *probe)
{
	switch (probe->place) {
	case PROBE_ENTRY:
	case PROBE_BODY:
		unregister_kprobe(&probe->kprobe);
		break;
	case PROBE_RETURN:
		unregister_kretprobe(&probe->kretprobe);
		break;
	case PROBE_TRACEPOINT:
		tracepoint_probe_unregister(probe->tracepoint, probe->on_event, probe->fault);
		tracepoint_synchronize_unregister();
		break;
	default:
		break;
	}
}

static void unregister_first(struct fault *fault, int count)
{
	while (count--)
		unregister_probe(&fault->probes[count]);
}

int fault_install(struct fault *fault)
{
	int error = find_target(fault);
	int i;

	if (error)
		pr_err("%s: %s() cannot be used: %d\n", fault->name, fault->target, error);
	for (i = 0; !error && i < FAULT_MAX_PROBES; i++) {
		fault->probes[i].fault = fault;
		error = register_probe(&fault->probes[i]);
		if (!error)
			continue;
		pr_err("%s: %s cannot be probed: %d\n", fault->name, fault->probes[i].names[0], error);
		unregister_first(fault, i);
	}
	return error;
}

void fault_remove(struct fault *fault)
{
	unregister_first(fault, FAULT_MAX_PROBES);
}
