# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_CHECK_UCX
# UCX's headers.  The library itself is opened at run time (common/ucx/ucx_library.c tells why),
# so that all but puts works where UCX is missing.
AC_DEFUN([ARC_CHECK_UCX], [
    AC_ARG_WITH([ucx],
        [AS_HELP_STRING([--with-ucx=DIR], [UCX is installed below DIR (default: found by pkg-config)])],
        [AS_CASE([$with_ucx],
            [yes|no], [AC_MSG_ERROR([--with-ucx needs a directory])],
            [PKG_CONFIG_PATH="$with_ucx/lib/pkgconfig:$PKG_CONFIG_PATH"; export PKG_CONFIG_PATH])])
    PKG_PROG_PKG_CONFIG([0.29])
    AS_IF([test -z "$PKG_CONFIG"],
        [AC_MSG_ERROR([pkg-config is missing: install it (Debian: pkg-config)])])
    m4_define([arc_ucx_minimum], [1.12])
    AC_MSG_CHECKING([for UCX])
    AS_IF([$PKG_CONFIG --exists ucx], [], [
        AC_MSG_RESULT([no])
        AC_MSG_ERROR([UCX is missing: install it (Debian: libucx-dev) or give --with-ucx=DIR])
    ])
    ARC_UCX_RELEASE=`$PKG_CONFIG --modversion ucx`
    AC_MSG_RESULT([$ARC_UCX_RELEASE])
    AS_IF([$PKG_CONFIG --exists "ucx >= arc_ucx_minimum"], [],
        [AC_MSG_ERROR([UCX $ARC_UCX_RELEASE is too old: ARC needs arc_ucx_minimum or newer])])
    UCX_CPPFLAGS=`$PKG_CONFIG --cflags-only-I ucx | $SED 's/-I/-isystem /g'`
    arc_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $UCX_CPPFLAGS"
    AC_CHECK_HEADERS([ucp/api/ucp.h], [],
        [AC_MSG_ERROR([UCX $ARC_UCX_RELEASE is there, but not its headers: install them (Debian: libucx-dev)])])
    CPPFLAGS=$arc_save_CPPFLAGS
    AC_SUBST([UCX_CPPFLAGS])
])
