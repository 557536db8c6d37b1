#!/bin/sh
# coll_lowlat's puts over verbs, in a virtual machine with soft-RoCE: `run`.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
exec "$(dirname "$0")/run" "${top_builddir:-../..}"
