# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_CHECK_UCX
# UCX's headers, for puts between nodes; without them all else is built.  The library itself is opened at run
# time (common/ucx/ucx_worker.c tells why), so that all but puts works where it is missing.
AC_DEFUN([ARC_CHECK_UCX], [
    AC_ARG_WITH([ucx],
        [AS_HELP_STRING([--with-ucx=DIR], [UCX is installed below DIR (default: found by pkg-config, or none)])],
        [AS_CASE([$with_ucx],
            [yes|no], [],
            [PKG_CONFIG_PATH="$with_ucx/lib/pkgconfig:$PKG_CONFIG_PATH"; export PKG_CONFIG_PATH])],
        [with_ucx=if-found])
    PKG_PROG_PKG_CONFIG([0.29])
    AS_IF([test -z "$PKG_CONFIG"],
        [AC_MSG_ERROR([pkg-config is missing: install it (Debian: pkg-config)])])
    m4_define([arc_ucx_minimum], [1.12])
    AS_IF([test "x$with_ucx" = xno], [arc_no_ucx="--without-ucx was given"], [
        AC_MSG_CHECKING([for UCX])
        arc_no_ucx=
        AS_IF([$PKG_CONFIG --exists ucx],
            [ARC_UCX_RELEASE=`$PKG_CONFIG --modversion ucx`
            AS_IF([$PKG_CONFIG --exists "ucx >= arc_ucx_minimum"], [],
                [arc_no_ucx="UCX $ARC_UCX_RELEASE is too old: puts need arc_ucx_minimum or newer"])],
            [arc_no_ucx="UCX is missing: install it (Debian: libucx-dev) or give --with-ucx=DIR"])
        AC_MSG_RESULT([${arc_no_ucx:-$ARC_UCX_RELEASE}])
    ])
    AS_IF([test -z "$arc_no_ucx"], [
        UCX_CPPFLAGS=`$PKG_CONFIG --cflags-only-I ucx | $SED 's/-I/-isystem /g'`
        arc_save_CPPFLAGS=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS $UCX_CPPFLAGS"
        AC_CHECK_HEADERS([ucp/api/ucp.h], [],
            [arc_no_ucx="UCX $ARC_UCX_RELEASE is there, but not its headers: install them (Debian: libucx-dev)"])
        CPPFLAGS=$arc_save_CPPFLAGS
    ])
    AS_IF([test -z "$arc_no_ucx"],
        [AC_DEFINE([ARC_HAVE_UCX], [1], [Sums can travel between nodes by puts of UCX.])],
        [AS_CASE([$with_ucx], [no|if-found], [], [AC_MSG_ERROR([$arc_no_ucx])])
        ARC_UCX_RELEASE="none, so no puts between nodes ($arc_no_ucx)"])
    AM_CONDITIONAL([ARC_WITH_UCX], [test -z "$arc_no_ucx"])
    AC_SUBST([UCX_CPPFLAGS])
])
