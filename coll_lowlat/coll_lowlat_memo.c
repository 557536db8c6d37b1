/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdlib.h>

#include "coll_lowlat_memo.h"

void lowlat_memo_open(lowlat_memo_t *memo, size_t value_bytes)
{
    enum { FEW = 16 }; /* it grows */

    OBJ_CONSTRUCT(&memo->table, opal_hash_table_t);
    (void) opal_hash_table_init(&memo->table, FEW);
    (void) pthread_mutex_init(&memo->lock, NULL);
    memo->value_bytes = value_bytes;
}

void lowlat_memo_close(lowlat_memo_t *memo)
{
    void *key = NULL;
    size_t bytes = 0;
    void *value = NULL;
    void *node = NULL;

    while (OPAL_SUCCESS ==
           opal_hash_table_get_next_key_ptr(&memo->table, &key, &bytes, &value, node, &node)) {
        free(value);
    }
    OBJ_DESTRUCT(&memo->table);
    (void) pthread_mutex_destroy(&memo->lock);
}

bool lowlat_memo_recall(lowlat_memo_t *memo, const void *key, size_t key_bytes, void *value)
{
    void *found = NULL;

    (void) pthread_mutex_lock(&memo->lock);
    if (OPAL_SUCCESS == opal_hash_table_get_value_ptr(&memo->table, key, key_bytes, &found)) {
        memcpy(value, found, memo->value_bytes);
    }
    (void) pthread_mutex_unlock(&memo->lock);
    return NULL != found;
}

void lowlat_memo_remember(lowlat_memo_t *memo, const void *key, size_t key_bytes, const void *value)
{
    void *place = NULL;

    (void) pthread_mutex_lock(&memo->lock);
    if (OPAL_SUCCESS != opal_hash_table_get_value_ptr(&memo->table, key, key_bytes, &place)) {
        place = malloc(memo->value_bytes);
        if (NULL != place &&
            OPAL_SUCCESS != opal_hash_table_set_value_ptr(&memo->table, key, key_bytes, place)) {
            free(place);
            place = NULL;
        }
    }
    if (NULL != place) {
        memcpy(place, value, memo->value_bytes);
    }
    (void) pthread_mutex_unlock(&memo->lock);
}

void lowlat_memo_each(lowlat_memo_t *memo, lowlat_memo_visit_fn_t visit, void *context)
{
    void *key = NULL;
    size_t bytes = 0;
    void *value = NULL;
    void *node = NULL;

    (void) pthread_mutex_lock(&memo->lock);
    while (OPAL_SUCCESS ==
           opal_hash_table_get_next_key_ptr(&memo->table, &key, &bytes, &value, node, &node)) {
        visit(context, key, value);
    }
    (void) pthread_mutex_unlock(&memo->lock);
}
