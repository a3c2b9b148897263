#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# scripts/vm, by booting guests. Each boot is dear, so one serves many checks.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
vm=$root/scripts/vm
scan=$root/scripts/console-scan
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# scripts/vm keeps a guest's files where TMPDIR says: what it leaves is seen here.
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# shellcheck source=tests/tap.sh
. "$here/../tap.sh"

# Runs scripts/vm; sets status, stdout and stderr (the latter two without the
# newlines at their end).
run_vm()
{
	"$vm" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
	status=$?
	stdout=$(<"$work/stdout")
	stderr=$(<"$work/stderr")
}

test_usage()
{
	run_vm --cpus 2 -- true
	is $status 2 "no --kernel is wrong usage"
	run_vm --kernel debian-6.1
	is $status 2 "no COMMAND is wrong usage"
	run_vm --kernel debian-6.1 --cpus none -- true
	is $status 2 "a bad number of CPUs is wrong usage"
	run_vm --kernel debian-6.1 --bogus -- true
	is $status 2 "an unknown option is wrong usage"
	like "$stderr" 'unknown argument: --bogus' "and is named"
	run_vm --help
	is $status 0 "--help is no error"
	like "$stdout" '^Usage: ' "and goes to stdout"
	run_vm --kernel no-such-kernel -- true
	is $status 125 "an unknown kernel is no verdict"
	like "$stderr" 'no such kernel: no-such-kernel' "and is named"
	run_vm --kernel debian-6.1 --add /no/such/file -- true
	is $status 125 "a missing file to add is no verdict"
}

scan_of()
{
	printf '%s\n' "$@" >"$work/log"
	"$scan" --complete "$work/log" >"$work/found"
}

