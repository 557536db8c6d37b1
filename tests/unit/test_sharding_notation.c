/*
 * The notation of sharded matrices: what is right is read as it is meant, everything else gets one
 * line that says what is wrong.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout.h"

static shard_mesh_t mesh_of(const char *text)
{
    char error[SHARD_ERROR_BYTES];
    shard_mesh_t mesh;

    if (!shard_mesh_parse(text, &mesh, error)) {
        fail_msg("%s", error);
    }
    return mesh;
}

static shard_product_t product_of(const char *text, const shard_mesh_t *mesh)
{
    char error[SHARD_ERROR_BYTES];
    shard_product_t product;

    if (!shard_product_parse(text, mesh, &product, error)) {
        fail_msg("%s", error);
    }
    return product;
}

/* One line, which has the words, and nothing is written to the output. */
static void assert_says(bool parsed, const char *error, const char *words)
{
    assert_false(parsed);
    assert_null(strchr(error, '\n'));
    assert_in_range(strlen(error), 1, SHARD_ERROR_BYTES - 1);
    if (NULL == strstr(error, words)) {
        fail_msg("'%s' instead of '%s'", error, words);
    }
}

static void meshes_are_read(void **state)
{
    const shard_mesh_t one = mesh_of("X=4");
    const shard_mesh_t three = mesh_of(" Z = 1, Y=16 ,X=3 ");

    (void) state;
    assert_int_equal(one.axes, 1);
    assert_int_equal(one.ranks[0], 4);
    assert_int_equal(three.axes, 3);
    assert_memory_equal(three.name, "ZYX", 3);
    assert_int_equal(three.ranks[1], 16);
    assert_int_equal(three.ranks[2], 3);
}

static void wrong_meshes_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"", "the name of an axis, one letter from A to Z, expected at column 1, not the end"},
        {"x=4", "expected at column 1, not 'x'"},
        {"X", "'=' expected at column 2, not the end"},
        {"X4", "'=' expected at column 2, not '4'"},
        {"X=", "X must be a whole number from 1"},
        {"X=0", "X must be a whole number from 1"},
        {"X=-2", "X must be a whole number from 1"},
        {"X=99999999999999999999", "X must be a whole number from 1"},
        {"X=4294967298", "X must be a whole number from 1"}, /* 2 in 32 bits */
        {"X=2;Y=2", "',' expected at column 4, not ';'"},
        {"X=2,", "expected at column 5, not the end"},
        {"X=2,X=2", "the mesh has axis X twice"},
        {"X=2,Y=2,Z=2,W=2", "a mesh has at most 3 axes"},
        {"X=1048576,Y=2", "a mesh has at most 1048576 ranks"},
        {"X=2\n", "not a character that is not printable ASCII"},
        {"\xc3\x97=2", "not a character that is not printable ASCII"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char error[SHARD_ERROR_BYTES] = "";
        shard_mesh_t mesh = {.axes = 77};
        assert_says(shard_mesh_parse(rows[i].text, &mesh, error), error, rows[i].words);
        assert_int_equal(mesh.axes, 77);
    }
}

static void products_are_read_and_written(void **state)
{
    static const struct {
        const char *text;
        const char *matrix[SHARD_MATRICES];
    } rows[] = {
        {"A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]", {"A[I_X,J]", "B[J,K_Y]", "C[I_X,K_Y]"}},
        {"A[I,J]B[J,K]->C[I,K]", {"A[I,J]", "B[J,K]", "C[I,K]"}},
        {" X [ B , D_YX ]  Y[D_Z,F] ->Z[B_XZ,F_Y] ", {"X[B,D_YX]", "Y[D_Z,F]", "Z[B_XZ,F_Y]"}},
        {"A[I_X,J_YZ] B[J,K_ZXY] -> C[I,K]", {"A[I_X,J_YZ]", "B[J,K_ZXY]", "C[I,K]"}},
    };
    const shard_mesh_t mesh = mesh_of("X=2,Y=3,Z=4");

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        const shard_product_t product = product_of(rows[i].text, &mesh);
        for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
            char text[SHARD_TEXT_BYTES];
            shard_matrix_print(&mesh, &product, m, &product.layout[m], text);
            assert_string_equal(text, rows[i].matrix[m]);
        }
    }
}

static void wrong_products_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"", "the name of a matrix, one letter from A to Z, expected at column 1, not the end"},
        {"A", "'[' expected at column 2, not the end"},
        {"A[", "the name of a dimension, one letter from A to Z, expected at column 3"},
        {"A[I", "',' expected at column 4, not the end"},
        {"A[I,J", "']' expected at column 6, not the end"},
        {"A[I,J] B[J,K]", "'->' expected at column 14, not the end"},
        {"A[I,J] B[J,K] = C[I,K]", "'->' expected at column 15, not '='"},
        {"A[I,J] B[J,K] -> C[I,K] D[K,L]", "the end expected at column 25, not 'D'"},
        {"A[I_,J] B[J,K] -> C[I,K]", "axes of the mesh expected behind I_ at column 5, not ','"},
        {"A[I_1,J] B[J,K] -> C[I,K]", "axes of the mesh expected behind I_ at column 5, not '1'"},
        {"A[IX,J] B[J,K] -> C[I,K]", "',' expected at column 4, not 'X'"},
        {"A[I_Z,J] B[J,K] -> C[I,K]", "the mesh has no axis Z"},
        {"A[I_X,J_X] B[J,K] -> C[I,K]", "axis X cuts A twice"},
        {"A[I_XX,J] B[J,K] -> C[I,K]", "axis X cuts A twice"},
        {"A[I_X,J] B[J,K_X] -> C[I_X,K_X]", "axis X cuts C twice"},
        {"A[I,J] B[L,K] -> C[I,K]", "the columns of A, J, are not the rows of B, L"},
        {"A[I,J] B[J,I] -> C[I,I]", "I, J and I must be three dimensions"},
        {"A[I,I] B[I,K] -> C[I,K]", "I, I and K must be three dimensions"},
        {"A[I,J] B[J,K] -> C[K,I]", "the result must be C[I,K], not C[K,I]"},
        {"A[I,J] B[J,K] -> C[I,K]{U_X}", "the end expected at column 24, not '{'"},
    };
    const shard_mesh_t mesh = mesh_of("X=2,Y=2");

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char error[SHARD_ERROR_BYTES] = "";
        shard_product_t product = {.matrix = "Q"};
        assert_says(shard_product_parse(rows[i].text, &mesh, &product, error), error,
                    rows[i].words);
        assert_int_equal(product.matrix[0], 'Q');
    }
}

