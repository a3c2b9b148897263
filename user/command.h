/* SPDX-License-Identifier: GPL-2.0-only */
/* The command that is run under the checks. */
#ifndef KWITNESS_COMMAND_H
#define KWITNESS_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid; /* 0: none was started */
	bool ended;
	int status; /* as wait(2) reports it, once ended */
};

/* Starts @argv with the signal mask @mask. Returns 0, or -errno when it cannot be started. */
int command_start(struct command *command, char *const *argv, const sigset_t *mask);

/* Notices whether the command has ended, without waiting. */
void command_poll(struct command *command);

/* Asks the command to end with @signal, waits up to @seconds, then kills it. Does nothing if it has ended. */
void command_end(struct command *command, int signal, int seconds);

#endif /* KWITNESS_COMMAND_H */
