/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "quant_element.h"
#include "quant_wire.h"

enum { ELEMS = 700, BLOCK_ROWS = 8 };

/* Of 700 elements: two tiles of 8 rows, the second of 3 rows; 88 blocks of 8. */
enum {
    TILE = BLOCK_ROWS * QUANT_LANES,
    CODED_BYTES = 16 + 88 * 2 + 11 * 64,
    KEPT_BYTES = CODED_BYTES + (ELEMS - TILE) * (int) sizeof(float),
};

typedef struct message {
    quant_kernels_t kernels;
    quant_wire_segment_t segment;
    float tile[TILE];
    float values[ELEMS];
    unsigned char *bytes;
    size_t length;
} message_t;

static int setup(void **state)
{
    message_t *message = test_alloc(sizeof(*message));
    test_random_t random = test_random_of(5, 0);

    message->kernels = quant_kernels_select(ARC_ISA_SCALAR);
    message->segment = (quant_wire_segment_t){
        .codec =
            {
                .kernels = &message->kernels,
                .format = &quant_format_int8,
                .block_rows = BLOCK_ROWS,
                .elems = ELEMS,
                .tile = message->tile,
            },
        .sequence = 0xfffefdfc,
    };
    for (unsigned i = 0; i < ELEMS; ++i) {
        message->values[i] = (float) test_random_normal(&random);
    }
    message->bytes = test_alloc(quant_wire_bytes_max(&quant_format_int8, ELEMS, BLOCK_ROWS));
    message->length = quant_wire_pack(&message->segment, message->values, 0, message->bytes);
    *state = message;
    return 0;
}

static int teardown(void **state)
{
    message_t *message = *state;

    free(message->bytes);
    free(message);
    return 0;
}

static arc_status_t check_message(const message_t *message, const quant_wire_segment_t *segment)
{
    return quant_wire_check(segment, message->bytes, message->length);
}

TEST_WITHIN(the_header_has_the_documented_bytes, setup, teardown)
{
    static const unsigned char header[12] = {0x51, 0x54, 0x03, 0x01, 0xfc, 0xfd,
                                             0xfe, 0xff, 0xbc, 0x02, 0x00, 0x00};
    const message_t *message = *state;

    assert_int_equal(CODED_BYTES, message->length);
    assert_memory_equal(header, message->bytes, sizeof(header));
    assert_int_equal(ARC_OK, check_message(message, &message->segment));
    assert_ptr_equal(&quant_format_int8, quant_wire_format(message->bytes));
}

static void pack_message(message_t *message)
{
    message->length = quant_wire_pack(&message->segment, message->values, 0, message->bytes);
}

/* The format that a message is found to be in; its values. */
static const quant_format_t *take_message(const message_t *message, float values[ELEMS])
{
    assert_int_equal(ARC_OK, check_message(message, &message->segment));
    quant_wire_unpack(&message->segment, message->bytes, values);
    return quant_wire_format(message->bytes);
}

TEST_WITHIN(a_tile_that_cannot_be_coded_is_kept_and_the_others_are_coded, setup, teardown)
{
    message_t *message = *state;
    float before[ELEMS];
    float after[ELEMS];
    unsigned char bytes[KEPT_BYTES];

    (void) take_message(message, before);
    const float bound = quant_wire_bound(message->bytes);
    message->values[ELEMS - 1] = INFINITY;
    message->values[ELEMS - 2] = 0x1p127f;
    pack_message(message);
    assert_int_equal(KEPT_BYTES, message->length);
    assert_ptr_equal(&quant_format_int8, take_message(message, after));
    assert_memory_equal(before, after, TILE * sizeof(float));
    assert_memory_equal(message->values + TILE, after + TILE, (ELEMS - TILE) * sizeof(float));
    /* Whatever was in the buffer, also where codes would be. */
    memcpy(bytes, message->bytes, sizeof(bytes));
    memset(message->bytes, 0xa5, sizeof(bytes));
    pack_message(message);
    assert_memory_equal(bytes, message->bytes, sizeof(bytes));
    /* The bound is that of the tile which is coded. */
    assert_true(quant_wire_bound(message->bytes) <= bound);
}

TEST_WITHIN(a_message_of_kept_tiles_goes_as_floats, setup, teardown)
{
    message_t *message = *state;
    float values[ELEMS];

    message->values[ELEMS - 1] = INFINITY;
    message->values[0] = -INFINITY;
    pack_message(message);
    assert_int_equal(16 + sizeof(message->values), message->length);
    assert_ptr_equal(&quant_format_fp32, take_message(message, values));
    assert_memory_equal(message->values, values, sizeof(values));
}

