/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of one thread group whose CPU timers are started and stopped while its tasks are accounted on several CPUs:
 * the kernel's part and the probes of bpf/cputimer.bpf.c, cut into steps that access shared memory at most once. CPUs
 * take their steps in random order, so every interleaving that total store order allows between such steps can occur.
 */
#ifndef KWITNESS_TESTS_CPUTIMER_MODEL_H
#define KWITNESS_TESTS_CPUTIMER_MODEL_H

#include "cputimer.h"
#include "random.h"

#define MODEL_CPUS 4

/* What is left out of the probes, to see that the model knows the race that it is there for. */
enum model_flaw {
	FLAW_NONE,
	FLAW_NO_ALLOWANCE, /* for calls that missed the activation */
	FLAW_STARTED_BEFORE_VALUE,
	FLAW_FINISHED_AFTER_VALUE,
	FLAW_NO_GENERATIONS,
	FLAW_FINISHED_UNCHECKED, /* a call counts as finished whether it is certain to have added or not */
	FLAW_SEEN_AFTER_VALUE
};

/* What the kernel does wrong. */
enum model_fault { FAULT_NONE, FAULT_LOST, FAULT_DOUBLED, FAULT_HALVED, FAULT_DECREASED };

enum model_step {
	STEP_IDLE,
	STEP_FINISH_READ_ACTIVE,
	STEP_FINISH_COUNT,
	STEP_UNPUBLISH,
	STEP_PUBLISH,
	STEP_READ_ACTIVE,
	STEP_LOOK_GENERATION,
	STEP_LOOK_ACTIVE,
	STEP_LOOK_ALLOW, /* the looks over CPUs and fields take a step for each */
	STEP_LOOK_FIRST,
	STEP_LOOK_VALUE,
	STEP_LOOK_LAST,
	STEP_JUDGE,
	STEP_COUNT_STARTED,
	STEP_MARK_COUNTED,
	STEP_READ_GENERATION,
	STEP_KERNEL_READ_ACTIVE,
	STEP_KERNEL_ADD
};

struct model_cpu {
	enum model_step step;
	unsigned int index; /* within a step that repeats */
	/* The call, as struct cputimer_call has it. */
	bool published, published_counted, counted;
	bool sighand; /* of the task */
	bool kernel_adds, finish_active;
	unsigned int field;
	uint64_t delta, call_generation;
	/* The CPU's part of the group. */
	uint64_t started[NR_CPUTIMER_FIELDS], finished[NR_CPUTIMER_FIELDS], seen[NR_CPUTIMER_FIELDS];
	uint64_t base_generation;
	struct cputimer_sums base[NR_CPUTIMER_FIELDS];
	/* The look under way. */
	uint64_t look_generation, allowance[NR_CPUTIMER_FIELDS], seen_before[NR_CPUTIMER_FIELDS];
	struct cputimer_sums now[NR_CPUTIMER_FIELDS];
};

enum model_timer_step {
	TIMER_IDLE,
	TIMER_SAMPLE, /* one step for each field, as the others */
	TIMER_RAISE,
	TIMER_ACTIVATE
};

struct model {
	struct chance chance;
	enum model_flaw flaw;
	enum model_fault fault;
	unsigned int adds_to_fault; /* until the next fault */
	unsigned int faults;
	bool steady; /* once started, the timers stay on, and the tasks live */
	unsigned int stop_one_in; /* steps of the timers' starter while they are active */
	uint64_t fault_delta; /* ns of the call that the fault befalls; 0: as any other */
	/* The kernel. */
	bool active;
	uint64_t value[NR_CPUTIMER_FIELDS];
	uint64_t total[NR_CPUTIMER_FIELDS]; /* over the tasks, whether the timers are active or not */
	enum model_timer_step timer_step;
	unsigned int timer_index;
	uint64_t sample[NR_CPUTIMER_FIELDS];
	/* kwitness */
	uint64_t generation;
	struct model_cpu cpus[MODEL_CPUS];
	unsigned int running, stalled, stalled_for; /* CPUs; steps */
	unsigned long judged, restarted, went_back, out_of_bounds, starts;
};

