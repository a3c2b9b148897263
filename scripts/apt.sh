# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the scripts that use Debian's archive.

fail()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

as_root()
{
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "root is needed for: $* (become root, or install sudo)"
	fi
}

# Whether apt knows a version of each: a fresh machine has no package lists.
apt_has_candidates()
{
	local package
	for package; do
		apt-cache policy "$package" |
			grep '^  Candidate: [^(]' >/dev/null || return 1
	done
}

apt_update()
{
	as_root apt-get -q update
}