/* Floats that stand for doubles are not the doubles. */
TEST_WITHIN(no_tile_of_doubles_is_kept, setup, teardown)
{
    message_t *message = *state;

    message->segment.exact = &quant_format_fp64;
    message->values[ELEMS - 1] = INFINITY;
    pack_message(message);
    assert_ptr_equal(&quant_format_fp32, quant_wire_format(message->bytes));
}

TEST_WITHIN(a_kept_tile_without_its_floats_is_refused, setup, teardown)
{
    message_t *message = *state;
    const size_t second = sizeof(quant_wire_header_t) + QUANT_SCALES_BYTES;

    memset(message->bytes + second, 0xff, sizeof(uint16_t));
    assert_int_equal(ARC_ERR_PROTOCOL, check_message(message, &message->segment));
    message->length = KEPT_BYTES;
    memset(message->bytes + CODED_BYTES, 0, KEPT_BYTES - CODED_BYTES);
    assert_int_equal(ARC_OK, check_message(message, &message->segment));
    memset(message->bytes + second, 0, sizeof(uint16_t));
    assert_int_equal(ARC_ERR_PROTOCOL, check_message(message, &message->segment));
}

TEST_WITHIN(another_segment_or_format_is_refused, setup, teardown)
{
    enum { OTHERS = 4 };
    const message_t *message = *state;
    quant_wire_segment_t segments[OTHERS] = {message->segment, message->segment, message->segment,
                                             message->segment};

    segments[0].sequence += 1;
    segments[1].codec.elems -= 1; /* the same number of rows, so the length alone does not tell */
    segments[2].codec.block_rows *= 2;
    segments[3].codec.format = &quant_format_fp32;
    for (size_t i = 0; i < OTHERS; ++i) {
        assert_int_equal(ARC_ERR_PROTOCOL, check_message(message, &segments[i]));
    }
}

/* The largest error of the values in the message. */
static double worst_error(const message_t *message)
{
    float decoded[ELEMS];
    double worst = 0;

    quant_payload_decode(&message->segment.codec, quant_wire_payload(message->bytes), decoded);
    for (unsigned i = 0; i < ELEMS; ++i) {
        const double error = fabs((double) decoded[i] - (double) message->values[i]);
        worst = error > worst ? error : worst; /* gcc 12 stumbles over fmax() for Arm */
    }
    return worst;
}

TEST_WITHIN(a_message_bounds_its_error_and_that_of_what_is_packed, setup, teardown)
{
    message_t *message = *state;
    const double worst = worst_error(message);

    assert_true((double) quant_wire_bound(message->bytes) >= worst);
    assert_true((double) quant_wire_bound(message->bytes) <= 2 * worst);
    (void) quant_wire_pack(&message->segment, message->values, 2.5f, message->bytes);
    assert_true((double) quant_wire_bound(message->bytes) >= worst + 2.5);
    assert_true((double) quant_wire_bound(message->bytes) <= 2 * worst + 2.5);
}

TEST_WITHIN(every_bit_of_the_header_before_the_bound_counts, setup, teardown)
{
    message_t *message = *state;

    for (unsigned bit = 0; bit < 8 * offsetof(quant_wire_header_t, bound); ++bit) {
        message->bytes[bit / 8] ^= (unsigned char) (1 << bit % 8);
        assert_int_equal(ARC_ERR_PROTOCOL, check_message(message, &message->segment));
        message->bytes[bit / 8] ^= (unsigned char) (1 << bit % 8);
    }
    assert_int_equal(ARC_OK, check_message(message, &message->segment));
}

TEST_WITHIN(what_cannot_be_a_bound_is_refused, setup, teardown)
{
    static const struct {
        float bound;
        arc_status_t status;
    } rows[] = {{0, ARC_OK},
                {1e-30f, ARC_OK},
                {INFINITY, ARC_OK},
                {-1, ARC_ERR_PROTOCOL},
                {-0.0f, ARC_ERR_PROTOCOL},
                {NAN, ARC_ERR_PROTOCOL}};
    message_t *message = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        memcpy(message->bytes + offsetof(quant_wire_header_t, bound), &rows[i].bound,
               sizeof(float));
        assert_int_equal(rows[i].status, check_message(message, &message->segment));
    }
}

TEST_WITHIN(every_other_length_is_refused, setup, teardown)
{
    message_t *message = *state;
    const size_t right = message->length;

    for (size_t length = 0; length < right + 2; ++length) {
        message->length = length;
        assert_int_equal(length == right ? ARC_OK : ARC_ERR_PROTOCOL,
                         check_message(message, &message->segment));
    }
}

/* What a hop makes of `message`, with the same values added, in the format of `next`. */
static size_t hop_message(const message_t *message, const quant_wire_segment_t *next,
                          unsigned char *sent)
{
    assert_int_equal(ARC_OK, check_message(message, &message->segment));
    return quant_wire_hop(next, message->bytes, message->values, 0, sent);
}

