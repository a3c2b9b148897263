#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command line: what is asked wrongly gives status 2 and one clear message, and
# a kernel that lets no BPF in is never reported as one that was checked.
set -uo pipefail

# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

kwitness=${BUILD:-$(dirname "$0")/../../build}/kwitness
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run ARGUMENTS...: sets $status, $output and $errors
run()
{
	status=0
	timeout 60 "$kwitness" "$@" >"$scratch/output" 2>"$scratch/errors" || status=$?
	output=$(<"$scratch/output")
	errors=$(<"$scratch/errors")
}

# gives STATUS DESCRIPTION
gives()
{
	ok "$2 gives status $1" test "$status" = "$1"
	[[ $status = "$1" ]] || diag "status $status: $errors"
}

# The messages of kwitness, but for argp's hint to --help.
messages()
{
	grep '^kwitness' <<<"$errors"
}

# refuses MESSAGE ARGUMENTS...: status 2, nothing on standard output, one message
refuses()
{
	local message=$1
	shift

	run "$@"
	gives 2 "$*"
	like "$errors" "^kwitness[a-z ]*: $message" "$* says what is wrong, and what to do"
	is "$(messages | wc -l)" 1 "$* says it once"
	is "$output" "" "$* prints no report"
}

# refuses_with_document MESSAGE ARGUMENTS...: the same from a session, also in JSON
refuses_with_document()
{
	refuses "$@"
	local message=$1
	shift

	run "$@" --format json
	gives 2 "$* --format json"
	like "$(jq -r .error <<<"$output")" "^$message" "$* tells the error in its JSON document"
	is "$(jq -r .exit_status <<<"$output")" 2 "$* tells the status there, too"
}

test_help()
{
	run
	gives 2 "no subcommand"
	like "$errors" '^Usage: kwitness .*check\|list\|doctor' "no subcommand shows the usage"
	run --help
	gives 0 --help
	for subcommand in check list doctor; do
		like "$output" "^  $subcommand  " "--help names $subcommand"
	done
	run --version
	gives 0 --version
	like "$output" '^kwitness [0-9]+\.[0-9]+$' "--version tells it"
	for subcommand in check list doctor; do
		run "$subcommand" --help
		gives 0 "$subcommand --help"
		like "$output" '^Exit status: 0' "$subcommand --help documents the exit status"
	done
}

test_wrong_arguments()
{
	refuses "no subcommand 'frobnicate'; .kwitness --help. lists them" frobnicate
	refuses "no invariant matches 'nope'; .kwitness list. shows them all" check -i nope
	refuses "no invariant matches 'nope'; .kwitness list. shows them all" check --require nope
	refuses "unrecognized option '--nonsense'" check --nonsense
	refuses "option requires an argument" check -i
	refuses "--format: 'xml' is neither text nor json" check --format xml
	refuses "--format: 'xml' is neither text, json nor markdown" list --format xml
	refuses "one GLOB or ID at most; quote a glob" list cputime.monotonic cputimer.monotonic
	refuses "Too many arguments" doctor everything
}

test_numbers()
{
	local number
	for number in x '' -1 0 nan inf 1x; do
		refuses "-d: '$number' is not a number from 0.001 to" check -d "$number"
	done
	for number in x -1 0 4194305; do
		refuses "-p: '$number' is not a number from 1 to 4194304" check -p "$number"
	done
	refuses "-p: '1.5' is not a whole number" check -p 1.5
	refuses "--max-violations: '0' is not a number from 1 to" check --max-violations 0
	refuses "--max-violations: '2.5' is not a whole number" check --max-violations 2.5
	refuses "--buffer: '1' is not a number from 4096 to" check --buffer 1
}

# Prints the PID of a process that has ended.
dead_pid()
{
	sh -c 'echo $$'
}

test_what_is_not_there()
{
	local no_such='No such file or directory'

	refuses "-o /no/such/directory/report: $no_such; name a file" check -o /no/such/directory/report
	refuses "-o /: Is a directory; name a file" check -o /
	refuses_with_document "--known /no/such/file: $no_such" check --known /no/such/file
	echo '{"invariant": 1}' >"$scratch/known.json"
	refuses_with_document "--known $scratch/known.json: " check --known "$scratch/known.json"
	refuses_with_document "-p [0-9]+: no such process" check -p "$(dead_pid)"
	refuses_with_document "-c /no/such/cgroup: $no_such; name a directory below" check -c /no/such/cgroup
	refuses_with_document "-c $scratch: not on a cgroup-v2 file system" check -c "$scratch"
	refuses_with_document "-c $scratch/known.json: Not a directory" check -c "$scratch/known.json"
}

test_list()
{
	run list
	gives 0 list
	is "$errors" "" "list says nothing on standard error"
	run list cputimer.monotonic
	gives 0 "list of one invariant"
	run list --format json
	gives 0 "list --format json"
	ok "and is JSON" jq -e . "$scratch/output"
	refuses "no invariant matches 'nope'; .kwitness list. shows them all" list nope
	run list cputimer.monotone
	gives 2 "list of an id with a typing error"
	like "$errors" '^kwitness: did you mean cputimer.monotonic\?' "and asks what was meant"
	is "$output" "" "and lists nothing"
}

# One short session. Most build machines let no BPF in: then it must say so, and why.
test_session()
{
	run check -i cputime.monotonic -d 0.2 --format json
	if [[ $(jq -r .error <<<"$output") = null ]]; then
		skip "a kernel that cannot be checked" "this one can"
		return
	fi
	ok "a kernel that cannot be checked gives status 4 or 2" test "$status" = 4 -o "$status" = 2
	is "$(jq -r .exit_status <<<"$output")" "$status" "its JSON document has the status"
	is "kwitness: $(jq -r .error <<<"$output")" "$(messages)" "and the message, which is the only one"
	like "$errors" '^kwitness: cannot .*: .*[;(]' "what failed and why is said"
	is "$(jq -r '.verdict, .invariants' <<<"$output" | sort -u)" null "there is no verdict"
	run check -i cputime.monotonic -d 0.2
	ok "as text gives status 4 or 2, too" test "$status" = 4 -o "$status" = 2
	is "$output" "" "and prints no report"
	run doctor
	ok "doctor gives status 4" test "$status" = 4
	like "$output" '^Nothing can be checked here: cannot ' "doctor says why"
}

test_full_device()
{
	run check -i cputime.monotonic -d 0.2 --format json -o /dev/full
	gives 2 "a report that cannot be written"
	like "$errors" 'the report could not be written: No space left' "and says so"
}

test_help
test_wrong_arguments
test_numbers
test_what_is_not_there
test_list
test_session
test_full_device
done_testing
