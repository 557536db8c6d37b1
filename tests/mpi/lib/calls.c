/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <pthread.h>

#include "calls.h"
#include "footprint.h"
#include "harness.h"
#include "persistent.h"

enum { CHUNK = 4096, ROW = 256, DRAWN = 1 << 16, GAP = 0xa5 };

const char *const collective_names[COLLECTIVES] = {"allreduce", "reduce_scatter_block",
                                                   "allgather"};

collective_t collective_named(const char *name)
{
    collective_t found = ALLREDUCE;

    while (strcmp(name, collective_names[found]) != 0) {
        if (found == ALLGATHER) {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
        found++;
    }
    return found;
}

/* ---- numbers ---- */

/* Two normally distributed values from one draw (Box and Muller). */
static void draw_pair(size_t number, float pair[2])
{
    const double two_pi = 6.283185307179586;
    const double unit = 1.0 / 4294967296.0;
    const uint64_t bits = draw_bits(42, 0, number);
    const double radius = sqrt(-2.0 * log(((double) (bits >> 32) + 1.0) * unit));
    const double angle = two_pi * unit * (double) (bits & UINT32_MAX);

    pair[0] = (float) (radius * cos(angle));
    pair[1] = (float) (radius * sin(angle));
}

static float normals[DRAWN + ROW];
static float wholes[DRAWN + ROW];

static void draw_all(void)
{
    for (size_t i = 0; i < DRAWN + ROW; i += 2) {
        draw_pair(i / 2, &normals[i]);
    }
    for (size_t i = 0; i < DRAWN + ROW; i++) {
        wholes[i] = (float) (draw_bits(43, 0, i) % WHOLE_RANGE);
    }
}

/* In rows, each of which is anywhere in numbers that are drawn once, whichever thread comes first.
 */
static void draw_rows(const float drawn[DRAWN + ROW], int rank, size_t first, size_t count,
                      float *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const float *row = drawn;

    pthread_once(&once, draw_all);
    for (size_t i = first; i < first + count; i++) {
        if (i == first || i % ROW == 0) {
            row = drawn + draw_bits(41, (unsigned) rank, i / ROW) % DRAWN;
        }
        out[i - first] = row[i % ROW];
    }
}

void draw_normals(int rank, size_t first, size_t count, float *out)
{
    draw_rows(normals, rank, first, count, out);
}

void draw_normal(float *out, int rank, size_t elems)
{
    draw_normals(rank, 0, elems, out);
}

void draw_wholes(int rank, size_t first, size_t count, float *out)
{
    draw_rows(wholes, rank, first, count, out);
}

/* ---- calls ---- */

call_t call_of(collective_t collective, draw_t draw, size_t elems)
{
    return (call_t){.comm = MPI_COMM_WORLD,
                    .collective = collective,
                    .numbers = numbers_named("float"),
                    .op = MPI_SUM,
                    .draw = draw,
                    .elems = elems};
}

static void draw_part(const call_t *call, int rank, size_t first, size_t count, float *out)
{
    call->draw(rank, first, count, out);
    for (size_t i = 0; i < count && call->numbers.type == MPI_UINT16_T; i++) {
        out[i] = numbers_value(out[i]);
    }
}

static void write_input(const call_t *call, int rank, size_t count, void *to)
{
    float drawn[CHUNK];

    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t length = count - first < CHUNK ? count - first : CHUNK;
        draw_part(call, rank, first, length, drawn);
        for (size_t i = 0; i < length; i++) {
            numbers_write(&call->numbers, to, first + i, drawn[i]);
        }
    }
}

/*
 * Rank 0 receives into every second place of its memory, the last rank sends so, ranks with odd
 * numbers receive blocks that are one element each, the others have plain numbers.
 */
