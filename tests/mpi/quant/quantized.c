/*
 * The collectives of coll_quant, seen by a program: their error on normally distributed data is
 * what theory says, every rank gets the same bytes, in place or not, and nothing is touched but
 * large sums of floats, and gathered floats.
 *
 * Rounding blocks of 64 to 8 bits adds, for data of variance v, the mean squared error c v with c =
 * 3.56e-5. The partial sum of k ranks has variance k. A ring of N ranks rounds those of 1, 2, ...
 * N - 1 ranks and the total, which adds up to
 *
 *   c * (1 + 2 + ... + (N - 1) + N) = c * N (N + 1) / 2
 *
 * For 8 ranks: 1.28e-3. A reduce-scatter has that without the total, an allgather c. The other
 * algorithms: see `algorithms`.
 *
 *   -q S   which are quantized, of the letters r (allreduce), s (reduce_scatter_block) and g
 *          (allgather), or none (default r); R in place of r: of an allreduce only the stages that
 *          are named beside it
 *   -o     the other collectives are exact, which is checked, too, as with none
 *   -a A   the algorithm that is set, or doubling where vectors take it (default full_loop)
 *   -p P   for hierarchical: ranks on each node
 *   -n N   elements of an allreduce for each rank (default 512 Ki)
 *   -m M   coll_quant_min_bytes (default 256 KiB)
 *   -c C   the c of another format; only the error is checked
 *   -t T   of other numbers: float, double or bf16 (in MPI_UINT16_T); only the error is checked
 *   -f L   the same of several formats, "int4 1.157e-2 int5 2.521e-3 ...", each on a communicator
 *          with the format as its key
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "growth.h"
#include "harness.h"
#include "sums.h"

enum {
    MIN_QUANT_BYTES = 256 * 1024, /* coll_quant_min_bytes of the tests; mpi_run.sh */
    STAGE_BLOCK = 131072,
    FEW = 50,
};

static const char *quantized = "r";
static bool checks_others;
static double step_error = 3.56e-5; /* c above, 8 bits with blocks of 64 */
static size_t reduced_elems = 1 << 19;
static size_t min_quant_elems = MIN_QUANT_BYTES / sizeof(float);
static MPI_Comm tested = MPI_COMM_WORLD;
static numbers_t numbers;

static bool is_none(void)
{
    return strcmp(quantized, "none") == 0;
}

static bool is_named(char letter)
{
    return !is_none() && strchr(quantized, letter) != NULL;
}

static bool is_lossy(collective_t collective)
{
    return is_named("rsg"[collective]) || (collective == ALLREDUCE && is_named('R'));
}

static bool is_checked(collective_t collective)
{
    return is_lossy(collective) || checks_others || is_none();
}

/* ---- theory (growth.h) ---- */

/* Ranks on each node (-p): what they have is rounded together, and only between nodes. */
static int per_node = 1;

static double rounded_by_nodes(unsigned ranks)
{
    return per_node * growth_of_nodes(ranks / (unsigned) per_node);
}

/* Each phase but the last, which counts as the total, rounds what adds up to the whole. */
static double rounded_by_doubling(unsigned ranks)
{
    double phases = 0;

    for (unsigned factor = 2, rest = ranks; rest > 1; factor++) {
        for (; rest % factor == 0; rest /= factor) {
            phases++;
        }
    }
    return ranks * (phases - 1);
}

static const struct algorithm {
    const char *name;
    double (*rounded)(unsigned ranks);
} algorithms[] = {
    {"full_loop", growth_of_loop},      {"semi_loop", growth_of_semi_loop},
    {"direct", growth_of_direct},       {"recursive_halving", growth_of_halving},
    {"hierarchical", rounded_by_nodes}, {"doubling", rounded_by_doubling},
};

static const struct algorithm *algorithm = &algorithms[0];

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

static double expected_error(collective_t collective)
{
    const bool scatters = !is_named('R') || is_named('s');
    const bool gathers = !is_named('R') || is_named('g');
    const double sums = scatters ? algorithm->rounded((unsigned) world_ranks) : 0;

    if (!is_lossy(collective) || collective == ALLGATHER) {
        return is_lossy(collective) ? step_error : 0;
    }
    return step_error * (collective == ALLREDUCE && gathers ? sums + world_ranks : sums);
}

