/*
 * Operations of the program on types that are awkward in memory. An element is
 * an affine map x -> m x + s modulo a prime, two small integers that every kind
 * of field can hold; the operation is composition, associative and not commutative:
 *
 *   (m, s) after (m', s')  =  (m m', m s' + s)
 *
 * or, declared commutative, the sum of both. Where the fields are, and of which
 * kind, is a table; ranks with even and odd numbers may have them in different
 * places, as long as kinds and order are the same.
 *
 *   -b N   leave out vectors of more than N bytes of data
 *   -x     types of negative extent instead, so that element 0 is the last in memory
 *   -s     all calls are served by coll_lowlat, which promises more than MPI: the function gets
 *          whole vectors, aligned like the program's, in memory that it may scribble on
 *
 * Prints the number of reductions that it did.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <float.h>

#include "harness.h"

enum {
    PRIME = 251,
    FIELDS = 2,
    SEED = 81,
    GAP_VALUE = 0x6B,
    EXTENT_MAX = 64,
    MARGIN_BYTES = 128, /* around a vector: fields may lie before its address */
    LARGEST = 20011,
    STRICTEST_BYTES = 8, /* of the kinds but long double, which x86-64 reads from anywhere */
};

static const int counts[] = {0, 1, 2, 3, 7, 14, 100, 500, 2730, LARGEST};

/** What a field can be. */
typedef enum kind { SHORT, INT, FLOAT, DOUBLE, LONG_DOUBLE, WORD, KINDS } kind_t;

static const struct {
    MPI_Datatype type;
    size_t bytes;
} kinds[KINDS] = {
    [SHORT] = {MPI_SHORT, sizeof(short)},    [INT] = {MPI_INT, sizeof(int)},
    [FLOAT] = {MPI_FLOAT, sizeof(float)},    [DOUBLE] = {MPI_DOUBLE, sizeof(double)},
    [WORD] = {MPI_INT64_T, sizeof(int64_t)}, [LONG_DOUBLE] = {MPI_LONG_DOUBLE, sizeof(long double)},
};

/** Where the fields are, in bytes from the address given to MPI. */
typedef struct place {
    int at[FIELDS];
    int lower_bound;
    int extent;
} place_t;

/** One type. */
typedef struct row {
    const char *name;
    kind_t kinds[FIELDS];
    place_t even;
    place_t odd;       /* of ranks with odd numbers; without an extent: as on the others */
    MPI_Datatype pair; /* predefined; NULL: a struct of the kinds is made */
} row_t;

typedef struct pair_ld {
    long double value;
    int index;
} pair_ld_t;

/* clang-format off */
static const row_t rows[] = {
    {"without gaps", {INT, INT}, .even = {{0, 4}, 0, 8}},
    {"gap in the middle and behind", {INT, DOUBLE}, .even = {{0, 8}, 0, 24}},
    {"fields in reversed order", {DOUBLE, SHORT}, .even = {{8, 2}, 0, 16}},
    {"begins behind its address", {INT, WORD}, .even = {{4, 8}, 0, 16}},
    {"begins far behind its address", {FLOAT, DOUBLE}, .even = {{20, 24}, 0, 48}},
    {"negative lower bound", {INT, INT}, .even = {{0, 8}, -8, 24}},
    {"begins before its address", {INT, WORD}, .even = {{-12, -8}, -16, 24}},
    {"elsewhere on every other rank", {WORD, INT}, .even = {{0, 8}, 0, 16}, .odd = {{16, 4}, 0, 40}},
    {"without gaps on every other rank", {SHORT, SHORT}, .even = {{6, 2}, -2, 10}, .odd = {{0, 2}, 0, 4}},
    {"MPI_2INT",       {INT, INT},    {{0, 4}, 0, 8},  .pair = MPI_2INT},
    {"MPI_SHORT_INT",  {SHORT, INT},  {{0, 4}, 0, 8},  .pair = MPI_SHORT_INT},
    {"MPI_DOUBLE_INT", {DOUBLE, INT}, {{0, 8}, 0, 16}, .pair = MPI_DOUBLE_INT},
    {"MPI_LONG_DOUBLE_INT", {LONG_DOUBLE, INT},
     {{0, offsetof(pair_ld_t, index)}, 0, sizeof(pair_ld_t)}, .pair = MPI_LONG_DOUBLE_INT},
};
static const row_t backward_rows[] = {
    {"backwards", {INT, INT}, .even = {{0, 4}, 0, -8}},
    {"backwards with gaps", {INT, INT}, .even = {{0, 4}, 0, -24}},
    {"backwards, lower bound above 0", {INT, INT}, .even = {{0, 4}, 16, -16}},
    {"backwards, lower bound below 0", {SHORT, INT}, .even = {{0, 4}, -8, -40}},
    {"backwards, begins behind its address", {INT, INT}, .even = {{72, 76}, 0, -16}},
    {"backwards, begins before its address", {INT, INT}, .even = {{-104, -100}, -104, -8}},
    {"forwards, lower bound above 0", {INT, INT}, .even = {{8, 12}, 4, 24}},
};
/* clang-format on */

