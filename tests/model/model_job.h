/*
 * Calls of an algorithm on a simulated node: rank i on core i, all ranks in a loop of calls.  Every
 * sum is compared.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "model_machine.h"

typedef struct model_case {
    const model_machine_t *machine;
    const char *algorithm; /* of LOWLAT_NODE_TABLE, "auto", or of model_rivals.h */
    unsigned ranks;
    size_t bytes;           /* of int32 numbers */
    bool flags_in_one_line; /* a defect, for tests: those of all ranks */
} model_case_t;

typedef struct model_result {
    double us;            /* of a call, once the same has gone before */
    double lines_read;    /* of other ranks, by copies and sums: a rank, a call */
    double lines_fetched; /* that came from other cores, the same ones anew included */
    double lines_across;  /* ... from another socket */
} model_result_t;

/* False: no such algorithm, not for this length, a wrong sum, or calls that do not end. */
bool model_job_run(const model_case_t *job, model_result_t *result);

/* What coll_lowlat takes by its built-in rules; NULL: there is no memory. */
const char *model_job_auto(const model_case_t *job);

/* The algorithms and the rivals; NULL behind the last. */
const char *model_job_name(unsigned number);

#endif
