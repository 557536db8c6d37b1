#!/bin/sh
# Files of coll_arc_report_file: what is in them is what the program did (reported.c); promtool, where it is
# installed, takes them, as does a parser of JSON.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
. "$(dirname "$0")/../lib/mpi_run.sh"
mpi_setup components
command -v python3 >/dev/null || mpi_skip_all "no python3"
folder=$mpi_scratch/reports
mkdir "$folder"

# One metric of a file of Prometheus's, by the same names as the objects of its twin.
cat >"$mpi_scratch/read.py" <<'END'
import json, re, sys
base, checks = sys.argv[1], sys.argv[2:]
of_two_jobs = checks[0] == "two jobs"  # each file is of one of them
differs = re.compile("seconds|peer" if of_two_jobs else "$^")
rows = json.load(open(base + ".json"))
keys = {}
for line in open(base + ".prom"):
    if line.startswith("#"):
        continue
    name, labels, value = re.fullmatch(r'arc_(\w+)\{(.*)\} ([0-9.]+)\n', line).groups()
    labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
    peer = labels.pop("peer", None)
    row = keys.setdefault(tuple(sorted(labels.items())), dict(labels))
    assert name not in row, line
    row[name] = float(value)
    row.update({"peer": peer} if peer else {})
def normal(row):
    return sorted((name, float(value) if re.search("_(total|seconds)$", name) else str(value)) for name, value in row.items()
                  if not differs.search(name))
assert sorted(map(normal, rows)) == sorted(map(normal, keys.values())), "the files differ"
def total(metric, **labels):
    return sum(row.get(metric, 0) for row in rows if all(str(row.get(k)) == str(v) for k, v in labels.items()))
for check in checks[of_two_jobs:]:
    assert eval(check), check + "\n" + open(base + ".json").read()
END

# reads LABEL BASE CHECK ...
reads() {
    reads_label=$1
    shift
    python3 "$mpi_scratch/read.py" "$@" >"$mpi_scratch/why" 2>&1
    mpi_result $? "$reads_label: the numbers are those of the program"
    [ ! -s "$mpi_scratch/why" ] || mpi_show "$mpi_scratch/why"
    if command -v promtool >/dev/null; then
        promtool check metrics <"$1.prom" >"$mpi_scratch/why" 2>&1 && [ ! -s "$mpi_scratch/why" ]
        mpi_result $? "$reads_label: promtool takes the file"
    else
        mpi_skip "$reads_label: promtool takes the file" "no promtool"
    fi
}

# Rank 0 waits for rank 3 for most of its 0.3 s; on two nodes for rank 2, which waits for rank 3.
all="total('calls_total', collective='MPI_Allreduce', nranks=4, message_size"
late="total('late_seconds_total')"
messages="total('message_seconds_total')"
waits="max((row.get('longest_wait_seconds', 0), row.get('peer')) for row in rows)"
for nodes in 1 2; do
    mpi_run "np=4 nodes=$nodes" 4 60 "--mca coll_arc_report_file $folder/n$nodes --mca coll_arc_ranks_per_node $((4 / nodes)) \
        --mca coll_lowlat_nodes_transport messages" reported
    reads "np=4 nodes=$nodes" "$folder/n$nodes.lowlat" "$all='4-16B') == 100" "$all='64-256KB', reason=None) == 10" \
        "total('call_bytes_total', nranks=4, n_nodes=$nodes, reason=None) == 800856" \
        "sum(row['calls_total'] for row in rows if row.get('reason', '').startswith('no algorithm here')) == 3" \
        "total('calls_total', collective='MPI_Iallreduce', nranks=4, message_size='4-16B') == 7" \
        "total('call_seconds_total', collective='MPI_Iallreduce') == 0" \
        "total('calls_total', nranks=2, n_nodes=$nodes, message_size='4-16B') == 20" \
        "0.1 < total('call_seconds_total', nranks=4, message_size='4-16B') < 30" \
        "0.1 < $waits[0] < 30" "$waits[1] == 4 - $nodes" \
        "0.1 < ($late, $messages)[$nodes - 1]" "$late + $messages <= total('call_seconds_total')" \
        "($messages > 0) == ($nodes > 1)" \
        "all(row['rank'] == 0 and row['component'] == 'lowlat' for row in rows)"
