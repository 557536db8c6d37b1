/*
 * Communicators of every origin, freed in any order or never, and sums on them.
 *
 *   origins NAME ...     the rows of cases[] with these names; without any, all short ones
 *   -n N                 how many communicators the rows unfreed, session and dups make
 *   -s S                 seconds after which dups has made enough, if 10,000 (default 20)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "footprint.h"
#include "harness.h"
#include "sums.h"

enum {
    NESTED = 4,
    UNORDERED = 12,
    DUPS_BETWEEN_LOOKS = 1000,
    /* Open MPI 4.1 alone grew by 0 to 16 KiB over 200,000 dups; malloc() takes 32 bytes at least.
     */
    DUPS_AT_LEAST = 10000, /* of which a loss of 32 bytes each is seen */
    DUPS_GROWTH_KIB = 100,
    DUP_GROWTH_BYTES = 8,
};

static int communicators;
static double most_seconds = 20;

static void run_nested(void)
{
    static const int freed[NESTED] = {1, 3, 0, 2};
    MPI_Comm comms[NESTED];

    for (int i = 0; i < NESTED; i++) {
        MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i - 1], &comms[i]);
        (void) sums_check(comms[i], (uint64_t) i);
    }
    for (int f = 0; f < NESTED; f++) {
        MPI_Comm_free(&comms[freed[f]]);
        for (int i = 0; i < NESTED; i++) {
            if (comms[i] != MPI_COMM_NULL) {
                (void) sums_check(comms[i], (uint64_t) (NESTED * (f + 1) + i));
            }
        }
    }
    tap_case("a dup of a dup of a dup, freed from the middle");
}

/* All ranks draw the same one to be freed; what it held may serve the one that takes its place. */
static void run_unordered(void)
{
    MPI_Comm comms[UNORDERED];

    for (int i = 0; i < UNORDERED; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 2 ? world_rank % 2 : 0, i % 2 ? -world_rank : 0,
                       &comms[i]);
        (void) sums_check(comms[i], (uint64_t) i);
    }
    for (int turn = 0; turn < 3 * UNORDERED; turn++) {
        const int one = (int) (draw_bits(1, 0, (uint64_t) turn) % UNORDERED);

        MPI_Comm_free(&comms[one]);
        MPI_Comm_split(MPI_COMM_WORLD, turn % 3 == 1 ? world_rank % 2 : 0, turn, &comms[one]);
        for (int i = 0; i < UNORDERED; i++) {
            (void) sums_check_once(comms[(one + i) % UNORDERED], (uint64_t) (turn + i));
        }
        (void) sums_check(comms[one], (uint64_t) turn);
    }
    for (int i = 0; i < UNORDERED; i++) {
        (void) sums_check(comms[i], (uint64_t) i);
        MPI_Comm_free(&comms[i]);
    }
    tap_case("%d communicators, freed in another order than made", UNORDERED);
}

static void run_self(void)
{
    (void) sums_check(MPI_COMM_SELF, 1);
    MPI_Comm comm = dup_of(MPI_COMM_SELF);
    (void) sums_check(comm, 2);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &comm);
    (void) sums_check(comm, 3);
    (void) sums_check(MPI_COMM_WORLD, 4);
    MPI_Comm_free(&comm);
    tap_case("MPI_COMM_SELF, a dup of it, and communicators of single ranks");
}

/* Of what shares memory, and of that the even ranks in reversed order. */
static void run_split_type(void)
{
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm part = MPI_COMM_NULL;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL, &node);
    (void) sums_check(node, 1);
    MPI_Comm_split_type(node, world_rank % 2 == 0 ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED,
                        world_rank, MPI_INFO_NULL, &part);
    if (part != MPI_COMM_NULL) {
        (void) sums_check(part, 2);
        MPI_Comm_free(&part);
    }
    (void) sums_check(node, 3);
    MPI_Comm_free(&node);
    tap_case("MPI_Comm_split_type");
}

static void run_inter(void)
{
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Comm merged = MPI_COMM_NULL;
    const int upper = world_rank % 2;

    MPI_Comm_split(MPI_COMM_WORLD, upper, world_rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - upper, 1, &inter);
    (void) sums_check_inter(inter, 1);
    MPI_Comm dup = dup_of(inter);
    MPI_Intercomm_merge(inter, upper, &merged);
    MPI_Comm_free(&inter);
    (void) sums_check_inter(dup, 2);
    (void) sums_check(merged, 3);
    (void) sums_check(part, 4 + (uint64_t) upper);
    MPI_Comm_free(&part);
    (void) sums_check(merged, 6);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&merged);
    tap_case("intercommunicators, their dups, and what they merge to");
}

/* Pairs of neighbours in a ring: each rank is in two of them, whose sums are in another order. */
static void run_overlapping(void)
{
    MPI_Comm pairs[2] = {MPI_COMM_NULL, MPI_COMM_NULL};

    for (int shift = 0; shift < 2; shift++) {
        const int pair = (world_rank + shift) % world_ranks / 2;

        MPI_Comm_split(MPI_COMM_WORLD, pair, world_rank, &pairs[shift]);
    }
    for (int turn = 0; turn < NESTED; turn++) {
        (void) sums_check(pairs[turn % 2], (uint64_t) turn);
    }
    MPI_Comm_free(&pairs[1]);
    (void) sums_check(pairs[0], NESTED);
    MPI_Comm_free(&pairs[0]);
    tap_case("overlapping pairs of ranks");
}

