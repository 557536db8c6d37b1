/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <pthread.h>

#include "mca_budget.h"
#include "lowlat.h"
#include "mca_compat.h"

static struct budget {
    pthread_mutex_t lock;
    size_t most_bytes;
    size_t used_bytes;    /* of regions and windows */
    size_t request_bytes; /* of segments in them that persistent requests have */
} budget = {.lock = PTHREAD_MUTEX_INITIALIZER};

void mca_budget_open(size_t most_bytes)
{
    budget.most_bytes = most_bytes;
    budget.used_bytes = 0;
    budget.request_bytes = 0;
}

/* This process's part of the limit. */
static size_t limit_of(mca_budget_t part)
{
    const size_t processes = 1 + (size_t) opal_process_info.num_local_peers;

    return budget.most_bytes / processes / part;
}

size_t mca_budget_take(size_t least, size_t best, mca_budget_t part)
{
    (void) pthread_mutex_lock(&budget.lock);
    const size_t limit = limit_of(part);
    const size_t used = budget.used_bytes;
    const size_t rest = limit > used ? limit - used : 0;
    size_t bytes = best <= rest ? best : rest - rest % LOWLAT_PAGE_BYTES;
    bytes = bytes < least ? 0 : bytes;
    budget.used_bytes += bytes;
    (void) pthread_mutex_unlock(&budget.lock);
    return bytes;
}

void mca_budget_return(size_t bytes)
{
    (void) pthread_mutex_lock(&budget.lock);
    budget.used_bytes -= bytes;
    (void) pthread_mutex_unlock(&budget.lock);
}

bool mca_budget_take_for_request(size_t bytes)
{
    (void) pthread_mutex_lock(&budget.lock);
    const bool taken = budget.request_bytes + bytes <= limit_of(MCA_BUDGET_HALF);
    budget.request_bytes += taken ? bytes : 0;
    (void) pthread_mutex_unlock(&budget.lock);
    return taken;
}

void mca_budget_return_of_request(size_t bytes)
{
    (void) pthread_mutex_lock(&budget.lock);
    budget.request_bytes -= bytes;
    (void) pthread_mutex_unlock(&budget.lock);
}
