/*
 * What every MPI test program shares: TAP lines from rank 0, guarded buffers,
 * and a seeded random function that any rank can evaluate for any other rank.
 *
 * A test program reports through tap_fail() on the rank that saw the failure and
 * closes a group of checks with tap_case(), which is collective: the failures
 * travel to rank 0 by point-to-point messages on a private communicator, never
 * by the collective under test.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_TESTS_MPI_HARNESS_H
#define ARC_TESTS_MPI_HARNESS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "../../lib/options.h"

/** Start reporting. Collective over MPI_COMM_WORLD, after MPI_Init. */
void tap_start(void);

/** MPI_Init() and tap_start(). */
void tap_begin(int *argc, char ***argv);

/** This rank of MPI_COMM_WORLD, and how many there are; from tap_start() on. */
extern int world_rank;
extern int world_ranks;

/** Record a failure of the running case on this rank; the first text is kept. Local. */
void tap_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** tap_fail() with text unless `good`. Returns `good`. Local. */
bool tap_check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** tap_check() that `data` has the bytes that it has on rank 0.  Collective over `comm`. */
bool tap_check_same(const void *data, size_t bytes, MPI_Comm comm);

/** End the running case: collective; rank 0 prints `ok` or `not ok` with the description. */
void tap_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Report a case that cannot run here. Collective; rank 0 prints the reason. */
void tap_skip(const char *description, const char *reason);

/** A comment line from rank 0. Local, ignored on other ranks. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print the plan and release the private communicator. Collective, before MPI_Finalize. */
void tap_finish(void);

/** tap_finish() and MPI_Finalize(); what main() returns. */
int tap_end(void);

/**
 * Set what the command line says (options.h); ends the job where that is wrong.  For main():
 * TAKE_OPTIONS(OPTION('n', rounds), ...);
 */
#define TAKE_OPTIONS(...) \
    take_options(argc, argv, (const option_row_t[]){__VA_ARGS__, {.letter = 0}})
void take_options(int argc, char **argv, const option_row_t *rows);

/** Uniform 64 bits, a pure function of its arguments.  Inline: most of the tests' time. */
static inline uint64_t draw_bits(uint64_t seed, unsigned rank, uint64_t index)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t bits =
        seed * golden + (uint64_t) rank * UINT64_C(0xd1342543de82ef95) + (index + 1) * golden;

    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/** Largest shift_bytes of guarded_place_at(). */
enum { GUARDED_SHIFT_BYTES = 64 };

/** Set an info key of a communicator. */
void set_key(MPI_Comm comm, const char *key, const char *value);

/** The value of a key as MPI_Comm_get_info has it, "" if there is none; lives until the next. */
const char *key_of(MPI_Comm comm, const char *key);

/** What MPI_Comm_dup() makes. */
MPI_Comm dup_of(MPI_Comm comm);

/** A duplicate of MPI_COMM_WORLD that is made with the key. */
MPI_Comm dup_with_key(const char *key, const char *value);

/** Memory with room for canaries around a vector of up to `capacity_bytes`. */
typedef struct guarded {
    unsigned char *base;
    size_t capacity_bytes;
    size_t placed_bytes;
    size_t shift_bytes;
} guarded_t;

/** Allocate; aborts the job when memory is short. Free with guarded_fini(). */
void guarded_init(guarded_t *guarded, size_t capacity_bytes);

/** Release the memory. */
void guarded_fini(guarded_t *guarded);

/** Address for a vector of `bytes`, with fresh canaries before and behind it. */
void *guarded_place(guarded_t *guarded, size_t bytes);

/** The same at an address that is `shift_bytes` away from the usual alignment. */
void *guarded_place_at(guarded_t *guarded, size_t bytes, size_t shift_bytes);

/** True while the canaries of the last guarded_place() are untouched. */
bool guarded_intact(const guarded_t *guarded);

/** malloc() that aborts the job when memory is short; never returns NULL. */
void *must_alloc(size_t bytes);

/** Of a pointer variable: what it points to is freed where its block ends. */
#define SCOPED __attribute__((cleanup(harness_free_at)))
void harness_free_at(void *pointer);

#endif
