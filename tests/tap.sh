# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the tests that are shell scripts: speaks TAP to prove.
# A test script ends with done_testing; it fails if it does not get there.

tap_count=0
tap_failed=0

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# ok DESCRIPTION COMMAND...: passes when COMMAND succeeds; shows its output if not.
ok()
{
	local description=$1 output
	shift

	((++tap_count))
	if output=$("$@" 2>&1); then
		echo "ok $tap_count - $description"
	else
		echo "not ok $tap_count - $description"
		((++tap_failed))
		diag "failed: $*"
		[[ ! $output ]] || diag "$output"
	fi
}

# is GOT EXPECTED DESCRIPTION
is()
{
	ok "$3" test "$1" = "$2"
}

# like TEXT REGULAR_EXPRESSION DESCRIPTION (grep -E; any line may match)
like()
{
	ok "$3" text_matches "$1" "$2"
}

unlike()
{
	ok "$3" not text_matches "$1" "$2"
}

text_matches()
{
	echo "in: $1"
	grep -Eq -- "$2" <<<"$1"
}

not()
{
	! "$@"
}

skip()
{
	echo "ok $((++tap_count)) - $1 # SKIP $2"
}

done_testing()
{
	echo "1..$tap_count"
	((tap_failed == 0))
}
