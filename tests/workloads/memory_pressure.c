// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is copied on write, mapped, protected and unmapped on all CPUs, and
 * optionally becomes scarce inside a cgroup.
 *
 * Kernel paths: do_wp_page (__delayacct_wpcopy_start and _end), dup_mmap,
 * flush_tlb_mm_range and native_flush_tlb_multi while threads of the mm run,
 * sleep (lazy TLB) and migrate, so that mm_cpumask grows and shrinks. With
 * --cgroup: do_try_to_free_pages from the charge of a page
 * (__delayacct_freepages_start), and refaults of file pages that were active
 * (__delayacct_thrashing_start).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common.h"

#define PAGE_BYTES 4096UL
#define PAGE_WORDS (PAGE_BYTES / sizeof(unsigned int))
#define MAPPING_BYTES (16 * PAGE_BYTES)
#define FILE_USERS 2
#define RECLAIM_AT_ONCE "512K"
#define CHUNK_BYTES (32 * PAGE_BYTES)
/* Enough to copy; more would only make forks rare. */
#define PAGES_PER_PROCESS_MAX 256

enum { CHILDREN, PAGES_COPIED, MAPPINGS, CHUNKS_USED, RECLAIMS };

static struct workload_counter counters[] = {
	[CHILDREN] = { "children", MORE_TIME }, [PAGES_COPIED] = { "pages copied on write", MORE_TIME },
	[MAPPINGS] = { "mappings", MORE_TIME }, [CHUNKS_USED] = { "file chunks used under the limit" },
	[RECLAIMS] = { "reclaims asked for" },	{},
};

static const char *cgroup;
static const char *directory = ".";
static unsigned int memory_mebibytes = 24;

static const struct workload_option options[] = {
	{ "cgroup", 'c', "PATH",
	  "Put the processes into this cgroup v2 directory, which is made if missing, and set its "
	  "memory.max to --memory",
	  .text = &cgroup },
	{ "directory", 'd', "DIR", "Where the files used under the limit are made", .text = &directory },
	{ "memory", 'm', "MIB", "Memory to use in all, in MiB", .number = &memory_mebibytes },
	{},
};

static struct workload workload = {
	.help = "Copy-on-write, mapping changes and memory pressure. --threads is the number of "
		"processes that fork and of threads that change mappings.",
	.options = options,
	.counters = counters,
	.seconds = 5,
	.threads_per_cpu = 1,
};

static void write_file_in_cgroup(const char *file, const char *text)
{
	char path[4096];
	int descriptor;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	descriptor = open(path, O_WRONLY | O_CLOEXEC);
	if (descriptor < 0 || write(descriptor, text, strlen(text)) < 0)
		fail("cannot write '%s' to %s (is it a cgroup v2 directory, with the memory "
		     "controller in cgroup.subtree_control of its parent?): %m",
		     text, path);
	close(descriptor);
}

/* What is no cache of a device cannot be reclaimed: the limit would kill us. */
static void check_directory(void)
{
	struct statfs status;

	if (statfs(directory, &status))
		fail("cannot look at %s: %m", directory);
	if (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC)
		fail("%s has no device below it, choose another --directory for --cgroup", directory);
}

/* Returns whether the cgroup is ours to remove. */
static bool prepare_cgroup(void)
{
	char limit[32];
	bool created;

	check_directory();
	created = !mkdir(cgroup, 0755);
	if (!created && errno != EEXIST)
		fail("cannot make the cgroup %s: %m", cgroup);
	write_file_in_cgroup("../cgroup.subtree_control", "+memory");
	snprintf(limit, sizeof(limit), "%uM", memory_mebibytes);
	write_file_in_cgroup("memory.max", limit);
	return created;
}

static void check_memory(void)
{
	unsigned long all = sysconf(_SC_PHYS_PAGES) * PAGE_BYTES / MEBIBYTE;

	if (memory_mebibytes < 16 || memory_mebibytes > all / 4)
		fail("--memory must be 16 to %lu (a quarter of this machine's)", all / 4);
}

static unsigned int *map_pages(size_t bytes)
{
	unsigned int *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		fail("cannot map %zu bytes: %m", bytes);
	return pages;
}

static void write_pages(unsigned int *pages, size_t bytes, unsigned int value)
{
	size_t word;

	for (word = 0; word < bytes / sizeof(*pages); word += PAGE_WORDS)
		pages[word] = value;
}

static void check_pages(const unsigned int *pages, size_t bytes, unsigned int expected)
{
	size_t word;

	for (word = 0; word < bytes / sizeof(*pages); word += PAGE_WORDS)
		if (pages[word] != expected)
			fail("page %zu holds %#x instead of %#x", word / PAGE_WORDS, pages[word], expected);
}

/* At most half of the memory for these processes and their children, and not all of it at once. */
static size_t bytes_per_process(void)
{
	size_t pages = memory_mebibytes * MEBIBYTE / PAGE_BYTES / 4 / workload.threads;

	if (pages > PAGES_PER_PROCESS_MAX)
		pages = PAGES_PER_PROCESS_MAX;
	return (pages ? pages : 1) * PAGE_BYTES;
}

