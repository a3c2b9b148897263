#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What inject.sh runs in the guest: each fault of the module under the workload
# that meets it, with every check on.

. /guest-lib.sh

faults=/sys/kernel/debug/kwitness_inject

# The workload for an invariant; its words are options.
workload_for()
{
	case $1 in
	cputime*) echo "/workloads/cpu_timers --seconds 4" ;;
	delayacct.*) echo "/workloads/memory_pressure --seconds 3 --directory /scratch" ;;
	membarrier.*) echo "/workloads/membarrier_storm --seconds 5" ;;
	mm_cpumask.*) echo "/workloads/fork_exit --seconds 3" ;;
	*) echo "false no-workload-for-$1" ;;
	esac
}

insmod /kwitness_inject.ko || exit 1
cp $faults/list /out/list
while read -r fault invariant _; do
	before=$(cat "$faults/$fault/hits")
	echo 1 >"$faults/$fault/enable" || continue
	# shellcheck disable=SC2046,SC2086,SC2154 # lists of words, from guest-lib.sh
	check "$fault" $known -- $(workload_for "$invariant") </dev/null
	echo 0 >"$faults/$fault/enable"
	echo $(($(cat "$faults/$fault/hits") - before)) >"/out/$fault.hits"
done </out/list
# shellcheck disable=SC2086,SC2154
check no_fault $known -- /workloads/mix --seconds 5 --directory /scratch
rmmod kwitness_inject
