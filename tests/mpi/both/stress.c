/*
 * Thousands of allreduces whose sizes, data and arrival times change from call
 * to call, on two communicators in turn. Sizes are log-uniform with extra weight
 * on the neighbours of powers of two, and go up and down. Meanwhile
 *
 *   - ranks wait for random times before a call, mostly spinning, sometimes asleep
 *   - for stretches of calls one rank is always the last to come
 *   - messages of 1 MiB are pending on entry: sent before the allreduce, received
 *     before it, completed only after it, so that the transport must be driven
 *     inside the allreduce of a rank whose peer is not there yet
 *   - payloads look like sequence numbers: 0, the number of the call, all ones
 *
 * Cost of the oracle: results are known in closed form, so checking is one pass.
 *
 *   -n N   calls (default 10000)    -s N   seed (default 1)
 *   -x N   vectors of up to 2^N elements (default and at most 18)
 *   -q     all calls are small, and nothing else happens: for more calls
 *   -t S   the same calls again and again, for S seconds (default: once)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"

enum {
    LARGEST_ELEMS = (1 << 20) / sizeof(uint32_t), /* 1 MiB */
    LARGEST_LOG2 = 18,
    SMALL_LOG2 = 11, /* most calls stay small, or ten thousand would take minutes */
    LARGE_ONE_IN = 12,
    PENDING_BYTES = 1 << 20,
    PENDING_ONE_IN = 100,
    OTHER_ONE_IN = 20,
    SLEEP_ONE_IN = 400,
    SLEEP_US = 300,
    SPIN_LONGEST = 4000, /* loop turns: a few microseconds */
    LATE_STRETCH = 64,   /* calls in a row with the same late rank */
    LATE_SPIN = 20000,
    MESSAGE_TAG = 9,
    COMMS = 2,
};

/** One run of the test on this rank. */
typedef struct stress {
    MPI_Comm comms[COMMS];
    uint64_t seed;
    unsigned largest_log2;
    bool quiet;
} stress_t;

static uint32_t send[LARGEST_ELEMS];
static uint32_t receive[LARGEST_ELEMS];
static unsigned char message_out[PENDING_BYTES];
static unsigned char message_in[PENDING_BYTES];

/* Decisions that all ranks must agree on: the same bits everywhere. */
static uint64_t common_bits(const stress_t *stress, uint64_t call, unsigned what)
{
    const unsigned nobody = 1u << 20;

    return draw_bits(stress->seed, nobody + what, call);
}

static size_t pick_count(const stress_t *stress, uint64_t call)
{
    uint64_t bits = common_bits(stress, call, 0);
    unsigned usual = stress->largest_log2 < SMALL_LOG2 ? stress->largest_log2 : SMALL_LOG2;
    unsigned top = !stress->quiet && bits % LARGE_ONE_IN == 0 ? stress->largest_log2 : usual;
    unsigned log2 = (unsigned) (bits >> 8) % (top + 1);
    size_t power = (size_t) 1 << log2;

    if ((bits >> 16) % 2 == 0) {
        /* One below, at, or one above the power of two. */
        size_t near = power + (bits >> 24) % 3 - 1;
        return near < 1 ? 1 : near > LARGEST_ELEMS ? LARGEST_ELEMS : near;
    }
    size_t within = power + (bits >> 24) % power;
    return within > LARGEST_ELEMS ? LARGEST_ELEMS : within;
}

static void spin_turns(uint64_t turns)
{
    for (volatile uint64_t turn = 0; turn < turns; turn++) {
    }
}

static void arrive_late(const stress_t *stress, uint64_t call)
{
    uint64_t bits = draw_bits(stress->seed, (unsigned) world_rank, call);
    int late = (int) (call / LATE_STRETCH % (2 * (uint64_t) world_ranks));

    if (world_rank == late) {
        spin_turns(LATE_SPIN);
    } else if (bits % 4 == 0) {
        spin_turns(bits >> 32 & (SPIN_LONGEST - 1));
    }
    if ((bits >> 8) % SLEEP_ONE_IN == 0) {
        usleep(SLEEP_US);
    }
}

/** Payload families: element value of one rank, and of the sum over all ranks (both mod 2^32). */
enum { FAMILY_COUNTING, FAMILY_SEQUENCE, FAMILY_ONES, FAMILY_ZERO, FAMILIES };

static uint32_t element(unsigned family, int rank, uint64_t call, size_t i)
{
    switch (family) {
    case FAMILY_COUNTING:
        return (uint32_t) call * 2654435761u + (uint32_t) i * 40503u + (uint32_t) rank;
    case FAMILY_SEQUENCE:
        return (uint32_t) call + (uint32_t) (i & 1);
    case FAMILY_ONES:
        return UINT32_MAX;
    default:
        return 0;
    }
}

