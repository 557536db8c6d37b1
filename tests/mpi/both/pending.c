/*
 * Nonblocking and persistent allreduces: many pending on several communicators, started in one
 * order on all ranks and completed in another one on each, with blocking calls, collectives of
 * other components and messages of the program in between; every element of every result is
 * checked.
 *
 *   -o N   operations to start (default 2000)
 *   -p N   pending at most (default 32)
 *   -c N   communicators (default 3)
 *   -l N   longest vector, in elements (default 3000)
 *   -t X   allowed relative error of sums of floats (default 0)
 *   -b     no blocking call on these communicators, and no collective of others
 *   -n     no persistent requests
 *   -f     communicators are freed with operations pending: all must be ours, as Open MPI 4.1's own
 *          nonblocking collectives do not survive that
 *   -s N   seed (default 1)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <pthread.h>

#include "harness.h"
#include "numbers.h"
#include "persistent.h"

enum {
    MAX_PENDING = 64,
    MAX_COMMS = 8,
    MODULUS = 8191,
    PAIR = 2, /* ints of an element of the operation that does not commute */
    VALUES = 7,
    FLUSH_EVERY = 97, /* operations, after which nothing is left pending */
    COMM_EVERY = 250, /* ... after which a communicator is freed with operations pending */
};

typedef enum kind { INTS, FLOATS, PAIRS, KINDS } kind_t;

/* What is drawn for an operation: the same on all ranks. */
typedef struct plan {
    unsigned comm;
    kind_t kind;
    int count;
    bool in_place;
    unsigned what; /* out of 16 */
    uint64_t salt;
} plan_t;

typedef struct operation {
    plan_t plan;
    MPI_Request request;
    bool persistent;
    void *in;
    void *out;
} operation_t;

static struct options {
    int operations;
    int pending;
    int comms;
    int longest;
    double error;
    bool only_nonblocking;
    bool no_persistent;
    bool frees;
    uint64_t seed;
} options = {2000, 32, 3, 3000, 0, false, false, false, 1};

static MPI_Comm comms[MAX_COMMS];
static MPI_Datatype pair_type;
static MPI_Op compose;
static operation_t slots[MAX_PENDING];
static int used; /* slots[0] to slots[used - 1] are pending */
static struct stack {
    void *lowest;
    size_t bytes;
} stack;

static void find_stack(void)
{
    pthread_attr_t attributes;

    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &stack.lowest, &stack.bytes);
    pthread_attr_destroy(&attributes);
}

/*
 * x -> a x + b, one after the other: ranks in another order give another result.  On the stack of
 * the thread: Java and Python know where that is, and functions in them fail on any other.
 */
static void compose_maps(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *first = in;
    int *second = inout;

    tap_check((uintptr_t) __builtin_frame_address(0) - (uintptr_t) stack.lowest < stack.bytes,
              "an operation runs on a stack that is not the thread's");
    for (int i = 0; i < *count * PAIR; i += PAIR) {
        const long a = second[i];

        second[i + 1] = (int) ((a * first[i + 1] + second[i + 1]) % MODULUS);
        second[i] = (int) (a * first[i] % MODULUS);
    }
}

static int value_of(const plan_t *plan, int from, int i)
{
    return (int) (draw_bits(plan->salt, (unsigned) from, (uint64_t) (i % VALUES)) % MODULUS);
}

static size_t bytes_of(const plan_t *plan)
{
    return (size_t) plan->count * (PAIRS == plan->kind ? PAIR * sizeof(int) : sizeof(int));
}

static MPI_Datatype type_of(const plan_t *plan)
{
    return INTS == plan->kind ? MPI_INT : FLOATS == plan->kind ? MPI_FLOAT : pair_type;
}

static MPI_Op op_of(const plan_t *plan)
{
    return PAIRS == plan->kind ? compose : MPI_SUM;
}

static void fill(operation_t *operation)
{
    const plan_t *plan = &operation->plan;
    const numbers_t drawn = {.type = FLOATS == plan->kind ? MPI_FLOAT : MPI_INT};
    void *to = plan->in_place ? operation->out : operation->in;
    const int numbers = plan->count * (PAIRS == plan->kind ? PAIR : 1);

    for (int i = 0; i < numbers; i++) {
        numbers_write(&drawn, to, (size_t) i, (float) value_of(plan, world_rank, i));
    }
}

