// SPDX-License-Identifier: GPL-2.0-only
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_TYPES "tTwW"

/* kallsyms tells no sizes. What is farther from a symbol than any function is long belongs to none: BPF programs. */
#define MAX_FUNCTION_BYTES (1 << 20)

struct symbol {
	uint64_t address; /* 0: hidden */
	char *name; /* behind its terminator stands the module: "[name]", or nothing for the kernel's own */
};

/* Sorted by address; the one after the last ends the range of the last. */
static struct symbol *symbols;
static size_t nr_symbols;
static bool loaded;

static const char *module_of(const struct symbol *symbol)
{
	return symbol->name + strlen(symbol->name) + 1;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct symbol *one = a, *other = b;

	return (one->address > other->address) - (one->address < other->address);
}

/* Both strings in one allocation: there are some 100,000 symbols. */
static char *join_name(const char *name, const char *module)
{
	size_t name_size = strlen(name) + 1, module_size = strlen(module) + 1;
	char *joined = malloc(name_size + module_size);

	if (joined) {
		memcpy(joined, name, name_size);
		memcpy(joined + name_size, module, module_size);
	}
	return joined;
}

/* Adds the symbol of one line if it is code; the array keeps room for the end mark. */
static int add_line(const char *line, size_t *capacity)
{
	char type, name[512], module[64] = "";
	uint64_t address;

	if (sscanf(line, "%" SCNx64 " %c %511s %63s", &address, &type, name, module) < 3 || !strchr(TEXT_TYPES, type))
		return 0;
	if (nr_symbols + 2 > *capacity) {
		struct symbol *larger;

		*capacity = *capacity ? 2 * *capacity : 4096;
		larger = reallocarray(symbols, *capacity, sizeof(*symbols));
		if (!larger)
			return -ENOMEM;
		symbols = larger;
	}
	symbols[nr_symbols] = (struct symbol){ address, join_name(name, module) };
	return symbols[nr_symbols++].name ? 0 : -ENOMEM;
}

static int read_lines(FILE *file)
{
	size_t line_size = 0, capacity = 0;
	char *line = NULL;
	int err = 0;

	while (!err && getline(&line, &line_size, file) > 0)
		err = add_line(line, &capacity);
	if (!err && ferror(file))
		err = -EIO;
	free(line);
	return err;
}

int symbols_load_from(const char *path)
{
	FILE *file = fopen(path, "re");
	int err;

	if (!file)
		return -errno;
	symbols_free();
	err = read_lines(file);
	fclose(file);
	if (err) {
		symbols_free();
		return err;
	}
	if (nr_symbols) {
		qsort(symbols, nr_symbols, sizeof(*symbols), compare_addresses);
		symbols[nr_symbols] =
			(struct symbol){ .address = symbols[nr_symbols - 1].address + MAX_FUNCTION_BYTES };
	}
	loaded = true;
	return 0;
}

int symbols_load(void)
{
	return loaded ? 0 : symbols_load_from("/proc/kallsyms");
}

bool symbols_hidden(void)
{
	return nr_symbols && !symbols[nr_symbols - 1].address;
}

static int compare_ranges(const void *key, const void *element)
{
	uint64_t address = *(const uint64_t *)key;
	const struct symbol *symbol = element;

	if (address < symbol[0].address)
		return -1;
	return address >= symbol[1].address;
}

/* The symbol that @address lies in, or NULL. */
static const struct symbol *find_symbol(uint64_t address)
{
	const struct symbol *symbol = NULL;

	if (nr_symbols && !symbols_hidden())
		symbol = bsearch(&address, symbols, nr_symbols, sizeof(*symbols), compare_ranges);
	if (!symbol || !symbol->address || address - symbol->address >= MAX_FUNCTION_BYTES)
		return NULL;
	return symbol;
}

void symbols_print(FILE *out, uint64_t address)
{
	const struct symbol *symbol = find_symbol(address);

	if (!symbol) {
		fprintf(out, "0x%016" PRIx64, address);
		return;
	}
	fprintf(out, "%s+0x%" PRIx64, symbol->name, address - symbol->address);
	if (*module_of(symbol))
		fprintf(out, " %s", module_of(symbol));
}

bool symbols_is_bpf(uint64_t address)
{
	const struct symbol *symbol = find_symbol(address);

	return nr_symbols && !symbols_hidden() && (!symbol || !strcmp(module_of(symbol), "[bpf]"));
}

size_t symbols_copies(const char *function, void (*found)(const char *symbol, void *arg), void *arg)
{
	size_t length = strlen(function), copies = 0;

	for (size_t i = 0; i < nr_symbols; i++) {
		const char *name = symbols[i].name;

		/* No identifier of C has a dot in it: what follows one was put there by the compiler. */
		if (strncmp(name, function, length) || (name[length] && name[length] != '.'))
			continue;
		found(name, arg);
		copies++;
	}
	return copies;
}

void symbols_free(void)
{
	for (size_t i = 0; i < nr_symbols; i++)
		free(symbols[i].name);
	free(symbols);
	symbols = NULL;
	nr_symbols = 0;
	loaded = false;
}
