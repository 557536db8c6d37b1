/*
 * The notation of sharded matrices, read and written.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "notation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout.h"

const shard_dimension_t shard_dimension_of[SHARD_MATRICES][2] = {
    {SHARD_I, SHARD_J}, {SHARD_J, SHARD_K}, {SHARD_I, SHARD_K}};

/* Always false, to be returned. */
static bool fail(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error, SHARD_ERROR_BYTES, format, arguments);
    va_end(arguments);
    for (; '\0' != *error; ++error) {
        *error = *error < ' ' || *error > '~' ? '?' : *error; /* one line, whatever the text was */
    }
    return false;
}

/* Of the character at `at`: itself in quotes, or words for what cannot be shown. */
static const char *show(const char *at)
{
    static const char *const odd = "a character that is not printable ASCII";
    static char shown[] = "'?'";

    if ('\0' == *at) {
        return "the end";
    }
    if (*at < ' ' || *at > '~') {
        return odd;
    }
    shown[1] = *at;
    return shown;
}

static bool is_name(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

static void skip_spaces(const char **at)
{
    *at += strspn(*at, " ");
}

/* The next sign must be this one. */
static bool expect(const char *text, const char **at, const char *sign, char *error)
{
    skip_spaces(at);
    if (0 != strncmp(*at, sign, strlen(sign))) {
        return fail(error, "%.80s: '%s' expected at column %zu, not %s", text, sign,
                    (size_t) (*at - text) + 1, show(*at));
    }
    *at += strlen(sign);
    return true;
}

static bool parse_name(const char *text, const char **at, const char *what, char *name, char *error)
{
    skip_spaces(at);
    if (!is_name(**at)) {
        return fail(error, "%.80s: %s, one letter from A to Z, expected at column %zu, not %s",
                    text, what, (size_t) (*at - text) + 1, show(*at));
    }
    *name = *(*at)++;
    return true;
}

/* NAME=NUMBER with a number from 1 to `most`. */
static bool parse_setting(const char *text, const char **at, const char *what, unsigned most,
                          char *name, unsigned *number, char *error)
{
    if (!parse_name(text, at, what, name, error) || !expect(text, at, "=", error)) {
        return false;
    }
    *number = 0;
    skip_spaces(at);
    for (; **at >= '0' && **at <= '9' && *number <= most; ++*at) {
        *number = 10 * *number + (unsigned) (**at - '0');
    }
    if (*number < 1 || *number > most) {
        return fail(error, "%.80s: %c must be a whole number from 1 to %u", text, *name, most);
    }
    return true;
}

/* A comma, or the end; *more tells which. */
static bool parse_comma(const char *text, const char **at, bool *more, char *error)
{
    skip_spaces(at);
    *more = '\0' != **at;
    return !*more || expect(text, at, ",", error);
}

static int find_axis(const shard_mesh_t *mesh, char name)
{
    for (unsigned axis = 0; axis < mesh->axes; ++axis) {
        if (mesh->name[axis] == name) {
            return (int) axis;
        }
    }
    return -1;
}

bool shard_mesh_parse(const char *text, shard_mesh_t *mesh, char *error)
{
    shard_mesh_t read = {0};
    size_t all = 1;
    bool more = true;

    for (const char *at = text; more;) {
        char name = 0;
        unsigned ranks = 0;
        if (!parse_setting(text, &at, "the name of an axis", SHARD_MAX_RANKS, &name, &ranks,
                           error)) {
            return false;
        }
        if (find_axis(&read, name) >= 0) {
            return fail(error, "%.80s: the mesh has axis %c twice", text, name);
        }
        if (SHARD_MAX_AXES == read.axes) {
            return fail(error, "%.80s: a mesh has at most %d axes", text, SHARD_MAX_AXES);
        }
        all *= ranks;
        if (all > SHARD_MAX_RANKS) {
            return fail(error, "%.80s: a mesh has at most %d ranks", text, SHARD_MAX_RANKS);
        }
        read.name[read.axes] = name;
        read.ranks[read.axes++] = ranks;
        if (!parse_comma(text, &at, &more, error)) {
            return false;
        }
    }
    *mesh = read;
    return true;
}

/* I or I_XY; an axis in `used` has cut another dimension. */
static bool parse_dimension(const char *text, const char **at, const shard_mesh_t *mesh,
                            char matrix, char *name, shard_axes_t *cut, shard_axes_t *used,
                            char *error)
{
    if (!parse_name(text, at, "the name of a dimension", name, error)) {
        return false;
    }
    if ('_' != **at) {
        return true;
    }
    ++*at;
    if (!is_name(**at)) {
        return fail(error, "%.80s: axes of the mesh expected behind %c_ at column %zu, not %s",
                    text, *name, (size_t) (*at - text) + 1, show(*at));
    }
    for (; is_name(**at); ++*at) {
        const int axis = find_axis(mesh, **at);
        if (axis < 0) {
            return fail(error, "%.80s: the mesh has no axis %c", text, **at);
        }
        if (shard_axes_contain(used, (unsigned) axis)) {
            return fail(error, "%.80s: axis %c cuts %c twice; it can cut it in one dimension only",
                        text, **at, matrix);
        }
        shard_axes_append(cut, (unsigned) axis);
        shard_axes_append(used, (unsigned) axis);
    }
    return true;
}

/* A[I_X,J] */
static bool parse_matrix(const char *text, const char **at, const shard_mesh_t *mesh, char *matrix,
                         char dimension[2], shard_layout_t *layout, char *error)
{
    shard_axes_t used = {0};

    return parse_name(text, at, "the name of a matrix", matrix, error) &&
           expect(text, at, "[", error) &&
           parse_dimension(text, at, mesh, *matrix, &dimension[0], &layout->cut[0], &used, error) &&
           expect(text, at, ",", error) &&
           parse_dimension(text, at, mesh, *matrix, &dimension[1], &layout->cut[1], &used, error) &&
           expect(text, at, "]", error);
}

/* Do the dimensions of the three matrices fit those of a product? */
static bool fit_dimensions(const char *text, char dimension[SHARD_MATRICES][2],
                           shard_product_t *product, char *error)
{
    if (dimension[SHARD_A][1] != dimension[SHARD_B][0]) {
        return fail(error, "%.80s: the columns of %c, %c, are not the rows of %c, %c", text,
                    product->matrix[SHARD_A], dimension[SHARD_A][1], product->matrix[SHARD_B],
                    dimension[SHARD_B][0]);
    }
    product->dimension[SHARD_I] = dimension[SHARD_A][0];
    product->dimension[SHARD_J] = dimension[SHARD_A][1];
    product->dimension[SHARD_K] = dimension[SHARD_B][1];
    const char *name = product->dimension;
    if (name[0] == name[1] || name[1] == name[2] || name[0] == name[2]) {
        return fail(error, "%.80s: %c, %c and %c must be three dimensions", text, name[0], name[1],
                    name[2]);
    }
    if (dimension[SHARD_C][0] != name[SHARD_I] || dimension[SHARD_C][1] != name[SHARD_K]) {
        return fail(error, "%.80s: the result must be %c[%c,%c], not %c[%c,%c]", text,
                    product->matrix[SHARD_C], name[SHARD_I], name[SHARD_K],
                    product->matrix[SHARD_C], dimension[SHARD_C][0], dimension[SHARD_C][1]);
    }
    return true;
}

bool shard_product_parse(const char *text, const shard_mesh_t *mesh, shard_product_t *product,
                         char *error)
{
    shard_product_t read = {0};
    char dimension[SHARD_MATRICES][2];
    const char *at = text;

    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        if ((SHARD_C == m && !expect(text, &at, "->", error)) ||
            !parse_matrix(text, &at, mesh, &read.matrix[m], dimension[m], &read.layout[m], error)) {
            return false;
        }
    }
    skip_spaces(&at);
    if ('\0' != *at) {
        return fail(error, "%.80s: the end expected at column %zu, not %s", text,
                    (size_t) (at - text) + 1, show(at));
    }
    if (!fit_dimensions(text, dimension, &read, error)) {
        return false;
    }
    *product = read;
    return true;
}

