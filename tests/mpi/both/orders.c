/*
 * Persistent collectives of one communicator that each rank starts in an order of its own, anywhere
 * among blocking and nonblocking calls, which have the same order on all ranks (MPI 4.0, section
 * 6.13).  Ranks complete them in other orders, too; in some rounds one rank waits for each request
 * before it starts the next one.  The program makes and frees requests again and again, and checks
 * every element of every result.
 *
 *   -r N   rounds (default 300)
 *   -q N   requests (default 6)
 *   -l N   longest vector, in elements (default 3000)
 *   -t X   allowed relative error of sums of floats (default 0)
 *   -s N   seed (default 1)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "numbers.h"
#include "persistent.h"

enum { MAX_REQUESTS = 64, MODULUS = 8191, VALUES = 7, ROUNDS_OF_REQUESTS = 40 };

typedef enum kind { ALLREDUCE, REDUCE_SCATTER, ALLGATHER, KINDS } kind_t;

/* A call, the same on all ranks; of floats, or of ints in some allreduces. */
typedef struct call {
    kind_t kind;
    numbers_t numbers;
    int count; /* of a vector, or of each block */
    uint64_t salt;
    void *in;
    void *out;
} call_t;

static struct options {
    int rounds;
    int requests;
    int longest;
    double error;
    uint64_t seed;
} options = {300, 6, 3000, 0, 1};

static MPI_Comm comm;
static call_t calls[MAX_REQUESTS];
static MPI_Request requests[MAX_REQUESTS];

/* Of the summand, or of the block, of rank `from`, in one start. */
static int value_of(const call_t *call, int from, int i)
{
    return (int) (draw_bits(call->salt, (unsigned) from, (uint64_t) (i % VALUES)) % MODULUS);
}

static int blocks_in(const call_t *call)
{
    return REDUCE_SCATTER == call->kind ? world_ranks : 1;
}

static int blocks_out(const call_t *call)
{
    return ALLGATHER == call->kind ? world_ranks : 1;
}

static call_t make_call(uint64_t salt)
{
    const kind_t kind =
        0 == draw_bits(salt, 0, 0) % 3 ? REDUCE_SCATTER + draw_bits(salt, 1, 0) % 2 : ALLREDUCE;
    const int range = 0 == draw_bits(salt, 2, 0) % 3 ? options.longest : 8;
    const bool floats = ALLREDUCE != kind || 0 == draw_bits(salt, 3, 0) % 2;
    call_t call = {.kind = kind,
                   .numbers = numbers_named(floats ? "float" : "int"),
                   .count = 1 + (int) (draw_bits(salt, 4, 0) % (unsigned) range)};

    call.in = must_alloc(sizeof(int) * (size_t) (call.count * blocks_in(&call)));
    call.out = must_alloc(sizeof(int) * (size_t) (call.count * blocks_out(&call)));
    return call;
}

static void free_call(call_t *call)
{
    free(call->in);
    free(call->out);
}

static void fill(call_t *call, uint64_t salt)
{
    call->salt = salt;
    for (int i = 0; i < call->count * blocks_in(call); i++) {
        numbers_write(&call->numbers, call->in, (size_t) i, (float) value_of(call, world_rank, i));
    }
    for (int i = 0; i < call->count * blocks_out(call); i++) {
        numbers_write(&call->numbers, call->out, (size_t) i, -1);
    }
}

static double expected(const call_t *call, int i)
{
    double sum = 0;

    if (ALLGATHER == call->kind) {
        return value_of(call, i / call->count, i % call->count);
    }
    for (int from = 0; from < world_ranks; from++) {
        sum +=
            value_of(call, from, REDUCE_SCATTER == call->kind ? world_rank * call->count + i : i);
    }
    return sum;
}

static void check(const call_t *call, const char *what)
{
    const bool floats = MPI_FLOAT == call->numbers.type;
    const double allowed = floats ? options.error * MODULUS * world_ranks : 0;

    for (int i = 0; i < call->count * blocks_out(call); i++) {
        const double got = numbers_read(&call->numbers, call->out, (size_t) i);

        if (!tap_check(fabs(got - expected(call, i)) <= allowed,
                       "%s, element %d of %d is %g, not %g", what, i,
                       call->count * blocks_out(call), got, expected(call, i))) {
            return;
        }
    }
}

/* ---- persistent requests ---- */

static void make_request(int i, uint64_t salt)
{
    call_t *call = &calls[i];

    *call = make_call(salt);
    switch (call->kind) {
    case REDUCE_SCATTER:
        persistent_reduce_scatter_block_init(call->in, call->out, call->count, call->numbers.type,
                                             MPI_SUM, comm, &requests[i]);
        break;
    case ALLGATHER:
        persistent_allgather_init(call->in, call->count, call->numbers.type, call->out, call->count,
                                  call->numbers.type, comm, &requests[i]);
        break;
    default:
        persistent_allreduce_init(call->in, call->out, call->count, call->numbers.type, MPI_SUM,
                                  comm, &requests[i]);
    }
}

