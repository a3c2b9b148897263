#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What exercise.sh runs in the guest: each law under the workload made for it.

. /guest-lib.sh

run doctor kwitness doctor

# shellcheck disable=SC2086,SC2154 # lists of options, from guest-lib.sh
{
	check cpu_timers -i 'cputime*' -- /workloads/cpu_timers --seconds 6
	check membarrier_storm -i 'm*' -- /workloads/membarrier_storm --seconds 8
	check block_io -i 'delayacct.*' -- /workloads/block_io --seconds 10 --directory /scratch
	check block_io_known -i 'delayacct.*' $known -- \
		/workloads/block_io --seconds 8 --directory /scratch
	check memory_pressure $known -- /workloads/memory_pressure --seconds 5 \
		--directory /scratch --cgroup $cgroup
	check fork_exit $known -- /workloads/fork_exit --seconds 5
	check pingpong -- /workloads/pingpong --seconds 0 --round-trips 500
	check mix $known -- /workloads/mix --seconds 8 --directory /scratch --cgroup $cgroup
}
