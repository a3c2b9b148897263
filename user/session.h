/* SPDX-License-Identifier: GPL-2.0-only */
/* A session: the BPF object from opening to detaching, and what it counted. */
#ifndef KWITNESS_SESSION_H
#define KWITNESS_SESSION_H

#include "options.h"
#include "plan.h"
#include "report.h"

struct session;

/*
 * Loads and attaches the programs that the chosen invariants need and starts checking. Programs that this kernel does
 * not take make their invariants unavailable, and are no error. On failure returns NULL, sets *@error (the caller frees
 * it) and *@status.
 */
struct session *session_start(const struct check_options *options, char **error, enum exit_status *status);

/* Collects the violations that have come in. Call it several times a second. */
void session_poll(struct session *session);

/*
 * Ends the checking, collects what is left and fills @report: probes, invariants, violations, exemptions, losses, times.
 * The report borrows strings of the session, so free it first.
 */
void session_stop(struct session *session, struct report *report);

/* Loads and attaches without checking, for `kwitness doctor`; the plan then tells what could be attached. */
struct plan *session_plan(struct session *session);

void session_free(struct session *session);

#endif /* KWITNESS_SESSION_H */
