/*
 * The lossy sum of coll_quant, seen by a program: its error on normally
 * distributed data is what theory says, every rank gets the same bytes, and
 * nothing else than large MPI_FLOAT sums is touched.
 *
 * Rounding blocks of 64 to 8 bits adds, for data of variance v, the mean squared
 * error c * v with c = 3.56e-5. The partial sum of k ranks has variance k. A ring
 * of N ranks rounds those of 1, 2, ... N - 1 ranks and the total, which adds up to
 *
 *   c * (1 + 2 + ... + (N - 1) + N) = c * N (N + 1) / 2
 *
 * For 8 ranks: 1.28e-3. The other algorithms: see `algorithms`.
 *
 *   -a A   the algorithm that is set, or doubling where vectors take it (default full_loop)
 *   -p P   for hierarchical: ranks on each node
 *   -n N   elements per rank (default 4096 * 4096)
 *   -m M   coll_quant_min_bytes (default 256 KiB)
 *   -c C   the c of another format; only the error is checked
 *   -k L   the same of several formats, "int4 1.157e-2 int5 2.521e-3 ...", each on a communicator
 *          with the format as its key
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"

enum {
    DEFAULT_ELEMS = 4096 * 4096,
    MIN_QUANT_BYTES = 256 * 1024, /* coll_quant_min_bytes of the tests; mpi_run.sh */
    EXACT_ELEMS = 300001,
    EXACT_RANGE = 1 << 20, /* integers: exact in a float, far too fine for 8 bits */
    PLACE_NAN = 70001,
    PLACE_INF = 90013,
};

static double step_error = 3.56e-5; /* c above, 8 bits with blocks of 64 */
static MPI_Comm tested = MPI_COMM_WORLD;
static int min_quant_elems = MIN_QUANT_BYTES / sizeof(float);
static const double tolerance = 0.05;

/* How many contributions are rounded, all in all, until the total is complete. */
static double rounded_by_loop(int ranks)
{
    return ranks * (ranks - 1) / 2.0;
}

/* Two chains of half the length; with an even number of ranks one of them is longer. */
static double rounded_by_semi_loop(int ranks)
{
    int longer = ranks / 2;
    int shorter = ranks - 1 - longer;

    return (longer * (longer + 1) + shorter * (shorter + 1)) / 2.0;
}

static double rounded_by_direct(int ranks)
{
    return ranks - 1;
}

/* A rank at distance d is rounded once for every bit that is set in d. */
static double rounded_by_halving(int ranks)
{
    double rounded = 0;

    for (int distance = 1; distance < ranks; distance++) {
        for (int rest = distance; rest > 0; rest /= 2) {
            rounded += rest % 2;
        }
    }
    return rounded;
}

/* Ranks on each node (-p): what they have is rounded together, and only between nodes. */
static int per_node = 1;

static double rounded_by_nodes(int ranks)
{
    const int nodes = ranks / per_node;
    return per_node * (nodes <= 4 ? rounded_by_loop(nodes) : rounded_by_semi_loop(nodes));
}

/* Each phase but the last, which counts as the total, rounds what adds up to the whole. */
static double rounded_by_doubling(int ranks)
{
    int phases = 0;

    for (int factor = 2, rest = ranks; rest > 1; factor++) {
        for (; rest % factor == 0; rest /= factor) {
            phases++;
        }
    }
    return ranks * (phases - 1);
}

static const struct algorithm {
    const char *name;
    double (*rounded)(int ranks);
} algorithms[] = {
    {"full_loop", rounded_by_loop},     {"semi_loop", rounded_by_semi_loop},
    {"direct", rounded_by_direct},      {"recursive_halving", rounded_by_halving},
    {"hierarchical", rounded_by_nodes}, {"doubling", rounded_by_doubling},
};

