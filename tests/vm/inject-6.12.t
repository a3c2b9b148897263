#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck source=tests/vm/inject.sh
. "$(dirname "$0")/inject.sh"

inject debian-6.12
