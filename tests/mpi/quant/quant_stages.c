/*
 * MPI_Reduce_scatter_block and MPI_Allgather of coll_quant, seen by a program:
 * results within the error that theory says, in place or not, equal bytes of an
 * allgather on all ranks, and everything else untouched.
 *
 * Rounding blocks of 64 to 8 bits adds, for data of variance v, the mean squared error
 * c v, c = 3.56e-5. A ring of N ranks rounds the partial sums of 1, 2, ... N - 1 ranks:
 * a reduce-scatter has c N (N - 1)/2, an allgather c. The other algorithms have less.
 *
 *   -r N   expect reduce_scatter_block to be quantized (1) or exact (0); default 1
 *   -g N   the same of allgather
 *   -a N   the same of allreduce
 *   -k     by the info key, on communicators of their own, where coll_quant_enable is 0
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"

enum {
    LARGE_BYTES = 256 * 1024, /* of all blocks together: min_bytes of the tests; mpi_run.sh */
    FEW = 50,
    RANGE = 1 << 20,
    SEED = 77,
};

static const double step_error = 3.56e-5;

static int lossy_scatter = 1;
static int lossy_gather = 1;
static int lossy_reduce = 0;

/* Elements of a block: large ones of lengths that nothing divides. */
static const int tails[] = {0, 1, 63, 64, 65, 4097, 10007};

static int large_block(int tail)
{
    return LARGE_BYTES / (int) sizeof(float) / world_ranks + 1 + tail;
}

static double value_of(int rank, int i)
{
    return (double) (draw_bits(SEED, (unsigned) rank, (uint64_t) i) % RANGE);
}

static double sum_of(int i)
{
    double sum = 0;

    for (int rank = 0; rank < world_ranks; rank++) {
        sum += value_of(rank, i);
    }
    return sum;
}

/* Of a result of values, how many are off, and a limit that none exceeds: many steps. */
typedef struct outcome {
    int off;
    double worst;
} outcome_t;

static void note_error(outcome_t *outcome, double got, double exact)
{
    const double error = fabs(got - exact);

    outcome->off += error != 0;
    outcome->worst = fmax(outcome->worst, error);
}

static outcome_t call_reduce_scatter(MPI_Comm comm, int block, bool in_place)
{
    const int all = block * world_ranks;
    guarded_t send;
    guarded_t receive;
    outcome_t outcome = {0, 0};

    guarded_init(&send, (size_t) all * sizeof(float));
    guarded_init(&receive, (size_t) all * sizeof(float));
    float *in = guarded_place(&send, (size_t) all * sizeof(float));
    float *out = guarded_place(&receive, (size_t) (in_place ? all : block) * sizeof(float));
    float *source = in_place ? out : in;
    for (int i = 0; i < all; i++) {
        source[i] = (float) value_of(world_rank, i);
    }
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, block, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < block; i++) {
        note_error(&outcome, (double) out[i], sum_of(world_rank * block + i));
    }
    for (int i = 0; !in_place && i < all; i++) {
        tap_check((double) in[i] == value_of(world_rank, i), "element %d of the input is lost", i);
    }
    tap_check(guarded_intact(&send) && guarded_intact(&receive), "written out of bounds");
    guarded_fini(&send);
    guarded_fini(&receive);
    return outcome;
}

static outcome_t call_allgather(MPI_Comm comm, int block, bool in_place)
{
    const int all = block * world_ranks;
    guarded_t receive;
    outcome_t outcome = {0, 0};
    SCOPED float *in = must_alloc((size_t) block * sizeof *in + 1);

    guarded_init(&receive, (size_t) all * sizeof(float));
    float *out = guarded_place(&receive, (size_t) all * sizeof(float));
    float *source = in_place ? out + world_rank * block : in;
    for (int i = 0; i < block; i++) {
        source[i] = (float) value_of(world_rank, i);
    }
    /* In place MPI ignores the count and the type of what is sent. */
    MPI_Allgather(in_place ? MPI_IN_PLACE : in, in_place ? 0 : block,
                  in_place && world_rank % 2 == 1 ? MPI_DATATYPE_NULL : MPI_FLOAT, out, block,
                  MPI_FLOAT, comm);
    for (int i = 0; i < all; i++) {
        note_error(&outcome, (double) out[i], value_of(i / block, i % block));
    }
    tap_check_same(out, (size_t) all * sizeof *out, MPI_COMM_WORLD);
    tap_check(guarded_intact(&receive), "written out of bounds");
    guarded_fini(&receive);
    return outcome;
}

