/*
 * What coll_lowlat does for a component above it.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_FOLD_H
#define COLL_LOWLAT_FOLD_H

#include "mca_fold.h"

extern const mca_fold_ops_t coll_lowlat_fold_ops;

#endif
