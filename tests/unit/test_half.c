/*
 * 16-bit floats in vectors: every value in every place of every step of a kernel, ties and what is
 * just beside them, every count of elements up to a few vectors with nothing mapped behind them, in
 * place or not; under every rounding mode, and where subnormals are flushed.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fenv.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "unit.h"
#include "float_env.h"
#include "half.h"
#include "reduce.h"
#include "reduce_oracle.h"

enum {
    SEED = 20261122,
    PATTERNS = 1 << 16,
    PLACES = 128, /* numbers of the longest step of any kernel */
    LENGTH = PATTERNS + PLACES,
    PARTS = 3,
    COUNT_MAX = 200,
};

static const arc_isa_t isas[] = {ARC_ISA_SCALAR, ARC_ISA_AVX2, ARC_ISA_AVX512, ARC_ISA_AVX512_BF16};
static const arc_type_t types[] = {ARC_TYPE_BF16, ARC_TYPE_FP16};
enum { ISAS = sizeof isas / sizeof isas[0], TYPES = sizeof types / sizeof types[0] };

static const char *type_name(arc_type_t type)
{
    return ARC_TYPE_BF16 == type ? "bf16" : "fp16";
}

static bool runs_here(arc_isa_t isa)
{
    return arc_cpu_isa(isa) == isa;
}

/* ---- what every value meets ---- */

/* A number `steps` exponents below x, or 0: half a last place of x, if that is a half. */
static uint16_t below(uint16_t x, unsigned fraction_bits, unsigned steps)
{
    const unsigned exponent = (x & 0x7fffu) >> fraction_bits;
    const unsigned magnitude = exponent > steps ? (exponent - steps) << fraction_bits : 0;
    return (uint16_t) ((x & 0x8000u) | magnitude);
}

/* What x meets. */
typedef enum partner {
    ZERO,
    MINUS_ZERO,
    ITSELF,
    LESS_THE_NEXT,
    ANY,
    HALF_PLACE,
    LESS,
    MORE
} partner_t;

static uint16_t partner_of(partner_t partner, uint16_t x, unsigned fraction_bits)
{
    switch (partner) {
    case MINUS_ZERO:
        return 0x8000;
    case ITSELF:
        return x;
    case LESS_THE_NEXT: /* the sum is the last place of x, negative: subnormal for the smallest */
        return (uint16_t) ((x ^ 0x8000u) + 1);
    case ANY: /* an odd factor, near 2^16 over the golden ratio: all pairs mixed */
        return (uint16_t) (x * 40503u + 12);
    case HALF_PLACE:
        return below(x, fraction_bits, fraction_bits + 1);
    case LESS:
        return below(x ^ 0x8000u, fraction_bits, fraction_bits + 4);
    case MORE:
        return below(x, fraction_bits, fraction_bits + 4);
    default:
        return 0;
    }
}

static const struct meeting {
    const char *name;
    arc_op_t op;
    unsigned n;
    partner_t partner[PARTS - 1];
} meetings[] = {
    {"plus minus zero", ARC_OP_SUM, 2, {MINUS_ZERO}},
    {"plus zero", ARC_OP_SUM, 2, {ZERO}},
    {"plus itself", ARC_OP_SUM, 2, {ITSELF}},
    {"plus any", ARC_OP_SUM, 2, {ANY}},
    {"less the next one", ARC_OP_SUM, 2, {LESS_THE_NEXT}},
    {"plus half a place", ARC_OP_SUM, 2, {HALF_PLACE}},
    {"plus half a place and more", ARC_OP_SUM, 3, {HALF_PLACE, MORE}},
    {"plus half a place and less", ARC_OP_SUM, 3, {HALF_PLACE, LESS}},
    {"times any", ARC_OP_PROD, 2, {ANY}},
    {"or any larger", ARC_OP_MAX, 2, {ANY}},
    {"or any smaller", ARC_OP_MIN, 2, {ANY}},
};
enum { MEETINGS = sizeof meetings / sizeof meetings[0] };

typedef struct half_case {
    const struct meeting *meeting;
    arc_type_t type;
    arc_isa_t isa;
} half_case_t;

/* All values, and the first ones again. */
static uint16_t part[PARTS][LENGTH];

