#!/bin/sh
# What the components show to the rest of the process: one symbol each, bound at
# load time, libopen-pal among the needed libraries (so that a component built for
# another Open MPI is refused), and no UCX (it is opened quietly at run time).
# Wide vector instructions stay in the files that are entered after a CPU check.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
build=${top_builddir:-../..}

command -v nm >/dev/null && command -v readelf >/dev/null && command -v objdump >/dev/null ||
    skip_all "needs binutils"

for name in lowlat quant; do
    so=$build/coll_$name/.libs/mca_coll_$name.so
    symbols=$(nm -D --defined-only "$so" | awk '{print $3}')
    test "$symbols" = "mca_coll_${name}_component"
    result $? "coll_$name exports its component and nothing else"
    readelf -d "$so" | grep -q 'BIND_NOW\|Flags:.*NOW'
    result $? "coll_$name binds all symbols when it is loaded"
    readelf -d "$so" | grep -q 'NEEDED.*libopen-pal'
    result $? "coll_$name needs the libopen-pal that it was built with"
    ! readelf -d "$so" | grep -q 'NEEDED.*libuc[pst]'
    result $? "coll_$name does not need UCX to be loaded"
done

# stray_registers REGISTER FILES: objects that use it though their name does not match FILES
stray_registers() {
    find "$build/common" "$build/coll_lowlat" "$build/coll_quant" -name '*.o' -path '*.libs*' |
        grep -v "$2" | while read -r object; do
        objdump -d "$object" | grep -q "%$1" && echo "$object"
    done
}

# check_registers TEXT REGISTER FILES
check_registers() {
    # Who asks for one kind of machine gets its registers everywhere.
    if grep -qE '^(CFLAGS|CC|CPPFLAGS) = .*-m(arch=|cpu=|avx)' "$build/Makefile"; then
        skip "$1: the compiler's flags choose a machine"
        return
    fi
    test -z "$(stray_registers "$2" "$3")"
    result $? "$1"
}

check_registers "AVX-512 registers are used in the AVX-512 files only" zmm _avx512
check_registers "AVX registers are used in the AVX files only" ymm _avx
tap_done