static void check_error(collective_t collective)
{
    const double tolerance = numbers.type == MPI_FLOAT ? 0.05 : 0.2;
    const double variance = collective == ALLGATHER ? 1 : world_ranks;
    const double narrowed = numbers.type == MPI_UINT16_T ? 3e-6 * variance : 0;
    const double expected = expected_error(collective);
    call_t call =
        call_of(collective, draw_normals, collective == ALLREDUCE ? reduced_elems : STAGE_BLOCK);
    call.comm = tested;
    call.numbers = numbers;
    const size_t results = call.elems * (collective == ALLGATHER ? (size_t) world_ranks : 1);
    SCOPED char *result = must_alloc(results * numbers.bytes);
    SCOPED char *again = must_alloc(results * numbers.bytes);
    const double mse = call_run(&call, result).mean_square;

    tap_note("%s by %s, %zu elements on %d ranks: mean squared error %.4e, theory %.4e",
             collective_names[collective], algorithm->name, call.elems, world_ranks, mse, expected);
    /* Sums of floats are rounded, too. */
    tap_check(expected == 0 ? mse <= 1e-12 + narrowed
                            : mse >= expected * (1 - tolerance) &&
                                  mse <= (expected + narrowed) * (1 + tolerance),
              "%.4e instead of %.4e", mse, expected);
    call.in_place = true;
    const double of_place = call_run(&call, again).mean_square;
    /* In place the own block is the only copy: all of an allgather is exact. */
    tap_check(collective == ALLGATHER ? of_place == 0
                                      : memcmp(result, again, results * numbers.bytes) == 0,
              "in place it is another result");
    tap_case("%s of %s: mean squared error within %.0f %% of %.4g, the same in place",
             collective_names[collective], numbers.name, 100.0 * tolerance, expected);
}

static void check_errors(void)
{
    for (collective_t c = ALLREDUCE; c < COLLECTIVES; c++) {
        /* An allgather that is exact need not know that 16 bits are floats. */
        if (is_checked(c) && (numbers.type != MPI_UINT16_T || c != ALLGATHER || is_lossy(c))) {
            check_error(c);
        }
    }
}

/* -f */
static void check_formats(char *list)
{
    for (char *format = strtok(list, " "); format != NULL; format = strtok(NULL, " ")) {
        step_error = strtod(strtok(NULL, " "), NULL);
        tested = dup_with_key("arc_quant", format);
        tap_note("%s", format);
        check_error(ALLREDUCE);
        MPI_Comm_free(&tested);
    }
}

static double dot(const float *a, const float *b, size_t elems)
{
    double sum = 0;

    for (size_t i = 0; i < elems; i++) {
        sum += (double) a[i] * (double) b[i];
    }
    return sum;
}

/*
 * Reduce-scatter is the derivative of allgather: summed over the ranks, the gathered x times y is
 * x times the scattered sum of y.  The y of every rank is all that is gathered, so that a block at
 * another rank's place would lose most of the product.
 */
