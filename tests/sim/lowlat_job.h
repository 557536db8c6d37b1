/*
 * A job of simulated ranks: each runs its own list of operations, at its own pace.
 * No rank waits for another but through the algorithm, so ranks drift apart as far
 * as the algorithm lets them.  Results are compared bit for bit with sums made
 * here, in the order that the algorithm promises.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LOWLAT_JOB_H
#define LOWLAT_JOB_H

#include "lowlat.h"
#include "testlib.h"

enum { LOWLAT_JOB_REDUCERS = 5 };

/*
 * Sums of int32 and double, xor of bytes, sums of pairs with a gap behind them, and the last one is
 * not commutative: 2x2 matrices.
 */
arc_reducer_t lowlat_job_reducer(unsigned kind);
enum { LOWLAT_JOB_MATRICES = LOWLAT_JOB_REDUCERS - 1 };

/* One operation of the list; the same on all ranks. */
typedef struct operation {
    unsigned algorithm;
    arc_reducer_t reducer;
    size_t count;
    size_t span_bytes;
    bool in_place;
    uint64_t seed;
} operation_t;

/*
 * An operation of a random length up to `max_bytes`, often at a bound of an arena or
 * around a count of one element for each of `ranks`; `reducers` of them to choose from.
 */
operation_t operation_draw(test_random_t *random, unsigned algorithm, unsigned reducers,
                           unsigned ranks, size_t max_bytes);

/* The sum of the inputs of ranks member[0 .. ranks), in this order. */
void operation_sum(const operation_t *operation, const unsigned *member, unsigned ranks,
                   unsigned char *sum);

/* Who is on which node; a sum within a node is that of operation_on_node(). */
enum { LOWLAT_JOB_MAX_RANKS = 34, LOWLAT_JOB_NODE_RANKS = 256 /* of a node alone */ };
typedef struct placement {
    unsigned nodes;
    unsigned size[LOWLAT_JOB_MAX_RANKS];
    unsigned member[LOWLAT_JOB_MAX_RANKS][LOWLAT_JOB_MAX_RANKS];
    const struct actor *actors; /* of all ranks */
} placement_t;

/* The sum over the nodes, as a balanced tree of neighbours; lowlat_pairing.h has its fold. */
void operation_tree(const operation_t *operation, const placement_t *placement, unsigned char *sum);

/* The sums of `count` nodes, one after the other: first, first + step, ...; step is 1 or -1. */
void operation_chain(const operation_t *operation, const placement_t *placement, unsigned first,
                     int step, unsigned count, unsigned char *sum);

/* The sum of the nodes before the owner, plus that of those behind it, which ends with its own. */
void operation_two_chains(const operation_t *operation, const placement_t *placement,
                          unsigned owner, unsigned char *sum);

/* A rank.  The job's maker sets group, memory and rank, the rest is zero. */
typedef struct actor {
    lowlat_group_t group;
    struct sim_memory *memory; /* of its node */
    unsigned rank;             /* in the job */
    lowlat_task_t task;
    size_t operation; /* the one under way, or the next */
    bool running;
    arc_status_t status; /* an error that ended it */
    test_buffer_t in;
    test_buffer_t out;
} actor_t;

/*
 * The sum of actors member[0 .. ranks) that are on one node: in this order, or by the levels or
 * pairs of their groups.  NULL: actors 0, 1, ...
 */
void operation_on_node(const operation_t *operation, const actor_t *actors, const unsigned *member,
                       unsigned ranks, unsigned char *sum);

/*
 * Levels: numbers of members; or the caches in which the ranks of the node sit, a letter each, a
 * capital one for those of the second socket, so that there are uneven groups, on several levels,
 * and groups whose ranks are not neighbours.  NULL: none.
 */
void actor_make_levels(actor_t *actor, const char *levels);

void actor_start(actor_t *actor, const operation_t *operation);
arc_status_t actor_progress(actor_t *actor);
void actor_release(actor_t *actor);

/* Of one that has ended: asserts that its result is as expected, and nothing else was written. */
void actor_check(const actor_t *actor, const operation_t *operation, const unsigned char *expected);

/*
 * Who moves next: mostly a favourite, who changes now and then, so that ranks
 * run ahead and fall behind for long stretches.
 */
unsigned job_pick_rank(unsigned ranks, unsigned *favourite, test_random_t *random);

typedef struct job {
    unsigned ranks;
    actor_t *actors;
    const operation_t *operations;
    size_t operations_count;
    /* Let something happen in memory and network. */
    void (*happen)(void *context);
    /* What must come out, on all ranks. */
    void (*expect)(const operation_t *operation, const void *context, unsigned char *sum);
    /* The first error of a rank; NULL: an error fails the test. */
    void (*on_error)(void *context);
    void *context;
} job_t;

/*
 * Run until every rank has completed all operations, or has failed, or `steps` calls of
 * progress are over; asserts that the results are right.  False: steps are over.
 */
bool job_run(job_t *job, test_random_t *random, size_t steps) __attribute__((warn_unused_result));

#endif
