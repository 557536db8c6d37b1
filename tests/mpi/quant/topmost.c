/*
 * Quantized sums of 16-bit floats near the largest of them: what is finite stays finite, although
 * the error may push it over the largest number; what has to be infinite is infinite; infinities
 * and NaN of the program stay.  All ranks have the same bits.
 *
 *   -f TYPE   bf16 or fp16
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "half_oracle.h"
#include "harness.h"

enum {
    ELEMS = 70001,
    STRETCH = 9000, /* some tiles of each kind */
    CALLS = 4,
    SEED = 83,
};

static const half_format_t *half;
static bool has_infinities; /* there is no bound then: what is finite may come out as infinite */

static uint16_t infinite(void)
{
    return (uint16_t) (half->top_exponent << half->fraction_bits);
}

static uint16_t largest(void)
{
    return (uint16_t) (infinite() - 1);
}

/* One rank has the largest number or one a little below it, the others nothing much. */
static uint16_t near_the_top(int of_rank, int i)
{
    const uint64_t bits = draw_bits(SEED, 0, (uint64_t) i);

    return of_rank != (int) (bits % (unsigned) world_ranks) ? 0
           : bits >> 60 == 0                                ? largest()
                             : (uint16_t) (largest() - (bits >> 32) % 200);
}

static uint16_t part(int of_rank, int i)
{
    switch (i / STRETCH % 4) {
    case 0: /* small numbers */
        return (uint16_t) (draw_bits(SEED, (unsigned) of_rank, (uint64_t) i) % infinite() / 2);
    case 1:
        return near_the_top(of_rank, i);
    case 2: /* as many times as there are ranks: infinite */
        return largest();
    default: /* the program's own */
        return has_infinities && i % STRETCH == STRETCH / 2 && of_rank == 0 ? infinite() : 0;
    }
}

static void check_result(const uint16_t *result)
{
    tap_check_same(result, ELEMS * sizeof *result, MPI_COMM_WORLD);
    for (int i = 0; i < ELEMS; i++) {
        double sum = 0;

        for (int of_rank = 0; of_rank < world_ranks; of_rank++) {
            sum += half_number(half, part(of_rank, i));
        }
        const bool finite = half_round(half, sum) != infinite();
        const bool is_finite = (result[i] & 0x7fff) < infinite();
        tap_check(finite ? is_finite || has_infinities : !is_finite, "element %d: 0x%04x for %g", i,
                  result[i], sum);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    const char *half_name = "";
    TAKE_OPTIONS(OPTION('f', half_name));
    half = half_by_name(half_name);
    if (half == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    SCOPED uint16_t *send = must_alloc(ELEMS * sizeof *send);
    SCOPED uint16_t *receive = must_alloc(ELEMS * sizeof *receive);

    for (int call = 0; call < CALLS; call++) {
        has_infinities = call >= CALLS / 2;
        for (int i = 0; i < ELEMS; i++) {
            send[i] = part(world_rank, i);
        }
        MPI_Allreduce(send, receive, ELEMS, MPI_UINT16_T, MPI_SUM, MPI_COMM_WORLD);
        check_result(receive);
        tap_case("call %d of %s: infinite where the sum is%s", call, half->name,
                 has_infinities ? "" : ", and finite where it is");
    }
    return tap_end();
}
