// SPDX-License-Identifier: GPL-2.0-only
#include "command.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

int command_start(struct command *command, char *const *argv, const sigset_t *mask)
{
	posix_spawnattr_t attributes;
	int err;

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, mask);
	err = posix_spawnp(&command->pid, argv[0], NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	if (err)
		command->pid = 0;
	return -err;
}

void command_poll(struct command *command)
{
	if (command->pid && !command->ended)
		command->ended = waitpid(command->pid, &command->status, WNOHANG) == command->pid;
}

void command_end(struct command *command, int signal, int seconds)
{
	const struct timespec tick = { .tv_nsec = 10000000 };

	if (!command->pid || command->ended)
		return;
	kill(command->pid, signal);
	for (int ticks = 0; ticks < seconds * 100 && !command->ended; ticks++) {
		nanosleep(&tick, NULL);
		command_poll(command);
	}
	if (command->ended)
		return;
	kill(command->pid, SIGKILL);
	while (waitpid(command->pid, &command->status, 0) < 0 && errno == EINTR)
		;
	command->ended = true;
}
