/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lowlat_select.h"
#include "queue_job.h"

enum { NODES_SPAN_BYTES = 3000 };

bool queue_job_over_nodes(const queue_job_options_t *options, unsigned comm)
{
    return comm + options->over_nodes >= options->comms;
}

static operation_t draw_operation(const queue_job_options_t *options, bool over_nodes,
                                  test_random_t *random)
{
    const unsigned first = over_nodes ? LOWLAT_NODES_FIRST : 0;
    const unsigned end = over_nodes ? LOWLAT_ALGORITHM_RING : LOWLAT_NODES_FIRST;
    const unsigned algorithm = first + (unsigned) test_random_below(random, end - first);

    return operation_draw(random, algorithm, LOWLAT_JOB_REDUCERS, options->ranks,
                          over_nodes ? NODES_SPAN_BYTES : SIZE_MAX);
}

void queue_job_draw(const queue_job_options_t *options, test_random_t *random, plan_t *plans,
                    size_t count)
{
    size_t numbers[QUEUE_JOB_COMMS] = {0};

    for (size_t i = 0; i < count; ++i) {
        /* In the end each of them once more: none is without a last one. */
        const unsigned comm =
            (unsigned) (i + options->comms >= count ? i % options->comms
                                                    : test_random_below(random, options->comms));
        const bool over_nodes = queue_job_over_nodes(options, comm);

        plans[i] = (plan_t){
            .comm = comm,
            .form = 0 == test_random_below(random, 8)
                        ? BLOCKING
                        : (form_t) test_random_below(random, BLOCKING),
            .request = (unsigned) test_random_below(random, QUEUE_JOB_REQUESTS),
            .waits = over_nodes || 0 == test_random_below(random, 4),
            .number = numbers[comm]++,
            .last = i + options->comms >= count,
            .operation = draw_operation(options, over_nodes, random),
        };
    }
}
