# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_CHECK_CBLAS
# Optional: without a BLAS the workloads (tests/workloads) are not built.
AC_DEFUN([ARC_CHECK_CBLAS], [
    PKG_CHECK_MODULES([CBLAS], [openblas], [arc_have_cblas=yes],
        [PKG_CHECK_MODULES([CBLAS], [blis], [arc_have_cblas=yes], [arc_have_cblas=no])])
    CBLAS_CFLAGS=`AS_ECHO(["$CBLAS_CFLAGS"]) | $SED 's/-I/-isystem /g'`
    AM_CONDITIONAL([HAVE_CBLAS], [test "x$arc_have_cblas" = xyes])
])
