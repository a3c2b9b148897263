/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of CPUs that switch between tasks while two of the tasks call membarrier(): the kernel's part and the probes of
 * bpf/membarrier.bpf.c, cut into steps that access shared memory at most once. CPUs take their steps in random order.
 */
#ifndef KWITNESS_TESTS_MEMBARRIER_MODEL_H
#define KWITNESS_TESTS_MEMBARRIER_MODEL_H

#include "membarrier.h"
#include "random.h"

#define MODEL_CPUS 4
#define MODEL_CALLERS 2 /* the first tasks; they have MODEL_MM and keep it */
#define MODEL_TASKS 12
#define MODEL_KERNEL_THREADS 2 /* the last tasks; they borrow MODEL_MM now and then */
#define MODEL_MM 1
#define MODEL_OTHER_MM 2

/* What is left out of the law or of its probes, to see that the model knows the race that it is there for. */
enum model_flaw {
	FLAW_NONE,
	FLAW_COUNT_AFTER_CURR_AT_ENTRY,
	FLAW_COUNT_BEFORE_CURR_AT_EXIT,
	FLAW_SWITCHES_IGNORED,
	FLAW_MM_AT_EXIT_IGNORED,
	FLAW_KERNEL_THREADS_JUDGED,
	FLAW_CALLER_JUDGED
};

struct model_task {
	uint64_t mm; /* 0: none */
	bool kernel_thread;
	bool keeps_cpu; /* has disabled preemption */
};

struct model_cpu {
	unsigned int curr, prev;
	bool switching; /* curr is stored, the event is still to come, and prev is on the CPU still */
	struct membarrier_cpu counts;
	bool ipi[MODEL_CALLERS]; /* pending */
};

enum model_step {
	STEP_OUTSIDE,
	STEP_ENTRY, /* steps with an index take place once for each CPU */
	STEP_SCAN,
	STEP_SEND,
	STEP_WAIT,
	STEP_EXIT
};

struct model_caller {
	enum model_step step;
	unsigned int index, read; /* the CPU, and which of its values is read next */
	int flags;
	bool mask[MODEL_CPUS];
	struct membarrier_view entry[MODEL_CPUS], exit;
};

struct model {
	struct chance chance;
	enum model_flaw flaw;
	unsigned int skips; /* the kernel leaves out one in so many CPUs; 0: none */
	struct model_task tasks[MODEL_TASKS];
	struct model_cpu cpus[MODEL_CPUS];
	struct model_caller callers[MODEL_CALLERS];
	uint64_t newest_mm;
	unsigned int running;
	unsigned long evaluated, uncovered, skipped, switches, execs;
};

static inline bool model_is_running(const struct model *model, unsigned int task)
{
	for (unsigned int cpu = 0; cpu < MODEL_CPUS; cpu++)
		if (model->cpus[cpu].curr == task || (model->cpus[cpu].switching && model->cpus[cpu].prev == task))
			return true;
	return false;
}

static inline bool model_is_caller(unsigned int task)
{
	return task < MODEL_CALLERS;
}

/* A task that does not run may as well be a new one in the same place. */
static inline void model_renew(struct model *model, unsigned int task)
{
	if (!model_is_caller(task) && !model->tasks[task].kernel_thread)
		model->tasks[task].mm = chance_one_in(&model->chance, 4) ? MODEL_OTHER_MM : MODEL_MM;
}

static inline void model_switch(struct model *model, struct model_cpu *cpu)
{
	unsigned int next = chance_below(&model->chance, MODEL_TASKS);

	if (model->tasks[cpu->curr].keeps_cpu)
		return;
	/* Often the same task comes back at once. */
	if (!chance_one_in(&model->chance, 4))
		next = cpu->prev;
	if (model_is_running(model, next))
		return;
	model_renew(model, next);
	cpu->prev = cpu->curr;
	cpu->curr = next;
	cpu->switching = true;
	model->switches++;
}

static inline void model_end_switch(struct model *model, struct model_cpu *cpu)
{
	cpu->counts.switches++;
	cpu->switching = false;
	if (chance_one_in(&model->chance, 4))
		model_switch(model, cpu);
}

