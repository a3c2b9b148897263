// SPDX-License-Identifier: GPL-2.0-only
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	bytes = read(fd, text, size - 1);
	if (bytes < 0)
		bytes = -errno;
	close(fd);
	text[bytes < 0 ? 0 : bytes] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return bytes;
}

/* Reads @path below @root; on failure the text says why. */
static int read_below(const char *root, const char *path, char *text, size_t size)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return read_file(full, text, size);
}

static void set_fact(struct fact *fact, enum fact_state state, char *text, const char *advice)
{
	fact->state = state;
	fact->text = text;
	fact->advice = advice;
}

static void read_btf(struct fact *fact, const char *root, const char *btf)
{
	char path[512], text[8];
	int err;

	fact->name = "BTF";
	snprintf(path, sizeof(path), "%s%s", btf ? "" : root, btf ? btf : "/sys/kernel/btf/vmlinux");
	err = read_file(path, text, sizeof(text));
	if (err < 0)
		set_fact(fact, FACT_PREVENTS, format_string("%s: %s", path, strerror(-err)),
			 btf ? "name a file that holds the kernel's BTF" :
			       "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, or name its BTF with --btf");
	else
		set_fact(fact, FACT_FINE, format_string("%s", path), NULL);
}

static void read_lockdown(struct fact *fact, const char *root)
{
	static const char path[] = "/sys/kernel/security/lockdown";
	char text[128];
	int err = read_below(root, path, text, sizeof(text));

	fact->name = "lockdown";
	if (err < 0)
		set_fact(fact, FACT_UNKNOWN, format_string("%s: %s", path, strerror(-err)),
			 "mount -t securityfs none /sys/kernel/security shows the lockdown state, if the kernel has one");
	else if (strstr(text, "[confidentiality]"))
		set_fact(fact, FACT_PREVENTS, format_string("%s: %s: BPF may not read kernel memory", path, text),
			 "boot with lockdown=none or lockdown=integrity");
	else
		set_fact(fact, FACT_FINE, format_string("%s: %s", path, text), NULL);
}

static uint64_t effective_capabilities(const char *root)
{
	char path[512], *line = NULL;
	unsigned long long capabilities = 0;
	size_t size = 0;
	FILE *status;

	snprintf(path, sizeof(path), "%s/proc/self/status", root);
	status = fopen(path, "re");
	while (status && getline(&line, &size, status) > 0)
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	free(line);
	if (status)
		fclose(status);
	return capabilities;
}

static bool has_capability(uint64_t capabilities, unsigned int capability)
{
	/* CAP_SYS_ADMIN implies CAP_BPF and CAP_PERFMON: capabilities(7). */
	return capabilities >> capability & 1 || (capability != CAP_SYSLOG && capabilities >> CAP_SYS_ADMIN & 1);
}

static void read_capabilities(struct fact *fact, const char *root)
{
	uint64_t capabilities = effective_capabilities(root);
	const char *bpf = has_capability(capabilities, CAP_BPF) ? "" : " CAP_BPF";
	const char *perfmon = has_capability(capabilities, CAP_PERFMON) ? "" : " CAP_PERFMON";
	const char *syslog = has_capability(capabilities, CAP_SYSLOG) ? "" : " CAP_SYSLOG";

	fact->name = "capabilities";
	if (*bpf || *perfmon)
		set_fact(fact, FACT_NO_PRIVILEGE,
			 format_string("/proc/self/status, CapEff %llx: missing%s%s%s", (unsigned long long)capabilities,
				       bpf, perfmon, syslog),
			 "run as root, or with CAP_BPF and CAP_PERFMON (CAP_SYSLOG for symbols in stacks)");
	else if (*syslog)
		set_fact(fact, FACT_LIMITS,
			 format_string("/proc/self/status, CapEff %llx: missing CAP_SYSLOG",
				       (unsigned long long)capabilities),
			 "add CAP_SYSLOG: without it kernel stacks are bare addresses");
	else
		set_fact(fact, FACT_FINE,
			 format_string("/proc/self/status, CapEff %llx: CAP_BPF, CAP_PERFMON and CAP_SYSLOG",
				       (unsigned long long)capabilities),
			 NULL);
}