/* This rank's own order of `count` things. */
static void shuffle(int *order, int count)
{
    static uint64_t turn;

    for (int i = 0; i < count; i++) {
        const int place =
            (int) (draw_bits(options.seed + 1, (unsigned) world_rank, turn++) % (unsigned) (i + 1));
        order[i] = order[place];
        order[place] = i;
    }
}

static void take(int i)
{
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    check(&calls[i], "a persistent request");
}

/* All at once, in the order of an array of this rank. */
static void start_all(const int *order)
{
    MPI_Request all[MAX_REQUESTS];

    for (int i = 0; i < options.requests; i++) {
        all[i] = requests[order[i]];
    }
    MPI_Startall(options.requests, all);
    for (int i = 0; i < options.requests; i++) {
        requests[order[i]] = all[i];
    }
}

/* Starts; in between, at `place`, a blocking call, and a nonblocking one, which is returned. */
static void start_around(const int *order, int place, call_t *blocking, call_t *nonblocking,
                         MPI_Request *pending)
{
    for (int i = 0; i <= options.requests; i++) {
        if (i == place) {
            MPI_Allreduce(blocking->in, blocking->out, blocking->count, blocking->numbers.type,
                          MPI_SUM, comm);
            check(blocking, "a blocking call");
            MPI_Iallreduce(nonblocking->in, nonblocking->out, nonblocking->count,
                           nonblocking->numbers.type, MPI_SUM, comm, pending);
        }
        if (i < options.requests) {
            MPI_Start(&requests[order[i]]);
        }
    }
}

static call_t make_sum(uint64_t salt)
{
    call_t call = make_call(salt);

    while (ALLREDUCE != call.kind) {
        free_call(&call);
        salt = draw_bits(salt, 9, 0);
        call = make_call(salt);
    }
    fill(&call, salt);
    return call;
}

/* The others wait for nothing before they have started all: `patient` is not kept waiting. */
static void run_round(uint64_t salt)
{
    const int patient = (int) (draw_bits(salt, 0, 1) % (unsigned) (2 * world_ranks));
    int order[MAX_REQUESTS];
    call_t blocking = make_sum(draw_bits(salt, 1, 1));
    call_t nonblocking = make_sum(draw_bits(salt, 2, 1));
    MPI_Request pending = MPI_REQUEST_NULL;

    for (int i = 0; i < options.requests; i++) {
        fill(&calls[i], draw_bits(salt, 3, (uint64_t) i));
    }
    shuffle(order, options.requests);
    if (world_rank == patient) {
        for (int i = 0; i < options.requests; i++) {
            MPI_Start(&requests[order[i]]);
            take(order[i]);
        }
    } else if (patient < world_ranks) {
        start_all(order);
    } else {
        start_around(order, order[0], &blocking, &nonblocking, &pending);
    }
    if (world_rank != patient) {
        shuffle(order, options.requests);
        for (int i = 0; i < options.requests; i++) {
            take(order[i]);
        }
    }
    if (patient >= world_ranks) {
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
        check(&nonblocking, "a nonblocking call");
    }
    free_call(&blocking);
    free_call(&nonblocking);
}

/* Requests, made in the same order on all ranks, started, and freed in any order. */
static void use_requests(int rounds, uint64_t salt)
{
    int order[MAX_REQUESTS];

    for (int i = 0; i < options.requests; i++) {
        make_request(i, draw_bits(salt, 4, (uint64_t) i));
    }
    for (int round = 0; round < rounds; round++) {
        run_round(draw_bits(salt, 5, (uint64_t) round));
    }
    shuffle(order, options.requests);
    for (int i = 0; i < options.requests; i++) {
        MPI_Request_free(&requests[order[i]]);
        free_call(&calls[order[i]]);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('r', options.rounds), OPTION('q', options.requests),
                 OPTION('l', options.longest), OPTION('t', options.error),
                 OPTION('s', options.seed));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int done = 0; done < options.rounds; done += ROUNDS_OF_REQUESTS) {
        const int left = options.rounds - done;

        use_requests(left < ROUNDS_OF_REQUESTS ? left : ROUNDS_OF_REQUESTS,
                     draw_bits(options.seed, 0, (uint64_t) done));
    }
    MPI_Comm_free(&comm);
    tap_case("%d persistent requests in %d rounds, started in any order", options.requests,
             options.rounds);
    return tap_end();
}
