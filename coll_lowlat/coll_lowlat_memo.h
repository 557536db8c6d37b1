/*
 * What the process has found out, for later communicators: values by key.  All that there are, as
 * long as the process lives: to forget one costs finding it out again.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_MEMO_H
#define COLL_LOWLAT_MEMO_H

#include <pthread.h>

#include "mca_compat.h"

typedef struct lowlat_memo {
    opal_hash_table_t table; /* under the lock */
    pthread_mutex_t lock;
    size_t value_bytes;
} lowlat_memo_t;

void lowlat_memo_open(lowlat_memo_t *memo, size_t value_bytes);
void lowlat_memo_close(lowlat_memo_t *memo);

/* Copy what was remembered to *value.  False, and it is unchanged: nothing was. */
bool lowlat_memo_recall(lowlat_memo_t *memo, const void *key, size_t key_bytes, void *value);

/* Copy *value, in place of what was remembered; without memory nothing is. */
void lowlat_memo_remember(lowlat_memo_t *memo, const void *key, size_t key_bytes,
                          const void *value);

/* Call `visit` for each key with its value. */
typedef void (*lowlat_memo_visit_fn_t)(void *context, const void *key, const void *value);
void lowlat_memo_each(lowlat_memo_t *memo, lowlat_memo_visit_fn_t visit, void *context);

#endif
