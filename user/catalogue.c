// SPDX-License-Identifier: GPL-2.0-only
#include "catalogue.h"

#include <fnmatch.h>
#include <string.h>

#include "host.h"

const struct invariant invariants[NR_INVARIANTS] = {
#define INVARIANT(subsystem, name, title, law, source, soundness, hooks, values, message)                              \
	[INV_##subsystem##_##name] = { #subsystem "." #name, title, law, source, soundness, hooks, values, message },
#include "invariants.def"
};

const struct exemption exemptions[NR_EXEMPTIONS] = {
#define EXEMPTION(subsystem, invariant, name, why)                                                                     \
	[EXEMPT_##subsystem##_##invariant##_##name] = { INV_##subsystem##_##invariant, #name, why },
#include "invariants.def"
};

const struct loss losses[NR_LOSSES] = {
#define LOSS(name, invariants, what) [LOST_##name] = { #name, invariants, what },
#include "invariants.def"
};

const struct event_kind event_kinds[NR_EVENTS] = {
	[EVENT_NONE] = { "none", "nothing", "" },
#define EVENT(name, text, args) [EVENT_##name] = { #name, text, args },
#include "invariants.def"
};

struct kernel_switch {
	const char *invariants; /* glob over ids */
	const char *file;
	const char *advice;
};

static const struct kernel_switch kernel_switches[] = {
#define SWITCH(invariants, file, advice) { invariants, file, advice },
#include "invariants.def"
};

size_t catalogue_match(const char *glob, bool chosen[NR_INVARIANTS])
{
	size_t matches = 0;

	for (size_t i = 0; i < NR_INVARIANTS; i++) {
		if (fnmatch(glob, invariants[i].id, 0))
			continue;
		chosen[i] = true;
		matches++;
	}
	return matches;
}

int catalogue_find(const char *id)
{
	for (int i = 0; i < NR_INVARIANTS; i++)
		if (!strcmp(id, invariants[i].id))
			return i;
	return -1;
}

const char *catalogue_switched_off(const char *id)
{
	for (size_t i = 0; i < sizeof(kernel_switches) / sizeof(kernel_switches[0]); i++) {
		const struct kernel_switch *kernel_switch = &kernel_switches[i];
		char state[16];

		/* A kernel without the file lacks the hooks as well, and the probe plan says so. */
		if (!fnmatch(kernel_switch->invariants, id, 0) &&
		    read_file(kernel_switch->file, state, sizeof(state)) > 0 && state[0] == '0')
			return kernel_switch->advice;
	}
	return NULL;
}