static void gather_other_types(const call_t *call, int rank, int ranks, void *in,
                               unsigned char *out)
{
    const size_t bytes = call->numbers.bytes;
    const size_t all = call->elems * (size_t) ranks;
    const bool sends_wide = rank == ranks - 1;
    const bool receives_wide = rank == 0;
    const bool receives_whole = rank % 2 == 1;
    SCOPED unsigned char *wide_in = must_alloc(2 * call->elems * bytes);
    SCOPED unsigned char *wide_out = must_alloc(2 * all * bytes);
    MPI_Datatype wide;
    MPI_Datatype whole;

    MPI_Type_create_resized(call->numbers.type, 0, (MPI_Aint) (2 * bytes), &wide);
    MPI_Type_contiguous((int) call->elems, call->numbers.type, &whole);
    MPI_Type_commit(&wide);
    MPI_Type_commit(&whole);
    memset(wide_out, GAP, 2 * all * bytes);
    for (size_t i = 0; i < call->elems; i++) {
        memcpy(wide_in + 2 * i * bytes, (char *) in + i * bytes, bytes);
    }
    MPI_Allgather(sends_wide ? wide_in : in, (int) call->elems,
                  sends_wide ? wide : call->numbers.type, receives_wide ? wide_out : out,
                  receives_whole ? 1 : (int) call->elems,
                  receives_wide    ? wide
                  : receives_whole ? whole
                                   : call->numbers.type,
                  call->comm);
    for (size_t i = 0; receives_wide && i < all; i++) {
        memcpy(out + i * bytes, wide_out + 2 * i * bytes, bytes);
        tap_check(wide_out[(2 * i + 1) * bytes] == GAP, "a gap was written, at %zu", i);
    }
    MPI_Type_free(&wide);
    MPI_Type_free(&whole);
}