static uint32_t element_sum(unsigned family, int ranks, uint64_t call, size_t i)
{
    uint32_t all = (uint32_t) ranks;
    uint32_t of_rank_0 = element(family, 0, call, i);
    uint32_t from_ranks = family == FAMILY_COUNTING ? all * (all - 1) / 2 : 0;

    return all * of_rank_0 + from_ranks;
}

/* The allreduce of this call, with its data checked. */
static void reduce_and_check(stress_t *stress, uint64_t call)
{
    size_t count = pick_count(stress, call);
    unsigned family = (unsigned) (common_bits(stress, call, 1) % FAMILIES);
    MPI_Comm comm = stress->comms[common_bits(stress, call, 2) % COMMS];
    bool in_place = common_bits(stress, call, 3) % 2 == 0;
    uint32_t *in = in_place ? receive : send;

    for (size_t i = 0; i < count; i++) {
        in[i] = element(family, world_rank, call, i);
    }
    arrive_late(stress, call);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, (int) count, MPI_UINT32_T, MPI_SUM,
                  comm);
    for (size_t i = 0; i < count; i++) {
        if (receive[i] != element_sum(family, world_ranks, call, i)) {
            tap_fail("call %llu, %zu elements, family %u: element %zu is %u instead of %u",
                     (unsigned long long) call, count, family, i, receive[i],
                     element_sum(family, world_ranks, call, i));
            return;
        }
    }
}

/* The same with a large message to the next rank under way all the time. */
static void reduce_over_message(stress_t *stress, uint64_t call)
{
    int next = (world_rank + 1) % world_ranks;
    int previous = (world_rank + world_ranks - 1) % world_ranks;
    MPI_Request requests[2];

    memset(message_out, (int) ((call + (uint64_t) world_rank) & 0xff), PENDING_BYTES);
    MPI_Isend(message_out, PENDING_BYTES, MPI_BYTE, next, MESSAGE_TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(message_in, PENDING_BYTES, MPI_BYTE, previous, MESSAGE_TAG, MPI_COMM_WORLD,
              &requests[1]);
    reduce_and_check(stress, call);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int expected = (int) ((call + (uint64_t) previous) & 0xff);
    tap_check(message_in[0] == expected && message_in[PENDING_BYTES - 1] == expected,
              "call %llu: the message under way arrived changed", (unsigned long long) call);
}

/*
 * Even ranks send a large message and wait until it is received, and only then come to the
 * allreduce; odd ranks post the receive, come at once and look at it afterwards. Unless their
 * allreduce drives the transport, nobody ever finishes.
 */
static void reduce_after_rendezvous(stress_t *stress, uint64_t call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int partner = world_rank ^ 1;

    if (partner < world_ranks && world_rank % 2 == 0) {
        MPI_Send(message_out, PENDING_BYTES, MPI_BYTE, partner, MESSAGE_TAG, MPI_COMM_WORLD);
    } else if (partner < world_ranks) {
        MPI_Irecv(message_in, PENDING_BYTES, MPI_BYTE, partner, MESSAGE_TAG, MPI_COMM_WORLD,
                  &request);
    }
    reduce_and_check(stress, call);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_collective(stress_t *stress, uint64_t call)
{
    int root = (int) (call % (uint64_t) world_ranks);
    uint64_t word = world_rank == root ? call : 0;

    MPI_Bcast(&word, 1, MPI_UINT64_T, root, stress->comms[call % COMMS]);
    tap_check(word == call, "call %llu: bcast", (unsigned long long) call);
    if (call % 3 == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void run_calls(stress_t *stress, uint64_t calls)
{
    for (uint64_t call = 0; call < calls; call++) {
        uint64_t bits = common_bits(stress, call, 4);

        if (stress->quiet) {
            reduce_and_check(stress, call);
            continue;
        }
        if (bits % PENDING_ONE_IN == 0) {
            reduce_over_message(stress, call);
        } else if (bits % PENDING_ONE_IN == 1) {
            reduce_after_rendezvous(stress, call);
        } else {
            reduce_and_check(stress, call);
        }
        if (bits % OTHER_ONE_IN == 2) {
            other_collective(stress, call);
        }
    }
}

/* Is it before `end` on rank 0? */
static bool goes_on(double end)
{
    int on = MPI_Wtime() < end;

    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on != 0;
}

int main(int argc, char **argv)
{
    stress_t stress = {.seed = 1, .largest_log2 = LARGEST_LOG2};
    uint64_t calls = 10000;
    double seconds = 0;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('n', calls), OPTION('s', stress.seed), OPTION('x', stress.largest_log2),
                 OPTION('q', stress.quiet), OPTION('t', seconds));
    if (stress.largest_log2 > LARGEST_LOG2) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    stress.comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &stress.comms[1]);
    const double end = MPI_Wtime() + seconds;
    do {
        run_calls(&stress, calls);
    } while (goes_on(end));
    tap_case("%llu sums of changing size, data and arrival, seed %llu", (unsigned long long) calls,
             (unsigned long long) stress.seed);
    MPI_Comm_free(&stress.comms[1]);
    return tap_end();
}
