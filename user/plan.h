/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe plan: which BPF program serves each hook that the catalogue names, on this kernel, and why one cannot.
 * A program named `hook` or `hook__variant` serves `hook`; of several the first one that this kernel has is taken.
 */
#ifndef KWITNESS_PLAN_H
#define KWITNESS_PLAN_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>

#include "catalogue.h"

#define HOOK_NAME_LEN 64
#define PLAN_MAX_HOOKS 128

struct hook {
	char name[HOOK_NAME_LEN]; /* as the catalogue has it */
	bool wanted; /* an invariant that was chosen stands on it, and this kernel has what it is about */
	char program[HOOK_NAME_LEN]; /* the BPF program that serves it; empty if none can */
	char target[HOOK_NAME_LEN]; /* kernel function or trace event */
	const char *how; /* "fentry", "fexit", "tp_btf", "kwitness tracepoint" */
	char *reason; /* why no program can serve it; NULL when one can. Owned by the plan */
	char *uncovered; /* copies of the target that the compiler made and no probe covers, or NULL. Owned by the plan */
	size_t probe; /* index of its program in the report */
};

struct plan {
	struct btf *btf; /* the kernel's; owned by the plan */
	struct hook hooks[PLAN_MAX_HOOKS];
	size_t nr_hooks;
};

/*
 * Fills @plan for the invariants in @chosen and the programs of @object (opened, not loaded). Only a kernel without BTF
 * fails it: returns 0 or -errno.
 */
int plan_make(struct plan *plan, const struct bpf_object *object, const char *btf_path,
	      const bool chosen[NR_INVARIANTS]);

/* Gives up the hook that @program serves, since it could not be loaded or attached; takes @reason over. */
void plan_give_up(struct plan *plan, const char *program, char *reason);

struct hook *plan_find(struct plan *plan, const char *name);

/* Does the kernel of @plan need the hook that @word of a catalogue row names ("hook" or "?hook@struct.member")? */
bool plan_needs(const struct plan *plan, const char *word);

/* Calls @use for each hook that the invariant needs on this kernel. */
void plan_for_each_hook(struct plan *plan, const struct invariant *invariant,
			void (*use)(struct hook *hook, void *arg), void *arg);

void plan_free(struct plan *plan);

#endif /* KWITNESS_PLAN_H */
