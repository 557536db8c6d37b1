/*
 * The model of the four primitives against the worked problems of the text, Austin et al., "Sharded
 * Matrices and How to Multiply Them", each number within 2 %; and the switch against counted bytes.
 *
 * The worked problems are those of the notes in the margin and behind the text.  The notes count a
 * MiB as 10^6 bytes where they divide by a bandwidth; text_bytes does so, too, as otherwise times
 * are 5 % longer.  Bytes themselves are compared exactly.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "layout.h"
#include "model.h"

static const double text_tolerance = 0.02;
static const double exact = 1e-12;
static const double mib = 1 << 20;

/* TPU v4p and v5e: W is 9e10 bytes/s for both directions, a hop takes 1 us. */
static const double w_ici = 9e10;
static const double hop_seconds = 1e-6;

static void assert_within(double expected, double value, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected))) {
        fail_msg("%.6g instead of %.6g", value, expected);
    }
}

static double text_bytes(double bytes)
{
    return bytes / mib * 1e6;
}

static shard_mesh_t mesh_of(const char *text)
{
    char error[SHARD_ERROR_BYTES];
    shard_mesh_t mesh;

    if (!shard_mesh_parse(text, &mesh, error)) {
        fail_msg("%s", error);
    }
    return mesh;
}

/* Elements on each rank of one array, "A[I_X,J]" of so many rows and columns. */
static double elements_of(const char *matrix, const shard_mesh_t *mesh, size_t rows, size_t columns)
{
    const shard_shape_t shape = {{rows, columns, 1}};
    char text[SHARD_TEXT_BYTES];
    char error[SHARD_ERROR_BYTES];
    shard_product_t product;

    strcat(strcpy(text, matrix), " B[J,K] -> C[I,K]");
    if (!shard_product_parse(text, mesh, &product, error)) {
        fail_msg("%s", error);
    }
    return (double) shard_local_elements(mesh, &shape, SHARD_A, &product.layout[SHARD_A]);
}

static shard_network_t torus_of(double both_ways, double message_seconds, bool one_way)
{
    const shard_link_t link = {both_ways / 2, message_seconds, one_way};

    return (shard_network_t){.topology = SHARD_TORUS, .link = {link, link, link}};
}

static double seconds_of(const shard_network_t *network, const shard_mesh_t *mesh,
                         shard_primitive_t primitive, const char *names, double bytes)
{
    shard_axes_t axes = {0};

    for (; '\0' != *names; ++names) {
        shard_axes_append(&axes,
                          (unsigned) ((const char *) memchr(mesh->name, *names, 3) - mesh->name));
    }
    return shard_primitive_seconds(network, mesh, primitive, &axes, bytes);
}

/* Both quizzes on shardings, question 1, and the volumes of question 2 and of quiz 2. */
static void arrays_have_the_bytes_of_the_text(void **state)
{
    const shard_mesh_t quiz = mesh_of("X=8,Y=2");
    const shard_mesh_t quiz_int8 = mesh_of("X=2,Y=8,Z=2");
    const shard_mesh_t question_1 = mesh_of("X=4,Y=8,Z=2");
    const shard_mesh_t cube = mesh_of("X=4,Y=4,Z=4");
    const shard_mesh_t quiz_2 = mesh_of("X=8,Y=4");

    (void) state;
    assert_within(mib, 4 * elements_of("A[I_XY,J]", &quiz, 1024, 4096), exact);
    assert_within(0.5 * mib, 32 * elements_of("A[I_XY,J]", &quiz_int8, 128, 2048), exact);
    assert_within(16, 64 * elements_of("A[I_X,J]", &question_1, 1024, 1024) / (1024 * 1024), exact);
    assert_within(2 * mib, 2 * elements_of("A[I,J_Y]", &cube, 1024, 4096), exact);
    assert_within(0.5 * mib, 2 * elements_of("A[I_X,J_Y]", &cube, 1024, 4096), exact);
    assert_within(32 * mib, 2 * elements_of("A[I,J]", &quiz_2, 2048, 8192), exact);
    assert_within(8 * mib, 2 * elements_of("A[I_Y,J]", &quiz_2, 2048, 8192), exact);
}

static void primitives_take_the_time_of_the_text(void **state)
{
    static const struct {
        const char *mesh;
        bool one_way;
        shard_primitive_t primitive;
        const char *axes;
        const char *array; /* V: what a rank holds of it when it is gathered, or not yet reduced */
        size_t rows;
        size_t columns;
        double seconds;
    } cases[] = {
        /* pop quiz 2: 32 MiB / 9e10, "350" */
        {"X=8,Y=4", false, SHARD_ALLGATHER, "Y", "A[I,J]", 2048, 8192, 350e-6},
        /* question 2, which uses one direction for the first part and both for the others */
        {"X=4,Y=4,Z=4", true, SHARD_ALLGATHER, "X", "A[I,J_Y]", 1024, 4096, 44e-6},
        {"X=4,Y=4,Z=4", false, SHARD_ALLGATHER, "XY", "A[I,J]", 1024, 4096, 44e-6},
        {"X=4,Y=4,Z=4", false, SHARD_ALLREDUCE, "Z", "A[I_X,J_Y]", 1024, 4096, 11e-6},
        /* question 3: 4/2 hops */
        {"X=4,Y=4,Z=4", false, SHARD_ALLGATHER, "X", "A[I,J]", 128, 1, 2e-6},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const shard_mesh_t mesh = mesh_of(cases[i].mesh);
        const shard_network_t torus = torus_of(w_ici, hop_seconds, cases[i].one_way);
        const double bytes =
            2 * elements_of(cases[i].array, &mesh, cases[i].rows, cases[i].columns);
        assert_within(
            cases[i].seconds,
            seconds_of(&torus, &mesh, cases[i].primitive, cases[i].axes, text_bytes(bytes)),
            text_tolerance);
    }
}

