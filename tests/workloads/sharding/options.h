/*
 * Options of the programs of this workload.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SHARDING_OPTIONS_H
#define ARC_SHARDING_OPTIONS_H

#include "notation.h"

/*
 * Ends all ranks, which all call it, with status 2: the user has to change something.  Rank 0
 * prints the line.
 */
void shard_options_refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A positive number, or, if `zero` is true, 0. */
double shard_options_number(char option, const char *text, bool zero);

/* A whole number from 1 to `most`. */
unsigned shard_options_count(char option, const char *text, unsigned most);

/* The mesh of option m; `text` is NULL where it was not given. */
shard_mesh_t shard_options_mesh(const char *text);

/* Refuses a mesh that has not as many ranks as MPI_COMM_WORLD. */
void shard_options_check_ranks(const shard_mesh_t *mesh);

#endif
