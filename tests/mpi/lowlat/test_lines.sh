#!/bin/sh
# Cache lines of other ranks that calls read under mpirun, counted in the component itself, against those of
# the model of tests/model, and against docs/data/model_lines.csv: a change of either's algorithm shows there.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components
[ -x "$mpi_bin/model_table" ] || mpi_skip_all "no model_table: needs cmocka"
root=${top_srcdir:-../..}
OMPI_MCA_mca_base_component_path=$mpi_stage/../coll_lowlat/counted/.libs:$OMPI_MCA_mca_base_component_path

# count RANKS LEVELS RULES: rows of the file, each with what the model has for it
count() {
    mpi_run "$1 ranks, $2, $3" "$1" 120 "--mca coll_arc_levels $2 --mca coll_lowlat_rules $3 \
        --mca coll_lowlat_staging ordinary" counted
    awk -v ranks="$1" '/^counted / { calls[$2] += $3; read[$2] += $4; looked[$2] += $5; lines[$2] += $6 }
        END { for (bytes in calls) if (calls[bytes] == 6 * ranks) {
            printf "%d %.1f,%.1f,%.1f\n", bytes, read[bytes] / calls[bytes], looked[bytes] / calls[bytes],
                lines[bytes] / calls[bytes] } }' "$mpi_scratch/err" | sort -n |
        while read -r bytes counts; do
            algorithm=twoshot
            [ "$3" = twoshot:0-inf ] || [ "$bytes" -gt 4096 ] || algorithm=oneshot
            way=$algorithm$([ "$2" != flat ] || echo _flat)
            echo "$1,$(echo "$2" | tr , x),$bytes,$algorithm,$counts,$("$mpi_bin/model_table" \
                "$root/tests/model/machines/epyc-7763.txt" "$1" "$bytes" "$way" | cut -d, -f7,8)"
        done >>"$mpi_scratch/rows"
}

for ranks in 16 32; do
    count $ranks 8,$((ranks / 8)) oneshot:0-4k,twoshot:4k-inf
    count $ranks 8,$((ranks / 8)) twoshot:0-inf
    count $ranks flat twoshot:0-inf
done
sort -u -t, -k1,1n -k2,2 -k4,4 -k3,3n "$mpi_scratch/rows" >"$mpi_scratch/table"
sed "s/^/# /" "$mpi_scratch/table"
sed '/^#/d; /^ranks/d' "$root/docs/data/model_lines.csv" | cut -d, -f1-8 >"$mpi_scratch/known"
cut -d, -f1-8 "$mpi_scratch/table" | diff "$mpi_scratch/known" - >"$mpi_scratch/faults"
mpi_result $? "lines are those of docs/data/model_lines.csv"
mpi_show "$mpi_scratch/faults"

# Who looks at a flag too early fetches its line anew; of a flat node's the model has none.
awk -F, '$5 != $8 || $9 < $7 - 0.1 || $9 > $7 + (/flat/ ? 0.1 : 2 * $6)' "$mpi_scratch/table" >"$mpi_scratch/faults"
[ ! -s "$mpi_scratch/faults" ] && [ "$(wc -l <"$mpi_scratch/table")" -eq 32 ]
mpi_result $? "lines are those of the model"
mpi_show "$mpi_scratch/faults"
mpi_done
