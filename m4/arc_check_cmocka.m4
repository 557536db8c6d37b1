# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_CHECK_CMOCKA
# Optional: without it the unit tests are reported as skipped.
AC_DEFUN([ARC_CHECK_CMOCKA], [
    PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.5],
        [arc_have_cmocka=yes; CMOCKA_VERSION=`$PKG_CONFIG --modversion cmocka`],
        [arc_have_cmocka=no
         AC_MSG_WARN([cmocka is missing: ALL UNIT TESTS WILL BE SKIPPED (Debian: libcmocka-dev)])])
    AM_CONDITIONAL([HAVE_CMOCKA], [test "x$arc_have_cmocka" = xyes])
])