static inline void model_finish(struct model *model, struct model_cpu *cpu)
{
	bool certain = cpu->finish_active && model->generation == cpu->call_generation;

	cpu->counted = false;
	if (certain || model->flaw == FLAW_FINISHED_UNCHECKED)
		cpu->finished[cpu->field] += cpu->delta;
	cpu->step = STEP_UNPUBLISH;
}

static inline void model_publish(struct model *model, struct model_cpu *cpu)
{
	/* Ticks are equal, run times are not; a few are long, so that one of them exceeds what the bounds have to spare. */
	cpu->field = chance_below(&model->chance, NR_CPUTIMER_FIELDS);
	cpu->delta = cpu->field == CPUTIMER_sum_exec_runtime ? 1 + chance_below(&model->chance, 800) : 400;
	if (chance_one_in(&model->chance, 8))
		cpu->delta *= 100;
	if (model->fault && !model->adds_to_fault && model->fault_delta)
		cpu->delta = model->fault_delta;
	cpu->sighand = model->steady || !chance_one_in(&model->chance, 100);
	cpu->published = true;
	cpu->published_counted = false;
	cpu->step = STEP_READ_ACTIVE;
}

static inline void model_begin_look(struct model *model, struct model_cpu *cpu)
{
	cpu->look_generation = model->generation;
	cpu->index = 0;
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++) {
		cpu->now[field] = (struct cputimer_sums){};
		cpu->allowance[field] = cpu->seen_before[field] = 0;
	}
	cpu->step = STEP_LOOK_ACTIVE;
}

/* Goes on with the next of @count; true after the last. */
static inline bool model_next(unsigned int *index, unsigned int count)
{
	if (++*index < count)
		return false;
	*index = 0;
	return true;
}

static inline void model_allow(struct model *model, struct model_cpu *cpu)
{
	const struct model_cpu *other = &model->cpus[cpu->index];

	if (other != cpu && other->published && !other->published_counted && model->flaw != FLAW_NO_ALLOWANCE)
		cpu->allowance[other->field] += other->delta;
	if (model_next(&cpu->index, MODEL_CPUS))
		cpu->step = STEP_LOOK_FIRST;
}

static inline void model_sum_started(struct model_cpu *cpu, const struct model_cpu *other)
{
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++)
		cpu->now[field].started += other->started[field];
}

static inline void model_sum_finished(struct model_cpu *cpu, const struct model_cpu *other)
{
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++)
		cpu->now[field].finished += other->finished[field];
}

static inline void model_see(struct model_cpu *cpu, const struct model_cpu *other)
{
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++)
		if (other->seen[field] > cpu->seen_before[field])
			cpu->seen_before[field] = other->seen[field];
}

static inline void model_look_first(struct model *model, struct model_cpu *cpu)
{
	const struct model_cpu *other = &model->cpus[cpu->index];

	if (model->flaw != FLAW_FINISHED_AFTER_VALUE)
		model_sum_finished(cpu, other);
	if (model->flaw == FLAW_STARTED_BEFORE_VALUE)
		model_sum_started(cpu, other);
	if (model->flaw != FLAW_SEEN_AFTER_VALUE)
		model_see(cpu, other);
	if (model_next(&cpu->index, MODEL_CPUS))
		cpu->step = STEP_LOOK_VALUE;
}

static inline void model_look_value(struct model *model, struct model_cpu *cpu)
{
	cpu->now[cpu->index].value = model->value[cpu->index];
	if (model_next(&cpu->index, NR_CPUTIMER_FIELDS))
		cpu->step = STEP_LOOK_LAST;
}

