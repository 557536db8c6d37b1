/*
 * Where the rivals of model_rivals.h have what in the memory of a rank.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_RIVALS_MEMORY_H
#define MODEL_RIVALS_MEMORY_H

#include "model_rivals.h"

enum {
    RIVAL_SETS = 2,         /* of boxes, by turns: a rank in the next call may be ahead */
    RIVAL_STEPS = 20,       /* messages that a rank gets in a call */
    RIVAL_BOX_BYTES = 4096, /* the eager limit of vader, and the length that xhc_l3 copies twice */
    RIVAL_XHC_BOX_BYTES = 1024, /* what xhc copies twice (model_rivals.h) */
    RIVAL_XHC_LEVELS = 4,
    RIVAL_XHC_CHUNK_BYTES = 16384
};

typedef struct rival_box {
    _Alignas(MODEL_LINE_BYTES) uint64_t number;
    unsigned char data[RIVAL_BOX_BYTES];
} rival_box_t;

typedef struct rival_flag {
    _Alignas(2 * MODEL_LINE_BYTES) uint64_t number;
} rival_flag_t;

typedef struct rival_memory {
    rival_box_t box[RIVAL_SETS][RIVAL_STEPS];
    rival_flag_t done[RIVAL_SETS][RIVAL_STEPS];
    /* xhc, by level: the input of the level is there, our part of the sum is, we have the result.
     */
    rival_flag_t ready[RIVAL_XHC_LEVELS];
    rival_flag_t summed[RIVAL_XHC_LEVELS];
    rival_flag_t taken[RIVAL_XHC_LEVELS];
    rival_flag_t result; /* chunks of the result that members can copy */
} rival_memory_t;

static inline rival_memory_t *rival_memory(const model_rival_call_t *call, unsigned rank)
{
    return (rival_memory_t *) (void *) (call->memory + rank * call->span_bytes);
}

static inline unsigned char *rival_in(const model_rival_call_t *call, unsigned rank)
{
    return call->memory + rank * call->span_bytes + call->in_offset;
}

static inline unsigned char *rival_out(const model_rival_call_t *call, unsigned rank)
{
    return call->memory + rank * call->span_bytes + call->out_offset;
}

static inline unsigned char *rival_work(const model_rival_call_t *call, unsigned rank)
{
    return call->memory + rank * call->span_bytes + call->work_offset;
}

#endif
