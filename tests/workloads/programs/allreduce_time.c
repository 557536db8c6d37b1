/*
 * What a program spends in allreduces: a library that is preloaded into each rank and sits between
 * the program and MPI (PMPI). The program stays as it is.
 *
 *     mpirun -x LD_PRELOAD=.../allreduce_time.so -x ARC_ALLREDUCE_TIME=FILE -n 4 PROGRAM
 *
 * It counts MPI_Allreduce, called from C or Fortran, and MPI_Iallreduce, also those of MPI_Count
 * elements, by the bytes of the vector, and adds up the seconds that the rank is inside: of a
 * nonblocking one, in MPI_Iallreduce and in the MPI_Wait for it. Other calls that complete one
 * (MPI_Test, MPI_Waitall) are not seen. At MPI_Finalize rank 0 writes to FILE, tab-separated, for
 * each rank, kind, and class of lengths:
 *
 *     rank  kind  up_to_bytes  calls  seconds  compared_seconds  waited_seconds
 *
 * With ARC_ARRIVALS=1 each rank also keeps the times of its calls on communicators of all ranks.
 * The k-th such call of one rank is the k-th of all, since none of them ends before all ranks have
 * begun it. At the end the ranks learn when the last of them began call k. A rank that was inside
 * before has waited until then, whatever adds: waited_seconds is what no faster allreduce can save,
 * and compared_seconds the time of the calls this is known of; 0 without ARC_ARRIVALS. The ranks
 * must share a clock, so they must be on one machine; the nodes of tests/cluster are.
 *
 * Two readings of the clock, 50 ns, are what a call pays. Not for ranks with several threads in
 * MPI.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum kind { BLOCKING, NONBLOCKING, KINDS } kind_t;

static const char *const kind_names[KINDS] = {"allreduce", "iallreduce"};
static const double class_bytes[] = {8, 64, 1024, 16384, 262144, 4194304, 0 /* longer */};

enum {
    CLASSES = sizeof(class_bytes) / sizeof(*class_bytes),
    MAX_PENDING = 64,          /* nonblocking calls that are followed at a time */
    FIRST_CALLS = 4096,        /* room for; doubled when full */
    REDUCED_AT_ONCE = 1 << 20, /* calls, when the ranks compare them */
    MACHINE_CHARS = 64,
};

/* All are doubles, so that one gather collects them. */
typedef struct sum {
    double calls;
    double seconds;
    double compared_seconds;
    double waited_seconds;
} sum_t;

/* Seconds of the machine's clock: when the rank began, from when on it was inside, and the end. */
typedef struct call {
    double began;
    double inside;
    double ended;
    sum_t *sum;
} call_t;

typedef struct pending {
    MPI_Request request;
    sum_t *sum;
    long number; /* in calls, or -1 */
} pending_t;

static struct {
    sum_t sums[KINDS][CLASSES];
    pending_t pending[MAX_PENDING];
    int pending_count;
    call_t *calls; /* with ARC_ARRIVALS */
    size_t call_count;
    size_t call_room;
    bool arrivals;
    bool compared;
} state;

