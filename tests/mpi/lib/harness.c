/*
 * TAP reporting, guarded buffers and the seeded random function of the MPI
 * tests; harness.h has the contract. A guarded buffer is
 *
 *   | shift_bytes | 64 canary bytes | vector of placed_bytes | 64 canary bytes |
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <stdarg.h>

#include "../../lib/fence.h"
#include "harness.h"

enum {
    CANARY_BYTES = 64, /* one cache line: also what a vector store may overrun by */
    CANARY_VALUE = 0xA5,
    TEXT_BYTES = 240,
    REPORT_TAG = 1,
};

/** What a rank tells rank 0 at the end of a case. */
typedef struct report {
    unsigned failures;
    char text[TEXT_BYTES];
} report_t;

static MPI_Comm report_comm = MPI_COMM_NULL;
static report_t pending;
static unsigned cases_printed;
int world_rank;
int world_ranks;

void tap_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    tap_start();
}

void tap_start(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &report_comm);
    memset(&pending, 0, sizeof pending);
}

static void fail_with(const char *format, va_list arguments)
{
    if (pending.failures == 0) {
        vsnprintf(pending.text, sizeof pending.text, format, arguments);
    }
    pending.failures++;
}

void tap_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fail_with(format, arguments);
    va_end(arguments);
}

bool tap_check(bool good, const char *format, ...)
{
    va_list arguments;

    if (!good) {
        va_start(arguments, format);
        fail_with(format, arguments);
        va_end(arguments);
    }
    return good;
}

/* Rank 0: all reports in rank order; returns how many ranks failed and prints what they saw. */
static unsigned collect_reports(char *details, size_t details_bytes)
{
    unsigned failed_ranks = 0;
    size_t used_bytes = 0;

    details[0] = '\0';
    for (int rank = 0; rank < world_ranks; rank++) {
        report_t report = pending;

        if (rank > 0) {
            MPI_Recv(&report, (int) sizeof report, MPI_BYTE, rank, REPORT_TAG, report_comm,
                     MPI_STATUS_IGNORE);
        }
        if (report.failures == 0) {
            continue;
        }
        failed_ranks++;
        if (used_bytes < details_bytes) {
            int written = snprintf(details + used_bytes, details_bytes - used_bytes,
                                   "#   rank %d, %u failures, first: %s\n", rank, report.failures,
                                   report.text);
            used_bytes += written > 0 ? (size_t) written : 0;
        }
    }
    return failed_ranks;
}

void tap_case(const char *format, ...)
{
    char details[8 * TEXT_BYTES];
    va_list arguments;

    if (world_rank != 0) {
        MPI_Send(&pending, (int) sizeof pending, MPI_BYTE, 0, REPORT_TAG, report_comm);
    } else {
        unsigned failed_ranks = collect_reports(details, sizeof details);

        printf("%s %u - ", failed_ranks == 0 ? "ok" : "not ok", ++cases_printed);
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n%s", details);
        fflush(stdout);
    }
    memset(&pending, 0, sizeof pending);
}

void tap_skip(const char *description, const char *reason)
{
    if (world_rank == 0) {
        printf("ok %u - %s # SKIP %s\n", ++cases_printed, description, reason);
        fflush(stdout);
    }
    memset(&pending, 0, sizeof pending);
}

void tap_note(const char *format, ...)
{
    va_list arguments;

    if (world_rank == 0) {
        printf("# ");
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
        fflush(stdout);
    }
}

void tap_finish(void)
{
    if (world_rank == 0) {
        printf("1..%u\n", cases_printed);
        fflush(stdout);
    }
    MPI_Comm_free(&report_comm);
}

int tap_end(void)
{
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}

void take_options(int argc, char **argv, const option_row_t *rows)
{
    const char *wrong = options_take(argc, argv, rows);

    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

void *must_alloc(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);

    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort();
    }
    return memory;
}

static size_t allocated_bytes(const guarded_t *guarded)
{
    return guarded->capacity_bytes + 2 * CANARY_BYTES + GUARDED_SHIFT_BYTES;
}

/** Only the vector may be touched. */
static void fence_vector(const guarded_t *guarded)
{
    fence(guarded->base, allocated_bytes(guarded),
          guarded->base + guarded->shift_bytes + CANARY_BYTES, guarded->placed_bytes);
}

void guarded_init(guarded_t *guarded, size_t capacity_bytes)
{
    guarded->capacity_bytes = capacity_bytes;
    guarded->placed_bytes = 0;
    guarded->shift_bytes = 0;
    guarded->base = must_alloc(allocated_bytes(guarded));
}

void guarded_fini(guarded_t *guarded)
{
    free(guarded->base);
    guarded->base = NULL;
}

void *guarded_place_at(guarded_t *guarded, size_t bytes, size_t shift_bytes)
{
    unsigned char *front = guarded->base + shift_bytes;

    if (bytes > guarded->capacity_bytes || shift_bytes > GUARDED_SHIFT_BYTES) {
        fprintf(stderr, "vector of %zu bytes in a buffer of %zu\n", bytes, guarded->capacity_bytes);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    guarded->placed_bytes = bytes;
    guarded->shift_bytes = shift_bytes;
    fence_open(guarded->base, allocated_bytes(guarded));
    memset(front, CANARY_VALUE, CANARY_BYTES);
    memset(front + CANARY_BYTES + bytes, CANARY_VALUE, CANARY_BYTES);
    fence_vector(guarded);
    return front + CANARY_BYTES;
}

void *guarded_place(guarded_t *guarded, size_t bytes)
{
    return guarded_place_at(guarded, bytes, 0);
}

bool guarded_intact(const guarded_t *guarded)
{
    const unsigned char *front = guarded->base + guarded->shift_bytes;
    const unsigned char *behind = front + CANARY_BYTES + guarded->placed_bytes;
    bool intact = true;

    fence_open(guarded->base, allocated_bytes(guarded));
    for (size_t i = 0; i < CANARY_BYTES; i++) {
        intact = intact && front[i] == CANARY_VALUE && behind[i] == CANARY_VALUE;
    }
    fence_vector(guarded);
    return intact;
}

void harness_free_at(void *pointer)
{
    free(*(void **) pointer);
}

bool tap_check_same(const void *data, size_t bytes, MPI_Comm comm)
{
    SCOPED void *first = must_alloc(bytes + 1);

    memcpy(first, data, bytes);
    MPI_Bcast(first, (int) bytes, MPI_BYTE, 0, comm);
    return tap_check(0 == memcmp(first, data, bytes), "other bytes than rank 0");
}

void set_key(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

const char *key_of(MPI_Comm comm, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    MPI_Info info;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    if (!found) {
        value[0] = '\0';
    }
    return value;
}

MPI_Comm dup_of(MPI_Comm comm)
{
    MPI_Comm dup;

    MPI_Comm_dup(comm, &dup);
    return dup;
}

MPI_Comm dup_with_key(const char *key, const char *value)
{
    MPI_Comm comm;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}
