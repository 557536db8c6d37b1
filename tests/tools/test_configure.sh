#!/bin/sh
# What configure says when something is missing or wrong: one message that names
# it and what to do.  The faults are made with wrappers and overlaid headers.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "${top_srcdir:-../..}/tests/lib/tap.sh"
root=${top_srcdir:-../..}
mpicc=$(command -v mpicc.openmpi || command -v mpicc)
pkg_config=$(command -v pkg-config)
if [ -z "$mpicc" ] || [ -z "$pkg_config" ]; then
    skip_all "needs mpicc and pkg-config"
fi
# Configure refuses to make another build while there is one in the source folder itself.
if [ -e "$root/config.status" ]; then
    skip_all "the source folder holds a build; build in a folder of its own"
fi
installed_release=$($mpicc --showme:version | sed -n 's/.*Open MPI \([0-9]*\.[0-9]*\.[0-9]*\).*/\1/p')
installed=${installed_release%.*}
ompi_info=$(command -v ompi_info)

# What the compiler and libtool can do is found out once.
mkdir "$scratch/first"
(cd "$scratch/first" && "$root/configure" --no-create --cache-file=cache >output 2>&1)
grep -vE '^ac_cv_env|header_(mpi|ucp)|path_(O?MPI|ac_pt_PKG)|^pkg_cv' "$scratch/first/cache" >"$scratch/site"
CONFIG_SITE=$scratch/site
export CONFIG_SITE

# run TEXT STATUS MESSAGE ARGUMENTS...: configure must end with STATUS (0 or 1) and say MESSAGE
run() {
    label=$1 wanted=$2 message=$3
    shift 3
    mkdir "$scratch/build.$count"
    (cd "$scratch/build.$count" && "$root/configure" --no-create "$@" >output 2>&1)
    ended=$?
    [ "$ended" -eq 0 ] || ended=1
    errors=$(grep -c '^configure: error:' "$scratch/build.$count/output")
    tail -n 5 "$scratch/build.$count/output" >"$scratch/end"
    [ "$ended" -eq "$wanted" ] && [ "$errors" -eq "$wanted" ] &&
        tr '\n' ' ' <"$scratch/build.$count/output" | grep -q "$message"
    result $? "$label" "$scratch/end"
}

# wrapper NAME LINES: an executable script
wrapper() {
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1"
    chmod +x "$scratch/$1"
}

# with_header NAME HEADER TEXT: a compiler wrapper whose HEADER is the real one, then TEXT
with_header() {
    mkdir -p "$scratch/$1.include"
    printf '#include_next <%s>\n%b\n' "$2" "$3" >"$scratch/$1.include/$2"
    wrapper "$1" "case \$1 in
--showme:incdirs) echo $scratch/$1.include \$($mpicc --showme:incdirs) ;;
*) exec $mpicc \"\$@\" ;;
esac"
}

release() {
    echo "#undef OMPI_MAJOR_VERSION\n#undef OMPI_MINOR_VERSION\n#undef OMPI_RELEASE_VERSION\n#define OMPI_MAJOR_VERSION $1\n#define OMPI_MINOR_VERSION $2\n#define OMPI_RELEASE_VERSION $3"
}

# A PATH with everything but the MPI compilers.
mkdir "$scratch/bin"
for directory in $(echo "$PATH" | tr : ' '); do
    find "$directory/" -maxdepth 1 ! -type d ! -name 'mpi*' -exec ln -sf -t "$scratch/bin" {} + 2>/dev/null
done
PATH=$scratch/bin run "no compiler wrapper" 1 "no MPI compiler wrapper"

wrapper mpich 'echo "error: unrecognized option --showme:incdirs" >&2; exit 1'
run "MPICH's wrapper" 1 "not Open MPI.s wrapper" MPICC="$scratch/mpich"

mkdir "$scratch/bare"
printf '#define OMPI_MAJOR_VERSION 4\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 4\n' \
    >"$scratch/bare/mpi.h"
wrapper bare.cc "case \$1 in
--showme:incdirs) echo $scratch/bare ;;
*) exec $mpicc \"\$@\" ;;
esac"
run "no internal headers" 1 "not its internal headers.*libopenmpi-dev" MPICC="$scratch/bare.cc"

with_header old mpi.h "$(release 4 0 3)"
run "Open MPI older than 4.1" 1 "Open MPI 4.0.3 is too old" MPICC="$scratch/old"
with_header new mpi.h "$(release 6 1 0)"
run "Open MPI newer than 6.0" 1 "Open MPI 6.1.0 is too new" MPICC="$scratch/new"
with_header mixed mpi.h "$(release "${installed%.*}" "${installed#*.}" 99)"
run "ompi_info of another installation" 1 "belongs to Open MPI.*$installed.99" MPICC="$scratch/mixed"

# info_of NAME RELEASE: an ompi_info that says so
info_of() {
    wrapper "$1" "case \"\$*\" in
--parsable) echo ompi:version:full:$2 ;;
*) exec $ompi_info \"\$@\" ;;
esac"
}
info_of candidate "${installed_release}rc2"
run "ompi_info of a release candidate" 0 "Open MPI  *$installed_release " \
    OMPI_INFO="$scratch/candidate"
for other in "${installed_release}0" "$installed.99rc2"; do
    info_of other "$other"
    run "ompi_info of release $other" 1 "belongs to Open MPI $other, .* to $installed_release:" \
        OMPI_INFO="$scratch/other"
done
with_header static ompi_config.h '#undef OPAL_HAVE_DL_SUPPORT\n#define OPAL_HAVE_DL_SUPPORT 0'
run "Open MPI without plugins" 1 "built with --disable-dlopen" MPICC="$scratch/static"

wrapper no_ucx "case \"\$*\" in *ucx*) exit 1 ;; *) exec $pkg_config \"\$@\" ;; esac"
run "no UCX" 0 "UCX  *none, so no puts.*UCX is missing.*libucx-dev" PKG_CONFIG="$scratch/no_ucx"
run "UCX is asked for and missing" 1 "UCX is missing.*libucx-dev" PKG_CONFIG="$scratch/no_ucx" --with-ucx
wrapper old_ucx "case \"\$*\" in
*modversion*ucx*) echo 1.8.0 ;;
*'ucx >='*) exit 1 ;;
*) exec $pkg_config \"\$@\" ;;
esac"
run "UCX too old" 0 "no puts.*UCX 1.8.0 is too old" PKG_CONFIG="$scratch/old_ucx"
wrapper no_cmocka "case \"\$*\" in *cmocka*) exit 1 ;; *) exec $pkg_config \"\$@\" ;; esac"
run "no cmocka: unit tests are skipped, loudly" 0 "ALL UNIT TESTS WILL BE SKIPPED" \
    PKG_CONFIG="$scratch/no_cmocka"
run "a plugin directory that is not absolute" 1 "give an absolute path" --with-plugin-dir=here
run "an instruction set that there is not" 1 "with-isa=sse9: scalar, avx2, avx512 or avx512_bf16" --with-isa=sse9
for isas in "scalar" "scalar avx2"; do
    run "no better instruction set than ${isas##* }" 0 "instruction sets   $isas  *unit tests" --with-isa="${isas##* }"
done
tap_done
