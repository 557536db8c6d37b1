# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# ARC_OPTIONS
# Compiler flags that every file gets (ARC_CFLAGS), --enable-werror, --enable-sanitizers.
AC_DEFUN([ARC_OPTIONS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
        [], [enable_werror=no])
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers],
            [build with AddressSanitizer and UndefinedBehaviorSanitizer; with clang, whose runtime
             is part of programs, the pure libraries and their tests only, not the components])],
        [], [enable_sanitizers=no])

    # -ffp-contract=off: all ranks and all instruction sets must round alike.
    # -fvisibility=hidden: Open MPI loads components RTLD_GLOBAL, so a name that
    # leaks from one of our components would be shared by the other.
    AX_APPEND_COMPILE_FLAGS([-std=gnu11 -ffp-contract=off -fvisibility=hidden -fno-common \
        -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wwrite-strings -Wundef -mcx16], [ARC_CFLAGS], [-Werror])
    # For files whose loops are written to be vectorized by the compiler, at any -O level.
    AX_APPEND_COMPILE_FLAGS([-ftree-vectorize -fvect-cost-model=dynamic], [ARC_VECTOR_CFLAGS], [-Werror])
    AC_SUBST([ARC_VECTOR_CFLAGS])
    AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([ARC_CFLAGS], [" -Werror"])])
    AS_IF([test "x$enable_sanitizers" = xyes], [
        ARC_SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
        AX_CHECK_LINK_FLAG([$ARC_SANITIZE], [],
            [AC_MSG_ERROR([--enable-sanitizers: $CC cannot link with $ARC_SANITIZE; install the \
compiler's sanitizer runtime (Debian: libasan8 and libubsan1 for gcc, libclang-rt-dev for clang)])])
        AS_VAR_APPEND([ARC_CFLAGS], [" $ARC_SANITIZE -g"])
        # gcc 14 aligns the stack that is for that to 32 bytes, but stores vectors of 64 there (its bug 110027).
        AX_CHECK_COMPILE_FLAG([--param=asan-use-after-return=0],
            [AS_VAR_APPEND([ARC_CFLAGS], [" --param=asan-use-after-return=0"])], [], [-Werror])
        # clang: a loop with checks in it is not vectorized, which is no reason to warn.
        AX_CHECK_COMPILE_FLAG([-Wpass-failed],
            [AS_VAR_APPEND([ARC_CFLAGS], [" -Wno-pass-failed"])], [], [-Werror])
        AS_VAR_APPEND([LDFLAGS], [" $ARC_SANITIZE"])
    ])
    # Open MPI's programs have no sanitizers in them: the runtime that a component needs is preloaded.
    # -z nodelete: a component stays where it is, so that a leak report can name its functions.
    ARC_PRELOAD=
    ARC_COMPONENT_LDFLAGS=
    arc_build_components=yes
    AS_IF([test "x$enable_sanitizers" = xyes], [
        AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#ifdef __clang__
#error the runtime is part of programs
#endif]])], [
            for arc_runtime in libasan.so libubsan.so; do
                ARC_PRELOAD="${ARC_PRELOAD:+$ARC_PRELOAD:}`$CC -print-file-name=$arc_runtime`"
            done
            ARC_COMPONENT_LDFLAGS=-Wl,-z,nodelete
        ], [arc_build_components=no])
    ])
    AC_SUBST([ARC_COMPONENT_LDFLAGS])
    AC_SUBST([ARC_PRELOAD])
    AC_SUBST([ARC_CFLAGS])
    AM_CONDITIONAL([ARC_BUILD_COMPONENTS], [test "x$arc_build_components" = xyes])
    AM_CONDITIONAL([ARC_SANITIZED], [test "x$enable_sanitizers" = xyes])
])

# ARC_PLUGIN_DIR
# Where `make install` puts the components: --with-plugin-dir, else a private directory below
# --prefix when one was given, else Open MPI's own plugin directory.
AC_DEFUN([ARC_PLUGIN_DIR], [
    AC_ARG_WITH([plugin-dir],
        [AS_HELP_STRING([--with-plugin-dir=DIR],
            [install the components into DIR (default: LIBDIR/arc when --prefix is given, else
             Open MPI's own plugin directory)])],
        [], [with_plugin_dir=])
    AS_CASE([$with_plugin_dir],
        [yes|no], [AC_MSG_ERROR([--with-plugin-dir needs a directory, for example --with-plugin-dir=\$HOME/arc])],
        ['' | /*], [],
        [AC_MSG_ERROR([--with-plugin-dir=$with_plugin_dir: give an absolute path])])
    AS_IF([test -n "$with_plugin_dir"], [plugindir=$with_plugin_dir],
          [test "x$prefix" != xNONE], [plugindir='${libdir}/arc'],
          [plugindir=$ARC_OMPI_PLUGIN_DIR])
    # arc.env: beside the components where only their directory was chosen.
    AS_IF([test -n "$with_plugin_dir" && test "x$prefix" = xNONE], [arcdatadir='${plugindir}'],
          [arcdatadir='${datadir}/arc'])
    AC_SUBST([plugindir])
    AC_SUBST([arcdatadir])
    AS_CASE(["`pwd`$prefix$with_plugin_dir"],
        [*" "*], [AC_MSG_ERROR([libtool cannot handle spaces: build and install in directories without])])
])

# ARC_SUMMARY
# What was found and what will be built, in one table.
AC_DEFUN([ARC_SUMMARY], [
    AS_CASE([$arc_build_components$enable_sanitizers],
        [no*], [arc_components="no (--enable-sanitizers with clang: pure libraries and their tests only)"],
        [yesyes], [arc_components="coll_lowlat coll_quant, with sanitizers"],
        [arc_components="coll_lowlat coll_quant"])
    AS_IF([test "x$arc_have_cmocka" = xyes], [arc_unit_tests="yes (cmocka $CMOCKA_VERSION)"],
          [arc_unit_tests="NO: cmocka is missing, ALL UNIT TESTS WILL BE SKIPPED (Debian: libcmocka-dev)"])
    arc_plugindir=$plugindir
    AS_IF([test "x$prefix" != xNONE], [
        exec_prefix_saved=$exec_prefix
        test "x$exec_prefix" != xNONE || exec_prefix=$prefix
        # $libdir holds $exec_prefix, which holds $prefix.
        for arc_level in libdir exec_prefix prefix; do
            eval "arc_plugindir=\"$arc_plugindir\""
        done
        exec_prefix=$exec_prefix_saved
    ])
    AS_ECHO(["
    arc $PACKAGE_VERSION
      compiler           $CC
      Open MPI           $ARC_OMPI_RELEASE ($MPICC)
      UCX                $ARC_UCX_RELEASE
      components         $arc_components
      plugin directory   $arc_plugindir
      instruction sets   $ARC_ISAS
      unit tests         $arc_unit_tests
"])
])
