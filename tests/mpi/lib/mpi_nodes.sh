# Several "nodes" of this machine for the MPI tests: other host names by unshare, TCP between them.
# To be sourced after mpi_run.sh; needs the right to set a host name (root).
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
    cat >"$mpi_agent" <<'AGENT'
#!/bin/sh
host=$1
shift
exec unshare -u /bin/sh -c 'hostname "$0"; exec /bin/sh -c "$*"' "$host" "$@"
AGENT
    chmod +x "$mpi_agent"
}

# mpi_nodes_of NODES RANKS: arguments of mpirun for so many nodes of so many ranks each.
# Agents with a path of their own are started as given; names need not resolve. Open MPI 5 fills the
# first host as long as --oversubscribe lets it; a rank of a host is told to go there.
mpi_nodes_of() {
    mpi_hosts=$(seq -s , -f "arc-n%g:$2" 1 "$1")
    case $(mpirun --version | sed -n 's/.*) \([0-9]*\)\..*/\1/p') in
    4) mpi_launcher="--mca plm_rsh_agent $mpi_agent --mca oob_tcp_if_include lo --mca btl self,vader,tcp" ;;
    *) mpi_launcher="--prtemca plm_ssh_agent $mpi_agent --map-by ppr:$2:node:oversubscribe --mca btl self,sm,tcp" ;;
    esac
    echo "-H $mpi_hosts --mca btl_tcp_if_include lo --mca pml ob1 $mpi_launcher"
}