static void read_kptr_restrict(struct fact *fact, const char *root)
{
	static const char path[] = "/proc/sys/kernel/kptr_restrict";
	char text[16];
	int err = read_below(root, path, text, sizeof(text));

	fact->name = "kptr_restrict";
	if (err < 0)
		set_fact(fact, FACT_LIMITS, format_string("%s: %s", path, strerror(-err)), "mount /proc");
	else if (text[0] == '2')
		set_fact(fact, FACT_LIMITS, format_string("%s: 2: addresses are hidden from everybody", path),
			 "set kernel.kptr_restrict=1: at 2 symbols cannot be resolved, and some probes cannot be loaded");
	else
		set_fact(fact, FACT_FINE, format_string("%s: %s", path, text), NULL);
}

static void read_jit(struct fact *fact, const char *root)
{
	static const char path[] = "/proc/sys/net/core/bpf_jit_enable";
	char text[16];
	int err = read_below(root, path, text, sizeof(text));

	fact->name = "BPF JIT";
	if (err >= 0 && text[0] == '0')
		set_fact(fact, FACT_PREVENTS, format_string("%s: 0: fentry, fexit and tp_btf need the JIT", path),
			 "set net.core.bpf_jit_enable=1");
	else
		set_fact(fact, FACT_FINE, err < 0 ? format_string("%s: %s, so always on", path, strerror(-err)) :
						    format_string("%s: %s", path, text), NULL);
}

static void read_ftrace(struct fact *fact, const char *root)
{
	static const char path[] = "/proc/sys/kernel/ftrace_enabled";
	char text[16];
	int err = read_below(root, path, text, sizeof(text));

	fact->name = "ftrace";
	if (err < 0)
		set_fact(fact, FACT_PREVENTS, format_string("%s: %s", path, strerror(-err)),
			 "use a kernel built with CONFIG_FUNCTION_TRACER=y and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y");
	else if (text[0] == '0')
		set_fact(fact, FACT_PREVENTS, format_string("%s: 0", path), "set kernel.ftrace_enabled=1");
	else
		set_fact(fact, FACT_FINE, format_string("%s: %s", path, text), NULL);
}

void host_read(struct host *host, const char *root, const char *btf)
{
	read_btf(&host->facts[FACT_BTF], root, btf);
	read_lockdown(&host->facts[FACT_LOCKDOWN], root);
	read_capabilities(&host->facts[FACT_CAPABILITIES], root);
	read_kptr_restrict(&host->facts[FACT_KPTR_RESTRICT], root);
	read_jit(&host->facts[FACT_JIT], root);
	read_ftrace(&host->facts[FACT_FTRACE], root);
}

const struct fact *host_worst(const struct host *host)
{
	const struct fact *worst = NULL;

	for (size_t i = 0; i < HOST_NR_FACTS; i++) {
		const struct fact *fact = &host->facts[i];

		if (fact->state != FACT_FINE && (!worst || fact->state > worst->state))
			worst = fact;
	}
	return worst;
}

char *host_explain(const struct host *host, int err, bool *prevents)
{
	const struct fact *capabilities = &host->facts[FACT_CAPABILITIES];
	const struct fact *lockdown = &host->facts[FACT_LOCKDOWN];
	const struct fact *worst = host_worst(host);

	*prevents = worst && worst->state == FACT_PREVENTS;
	if (worst && worst->state >= FACT_NO_PRIVILEGE)
		return format_string("%s; %s", worst->text, worst->advice);
	if (err != -EPERM && err != -EACCES)
		return worst && worst->state >= FACT_LIMITS ? format_string("%s; %s", worst->text, worst->advice) : NULL;
	/* Some other guard of the kernel: a security module, or a hypervisor's. Only what can be read is told. */
	*prevents = true;
	return format_string("the kernel refuses although the privilege is there (%s); lockdown: %s%s%s",
			     capabilities->text, lockdown->text, lockdown->advice ? "; " : "",
			     lockdown->advice ? lockdown->advice : "");
}

void host_free(struct host *host)
{
	for (size_t i = 0; i < HOST_NR_FACTS; i++)
		free(host->facts[i].text);
}
