/*
 * The agreements of a module: common/core/agreement.h over Open MPI's point-to-point layer.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_AGREEMENT_H
#define MCA_AGREEMENT_H

#include "agreement.h"
#include "mca_stream.h"

typedef struct mca_agreement {
    mca_stream_t stream;
    arc_agreement_t agreement;
} mca_agreement_t;

#endif