static void check_derivative(void)
{
    const size_t all = STAGE_BLOCK * (size_t) world_ranks;
    SCOPED float *gathered = must_alloc(all * sizeof(float));
    SCOPED float *y = must_alloc(all * sizeof(float));
    SCOPED float *scattered = must_alloc(STAGE_BLOCK * sizeof(float));
    double products[2];

    for (int rank = 0; rank < world_ranks; rank++) {
        draw_normal(&y[STAGE_BLOCK * (size_t) rank], rank, STAGE_BLOCK);
    }
    const float *x = &y[STAGE_BLOCK * (size_t) world_rank];
    MPI_Allgather(x, STAGE_BLOCK, MPI_FLOAT, gathered, STAGE_BLOCK, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(y, scattered, STAGE_BLOCK, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    products[0] = dot(gathered, y, all);
    products[1] = dot(x, scattered, STAGE_BLOCK);
    MPI_Allreduce(MPI_IN_PLACE, products, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    tap_check(fabs(products[1] / products[0] - 1) < 1e-3, "%.9g and %.9g", products[0],
              products[1]);
    tap_case("reduce_scatter_block is the derivative of allgather");
}

/* ---- what is quantized ---- */

/* Exact, or most elements off, but none by more than a step of 8 bits for each rounding. */
static void check_whole(const call_t *call, bool lossy)
{
    const double most = WHOLE_RANGE / 127.0 * world_ranks * (world_ranks + 1) / 2;
    const errors_t errors = call_run(call, NULL);

    tap_check(lossy ? errors.off > errors.elems / 2 : errors.off == 0,
              "%s of %zu: %.0f of %.0f elements are not exact", collective_names[call->collective],
              call->elems, errors.off, errors.elems);
    tap_check(errors.worst <= most || call->elems == 0, "%s of %zu: off by %g",
              collective_names[call->collective], call->elems, errors.worst);
}

/* A block, or a vector, from min_bytes on, and `tail` more. */
static size_t large_elems(collective_t collective, size_t tail)
{
    return tail +
           (collective == ALLREDUCE ? min_quant_elems : min_quant_elems / (size_t) world_ranks + 1);
}

static void check_lengths(collective_t collective)
{
    static const size_t tails[] = {0, 1, 63, 64, 65, 4097, 10007};

    for (int in_place = 0; in_place < 2; in_place++) {
        const bool lossy = is_lossy(collective) && (collective != ALLGATHER || !in_place);
        call_t call = call_of(collective, draw_wholes, 0);
        call.in_place = in_place;
        for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++) {
            call.elems = large_elems(collective, tails[t]);
            check_whole(&call, lossy);
        }
        const size_t most = collective == ALLREDUCE ? min_quant_elems - 1 : FEW;
        const size_t exact_elems[] = {0, 1, FEW, most};
        for (size_t e = 0; e < sizeof exact_elems / sizeof exact_elems[0]; e++) {
            call.elems = exact_elems[e];
            check_whole(&call, false);
        }
    }
    call_t call = call_of(collective, draw_wholes, large_elems(collective, 1));
    call.other_types = collective == ALLGATHER;
    check_whole(&call, is_lossy(collective));
    tap_case("%s of any length, in place and not: %s from min_bytes on",
             collective_names[collective], is_lossy(collective) ? "quantized" : "exact");
}

/* -t: short vectors, and for an allgather derived types, of doubles. */
static void check_doubles(collective_t collective)
{
    call_t call = call_of(collective, draw_wholes, FEW);

    call.numbers = numbers;
    check_whole(&call, false);
    if (collective == ALLGATHER) {
        call.elems = large_elems(collective, 1);
        call.other_types = true;
        check_whole(&call, is_lossy(collective));
    }
    tap_case("few doubles are exact, and types do not matter");
}

static void check_pairs(void)
{
    const int block = (int) large_elems(ALLGATHER, 0);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
    MPI_Datatype pair;
    typedef struct pair {
        int whole;
        float real;
    } pair_t;
    SCOPED pair_t *in = must_alloc((size_t) block * sizeof *in);
    SCOPED pair_t *out = must_alloc((size_t) (block * world_ranks) * sizeof *out);
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < block; i++) {
        in[i].whole = i * 7919 + world_rank;
        in[i].real = (float) (i % WHOLE_RANGE) + (float) world_rank;
    }
    MPI_Allgather(in, block, pair, out, block, pair, MPI_COMM_WORLD);
    for (int i = 0; i < block * world_ranks; i++) {
        const int at = i % block;
        tap_check(out[i].whole == at * 7919 + i / block &&
                      out[i].real == (float) (at % WHOLE_RANGE) + (float) (i / block),
                  "a pair at %d", i);
    }
    MPI_Type_free(&pair);
    tap_case("a type of integers and floats is exact");
}

/* Integers, maxima and doubles; integers between floats. */
static void check_others(collective_t collective)
{
    call_t call = call_of(collective, draw_wholes, large_elems(collective, 0));

    call.numbers = numbers_named("int");
    check_whole(&call, false);
    call.numbers = numbers_named("double");
    check_whole(&call, false);
    call.numbers = numbers_named("float");
    call.op = MPI_MAX;
    if (collective != ALLGATHER) {
        check_whole(&call, false);
    }
    tap_case("large MPI_INT, MPI_DOUBLE and MPI_MAX are exact");
    if (collective == ALLGATHER) {
        check_pairs();
    }
}

int main(int argc, char **argv)
{
    const char *name = algorithm->name;
    const char *type = NULL;
    const double usual_error = step_error;
    size_t min_bytes = MIN_QUANT_BYTES;
    char *formats = NULL;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('q', quantized), OPTION('o', checks_others), OPTION('a', name),
                 OPTION('p', per_node), OPTION('n', reduced_elems), OPTION('m', min_bytes),
                 OPTION('c', step_error), OPTION('t', type), OPTION('f', formats));
    algorithm = algorithm_by_name(name);
    min_quant_elems = min_bytes / sizeof(float);
    numbers = numbers_named(type == NULL ? "float" : type);
    if (formats != NULL) {
        check_formats(formats);
    } else {
        check_errors();
    }
    for (collective_t c = ALLREDUCE; c < COLLECTIVES && numbers.type == MPI_DOUBLE; c++) {
        if (is_checked(c)) {
            check_doubles(c);
        }
    }
    if (formats != NULL || type != NULL || step_error != usual_error) {
        return tap_end();
    }
    for (collective_t c = ALLREDUCE; c < COLLECTIVES; c++) {
        if (is_checked(c)) {
            check_lengths(c);
            check_others(c);
        }
    }
    check_derivative();
    return tap_end();
}
