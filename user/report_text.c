// SPDX-License-Identifier: GPL-2.0-only
/* The report for a person, WRAP_WIDTH columns wide where the data allows it. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "evidence.h"
#include "report.h"
#include "wrap.h"

#define NS_PER_SECOND 1e9

static void print_command(FILE *out, const struct report *report)
{
	int status = report->command.status;

	if (!report->command.argv)
		return;
	fputs("Command:", out);
	for (char *const *word = report->command.argv; *word; word++)
		fprintf(out, strpbrk(*word, " \t\n'\"") || !**word ? " \"%s\"" : " %s", *word);
	if (!report->command.started)
		fputs(": not started\n", out);
	else if (strcmp(report->ended_by, "command"))
		fputs(": ended by kwitness when the checks ended\n", out);
	else if (WIFSIGNALED(status))
		fprintf(out, ": killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		fprintf(out, ": exited with status %d\n", WEXITSTATUS(status));
}

static void print_head(FILE *out, const struct report *report)
{
	fprintf(out, "kwitness %s on Linux %s (%s), %u CPUs; checked for %.3f s, ended by %s\n", KWITNESS_VERSION,
		report->kernel, report->arch, report->cpus, report->duration_ns / NS_PER_SECOND,
		strcmp(report->ended_by, "command") ? report->ended_by : "the command");
	print_command(out, report);
}

static void print_invariant(FILE *out, const struct report *report, size_t id)
{
	const struct invariant_report *invariant = &report->invariants[id];

	fprintf(out, "%-28s %14" PRIu64 " %12" PRIu64 "  %s", invariant->invariant->id, invariant->evaluated,
		invariant->violations, verdict_name(invariant->verdict));
	if (invariant->only_known) {
		char *names = report_known_names(report, id);

		fprintf(out, " (known: %s)", names);
		free(names);
	}
	fputc('\n', out);
	if (invariant->reason) {
		fputs("    ", out);
		wrap_print(out, invariant->reason, 4, 4);
	}
}

static void print_invariants(FILE *out, const struct report *report)
{
	fprintf(out, "\n%-28s %14s %12s  %s\n", "Invariant", "evaluated", "violations", "verdict");
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (report->invariants[i].chosen)
			print_invariant(out, report, i);
}

static void print_exemptions(FILE *out, const struct report *report)
{
	const char *head = "\nLegal cases that were not judged:\n";

	for (size_t i = 0; i < NR_EXEMPTIONS; i++) {
		const struct exemption *exemption = &exemptions[i];
		int column;

		if (!report->exempted[i])
			continue;
		column = fprintf(out, "%s%14" PRIu64 "  %s: %s: ", head, report->exempted[i],
				 invariants[exemption->invariant].id, exemption->name);
		wrap_print(out, exemption->why, column - (int)strlen(head), 16);
		head = "";
	}
}

static void print_losses(FILE *out, const struct report *report)
{
	const char *head = "\nLost:\n";

	for (size_t i = 0; i < NR_LOSSES; i++) {
		if (!report->lost[i])
			continue;
		fprintf(out, "%s%14" PRIu64 "  %s\n", head, report->lost[i], losses[i].what);
		head = "";
	}
	if (report->records_lost) {
		fprintf(out,
			"%s%14" PRIu64 "  records of violations or of their history, since the ring buffer was full\n",
			head, report->records_lost);
		head = "";
	}
	if (*head)
		fputs("\nLost: nothing\n", out);
}

/* The dearest probe comes first. */
static int compare_cost(const void *a, const void *b, void *arg)
{
	const struct report *report = arg;
	uint64_t one = report->probes[*(const size_t *)a].run_ns, other = report->probes[*(const size_t *)b].run_ns;

	return (one < other) - (one > other);
}

static void print_probe(FILE *out, const struct probe_report *probe, uint64_t cpu_time_ns)
{
	fprintf(out, "  %-36s %-20s %12" PRIu64, probe->name, probe->how, probe->hits);
	if (probe->hits)
		fprintf(out, " %8.0f %8.3f %%\n", (double)probe->run_ns / probe->hits,
			cpu_time_ns ? 100.0 * probe->run_ns / cpu_time_ns : 0);
	else
		fprintf(out, " %8s\n", "-");
}

static void print_cost(FILE *out, const struct report *report)
{
	uint64_t cost = report_cost_ns(report);
	size_t *order;

	if (!cost) {
		fputs("\nCost of kwitness: nothing was measured, since no probe ran or the kernel took no times\n",
		      out);
		return;
	}
	fprintf(out, "\nCost of kwitness: %.3f %% of all CPU time (%.3f of %.3f s)\n", report_overhead_percent(report),
		cost / NS_PER_SECOND, report->cpu_time_ns / NS_PER_SECOND);
	fprintf(out, "  %-36s %-20s %12s %8s %10s\n", "probe", "how", "hits", "ns/hit", "CPU time");
	order = calloc(report->nr_probes, sizeof(*order));
	for (size_t i = 0; i < report->nr_probes; i++)
		order[i] = i;
	qsort_r(order, report->nr_probes, sizeof(*order), compare_cost, (void *)report);
	for (size_t i = 0; i < report->nr_probes; i++)
		print_probe(out, &report->probes[order[i]], report->cpu_time_ns);
	free(order);
}

static const char *meaning(const struct report *report)
{
	switch (report->status) {
	case EXIT_VIOLATED:
		return "the kernel broke an invariant, and nothing in --known explains it";
	case EXIT_USAGE:
		return "kwitness failed";
	case EXIT_INCONCLUSIVE:
		return report_command_failed(report)
			       ? "the command failed, so it may not have done what was to be checked"
			       : "evidence is missing, or nothing was exercised; see above";
	case EXIT_CANNOT_CHECK:
		return "nothing that was chosen can be checked on this kernel; `kwitness doctor` tells why";
	case EXIT_HOLDS:
		break;
	}
	for (size_t i = 0; i < NR_INVARIANTS; i++)
		if (report->invariants[i].only_known)
			return "what was exercised holds, apart from known findings";
	return "everything that was exercised holds";
}

int report_write_text(FILE *out, const struct report *report)
{
	if (report->error) {
		fprintf(out, "kwitness %s failed: %s\n", KWITNESS_VERSION, report->error);
		return report_flush(out);
	}
	print_head(out, report);
	print_invariants(out, report);
	print_exemptions(out, report);
	print_losses(out, report);
	evidence_write_text(out, report);
	print_cost(out, report);
	fprintf(out, "\nVerdict: %s (exit status %d: %s)\n", verdict_name(report->verdict), report->status,
		meaning(report));
	return report_flush(out);
}