static void fill_parts(const half_case_t *row)
{
    const unsigned fraction_bits = ARC_TYPE_BF16 == row->type ? 7 : 10;

    for (size_t i = 0; i < LENGTH; ++i) {
        part[0][i] = (uint16_t) i;
        for (unsigned k = 1; k < row->meeting->n; ++k) {
            part[k][i] = partner_of(row->meeting->partner[k - 1], (uint16_t) i, fraction_bits);
        }
    }
}

static void expect(const half_case_t *row, uint16_t expected[LENGTH])
{
    const void *const parts[] = {part[0], part[1], part[2]};

    for (size_t i = 0; i < LENGTH; ++i) {
        reduce_oracle(row->type)(row->meeting->op, parts, row->meeting->n, expected, i);
    }
}

/* All values from the one at `first` on, `piece` in each call, into the part `place` if it is one.
 */
static void reduce_pieces(const half_case_t *row, size_t first, size_t piece, unsigned place,
                          uint16_t out[LENGTH])
{
    const unsigned n = row->meeting->n;
    const arc_reduce_fn_t reduce =
        arc_reduce_kernel(arc_reduce_table(row->isa), row->meeting->op, row->type);
    const void *parts[PARTS];

    if (place < n) {
        memcpy(out, part[place], sizeof part[place]);
    }
    for (size_t at = first; at < first + PATTERNS; at += piece) {
        for (unsigned k = 0; k < n; ++k) {
            parts[k] = k == place ? out + at : part[k] + at;
        }
        reduce(parts, n, out + at, piece, NULL);
    }
}

static void every_value_in_every_place(void **state)
{
    static const size_t pieces[] = {1, 2, 4, 8, 16, 32, 64, PLACES};
    static uint16_t expected[LENGTH], out[LENGTH];
    const half_case_t *row = *state;

    if (!runs_here(row->isa)) {
        skip();
    }
    fill_parts(row);
    expect(row, expected);
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; ++p) {
        for (size_t first = 0; first < pieces[p]; ++first) {
            const unsigned place = (unsigned) (first % (row->meeting->n + 1));
            memset(out, 0, sizeof out);
            reduce_pieces(row, first, pieces[p], place, out);
            assert_memory_equal(expected + first, out + first, PATTERNS * sizeof out[0]);
        }
    }
}

/* ---- the floating-point environment ---- */

enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40 }; /* results, operands */

static void flush(unsigned what)
{
#if defined(__SSE2__)
    _mm_setcsr((_mm_getcsr() & ~(unsigned) (FLUSH_TO_ZERO | DENORMALS_ARE_ZERO)) | what);
#elif defined(__aarch64__)
    enum { FZ = 1 << 24 }; /* both */
    (void) arc_float_mode_enter((arc_float_mode_get() & ~(uint64_t) FZ) | (0 != what ? FZ : 0));
#else
    (void) what; /* nothing can be flushed */
#endif
}

/* Of sums no conversion loses anything: the float sum alone depends on rounding and flushing. */
TEST(sums_are_alike_in_every_environment)
{
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
    static const unsigned flushes[] = {0, FLUSH_TO_ZERO, DENORMALS_ARE_ZERO,
                                       FLUSH_TO_ZERO | DENORMALS_ARE_ZERO};
    static uint16_t out[ISAS][LENGTH];

    for (size_t i = 0; i < TYPES * MEETINGS; ++i) {
        half_case_t row = {.meeting = &meetings[i / TYPES], .type = types[i % TYPES]};
        fill_parts(&row);
        for (size_t m = 0; ARC_OP_SUM == row.meeting->op && m < 4 * 4; ++m) {
            assert_int_equal(0, fesetround(modes[m % 4]));
            flush(flushes[m / 4]);
            for (size_t s = 0; s < ISAS; ++s) {
                row.isa = arc_cpu_isa(isas[s]);
                reduce_pieces(&row, 0, PLACES, PARTS, out[s]);
            }
            flush(0);
            assert_int_equal(0, fesetround(FE_TONEAREST));
            for (size_t s = 1; s < ISAS; ++s) {
                assert_memory_equal(out[0], out[s], PATTERNS * sizeof out[s][0]);
            }
        }
    }
}

