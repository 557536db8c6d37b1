/*
 * What the user may set, and the configuration that follows from it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_SETTINGS_H
#define QUANT_SETTINGS_H

#include "element.h"
#include "param.h"
#include "quant_choose.h"

typedef struct quant_settings {
#define ARC_PARAM_ROW(_kind, _type, _scope, _name, ...) _type _name;
#define ARC_PARAM_LIST "quant_params.def"
#include "param_list.h"
} quant_settings_t;

/*
 * Segments under way at the same time, and so the message buffers of a rank.  32 and 64 gained
 * nothing on links of 10 Gb/s (docs/benchmarks_quant.md).
 */
enum { QUANT_DEPTH = 16 };

/*
 * The longest vector of an MPI_Allreduce that goes by doubling, whatever the algorithm, because the
 * number of messages decides its time (docs/benchmarks_quant.md, "Short vectors").
 */
enum { QUANT_DOUBLING_BYTES = 32 << 10 };

/* clang-format off */
/* The values of `types`: X(name, floats, doubles, what MPI_UINT16_T is). */
#define QUANT_TYPES_TABLE(X)               \
    X(float,  true,  false, ARC_TYPE_UINT16) \
    X(double, false, true,  ARC_TYPE_UINT16) \
    X(all,    true,  true,  ARC_TYPE_UINT16) \
    X(bf16,   true,  false, ARC_TYPE_BF16)   \
    X(fp16,   true,  false, ARC_TYPE_FP16)
/* clang-format on */
enum { QUANT_TYPES_FLOAT = 0 };

/* What may be approximate. */
typedef struct quant_types {
    bool floats;
    bool doubles;
    arc_type_t uint16; /* what sums of 16-bit unsigned integers are */
} quant_types_t;

enum { QUANT_STAGES_BOTH, QUANT_STAGES_REDUCE_SCATTER, QUANT_STAGES_ALLGATHER, QUANT_STAGES_NONE };

const quant_types_t *quant_settings_types(const quant_settings_t *settings);

/* Do settings whose values are in range name the collective and, if it is a stage, quantize it? */
bool quant_settings_want_collective(const quant_settings_t *settings,
                                    exchange_collective_t collective);

/* "auto", then the names in the order of their tables. */
extern const char *const quant_format_choices[];
extern const char *const quant_algorithm_choices[];
enum { QUANT_CHOICE_AUTO = 0 };

/* NULL: auto. */
const quant_algo_t *quant_settings_algo(const quant_settings_t *settings);

extern const arc_param_t quant_params[];

/*
 * The configuration for settings whose values are in range, with what they leave open chosen for
 * `ranks`; in *config kernels, per_node, order and alone are set before.  False:
 * what they allow is not below their target_nmse, or QUANT_AUTO_NMSE, and *config is unchanged.
 */
bool quant_settings_config(const quant_settings_t *settings, unsigned ranks,
                           quant_config_t *config);

/* What a communicator's info key says: */
typedef enum quant_wish {
    QUANT_WISH_NONE, /* nothing, or nothing that is understood */
    QUANT_WISH_OFF,
    QUANT_WISH_ON,
    QUANT_WISH_FORMAT, /* on, with a format */
    QUANT_WISH_TARGET, /* on, with what is cheapest below an error, between 0 and 1 */
} quant_wish_t;

/* With what it says of `settings` in place of what these say. */
quant_wish_t quant_wish_parse(const char *text, quant_settings_t *settings);

#endif
