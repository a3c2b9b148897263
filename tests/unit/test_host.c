// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "host.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"
#define STATUS "/proc/self/status"
#define BTF "/sys/kernel/btf/vmlinux"
#define KPTR_RESTRICT "/proc/sys/kernel/kptr_restrict"
#define JIT "/proc/sys/net/core/bpf_jit_enable"
#define FTRACE "/proc/sys/kernel/ftrace_enabled"

#define CAPS_ALL "000001ffffffffff"
#define CAPS_BPF_PERFMON "000000c000000000" /* 39 and 38 */
#define CAPS_BPF_PERFMON_SYSLOG "000000c400000000" /* and 34 */
#define CAPS_SYS_ADMIN "0000000000200000" /* 21 */
#define CAPS_BPF_SYSLOG "0000008400000000"

static char root[32];

static void put(const char *path, const char *content)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_true(!mkdir(full, 0755) || errno == EEXIST);
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

static void take_away(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(unlink(full), 0);
}

static void put_capabilities(const char *effective)
{
	char status[256];

	snprintf(status, sizeof(status), "Name:\tkwitness\nCapInh:\t%s\nCapPrm:\t%s\nCapEff:\t%s\nCapBnd:\t%s\n",
		 "0000000000000000", CAPS_ALL, effective, CAPS_ALL);
	put(STATUS, status);
}

/* A kernel on which everything is as it should be. */
static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/kwitness-host-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	put(BTF, "BTF");
	put(LOCKDOWN, "[none] integrity confidentiality\n");
	put_capabilities(CAPS_ALL);
	put(KPTR_RESTRICT, "1\n");
	put(JIT, "1\n");
	put(FTRACE, "1\n");
	return 0;
}

static int forget(const char *path, const struct stat *stat, int type, struct FTW *position)
{
	(void)stat;
	(void)type;
	(void)position;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
}

/* Checks one fact; @text and @advice are parts of what it must say, NULL: no advice. */
static void fact_is(enum fact_id id, enum fact_state state, const char *text, const char *advice)
{
	const struct fact *fact;
	struct host host;

	host_read(&host, root, NULL);
	fact = &host.facts[id];
	assert_non_null(fact->name);
	assert_int_equal(fact->state, state);
	text_contains(fact->text, text);
	if (advice)
		text_contains(fact->advice, advice);
	else
		assert_null(fact->advice);
	host_free(&host);
}

/* Checks what is said when the kernel refuses with @err; NULL: nothing. */
static void explained(int err, bool prevents_expected, const char *part, const char *other_part)
{
	struct host host;
	bool prevents = !prevents_expected;
	char *explanation;

	host_read(&host, root, NULL);
	explanation = host_explain(&host, err, &prevents);
	assert_int_equal(prevents, prevents_expected);
	if (part)
		text_contains(explanation, part);
	else
		assert_null(explanation);
	if (other_part)
		text_contains(explanation, other_part);
	free(explanation);
	host_free(&host);
}

static void test_all_fine(void **state)
{
	struct host host;

	(void)state;
	host_read(&host, root, NULL);
	assert_null(host_worst(&host));
	for (size_t i = 0; i < HOST_NR_FACTS; i++) {
		assert_int_equal(host.facts[i].state, FACT_FINE);
		assert_null(host.facts[i].advice);
		assert_true(*host.facts[i].text);
	}
	host_free(&host);
	explained(-EINVAL, false, NULL, NULL);
}

static void test_btf(void **state)
{
	(void)state;
	fact_is(FACT_BTF, FACT_FINE, BTF, NULL);
	take_away(BTF);
	fact_is(FACT_BTF, FACT_PREVENTS, "No such file", "CONFIG_DEBUG_INFO_BTF");
	explained(-ESRCH, true, BTF, "--btf");
}

static void test_btf_named(void **state)
{
	char *path = file_with("BTF");
	struct host host;

	(void)state;
	take_away(BTF);
	host_read(&host, root, path);
	assert_int_equal(host.facts[FACT_BTF].state, FACT_FINE);
	assert_string_equal(host.facts[FACT_BTF].text, path);
	host_free(&host);
	unlink(path);
	host_read(&host, root, path);
	assert_int_equal(host.facts[FACT_BTF].state, FACT_PREVENTS);
	text_contains(host.facts[FACT_BTF].text, path);
	text_contains(host.facts[FACT_BTF].advice, "name a file");
	host_free(&host);
	free(path);
}

static void test_lockdown(void **state)
{
	(void)state;
	fact_is(FACT_LOCKDOWN, FACT_FINE, "[none]", NULL);
	put(LOCKDOWN, "none [integrity] confidentiality\n");
	fact_is(FACT_LOCKDOWN, FACT_FINE, "[integrity]", NULL);
	put(LOCKDOWN, "none integrity [confidentiality]\n");
	fact_is(FACT_LOCKDOWN, FACT_PREVENTS, "[confidentiality]", "lockdown=integrity");
	explained(-EPERM, true, LOCKDOWN ": none integrity [confidentiality]", "boot with");
	take_away(LOCKDOWN);
	fact_is(FACT_LOCKDOWN, FACT_UNKNOWN, "No such file", "securityfs");
}

