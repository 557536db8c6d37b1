/*
 * MPI_SUM of MPI_UINT16_T, when the user said that these are 16-bit floats, and
 * when not. The numbers are multiples of a unit whose exact sum fits into a
 * 32-bit float, so that only the last rounding shows, whoever adds in which order:
 *
 *   result = nearest 16-bit float of the exact sum
 *
 * Rounding after every addition gives something else for many of them; that is
 * checked, too. Whatever MPI_SUM of MPI_UINT16_T means, other operations and
 * other types of 16 bits are integers.
 *
 *   -f TYPE   none (default), bf16 or fp16
 *   -n        the sums are of MPIX_C_FLOAT16, Open MPI's own type of fp16
 *   -i        those in place by MPI_Iallreduce
 *   -p        a persistent request, for other numbers, is made before
 *   -e        a persistent sum of 16 bits is made before: right, or an error
 *   -o        a nonblocking sum of ones is made before
 *   -b        a blocking sum is made before, and nonblocking ones of 16 bits and of floats
 *   -l N      leave out vectors above N elements
 *   -k VALUE  on a duplicate of MPI_COMM_WORLD with this value of the info key arc_quant
 *   -K VALUE  which is another one on the last rank
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "half_oracle.h"
#include "harness.h"
#include "numbers.h"
#include "persistent.h"

enum {
    LARGEST = 300007,
    SEED = 71,
    RANGE_BITS = 7, /* between the exponents of the largest and the smallest number */
    EXTREME_EVERY = 101,
};

/* 28 fill a cache line, 316 a packet; 128 and 2048 the smallest block and chunk. */
static const int counts[] = {0,   1,    2,    7,    27,   28,    29,    127,   128,   129,    316,
                             317, 1000, 2047, 2048, 2049, 16384, 16385, 32769, 70001, LARGEST};

static MPI_Comm comm = MPI_COMM_WORLD;
static bool nonblocking;
static uint16_t send[LARGEST];
static uint16_t receive[LARGEST];

/** What a call should do with 16 bits. */
typedef struct meaning {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    uint16_t (*part)(int rank, int i);
    uint16_t (*result)(MPI_Op op, int i);
} meaning_t;

static const half_format_t *half;

/* Every so often the largest number there is, from all ranks: the sum is infinite. */
static uint16_t half_part(int rank, int i)
{
    const uint64_t bits = draw_bits(SEED, (unsigned) rank, (uint64_t) i);
    const int exponent = half->bias + (int) ((bits >> 32) % (RANGE_BITS + 1));
    const int fraction = (int) (bits & (unsigned) ((1 << half->fraction_bits) - 1));
    const uint16_t sign = bits >> 63 ? 0x8000 : 0;

    if (i % EXTREME_EVERY == EXTREME_EVERY - 1) {
        return (uint16_t) ((half->top_exponent << half->fraction_bits) - 1);
    }
    return (uint16_t) (sign | exponent << half->fraction_bits | fraction);
}

static uint16_t half_sum(MPI_Op op, int i)
{
    double sum = 0;

    for (int rank = 0; rank < world_ranks; rank++) {
        sum += half_number(half, half_part(rank, i));
    }
    return half_round(half, sum);
}

/* Small enough for the sum not to overflow, which Open MPI's own functions for it do not expect. */
static uint16_t integer_part(int rank, int i)
{
    const uint64_t bits = draw_bits(SEED + 1, (unsigned) rank, (uint64_t) i);

    return (uint16_t) (bits % (uint64_t) (INT16_MAX / world_ranks));
}

static uint16_t integer_result(MPI_Op op, int i)
{
    unsigned result = integer_part(0, i);

    for (int rank = 1; rank < world_ranks; rank++) {
        const unsigned part = integer_part(rank, i);

        result = op == MPI_SUM    ? result + part
                 : op == MPI_PROD ? result * part
                 : op == MPI_BAND ? result & part
                 : part > result  ? part
                                  : result;
    }
    return (uint16_t) result;
}

