/*
 * Collectives on floats where coll_quant learns from the calls whether quantizing gains time:
 * whatever it decides, all ranks have the same bytes, and an error is one of eight bits; calls
 * begin exact, and in the end all are served alike; on a duplicate of the communicator, too, and by
 * a persistent allreduce that is made then.
 *
 *   -c NAME    the collective: allreduce (default), reduce_scatter_block, allgather; several are
 *              called one after the other
 *   -w WHAT    what the sums have to be in the end: exact, quantized, or any (default)
 *   -n N       calls of each class of lengths (default 40)
 *   -l N       leave out counts above N
 *
 * Values are integers, far too fine for 8 bits, and their sums are exact in floats: a sum that was
 * quantized shows.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "harness.h"

enum {
    LARGEST = 5 << 20,
    LAST_CALLS = 8, /* of a class: what was learned shows in them */
};

/* Two counts of each class: 256 KiB, 1 MiB, 16 MiB. */
static const int counts[][2] = {{65536, 70001}, {262144, 300000}, {4 << 20, LARGEST}};
enum { CLASSES = sizeof counts / sizeof counts[0] };

enum { QUANTIZED = 1, EXACT = 2, ANY = QUANTIZED | EXACT };

static int wanted = ANY;
static int calls = 40;
static collective_t collective = ALLREDUCE;

/* Each rank encodes a sum of at most all of them, and the total is encoded once more. */
static double tolerance(void)
{
    return (double) world_ranks * (WHOLE_RANGE / 127.0) * (world_ranks + 1);
}

/* One call of at least so many floats in all; whether its result is exact or quantized. */
static int one_call(MPI_Comm comm, int count, bool in_place, bool persistent)
{
    const int blocks = collective == ALLREDUCE ? 1 : world_ranks;
    call_t call = call_of(collective, draw_wholes, (size_t) ((count + blocks - 1) / blocks));

    call.comm = comm;
    call.in_place = in_place && collective != ALLGATHER; /* that is passed down */
    call.persistent = persistent;
    const errors_t errors = call_run(&call, NULL);
    tap_check(errors.worst <= tolerance(), "%d floats: off by %g", count, errors.worst);
    return errors.off == 0 ? EXACT : QUANTIZED;
}

/* All calls of a class: how many were quantized, and what the last ones were. */
typedef struct learned {
    int quantized;
    int last;
} learned_t;

static learned_t calls_of_class(MPI_Comm comm, const int count[2])
{
    learned_t learned = {0, 0};

    for (int call = 0; call < calls; call++) {
        const int what = one_call(comm, count[call % 2], call % 3 == 0, false);

        learned.quantized += what == QUANTIZED;
        learned.last |= call >= calls - LAST_CALLS ? what : 0;
    }
    return learned;
}

static void check_learning(int largest)
{
    const char *name = collective_names[collective];
    learned_t first[CLASSES];

    for (int c = 0; c < CLASSES && counts[c][1] <= largest; c++) {
        first[c] = calls_of_class(MPI_COMM_WORLD, counts[c]);
        tap_note("%s of %d floats: %d of %d calls quantized", name, counts[c][0],
                 first[c].quantized, calls);
        tap_check(first[c].quantized < calls, "%d floats: no call is exact", counts[c][0]);
        tap_check(wanted != QUANTIZED || first[c].last == QUANTIZED,
                  "%d floats: the last calls are not all quantized", counts[c][0]);
    }
    MPI_Comm other = dup_of(MPI_COMM_WORLD);
    for (int c = 0; c < CLASSES && counts[c][1] <= largest; c++) {
        const learned_t again = calls_of_class(other, counts[c]);

        tap_check(wanted != QUANTIZED || again.last == QUANTIZED,
                  "%d floats: the last calls of the duplicate are not all quantized", counts[c][0]);
        tap_check(wanted != EXACT || first[c].quantized + again.quantized <= calls,
                  "%d floats: %d and %d calls are quantized", counts[c][0], first[c].quantized,
                  again.quantized);
    }
    if (collective == ALLREDUCE && wanted != ANY) {
        tap_check(one_call(other, counts[0][0], false, true) == wanted,
                  "a persistent request does not do as its communicator has learned");
    }
    tap_case("%s: the same bytes on all ranks, and in the end what was learned", name);
    MPI_Comm_free(&other);
}

static collective_t named[COLLECTIVES] = {ALLREDUCE};
static int names;

static const char *add_collective(const char *name, void *unused)
{
    if (names == COLLECTIVES) {
        return "at most three collectives";
    }
    named[names++] = collective_named(name);
    return NULL;
}

static const char *parse_wanted(const char *text, void *unused)
{
    wanted = strcmp(text, "exact") == 0 ? EXACT : strcmp(text, "quantized") == 0 ? QUANTIZED : ANY;
    return NULL;
}

int main(int argc, char **argv)
{
    int largest = LARGEST;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION_BY('c', NULL, add_collective, NULL),
                 OPTION_BY('w', NULL, parse_wanted, NULL), OPTION('l', largest),
                 OPTION('n', calls));
    for (int c = 0; c < names || c == 0; c++) {
        collective = named[c];
        check_learning(largest);
    }
    return tap_end();
}
