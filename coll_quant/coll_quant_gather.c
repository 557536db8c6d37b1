/*
 * An MPI_Allgather of other types than floats and doubles: numbers that do not lie one after the
 * other pass through memory of this call:
 *
 *   send --pack--> own block --> algorithm --> N blocks --unpack--> receive
 *
 * Which ranks need that memory no other rank knows, and to ask would cost every call a round trip.
 * So it is allocated before the first byte of the call is sent, and a rank that has none returns an
 * error and never sends on this communicator again: the others wait for it, up to their time
 * limit, as for a rank that does not come, and no later call can be taken for this one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdlib.h>

#include "coll_quant_call.h"
#include "sizes.h"

/* Where the program wants a block. */
static void *block_at(const arc_call_t *said, int block)
{
    ptrdiff_t extent_bytes = 0;

    (void) ompi_datatype_type_extent(said->type, &extent_bytes);
    return (char *) said->receive + (ptrdiff_t) block * (ptrdiff_t) said->count * extent_bytes;
}

int coll_quant_gather_packed(quant_module_t *module, quant_call_t *call)
{
    const arc_call_t *said = call->said;
    const int ranks = (int) module->stream.base.ranks;
    const size_t block_bytes = call->said_bytes / (size_t) ranks;
    const int32_t count = (int32_t) call->operation.count;
    size_t bytes = 0;
    const bool fits = arc_checked_bytes((size_t) ranks, block_bytes, 0, &bytes);
    uint8_t *blocks = fits ? malloc(bytes) : NULL;
    uint8_t *own = blocks + module->stream.base.rank * block_bytes;

    if (NULL == blocks) {
        (void) arc_module_break(&module->base, arc_call_slot(said), ARC_ERR_NO_MEMORY,
                                " to pack a derived type");
        return MPI_ERR_NO_MEM;
    }
    /* A rank that fails alone takes part nevertheless, with zeros; the call ends in its error. */
    int error =
        ompi_datatype_sndrcv(said->send, said->send_count, said->send_type, own, count, call->type);
    if (OMPI_SUCCESS != error) {
        memset(own, 0, block_bytes);
    }
    call->operation.send = own;
    call->operation.recv = blocks;
    const int status = coll_quant_run_call(module, call);
    for (int block = 0; MPI_SUCCESS == status && OMPI_SUCCESS == error && block < ranks; ++block) {
        error = ompi_datatype_sndrcv(blocks + (size_t) block * block_bytes, count, call->type,
                                     block_at(said, block), said->count, said->type);
    }
    arc_module_free(&module->base, blocks);
    return MPI_SUCCESS == status ? error : status;
}