static void check_call(const meaning_t *meaning, int count, bool in_place)
{
    uint16_t *in = in_place ? receive : send;

    for (int i = 0; i < count; i++) {
        in[i] = meaning->part(world_rank, i);
    }
    const void *out = in_place ? MPI_IN_PLACE : send;
    if (nonblocking && in_place) {
        nonblocking_allreduce(out, receive, count, meaning->type, meaning->op, comm);
    } else {
        MPI_Allreduce(out, receive, count, meaning->type, meaning->op, comm);
    }
    for (int i = 0; i < count; i++) {
        const uint16_t expected = meaning->result(meaning->op, i);

        tap_check(receive[i] == expected, "%d elements%s, element %d: 0x%04x instead of 0x%04x",
                  count, in_place ? " in place" : "", i, receive[i], expected);
        tap_check(in_place || send[i] == meaning->part(world_rank, i),
                  "%d elements, element %d: send buffer changed", count, i);
    }
}

static void check_meaning(const meaning_t *meaning, int largest)
{
    int reached = 0;

    for (size_t c = 0; c < sizeof counts / sizeof counts[0] && counts[c] <= largest; c++) {
        check_call(meaning, counts[c], false);
        check_call(meaning, counts[c], true);
        reached = counts[c];
    }
    tap_case("%s, 0 to %d elements", meaning->name, reached);
}

