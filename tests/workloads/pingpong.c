// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs of processes or threads hand a byte back and forth through two pipes.
 *
 * Kernel paths: pipe_read/pipe_write, try_to_wake_up, context switches between
 * address spaces (switch_mm_irqs_off, mm_cpumask) or inside one (lazy TLB),
 * update_curr at each switch. With --seconds 0 --round-trips N the amount of
 * work is fixed, which makes it the yardstick for the cost of tracing.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "common.h"

enum { ROUND_TRIPS };

static const struct workload_counter counters[] = {
	[ROUND_TRIPS] = { "round trips", MORE_TIME },
	{},
};

static unsigned int round_trips;
static bool in_threads;
static bool pinned;

static const struct workload_option options[] = {
	{ "round-trips", 'n', "N", "End each pair after N round trips; 0: go on until the end",
	  .number = &round_trips },
	{ "in-threads", 'i', NULL, "Use two threads of one process instead of two processes", .flag = &in_threads },
	{ "pinned", 'p', NULL, "Keep both sides of a pair on one CPU", .flag = &pinned },
	{},
};

static struct workload workload = {
	.help = "Pipe ping-pong. --threads is the number of pairs.",
	.options = options,
	.counters = counters,
	.seconds = 5,
	.threads = 1,
};

struct pair {
	int to_partner[2];
	int from_partner[2];
};

static struct pair pairs[256];
static atomic_uint pairs_running;

static void transfer_failed(ssize_t result)
{
	if (result < 0)
		fail("a pipe refused a byte: %m");
	fail("the partner closed its pipe too early");
}

static void answer(unsigned int index)
{
	struct pair *pair = &pairs[index];
	ssize_t result;
	char byte;

	if (pinned)
		run_on_cpu(index);
	if (!in_threads)
		close(pair->to_partner[1]);
	while ((result = read(pair->to_partner[0], &byte, 1)) == 1) {
		result = write(pair->from_partner[1], &byte, 1);
		if (result != 1)
			transfer_failed(result);
	}
	if (result < 0)
		transfer_failed(result);
}

static void one_round_trip(const struct pair *pair, char sent)
{
	ssize_t result;
	char received;

	result = write(pair->to_partner[1], &sent, 1);
	if (result == 1)
		result = read(pair->from_partner[0], &received, 1);
	if (result != 1)
		transfer_failed(result);
	if (received != sent)
		fail("sent byte %d but received byte %d", sent, received);
}

static void ask(unsigned int index)
{
	const struct pair *pair = &pairs[index];
	unsigned long done = 0;

	if (pinned)
		run_on_cpu(index);
	while (!stopping() && (!round_trips || done < round_trips))
		one_round_trip(pair, done++ & 0x7f);
	/* The partner ends when it sees the end of the file. */
	close(pair->to_partner[1]);
	count(ROUND_TRIPS, done);
	if (atomic_fetch_sub(&pairs_running, 1) == 1)
		workload_stop();
}

static void start_pair(unsigned int index)
{
	struct pair *pair = &pairs[index];

	if (pipe(pair->to_partner) || pipe(pair->from_partner))
		fail("cannot create a pipe: %m");
	if (in_threads) {
		run_thread(answer, index);
		return;
	}
	run_process(answer, index);
	close(pair->to_partner[0]);
	close(pair->from_partner[1]);
}

int main(int argc, char **argv)
{
	unsigned int i;

	workload_begin(&workload, argc, argv);
	if (workload.threads > sizeof(pairs) / sizeof(pairs[0]))
		fail("at most %zu pairs", sizeof(pairs) / sizeof(pairs[0]));
	pairs_running = workload.threads;
	for (i = 0; i < workload.threads; i++)
		start_pair(i);
	for (i = 0; i < workload.threads; i++)
		run_thread(ask, i);
	workload_wait();
	return workload_end();
}