static double now(void)
{
    const double per_ns = 1e-9;
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * per_ns;
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "allreduce_time: %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

__attribute__((constructor)) static void begin(void)
{
    const char *arrivals = getenv("ARC_ARRIVALS");

    state.arrivals = arrivals && strcmp(arrivals, "1") == 0;
}

/* ---- what a call adds ---- */

static sum_t *sum_of(kind_t kind, double count, MPI_Datatype type)
{
    int type_bytes = 0;
    int row = 0;

    PMPI_Type_size(type, &type_bytes);
    const double bytes = count * type_bytes;
    while (row < CLASSES - 1 && bytes > class_bytes[row]) {
        row++;
    }
    return &state.sums[kind][row];
}

/* Its number, or -1 for a call that is not to be compared. */
static long note_begin(MPI_Comm comm, sum_t *sum, double began)
{
    int ranks = 0;
    int world = 0;

    if (!state.arrivals) {
        return -1;
    }
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    if (ranks != world) {
        return -1;
    }
    if (state.call_count == state.call_room) {
        state.call_room = state.call_room ? 2 * state.call_room : FIRST_CALLS;
        state.calls = realloc(state.calls, state.call_room * sizeof(*state.calls));
        if (!state.calls) {
            fail("no memory for the times of so many calls; leave ARC_ARRIVALS away");
        }
    }
    state.calls[state.call_count] = (call_t){began, began, began, sum};
    return (long) state.call_count++;
}

static void add_seconds(sum_t *sum, long number, double inside, double ended)
{
    sum->seconds += ended - inside;
    if (number >= 0) {
        state.calls[number].inside = inside;
        state.calls[number].ended = ended;
    }
}

static pending_t *find_pending(MPI_Request request)
{
    for (int i = 0; i < state.pending_count; i++) {
        if (state.pending[i].request == request) {
            return &state.pending[i];
        }
    }
    return NULL;
}

static void note_pending(MPI_Request request, sum_t *sum, long number)
{
    pending_t *pending = find_pending(request); /* completed where nobody saw it */

    if (!pending && state.pending_count == MAX_PENDING) {
        fail("too many pending MPI_Iallreduce, or none is completed by MPI_Wait");
    }
    if (!pending) {
        pending = &state.pending[state.pending_count++];
    }
    *pending = (pending_t){request, sum, number};
}

/* ---- the calls ---- */

/* Of counts of each width: mpi4py counts by MPI_Count where the library has MPI 4. */
#define DEFINE_CALLS(_c, count_t)                                                                  \
    int MPI_Allreduce##_c(const void *in, void *out, count_t count, MPI_Datatype type, MPI_Op op,  \
                          MPI_Comm comm)                                                           \
    {                                                                                              \
        sum_t *const sum = sum_of(BLOCKING, (double) count, type);                                 \
        const double began = now();                                                                \
        const long number = note_begin(comm, sum, began);                                          \
        const int status = PMPI_Allreduce##_c(in, out, count, type, op, comm);                     \
                                                                                                   \
        sum->calls++;                                                                              \
        add_seconds(sum, number, began, now());                                                    \
        return status;                                                                             \
    }                                                                                              \
                                                                                                   \
    int MPI_Iallreduce##_c(const void *in, void *out, count_t count, MPI_Datatype type, MPI_Op op, \
                           MPI_Comm comm, MPI_Request *request)                                    \
    {                                                                                              \
        sum_t *const sum = sum_of(NONBLOCKING, (double) count, type);                              \
        const double began = now();                                                                \
        const long number = note_begin(comm, sum, began);                                          \
        const int status = PMPI_Iallreduce##_c(in, out, count, type, op, comm, request);           \
                                                                                                   \
        sum->calls++;                                                                              \
        sum->seconds += now() - began;                                                             \
        if (status == MPI_SUCCESS) {                                                               \
            note_pending(*request, sum, number);                                                   \
        }                                                                                          \
        return status;                                                                             \
    }

DEFINE_CALLS(, int)
#if MPI_VERSION >= 4
DEFINE_CALLS(_c, MPI_Count)
#endif

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const pending_t *const found = find_pending(*request);

    if (!found) {
        return PMPI_Wait(request, status);
    }
    const pending_t pending = *found;
    state.pending[found - state.pending] = state.pending[--state.pending_count];
    const double inside = now();
    const int result = PMPI_Wait(request, status);
    add_seconds(pending.sum, pending.number, inside, now());
    return result;
}

/* ---- the report ---- */