/* An operation gets no argument of ours; it learns about its elements here, and reports here. */
static const row_t *current_row;
static const place_t *current_place;
static int current_count;
static int parts_of_vectors;
static int misaligned_vectors;
static bool served;

/** What a field has, as each kind. */
typedef union number {
    short as_short;
    int as_int;
    float as_float;
    double as_double;
    long double as_long_double;
    int64_t as_word;
} number_t;

static int get_field(const unsigned char *element, int field)
{
    const kind_t kind = current_row->kinds[field];
    number_t number = {0};

    memcpy(&number, element + current_place->at[field], kinds[kind].bytes);
    return SHORT == kind         ? number.as_short
           : INT == kind         ? number.as_int
           : FLOAT == kind       ? (int) number.as_float
           : DOUBLE == kind      ? (int) number.as_double
           : LONG_DOUBLE == kind ? (int) number.as_long_double
                                 : (int) number.as_word;
}

static void put_field(unsigned char *element, int field, int value)
{
    const kind_t kind = current_row->kinds[field];
    number_t number;

    switch (kind) {
    case SHORT:
        number.as_short = (short) value;
        break;
    case FLOAT:
        number.as_float = (float) value;
        break;
    case DOUBLE:
        number.as_double = value;
        break;
    case LONG_DOUBLE:
        number.as_long_double = value;
        break;
    case WORD:
        number.as_word = value;
        break;
    default:
        number.as_int = value;
    }
    /* That of x86-64 has ten bytes, and six that may be anything. */
    const bool has_rest = LONG_DOUBLE == kind && 64 == LDBL_MANT_DIG;

    memset(element + current_place->at[field], GAP_VALUE, kinds[kind].bytes);
    memcpy(element + current_place->at[field], &number, has_rest ? 10 : kinds[kind].bytes);
}

/** The value of an element. */
typedef struct affine {
    int m;
    int s;
} affine_t;

static affine_t compose_maps(affine_t a, affine_t b)
{
    return (affine_t){a.m * b.m % PRIME, (a.m * b.s + a.s) % PRIME};
}

static affine_t add_maps(affine_t a, affine_t b)
{
    return (affine_t){(a.m + b.m) % PRIME, (a.s + b.s) % PRIME};
}

static affine_t draw_map(int rank, int i)
{
    const uint64_t bits = draw_bits(SEED, (unsigned) rank, (uint64_t) i);

    return (affine_t){1 + (int) (bits % (PRIME - 1)), (int) ((bits >> 32) % PRIME)};
}

static affine_t load_map(const unsigned char *element)
{
    return (affine_t){get_field(element, 0), get_field(element, 1)};
}

static void store_map(unsigned char *element, affine_t value)
{
    put_field(element, 0, value.m);
    put_field(element, 1, value.s);
}

static void apply_to_vectors(void *in, void *inout, int count,
                             affine_t (*operation)(affine_t, affine_t))
{
    unsigned char *a = in;
    unsigned char *b = inout;

    parts_of_vectors += count != current_count;
    misaligned_vectors +=
        (uintptr_t) in % STRICTEST_BYTES != 0 || (uintptr_t) inout % STRICTEST_BYTES != 0;
    for (int i = 0; i < count; i++) {
        store_map(b, operation(load_map(a), load_map(b)));
        if (served) {
            store_map(a, (affine_t){-1, -1});
        }
        a += current_place->extent;
        b += current_place->extent;
    }
}

static void compose_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply_to_vectors(in, inout, *count, compose_maps);
}

static void add_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply_to_vectors(in, inout, *count, add_maps);
}

