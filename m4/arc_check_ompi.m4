# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_CHECK_OMPI
# Finds Open MPI's compiler wrapper, its internal ("devel") headers and its plugin directory.
# Sets MPI_CPPFLAGS (mpi.h), OMPI_CPPFLAGS (mpi.h and internals), MPI_LIBS, OMPI_LIBS,
# ARC_OMPI_RELEASE, ARC_OMPI_PLUGIN_DIR.  One message for each thing that can be wrong.
AC_DEFUN([ARC_CHECK_OMPI], [
    AC_ARG_VAR([MPICC], [Open MPI's compiler wrapper (default: mpicc.openmpi, mpicc)])
    AC_ARG_VAR([OMPI_INFO], [Open MPI's ompi_info])
    AC_PATH_PROGS([MPICC], [mpicc.openmpi mpicc])
    AS_IF([test -z "$MPICC"],
        [AC_MSG_ERROR([no MPI compiler wrapper (mpicc) found: install Open MPI (Debian: libopenmpi-dev) or set MPICC=/path/to/mpicc])])

    AC_MSG_CHECKING([whether $MPICC is Open MPI's])
    arc_mpi_incdirs=`"$MPICC" --showme:incdirs 2>/dev/null`
    AS_IF([test $? -ne 0 || test -z "$arc_mpi_incdirs"], [
        AC_MSG_RESULT([no])
        AC_MSG_ERROR([$MPICC is not Open MPI's wrapper (is it MPICH's?): ARC is a plugin for Open MPI; set MPICC=/path/to/openmpi/bin/mpicc])
    ])
    AC_MSG_RESULT([yes])
    MPI_CPPFLAGS=
    for arc_dir in $arc_mpi_incdirs; do
        AS_VAR_APPEND([MPI_CPPFLAGS], [" -isystem $arc_dir"])
    done
    MPI_LIBS=`"$MPICC" --showme:link`

    arc_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
    AC_CHECK_HEADER([mpi.h], [],
        [AC_MSG_ERROR([mpi.h is missing although $MPICC is there: install Open MPI's development files (Debian: libopenmpi-dev)])])
    AC_COMPUTE_INT([arc_major], [OMPI_MAJOR_VERSION], [[#include <mpi.h>]],
        [AC_MSG_ERROR([mpi.h of $MPICC does not say which Open MPI release it belongs to])])
    AC_COMPUTE_INT([arc_minor], [OMPI_MINOR_VERSION], [[#include <mpi.h>]])
    AC_COMPUTE_INT([arc_release], [OMPI_RELEASE_VERSION], [[#include <mpi.h>]])
    ARC_OMPI_RELEASE=$arc_major.$arc_minor.$arc_release
    AS_VERSION_COMPARE([$ARC_OMPI_RELEASE], [4.1.0],
        [AC_MSG_ERROR([Open MPI $ARC_OMPI_RELEASE is too old: ARC needs 4.1.x, 5.0.x or 6.0.x])])
    AS_VERSION_COMPARE([$ARC_OMPI_RELEASE], [6.1.0], [],
        [AC_MSG_ERROR([Open MPI $ARC_OMPI_RELEASE is too new, its plugin interface is another one: ARC needs 4.1.x, 5.0.x or 6.0.x])],
        [AC_MSG_ERROR([Open MPI $ARC_OMPI_RELEASE is too new, its plugin interface is another one: ARC needs 4.1.x, 5.0.x or 6.0.x])])

    # Open MPI 5 includes <pmix.h> and its headers call PMIx; Debian keeps it off the default include
    # path, and has a run path in its flags that a component does not need: libopen-pal has loaded PMIx.
    arc_pmix_cppflags=
    arc_pmix_libs=
    AS_IF([test "$arc_major" -ge 5], [
        PKG_CHECK_MODULES([PMIX], [pmix], [],
            [AC_MSG_ERROR([pmix.pc is missing: the headers of Open MPI $ARC_OMPI_RELEASE need PMIx's (Debian: libpmix-dev)])])
        arc_pmix_cppflags=`AS_ECHO(["$PMIX_CFLAGS"]) | $SED 's/-I/-isystem /g'`
        arc_pmix_libs=`AS_ECHO(["$PMIX_LIBS"]) | $SED 's/-Wl,@<:@^ @:>@*//g'`
    ])

    # The internal headers live below the wrapper's directories, in .../openmpi as a rule.
    # Packages leave some of them out; common/mca/compat has stand-ins and comes last.
    OMPI_CPPFLAGS=
    for arc_dir in $arc_mpi_incdirs; do
        for arc_try in $arc_dir $arc_dir/openmpi; do
            AS_IF([test -z "$OMPI_CPPFLAGS" && test -f "$arc_try/ompi/mca/coll/coll.h"],
                [OMPI_CPPFLAGS="$MPI_CPPFLAGS -isystem $arc_try $arc_pmix_cppflags"])
        done
    done
    AS_IF([test -z "$OMPI_CPPFLAGS"],
        [AC_MSG_ERROR([Open MPI $ARC_OMPI_RELEASE is there, but not its internal headers (ompi/mca/coll/coll.h): install them (Debian: libopenmpi-dev), or build Open MPI with --with-devel-headers])])
    CPPFLAGS="$arc_save_CPPFLAGS $OMPI_CPPFLAGS -idirafter $srcdir/common/mca/compat"
    AC_MSG_CHECKING([whether Open MPI's internal headers compile])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
            #include <ompi_config.h>
            #include <ompi/mca/coll/coll.h>
            #include <ompi/op/op.h>]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([the internal headers of Open MPI $ARC_OMPI_RELEASE do not compile; config.log says what is missing])])
    AC_MSG_CHECKING([whether Open MPI can load plugins])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
            #include <ompi_config.h>
            #if !OPAL_HAVE_DL_SUPPORT
            #error no plugins
            #endif]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([Open MPI $ARC_OMPI_RELEASE was built with --disable-dlopen and cannot load plugins: use one that was not])])
    CPPFLAGS=$arc_save_CPPFLAGS

    # libopen-pal's soname differs between releases while libmpi's does not: linking it makes the
    # loader refuse a component that was built for another release.
    AC_MSG_CHECKING([for libopen-pal])
    OMPI_LIBS="$MPI_LIBS -lopen-pal $arc_pmix_libs"
    arc_save_LIBS=$LIBS
    LIBS="$LIBS $OMPI_LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[int opal_progress_set_event_flag(int);]], [[return opal_progress_set_event_flag(0);]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([cannot link with -lopen-pal: install Open MPI's development files (Debian: libopenmpi-dev)])])

    # The hwloc that Open MPI was built with is in libopen-pal, or a library of the system.
    arc_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $OMPI_CPPFLAGS -idirafter $srcdir/common/mca/compat"
    AC_MSG_CHECKING([for Open MPI's hwloc])
    arc_hwloc=no
    for arc_try in "" -lhwloc; do
        LIBS="$arc_save_LIBS $OMPI_LIBS $arc_try"
        AS_IF([test "$arc_hwloc" = no], [
            AC_LINK_IFELSE([AC_LANG_PROGRAM([[
                    #include <ompi_config.h>
                    #include <opal/mca/hwloc/base/base.h>]],
                    [[return hwloc_bitmap_iszero(hwloc_bitmap_alloc()) && NULL == opal_hwloc_topology;]])],
                [arc_hwloc=yes; OMPI_LIBS="$OMPI_LIBS $arc_try"])
        ])
    done
    AC_MSG_RESULT([$arc_hwloc])
    AS_IF([test "$arc_hwloc" = no],
        [AC_MSG_ERROR([cannot compile and link with the hwloc of Open MPI: install its development files (Debian: libhwloc-dev)])])
    CPPFLAGS=$arc_save_CPPFLAGS
    LIBS=$arc_save_LIBS

    AC_PATH_PROGS([OMPI_INFO], [ompi_info], [], [`AS_DIRNAME(["$MPICC"])`$PATH_SEPARATOR$PATH])
    AS_IF([test -z "$OMPI_INFO"],
        [AC_MSG_ERROR([ompi_info is missing: install Open MPI's programs (Debian: openmpi-bin) or set OMPI_INFO=/path/to/ompi_info])])
    # The numbers only: of a release candidate ompi_info says 4.1.5rc2 and mpi.h 4.1.5.
    arc_info_full=`"$OMPI_INFO" --parsable 2>/dev/null | $SED -n 's/^ompi:version:full://p'`
    arc_info_release=`AS_ECHO(["$arc_info_full"]) | $SED 's/^\(@<:@0-9@:>@*\.@<:@0-9@:>@*\.@<:@0-9@:>@*\).*/\1/'`
    AS_IF([test "x$arc_info_release" != "x$ARC_OMPI_RELEASE"],
        [AC_MSG_ERROR([$OMPI_INFO belongs to Open MPI $arc_info_full, $MPICC to $ARC_OMPI_RELEASE: set MPICC and OMPI_INFO to the same installation])])
    ARC_OMPI_PLUGIN_DIR=`"$OMPI_INFO" --parsable --path pkglibdir | $SED -n 's/^path:pkglibdir://p'`

    # Open MPI 5: PMIx reads the same path variable, so arc.env has to give it its own directory.
    ARC_PMIX_PLUGIN_DIR=
    AS_IF([test "$arc_major" -ge 5],
        [ARC_PMIX_PLUGIN_DIR=`$PKG_CONFIG --variable=libdir pmix 2>/dev/null`/pmix])
    AC_SUBST([MPI_CPPFLAGS])
    AC_SUBST([MPI_LIBS])
    AC_SUBST([OMPI_CPPFLAGS])
    AC_SUBST([OMPI_LIBS])
    AC_SUBST([ARC_PMIX_PLUGIN_DIR])
])
