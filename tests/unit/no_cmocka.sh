#!/bin/sh
# Stands for all unit tests where cmocka is missing, so that they count as skipped.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
echo "ALL UNIT TESTS ARE SKIPPED: cmocka is missing (Debian: libcmocka-dev)" >&2
echo "1..0 # SKIP all unit tests: cmocka is missing (Debian: libcmocka-dev)"