test_scan()
{
	local up="[ 1.0] kwitness-guest: up" down="[ 2.0] kwitness-guest: down" line

	scan_of "$up" "[ 1.5] hrtimer: interrupt took 11771780 ns" "$down"
	is $? 0 "scan: a clean console"
	while read -r line; do
		scan_of "$up" "[    1.5] $line" "$down"
		is $? 1 "scan: $line"
	done <<-'END'
	WARNING: CPU: 0 PID: 1 at kernel/fork.c:1 copy_process+0x1/0x2
	WARNING: possible circular locking dependency detected
	BUG: kernel NULL pointer dereference, address: 0000000000000000
	BUG: KASAN: use-after-free in f+0x1/0x2
	Oops: 0000 [#1] PREEMPT SMP
	int3: 0000 [#1] PREEMPT SMP NOPTI
	kernel BUG at mm/slub.c:1!
	Kernel panic - not syncing: Fatal exception
	INFO: task cat:1 blocked for more than 120 seconds.
	rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
	rcu: INFO: rcu_preempt self-detected stall on CPU
	watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [cat:1]
	NMI watchdog: Watchdog detected hard LOCKUP on cpu 0
	UBSAN: shift-out-of-bounds in f.c:1
	END
	scan_of "$up"
	is $? 3 "scan: a guest that fell silent"
	scan_of ""
	is $? 3 "scan: a guest that never came"
	"$scan" "$work/none" >"$work/found"
	is $? 3 "scan: no console at all"
}

test_command()
{
	mkdir "$work/dir"
	echo inside >"$work/dir/file"
	# shellcheck disable=SC2016 # the guest shall get it as it is
	run_vm --kernel debian-6.1 --disk 16M --out "$work/out" \
		--add "$(command -v perl):/usr/bin/perl" --add "$work/dir" \
		--add "$here/guest.sh" -- sh /guest.sh "it's" 'two  words' '$x' ''
	is $status 7 "6.1: COMMAND's exit status is handed back"
	is "$(sha256sum <"$work/stdout")" "$(seq 200000 | sha256sum)" \
		"1.3 MB of stdout arrive intact"
	like "$stderr" '^only on stderr$' "stderr arrives"
	unlike "$stderr" 'kwitness-guest' "the console stays out of it"
	like "$stderr" '^vm: the guest is up after' "progress is reported"
	is "$(<"$work/out/arguments")" "[it's][two  words][\$x][]" \
		"COMMAND's words arrive as they were given"
	is "$(<"$work/out/deep/er/file")" "from the guest" "/out arrives, directories too"
	is "$(<"$work/out/perl")" "perl runs" "a program runs with its libraries"
	is "$(<"$work/out/inside")" "inside" "a directory is added"
	is "$(<"$work/out/scratch")" "ext4" "the disk is mounted"
	is "$(<"$work/out/user")" "0" "COMMAND runs as root"
	is "$(<"$work/out/lo")" "up" "lo is up"
	is "$(<"$work/out/cpus")" "4" "4 CPUs by default"
	is "$(sort "$work/out/mounts" | tr '\n' ' ')" \
		"bpf cgroup2 debugfs devtmpfs proc securityfs sysfs tracefs " \
		"the kernel's file systems are mounted"
}

# Makes a qemu-system-x86_64 of the shell commands given, to be put first in PATH.
fake_qemu()
{
	mkdir -p "$work/bin"
	cat >"$work/bin/qemu-system-x86_64" <<-END
	#!/bin/sh
	stumble()
	{
		for console in "\$TMPDIR"/*/console; do
			echo "int3: 0000 [#1] PREEMPT SMP" >>"\$console"
		done
	}
	real=$(command -v qemu-system-x86_64)
	$1
	END
	chmod +x "$work/bin/qemu-system-x86_64"
}

test_qemu_fails()
{
	fake_qemu 'echo "no machine today" >&2; exit 1'
	PATH=$work/bin:$PATH run_vm --kernel debian-6.1 -- true
	is $status 125 "a QEMU that does not start is no verdict"
	like "$stderr" 'no machine today' "and its reason is shown"

	[[ ! -c /dev/kvm ]] || return 0
	fake_qemu stumble
	PATH=$work/bin:$PATH run_vm --kernel debian-6.1 -- true
	is $status 125 "an int3 in every boot is a complaint"
	like "$stderr" 'attempt 3 of 3' "after three of them"

	fake_qemu "[ -e $work/stumbled ] && exec \$real \"\$@\"
	stumble; touch $work/stumbled"
	PATH=$work/bin:$PATH run_vm --kernel debian-6.1 -- echo said
	is $status 0 "an int3 in one boot is passed over"
	is "$stdout" "said" "and COMMAND runs"
}

test_success()
{
	local image
	image=$("$root/scripts/kernel" debian-6.12)/bzImage

	run_vm -q --kernel "$image" --cpus 2 --append "kwitness.test=1" -- \
		sh -c 'grep -o kwitness.test=1 /proc/cmdline; grep -c ^processor /proc/cpuinfo
		sleep 1000 & exit 0'
	is $status 0 "a bzImage, COMMAND's success, though it left a process behind"
	is "$stdout" "kwitness.test=1
2" "--append and --cpus have an effect"
	is "$stderr" "" "-q is quiet"
}

test_complaints()
{
	run_vm --kernel debian-6.12 -- sh -c 'echo "BUG: of a test" >/dev/kmsg; echo said'
	is $status 125 "6.12: a BUG line on the console outranks COMMAND's success"
	like "$stderr" 'BUG: of a test' "and is shown"
	is "$stdout" "said" "though COMMAND said all it had to say"

	run_vm --kernel debian-6.1 -- sh -c 'echo c >/proc/sysrq-trigger; sleep 1000'
	is $status 125 "a panic is found"
	like "$stderr" 'Kernel panic - not syncing: sysrq' "and is shown"

	run_vm --kernel debian-6.1 -- dmesg -n 1
	is $status 125 "a console that was silenced is no verdict"
	like "$stderr" 'log level' "and the reason is told"
}

test_timeout()
{
	run_vm --kernel debian-6.1 --timeout 12 -- sleep 1000
	is $status 124 "the time is over"
	like "$stderr" 'no end within 12 s' "and that is told"
}

wait_for_line()
{
	local attempts=600
	until grep -q "$1" "$2" 2>/dev/null; do
		((attempts--)) || return 1
		sleep 0.1
	done
}

# Whether any process has the guest's directory in its command line.
guest_lives()
{
	grep -aq "$TMPDIR" /proc/[0-9]*/cmdline 2>/dev/null
}

# A background process of a script has SIGINT ignored, and bash cannot undo that.
start_vm()
{
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$vm" --kernel debian-6.1 -- "$@" \
		>"$work/stdout" 2>"$work/stderr" &
	pid=$!
	wait_for_line ready "$work/stdout"
}

test_signals()
{
	start_vm sh -c 'trap "echo interrupted; exit 5" INT; echo ready
		while :; do sleep 0.1; done'
	kill -INT $pid
	wait $pid
	is $? 5 "SIGINT reaches COMMAND"
	like "$(<"$work/stdout")" '^interrupted$' "which can act on it"

	start_vm sh -c 'echo ready; sleep 1000'
	ok "a guest is seen while it runs" guest_lives
	kill -TERM $pid
	wait $pid
	is $? 143 "SIGTERM ends it"
	ok "no process is left" not guest_lives
}

# shellcheck disable=SC2012 # a count
left_over()
{
	ls -A "$TMPDIR" | wc -l
}

test_usage
test_scan
test_qemu_fails
test_command
test_success
test_complaints
test_timeout
test_signals
is "$(left_over)" 0 "no file is left"
done_testing
