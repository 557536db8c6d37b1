/*
 * Quantized numbers as the coder of an exchange (exchange_coder.h): messages in the wire
 * format (quant_wire.h), sums of floats or doubles (quant_element.h), and what goes beside them:
 * bounds of the error, residuals (quant_element.h), numbers of the program that are widened
 * (quant_storage.h).
 *
 * Partial sums inside a node are exact: which messages these are follows from the round, and so
 * both ends know.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef QUANT_CODER_H
#define QUANT_CODER_H

#include "exchange_coder.h"
#include "quant_algos.h"
#include "quant_fit.h"
#include "sizes.h"
#include "stream.h"
#include "task.h"

typedef struct quant_coder {
    exchange_coder_t base; /* first: the exchange is handed this */
    arc_task_t *exchange;  /* of its messages */
    quant_config_t config;
    unsigned ranks; /* of the exchange */
    unsigned rank;

    quant_wire_segment_t segment; /* of any message, but for its format, its length and its key */
    void *sum;                    /* scratch, numbers of a segment; NULL without need */

    /* Of the call: */
    quant_operation_t operation;
    const quant_element_t *element;
    size_t own;         /* where the own block begins; 0: the vector has no blocks */
    quant_fit_t fit;    /* how far off messages may be, if there is a limit */
    float bound;        /* of the totals that are complete */
    size_t exact_elems; /* in those of them that are exact */
} quant_coder_t;

/* Bytes of the longest message of up to `elems` numbers, in any call. */
size_t quant_coder_message_bytes(const quant_config_t *config, size_t elems);

/*
 * A coder, its scratch memory and the exchange, of `room`; `peer` as in exchange_config_t.  NULL:
 * counted.
 */
quant_coder_t *quant_coder_init(const quant_config_t *config, unsigned ranks, unsigned rank,
                                const unsigned *peer, arc_stream_t *stream, arc_room_t *room);

/* Get ready for a call whose messages are of the whole vector. */
void quant_coder_start_whole(quant_coder_t *coder, const quant_operation_t *operation);

/* Get ready for a call; returns how it is laid out. */
exchange_operation_t quant_coder_start(quant_coder_t *coder, const quant_operation_t *operation);

/*
 * Where each rank adds up the whole vector: begin the sum, in the memory of the result, with the
 * numbers of a message of the whole vector, and make it the result.
 */
exchange_sum_t quant_coder_begin_sum(const quant_coder_t *coder, const exchange_message_t *message,
                                     const void *buffer);
void quant_coder_end_sum(quant_coder_t *coder, const exchange_sum_t *sum);

#endif
