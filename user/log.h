/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to standard error, libbpf's among them. */
#ifndef KWITNESS_LOG_H
#define KWITNESS_LOG_H

/* How much is said besides errors: 0 progress and warnings, 1 (-v) steps, 2 (-vv) libbpf's own log. */
void log_set_verbosity(int verbosity);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_step(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Routes libbpf's messages here and remembers its last complaints. */
void log_capture_libbpf(void);

/* Forgets the complaints, before a call whose failure is to be explained. */
void log_forget_libbpf(void);

/* Everything that libbpf complained about since then; never NULL. Valid until the next complaint. */
const char *log_libbpf_complaints(void);

/* Formats into a new string that the caller frees; NULL only when memory is exhausted. */
char *format_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* KWITNESS_LOG_H */