static inline void model_look_last(struct model *model, struct model_cpu *cpu)
{
	const struct model_cpu *other = &model->cpus[cpu->index];

	if (model->flaw == FLAW_FINISHED_AFTER_VALUE)
		model_sum_finished(cpu, other);
	if (model->flaw != FLAW_STARTED_BEFORE_VALUE)
		model_sum_started(cpu, other);
	if (model->flaw == FLAW_SEEN_AFTER_VALUE)
		model_see(cpu, other);
	if (model_next(&cpu->index, MODEL_CPUS))
		cpu->step = STEP_JUDGE;
}

static inline void model_judge_monotonic(struct model *model, struct model_cpu *cpu)
{
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++) {
		uint64_t value = cpu->now[field].value;

		if (value > cpu->seen[field])
			cpu->seen[field] = value;
		model->went_back += cputimer_went_back(cpu->seen_before[field], value);
	}
}

static inline bool model_judge_bounds(struct model *model, struct model_cpu *cpu)
{
	bool within = true;

	model->judged++;
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++)
		within &= cputimer_within_bounds(&cpu->base[field], &cpu->now[field]);
	model->out_of_bounds += !within;
	return within;
}

static inline void model_judge(struct model *model, struct model_cpu *cpu)
{
	cpu->step = STEP_COUNT_STARTED;
	model_judge_monotonic(model, cpu);
	if (model->generation != cpu->look_generation) {
		model->restarted++;
		return;
	}
	if (cpu->base_generation == cpu->look_generation && model_judge_bounds(model, cpu))
		return;
	cpu->base_generation = cpu->look_generation;
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++) {
		cpu->base[field] = cpu->now[field];
		cpu->base[field].finished -= cpu->allowance[field];
	}
}

/* Whether the fault strikes this add. */
static inline bool model_strikes(struct model *model, const struct model_cpu *cpu)
{
	if (!model->fault || !cpu->published_counted)
		return false;
	if (model->adds_to_fault) {
		model->adds_to_fault--;
		return false;
	}
	if (model->fault_delta && cpu->delta != model->fault_delta)
		return false;
	model->faults++;
	model->adds_to_fault = model->fault_delta ? UINT32_MAX : 16;
	return true;
}

static inline void model_add(struct model *model, struct model_cpu *cpu)
{
	bool wrong = model_strikes(model, cpu);
	uint64_t added = cpu->delta;

	if (wrong && model->fault == FAULT_LOST)
		added = 0;
	else if (wrong && model->fault == FAULT_DOUBLED)
		added *= 2;
	else if (wrong && model->fault == FAULT_HALVED)
		added /= 2;
	else if (wrong)
		added = -added;
	model->value[cpu->field] += added;
	cpu->step = STEP_IDLE;
}

static inline void model_step_look(struct model *model, struct model_cpu *cpu)
{
	switch (cpu->step) {
	case STEP_LOOK_GENERATION:
		return model_begin_look(model, cpu);
	case STEP_LOOK_ACTIVE:
		cpu->step = model->active ? STEP_LOOK_ALLOW : STEP_COUNT_STARTED;
		return;
	case STEP_LOOK_ALLOW:
		return model_allow(model, cpu);
	case STEP_LOOK_FIRST:
		return model_look_first(model, cpu);
	case STEP_LOOK_VALUE:
		return model_look_value(model, cpu);
	case STEP_LOOK_LAST:
		return model_look_last(model, cpu);
	case STEP_JUDGE:
		return model_judge(model, cpu);
	default:
		return;
	}
}