static void make_call(const call_t *call, int rank, int ranks, void *in, void *out)
{
    const void *send = call->in_place ? MPI_IN_PLACE : in;
    const int elems = (int) call->elems;
    const MPI_Datatype type = call->numbers.type;

    if (call->persistent) {
        MPI_Request request;
        persistent_allreduce_init(send, out, elems, type, call->op, call->comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (call->collective == ALLREDUCE) {
        MPI_Allreduce(send, out, elems, type, call->op, call->comm);
    } else if (call->collective == REDUCE_SCATTER_BLOCK) {
        MPI_Reduce_scatter_block(send, out, elems, type, call->op, call->comm);
    } else if (call->other_types) {
        gather_other_types(call, rank, ranks, in, out);
    } else {
        /* In place MPI ignores the count and the type of what is sent. */
        const MPI_Datatype sent = call->in_place && rank % 2 == 1 ? MPI_DATATYPE_NULL : type;
        MPI_Allgather(send, call->in_place ? 0 : elems, sent, out, elems, type, call->comm);
    }
}

/* ---- the exact result ---- */

/* Elements first .. first + count - 1 of a rank's result, of one block of an allgather. */
static void exact_part(const call_t *call, int rank, int ranks, size_t first, size_t count,
                       double *exact)
{
    const bool gathers = call->collective == ALLGATHER;
    const int only = gathers ? (int) (first / call->elems) : 0;
    const size_t from = gathers ? first % call->elems
                        : call->collective == REDUCE_SCATTER_BLOCK
                            ? (size_t) rank * call->elems + first
                            : first;
    float part[CHUNK];

    for (int r = only; r < (gathers ? only + 1 : ranks); r++) {
        draw_part(call, r, from, count, part);
        for (size_t i = 0; i < count; i++) {
            const double value = (double) part[i];
            exact[i] = r == only             ? value
                       : call->op == MPI_MAX ? fmax(exact[i], value)
                                             : exact[i] + value;
        }
    }
}

/* What all ranks have alike they share the work for. */
static errors_t errors_of(const call_t *call, int rank, int ranks, const void *result)
{
    enum { SUMS = 4, ALL = SUMS + 3 };
    const bool shares = call->collective != REDUCE_SCATTER_BLOCK;
    const size_t elems = call->collective == ALLGATHER ? call->elems * (size_t) ranks : call->elems;
    const size_t first = shares ? elems * (size_t) rank / (size_t) ranks : 0;
    const size_t end = shares ? elems * (size_t) (rank + 1) / (size_t) ranks : elems;
    double own[ALL] = {(double) (end - first), 0};
    double all[ALL];
    double exact[CHUNK];
    size_t length = 0;

    for (size_t at = first; at < end; at += length) {
        const size_t block_end = (at / call->elems + 1) * call->elems;
        const size_t stop = block_end < end ? block_end : end;
        length = stop - at < CHUNK ? stop - at : CHUNK;
        exact_part(call, rank, ranks, at, length, exact);
        for (size_t i = 0; i < length; i++) {
            const double error = fabs(numbers_read(&call->numbers, result, at + i) - exact[i]);
            own[1] += error != 0;
            own[2] += error * error;
            own[3] += exact[i] * exact[i];
            own[SUMS] = error > own[SUMS] || isnan(error) ? error : own[SUMS];
            own[SUMS + 1] = fmax(own[SUMS + 1], fabs(exact[i]));
        }
    }
    own[SUMS + 2] = own[2] > 0 ? own[2] / own[3] : 0; /* what a rank looks at is a block */
    /* By calls that no component of ours looks at. */
    MPI_Reduce(own, all, SUMS, MPI_DOUBLE, MPI_SUM, 0, call->comm);
    MPI_Reduce(own + SUMS, all + SUMS, ALL - SUMS, MPI_DOUBLE, MPI_MAX, 0, call->comm);
    MPI_Bcast(all, ALL, MPI_DOUBLE, 0, call->comm);
    return (errors_t){.elems = all[0],
                      .off = all[1],
                      .mean_square = all[2] / all[0],
                      .mean_exact = all[3] / all[0],
                      .worst = all[SUMS],
                      .largest = all[SUMS + 1],
                      .nmse = call->collective == ALLREDUCE ? all[2] / all[3] : all[SUMS + 2],
                      .here = shares ? all[SUMS] : own[SUMS]};
}

uint64_t hash_of(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t length = 0;

    for (size_t i = 0; i < bytes; i += length) {
        uint64_t word = 0;
        length = bytes - i < sizeof word ? bytes - i : sizeof word;
        memcpy(&word, byte + i, length);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
    }
    return hash;
}

errors_t call_run(const call_t *call, void *kept)
{
    int rank;
    int ranks;
    guarded_t send;
    guarded_t receive;

    MPI_Comm_rank(call->comm, &rank);
    MPI_Comm_size(call->comm, &ranks);
    const size_t bytes = call->elems * call->numbers.bytes;
    const size_t all = bytes * (size_t) ranks;
    const bool scatters = call->collective == REDUCE_SCATTER_BLOCK;
    const bool gathers = call->collective == ALLGATHER;
    const size_t sent = scatters ? all : bytes;
    const size_t received = gathers ? all : bytes;
    const size_t room = call->in_place && scatters ? all : received;

    guarded_init(&send, sent);
    guarded_init(&receive, room);
    unsigned char *in = guarded_place(&send, sent);
    unsigned char *out = guarded_place(&receive, room);
    unsigned char *source = !call->in_place ? in : gathers ? out + (size_t) rank * bytes : out;
    write_input(call, rank, sent / call->numbers.bytes, source);
    const uint64_t before = hash_of(in, call->in_place ? 0 : sent);
    if (call->is_short && rank == ranks - 1) {
        shortage_begin(SHORTAGE_BYTES);
    }
    make_call(call, rank, ranks, in, out);
    shortage_end();
    tap_check(hash_of(in, call->in_place ? 0 : sent) == before, "the input has changed");
    tap_check(guarded_intact(&send) && guarded_intact(&receive), "written out of bounds");
    if (!scatters) {
        tap_check_same(out, received, call->comm);
    }
    const errors_t errors = errors_of(call, rank, ranks, out);
    if (kept != NULL) {
        memcpy(kept, out, received);
    }
    guarded_fini(&send);
    guarded_fini(&receive);
    return errors;
}
