/*
 * The performance variables that are bound to a communicator: each tells of the calls on its own,
 * and whether the last one was quantized, and why not.
 *
 * coll_quant is off but for the key arc_quant.
 *
 *   -r   it is on, with coll_quant_target_rel 1e-2
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "pvars.h"

enum {
    ELEMS = 70001, /* from 256 KiB on sums are quantized */
    FEW = 100,
};

static const char *const names[] = {
    "coll_quant_comm_last_call",      "coll_quant_comm_last_bound", "coll_quant_comm_worst_bound",
    "coll_quant_comm_verified_calls", "coll_quant_comm_last_nmse",  "coll_quant_comm_worst_nmse",
};
enum { LAST_CALL, LAST_BOUND, WORST_BOUND, VERIFIED_CALLS, LAST_NMSE, WORST_NMSE, PVARS };

enum {
    VERIFY_EVERY = 3
}; /* coll_quant_verify_every; int8 is below coll_quant_max_nmse, int4 is not */

typedef struct watched {
    MPI_Comm comm;
    pvar_t pvars[PVARS];
} watched_t;

static float data[ELEMS];
static float unit = 1;

static void watch(watched_t *watched, MPI_Comm comm)
{
    watched->comm = comm;
    for (int p = 0; p < PVARS; p++) {
        tap_check(pvar_open(&watched->pvars[p], names[p], &watched->comm),
                  "%s is not there, or not as it should be", names[p]);
    }
}

static void unwatch(watched_t *watched)
{
    for (int p = 0; p < PVARS; p++) {
        pvar_close(&watched->pvars[p]);
    }
}

static double read_one(const watched_t *watched, int which)
{
    return pvar_read(&watched->pvars[which]);
}

static void expect(const watched_t *watched, int which, double value)
{
    tap_check(read_one(watched, which) == value, "%s is %g, not %g", names[which],
              read_one(watched, which), value);
}

/* The last call was `what`, quantized or a reason. */
static void expect_last(const watched_t *watched, const char *what)
{
    const pvar_t *last = &watched->pvars[LAST_CALL];
    char name[PVAR_NAME_BYTES];

    pvar_name(last, (int) pvar_read(last), name);
    tap_check(strcmp(name, what) == 0, "the last call is \"%s\", not \"%s\"", name, what);
    tap_check((pvar_read(last) == 1) == (strcmp(what, "quantized") == 0), "\"%s\" is %g", what,
              pvar_read(last));
}

static void sum(MPI_Comm comm, int elems, MPI_Op op)
{
    for (int i = 0; i < elems; i++) {
        data[i] = unit * (float) (draw_bits(113, (unsigned) world_rank, (uint64_t) i) % (1 << 20));
    }
    MPI_Allreduce(MPI_IN_PLACE, data, elems, MPI_FLOAT, op, comm);
}

