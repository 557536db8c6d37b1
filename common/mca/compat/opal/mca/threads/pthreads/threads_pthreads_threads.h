/*
 * Stand-in for a header which Open MPI's opal/mca/threads/threads.h includes
 * but does not install (5.0).
 *
 * Open MPI's own waits yield through this function; how, the user chooses at
 * run time (threads_pthreads_yield_strategy), so we call through its pointer.
 * This folder comes last on the include path (-idirafter), so an installed
 * header wins.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_COMPAT_THREADS_PTHREADS_THREADS_H
#define ARC_COMPAT_THREADS_PTHREADS_THREADS_H

#include "opal_config.h"

#include <pthread.h>
#include <signal.h>

OPAL_DECLSPEC extern void (*opal_threads_pthreads_yield_fn)(void);

static inline void opal_thread_yield(void)
{
    opal_threads_pthreads_yield_fn();
}

#endif
