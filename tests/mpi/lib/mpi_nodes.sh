# Several "nodes" of this machine for the MPI tests: other host names by unshare, TCP between them over lo.
# Open MPI 6 does not connect ranks of two hosts that have the same address: there the nodes are those of
# ../../cluster/cluster.  To be sourced after mpi_run.sh; needs the right to set a host name (root).
#
#   mpi_nodes                       skips the whole script where that right is missing
#   mpi_start 4 60 "$(mpi_nodes_of 2 2) --mca ..." program      two nodes of two ranks
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

# True if this user may make nodes.
mpi_nodes_possible() {
    unshare -u hostname arc-probe 2>/dev/null
}

mpi_nodes() {
    mpi_nodes_possible || mpi_skip_all "no right to set a host name"
    mpi_agent=$mpi_scratch/agent
    mpi_enter=
    # mpirun asks a name server for the nodes, and one that does not answer takes 5 seconds, twice.
    export RES_OPTIONS="timeout:1 attempts:1"
    [ "$mpi_major" -lt 6 ] || mpi_cluster
    cat >"$mpi_agent" <<AGENT
#!/bin/sh
host=\$1
shift
exec $mpi_enter unshare -u /bin/sh -c 'hostname "\$0"; exec /bin/sh -c "\$*"' "\$host" "\$@"
AGENT
    chmod +x "$mpi_agent"
}

# Four nodes, and one more for mpirun itself, which then is another program of this name.
mpi_cluster() {
    mpi_enter="$(cd "$(dirname "$0")" && pwd)/../../cluster/cluster --name node"
    ARC_CLUSTER_STATE=$mpi_scratch/nodes
    export ARC_CLUSTER_STATE
    mpi_down="$mpi_enter down"
    $mpi_enter up 5 || mpi_skip_all "no cluster"
    trap '$mpi_down; rm -rf "$mpi_scratch"' EXIT
    mkdir "$mpi_scratch/bin"
    printf '#!/bin/sh\nexec %s enter node0 %s "$@"\n' "$mpi_enter" "$(command -v mpirun)" >"$mpi_scratch/bin/mpirun"
    chmod +x "$mpi_scratch/bin/mpirun"
    PATH=$mpi_scratch/bin:$PATH
    mpi_enter="$mpi_enter enter node\${host#arc-n}"
}

# mpi_nodes_of NODES RANKS: arguments of mpirun for so many nodes of so many ranks each.
# Agents with a path of their own are started as given; names need not resolve. Open MPI 5 fills the
# first host as long as --oversubscribe lets it; a rank of a host is told to go there.
mpi_nodes_of() {
    mpi_hosts=$(seq -s , -f "arc-n%g:$2" 1 "$1")
    mpi_network=lo
    [ "$mpi_major" -lt 6 ] || mpi_network=eth0
    case $mpi_major in
    4) mpi_launcher="--mca plm_rsh_agent $mpi_agent --mca oob_tcp_if_include lo --mca btl self,vader,tcp" ;;
    *) mpi_launcher="--prtemca plm_ssh_agent $mpi_agent --map-by ppr:$2:node:oversubscribe --mca btl self,sm,tcp" ;;
    esac
    echo "-H $mpi_hosts --mca btl_tcp_if_include $mpi_network --mca pml ob1 $mpi_launcher"
}
