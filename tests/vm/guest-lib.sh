# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
# Sourced in the guest: runs kwitness and leaves what it said in /out.

cgroup=/sys/fs/cgroup/pressure

# check NAME OPTIONS... [-- WORKLOAD...]: the report goes to /out/NAME.json, what
# else was said to /out/NAME.log, the exit status to /out/NAME.status.
check()
{
	name=$1
	shift
	kwitness check --format json -o "/out/$name.json" "$@" >"/out/$name.log" 2>&1
	echo $? >"/out/$name.status"
}

# run NAME COMMAND...: the same for any command, without a report.
run()
{
	name=$1
	shift
	"$@" >"/out/$name.log" 2>&1
	echo $? >"/out/$name.status"
}

# The options that make kwitness know the findings of this project.
known=
for finding in /findings/*.json; do
	known="$known --known $finding"
done