/* The mean squared error of the whole result, on rank 0. */
static double mean_squared_error(const float *result, size_t elems)
{
    double squares;
    double share = normal_errors(result, elems, world_ranks, world_rank, world_ranks, &squares);
    double total = 0;

    MPI_Reduce(&share, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return total / (double) elems;
}

/* A second call with the same data, in place. */
static void check_again(float *data, const float *first, size_t elems)
{
    MPI_Allreduce(MPI_IN_PLACE, data, (int) elems, MPI_FLOAT, MPI_SUM, tested);
    tap_check(memcmp(data, first, elems * sizeof *data) == 0, "bytes differ");
    tap_case("in place gives the bytes of out of place");
}

static void check_error(const struct algorithm *algorithm, size_t elems)
{
    SCOPED float *send = must_alloc(elems * sizeof *send);
    SCOPED float *receive = must_alloc(elems * sizeof *receive);
    draw_normal(send, world_rank, elems);
    MPI_Allreduce(send, receive, (int) elems, MPI_FLOAT, MPI_SUM, tested);
    double mse = mean_squared_error(receive, elems);
    double expected = step_error * (algorithm->rounded(world_ranks) + world_ranks);

    tap_note("%s, %zu elements on %d ranks: mean squared error %.4e, theory %.4e", algorithm->name,
             elems, world_ranks, mse, expected);
    if (world_rank == 0) {
        tap_check(fabs(mse / expected - 1.0) <= tolerance, "%.4e instead of %.4e", mse, expected);
    }
    tap_case("mean squared error within %.0f %% of theory", 100.0 * tolerance);

    tap_check_same(receive, elems * sizeof *receive, MPI_COMM_WORLD);
    tap_case("all ranks hold the same bytes");

    check_again(send, receive, elems);
}

/* -k */
static void check_formats(const struct algorithm *algorithm, size_t elems, char *list)
{
    for (char *format = strtok(list, " "); format != NULL; format = strtok(NULL, " ")) {
        step_error = strtod(strtok(NULL, " "), NULL);
        tested = dup_with_key("arc_quant", format);
        tap_note("%s", format);
        check_error(algorithm, elems);
        MPI_Comm_free(&tested);
    }
}

static void check_non_finite(void)
{
    SCOPED float *data = must_alloc(EXACT_ELEMS * sizeof *data);
    SCOPED float *finite = must_alloc(EXACT_ELEMS * sizeof *finite);

    draw_normal(data, world_rank, EXACT_ELEMS);
    memcpy(finite, data, EXACT_ELEMS * sizeof *data);
    if (world_rank == world_ranks - 1) {
        data[PLACE_NAN] = NAN;
    }
    if (world_rank == 0) {
        data[PLACE_INF] = INFINITY;
    }
    MPI_Allreduce(MPI_IN_PLACE, data, EXACT_ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, finite, EXACT_ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    tap_check(isnan(data[PLACE_NAN]), "element %d is %g, not NaN", PLACE_NAN,
              (double) data[PLACE_NAN]);
    tap_check(isinf(data[PLACE_INF]) && data[PLACE_INF] > 0, "element %d is %g, not Inf", PLACE_INF,
              (double) data[PLACE_INF]);
    for (int i = 0; i < EXACT_ELEMS; i++) {
        if (i != PLACE_NAN && i != PLACE_INF) {
            /* One apart: far above what rounding to 8 bits does here, far below a lost block. */
            tap_check(fabsf(data[i] - finite[i]) < 1.0f, "element %d is %g instead of %g", i,
                      (double) data[i], (double) finite[i]);
        }
    }
    tap_check_same(data, EXACT_ELEMS * sizeof *data, MPI_COMM_WORLD);
    tap_case("NaN and Inf show exactly where they entered, and nowhere else");
}

static double integer_value(int rank, int i)
{
    return (double) (draw_bits(43, (unsigned) rank, (uint64_t) i) % EXACT_RANGE);
}

static double integer_sum(int i)
{
    double sum = 0;

    for (int rank = 0; rank < world_ranks; rank++) {
        sum += integer_value(rank, i);
    }
    return sum;
}

/* How many elements of an integer-valued float sum are not exact. */
static int inexact_elements(MPI_Comm comm, int count)
{
    SCOPED float *data = must_alloc((size_t) count * sizeof *data);
    int inexact = 0;

    for (int i = 0; i < count; i++) {
        data[i] = (float) integer_value(world_rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        inexact += (double) data[i] != integer_sum(i);
    }
    tap_check_same(data, (size_t) count * sizeof *data, MPI_COMM_WORLD);
    return inexact;
}

static void check_exact(MPI_Comm comm, int count)
{
    int inexact = inexact_elements(comm, count);

    tap_check(inexact == 0, "%d of %d elements are not exact", inexact, count);
}

static void check_lossy(MPI_Comm comm, int count)
{
    tap_check(inexact_elements(comm, count) > count / 2, "%d elements came back exact", count);
}

static void check_limits(void)
{
    static const int odd_tails[] = {0, 1, 63, 64, 65, 4097};

    check_exact(MPI_COMM_WORLD, 1);
    check_exact(MPI_COMM_WORLD, 1000);
    check_exact(MPI_COMM_WORLD, min_quant_elems - 1);
    tap_case("float sums below min_bytes are exact");
    for (size_t i = 0; i < sizeof odd_tails / sizeof odd_tails[0]; i++) {
        check_lossy(MPI_COMM_WORLD, min_quant_elems + odd_tails[i]);
    }
    tap_case("float sums from min_bytes on are quantized, whatever the tail");
}

static void check_other_reductions(void)
{
    SCOPED double *doubles = must_alloc(EXACT_ELEMS * sizeof *doubles);
    SCOPED int *ints = must_alloc(EXACT_ELEMS * sizeof *ints);
    SCOPED float *floats = must_alloc(EXACT_ELEMS * sizeof *floats);

    for (int i = 0; i < EXACT_ELEMS; i++) {
        doubles[i] = integer_value(world_rank, i);
        ints[i] = (int) doubles[i];
        floats[i] = (float) doubles[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, doubles, EXACT_ELEMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, ints, EXACT_ELEMS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, floats, EXACT_ELEMS, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < EXACT_ELEMS; i++) {
        double largest = 0;

        for (int rank = 0; rank < world_ranks; rank++) {
            largest = fmax(largest, integer_value(rank, i));
        }
        tap_check(doubles[i] == integer_sum(i), "MPI_DOUBLE, element %d", i);
        tap_check((double) ints[i] == integer_sum(i), "MPI_INT, element %d", i);
        tap_check((double) floats[i] == largest, "MPI_FLOAT MPI_MAX, element %d", i);
    }
    tap_case("large MPI_DOUBLE and MPI_INT sums and MPI_FLOAT maxima are exact");
}

static void check_zeros(void)
{
    SCOPED float *data = must_alloc(EXACT_ELEMS * sizeof *data);

    memset(data, 0, EXACT_ELEMS * sizeof *data);
    MPI_Allreduce(MPI_IN_PLACE, data, EXACT_ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < EXACT_ELEMS; i++) {
        tap_check(data[i] == 0.0f, "element %d is %g", i, (double) data[i]);
    }
    tap_case("zeros stay zeros");
}

static const struct algorithm *algorithm_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        if (strcmp(name, algorithms[i].name) == 0) {
            return &algorithms[i];
        }
    }
    fprintf(stderr, "no theory for the error of algorithm %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *algorithm_name = NULL;
    size_t elems = DEFAULT_ELEMS;
    size_t min_bytes = MIN_QUANT_BYTES;
    const double usual_error = step_error;
    char *formats = NULL;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('a', algorithm_name), OPTION('n', elems), OPTION('m', min_bytes),
                 OPTION('c', step_error), OPTION('k', formats), OPTION('p', per_node));
    const struct algorithm *algorithm =
        algorithm_name == NULL ? &algorithms[0] : algorithm_by_name(algorithm_name);
    min_quant_elems = (int) (min_bytes / sizeof(float));
    if (formats != NULL) {
        check_formats(algorithm, elems, formats);
        return tap_end();
    }
    check_error(algorithm, elems);
    if (step_error == usual_error) {
        check_non_finite();
        check_limits();
        check_other_reductions();
        check_zeros();
    }
    return tap_end();
}
