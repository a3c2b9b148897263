#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What vm.t runs in the guest: it leaves in /out what vm.t looks at.

printf '[%s]' "$@" >/out/arguments
mkdir -p /out/deep/er
echo "from the guest" >/out/deep/er/file
perl -e 'print "perl runs\n"' >/out/perl
cat /dir/file >/out/inside
echo x >/scratch/x && awk '$2 == "/scratch" { print $3 }' /proc/mounts >/out/scratch
id -u >/out/user
ip link show lo | grep -q UP && echo up >/out/lo
grep -c ^processor /proc/cpuinfo >/out/cpus
awk '{ print $3 }' /proc/mounts |
	grep -Ex 'proc|sysfs|devtmpfs|cgroup2|bpf|debugfs|tracefs|securityfs' >/out/mounts

seq 200000
echo "only on stderr" >&2
exit 7