/* Question 3: 256 bytes alone would take 28e-10 s. */
static void few_bytes_alone_take_the_time_of_the_text(void **state)
{
    const shard_mesh_t mesh = mesh_of("X=4,Y=4,Z=4");
    const shard_network_t torus = torus_of(w_ici, 0, false);

    (void) state;
    assert_within(28e-10, seconds_of(&torus, &mesh, SHARD_ALLGATHER, "X", 256), text_tolerance);
}

/* V/W, 2 V/W, V/4W; N axes: V/NW; all-to-all in the plane: V max(A,B) / 4 N W. */
static void formulas_of_the_summary_hold(void **state)
{
    const shard_mesh_t mesh = mesh_of("X=4,Y=8,Z=16");
    const shard_network_t torus = torus_of(w_ici, hop_seconds, false);
    const double v = 1e9;
    static const struct {
        shard_primitive_t primitive;
        const char *axes;
        double of_v_by_w;
    } rows[] = {
        {SHARD_ALLGATHER, "X", 1},
        {SHARD_ALLGATHER, "Z", 1},
        {SHARD_REDUCE_SCATTER, "Y", 1},
        {SHARD_ALLREDUCE, "Y", 2},
        {SHARD_ALL_TO_ALL, "X", 0.25},
        {SHARD_ALL_TO_ALL, "Z", 0.25},
        {SHARD_ALLGATHER, "XY", 1.0 / 2},
        {SHARD_ALLREDUCE, "XYZ", 2.0 / 3},
        {SHARD_ALL_TO_ALL, "XY", 8.0 / (4 * 32)},
        {SHARD_ALL_TO_ALL, "XYZ", 16.0 / (4 * 512)},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        assert_within(rows[i].of_v_by_w * v / w_ici,
                      seconds_of(&torus, &mesh, rows[i].primitive, rows[i].axes, v), exact);
    }
}

/* T_min sum X/2; on a ring of 16 latency counts up to 4.5e4 bytes a hop. */
static void short_arrays_take_the_hops(void **state)
{
    const shard_mesh_t mesh = mesh_of("X=4,Y=8,Z=16");
    const shard_network_t torus = torus_of(w_ici, hop_seconds, false);
    const double shard_bytes = 4.5e4;

    (void) state;
    assert_within(2e-6, seconds_of(&torus, &mesh, SHARD_ALLGATHER, "X", 8), exact);
    assert_within(14e-6, seconds_of(&torus, &mesh, SHARD_REDUCE_SCATTER, "XYZ", 8), exact);
    assert_within(8e-6, seconds_of(&torus, &mesh, SHARD_ALLGATHER, "Z", 0.98 * 16 * shard_bytes),
                  exact);
    assert_within(1.02 * 8e-6,
                  seconds_of(&torus, &mesh, SHARD_ALLGATHER, "Z", 1.02 * 16 * shard_bytes), exact);
}

/* Pop quiz 2's remark: without the link that closes the ring there are three hops, not two. */
static void a_line_has_more_hops_and_half_the_rate(void **state)
{
    const shard_mesh_t mesh = mesh_of("X=8,Y=4");
    const shard_network_t line = torus_of(w_ici, hop_seconds, true);

    (void) state;
    assert_within(3e-6, seconds_of(&line, &mesh, SHARD_ALLGATHER, "Y", 8), exact);
    assert_within(1e9 / 4.5e10, seconds_of(&line, &mesh, SHARD_ALLGATHER, "Y", 1e9), exact);
}

/*
 * Question 10 by passing shards around a ring: what crosses the link from rank 0 to rank 1, in
 * parts of V/D^2.  An allgather passes whole shards of D parts on, an all-to-all only the parts
 * that are for ranks further on.  Returns the part of V.
 */
static double pass_around(unsigned ranks, bool to_each_its_part)
{
    double parts = 0;

    for (unsigned source = 0; source < ranks; ++source) {
        for (unsigned target = 0; target < ranks; ++target) {
            const unsigned hops = (target + ranks - source) % ranks;
            const unsigned before_link = (ranks - source) % ranks; /* hops from source to rank 0 */
            if (before_link < hops) {
                parts += to_each_its_part ? 1 : 0;
            }
        }
        const unsigned most_hops = ranks - 1;
        parts += !to_each_its_part && (ranks - source) % ranks < most_hops ? ranks : 0;
    }
    return parts / ranks / ranks;
}

