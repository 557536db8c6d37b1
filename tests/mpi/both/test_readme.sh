#!/bin/sh
# The README's examples work.  Every block that is fenced as `sh` there is run, with tests/demo.c in the
# place of its programs; every parameter that the README names is one that ompi_info prints; and the
# report that the README shows has the rows that the program really prints, whatever their numbers are.
# Blocks that build, install or test are fenced as `console` and are not run.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components

readme=${ARC_README:-${top_srcdir:-../..}/README.md}
real_mpirun=$(command -v mpirun)

# What a reader has after tests/demo.sh; an mpirun that does not mind how many cores there are, and an
# ompi_info that fails where it prints nothing.
reader=$mpi_scratch/reader
mkdir -p "$reader/build/stage" "$reader/bin"
ln -s "$(cd "$mpi_stage" && pwd)/arc.env" "$reader/build/stage/arc.env"
for program in your_program train; do
    ln -s "$(cd "$mpi_bin" && pwd)/demo" "$reader/$program"
done
printf '#!/bin/sh\nexec timeout -k 5 60 "%s" --oversubscribe %s "$@"\n' "$real_mpirun" "${MPI_OPTIONS-}" \
    >"$reader/bin/mpirun"
printf '#!/bin/sh\n"%s" "$@" | grep ""\n' "$(command -v ompi_info)" >"$reader/bin/ompi_info"
chmod +x "$reader/bin/mpirun" "$reader/bin/ompi_info"

# The blocks: $reader/run.1, run.2, ... are commands, shown.1, ... what is fenced without a language.
awk -v folder="$reader" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```/ {
        inside = 1
        file = "/dev/null"
        if ($0 == "```sh") { file = folder "/run." ++runs }
        if ($0 == "```") { file = folder "/shown." ++samples }
        next
    }
    inside { print >file }' "$readme"

# check DESCRIPTION FILE: the last command went well; otherwise show the file.
check() {
    checked=$?
    mpi_result $checked "$1"
    [ $checked -eq 0 ] || mpi_show "$2"
}

# rows COMPONENT FILE: the names of the rows in the first report of the component, with its title.
rows() {
    awk -v title="coll_$1: MPI_Allreduce calls of rank 0" '
        /^coll_/ { inside = $0 == title && !seen; if (inside) { seen = 1; print } }
        inside && /^  (served|passed)  / { sub(/ +[0-9]+ +[0-9]+$/, ""); print }' "$2"
}

# ---- the commands ----

test -s "$reader/run.1"
mpi_result $? "README has blocks that are fenced as sh"
number=0
while [ -s "$reader/run.$((number + 1))" ]; do
    number=$((number + 1))
    # What is learned, and when, is as for a user, not as for the tests.
    (
        unset OMPI_MCA_coll_arc_explore_percent OMPI_MCA_coll_arc_setup_calls OMPI_MCA_coll_quant_min_bytes
        cd "$reader" && PATH=$reader/bin:$PATH sh -e "run.$number" >"out.$number" 2>&1 </dev/null
    )
    check "block $number runs: $(grep -m 1 -v '^\. ' "$reader/run.$number" | sed 's/  *#.*//')" \
        "$reader/out.$number"
    test -s "$reader/out.$number" && ! grep -q 'coll_.* cannot be used' "$reader/out.$number"
    check "block $number prints something, and no complaint" "$reader/out.$number"
done

# ---- the parameters ----

for component in arc lowlat quant; do
    mpi_parameters "$component" | sed -n "s/^mca:coll:$component:param:\(coll_[a-z0-9_]*\):.*/\1/p"
done | sort -u >"$mpi_scratch/known"
grep -o 'coll_\(arc\|lowlat\|quant\)_[a-z0-9_]*' "$readme" | sort -u >"$mpi_scratch/named"
test -s "$mpi_scratch/known" && test -s "$mpi_scratch/named" &&
    comm -13 "$mpi_scratch/known" "$mpi_scratch/named" >"$mpi_scratch/unknown" &&
    test ! -s "$mpi_scratch/unknown"
check "README names only parameters that ompi_info prints" "$mpi_scratch/unknown"

# ---- the report ----

cat "$reader"/shown.* >"$mpi_scratch/shown" 2>/dev/null
cat "$reader"/out.* >"$mpi_scratch/printed" 2>/dev/null
reports=0
for component in lowlat quant; do
    rows $component "$mpi_scratch/shown" >"$mpi_scratch/rows_shown"
    [ -s "$mpi_scratch/rows_shown" ] || continue
    reports=$((reports + 1))
    rows $component "$mpi_scratch/printed" >"$mpi_scratch/rows_printed"
    diff "$mpi_scratch/rows_shown" "$mpi_scratch/rows_printed" >"$mpi_scratch/differ"
    check "README shows the rows that coll_$component's report has" "$mpi_scratch/differ"
done
test $reports -gt 0
mpi_result $? "README shows a report"
mpi_done
