# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by exercise-*.t: on a stock kernel every program loads, each law is
# exercised by its workload, and holds, apart from what findings/ explains.

# shellcheck source=tests/vm/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

test_doctor()
{
	is "$(status_of doctor)" 0 "doctor finds something to check"
	unlike "$(<"$out/doctor.log")" '^ +missing' "every program loads and attaches"
	is "$(grep -c '=> can be checked$' "$out/doctor.log")" "$("$build/kwitness" list --format json | jq '.invariants | length')" \
		"doctor says of every invariant that it can be checked"
}

# exercised RUN INVARIANT: it was judged and it holds
exercised()
{
	local evaluated
	evaluated=$(invariant_of "$1" "$2" .evaluated)
	is "$(invariant_of "$1" "$2" .verdict)" holds "$2 holds under $1"
	ok "$2 was exercised by $1: $evaluated evaluations" test "${evaluated:-0}" -gt 0
}

# known_apart RUN: nothing but what findings/ explains was found
known_apart()
{
	is "$(report "$1" '[.invariants[] | select(.verdict == "violated" and (.only_known | not)) | .id] | join(" ")')" "" \
		"$1 shows nothing that is not known"
	is "$(report "$1" '[.lost[]] | add')" 0 "$1 lost nothing"
	is "$(status_of "$1")" 0 "$1 ends with status 0"
}

# exercise KERNEL: boots it and runs everything that both kernels pass alike
exercise()
{
	local id run
	run_guest "$1" --timeout 900 --add "$root/tests/vm/guest-exercise.sh" -- sh /guest-exercise.sh
	test_doctor
	for id in cputimer.monotonic cputimer.no_lost_update cputime.monotonic; do
		exercised cpu_timers $id
	done
	exercised membarrier_storm membarrier.coverage
	exercised membarrier_storm mm_cpumask.running
	exercised block_io delayacct.monotonic
	exercised memory_pressure delayacct.monotonic
	exercised fork_exit mm_cpumask.running
	exercised pingpong mm_cpumask.running
	for run in cpu_timers membarrier_storm block_io_known memory_pressure fork_exit pingpong mix; do
		known_apart $run
	done
	ok "the reports fit the schema" schema_accepts "$out"/*.json
}