static void check_numbers(const operation_t *operation, const char *what)
{
    const plan_t *plan = &operation->plan;
    const numbers_t summed = {.type = type_of(plan)};
    long sums[VALUES] = {0};

    for (int i = 0; i < VALUES; i++) {
        for (int from = 0; from < world_ranks; from++) {
            sums[i] += value_of(plan, from, i);
        }
    }
    for (int i = 0; i < plan->count; i++) {
        const double exact = (double) sums[i % VALUES];
        const double got = numbers_read(&summed, operation->out, (size_t) i);
        const double allowed = FLOATS == plan->kind ? options.error * MODULUS * world_ranks : 0;

        if (!tap_check(fabs(got - exact) <= allowed, "%s of %d: element %d is %g, not %g", what,
                       plan->count, i, got, exact)) {
            return;
        }
    }
}

static void check_pairs(const operation_t *operation, const char *what)
{
    const plan_t *plan = &operation->plan;
    const int *out = operation->out;

    for (int i = 0; i < plan->count; i++) {
        int exact[PAIR];
        int one = 1;

        for (int from = 0; from < world_ranks; from++) {
            int map[PAIR] = {value_of(plan, from, PAIR * i), value_of(plan, from, PAIR * i + 1)};

            if (from > 0) {
                compose_maps(exact, map, &one, NULL);
            }
            memcpy(exact, map, sizeof exact);
        }
        if (!tap_check(0 == memcmp(exact, out + PAIR * i, sizeof exact),
                       "%s of %d pairs: pair %d is wrong", what, plan->count, i)) {
            return;
        }
    }
}

static void check_result(const operation_t *operation, const char *what)
{
    (PAIRS == operation->plan.kind ? check_pairs : check_numbers)(operation, what);
}

static plan_t draw_plan(int number)
{
    const uint64_t salt = draw_bits(options.seed, 0, (uint64_t) number);
    const uint64_t bits = draw_bits(salt, 1, 0);
    const int range = 0 == bits % 5 ? options.longest : 0 == bits % 3 ? 300 : 8;

    return (plan_t){.comm = (unsigned) (draw_bits(salt, 2, 0) % (unsigned) options.comms),
                    .kind = (kind_t) (draw_bits(salt, 3, 0) % KINDS),
                    .count = 1 + (int) (draw_bits(salt, 4, 0) % (unsigned) range),
                    .in_place = 0 == draw_bits(salt, 5, 0) % 2,
                    .what = (unsigned) (draw_bits(salt, 6, 0) % 16),
                    .salt = salt};
}

static operation_t make_operation(const plan_t *plan)
{
    operation_t operation = {
        .plan = *plan, .in = must_alloc(bytes_of(plan)), .out = must_alloc(bytes_of(plan))};

    fill(&operation);
    return operation;
}

static const void *input_of(const operation_t *operation)
{
    return operation->plan.in_place ? MPI_IN_PLACE : operation->in;
}

static void free_operation(operation_t *operation)
{
    free(operation->in);
    free(operation->out);
}

/* The operation in `place` has ended: look at it, and forget it. */
static void take(int place)
{
    operation_t *operation = &slots[place];

    check_result(operation, operation->persistent ? "a persistent one" : "a nonblocking one");
    if (operation->persistent) {
        MPI_Request_free(&operation->request);
    }
    free_operation(operation);
    slots[place] = slots[--used];
}

/* This rank's own order. */
static unsigned own_turn(void)
{
    static uint64_t turn;
    return (unsigned) draw_bits(options.seed + 1, (unsigned) world_rank, turn++);
}

/* End some of what is pending, by one of MPI's ways. */
static void complete_one(void)
{
    MPI_Status status;
    const int place = (int) (own_turn() % (unsigned) used);
    operation_t *operation = &slots[place];
    int done = 0;

    switch (own_turn() % 4) {
    case 0:
        MPI_Wait(&operation->request, &status);
        done = 1;
        break;
    case 1:
        while (!done) {
            MPI_Test(&operation->request, &done, &status);
        }
        break;
    case 2:
        while (!done) {
            MPI_Request_get_status(operation->request, &done, &status);
        }
        MPI_Wait(&operation->request, &status);
        break;
    default:
        MPI_Test(&operation->request, &done, &status); /* or not */
    }
    if (done) {
        take(place);
    }
}