/* What is read of text that somebody else has made up is right or refused, and never overruns. */
static void no_text_breaks_the_parser(void **state)
{
    static const char letters[] = "ABIJKXYZ[]_,-> {}=019\n\x80";
    const shard_mesh_t mesh = mesh_of("X=2,Y=2");
    enum { TEXTS = 200000, MOST = 48 };
    const char right[] = "A[I_X,J] B[J,K_Y] -> C[I_X,K_Y]";
    unsigned refused = 0;

    (void) state;
    srand(1);
    for (unsigned i = 0; i < TEXTS; ++i) {
        char *text = malloc(MOST); /* its own, so that a sanitizer sees its end */
        char error[SHARD_ERROR_BYTES] = "";
        char names[SHARD_TEXT_BYTES];
        shard_product_t product;
        shard_mesh_t other;
        assert_non_null(text);
        strcpy(text, right);
        for (unsigned changes = 1 + (unsigned) rand() % 3; changes > 0; --changes) {
            text[(size_t) rand() % strlen(right)] = letters[(size_t) rand() % sizeof(letters)];
        }
        char *exact = strdup(text);
        if (!shard_product_parse(exact, &mesh, &product, error)) {
            assert_true('\0' != error[0]);
            ++refused;
        } else {
            shard_matrix_print(&mesh, &product, SHARD_C, &product.layout[SHARD_C], names);
        }
        shard_mesh_parse(exact, &other, error);
        free(exact);
        free(text);
    }
    assert_in_range(refused, TEXTS / 2, TEXTS - 1);
}

static void shapes_are_read(void **state)
{
    const shard_mesh_t mesh = mesh_of("X=2,Y=3");
    const shard_product_t product = product_of("A[I_XY,J] B[J,K_Y] -> C[I_X,K_Y]", &mesh);
    char error[SHARD_ERROR_BYTES];
    shard_shape_t shape;

    (void) state;
    assert_true(shard_shape_parse("K=9, I=12,J=5", &mesh, &product, &shape, error));
    assert_int_equal(shape.extent[SHARD_I], 12);
    assert_int_equal(shape.extent[SHARD_J], 5);
    assert_int_equal(shape.extent[SHARD_K], 9);
    assert_int_equal(shard_local_extent(&mesh, &shape, SHARD_A, &product.layout[SHARD_A], 0), 2);
    assert_int_equal(shard_local_elements(&mesh, &shape, SHARD_C, &product.layout[SHARD_C]), 18);
}

static void wrong_shapes_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"I=12,J=5", "the extent of K is missing"},
        {"I=12,J=5,L=3", "the product has no dimension L"},
        {"I=12,J=5,I=12,K=9", "I is given twice"},
        {"I=12,J=0,K=9", "J must be a whole number from 1"},
        {"I=12,J=5,K=9999999999", "K must be a whole number from 1"},
        {"12,5,9", "the name of a dimension, one letter from A to Z, expected at column 1"},
        {"I=10,J=5,K=9", "I of A[I_XY,J] is cut into 6 parts; make it a multiple"},
        {"I=12,J=5,K=10", "K of B[J,K_Y] is cut into 3 parts; make it a multiple"},
    };
    const shard_mesh_t mesh = mesh_of("X=2,Y=3");
    const shard_product_t product = product_of("A[I_XY,J] B[J,K_Y] -> C[I_X,K_Y]", &mesh);

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char error[SHARD_ERROR_BYTES] = "";
        shard_shape_t shape;
        assert_says(shard_shape_parse(rows[i].text, &mesh, &product, &shape, error), error,
                    rows[i].words);
    }
}

/* Of X=2,Y=3: ranks (0,0) (0,1) (0,2) (1,0) (1,1) (1,2). */
static void parts_go_by_the_order_of_the_axes(void **state)
{
    static const struct {
        shard_axes_t axes;
        unsigned parts[6];
    } rows[] = {
        {{2, {0, 1}}, {0, 1, 2, 3, 4, 5}},
        {{2, {1, 0}}, {0, 2, 4, 1, 3, 5}},
        {{1, {0}}, {0, 1}},
        {{1, {1}}, {0, 1, 2}},
    };
    const shard_mesh_t mesh = mesh_of("X=2,Y=3");

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        for (unsigned rank = 0; rank < shard_axes_ranks(&mesh, &rows[i].axes); ++rank) {
            assert_int_equal(shard_part_of_rank(&mesh, &rows[i].axes, rank), rows[i].parts[rank]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_are_read),
        cmocka_unit_test(wrong_meshes_are_refused),
        cmocka_unit_test(products_are_read_and_written),
        cmocka_unit_test(wrong_products_are_refused),
        cmocka_unit_test(no_text_breaks_the_parser),
        cmocka_unit_test(shapes_are_read),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(parts_go_by_the_order_of_the_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
