/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "coll_quant_call.h"
#include "mca_below.h"

int coll_quant_below(quant_module_t *module, const quant_call_t *call, void *receive,
                     const char *details)
{
    const quant_operation_t *operation = &call->operation;
    struct ompi_datatype_t *type = coll_quant_datatype(operation->element);
    arc_call_t exact = *call->said;

    exact.send = operation->send;
    exact.receive = receive;
    exact.count = (mca_compat_count_t) operation->count;
    exact.type = type;
    exact.send_count = exact.count;
    exact.send_type = type;
    return MPI_SUCCESS == arc_below_call(&module->base, &exact)
               ? MPI_SUCCESS
               : arc_module_break(&module->base, arc_call_slot(call->said), ARC_ERR_TRANSPORT,
                                  details);
}