static void complete_all(void)
{
    MPI_Request requests[MAX_PENDING];

    while (used > 0) {
        int finished[MAX_PENDING];
        int count = used;

        for (int i = 0; i < used; i++) {
            requests[i] = slots[i].request;
        }
        switch (own_turn() % 3) {
        case 0:
            MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < used; i++) {
                finished[i] = used - 1 - i;
            }
            break;
        case 1:
            count = 1;
            MPI_Waitany(used, requests, finished, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Waitsome(used, requests, &count, finished, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < used; i++) {
            slots[i].request = requests[i];
        }
        /* From the last one on: take() fills a place with the last. */
        for (int last = MAX_PENDING - 1; last >= 0; last--) {
            for (int i = 0; i < count; i++) {
                if (finished[i] == last) {
                    take(last);
                }
            }
        }
    }
}

static void start_nonblocking(const plan_t *plan)
{
    operation_t *operation = &slots[used++];

    *operation = make_operation(plan);
    MPI_Iallreduce(input_of(operation), operation->out, plan->count, type_of(plan), op_of(plan),
                   comms[plan->comm], &operation->request);
}

/* Started three times; the last time it stays pending. */
static void start_persistent(const plan_t *plan)
{
    operation_t operation = make_operation(plan);

    operation.persistent = true;
    persistent_allreduce_init(input_of(&operation), operation.out, plan->count, type_of(plan),
                              op_of(plan), comms[plan->comm], &operation.request);
    for (int start = 2; start >= 0; start--) {
        fill(&operation);
        MPI_Start(&operation.request);
        if (start > 0) {
            MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
            check_result(&operation, "a persistent one");
        }
    }
    slots[used++] = operation;
}

static void run_blocking(const plan_t *plan)
{
    operation_t operation = make_operation(plan);

    MPI_Allreduce(input_of(&operation), operation.out, plan->count, type_of(plan), op_of(plan),
                  comms[plan->comm]);
    check_result(&operation, "a blocking one");
    free_operation(&operation);
}

/* Collectives that are not ours, and a message, while ours are pending. */
static void run_other(const plan_t *plan)
{
    int number = 0 == world_rank ? (int) (plan->salt % MODULUS) : 0;
    int all[MAX_PENDING];
    MPI_Request request;

    if (0 == plan->what % 2) {
        MPI_Ibcast(&number, 1, MPI_INT, 0, comms[plan->comm], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Bcast(&number, 1, MPI_INT, 0, comms[plan->comm]);
    }
    tap_check(number == (int) (plan->salt % MODULUS), "a broadcast has %d", number);
    if (world_ranks <= MAX_PENDING) {
        MPI_Allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, comms[plan->comm]);
        for (int i = 0; i < world_ranks; i++) {
            tap_check(all[i] == i, "an allgather has %d from rank %d", all[i], i);
        }
    }
    MPI_Sendrecv(&world_rank, 1, MPI_INT, (world_rank + 1) % world_ranks, 0, &number, 1, MPI_INT,
                 (world_rank + world_ranks - 1) % world_ranks, 0, comms[plan->comm],
                 MPI_STATUS_IGNORE);
    tap_check(number == (world_rank + world_ranks - 1) % world_ranks, "a message has %d", number);
}

static void start_one(int number)
{
    const plan_t plan = draw_plan(number);

    if (plan.what < 2 && !options.only_nonblocking) {
        run_blocking(&plan);
    } else if (plan.what < 4 && !options.only_nonblocking) {
        run_other(&plan);
    } else if (plan.what < 7 && !options.no_persistent) {
        start_persistent(&plan);
    } else {
        start_nonblocking(&plan);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('o', options.operations), OPTION('p', options.pending),
                 OPTION('c', options.comms), OPTION('l', options.longest),
                 OPTION('t', options.error), OPTION('b', options.only_nonblocking),
                 OPTION('n', options.no_persistent), OPTION('f', options.frees),
                 OPTION('s', options.seed));
    MPI_Type_contiguous(PAIR, MPI_INT, &pair_type);
    MPI_Type_commit(&pair_type);
    find_stack();
    MPI_Op_create(compose_maps, 0, &compose);
    for (int i = 0; i < options.comms; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int number = 0; number < options.operations; number++) {
        while (used >= options.pending || (used > 0 && 0 == own_turn() % 3)) {
            complete_one();
        }
        start_one(number);
        if (0 == number % FLUSH_EVERY) {
            complete_all();
        }
        if (options.frees && COMM_EVERY - 1 == number % COMM_EVERY) {
            /* Only after all that is pending there is it gone. */
            MPI_Comm_free(&comms[0]);
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
        }
    }
    complete_all();
    tap_case("%d operations, up to %d pending on %d communicators", options.operations,
             options.pending, options.comms);
    for (int i = 0; i < options.comms; i++) {
        MPI_Comm_free(&comms[i]);
    }
    MPI_Op_free(&compose);
    MPI_Type_free(&pair_type);
    return tap_end();
}
