/*
 * Quantized sums do not depend on the floating-point environment of the program: for each
 * environment of a table, and each format named, the first call of a communicator, in which all is
 * chosen and set up.  The bytes are those of the usual environment, on all ranks; nothing traps;
 * and each rank finds its environment as it left it.
 *
 *   fenv [-u] [FORMAT ...]
 *   -u     nothing but sums of MPI_UINT16_T as fp16 numbers, smaller than any normal one: the same
 *          bits on all ranks in every environment
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE /* feenableexcept */
#include "config.h"

#include <fenv.h>
#include <float.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "harness.h"

enum {
    STRETCH = 512, /* several blocks of 64 with numbers of one kind */
    KINDS = 5,
};

/* Numbers that make every exception: ordinary, denormal, huge (sums overflow), zero, not finite. */
static float input(int rank, int i)
{
    const uint64_t bits = draw_bits(61, (unsigned) rank, (uint64_t) i);
    const float unit = (float) ((int32_t) (bits >> 32)) / 2147483648.0f;

    switch (i / STRETCH % KINDS) {
    case 0:
        return unit;
    case 1:
        return unit * FLT_MIN * 0.25f;
    case 2:
        return bits % 2 == 0 ? FLT_MAX : unit * FLT_MAX;
    case 3:
        return 0.0f;
    default:
        return bits % 61 == 0 ? INFINITY : bits % 67 == 0 ? -INFINITY : unit;
    }
}

/* What of the environment must survive: all but the flags of exceptions that have happened. */
static unsigned read_environment(void)
{
#if defined(__x86_64__)
    const unsigned flags = 0x3f;
    return (_mm_getcsr() & ~flags) | (unsigned) fegetround() << 16; /* of x87, too */
#else
    return (unsigned) fegetround();
#endif
}

#if defined(__x86_64__)
/* Bits of MXCSR. */
enum { DENORMALS_ARE_ZERO = 1u << 6, DENORMAL_MASKED = 1u << 8, FLUSH_TO_ZERO = 1u << 15 };
#endif

static void flush_denormals(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
#endif
}

/* Every exception there is ends the program, that of a denormal operand too. */
static void trap_all(void)
{
#ifdef __GLIBC__
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
#endif
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() & ~(unsigned) DENORMAL_MASKED);
#endif
}

static void round_by_rank(void)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    fesetround(modes[world_rank % 4]);
}

static void be_odd_by_rank(void)
{
    if (world_rank == 0) {
        fesetround(FE_UPWARD);
    }
    if (world_rank == 1) {
        flush_denormals();
    }
#ifdef __GLIBC__
    if (world_rank == 2) {
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    }
#endif
}

enum { EVERY_RANK = -1 };

static const struct {
    const char *name;
    int rank; /* of which the environment is changed */
    void (*change)(void);
} environments[] = {
    {"the usual one", EVERY_RANK, NULL},
    {"denormals are zero on rank 0", 0, flush_denormals},
    {"denormals are zero on rank 1", 1, flush_denormals},
    {"denormals are zero", EVERY_RANK, flush_denormals},
    {"each rank rounds in another way", EVERY_RANK, round_by_rank},
    {"rank 0 traps", 0, trap_all},
    {"all ranks trap", EVERY_RANK, trap_all},
    {"one rounds, one flushes, one traps", EVERY_RANK, be_odd_by_rank},
};

/* Enter the i-th one; the one before it. */
static fenv_t enter_environment(size_t i)
{
    const int rank = environments[i].rank;
    fenv_t usual;

    fegetenv(&usual);
    if (environments[i].change != NULL && (rank == EVERY_RANK || rank == world_rank)) {
        environments[i].change();
    }
    return usual;
}

/* A new communicator's first call, in each environment of the table. */
static void check_first_calls(const char *format, const void *send, int elems, MPI_Datatype type)
{
    const size_t bytes = (size_t) elems * (MPI_FLOAT == type ? sizeof(float) : sizeof(uint16_t));
    SCOPED void *expected = must_alloc(bytes);
    SCOPED void *result = must_alloc(bytes);

    for (size_t i = 0; i < sizeof environments / sizeof environments[0]; i++) {
        MPI_Comm comm = format == NULL ? dup_of(MPI_COMM_WORLD) : dup_with_key("arc_quant", format);

        memset(result, 0, bytes);
        const fenv_t usual = enter_environment(i);
        const unsigned before = read_environment();
        MPI_Allreduce(send, result, elems, type, MPI_SUM, comm);
        const unsigned after = read_environment();
        fesetenv(&usual);
        tap_check(before == after, "%s: control bits %#x became %#x", environments[i].name, before,
                  after);
        tap_check_same(result, bytes, MPI_COMM_WORLD);
        if (i == 0) {
            memcpy(expected, result, bytes);
        }
        tap_check(memcmp(expected, result, bytes) == 0,
                  "%s: bytes differ from those of the usual one", environments[i].name);
        MPI_Comm_free(&comm);
    }
}

/* Their sums are exact as floats; when quantized, they have to be rounded to 16 bits. */
static void check_halves(void)
{
    enum { ELEMS = 3001, FIRST_NORMAL = 0x400, SIGN_SHIFT = 15 };
    uint16_t send[ELEMS];

    for (int i = 0; i < ELEMS; i++) {
        const uint64_t bits = draw_bits(67, (unsigned) world_rank, (uint64_t) i);
        send[i] = (uint16_t) (bits % FIRST_NORMAL | bits >> 63 << SIGN_SHIFT);
    }
    check_first_calls(NULL, send, ELEMS, MPI_UINT16_T);
    tap_case("16-bit floats have the same bits in every environment");
}

int main(int argc, char **argv)
{
    enum { ELEMS = 200003, ELEMS_OF_FORMATS = 5003 };
    bool halves = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('u', halves));
    if (halves) {
        check_halves();
        return tap_end();
    }
    SCOPED float *send = must_alloc(ELEMS * sizeof *send);

    for (int i = 0; i < ELEMS; i++) {
        send[i] = input(world_rank, i);
    }
    check_first_calls("on", send, ELEMS, MPI_FLOAT);
    tap_case("the same bytes on all ranks, whatever the environment, which each finds again");
    for (; optind < argc; optind++) {
        check_first_calls(argv[optind], send, ELEMS_OF_FORMATS, MPI_FLOAT);
        tap_case("%s is chosen and set up alike in every environment", argv[optind]);
    }
    return tap_end();
}
