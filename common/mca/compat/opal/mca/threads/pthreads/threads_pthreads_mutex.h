/*
 * Stand-in for a header which Open MPI's opal/mca/threads/mutex.h includes but
 * does not install (5.0).
 *
 * opal_mutex_t and ompi_wait_sync_t hold these two types by value, and
 * communicators, requests and processes hold an opal_mutex_t: the types must
 * be the bare pthread ones, or every offset behind them is wrong.  The
 * macros are what Open MPI's inline code calls.  This folder comes last on the
 * include path (-idirafter), so an installed header wins.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_COMPAT_THREADS_PTHREADS_MUTEX_H
#define ARC_COMPAT_THREADS_PTHREADS_MUTEX_H

#include "opal_config.h"

#include <pthread.h>

/* mutex.h uses opal_object_t and relies on this header for it */
#include "opal/class/opal_object.h"
#include "opal/constants.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER PTHREAD_COND_INITIALIZER

/* Installed headers ask for no recursive mutex, and look only at what trylock returns. */
#define opal_thread_internal_mutex_init(_mutex, _recursive) pthread_mutex_init(_mutex, NULL)
#define opal_thread_internal_mutex_destroy(_mutex) pthread_mutex_destroy(_mutex)
#define opal_thread_internal_mutex_lock(_mutex) pthread_mutex_lock(_mutex)
/* 0: taken, 1: held by somebody else. */
#define opal_thread_internal_mutex_trylock(_mutex) (0 != pthread_mutex_trylock(_mutex))
#define opal_thread_internal_mutex_unlock(_mutex) pthread_mutex_unlock(_mutex)
#define opal_thread_internal_cond_init(_cond) pthread_cond_init(_cond, NULL)
#define opal_thread_internal_cond_destroy(_cond) pthread_cond_destroy(_cond)
#define opal_thread_internal_cond_signal(_cond) pthread_cond_signal(_cond)

#endif