/* exec, or a kernel thread that begins or ends to use an mm. */
static inline void model_change_mm(struct model *model, unsigned int task)
{
	if (model_is_caller(task))
		return;
	if (model->tasks[task].kernel_thread) {
		model->tasks[task].mm = model->tasks[task].mm ? 0 : MODEL_MM;
		return;
	}
	model->tasks[task].mm = ++model->newest_mm;
	model->execs++;
}

static inline enum membarrier_handler model_handler(int flags)
{
	if (flags == MEMBARRIER_FLAG_SYNC_CORE)
		return HANDLER_ipi_sync_core;
	return flags == MEMBARRIER_FLAG_RSEQ ? HANDLER_ipi_rseq : HANDLER_ipi_mb;
}

static inline bool model_handle_ipi(struct model *model, struct model_cpu *cpu)
{
	for (unsigned int i = 0; i < MODEL_CALLERS; i++) {
		if (!cpu->ipi[i])
			continue;
		cpu->counts.handlers[model_handler(model->callers[i].flags)]++;
		cpu->ipi[i] = false;
		return true;
	}
	return false;
}

enum model_read { READ_SWITCHES, READ_CURR, READ_MM, READ_HANDLERS, NR_READS };

static inline void model_read(const struct model *model, enum model_read what, unsigned int cpu, int flags,
			      struct membarrier_view *view)
{
	const struct model_cpu *seen = &model->cpus[cpu];

	/* 0 stands for "not looked at", so tasks are told from 1 on. */
	if (what == READ_SWITCHES)
		view->switches = seen->counts.switches;
	else if (what == READ_CURR)
		view->curr = seen->curr + 1;
	else if (what == READ_MM)
		view->mm = model->tasks[view->curr - 1].mm;
	else
		view->handlers = membarrier_handlers(&seen->counts, flags);
}

/* Goes on with the next value of the view; true after the last. */
static inline bool model_next_read(struct model_caller *caller)
{
	if (++caller->read < NR_READS)
		return false;
	caller->read = 0;
	return true;
}

/* Goes on with the next CPU; after the last with @next. */
static inline void model_next_cpu(struct model_caller *caller, enum model_step next)
{
	if (++caller->index < MODEL_CPUS)
		return;
	caller->index = 0;
	caller->step = next;
}

static inline void model_enter(struct model *model, struct model_caller *caller)
{
	static const enum model_read order[] = { READ_SWITCHES, READ_CURR, READ_MM, READ_HANDLERS };
	static const enum model_read flawed[] = { READ_CURR, READ_MM, READ_SWITCHES, READ_HANDLERS };
	const enum model_read *reads = model->flaw == FLAW_COUNT_AFTER_CURR_AT_ENTRY ? flawed : order;

	model_read(model, reads[caller->read], caller->index, caller->flags, &caller->entry[caller->index]);
	if (model_next_read(caller))
		model_next_cpu(caller, STEP_SCAN);
}

static inline void model_scan(struct model *model, struct model_caller *caller)
{
	bool runs = model->tasks[model->cpus[caller->index].curr].mm == MODEL_MM;

	if (runs && model->skips && chance_one_in(&model->chance, model->skips)) {
		model->skipped++;
		runs = false;
	}
	caller->mask[caller->index] = runs;
	model_next_cpu(caller, STEP_SEND);
}

/* From here until all handlers have run, the caller stays where it is; its own CPU gets no IPI. */
static inline void model_send(struct model *model, unsigned int task, const struct model_cpu *own)
{
	model->tasks[task].keeps_cpu = true;
	for (unsigned int cpu = 0; cpu < MODEL_CPUS; cpu++)
		model->cpus[cpu].ipi[task] = model->callers[task].mask[cpu] && &model->cpus[cpu] != own;
	model->callers[task].step = STEP_WAIT;
}

static inline void model_wait(struct model *model, unsigned int task)
{
	for (unsigned int cpu = 0; cpu < MODEL_CPUS; cpu++)
		if (model->cpus[cpu].ipi[task])
			return;
	model->tasks[task].keeps_cpu = false;
	model->callers[task].step = STEP_EXIT;
}

