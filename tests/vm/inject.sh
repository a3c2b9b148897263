# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by inject-*.t: with each fault of kernel/inject/ under a stock kernel
# the invariant that names it speaks up, with evidence, and no other does.

# shellcheck source=tests/vm/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The invariants that were violated by something that findings/ does not explain.
newly_violated()
{
	report "$1" '[.invariants[] | select(.verdict == "violated" and (.only_known | not)) | .id] | join(" ")'
}

test_fault()
{
	local fault=$1 invariant=$2 hits
	hits=$(cat "$out/$fault.hits")
	ok "$fault was injected $hits times" test "${hits:-0}" -gt 0
	is "$(newly_violated "$fault")" "$invariant" "$fault makes $invariant speak up, and nothing else"
	is "$(status_of "$fault")" 1 "$fault gives status 1"
	ok "$fault is told with values, stack and history" jq -e --arg id "$invariant" \
		'[.violations[] | select(.invariant == $id)][0] |
		 (.values | length) > 0 and (.stack | length) > 0 and (.history | length) > 0' "$out/$fault.json"
}

# inject KERNEL
inject()
{
	local kernel=$1 fault invariant _
	ok "the fault module builds for $kernel" make -s -C "$root/kernel/inject" KERNEL="$kernel"
	run_guest "$kernel" --timeout 1200 --add "$build/inject/$kernel/kwitness_inject.ko" \
		--add "$root/tests/vm/guest-inject.sh" -- sh /guest-inject.sh
	while read -r fault invariant _; do
		test_fault "$fault" "$invariant"
	done <"$out/list"
	is "$(newly_violated no_fault)" "" "without a fault nothing speaks up"
	is "$(cut -d' ' -f2 "$out/list" | sort -u | tr '\n' ' ')" \
		"$("$build/kwitness" list --format json | jq -r '.invariants[].id' | sort -u | tr '\n' ' ')" \
		"every invariant has a fault that breaks it"
	ok "every report fits the schema" schema_accepts "$out"/*.json
	show_on_failure
	done_testing
}