/* Every matrix has the same number of elements on every rank. */
static bool check_divides(const char *text, const shard_mesh_t *mesh,
                          const shard_product_t *product, const shard_shape_t *shape, char *error)
{
    for (unsigned m = 0; m < SHARD_MATRICES; ++m) {
        for (unsigned side = 0; side < 2; ++side) {
            const shard_layout_t *layout = &product->layout[m];
            if (0 == shard_local_extent(mesh, shape, m, layout, side)) {
                char matrix[SHARD_TEXT_BYTES];
                shard_matrix_print(mesh, product, m, layout, matrix);
                return fail(error, "%.80s: %c of %s is cut into %u parts; make it a multiple", text,
                            product->dimension[shard_dimension_of[m][side]], matrix,
                            shard_axes_ranks(mesh, &layout->cut[side]));
            }
        }
    }
    return true;
}

bool shard_shape_parse(const char *text, const shard_mesh_t *mesh, const shard_product_t *product,
                       shard_shape_t *shape, char *error)
{
    shard_shape_t read = {{0}};
    bool more = true;

    for (const char *at = text; more;) {
        char name = 0;
        unsigned extent = 0;
        if (!parse_setting(text, &at, "the name of a dimension", SHARD_MAX_EXTENT, &name, &extent,
                           error)) {
            return false;
        }
        const char *found = memchr(product->dimension, name, SHARD_DIMENSIONS);
        if (NULL == found) {
            return fail(error, "%.80s: the product has no dimension %c", text, name);
        }
        size_t *of_name = &read.extent[found - product->dimension];
        if (0 != *of_name) {
            return fail(error, "%.80s: %c is given twice", text, name);
        }
        *of_name = extent;
        if (!parse_comma(text, &at, &more, error)) {
            return false;
        }
    }
    for (unsigned d = 0; d < SHARD_DIMENSIONS; ++d) {
        if (0 == read.extent[d]) {
            return fail(error, "%.80s: the extent of %c is missing", text, product->dimension[d]);
        }
    }
    if (!check_divides(text, mesh, product, &read, error)) {
        return false;
    }
    *shape = read;
    return true;
}

