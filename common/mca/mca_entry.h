/*
 * What Open MPI calls: functions that make one arc_call_t of the arguments of a slot.
 *
 *     ARC_DEFINE_SUM(allreduce, lowlat_module_t, serve)
 *     const arc_entries_t coll_lowlat_entries = {ARC_ENTRIES(allreduce)};
 *
 * Open MPI may pass another component's module in `base`; the call is served by our module of
 * `comm` (mca_below.h).  `_serve` is an arc_serve_fn_t for blocking calls, which the compiler may
 * put into the function of the slot.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_ENTRY_H
#define MCA_ENTRY_H

#include "mca_below.h"
#include "mca_request.h"

#define ARC_ENTRIES(_name) \
    ._name = enter_##_name, .i##_name = enter_i##_name, ._name##_init = enter_##_name##_init

/* The three forms of a collective with these arguments, which are those of `_call`. */
#define ARC_DEFINE_FORMS(_name, _class, _serve, _call, ...)                                      \
    static int enter_##_name(__VA_ARGS__, struct ompi_communicator_t *comm,                      \
                             mca_coll_base_module_t *base)                                       \
    {                                                                                            \
        arc_module_t *module = arc_module_own(base, OBJ_CLASS(_class), comm);                    \
        const arc_call_t call = _call(_name, ARC_FORM_BLOCKING);                                 \
                                                                                                 \
        if (OPAL_UNLIKELY(NULL == module)) {                                                     \
            return OMPI_ERR_NOT_FOUND;                                                           \
        }                                                                                        \
        return OPAL_LIKELY(!module->component->timed) ? _serve(module, &call)                    \
                                                      : arc_module_serve_timed(module, &call);   \
    }                                                                                            \
                                                                                                 \
    static int enter_i##_name(__VA_ARGS__, struct ompi_communicator_t *comm,                     \
                              ompi_request_t **request, mca_coll_base_module_t *base)            \
    {                                                                                            \
        arc_call_t call = _call(_name, ARC_FORM_NONBLOCKING);                                    \
                                                                                                 \
        return arc_request_start(arc_module_own(base, OBJ_CLASS(_class), comm), &call, request); \
    }                                                                                            \
                                                                                                 \
    static int enter_##_name##_init(__VA_ARGS__, struct ompi_communicator_t *comm,               \
                                    struct ompi_info_t *info, ompi_request_t **request,          \
                                    mca_coll_base_module_t *base)                                \
    {                                                                                            \
        const arc_call_t call = _call(_name, ARC_FORM_PERSISTENT);                               \
                                                                                                 \
        return arc_request_init(arc_module_own(base, OBJ_CLASS(_class), comm), &call, info,      \
                                request);                                                        \
    }

#define ARC_CALL_OF_SUM(_name, _form)                                                    \
    {                                                                                    \
        .collective = ARC_SLOT_##_name, .form = _form, .send = send, .receive = receive, \
        .count = count, .type = type, .op = op                                           \
    }
#define ARC_DEFINE_SUM(_name, _class, _serve)                                                 \
    ARC_DEFINE_FORMS(_name, _class, _serve, ARC_CALL_OF_SUM, const void *send, void *receive, \
                     mca_compat_count_t count, struct ompi_datatype_t *type, struct ompi_op_t *op)

#define ARC_CALL_OF_GATHER(_name, _form)                                                 \
    {                                                                                    \
        .collective = ARC_SLOT_##_name, .form = _form, .send = send, .receive = receive, \
        .count = count, .type = type, .send_count = send_count, .send_type = send_type   \
    }
#define ARC_DEFINE_GATHER(_name, _class, _serve)                                       \
    ARC_DEFINE_FORMS(_name, _class, _serve, ARC_CALL_OF_GATHER, const void *send,      \
                     mca_compat_count_t send_count, struct ompi_datatype_t *send_type, \
                     void *receive, mca_compat_count_t count, struct ompi_datatype_t *type)

#endif