static void check_two(const watched_t *a, const watched_t *b)
{
    MPI_Request request;

    expect_last(a, "none");
    expect(a, VERIFIED_CALLS, 0);
    tap_case("nothing is told of a communicator without calls");

    set_key(a->comm, "arc_quant", "on");
    set_key(b->comm, "arc_quant", "int4");
    sum(a->comm, ELEMS, MPI_SUM);
    sum(a->comm, ELEMS, MPI_SUM);
    const double bound = read_one(a, LAST_BOUND);
    tap_check(bound > 0 && read_one(a, WORST_BOUND) == bound, "bounds %g, %g", bound,
              read_one(a, WORST_BOUND));
    expect_last(a, "quantized");
    expect(b, LAST_BOUND, 0);
    expect_last(b, "none");
    sum(b->comm, ELEMS, MPI_SUM);
    tap_check(read_one(b, LAST_BOUND) > 4 * bound, "the bound of int4 is %g, of int8 %g",
              read_one(b, LAST_BOUND), bound);
    expect(a, LAST_BOUND, bound);
    expect(a, WORST_BOUND, bound);
    tap_case("each communicator has its own bounds");

    sum(a->comm, FEW, MPI_SUM);
    expect_last(a, "exact: message is smaller than min_bytes");
    expect(a, LAST_BOUND, 0);
    expect(a, WORST_BOUND, bound);
    sum(a->comm, ELEMS, MPI_MAX);
    expect_last(a, "exact: this datatype with this operation is not handled");
    expect_last(b, "quantized");
    MPI_Iallreduce(MPI_IN_PLACE, data, FEW, MPI_FLOAT, MPI_SUM, b->comm, &request);
    expect_last(b, "exact: message is smaller than min_bytes");
    expect(b, LAST_BOUND, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tap_case("a call that is passed down tells why");
}

static void check_verified(const watched_t *a, const watched_t *b)
{
    sum(a->comm, ELEMS, MPI_SUM);
    expect(a, VERIFIED_CALLS, 1);
    expect(b, VERIFIED_CALLS, 0);
    tap_check(read_one(a, LAST_NMSE) > 0 && read_one(b, LAST_NMSE) == 0, "NMSE %g and %g",
              read_one(a, LAST_NMSE), read_one(b, LAST_NMSE));
    tap_check(read_one(a, WORST_NMSE) == read_one(a, LAST_NMSE), "worst %g",
              read_one(a, WORST_NMSE));
    expect_last(a, "quantized");
    set_key(a->comm, "arc_quant", "int4"); /* which has more error */
    for (int call = 0; call < VERIFY_EVERY; call++) {
        sum(a->comm, ELEMS, MPI_SUM);
    }
    expect_last(a, "exact: a verified call was less accurate than max_nmse");
    expect(a, LAST_BOUND, 0);
    sum(b->comm, ELEMS, MPI_SUM);
    expect_last(b, "quantized");
    tap_case("errors are those of the communicator");
}

/* -r */
static void check_made_again(MPI_Comm comm)
{
    watched_t watched;

    watch(&watched, comm);
    sum(comm, ELEMS, MPI_SUM);
    sum(comm, ELEMS, MPI_SUM);
    expect_last(&watched, "quantized");
    unit = 1e-4f; /* which the limit that is reckoned is too high for */
    sum(comm, ELEMS, MPI_SUM);
    expect_last(&watched, "exact: no format keeps target_abs or target_rel with these numbers");
    expect(&watched, LAST_BOUND, 0);
    unwatch(&watched);
    tap_case("a result that was made again exactly is told as exact");
}

int main(int argc, char **argv)
{
    bool is_limited = false;
    watched_t a;
    watched_t b;
    watched_t self;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('r', is_limited));
    pvars_begin();
    MPI_Comm first = dup_of(MPI_COMM_WORLD);
    if (is_limited) {
        check_made_again(first);
        MPI_Comm_free(&first);
        pvars_end();
        return tap_end();
    }
    MPI_Comm second = dup_of(MPI_COMM_WORLD);
    watch(&a, first);
    watch(&b, second);
    watch(&self, MPI_COMM_SELF);
    check_two(&a, &b);
    check_verified(&a, &b);
    sum(MPI_COMM_SELF, ELEMS, MPI_SUM);
    expect(&self, LAST_BOUND, 0);
    expect_last(&self, "none");
    tap_case("a communicator that coll_quant does not serve has zeros");
    unwatch(&a);
    watch(&a, first);
    expect(&a, VERIFIED_CALLS, 0);
    set_key(a.comm, "arc_quant", "int8");
    for (int call = 0; call < VERIFY_EVERY; call++) {
        sum(a.comm, ELEMS, MPI_SUM);
    }
    expect(&a, VERIFIED_CALLS, 1);
    tap_case("counters count from the allocation of the handle");
    unwatch(&a);
    unwatch(&b);
    unwatch(&self);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    pvars_end();
    return tap_end();
}