TEST(a_program_that_flushes_subnormals_gets_all_fp16_numbers)
{
    static uint16_t expected[LENGTH], out[LENGTH];

    for (size_t i = 0; i < MEETINGS * ISAS; ++i) {
        const half_case_t row = {
            .meeting = &meetings[i / ISAS], .type = ARC_TYPE_FP16, .isa = isas[i % ISAS]};
        if (runs_here(row.isa)) {
            fill_parts(&row);
            expect(&row, expected);
            flush(FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
            reduce_pieces(&row, 0, PLACES, PARTS, out);
            flush(0);
            assert_memory_equal(expected, out, PATTERNS * sizeof out[0]);
        }
    }
}

/* ---- every count ---- */

/* The last `bytes` bytes in front of memory that cannot be accessed. */
typedef struct fenced {
    unsigned char *pages;
    size_t page_bytes;
} fenced_t;

static fenced_t fenced_new(void)
{
    const size_t page_bytes = (size_t) sysconf(_SC_PAGESIZE);
    fenced_t fenced = {.page_bytes = page_bytes};
    void *pages =
        mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(MAP_FAILED != pages);
    fenced.pages = pages;
    assert_int_equal(0, mprotect(fenced.pages + page_bytes, page_bytes, PROT_NONE));
    return fenced;
}

static void fenced_free(fenced_t *fenced)
{
    assert_int_equal(0, munmap(fenced->pages, 2 * fenced->page_bytes));
}

static void *fenced_last(const fenced_t *fenced, size_t bytes)
{
    return fenced->pages + fenced->page_bytes - bytes;
}

enum { CANARY_BYTES = 64 };

static void poison(void *data, size_t bytes)
{
    memset((unsigned char *) data - CANARY_BYTES, TEST_POISON, bytes + CANARY_BYTES);
}

static bool intact(const void *data)
{
    unsigned char canary[CANARY_BYTES];
    memset(canary, TEST_POISON, sizeof canary);
    return 0 == memcmp(canary, (const unsigned char *) data - CANARY_BYTES, sizeof canary);
}

static void check_count(const half_case_t *row, const fenced_t fenced[PARTS + 1], size_t count,
                        test_random_t *random)
{
    const arc_reduce_fn_t reduce =
        arc_reduce_kernel(arc_reduce_table(row->isa), row->meeting->op, row->type);
    const size_t bytes = count * sizeof(uint16_t);
    uint16_t expected[COUNT_MAX + 1];
    const void *parts[PARTS];

    for (unsigned place = 0; place <= PARTS; ++place) {
        for (unsigned k = 0; k < PARTS; ++k) {
            void *data = fenced_last(&fenced[k], bytes);
            poison(data, bytes);
            reduce_fill(row->type, random, data, count, bytes);
            parts[k] = data;
        }
        void *out = fenced_last(&fenced[place], bytes);
        if (PARTS == place) {
            poison(out, bytes);
        }
        for (size_t i = 0; i < count; ++i) {
            reduce_oracle(row->type)(row->meeting->op, parts, PARTS, expected, i);
        }
        reduce(parts, PARTS, out, count, NULL);
        assert_memory_equal(expected, out, bytes);
        assert_true(intact(out));
    }
}

TEST(every_count_ends_where_it_ends)
{
    fenced_t fenced[PARTS + 1];
    test_random_t random = test_random_of(SEED, 0);

    for (unsigned k = 0; k <= PARTS; ++k) {
        fenced[k] = fenced_new();
    }
    for (size_t i = 0; i < MEETINGS * TYPES * ISAS; ++i) {
        const half_case_t row = {.meeting = &meetings[i / ISAS / TYPES],
                                 .type = types[i / ISAS % TYPES],
                                 .isa = isas[i % ISAS]};
        for (size_t count = 0; runs_here(row.isa) && count <= COUNT_MAX; ++count) {
            check_count(&row, fenced, count, &random);
        }
    }
    for (unsigned k = 0; k <= PARTS; ++k) {
        fenced_free(&fenced[k]);
    }
}

/* ---- conversions ---- */

TEST(every_count_converts)
{
    const fenced_t halves = fenced_new();
    const fenced_t floats = fenced_new();
    test_random_t random = test_random_of(SEED, 1);
    uint16_t narrowed[COUNT_MAX + 1];
    float widened[COUNT_MAX + 1];

    for (size_t i = 0; i < TYPES * ISAS * (COUNT_MAX + 1); ++i) {
        const arc_type_t type = types[i / ISAS % TYPES];
        const arc_half_t kernels = arc_half_select(type, arc_cpu_isa(isas[i % ISAS]));
        const arc_half_t scalar = arc_half_select(type, ARC_ISA_SCALAR);
        const size_t count = i / ISAS / TYPES;
        uint16_t *half = fenced_last(&halves, count * sizeof *half);
        float *number = fenced_last(&floats, count * sizeof *number);

        reduce_fill(type, &random, half, count, count * sizeof *half);
        scalar.widen(half, widened, count);
        poison(number, count * sizeof *number);
        kernels.widen(half, number, count);
        assert_memory_equal(widened, number, count * sizeof *number);
        assert_true(intact(number));

        reduce_fill(ARC_TYPE_UINT32, &random, number, count, count * sizeof *number);
        scalar.narrow(number, narrowed, count);
        poison(half, count * sizeof *half);
        kernels.narrow(number, half, count);
        assert_memory_equal(narrowed, half, count * sizeof *half);
        assert_true(intact(half));
    }
    fenced_free((fenced_t *) &halves);
    fenced_free((fenced_t *) &floats);
}

/* The upper halves of all floats, with lower ones around where rounding and NaNs change. */
TEST(every_float_narrows_in_every_place)
{
    static const uint16_t lower[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000,
                                     0x3001, 0x7fff, 0x8000, 0x8001, 0xefff, 0xf000, 0xffff};
    static float number[LENGTH];
    static uint16_t expected[LENGTH], half[LENGTH];

    for (size_t i = 0; i < TYPES * sizeof lower / sizeof lower[0]; ++i) {
        const arc_type_t type = types[i % TYPES];
        for (uint32_t f = 0; f < LENGTH; ++f) {
            const uint32_t bits = f << 16 | lower[i / TYPES];
            memcpy(&number[f], &bits, sizeof bits);
        }
        arc_half_select(type, ARC_ISA_SCALAR).narrow(number, expected, LENGTH);
        for (size_t s = 1; s < ISAS && runs_here(isas[s]); ++s) {
            for (size_t first = 0; first < PLACES; ++first) {
                memset(half, 0, sizeof half);
                arc_half_select(type, isas[s]).narrow(number + first, half + first, PATTERNS);
                assert_memory_equal(expected + first, half + first, PATTERNS * sizeof half[0]);
            }
        }
    }
}

TEST(every_half_widens_in_every_place)
{
    static float expected[LENGTH], number[LENGTH];

    for (size_t i = 0; i < LENGTH; ++i) {
        part[0][i] = (uint16_t) i;
    }
    for (size_t i = 0; i < TYPES; ++i) {
        arc_half_select(types[i], ARC_ISA_SCALAR).widen(part[0], expected, LENGTH);
        for (size_t s = 1; s < ISAS && runs_here(isas[s]); ++s) {
            for (size_t first = 0; first < PLACES; ++first) {
                memset(number, 0, sizeof number);
                arc_half_select(types[i], isas[s]).widen(part[0] + first, number + first, PATTERNS);
                assert_memory_equal(expected + first, number + first, PATTERNS * sizeof number[0]);
            }
        }
    }
}

int main(void)
{
    for (size_t i = 0; i < MEETINGS * TYPES * ISAS; ++i) {
        const half_case_t row = {.meeting = &meetings[i / ISAS / TYPES],
                                 .type = types[i / ISAS % TYPES],
                                 .isa = isas[i % ISAS]};
        unit_add_row(every_value_in_every_place, &row, sizeof row,
                     "every_value_in_every_place %s %s %s", arc_isa_name(row.isa),
                     type_name(row.type), row.meeting->name);
    }
    printf("# seed %d, best instruction set %s\n", SEED, arc_isa_name(arc_cpu_isa(ARC_ISA_BEST)));
    return unit_run("16-bit floats");
}