done
dashboard=${top_srcdir:-../..}/docs/packaging/grafana/arc.json
python3 -m json.tool "$dashboard" >/dev/null && grep -oE 'arc_[a-z_]+' "$dashboard" | sort -u >"$mpi_scratch/asked" &&
    [ -s "$mpi_scratch/asked" ] && ! sed -n 's/^# TYPE \([^ ]*\).*/\1/p' "$folder/n2.lowlat.prom" | sort |
    comm -13 - "$mpi_scratch/asked" | grep .
mpi_result $? "the dashboard asks for metrics that there are"
mpi_run "np=4 quant" 4 60 "--mca coll_arc_report_file $folder/q --mca coll_quant_enable 1 --mca coll_quant_format fp32 \
    --mca coll_quant_types double --mca coll_quant_min_bytes 16k" reported
reads "np=4 quant" "$folder/q.quant" \
    "total('calls_total', nranks=4, message_size='64-256KB', reason=None) == 10" \
    "total('calls_total', message_size='4-16B', reason='message is smaller than min_bytes') == 127"
[ -e "$folder/q.lowlat.prom" ] && [ ! -e "$folder/n1.quant.prom" ]
mpi_result $? "a component that nobody wants writes nothing"

# Names: a file for each rank, and words that are none of ours.
mpi_run "np=3 names" 3 60 "--mca coll_arc_report_file $folder/%r%z%%_%j" reported -l 2
for rank in 0 1 2; do
    reads "np=3 rank $rank" "$folder/$rank%z%%_${SLURM_JOB_ID:-unknown}.lowlat" \
        "total('calls_total', nranks=3) == 120" "all(row['rank'] == $rank for row in rows)"
done

# Two jobs that write the same files at a time: one of both wins, with all of a file.
ls "$folder" >"$mpi_scratch/before"
for job in 1 2; do
    (mpi_scratch=$mpi_scratch/job$job && mkdir "$mpi_scratch" &&
        mpi_start 2 60 "--mca coll_arc_report_file $folder/same" reported -l 1 && exit "$mpi_status") &
done
wait
reads "two jobs" "$folder/same.lowlat" "two jobs" "total('calls_total', nranks=2) == 120"
ls "$folder" | comm -13 "$mpi_scratch/before" - | tr '\n' ' ' >"$mpi_scratch/new"
[ "$(cat "$mpi_scratch/new")" = "same.lowlat.json same.lowlat.prom " ]
mpi_result $? "two jobs: nothing else is left in the folder"

mpi_judge "np=2 no such folder" mpi_start 2 60 "--mca coll_arc_report_file $folder/none/here" reported -l 1
mpi_says "one line says so" \
    "coll_lowlat: coll_arc_report_file: .*/none/here.lowlat.prom cannot be written: No such file" 1
printf '#!/bin/sh\nulimit -f 1\nexec %s -l 20\n' "$(mpi_find reported)" >"$mpi_scratch/limited"
chmod +x "$mpi_scratch/limited"
mpi_judge "np=2 files of 512 bytes" mpi_start 2 60 \
    "--mca btl tcp,self --mca coll_arc_report_file $folder/limited" "$mpi_scratch/limited"
mpi_says "one line says so" \
    "coll_lowlat: coll_arc_report_file: .*/limited.lowlat.prom cannot be written: File too large" 1
# Calls that are not blocking, of requests that are set up outside of a call.
for nodes in 1 2; do
    mpi_run "np=4 nodes=$nodes not blocking" 4 60 "--mca coll_arc_report_file $folder/p$nodes \
        --mca coll_arc_ranks_per_node $((4 / nodes))" pending -o 300
    reads "np=4 nodes=$nodes not blocking" "$folder/p$nodes.lowlat" "total('calls_total', collective='MPI_Iallreduce') > 0" \
        "total('calls_total', collective='MPI_Allreduce_init') > 0" \
        "total('call_seconds_total', collective='MPI_Allreduce_init') == 0"
done

mpi_run "np=2 threads" 2 120 "--mca coll_arc_report_file $folder/threads" threads
reads "np=2 threads" "$folder/threads.lowlat" "total('calls_total', nranks=2) > 100"
mpi_run "np=4 variables of MPI_T" 4 60 "" reported -p
mpi_run "np=4 variables of MPI_T, with files" 4 60 "--mca coll_arc_report_file $folder/t" reported -p
mpi_done
