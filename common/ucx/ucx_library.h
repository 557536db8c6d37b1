/*
 * UCX, opened at run time and without side effects on the process.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef UCX_LIBRARY_H
#define UCX_LIBRARY_H

#include <ucp/api/ucp.h>

#include "status.h"

/* clang-format off */
/* X(function): what we call of UCX; the only list. */
#define UCX_FUNCTION_TABLE(X)       \
    X(ucp_get_version)              \
    X(ucp_config_read)              \
    X(ucp_config_modify)            \
    X(ucp_config_release)           \
    X(ucp_init_version)             \
    X(ucp_cleanup)                  \
    X(ucp_worker_create)            \
    X(ucp_worker_destroy)           \
    X(ucp_worker_query)             \
    X(ucp_worker_release_address)   \
    X(ucp_worker_progress)          \
    X(ucp_worker_fence)             \
    X(ucp_mem_map)                  \
    X(ucp_mem_unmap)                \
    X(ucp_mem_query)                \
    X(ucp_rkey_pack)                \
    X(ucp_rkey_buffer_release)      \
    X(ucp_ep_create)                \
    X(ucp_ep_close_nbx)             \
    X(ucp_ep_flush_nbx)             \
    X(ucp_ep_print_info)            \
    X(ucp_ep_rkey_unpack)           \
    X(ucp_rkey_ptr)                 \
    X(ucp_rkey_destroy)             \
    X(ucp_put_nbx)                  \
    X(ucp_request_check_status)     \
    X(ucp_request_free)
/* clang-format on */

/* The oldest release that works; from it on UCP is compatible. */
enum { UCX_MAJOR = 1, UCX_MINOR = 12 };

typedef struct ucx_library {
    void *handle;
#define X(_function) __typeof__(_function) *_function;
    UCX_FUNCTION_TABLE(X)
#undef X
} ucx_library_t;

/*
 * Open UCX and resolve its functions.  It changes the environment for the time of
 * the call, which is safe only while no other thread reads it: call it from
 * MPI_Init, as Open MPI itself does with setenv().
 * ARC_UNSUPPORTED, with *why set to a static text, when UCX is missing or too old.
 */
arc_status_t ucx_library_open(ucx_library_t *library, const char **why) ARC_MUST_CHECK;

void ucx_library_close(ucx_library_t *library);

#endif
