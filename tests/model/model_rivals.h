/*
 * What others do on a node, on the same model, by their published rules.
 *
 *   tuned    Open MPI 4.1: coll_tuned's fixed rules of ompi_coll_tuned_allreduce_intra_dec_fixed(),
 *            v4.1.x, over messages of shared memory: up to 4 KiB in a box of the receiver, longer
 *            ones are announced, and copied by the kernel out of the sender's memory.  Each costs
 *            message_ns, single_ns of software.  From 128 ranks on "nonoverlapping" is a binomial
 *            tree up and down, whatever the rules of coll_tuned for reduce and bcast are.
 *   xhc      coll_xhc before it was released: levels with a leader (numa,socket), control lines of
 *            one writer, up to 1 KiB (cico_max) through a buffer of the writer, above that each
 *            member sums its part of a chunk of 16 KiB straight from the others' memory (XPMEM);
 *            the result comes down the levels
 *   xhc_l3   ... as Open MPI 6 has it: cache groups below (l3,numa,socket), and up to 4 KiB
 *
 * acoll of Open MPI 6 has no row (coll_acoll_allreduce.c, August 2026): on a node it doubles over
 * the same messages as tuned up to 2 KiB and halves below 64 KiB, but from 32 to 511 bytes a leader
 * adds up the parts of its NUMA domain and sends each of its ranks a message.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_RIVALS_H
#define MODEL_RIVALS_H

#include "model_machine.h"

/* One rank in one call. */
typedef struct model_rival_call {
    const model_machine_t *machine;
    unsigned char *memory; /* of all ranks, span_bytes each; a rival's own begins a span */
    size_t span_bytes;
    size_t in_offset; /* in each span: the vectors, and room for a third one */
    size_t out_offset;
    size_t work_offset;
    unsigned rank;
    unsigned ranks;
    size_t bytes;
    uint64_t call; /* its number, from 1 on */
} model_rival_call_t;

typedef struct model_rival {
    const char *name;
    void (*run)(const model_rival_call_t *call);
} model_rival_t;

extern const model_rival_t model_rivals[];
extern const unsigned model_rivals_count;

/* Bytes that a rival needs in each span. */
size_t model_rival_bytes(void);

/* A look after the other until the number is there. */
void model_rival_await(const model_machine_t *machine, const uint64_t *flag, uint64_t value);

void model_tuned_run(const model_rival_call_t *call);
void model_xhc_run(const model_rival_call_t *call);
void model_xhc_l3_run(const model_rival_call_t *call);

#endif
