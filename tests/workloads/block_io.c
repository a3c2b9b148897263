// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes wait for a block device while others compete for their CPUs.
 *
 * Kernel paths: io_schedule with in_iowait set, __delayacct_blkio_start and
 * _end (the end runs in try_to_wake_up of whoever completes the I/O), direct
 * I/O, writeback through fsync, page cache misses after POSIX_FADV_DONTNEED,
 * and the delayed dequeue of Linux 6.12: a task that computed more than its
 * share and then blocks stays queued when a hog waits on the same CPU, so that
 * __block_task runs later, while another task is current.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"

#define BLOCK_BYTES (64UL * 1024UL)
#define BLOCK_WORDS (BLOCK_BYTES / sizeof(uint64_t))

#define NO_DEVICE "choose a --directory on a block device, or a --device"

enum { BUFFERED_ROUNDS, DIRECT_ROUNDS, SECTORS_READ, SECTORS_WRITTEN, BLOCKED };

static const struct workload_counter counters[] = {
	[BUFFERED_ROUNDS] = { "buffered rounds" },	 [DIRECT_ROUNDS] = { "direct rounds" },
	[SECTORS_READ] = { "sectors read", NO_DEVICE },	 [SECTORS_WRITTEN] = { "sectors written", NO_DEVICE },
	[BLOCKED] = { "voluntary switches", MORE_TIME }, {}
};

static const char *directory = ".";
static const char *device;
static unsigned int size_mebibytes = 1;
static bool no_hogs;

static const struct workload_option options[] = {
	{ "directory", 'd', "DIR", "Where the files are made; it must lie on a block device", .text = &directory },
	{ "device", 'D', "FILE", "Overwrite this block device (or file) instead: its content is lost",
	  .text = &device },
	{ "size", 'm', "MIB", "Size of each process's part in MiB", .number = &size_mebibytes },
	{ "no-hogs", 'n', NULL, "Leave the CPUs to those who do I/O", .flag = &no_hogs },
	{},
};

static struct workload workload = {
	.help = "Block I/O, direct and through the page cache, checked byte by byte. --threads is "
		"the number of processes doing I/O, spread over the CPUs.",
	.options = options,
	.counters = counters,
	.seconds = 5,
	.threads_per_cpu = 2,
};

/* Part of a file that one process has for itself. */
struct region {
	int file;
	off_t start;
	off_t end;
};

/* O_DIRECT wants its memory aligned to the block size of the device. */
static uint64_t block[BLOCK_WORDS] __attribute__((aligned(4096)));

static struct region open_region(unsigned int index)
{
	off_t size = size_mebibytes * MEBIBYTE;
	struct region region = { .start = device ? index * size : 0 };

	region.end = region.start + size;
	region.file = device ? open(device, O_RDWR | O_CLOEXEC) : open_unnamed_file(directory);
	if (region.file < 0)
		fail("cannot open %s: %m", device);
	return region;
}

/* False when the file system does not do direct I/O. */
static bool set_direct(const struct region *region, bool direct)
{
	if (!fcntl(region->file, F_SETFL, direct ? O_DIRECT : 0))
		return true;
	if (!direct || errno != EINVAL)
		fail("cannot switch direct I/O: %m");
	return false;
}

static uint64_t expected_word(uint64_t seed, off_t offset, unsigned int word)
{
	return (seed << 48) ^ (offset + word * sizeof(uint64_t)) * 0x9e3779b97f4a7c15ULL;
}

static void write_region(const struct region *region, uint64_t seed)
{
	unsigned int i;
	off_t offset;

	for (offset = region->start; offset < region->end && !stopping(); offset += BLOCK_BYTES) {
		for (i = 0; i < BLOCK_WORDS; i++)
			block[i] = expected_word(seed, offset, i);
		if (pwrite(region->file, block, BLOCK_BYTES, offset) != (ssize_t)BLOCK_BYTES)
			fail("cannot write at %jd (try a smaller --size or fewer --threads): %m", (intmax_t)offset);
	}
}

static void check_region(const struct region *region, uint64_t seed)
{
	unsigned int i;
	off_t offset;

	for (offset = region->start; offset < region->end && !stopping(); offset += BLOCK_BYTES) {
		if (pread(region->file, block, BLOCK_BYTES, offset) != (ssize_t)BLOCK_BYTES)
			fail("cannot read at %jd: %m", (intmax_t)offset);
		for (i = 0; i < BLOCK_WORDS; i++)
			if (block[i] != expected_word(seed, offset, i))
				fail("read back %#jx at %jd, which is not what was written", (uintmax_t)block[i],
				     (intmax_t)offset);
	}
}

static void do_round(const struct region *region, unsigned int counter, uint64_t seed)
{
	write_region(region, seed);
	if (fsync(region->file))
		fail("fsync failed: %m");
	posix_fadvise(region->file, region->start, region->end - region->start, POSIX_FADV_DONTNEED);
	check_region(region, seed);
	if (!stopping())
		count(counter, 1);
}

static void count_own_usage(void)
{
	struct rusage rusage;

	getrusage(RUSAGE_SELF, &rusage);
	count(SECTORS_READ, rusage.ru_inblock);
	count(SECTORS_WRITTEN, rusage.ru_oublock);
	count(BLOCKED, rusage.ru_nvcsw);
}

static void do_io(unsigned int index)
{
	struct region region = open_region(index);
	uint64_t seed = index;

	run_on_cpu(index);
	while (!stopping()) {
		set_direct(&region, false);
		do_round(&region, BUFFERED_ROUNDS, seed++);
		if (set_direct(&region, true))
			do_round(&region, DIRECT_ROUNDS, seed++);
		else if (seed == 1)
			note("no direct I/O in %s, it is left out", directory);
	}
	count_own_usage();
}

static void hog(unsigned int index)
{
	run_on_cpu(index);
	while (!stopping())
		compute();
}

int main(int argc, char **argv)
{
	unsigned int i;

	workload_begin(&workload, argc, argv);
	for (i = 0; i < workload.threads; i++)
		run_process(do_io, i);
	for (i = 0; i < cpu_count() && !no_hogs; i++)
		run_thread(hog, i);
	workload_wait();
	return workload_end();
}
