# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the tests that run kwitness in a guest. The guest leaves its files
# in $out: NAME.json, NAME.log and NAME.status for each run of kwitness.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$root/build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"

# run_guest KERNEL VM-OPTIONS... -- COMMAND...: boots the kernel with kwitness,
# the workloads and the findings. A stray int3 is most likely QEMU's (see
# scripts/vm): then once more, and the test says so.
run_guest()
{
	local attempt status kernel=$1
	shift
	for attempt in 1 2; do
		status=0
		"$root/scripts/vm" --quiet --kernel "$kernel" --cpus 4 --memory 1G --disk 256M --out "$out" \
			--add "$build/kwitness" --add "$build/workloads:/workloads" \
			--add "$root/findings:/findings" --add "$root/tests/vm/guest-lib.sh" "$@" >"$out/vm.log" 2>&1 || status=$?
		grep -q 'a stray int3 may be a fault' "$out/vm.log" || break
		diag "attempt $attempt: the emulated CPU met a stray int3; $(tail -n 3 "$out/vm.log")"
	done
	is "$status" 0 "the guest ran $kernel to the end, without a complaint on its console"
}

# report RUN JQ-FILTER: what the JSON report of a run says
report()
{
	jq -r "$2" "$out/$1.json"
}

# invariant_of RUN ID JQ-FILTER
invariant_of()
{
	report "$1" ".invariants[] | select(.id == \"$2\") | $3"
}

# status_of RUN: kwitness's exit status
status_of()
{
	cat "$out/$1.status"
}

# violated RUN: the ids of what was violated
violated()
{
	report "$1" '[.invariants[] | select(.verdict == "violated") | .id] | join(" ")'
}

schema_accepts()
{
	/usr/bin/python3 - "$root/docs/report.schema.json" "$@" <<-'END'
	import json, sys, jsonschema
	schema = json.load(open(sys.argv[1]))
	for name in sys.argv[2:]:
	    jsonschema.validate(json.load(open(name)), schema)
	END
}

show_on_failure()
{
	local run
	((tap_failed)) || return 0
	for run in "$out"/*.log; do
		diag "$(basename "$run"): $(tail -n 20 "$run")"
	done
	for run in "$out"/*.json; do
		diag "$(basename "$run"): $(jq -c '.error, [.invariants[]? | {id, verdict, evaluated, violations, reason}],
			(.violations[]? | {invariant, comm, message, values})' "$run")"
	done
}
