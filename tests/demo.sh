#!/bin/sh
# Builds ARC and runs an unchanged MPI program three times: without the plugin,
# with it, and with quantization allowed.  Prints the comparison.
#
#   tests/demo.sh [RANKS]          2 ranks by default
#
# Installs nothing but Debian packages; everything built stays in ./build.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
build=${ARC_BUILD_DIR:-$root/build}
ranks=${1:-2}
. "$root/tests/install_packages.sh"

# step NAME COMMAND...: run quietly; on failure show the end of what it said.
step() {
    name=$1
    shift
    echo "== $name"
    "$@" >"$build/demo.log" 2>&1 || {
        tail -n 40 "$build/demo.log" >&2
        echo "$name failed; the whole output is in $build/demo.log" >&2
        exit 1
    }
}

install_packages $build_packages
mkdir -p "$build"
cd "$root"
[ -x configure ] || step "preparing" autoreconf -fi
cd "$build"
[ -f Makefile ] || step "configuring" "$root/configure"
step "building" make
step "compiling the MPI program, with plain mpicc" \
    mpicc -O2 -o demo "$root/tests/demo.c" -lm

# Root is refused by mpirun otherwise; containers often have nothing but root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# lo: over other networks Open MPI 5 may complain, with and without ARC, that ranks cannot reach each other.
run() {
    mpirun -n "$ranks" --oversubscribe --mca btl_tcp_if_include lo "$@" ./demo 2>demo.err || {
        cat demo.err >&2
        echo "the program failed" >&2
        exit 1
    }
}
value() {
    sed -n "s/^$1 *//p" "$2"
}

echo "== running on $ranks ranks: without ARC, with it, with quantization allowed"
run --mca coll ^lowlat,quant >without.out
(
    . stage/arc.env
    run --mca coll_arc_verbose 2 >with.out && mv demo.err with.err
    run --mca coll_quant_enable 1 --mca coll_arc_verbose 2 >quantized.out && mv demo.err quantized.err
)

echo
printf '%-44s %14s %14s %14s\n' "" "without ARC" "with ARC" "+ coll_quant"
for row in "solver_iterations" "solver_residual" "us_per_8_byte_sum" "us_per_4_KiB_sum" \
    "us_per_16_KiB_sum" "us_per_4_MiB_gradient_sum" "gradient_rms_error"; do
    printf '%-44s %14s %14s %14s\n' "$(echo "$row" | tr _ ' ')" \
        "$(value "$row" without.out)" "$(value "$row" with.out)" "$(value "$row" quantized.out)"
done
echo
cat with.err
echo
cat quantized.err
echo "(coll_quant quantizes where that is faster; --mca coll_arc_explore_percent 0: everywhere)"
echo
if [ "$(value solver_iterations without.out)" != "$(value solver_iterations with.out)" ]; then
    echo "the solver took another number of iterations with ARC" >&2
    exit 1
fi
cat <<EOF
The same binary each time. To use ARC with your own program:

    . $build/stage/arc.env
    mpirun -n $ranks ./your_program
EOF