static inline void model_step_cpu(struct model *model, struct model_cpu *cpu)
{
	/* Another CPU may release the task at any time. */
	if (!model->steady && chance_one_in(&model->chance, 5000))
		cpu->sighand = false;
	switch (cpu->step) {
	case STEP_IDLE:
		cpu->step = cpu->counted ? STEP_FINISH_READ_ACTIVE : STEP_UNPUBLISH;
		return;
	case STEP_FINISH_READ_ACTIVE:
		cpu->finish_active = model->active && cpu->sighand;
		cpu->step = STEP_FINISH_COUNT;
		return;
	case STEP_FINISH_COUNT:
		return model_finish(model, cpu);
	case STEP_UNPUBLISH:
		cpu->published = false;
		cpu->step = STEP_PUBLISH;
		return;
	case STEP_PUBLISH:
		return model_publish(model, cpu);
	case STEP_READ_ACTIVE:
		cpu->step = model->active ? STEP_LOOK_GENERATION : STEP_KERNEL_READ_ACTIVE;
		return;
	case STEP_COUNT_STARTED:
		cpu->started[cpu->field] += cpu->delta;
		cpu->step = STEP_MARK_COUNTED;
		return;
	case STEP_MARK_COUNTED:
		cpu->published_counted = true;
		cpu->step = STEP_READ_GENERATION;
		return;
	case STEP_READ_GENERATION:
		cpu->call_generation = model->generation;
		cpu->counted = cpu->sighand;
		cpu->step = STEP_KERNEL_READ_ACTIVE;
		return;
	case STEP_KERNEL_READ_ACTIVE:
		model->total[cpu->field] += cpu->delta;
		cpu->kernel_adds = model->active && cpu->sighand;
		cpu->step = cpu->kernel_adds ? STEP_KERNEL_ADD : STEP_IDLE;
		return;
	case STEP_KERNEL_ADD:
		return model_add(model, cpu);
	default:
		return model_step_look(model, cpu);
	}
}

/* The holder of siglock starts or stops the timers, with our probe at cpu_clock_sample_group(start). */
static inline void model_toggle(struct model *model)
{
	if (model->active) {
		model->active = model->steady || !chance_one_in(&model->chance, model->stop_one_in);
		return;
	}
	if (!chance_one_in(&model->chance, 10))
		return;
	if (model->flaw != FLAW_NO_GENERATIONS)
		model->generation++;
	model->timer_step = TIMER_SAMPLE;
	model->timer_index = 0;
}

static inline void model_step_timer(struct model *model)
{
	unsigned int field = model->timer_index;

	switch (model->timer_step) {
	case TIMER_IDLE:
		return model_toggle(model);
	case TIMER_SAMPLE:
		model->sample[field] = model->total[field];
		if (model_next(&model->timer_index, NR_CPUTIMER_FIELDS))
			model->timer_step = TIMER_RAISE;
		return;
	case TIMER_RAISE:
		if (model->sample[field] > model->value[field])
			model->value[field] = model->sample[field];
		if (model_next(&model->timer_index, NR_CPUTIMER_FIELDS))
			model->timer_step = TIMER_ACTIVATE;
		return;
	case TIMER_ACTIVATE:
		model->active = true;
		model->starts++;
		model->timer_step = TIMER_IDLE;
		return;
	}
}

/*
 * One CPU mostly goes on for a while, so that the others are caught in the middle of whatever they do; one is now and
 * then stalled for long enough that the others take several looks.
 */
static inline void model_step(struct model *model)
{
	if (chance_one_in(&model->chance, 8))
		model->running = chance_below(&model->chance, MODEL_CPUS + 1);
	if (model->stalled_for) {
		model->stalled_for--;
	} else if (chance_one_in(&model->chance, 20)) {
		model->stalled = chance_below(&model->chance, MODEL_CPUS);
		model->stalled_for = chance_below(&model->chance, 300);
	}
	if (model->running == MODEL_CPUS)
		model_step_timer(model);
	else if (!model->stalled_for || model->running != model->stalled)
		model_step_cpu(model, &model->cpus[model->running]);
}

static inline void model_run(struct model *model, unsigned int steps)
{
	while (steps--)
		model_step(model);
}

/* The sums start high, so that a decrease does not wrap. */
static inline void model_init(struct model *model, uint64_t seed)
{
	*model = (struct model){ .chance = { seed }, .stop_one_in = 60, .generation = 1 };
	for (unsigned int field = 0; field < NR_CPUTIMER_FIELDS; field++)
		model->value[field] = model->total[field] = 1000000000;
}

#endif /* KWITNESS_TESTS_CPUTIMER_MODEL_H */