/* Of an allreduce of no elements Open MPI asks no component. */
static void check_nothing(const meaning_t *meaning)
{
    MPI_Request request = MPI_REQUEST_NULL;

    persistent_reduce_scatter_block_init(send, receive, 0, meaning->type, meaning->op, comm,
                                         &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    tap_case("%s, a persistent reduce-scatter of 0 elements", meaning->name);
}

/* The drawn numbers can tell one rounding from many. */
static void check_numbers(void)
{
    enum { SAMPLE = 1000 };
    int differ = 0;

    for (int i = 0; i < SAMPLE; i++) {
        uint16_t sum = half_part(0, i);

        for (int rank = 1; rank < world_ranks; rank++) {
            sum = half_round(half, half_number(half, sum) + half_number(half, half_part(rank, i)));
        }
        differ += sum != half_sum(MPI_SUM, i);
    }
    tap_check(differ > 0 || world_ranks < 3, "no sum shows how often it was rounded");
    tap_case("rounding at every addition would change %d of %d sums", differ, SAMPLE);
}

/* The first that the components hear of the communicator. */
static void make_persistent(void)
{
    double ones[] = {1, 1};
    MPI_Request request = MPI_REQUEST_NULL;

    persistent_allreduce_init(MPI_IN_PLACE, ones, 2, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    tap_check(ones[0] == world_ranks && ones[1] == world_ranks, "%g instead of %d", ones[0],
              world_ranks);
    tap_case("a persistent sum");
}

/* Where ranks cannot know of each other before a blocking call: an error, never integers. */
static void check_unasked(const meaning_t *meaning)
{
    enum { FEW = 100 };
    MPI_Request request = MPI_REQUEST_NULL;
    int error_class = MPI_SUCCESS;

    for (int i = 0; i < FEW; i++) {
        receive[i] = meaning->part(world_rank, i);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Error_class(persistent_allreduce_init(MPI_IN_PLACE, receive, FEW, meaning->type,
                                              meaning->op, comm, &request),
                    &error_class);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    if (error_class == MPI_SUCCESS) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else {
        tap_check(error_class == MPI_ERR_UNSUPPORTED_OPERATION, "error class %d", error_class);
    }
    for (int i = 0; i < FEW && error_class == MPI_SUCCESS; i++) {
        tap_check(receive[i] == meaning->result(meaning->op, i), "element %d: 0x%04x", i,
                  receive[i]);
    }
    tap_case("a persistent sum before all others");
}

static void check_ones(const meaning_t *meaning)
{
    receive[0] = half_round(half, 1);
    nonblocking_allreduce(MPI_IN_PLACE, receive, 1, meaning->type, meaning->op, comm);
    tap_check(receive[0] == half_round(half, world_ranks), "0x%04x", receive[0]);
    tap_case("a nonblocking sum before all others");
}

static void check_blocking_before(const meaning_t *meaning)
{
    enum { FLOATS = 4096 };
    static float ones[FLOATS];

    receive[0] = meaning->part(world_rank, 0);
    PMPI_Allreduce(MPI_IN_PLACE, receive, 1, meaning->type, meaning->op, comm);
    tap_check(receive[0] == meaning->result(meaning->op, 0), "0x%04x", receive[0]);
    receive[1] = meaning->part(world_rank, 1);
    nonblocking_allreduce(MPI_IN_PLACE, receive + 1, 1, meaning->type, meaning->op, comm);
    tap_check(receive[1] == meaning->result(meaning->op, 1), "nonblocking: 0x%04x", receive[1]);
    for (int i = 0; i < FLOATS; i++) {
        ones[i] = 1;
    }
    nonblocking_allreduce(MPI_IN_PLACE, ones, FLOATS, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < FLOATS; i++) {
        tap_check(ones[i] == (float) world_ranks, "float %d: %g", i, ones[i]);
    }
    tap_case("a blocking sum before, then nonblocking ones");
}

int main(int argc, char **argv)
{
    meaning_t sum = {"16-bit floats, rounded once", MPI_UINT16_T, MPI_SUM, half_part, half_sum};
    /* The first one where 16 bits are no floats. */
    static const meaning_t integers[] = {
        {"sum of MPI_UINT16_T: integers", MPI_UINT16_T, MPI_SUM, integer_part, integer_result},
        {"sum of MPI_UNSIGNED_SHORT: integers", MPI_UNSIGNED_SHORT, MPI_SUM, integer_part,
         integer_result},
        {"sum of MPI_INT16_T: integers", MPI_INT16_T, MPI_SUM, integer_part, integer_result},
        {"maximum of MPI_UINT16_T: integers", MPI_UINT16_T, MPI_MAX, integer_part, integer_result},
        {"bits of MPI_UINT16_T: integers", MPI_UINT16_T, MPI_BAND, integer_part, integer_result},
        {"product of MPI_UINT16_T: integers", MPI_UINT16_T, MPI_PROD, integer_part, integer_result},
    };
    const char *half_name = "";
    const char *key = NULL;
    const char *last_key = NULL;
    bool native = false;
    bool persistent = false;
    bool unasked = false;
    bool ones = false;
    bool blocking_before = false;
    int largest = LARGEST;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('f', half_name), OPTION('i', nonblocking), OPTION('n', native),
                 OPTION('l', largest), OPTION('p', persistent), OPTION('e', unasked),
                 OPTION('b', blocking_before), OPTION('o', ones), OPTION('k', key),
                 OPTION('K', last_key));
    if (key != NULL) {
        const bool is_last = last_key != NULL && world_rank == world_ranks - 1;
        comm = dup_with_key("arc_quant", is_last ? last_key : key);
    }
    half = half_by_name(half_name);
    sum.type = native ? half_native_type() : sum.type;
    if (persistent) {
        make_persistent();
    }
    if (unasked) {
        check_unasked(&sum);
    }
    if (ones && sum.type != MPI_DATATYPE_NULL) {
        check_ones(&sum);
    }
    if (blocking_before) {
        check_blocking_before(&sum);
    }
    if (sum.type == MPI_DATATYPE_NULL) {
        tap_skip(sum.name, "this Open MPI has no MPIX_C_FLOAT16");
    } else if (half != NULL) {
        check_numbers();
        check_meaning(&sum, largest);
        check_nothing(&sum);
    } else {
        check_meaning(&integers[0], largest);
    }
    for (size_t i = 1; i < sizeof integers / sizeof integers[0]; i++) {
        check_meaning(&integers[i], largest < LARGEST / 4 ? largest : LARGEST / 4);
    }
    if (key != NULL) {
        MPI_Comm_free(&comm);
    }
    return tap_end();
}