static MPI_Datatype make_type(const row_t *row, const place_t *place)
{
    const int lengths[FIELDS] = {1, 1};
    const MPI_Aint at[FIELDS] = {place->at[0], place->at[1]};
    const MPI_Datatype types[FIELDS] = {kinds[row->kinds[0]].type, kinds[row->kinds[1]].type};
    MPI_Datatype fields;
    MPI_Datatype type;

    MPI_Type_create_struct(FIELDS, lengths, at, types, &fields);
    MPI_Type_create_resized(fields, place->lower_bound, place->extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

/* A buffer, and the address of element 0 of so many in it. */
static unsigned char *first_element(unsigned char *buffer, int count)
{
    const int behind = current_place->extent < 0 && count > 0 ? count - 1 : 0;
    return buffer + MARGIN_BYTES - (ptrdiff_t) behind * current_place->extent;
}

static size_t buffer_bytes(int count)
{
    return (size_t) count * EXTENT_MAX + 2 * MARGIN_BYTES;
}

static void fill_vector(unsigned char *buffer, int count, int rank)
{
    memset(buffer, GAP_VALUE, buffer_bytes(count));
    for (int i = 0; i < count; i++) {
        store_map(first_element(buffer, count) + (ptrdiff_t) i * current_place->extent,
                  draw_map(rank, i));
    }
}

/* Results in their places, and all else as it was. */
static void check_result(unsigned char *out, int count, affine_t (*operation)(affine_t, affine_t))
{
    for (int i = 0; i < count; i++) {
        unsigned char *element = first_element(out, count) + (ptrdiff_t) i * current_place->extent;
        affine_t expected = draw_map(0, i);
        const affine_t got = load_map(element);

        for (int rank = 1; rank < world_ranks; rank++) {
            expected = operation(expected, draw_map(rank, i));
        }
        tap_check(got.m == expected.m && got.s == expected.s,
                  "count %d: element %d is (%d, %d) instead of (%d, %d)", count, i, got.m, got.s,
                  expected.m, expected.s);
        for (int field = 0; field < FIELDS; field++) {
            memset(element + current_place->at[field], GAP_VALUE,
                   kinds[current_row->kinds[field]].bytes);
        }
    }
    for (size_t i = 0; i < buffer_bytes(count); i++) {
        if (out[i] != GAP_VALUE) {
            tap_fail("count %d: wrote into a gap, byte %td of the vector", count,
                     out + i - first_element(out, count));
            return;
        }
    }
}

/* Returns how many reductions it did. */
static int check_row(const row_t *row, bool commutes, size_t largest_bytes)
{
    const place_t *place = world_rank % 2 == 0 || row->odd.extent == 0 ? &row->even : &row->odd;
    affine_t (*operation)(affine_t, affine_t) = commutes ? add_maps : compose_maps;
    MPI_Datatype type = row->pair != NULL ? row->pair : make_type(row, place);
    const size_t data_bytes = kinds[row->kinds[0]].bytes + kinds[row->kinds[1]].bytes;
    SCOPED unsigned char *send = must_alloc(buffer_bytes(LARGEST));
    SCOPED unsigned char *receive = must_alloc(buffer_bytes(LARGEST));
    SCOPED unsigned char *again = must_alloc(buffer_bytes(LARGEST));
    int reductions = 0;
    MPI_Op op;

    current_row = row;
    current_place = place;
    parts_of_vectors = 0;
    misaligned_vectors = 0;
    MPI_Op_create(commutes ? add_op : compose_op, commutes, &op);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int in_place = 0; in_place < 2 && (size_t) counts[c] * data_bytes <= largest_bytes;
             in_place++) {
            current_count = counts[c];
            fill_vector(send, counts[c], world_rank);
            fill_vector(receive, counts[c], in_place ? world_rank : world_ranks);
            MPI_Allreduce(in_place ? MPI_IN_PLACE : first_element(send, counts[c]),
                          first_element(receive, counts[c]), counts[c], type, op, MPI_COMM_WORLD);
            reductions += counts[c] > 0;
            check_result(receive, counts[c], operation);
            fill_vector(again, counts[c], world_rank);
            tap_check(memcmp(send, again, buffer_bytes(counts[c])) == 0,
                      "count %d: send buffer changed", counts[c]);
        }
    }
    tap_check(!served || parts_of_vectors == 0, "%d calls with parts of vectors", parts_of_vectors);
    tap_check(!served || misaligned_vectors == 0, "%d calls with misaligned vectors",
              misaligned_vectors);
    tap_case("%s, %s", row->name, commutes ? "commutative" : "not commutative");
    MPI_Op_free(&op);
    if (row->pair == NULL) {
        MPI_Type_free(&type);
    }
    return reductions;
}

/*
 * Where not, Open MPI 4.1 itself writes outside of its memory when it sends long vectors of a
 * commutative operation around a ring.
 */
static bool begins_at_address(const row_t *row)
{
    const int even = row->even.at[0] < row->even.at[1] ? row->even.at[0] : row->even.at[1];
    const int odd = row->odd.at[0] < row->odd.at[1] ? row->odd.at[0] : row->odd.at[1];

    return even == 0 && odd == 0;
}

int main(int argc, char **argv)
{
    size_t largest_bytes = SIZE_MAX;
    bool backward = false;
    int reductions = 0;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('b', largest_bytes), OPTION('s', served), OPTION('x', backward));
    const row_t *all = backward ? backward_rows : rows;
    const size_t count =
        backward ? sizeof backward_rows / sizeof backward_rows[0] : sizeof rows / sizeof rows[0];
    for (size_t r = 0; r < count; r++) {
        reductions += check_row(&all[r], false, largest_bytes);
        if (served || backward || begins_at_address(&all[r])) {
            reductions += check_row(&all[r], true, largest_bytes);
        }
    }
    tap_note("reductions: %d", reductions);
    return tap_end();
}