void shard_axes_print(const shard_mesh_t *mesh, const shard_axes_t *axes, char *text)
{
    for (unsigned i = 0; i < axes->count; ++i) {
        *text++ = mesh->name[axes->axis[i]];
    }
    *text = '\0';
}

void shard_matrix_print(const shard_mesh_t *mesh, const shard_product_t *product,
                        shard_matrix_t matrix, const shard_layout_t *layout,
                        char text[SHARD_TEXT_BYTES])
{
    char cut[2][SHARD_MAX_AXES + 1];
    char unreduced[SHARD_MAX_AXES + 1];

    shard_axes_print(mesh, &layout->cut[0], cut[0]);
    shard_axes_print(mesh, &layout->cut[1], cut[1]);
    shard_axes_print(mesh, &layout->unreduced, unreduced);
    snprintf(text, SHARD_TEXT_BYTES, "%c[%c%s%s,%c%s%s]%s%s%s", product->matrix[matrix],
             product->dimension[shard_dimension_of[matrix][0]], '\0' != cut[0][0] ? "_" : "",
             cut[0], product->dimension[shard_dimension_of[matrix][1]],
             '\0' != cut[1][0] ? "_" : "", cut[1], '\0' != unreduced[0] ? "{U_" : "", unreduced,
             '\0' != unreduced[0] ? "}" : "");
}