static void test_capabilities(void **state)
{
	(void)state;
	fact_is(FACT_CAPABILITIES, FACT_FINE, "1ffffffffff", NULL);
	put_capabilities(CAPS_BPF_PERFMON_SYSLOG);
	fact_is(FACT_CAPABILITIES, FACT_FINE, "CAP_SYSLOG", NULL);
	put_capabilities(CAPS_BPF_PERFMON);
	fact_is(FACT_CAPABILITIES, FACT_LIMITS, "missing CAP_SYSLOG", "addresses");
	put_capabilities(CAPS_SYS_ADMIN);
	fact_is(FACT_CAPABILITIES, FACT_LIMITS, "missing CAP_SYSLOG", "CAP_SYSLOG");
	put_capabilities(CAPS_BPF_SYSLOG);
	fact_is(FACT_CAPABILITIES, FACT_NO_PRIVILEGE, "missing CAP_PERFMON", "root");
	put_capabilities("0000000000000000");
	fact_is(FACT_CAPABILITIES, FACT_NO_PRIVILEGE, "missing CAP_BPF CAP_PERFMON CAP_SYSLOG", "root");
	explained(-EPERM, false, "missing CAP_BPF", "run as root");
}

/* Nothing is guessed: what cannot be read is not there. */
static void test_capabilities_unreadable(void **state)
{
	(void)state;
	take_away(STATUS);
	fact_is(FACT_CAPABILITIES, FACT_NO_PRIVILEGE, "CAP_BPF", "root");
	put(STATUS, "Name:\tkwitness\n");
	fact_is(FACT_CAPABILITIES, FACT_NO_PRIVILEGE, "CAP_BPF", "root");
}

static void test_kptr_restrict(void **state)
{
	(void)state;
	put(KPTR_RESTRICT, "0\n");
	fact_is(FACT_KPTR_RESTRICT, FACT_FINE, KPTR_RESTRICT ": 0", NULL);
	put(KPTR_RESTRICT, "1\n");
	fact_is(FACT_KPTR_RESTRICT, FACT_FINE, KPTR_RESTRICT ": 1", NULL);
	put(KPTR_RESTRICT, "2\n");
	fact_is(FACT_KPTR_RESTRICT, FACT_LIMITS, "hidden from everybody", "kernel.kptr_restrict=1");
	explained(-ESRCH, false, "kptr_restrict: 2", "kernel.kptr_restrict=1");
	take_away(KPTR_RESTRICT);
	fact_is(FACT_KPTR_RESTRICT, FACT_LIMITS, "No such file", "/proc");
}

static void test_jit(void **state)
{
	(void)state;
	put(JIT, "2\n");
	fact_is(FACT_JIT, FACT_FINE, JIT ": 2", NULL);
	put(JIT, "0\n");
	fact_is(FACT_JIT, FACT_PREVENTS, JIT ": 0", "net.core.bpf_jit_enable=1");
	explained(-ENOTSUP, true, JIT ": 0", "net.core.bpf_jit_enable=1");
	take_away(JIT);
	fact_is(FACT_JIT, FACT_FINE, "always on", NULL);
}

static void test_ftrace(void **state)
{
	(void)state;
	put(FTRACE, "0\n");
	fact_is(FACT_FTRACE, FACT_PREVENTS, FTRACE ": 0", "kernel.ftrace_enabled=1");
	take_away(FTRACE);
	fact_is(FACT_FTRACE, FACT_PREVENTS, "No such file", "CONFIG_FUNCTION_TRACER");
}

/* What the kernel forbids everybody outweighs what this user lacks, and that what only limits. */
static void test_worst(void **state)
{
	struct host host;

	(void)state;
	take_away(LOCKDOWN);
	put(KPTR_RESTRICT, "2\n");
	explained(-EINVAL, false, "kptr_restrict", NULL);
	put_capabilities("0000000000000000");
	explained(-EPERM, false, "missing CAP_BPF", NULL);
	put(FTRACE, "0\n");
	host_read(&host, root, NULL);
	assert_ptr_equal(host_worst(&host), &host.facts[FACT_FTRACE]);
	host_free(&host);
	explained(-EPERM, true, FTRACE, "kernel.ftrace_enabled=1");
}

/* Everything readable is fine, and yet the kernel refuses: the facts are told, and no cause is made up. */
static void test_refused_without_a_cause(void **state)
{
	(void)state;
	explained(-EPERM, true, "although the privilege is there", "[none] integrity");
	explained(-EACCES, true, "1ffffffffff", "[none] integrity");
	take_away(LOCKDOWN);
	explained(-EPERM, true, "although the privilege is there", "securityfs");
}

static void test_read_file(void **state)
{
	char *path = file_with("one line\nand another\n");
	char text[64], tiny[4];

	(void)state;
	assert_int_equal(read_file(path, text, sizeof(text)), 21);
	assert_string_equal(text, "one line");
	assert_int_equal(read_file(path, tiny, sizeof(tiny)), 3);
	assert_string_equal(tiny, "one");
	unlink(path);
	assert_int_equal(read_file(path, text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
	assert_int_equal(read_file("/", text, sizeof(text)), -EISDIR);
	assert_string_equal(text, "");
	free(path);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ROOT(test_all_fine),
		WITH_ROOT(test_btf),
		WITH_ROOT(test_btf_named),
		WITH_ROOT(test_lockdown),
		WITH_ROOT(test_capabilities),
		WITH_ROOT(test_capabilities_unreadable),
		WITH_ROOT(test_kptr_restrict),
		WITH_ROOT(test_jit),
		WITH_ROOT(test_ftrace),
		WITH_ROOT(test_worst),
		WITH_ROOT(test_refused_without_a_cause),
		cmocka_unit_test(test_read_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