static outcome_t call_allreduce(MPI_Comm comm, int count)
{
    SCOPED float *data = must_alloc((size_t) count * sizeof *data);
    outcome_t outcome = {0, 0};

    for (int i = 0; i < count; i++) {
        data[i] = (float) value_of(world_rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        note_error(&outcome, (double) data[i], sum_of(i));
    }
    return outcome;
}

/* Exact, or most elements off, but none by more than a hundredth of the largest sum. */
static void check_outcome(outcome_t outcome, bool lossy, int count, const char *what)
{
    if (!lossy) {
        tap_check(outcome.off == 0, "%s: %d of %d elements are not exact", what, outcome.off,
                  count);
        return;
    }
    tap_check(outcome.off > count / 2, "%s: only %d of %d elements are not exact", what,
              outcome.off, count);
    tap_check(outcome.worst < 0.01 * RANGE * world_ranks, "%s: off by %g", what, outcome.worst);
}

static void check_lengths(void)
{
    const int few = FEW * world_ranks;

    for (int in_place = 0; in_place < 2; in_place++) {
        for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++) {
            const int block = large_block(tails[t]);
            const int all = block * world_ranks;

            check_outcome(call_reduce_scatter(MPI_COMM_WORLD, block, in_place), lossy_scatter,
                          block, "scatter");
            /* In place the own block is the only copy: all of it is exact. */
            check_outcome(call_allgather(MPI_COMM_WORLD, block, in_place),
                          lossy_gather && !in_place, all, "gather");
        }
        check_outcome(call_reduce_scatter(MPI_COMM_WORLD, FEW, in_place), false, FEW,
                      "short scatter");
        check_outcome(call_allgather(MPI_COMM_WORLD, FEW, in_place), false, few, "short gather");
        (void) call_reduce_scatter(MPI_COMM_WORLD, 0, in_place);
        tap_case("floats of any length, %s", in_place ? "in place" : "out of place");
    }
    const int count = LARGE_BYTES / (int) sizeof(float);
    check_outcome(call_allreduce(MPI_COMM_WORLD, count), lossy_reduce, count, "allreduce");
    check_outcome(call_allreduce(MPI_COMM_WORLD, FEW), false, FEW, "short allreduce");
    tap_case("MPI_Allreduce is %s", lossy_reduce ? "quantized, too" : "exact");
}

