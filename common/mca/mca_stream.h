/*
 * stream.h over Open MPI's point-to-point layer (PML): any network works.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_STREAM_H
#define MCA_STREAM_H

#include "mca_compat.h"
#include "stream.h"

typedef struct mca_stream {
    arc_stream_t base; /* first: what the algorithms see */
    struct ompi_communicator_t *comm;
    int tag;
    /* arc_module_t.tags: while there are any the tag is number `number` of these; or NULL. */
    const int *tags;
    int number;
    struct ompi_datatype_t *type; /* lengths are counted in elements of it, */
    size_t unit_bytes;            /* which have so many bytes */
} mca_stream_t;

/*
 * Messages of bytes.  Those of one tag do not match those of another; `tag` is one of Open MPI's
 * for collectives.
 */
void mca_stream_init(mca_stream_t *stream, struct ompi_communicator_t *comm, int tag);

#endif