/* Of all ranks. Not by MPI_Allreduce, which is what the program's own calls are measured of. */
static void find_most(const double *own, double *most, int count)
{
    PMPI_Reduce(own, most, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Bcast(most, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/*
 * Whether the ranks' calls can be compared: all ranks have made as many, and run under one kernel,
 * and so have one clock.
 */
static bool is_comparable(void)
{
    char own[MACHINE_CHARS] = "";
    char first[MACHINE_CHARS];
    FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "r");
    const bool known = file && fgets(own, sizeof(own), file);

    if (file) {
        fclose(file);
    }
    memcpy(first, own, sizeof(own));
    PMPI_Bcast(first, MACHINE_CHARS, MPI_CHAR, 0, MPI_COMM_WORLD);
    const double calls = (double) state.call_count;
    const double facts[] = {calls, -calls, !known || strcmp(own, first) != 0};
    double most[3];
    find_most(facts, most, 3);
    return most[0] == -most[1] && most[2] == 0;
}

static void add_wait(const call_t *call, double last_began)
{
    const double until = last_began < call->ended ? last_began : call->ended;

    call->sum->compared_seconds += call->ended - call->inside;
    call->sum->waited_seconds += until > call->inside ? until - call->inside : 0;
}

static void compare_arrivals(void)
{
    double *const began = malloc(2 * REDUCED_AT_ONCE * sizeof(*began));

    if (!began) {
        fail("no memory to compare the calls; leave ARC_ARRIVALS away");
    }
    double *const last = began + REDUCED_AT_ONCE;
    for (size_t first = 0; first < state.call_count; first += REDUCED_AT_ONCE) {
        const size_t left = state.call_count - first;
        const int count = left < REDUCED_AT_ONCE ? (int) left : REDUCED_AT_ONCE;
        for (int i = 0; i < count; i++) {
            began[i] = state.calls[first + (size_t) i].began;
        }
        find_most(began, last, count);
        for (int i = 0; i < count; i++) {
            add_wait(&state.calls[first + (size_t) i], last[i]);
        }
    }
    free(began);
}

static void print_sums(FILE *file, int rank, const sum_t *sums)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (int row = 0; row < CLASSES; row++) {
            const sum_t *const sum = &sums[kind * CLASSES + row];
            char bytes[32] = "any";
            if (class_bytes[row] > 0) {
                snprintf(bytes, sizeof(bytes), "%.0f", class_bytes[row]);
            }
            if (sum->calls > 0) {
                fprintf(file, "%d\t%s\t%s\t%.0f\t%.6f\t%.6f\t%.6f\n", rank, kind_names[kind], bytes,
                        sum->calls, sum->seconds, sum->compared_seconds, sum->waited_seconds);
            }
        }
    }
}

static void write_report(int ranks, const sum_t *sums)
{
    const char *const path = getenv("ARC_ALLREDUCE_TIME");
    FILE *const file = path ? fopen(path, "w") : stderr;

    if (!file) {
        fail("cannot write the file that ARC_ALLREDUCE_TIME names");
    }
    fprintf(file, "# arrivals compared: %s\n", state.compared ? "yes" : "no");
    fprintf(file, "rank\tkind\tup_to_bytes\tcalls\tseconds\tcompared_seconds\twaited_seconds\n");
    for (int rank = 0; rank < ranks; rank++) {
        print_sums(file, rank, sums + (size_t) rank * KINDS * CLASSES);
    }
    if (path) {
        fclose(file);
    }
}

static void report(void)
{
    const int doubles = (int) (sizeof(state.sums) / sizeof(double));
    sum_t *sums = NULL;
    int rank = 0;
    int ranks = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (state.arrivals && is_comparable()) {
        compare_arrivals();
        state.compared = true;
    }
    if (rank == 0) {
        sums = malloc((size_t) ranks * sizeof(state.sums));
        if (!sums) {
            fail("no memory for the figures of all ranks");
        }
    }
    PMPI_Gather(state.sums, doubles, MPI_DOUBLE, sums, doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        write_report(ranks, sums);
    }
    free(sums);
    free(state.calls);
    state.calls = NULL;
}

int MPI_Finalize(void)
{
    report();
    return PMPI_Finalize();
}

/* ---- from Fortran, whose library calls PMPI ---- */

void mpi_allreduce_(void *in, void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
                    MPI_Fint *comm, MPI_Fint *status);
void mpi_finalize_(MPI_Fint *status);

typedef void allreduce_fn_t(void *, void *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                            MPI_Fint *);

/* The library knows Fortran's MPI_IN_PLACE. */
void mpi_allreduce_(void *in, void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
                    MPI_Fint *comm, MPI_Fint *status)
{
    static allreduce_fn_t *next;

    if (!next) {
        *(void **) &next = dlsym(RTLD_NEXT, "mpi_allreduce_");
        if (!next) {
            fail("no pmpi_allreduce_ in the program's MPI");
        }
    }
    sum_t *const sum = sum_of(BLOCKING, *count, PMPI_Type_f2c(*type));
    const double began = now();
    const long number = note_begin(PMPI_Comm_f2c(*comm), sum, began);
    next(in, out, count, type, op, comm, status);
    sum->calls++;
    add_seconds(sum, number, began, now());
}

void mpi_finalize_(MPI_Fint *status)
{
    *status = MPI_Finalize();
}