/* Made without the other ranks, with a topology, without blocking, with an info. */
static void run_made(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group upper = MPI_GROUP_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Info info = MPI_INFO_NULL;
    int range[3] = {world_ranks - 1, world_ranks / 2, -1};
    const int periodic = 1;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, &range, &upper);
    if (world_rank >= world_ranks / 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, upper, 1, &comm);
        (void) sums_check(comm, 1);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_create(MPI_COMM_WORLD, upper, &comm);
    if (comm != MPI_COMM_NULL) {
        (void) sums_check(comm, 2);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&upper);
    MPI_Group_free(&all);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_ranks, &periodic, 1, &comm);
    (void) sums_check(comm, 3);
    MPI_Comm_free(&comm);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    (void) sums_check(comm, 4);
    MPI_Comm_free(&comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "of_nobody", "1");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    (void) sums_check(comm, 5);
    MPI_Comm_free(&comm);
    tap_case("made of groups, with a topology, an info, and without blocking");
}

static void run_unfreed(void)
{
    for (int i = 0; i < communicators; i++) {
        MPI_Comm comm = dup_of(MPI_COMM_WORLD);
        (void) sums_check_once(comm, (uint64_t) i);
    }
    (void) sums_check(MPI_COMM_WORLD, 1);
    tap_case("%d communicators that are never freed", communicators);
}

static void run_session(void)
{
    for (int i = 0; i < communicators; i++) {
        MPI_Comm comm = MPI_COMM_NULL;

        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -world_rank : world_rank, &comm);
        (void) sums_check_once(comm, (uint64_t) i);
        MPI_Comm_free(&comm);
    }
    tap_case("%d communicators with one call each", communicators);
}

static void make_dups(int dups)
{
    for (int i = 0; i < dups; i++) {
        MPI_Comm comm = dup_of(MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    }
}

static void run_dups(void)
{
    const double begin = MPI_Wtime();
    int made = 0;
    int enough = 0;

    make_dups(DUPS_BETWEEN_LOOKS); /* what the first ones keep */
    const footprint_t before = footprint_settled();
    while (!enough) {
        make_dups(DUPS_BETWEEN_LOOKS);
        made += DUPS_BETWEEN_LOOKS;
        enough =
            made >= communicators || (made >= DUPS_AT_LEAST && MPI_Wtime() - begin > most_seconds);
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    const footprint_t after = footprint_settled();
    const long growth_kib = after.resident_kib - before.resident_kib;
    tap_note("%d dups: rank 0 grew by %ld KiB", made, growth_kib);
    tap_check(growth_kib <= DUPS_GROWTH_KIB + made / 1024 * DUP_GROWTH_BYTES, "grew by %ld KiB",
              growth_kib);
    tap_check(after.files <= before.files, "%ld open files instead of %ld", after.files,
              before.files);
    tap_check(after.sysv_segments <= before.sysv_segments, "%ld System V segments instead of %ld",
              after.sysv_segments, before.sysv_segments);
    (void) sums_check(MPI_COMM_WORLD, 1);
    tap_case("dups that are never used leave nothing behind");
}

/* The first 2, 3, ... ranks, all of them twice: one sum on each. */
static void run_shapes(void)
{
    for (int i = 0; i < 2 * (world_ranks - 1); i++) {
        const int size = 2 + i % (world_ranks - 1);
        MPI_Comm comm = MPI_COMM_NULL;

        MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, world_rank, &comm);
        if (comm != MPI_COMM_NULL) {
            (void) sums_check_once(comm, (uint64_t) i);
            MPI_Comm_free(&comm);
        }
    }
    tap_case("communicators of 2 to %d ranks", world_ranks);
}

typedef struct origin {
    const char *name;
    void (*run)(void);
    int communicators; /* without -n; 0: a short case, which is run without being named */
} origin_t;

static const origin_t cases[] = {
    {"nested", run_nested, 0},      {"unordered", run_unordered, 0},
    {"self", run_self, 0},          {"split_type", run_split_type, 0},
    {"inter", run_inter, 0},        {"overlapping", run_overlapping, 0},
    {"made", run_made, 0},          {"unfreed", run_unfreed, 400},
    {"session", run_session, 2000}, {"dups", run_dups, 200000},
    {"shapes", run_shapes, 1},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void run_named(const char *name, int asked)
{
    for (int i = 0; i < CASES; i++) {
        if (strcmp(name, cases[i].name) == 0) {
            communicators = asked > 0 ? asked : cases[i].communicators;
            cases[i].run();
            return;
        }
    }
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    int asked = 0;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('n', asked), OPTION('s', most_seconds));
    for (int i = 0; optind == argc && i < CASES; i++) {
        if (cases[i].communicators == 0) {
            cases[i].run();
        }
    }
    for (int i = optind; i < argc; i++) {
        run_named(argv[i], asked);
    }
    return tap_end();
}