static inline void model_judge(struct model *model, unsigned int task, struct membarrier_view *entry,
			       struct membarrier_view *exit)
{
	if (model->flaw == FLAW_SWITCHES_IGNORED)
		entry->switches = exit->switches;
	if (model->flaw == FLAW_MM_AT_EXIT_IGNORED)
		exit->mm = MODEL_MM;
	if (!membarrier_ran_throughout(entry, exit, MODEL_MM))
		return;
	if (exit->curr - 1 == task && model->flaw != FLAW_CALLER_JUDGED)
		return;
	if (model->tasks[exit->curr - 1].kernel_thread && model->flaw != FLAW_KERNEL_THREADS_JUDGED)
		return;
	model->evaluated++;
	model->uncovered += !membarrier_covered(entry, exit);
}

static inline void model_exit(struct model *model, unsigned int task)
{
	static const enum model_read order[] = { READ_CURR, READ_MM, READ_HANDLERS, READ_SWITCHES };
	static const enum model_read flawed[] = { READ_SWITCHES, READ_CURR, READ_MM, READ_HANDLERS };
	const enum model_read *reads = model->flaw == FLAW_COUNT_BEFORE_CURR_AT_EXIT ? flawed : order;
	struct model_caller *caller = &model->callers[task];

	model_read(model, reads[caller->read], caller->index, caller->flags, &caller->exit);
	if (!model_next_read(caller))
		return;
	model_judge(model, task, &caller->entry[caller->index], &caller->exit);
	model_next_cpu(caller, STEP_OUTSIDE);
}

static inline void model_call(struct model *model, unsigned int task, const struct model_cpu *own)
{
	struct model_caller *caller = &model->callers[task];

	switch (caller->step) {
	case STEP_OUTSIDE:
		caller->flags = chance_below(&model->chance, 3);
		caller->step = STEP_ENTRY;
		return;
	case STEP_ENTRY:
		return model_enter(model, caller);
	case STEP_SCAN:
		return model_scan(model, caller);
	case STEP_SEND:
		return model_send(model, task, own);
	case STEP_WAIT:
		return model_wait(model, task);
	case STEP_EXIT:
		return model_exit(model, task);
	}
}

static inline void model_step_cpu(struct model *model, struct model_cpu *cpu)
{
	if (cpu->switching) {
		/* Much happens between the store to rq->curr and the event, and the next switch may follow at once. */
		if (chance_one_in(&model->chance, 8))
			model_end_switch(model, cpu);
	} else if (chance_one_in(&model->chance, 2) && model_handle_ipi(model, cpu)) {
		return;
	} else if (chance_one_in(&model->chance, 40)) {
		model_switch(model, cpu);
	} else if (chance_one_in(&model->chance, 300)) {
		model_change_mm(model, cpu->curr);
	} else if (model_is_caller(cpu->curr)) {
		model_call(model, cpu->curr, cpu);
	}
}

/* One CPU mostly goes on for a while, so that the others are caught in the middle of whatever they do. */
static inline void model_run(struct model *model, unsigned int steps)
{
	while (steps--) {
		if (chance_one_in(&model->chance, 4))
			model->running = chance_below(&model->chance, MODEL_CPUS);
		model_step_cpu(model, &model->cpus[model->running]);
	}
}

static inline void model_init(struct model *model, uint64_t seed)
{
	*model = (struct model){ .chance = { seed }, .newest_mm = MODEL_OTHER_MM };
	for (unsigned int task = 0; task < MODEL_TASKS; task++)
		model->tasks[task] = (struct model_task){ .mm = MODEL_MM,
							  .kernel_thread = task >= MODEL_TASKS - MODEL_KERNEL_THREADS };
	for (unsigned int cpu = 0; cpu < MODEL_CPUS; cpu++)
		model->cpus[cpu].curr = model->cpus[cpu].prev = cpu;
}

#endif /* KWITNESS_TESTS_MEMBARRIER_MODEL_H */
