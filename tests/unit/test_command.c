// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <valgrind/valgrind.h>

#include "command.h"

#define LONG_SECONDS 60 /* so long that a test that has to wait for it looks hung */

static struct command start(char *const *argv)
{
	struct command command = {};
	sigset_t mask;

	sigemptyset(&mask);
	assert_int_equal(command_start(&command, argv, &mask), 0);
	assert_true(command.pid > 0);
	assert_false(command.ended);
	return command;
}

static struct command start_script(const char *script)
{
	return start((char *const[]){ "sh", "-c", (char *)script, NULL });
}

static void wait_until_ended(struct command *command)
{
	const struct timespec tick = { .tv_nsec = 5000000 };

	while (!command->ended) {
		nanosleep(&tick, NULL);
		command_poll(command);
	}
}

/* Nothing of the command is left, not even a zombie. */
static void is_gone(const struct command *command)
{
	assert_int_equal(waitpid(command->pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_exit_status(void **state)
{
	struct command command = start_script("exit 7");

	(void)state;
	wait_until_ended(&command);
	assert_true(WIFEXITED(command.status));
	assert_int_equal(WEXITSTATUS(command.status), 7);
	is_gone(&command);
}

static void test_killed(void **state)
{
	struct command command = start_script("kill -9 $$");

	(void)state;
	wait_until_ended(&command);
	assert_true(WIFSIGNALED(command.status));
	assert_int_equal(WTERMSIG(command.status), SIGKILL);
	is_gone(&command);
}

static void test_poll_does_not_wait(void **state)
{
	struct command command = start((char *const[]){ "sleep", "60", NULL });

	(void)state;
	command_poll(&command);
	assert_false(command.ended);
	command_end(&command, SIGKILL, LONG_SECONDS);
	assert_true(command.ended);
	is_gone(&command);
}

static void test_ends_on_sigterm(void **state)
{
	struct command command = start((char *const[]){ "sleep", "60", NULL });

	(void)state;
	command_end(&command, SIGTERM, LONG_SECONDS);
	assert_true(command.ended);
	assert_true(WIFSIGNALED(command.status));
	assert_int_equal(WTERMSIG(command.status), SIGTERM);
	is_gone(&command);
}

/* Waits until the child has written to @fd, so that its traps are set. */
static void wait_for_byte(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 1);
}

/* Runs @script with a pipe as its standard output and waits for its first output. */
static struct command start_and_wait(const char *script)
{
	struct command command;
	int ends[2], output = dup(STDOUT_FILENO);

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	command = start_script(script);
	dup2(output, STDOUT_FILENO);
	close(output);
	wait_for_byte(ends[0]);
	close(ends[0]);
	return command;
}

static void test_cleans_up_on_the_signal(void **state)
{
	struct command command = start_and_wait("trap 'exit 5' INT; echo; while :; do sleep 0.01; done");

	(void)state;
	command_end(&command, SIGINT, LONG_SECONDS);
	assert_true(WIFEXITED(command.status));
	assert_int_equal(WEXITSTATUS(command.status), 5);
	is_gone(&command);
}

static void test_ignores_the_signal(void **state)
{
	struct command command = start_and_wait("trap '' TERM; echo; while :; do sleep 0.01; done");

	(void)state;
	command_end(&command, SIGTERM, 1);
	assert_true(command.ended);
	assert_true(WIFSIGNALED(command.status));
	assert_int_equal(WTERMSIG(command.status), SIGKILL);
	is_gone(&command);
}

static void cannot_be_started(const char *program, int expected)
{
	struct command command = { .pid = 1234 };
	sigset_t mask;

	sigemptyset(&mask);
	assert_int_equal(command_start(&command, (char *const[]){ (char *)program, NULL }, &mask), expected);
	assert_int_equal(command.pid, 0);
	/* What was not started cannot be ended. */
	command_poll(&command);
	command_end(&command, SIGTERM, LONG_SECONDS);
	assert_false(command.ended);
}

static void test_cannot_be_started(void **state)
{
	char *unexecutable;

	(void)state;
	/* It makes a plain fork of the one that shares memory, by which posix_spawn() learns of the failure. */
	if (RUNNING_ON_VALGRIND) {
		print_message("# not tested under valgrind\n");
		return;
	}
	cannot_be_started("/no/such/program", -ENOENT);
	cannot_be_started("kwitness-no-such-program", -ENOENT);
	unexecutable = file_with("no program");
	cannot_be_started(unexecutable, -EACCES);
	unlink(unexecutable);
	free(unexecutable);
}

static void test_found_in_path(void **state)
{
	struct command command = start((char *const[]){ "true", NULL });

	(void)state;
	wait_until_ended(&command);
	assert_int_equal(command.status, 0);
}

/* Our own mask is not the command's: what we block for ourselves must reach it. */
static void test_signal_mask(void **state)
{
	sigset_t blocked, original;
	struct command command = {};

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &original), 0);
	assert_int_equal(
		command_start(&command, (char *const[]){ "sh", "-c", "kill -USR1 $$; exit 3", NULL }, &original), 0);
	wait_until_ended(&command);
	assert_int_equal(sigprocmask(SIG_SETMASK, &original, NULL), 0);
	assert_true(WIFSIGNALED(command.status));
	assert_int_equal(WTERMSIG(command.status), SIGUSR1);
}

static void test_ends_once(void **state)
{
	struct command command = start_script("exit 3");

	(void)state;
	wait_until_ended(&command);
	command_end(&command, SIGTERM, LONG_SECONDS);
	command_poll(&command);
	assert_int_equal(WEXITSTATUS(command.status), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_poll_does_not_wait),
		cmocka_unit_test(test_ends_on_sigterm),
		cmocka_unit_test(test_cleans_up_on_the_signal),
		cmocka_unit_test(test_ignores_the_signal),
		cmocka_unit_test(test_cannot_be_started),
		cmocka_unit_test(test_found_in_path),
		cmocka_unit_test(test_signal_mask),
		cmocka_unit_test(test_ends_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