static double mean_square(const float *got, const double *exact, int count)
{
    double squares = 0;

    for (int i = 0; i < count; i++) {
        squares += ((double) got[i] - exact[i]) * ((double) got[i] - exact[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return squares / ((double) count * world_ranks);
}

static void check_error(void)
{
    enum { BLOCK = 131072 };
    const int all = BLOCK * world_ranks;
    const double loop = step_error * world_ranks * (world_ranks - 1) / 2;
    SCOPED float *in = must_alloc((size_t) all * sizeof *in);
    SCOPED float *out = must_alloc((size_t) all * sizeof *out);
    SCOPED double *exact = must_alloc((size_t) all * sizeof *exact);

    memset(exact, 0, (size_t) all * sizeof *exact);
    for (int rank = 0; rank < world_ranks; rank++) {
        draw_normal(out, rank, (size_t) all);
        for (int i = 0; i < BLOCK; i++) {
            exact[i] += (double) out[world_rank * BLOCK + i];
        }
    }
    draw_normal(in, world_rank, (size_t) all);
    MPI_Reduce_scatter_block(in, out, BLOCK, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double scattered = mean_square(out, exact, BLOCK);
    tap_check(!lossy_scatter || (scattered > loop / 4 && scattered < loop * 1.05),
              "reduce_scatter_block: %g, a ring has %g", scattered, loop);
    for (int rank = 0; rank < world_ranks; rank++) {
        draw_normal(out, rank, BLOCK);
        for (int i = 0; i < BLOCK; i++) {
            exact[rank * BLOCK + i] = (double) out[i];
        }
    }
    MPI_Allgather(in, BLOCK, MPI_FLOAT, out, BLOCK, MPI_FLOAT, MPI_COMM_WORLD);
    const double gathered = mean_square(out, exact, all);
    tap_check(!lossy_gather || (gathered > step_error * 0.95 && gathered < step_error * 1.05),
              "allgather: %g, expected %g", gathered, step_error);
    tap_case("mean square errors %.3g and %.3g are what theory says", scattered, gathered);
}

/* Integers, maxima, doubles, and types with integers in them are exact. */
static void check_others(void)
{
    const int block = large_block(0);
    const int all = block * world_ranks;
    SCOPED int *ints = must_alloc((size_t) all * sizeof *ints);
    SCOPED int *sums = must_alloc((size_t) all * sizeof *sums);
    float *floats = must_alloc((size_t) all * sizeof *floats);
    SCOPED float *largest = must_alloc((size_t) block * sizeof *largest);
    MPI_Datatype pair;

    for (int i = 0; i < all; i++) {
        ints[i] = (int) value_of(world_rank, i);
        floats[i] = (float) ints[i];
    }
    MPI_Reduce_scatter_block(ints, sums, block, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(floats, largest, block, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < block; i++) {
        const int at = world_rank * block + i;
        double most = 0;
        for (int rank = 0; rank < world_ranks; rank++) {
            most = fmax(most, value_of(rank, at));
        }
        tap_check((double) sums[i] == sum_of(at), "MPI_INT, element %d", i);
        tap_check((double) largest[i] == most, "MPI_MAX, element %d", i);
    }
    MPI_Allgather(ints, block, MPI_INT, sums, block, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < all; i++) {
        tap_check((double) sums[i] == value_of(i / block, i % block), "MPI_INT, element %d", i);
    }
    tap_case("MPI_INT, and MPI_FLOAT with MPI_MAX, are exact");

    /* An integer and a float, alternating. */
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i + 1 < all; i += 2) {
        const float value = (float) value_of(world_rank, i);
        memcpy(&ints[i + 1], &value, sizeof value);
    }
    MPI_Allgather(ints, block / 2, pair, sums, block / 2, pair, MPI_COMM_WORLD);
    for (int i = 0; i + 1 < block / 2 * 2 * world_ranks; i += 2) {
        const int from = i / (block / 2 * 2);
        const int at = i % (block / 2 * 2);
        float value = 0;
        memcpy(&value, &sums[i + 1], sizeof value);
        tap_check((double) sums[i] == value_of(from, at) && (double) value == value_of(from, at),
                  "a pair at %d", i);
    }
    MPI_Type_free(&pair);
    free(floats);
    tap_case("a type of integers and floats is exact");
}

/*
 * Ranks may have different types of the same signature.  Rank 0 receives every second float of its
 * buffer, the last rank sends so, the others have plain floats: the same bytes everywhere.
 */
static void check_signatures(void)
{
    const int block = large_block(1);
    const int all = block * world_ranks;
    const bool sends_wide = world_rank == world_ranks - 1;
    const bool receives_wide = world_rank == 0;
    const int stride = receives_wide ? 2 : 1;
    SCOPED float *in = must_alloc(2 * (size_t) block * sizeof *in);
    SCOPED float *out = must_alloc(2 * (size_t) all * sizeof *out);
    SCOPED float *dense = must_alloc((size_t) all * sizeof *dense);
    outcome_t outcome = {0, 0};
    MPI_Datatype wide;

    MPI_Type_create_resized(MPI_FLOAT, 0, 2 * sizeof(float), &wide);
    MPI_Type_commit(&wide);
    for (int i = 0; i < 2 * all; i++) {
        out[i] = -1;
    }
    for (int i = 0; i < block; i++) {
        in[sends_wide ? 2 * i : i] = (float) value_of(world_rank, i);
    }
    MPI_Allgather(in, block, sends_wide ? wide : MPI_FLOAT, out, block,
                  receives_wide ? wide : MPI_FLOAT, MPI_COMM_WORLD);
    for (int i = 0; i < all; i++) {
        dense[i] = out[i * stride];
        note_error(&outcome, (double) dense[i], value_of(i / block, i % block));
        tap_check(stride == 1 || out[2 * i + 1] == -1, "a gap was written, at %d", i);
    }
    check_outcome(outcome, lossy_gather, all, "gather");
    tap_check_same(dense, (size_t) all * sizeof *dense, MPI_COMM_WORLD);
    MPI_Type_free(&wide);
    tap_case("floats of other types on some ranks, of the same signature");
}

/* Of a communicator: which collectives are quantized. */
static void check_comm(MPI_Comm comm, bool reduces, bool scatters, bool gathers)
{
    const int block = large_block(1);
    const int all = block * world_ranks;

    check_outcome(call_reduce_scatter(comm, block, false), scatters, block, "scatter");
    check_outcome(call_allgather(comm, block, false), gathers, all, "gather");
    check_outcome(call_allgather(comm, block, true), false, all, "gather in place");
    check_outcome(call_allreduce(comm, all), reduces, all, "allreduce");
}

static void check_keys(void)
{
    static const struct {
        const char *value;
        bool quantized;
    } steps[] = {{"on", true}, {"off", false}, {"int8", true}, {"default", false}, {"1e-4", true}};
    MPI_Comm comm;
    MPI_Comm on;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        const bool quantized = steps[s].quantized;
        set_key(comm, "arc_quant", steps[s].value);
        check_comm(comm, quantized, quantized, quantized);
        tap_case("arc_quant=%s", steps[s].value);
    }
    on = dup_with_key("arc_quant", "on");
    check_comm(on, true, true, true);
    check_comm(MPI_COMM_WORLD, false, false, false);
    tap_case("a key in MPI_Comm_dup_with_info is for this communicator only");
    MPI_Comm_free(&on);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    bool by_key = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('r', lossy_scatter), OPTION('g', lossy_gather), OPTION('a', lossy_reduce),
                 OPTION('k', by_key));
    if (by_key) {
        check_keys();
    } else {
        check_lengths();
        check_error();
        check_others();
        check_signatures();
    }
    return tap_end();
}
