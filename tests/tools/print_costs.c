/*
 * Prints what the cost model predicts, for scripts: the equations exist once, in C.
 *
 *   print_costs alpha_intra=S beta_intra=S alpha_inter=S beta_inter=S eta=X gamma=S
 *               ranks_per_node=N nodes=N,N,... bytes=N,N,...
 *
 * S: seconds, or seconds per byte.  Every name must be there, once.  A line for each cost and for
 * each pair of algorithms that change places between one byte and one GiB:
 *
 *   cost NODES BYTES ALGORITHM SECONDS
 *   crossover NODES SMALL LARGE BYTES       from BYTES on LARGE takes no longer than SMALL
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost_model.h"

enum { LIST_ENTRIES = 64 };
static const size_t crossover_max_bytes = (size_t) 1 << 30;

typedef struct list {
    size_t count;
    size_t values[LIST_ENTRIES];
} list_t;

static cost_model_t model;
static list_t ranks_per_node;
static list_t nodes;
static list_t bytes;

/* clang-format off */
static const struct number_name {
    const char *name;
    double *value;
    double least;
} number_names[] = {
    {"alpha_intra", &model.intra.alpha_seconds,         0},
    {"beta_intra",  &model.intra.beta_seconds_per_byte, 0},
    {"alpha_inter", &model.inter.alpha_seconds,         0},
    {"beta_inter",  &model.inter.beta_seconds_per_byte, 0},
    {"eta",         &model.eta,                         1},
    {"gamma",       &model.gamma_seconds_per_byte,      0},
};
static const struct list_name {
    const char *name;
    list_t *list;
    size_t least;
    size_t most;
    size_t entries;
} list_names[] = {
    {"ranks_per_node", &ranks_per_node, 1, UINT_MAX,     1},
    {"nodes",          &nodes,          1, UINT_MAX,     LIST_ENTRIES},
    {"bytes",          &bytes,          0, SIZE_MAX / 2, LIST_ENTRIES},
};
/* clang-format on */
enum {
    NUMBER_NAMES = sizeof(number_names) / sizeof(number_names[0]),
    LIST_NAMES = sizeof(list_names) / sizeof(list_names[0]),
};

/* Each returns 0 if the text is not what it should be. */
static int parse_number(const struct number_name *name, const char *text)
{
    char *end;
    *name->value = strtod(text, &end);
    return end != text && '\0' == *end && isfinite(*name->value) && *name->value >= name->least;
}

static int parse_list(const struct list_name *name, const char *text)
{
    list_t *list = name->list;
    for (list->count = 0; list->count < name->entries; text += 1) {
        char *end;
        /* strtoull takes signs and spaces. */
        if ('0' > *text || '9' < *text) {
            return 0;
        }
        unsigned long long value = strtoull(text, &end, 10);
        if (value < name->least || value > name->most) {
            return 0;
        }
        list->values[list->count++] = (size_t) value;
        text = end;
        if ('\0' == *text) {
            return 1;
        }
        if (',' != *text) {
            return 0;
        }
    }
    return 0;
}

/* The value of `name` among the arguments; NULL if it is not there exactly once. */
static const char *argument_of(int argc, char **argv, const char *name)
{
    const char *found = NULL;
    const size_t length = strlen(name);

    for (int i = 1; i < argc; ++i) {
        if (0 == strncmp(argv[i], name, length) && '=' == argv[i][length]) {
            if (NULL != found) {
                return NULL;
            }
            found = argv[i] + length + 1;
        }
    }
    return found;
}

/* Complains about the argument and returns 0 if it is missing or not `fine`. */
static int check_argument(const char *name, const char *text, int fine)
{
    if (NULL == text) {
        fprintf(stderr, "print_costs: %s must be given once\n", name);
        return 0;
    }
    if (!fine) {
        fprintf(stderr, "print_costs: bad value %s for %s\n", text, name);
    }
    return fine;
}

static int parse_arguments(int argc, char **argv)
{
    for (unsigned i = 0; i < NUMBER_NAMES; ++i) {
        const char *text = argument_of(argc, argv, number_names[i].name);
        if (!check_argument(number_names[i].name, text,
                            text && parse_number(&number_names[i], text))) {
            return 0;
        }
    }
    for (unsigned i = 0; i < LIST_NAMES; ++i) {
        const char *text = argument_of(argc, argv, list_names[i].name);
        if (!check_argument(list_names[i].name, text, text && parse_list(&list_names[i], text))) {
            return 0;
        }
    }
    if (argc - 1 != NUMBER_NAMES + LIST_NAMES) {
        fprintf(stderr, "print_costs: unknown argument\n");
        return 0;
    }
    return 1;
}

static void print_crossovers(unsigned node_count, unsigned local)
{
    for (size_t i = 0; i < cost_algorithms_count; ++i) {
        for (size_t k = 0; k < cost_algorithms_count; ++k) {
            size_t at = 0;
            if (ARC_OK == cost_crossover_find(&model, cost_algorithms[i].seconds,
                                              cost_algorithms[k].seconds, node_count, local, 1,
                                              crossover_max_bytes, &at)) {
                printf("crossover %u %s %s %zu\n", node_count, cost_algorithms[i].name,
                       cost_algorithms[k].name, at);
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (!parse_arguments(argc, argv)) {
        return 1;
    }
    const unsigned local = (unsigned) ranks_per_node.values[0];
    for (size_t n = 0; n < nodes.count; ++n) {
        const unsigned node_count = (unsigned) nodes.values[n];
        for (size_t b = 0; b < bytes.count; ++b) {
            for (size_t i = 0; i < cost_algorithms_count; ++i) {
                printf("cost %u %zu %s %.9e\n", node_count, bytes.values[b],
                       cost_algorithms[i].name,
                       cost_algorithms[i].seconds(&model, node_count, local, bytes.values[b]));
            }
        }
        print_crossovers(node_count, local);
    }
    return fflush(stdout) ? 1 : 0;
}