static void links_carry_what_question_10_counts(void **state)
{
    (void) state;
    for (unsigned d = 2; d <= 64; ++d) {
        const double gather = shard_ring_share(SHARD_ALLGATHER, d, true);
        assert_within((d - 1.0) / d, gather, exact);
        assert_within(pass_around(d, false), gather, exact);
        assert_within(gather, shard_ring_share(SHARD_REDUCE_SCATTER, d, true), exact);
        assert_within(2 * gather, shard_ring_share(SHARD_ALLREDUCE, d, true), exact);
        assert_within(pass_around(d, true), shard_ring_share(SHARD_ALL_TO_ALL, d, true), exact);
        assert_within(2, gather / shard_ring_share(SHARD_ALL_TO_ALL, d, true), exact);
        assert_within(2, gather / shard_ring_share(SHARD_ALLGATHER, d, false), exact);
        if (0 == d % 2) { /* footnote 5: N^2/4 parts in both directions */
            assert_within(2.0 / 16, shard_ring_share(SHARD_ALL_TO_ALL, d, false), exact);
        }
    }
    /* one way 2, both ways 4 times cheaper than an allgather, in the limit that the text takes */
    assert_within(2,
                  shard_ring_share(SHARD_ALLGATHER, SHARD_ENDLESS, true) /
                      shard_ring_share(SHARD_ALL_TO_ALL, SHARD_ENDLESS, true),
                  exact);
    assert_within(4,
                  shard_ring_share(SHARD_ALLGATHER, SHARD_ENDLESS, false) /
                      shard_ring_share(SHARD_ALL_TO_ALL, SHARD_ENDLESS, false),
                  exact);
    assert_within(shard_ring_share(SHARD_ALLGATHER, SHARD_ENDLESS, false),
                  shard_ring_share(SHARD_ALLGATHER, 1 << 20, false), 1e-5);
}

/* Counted by hand: groups of 2 and 4, 8 MB, links of 100 MB/s, 1 ms a message. */
static void a_switch_takes_the_bytes_that_are_sent(void **state)
{
    static const struct {
        shard_primitive_t primitive;
        const char *axes;
        double sent_bytes;
        double seconds;
    } rows[] = {
        {SHARD_ALLGATHER, "Y", 4e6, 0.041},
        {SHARD_ALLGATHER, "XY", 7e6, 0.077},
        {SHARD_REDUCE_SCATTER, "X", 6e6, 0.063},
        {SHARD_ALLREDUCE, "X", 12e6, 0.126},
        {SHARD_ALLREDUCE, "Y", 8e6, 0.082},
        {SHARD_ALL_TO_ALL, "Y", 2e6, 0.021}, /* of 4 MB on each rank half */
        {SHARD_ALL_TO_ALL, "X", 1.5e6, 0.018} /* of 2 MB three quarters */,
    };
    const shard_mesh_t mesh = mesh_of("X=4,Y=2");
    const shard_link_t link = {1e8, 1e-3, false};
    const shard_network_t network = {.topology = SHARD_SWITCH, .link = {link, link}};

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const unsigned ranks = 2 == strlen(rows[i].axes) ? 8 : 'X' == rows[i].axes[0] ? 4 : 2;
        assert_within(rows[i].sent_bytes, shard_sent_bytes(rows[i].primitive, ranks, 8e6), exact);
        assert_within(rows[i].seconds,
                      seconds_of(&network, &mesh, rows[i].primitive, rows[i].axes, 8e6), exact);
    }
}

/* One rank has nothing to send, on either network. */
static void one_rank_takes_no_time(void **state)
{
    const shard_mesh_t mesh = mesh_of("X=1,Y=4");
    shard_network_t network = torus_of(w_ici, hop_seconds, false);

    (void) state;
    for (shard_primitive_t primitive = 0; primitive < SHARD_PRIMITIVES; ++primitive) {
        network.topology = SHARD_TORUS;
        assert_true(0 == seconds_of(&network, &mesh, primitive, "X", 1e9));
        assert_within(seconds_of(&network, &mesh, primitive, "Y", 1e9),
                      seconds_of(&network, &mesh, primitive, "XY", 1e9), exact);
        network.topology = SHARD_SWITCH;
        assert_true(0 == seconds_of(&network, &mesh, primitive, "X", 1e9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_have_the_bytes_of_the_text),
        cmocka_unit_test(primitives_take_the_time_of_the_text),
        cmocka_unit_test(few_bytes_alone_take_the_time_of_the_text),
        cmocka_unit_test(formulas_of_the_summary_hold),
        cmocka_unit_test(short_arrays_take_the_hops),
        cmocka_unit_test(a_line_has_more_hops_and_half_the_rate),
        cmocka_unit_test(links_carry_what_question_10_counts),
        cmocka_unit_test(a_switch_takes_the_bytes_that_are_sent),
        cmocka_unit_test(one_rank_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
