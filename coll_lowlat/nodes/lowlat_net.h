/*
 * The nodes of a communicator, and the exchange of sums between them.
 *
 * Rank i of a node exchanges with rank i of every other node, for i below
 * `owners`, the least number of ranks that a node has.  The nodes are numbered in
 * the order of their lowest ranks.
 *
 * An exchange is an allreduce of one vector over the nodes, in steps: in each, a
 * range of the vector goes to one node and a range comes from it, to be added or
 * copied.  Which, is a *schedule*: a pure function of the node's role and the step.
 *
 * Several exchanges run at the same time, each over a stream of its own, so that
 * the messages of one never match those of another.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_NET_H
#define LOWLAT_NET_H

#include "steps.h"
#include "lowlat.h"
#include "lowlat_pairing.h"
#include "lowlat_parts.h"
#include "sizes.h"

enum { LOWLAT_EXCHANGES = 4 }; /* at the same time */

/* One step of a schedule.  Ranges are those of the vector; empty: nothing. */
typedef struct lowlat_move {
    unsigned node;
    lowlat_range_t sent;
    lowlat_range_t received;
    bool adds;          /* what comes is added, else it replaces */
    bool peers_is_left; /* ... as the left operand */
} lowlat_move_t;

/*
 * Step `step` of a node for a vector of `elems` elements, of which `line_elems` should
 * stay together.  False: there is none, the exchange is over.
 *
 * Recursive doubling: log2 N exchanges of everything, neighbours first, so that the
 * order of the nodes is kept; the fold of lowlat_pairing.h for other N.
 *   cost  log2 N (alpha + n beta)
 *
 * `halves`: recursive halving and doubling, a butterfly (lowlat_pairing.h), so the sums
 * are those of recursive doubling, with fewer bytes in twice the steps.
 *   cost  2 log2 N alpha + 2 (N-1)/N n beta
 *         N no power of two: 2 alpha more, and for two chunks of n, in either turn, 4 n beta
 */
bool lowlat_schedule(bool halves, const lowlat_role_t *role, unsigned step, size_t elems,
                     size_t line_elems, lowlat_move_t *move);

enum { LOWLAT_SCHEDULES = 2, LOWLAT_PIPES = 2 /* direct and ring */ };

/* An exchange under way. */
typedef struct lowlat_exchange {
    arc_steps_t steps; /* first: the exchange is their task */
    arc_link_t link;
    arc_stream_t *stream;
    const struct lowlat_net *net;
    unsigned char *scratch; /* for what is to be added: as long as the longest vector */
    unsigned char *place; /* as long, for a sum, where nodes are single and there is a time limit */
    const unsigned char *given; /* what the first step reads; may be `vector` */
    unsigned char *vector;      /* our sum, then that of all nodes; NULL: not under way */
    size_t elems;
    lowlat_role_t role;
    lowlat_move_t move;
} lowlat_exchange_t;

/* What a rank knows of the network. */
typedef struct lowlat_net {
    unsigned nodes;
    unsigned node;                /* ours */
    unsigned owners;              /* local ranks that exchange, on every node */
    const unsigned *peer;         /* [nodes] the streams' number of our counterpart; of an owner */
    bool single;                  /* no node has two ranks */
    bool gives_up;                /* there is a time limit */
    bool loops;                   /* long messages take the ring, because the user wants it */
    unsigned direct_nodes;        /* on more nodes direct is halving */
    unsigned places;              /* of direct, for partial sums (lowlat_order.h) */
    size_t chunk_bytes;           /* of the vector at a time */
    size_t long_chunk_bytes;      /* ... of a long one, by halving; 0: no longer ones */
    size_t part_bytes;            /* of three such chunks, for each node, or there are two */
    size_t piece_bytes;           /* of a message of a pipe */
    size_t leader_bytes;          /* messages up to here have one owner in each node */
    bool halves;                  /* the schedule of this call */
    const arc_reducer_t *reducer; /* of this call */
    lowlat_exchange_t exchange[LOWLAT_EXCHANGES];
    struct lowlat_pipe *pipe; /* for long messages (lowlat_pipe.c); NULL: we have none */
} lowlat_net_t;

/* Ranks of each node that own a part of a call: all that may, or one. */
static inline unsigned lowlat_net_owners(lowlat_task_t *task)
{
    return lowlat_cut_owners(task,
                             task->span_bytes <= task->leader_bytes ? 1 : task->group->net->owners);
}

/* No rank shares our node, and `out` has no gaps, which a result must not change. */
static inline bool lowlat_net_is_unstaged(const lowlat_task_t *task)
{
    return task->group->net->single && !task->reducer->has_gaps;
}

/* Algorithms: reduce-scatter in the node, exchange by the schedule, allgather in the node. */
void lowlat_doubling_start(lowlat_task_t *task);
void lowlat_halving_start(lowlat_task_t *task);

/* Or exchange through a pipe (lowlat_pipe.c). */
void lowlat_direct_start(lowlat_task_t *task);
void lowlat_ring_start(lowlat_task_t *task);

/* Find how far direct reaches, and its places, before memory is asked for: over messages. */
void lowlat_pipe_prepare(lowlat_net_t *net);

/*
 * A pipe over the streams of net->exchange[0], in memory of `room`, unless these nodes use none; or
 * over other streams than before, between two operations.  It is for one of the algorithms:
 * net->loops tells which.
 */
void lowlat_pipe_init(lowlat_net_t *net, arc_room_t *room);

enum {
    /* Up to so many nodes all others are partners: each has memory of ours to put into. */
    LOWLAT_PUT_NODES = 32,
    /*
     * On more, two for each bit of a position, since those at a position may be a pair, and two
     * neighbours on the ring, of which one is the other node of our pair.
     */
    LOWLAT_MAX_PARTNERS = 2 * 31 + 2,
};

/*
 * The partners of `node` among `nodes` in all schedules of lowlat_net.h and in the pipes,
 * ascending; how many.  Who is a partner of ours has us for a partner.
 */
unsigned lowlat_partners(unsigned node, unsigned nodes, unsigned partner[LOWLAT_MAX_PARTNERS]);

#endif
