/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel symbols, from /proc/kallsyms. */
#ifndef KWITNESS_SYMBOLS_H
#define KWITNESS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Loads the symbols once; later calls are free. Returns 0, or -errno when the file cannot be read. Addresses that
 * kptr_restrict hides are not an error: symbols_hidden() tells.
 */
int symbols_load(void);

/* The same from a file in the format of /proc/kallsyms, for tests. */
int symbols_load_from(const char *path);

/* True if the kernel showed all addresses as 0 (kernel.kptr_restrict, or no CAP_SYSLOG). */
bool symbols_hidden(void);

/* Writes "function+0x12" for a kernel address, or the bare address where it is not known. */
void symbols_print(FILE *out, uint64_t address);

/*
 * True for an address in a BPF program or trampoline: they have no symbol, or one of the pseudo-module [bpf]. False for
 * all addresses when symbols are hidden.
 */
bool symbols_is_bpf(uint64_t address);

/*
 * Calls @found for every text symbol that is @function or a copy the compiler made of it (function.isra.0,
 * function.constprop.0, function.part.0, function.cold); returns how many there are.
 */
size_t symbols_copies(const char *function, void (*found)(const char *symbol, void *arg), void *arg);

void symbols_free(void);

#endif /* KWITNESS_SYMBOLS_H */
