#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck source=tests/vm/exercise.sh
. "$(dirname "$0")/exercise.sh"

exercise debian-6.12

# docs/findings.md, blkio-start-wrong-task: the kernel is wrong, and kwitness has to say so.
is "$(invariant_of block_io delayacct.paired .verdict)" violated "the finding in 6.12 is found"
is "$(status_of block_io)" 1 "and sets the exit status when it is not passed to --known"
is "$(report block_io '[.violations[] | select(.invariant == "delayacct.paired") | .values.kind] | unique | join(" ")')" \
	blkio "it concerns block I/O only"
is "$(invariant_of block_io_known delayacct.paired '"\(.verdict) \(.only_known)"')" "violated true" \
	"with --known it is told as known"
is "$(report block_io_known '[.violations[].known] | unique | join(" ")')" blkio-start-wrong-task "by its name"
show_on_failure
done_testing
