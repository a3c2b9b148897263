/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands. Each gets argv[0] "kwitness NAME" and returns an enum exit_status. */
#ifndef KWITNESS_COMMANDS_H
#define KWITNESS_COMMANDS_H

int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif /* KWITNESS_COMMANDS_H */