static void copy_on_write(unsigned int index)
{
	size_t bytes = bytes_per_process();
	unsigned int *pages, value;
	pid_t child;

	if (cgroup)
		write_file_in_cgroup("cgroup.procs", "0");
	pages = map_pages(bytes);
	for (value = index; !stopping(); value++) {
		write_pages(pages, bytes, value);
		child = fork();
		if (child < 0)
			fail("cannot fork: %m");
		if (!child) {
			check_pages(pages, bytes, value);
			write_pages(pages, bytes, ~value);
			check_pages(pages, bytes, ~value);
			_exit(EXIT_SUCCESS);
		}
		wait_for_child(child, EXIT_SUCCESS, NULL);
		check_pages(pages, bytes, value);
		count(CHILDREN, 1);
		count(PAGES_COPIED, bytes / PAGE_BYTES);
	}
}

/* Every step takes rights away, so that the other CPUs' TLBs must be flushed. */
static void change_mapping(unsigned int value)
{
	unsigned int *pages = map_pages(MAPPING_BYTES);

	write_pages(pages, MAPPING_BYTES, value);
	if (mprotect(pages, MAPPING_BYTES, PROT_READ))
		fail("mprotect failed: %m");
	check_pages(pages, MAPPING_BYTES, value);
	if (madvise(pages, MAPPING_BYTES, MADV_DONTNEED))
		fail("madvise failed: %m");
	check_pages(pages, MAPPING_BYTES, 0);
	if (munmap(pages, MAPPING_BYTES))
		fail("munmap failed: %m");
	count(MAPPINGS, 1);
}

/* A thread that sleeps leaves its CPU in lazy TLB mode, one that moves adds a CPU. */
static void change_mappings(unsigned int index)
{
	unsigned int round;

	for (round = index; !stopping(); round++) {
		change_mapping(round);
		if (round % 32 == 0)
			run_on_cpu(round / 32);
		if (round % 16 == 0)
			sleep_for(1);
	}
}

/* Synced at once: dirty pages cannot be reclaimed, and would invite the OOM killer. */
static void write_chunk(int file, off_t offset)
{
	static const char zeroes[CHUNK_BYTES];

	if (pwrite(file, zeroes, CHUNK_BYTES, offset) != (ssize_t)CHUNK_BYTES || fdatasync(file))
		fail("cannot write a file in %s (try a smaller --memory): %m", directory);
}

/*
 * Only the refault of a page that was in use is thrashing. What counts as use is
 * repeated reading for the classic LRU, and a page fault for the multi-generational.
 */
static void read_chunk(int file, off_t offset)
{
	static char content[CHUNK_BYTES];
	const char *chunk = mmap(NULL, CHUNK_BYTES, PROT_READ, MAP_SHARED, file, offset);
	size_t page;

	if (chunk == MAP_FAILED)
		fail("cannot map a file in %s: %m", directory);
	for (page = 0; page < CHUNK_BYTES; page += PAGE_BYTES)
		if (*(volatile const char *)(chunk + page))
			fail("a page of zeroes in %s holds something else", directory);
	if (pread(file, content, CHUNK_BYTES, offset) < 0 || pread(file, content, CHUNK_BYTES, offset) < 0)
		fail("cannot read a file in %s: %m", directory);
	munmap((void *)chunk, CHUNK_BYTES);
}

/*
 * Asks for what the limit alone brings about on a fast device only. EAGAIN says
 * that less than that could be reclaimed, ENOENT that Linux is older than 5.19.
 */
static void reclaim(void)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/memory.reclaim", cgroup);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 && errno == ENOENT)
		return;
	if (file < 0 || (write(file, RECLAIM_AT_ONCE, strlen(RECLAIM_AT_ONCE)) < 0 && errno != EAGAIN))
		fail("cannot write to %s: %m", path);
	close(file);
	count(RECLAIMS, 1);
}

/* All files together are larger than the limit. */
static void use_file_under_limit(unsigned int index)
{
	unsigned int chunks = memory_mebibytes * MEBIBYTE / CHUNK_BYTES / FILE_USERS * 5 / 4;
	unsigned int seed = index, written = 0;
	int file;

	write_file_in_cgroup("cgroup.procs", "0");
	file = open_unnamed_file(directory);
	while (!stopping()) {
		if (written < chunks)
			write_chunk(file, written++ * CHUNK_BYTES);
		read_chunk(file, rand_r(&seed) % written * CHUNK_BYTES);
		if (rand_r(&seed) % 4 == 0)
			reclaim();
		count(CHUNKS_USED, 1);
	}
}

int main(int argc, char **argv)
{
	bool remove_cgroup;
	unsigned int i;
	int status;

	workload_begin(&workload, argc, argv);
	check_memory();
	remove_cgroup = cgroup && prepare_cgroup();
	for (i = 0; i < workload.threads; i++)
		run_process(copy_on_write, i);
	for (i = 0; i < FILE_USERS && cgroup; i++)
		run_process(use_file_under_limit, i);
	for (i = 0; i < workload.threads; i++)
		run_thread(change_mappings, i);
	workload_wait();
	if (cgroup)
		counters[CHUNKS_USED].advice = MORE_TIME;
	status = workload_end();
	if (remove_cgroup && rmdir(cgroup))
		note("cannot remove the cgroup %s: %m", cgroup);
	return status;
}
