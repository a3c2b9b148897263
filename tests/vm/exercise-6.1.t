#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck source=tests/vm/exercise.sh
. "$(dirname "$0")/exercise.sh"

exercise debian-6.1
exercised block_io delayacct.paired
exercised memory_pressure delayacct.paired
show_on_failure
done_testing