TEST_WITHIN(a_hop_packs_the_sum, setup, teardown)
{
    const message_t *message = *state;
    float sum[ELEMS];

    const float error = quant_wire_add(&message->segment, message->bytes, message->values, 0, sum);
    assert_true(error > quant_wire_bound(message->bytes));
    for (size_t f = 0; NULL != quant_format_at(f); ++f) {
        quant_wire_segment_t next = message->segment;
        next.codec.format = quant_format_at(f);
        const size_t most = quant_wire_bytes_max(next.codec.format, ELEMS, BLOCK_ROWS);
        SCOPED unsigned char *sent = test_alloc(most);
        SCOPED unsigned char *packed = test_alloc(most);
        size_t bytes = quant_wire_pack(&next, sum, error, packed);
        assert_int_equal(bytes, hop_message(message, &next, sent));
        assert_memory_equal(packed, sent, bytes);
    }
}

/* A hop that keeps the second tile, and one that takes it, kept, and codes the sums. */
TEST_WITHIN(a_hop_keeps_a_tile_and_codes_it_again, setup, teardown)
{
    message_t *message = *state;
    const size_t most = quant_wire_bytes_max(&quant_format_int8, ELEMS, BLOCK_ROWS);
    message_t sent = *message;
    float sum[ELEMS];
    float values[ELEMS];

    sent.bytes = test_alloc(most);
    message->values[ELEMS - 1] = 0x1p127f;
    (void) quant_wire_add(&message->segment, message->bytes, message->values, 0, sum);
    sent.length = hop_message(message, &message->segment, sent.bytes);
    assert_int_equal(KEPT_BYTES, sent.length);
    assert_ptr_equal(&quant_format_int8, take_message(&sent, values));
    assert_memory_equal(sum + TILE, values + TILE, (ELEMS - TILE) * sizeof(float));
    /* Of such a number the addition may lose that much; of the others, much less. */
    assert_true(quant_wire_bound(sent.bytes) >= 0x1p103f &&
                quant_wire_bound(sent.bytes) < INFINITY);

    SCOPED unsigned char *expected = test_alloc(most);
    sent.values[ELEMS - 1] = -0x1p127f;
    const float error = quant_wire_add(&sent.segment, sent.bytes, sent.values, 0, sum);
    assert_true(fabsf(sum[ELEMS - 1]) < 0x1p126f);
    message->length = hop_message(&sent, &sent.segment, message->bytes);
    assert_int_equal(CODED_BYTES, message->length);
    assert_int_equal(message->length, quant_wire_pack(&sent.segment, sum, error, expected));
    assert_memory_equal(expected, message->bytes, message->length);
    free(sent.bytes);
}

/* The last tile is the one for which there is no room: those before it have been written. */
TEST_WITHIN(a_hop_whose_sums_cannot_be_coded_sends_floats, setup, teardown)
{
    message_t *message = *state;
    SCOPED unsigned char *sent =
        test_alloc(quant_wire_bytes_max(&quant_format_int8, ELEMS, BLOCK_ROWS));
    float sum[ELEMS];

    message->values[0] = NAN;
    message->values[ELEMS - 1] = INFINITY;
    (void) quant_wire_add(&message->segment, message->bytes, message->values, 0, sum);
    size_t bytes = hop_message(message, &message->segment, sent);
    assert_int_equal(ARC_OK, quant_wire_check(&message->segment, sent, bytes));
    assert_ptr_equal(&quant_format_fp32, quant_wire_format(sent));
    assert_true(isinf(sum[ELEMS - 1]));
    assert_memory_equal(sum, quant_wire_payload(sent), sizeof(sum));
    assert_true(isinf(quant_wire_bound(sent)));
}

/* Half-way between two codes once it is a float, it was farther from the one that is taken. */
TEST(the_bound_of_doubles_covers_that_they_become_floats)
{
    enum { ONE = 1 };
    const quant_kernels_t kernels = quant_kernels_select(ARC_ISA_SCALAR);
    float floats[ONE];
    const quant_wire_segment_t segment = {.codec = {.kernels = &kernels,
                                                    .format = &quant_format_bf16,
                                                    .block_rows = BLOCK_ROWS,
                                                    .elems = ONE},
                                          .exact = &quant_format_fp64,
                                          .floats = floats};
    const double x = 1 + 0x1p-8 + 0x1p-30;
    /* A row of the format has more bytes than the double that goes where it cannot be coded. */
    SCOPED unsigned char *bytes =
        test_alloc(quant_wire_bytes_max(&quant_format_bf16, ONE, BLOCK_ROWS));
    double out = 0;

    quant_doubles.pack(&segment, &x, 0, bytes);
    assert_true(&quant_format_bf16 == quant_wire_format(bytes));
    quant_doubles.unpack(&segment, bytes, &out);
    assert_true(1 == out);
    assert_true(x - out <= (double) quant_wire_bound(bytes));
}
