/*
 * The communicator info key arc_quant over the life of a communicator: any order
 * of values leads to what the last understood one asks for, MPI_Comm_get_info
 * tells what is in force, and neither a thousand changes nor hundreds of
 * communicators with a key cost memory that stays.
 *
 *   -a   all three collectives are quantized
 *   -p   nothing but calls that do not block, on ranks with and without "default", where the
 *        component is enabled for all
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "footprint.h"
#include "harness.h"
#include "persistent.h"

enum {
    ELEMS = 70001, /* 280 KB of floats: from 256 KiB on they are quantized */
    TOGGLES = 1000,
    WARM_TOGGLES = 50,
    COMMS = 300,
    WARM_COMMS = 30,
    KEPT_BYTES = 100,
    /* A thousand toggles that leak a page each would be 4000 KiB; the allocator keeps some. */
    TOGGLE_GROWTH_KIB = 800,
    /*
     * The buffers of one communicator are about 1 MiB. Small blocks that the program keeps must
     * not pin them one by one: 300 MiB.
     */
    COMM_GROWTH_KIB = 6 * 1024,
};

static float data[ELEMS];
static bool of_all; /* collectives, not only MPI_Allreduce */

/* Sums of integers too fine for 16 bits are exact, or are not; a wrong one is a failure. */
static void expect_sums(MPI_Comm comm, bool exact, const char *when)
{
    const double error_max = (double) WHOLE_RANGE * world_ranks * (world_ranks + 1) / 2 / 7;

    for (collective_t c = ALLREDUCE; c < (of_all ? COLLECTIVES : ALLREDUCE + 1); c++) {
        call_t call = call_of(c, draw_wholes, ELEMS);

        call.comm = comm;
        call.in_place = c != ALLGATHER; /* which is exact in place */
        const errors_t errors = call_run(&call, NULL);
        tap_check(errors.worst < error_max, "%s: an element is off by %g", collective_names[c],
                  errors.worst);
        tap_check(exact ? errors.off == 0 : errors.off > errors.elems / 2,
                  "%s, %s: %.0f of %.0f elements are not exact", when, collective_names[c],
                  errors.off, errors.elems);
    }
}

static const struct {
    const char *value;
    bool exact;
    /* What MPI_Comm_get_info says: one of two words where there are two for the same. Of a word
     * that is not understood Open MPI 4.1 shows the program's text, 5.0 what is in force. */
    const char *in_force;
    const char *or_else;
} steps[] = {
    {"on", false, "on", "int8"},
    {"off", true, "off", "off"},
    {"on", false, "on", "int8"},
    {"fp32", true, "fp32", "fp32"},
    {"garbage", true, "fp32", "garbage"},
    {"int8", false, "int8", "on"},
    {"", false, "int8", "on"},
    {"garbage", false, "int8", "garbage"},
    {"off", true, "off", "off"},
    {"INT3", true, "off", "INT3"},
    {"int8", false, "int8", "on"},
    {"1e-6", false, "1e-06", "1e-6"},
    {"on", false, "on", "int8"},
    {"1e-30", true, "1e-30", "1e-30"}, /* nothing is so accurate */
    {"2", true, "1e-30", "2"},
    {"1e-5", false, "1e-05", "1e-5"},
    {"default", true, "default", "off"},
    {"INT4", false, "int4", "INT4"},
};

static void check_cycle(MPI_Comm comm, const char *what)
{
    for (int turn = 0; turn < 2; turn++) {
        for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
            if (steps[s].value[0] != '\0') {
                set_key(comm, "arc_quant", steps[s].value);
            }
            const char *value = key_of(comm, "arc_quant");
            tap_check(strcmp(value, steps[s].in_force) == 0 || strcmp(value, steps[s].or_else) == 0,
                      "step %zu, \"%s\": MPI_Comm_get_info has \"%s\"", s, steps[s].value, value);
            for (int call = 0; call < 2; call++) {
                expect_sums(comm, steps[s].exact, steps[s].value);
            }
        }
    }
    expect_sums(MPI_COMM_WORLD, true, "a key of another communicator");
    tap_case("%s: on, off, a format, a target, an unknown word: sums and MPI_Comm_get_info follow",
             what);
}

static void check_garbage_at_dup(void)
{
    MPI_Comm comm = dup_with_key("arc_quant", "garbage");

    expect_sums(comm, true, "an unknown word at the dup");
    set_key(comm, "arc_quant", "int8");
    tap_check(strcmp(key_of(comm, "arc_quant"), "int8") == 0, "MPI_Comm_get_info has \"%s\"",
              key_of(comm, "arc_quant"));
    expect_sums(comm, false, "int8 after an unknown word");
    MPI_Comm_free(&comm);
    tap_case("an unknown word at MPI_Comm_dup_with_info changes nothing");
}

/* Where all ranks had int8, the last one is given another value than the others. */
static void check_one_other(const char *others, const char *last, bool exact)
{
    MPI_Comm comm = dup_with_key("arc_quant", "int8");

    expect_sums(comm, false, "one value on all ranks");
    set_key(comm, "arc_quant", world_rank == world_ranks - 1 ? last : others);
    expect_sums(comm, exact, "another value on one rank");
    set_key(comm, "arc_quant", "int8");
    expect_sums(comm, false, "one value on all ranks again");
    MPI_Comm_free(&comm);
    tap_case("\"%s\" on the last rank, \"%s\" on the others: %s sums", last, others,
             exact ? "exact" : "quantized");
}

/* A rank that takes tags for the request alone never meets the others in the barrier. */
static void sum_persistently(MPI_Comm comm, int elems)
{
    MPI_Request request;

    persistent_allreduce_init(MPI_IN_PLACE, data, elems, MPI_FLOAT, MPI_SUM, comm, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Ranks that are in the slots of nonblocking calls, and others that are not. */
static void check_pending(const char *others, const char *last, bool exact)
{
    enum { FEW_ELEMS = 1024, CALLS = 120 };
    const char *own = world_rank == world_ranks - 1 ? last : others;
    MPI_Comm comm = dup_with_key("arc_quant", own);

    for (int call = 0; call < CALLS; call++) {
        nonblocking_allreduce(MPI_IN_PLACE, data, FEW_ELEMS, MPI_FLOAT, MPI_SUM, comm);
    }
    for (int call = 0; call < CALLS; call++) {
        MPI_Allreduce(MPI_IN_PLACE, data, FEW_ELEMS, MPI_FLOAT, MPI_SUM, comm);
    }
    set_key(comm, "arc_quant", "int8");
    expect_sums(comm, false, "one value on all ranks");
    set_key(comm, "arc_quant", own);
    sum_persistently(comm, FEW_ELEMS); /* before the values are compared */
    expect_sums(comm, exact, "another value on one rank");
    sum_persistently(comm, FEW_ELEMS); /* and after */
    MPI_Comm_free(&comm);
    tap_case("calls that do not block, \"%s\" on the last rank, \"%s\" on the others", last,
             others);
}

static void check_toggles(MPI_Comm comm)
{
    footprint_t before = {0};

    for (int toggle = 0; toggle < WARM_TOGGLES + TOGGLES; toggle++) {
        if (toggle == WARM_TOGGLES) {
            before = footprint_take();
        }
        set_key(comm, "arc_quant", toggle % 2 == 0 ? "on" : "off");
        data[0] = 1.0f;
        MPI_Allreduce(MPI_IN_PLACE, data, toggle % 10 < 2 ? ELEMS : 1, MPI_FLOAT, MPI_SUM, comm);
        memset(data, 0, sizeof data);
    }
    const long growth_kib = footprint_take().resident_kib - before.resident_kib;

    tap_note("%d toggles: rank 0 grew by %ld KiB", TOGGLES, growth_kib);
    tap_check(growth_kib <= TOGGLE_GROWTH_KIB, "grew by %ld KiB", growth_kib);
    tap_case("%d toggles: memory grew by at most %d KiB", TOGGLES, TOGGLE_GROWTH_KIB);
}

static void check_many_communicators(void)
{
    void *kept[WARM_COMMS + COMMS];
    footprint_t before = {0};

    memset(data, 0, sizeof data);
    for (int i = 0; i < WARM_COMMS + COMMS; i++) {
        if (i == WARM_COMMS) {
            before = footprint_take();
        }
        MPI_Comm comm = dup_with_key("arc_quant", "on");

        MPI_Allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, comm);
        kept[i] = must_alloc(KEPT_BYTES);
        MPI_Comm_free(&comm);
    }
    const long growth_kib = footprint_take().resident_kib - before.resident_kib;

    tap_note("%d communicators: rank 0 grew by %ld KiB", COMMS, growth_kib);
    tap_check(growth_kib <= COMM_GROWTH_KIB, "grew by %ld KiB", growth_kib);
    for (int i = 0; i < WARM_COMMS + COMMS; i++) {
        free(kept[i]);
    }
    tap_case("%d communicators with a key, one after the other: memory grew by at most %d KiB",
             COMMS, COMM_GROWTH_KIB);
}

int main(int argc, char **argv)
{
    static bool only_pending;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('a', of_all), OPTION('p', only_pending));
    if (only_pending) {
        check_pending("default", "off", true);
        check_pending("off", "default", true);
        check_pending("default", "on", false);
        return tap_end();
    }
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    check_cycle(comm, "a dup");
    check_toggles(comm);
    MPI_Comm_free(&comm);
    comm = dup_with_key("arc_quant", "fp32");
    expect_sums(comm, true, "fp32 at the dup");
    check_cycle(comm, "a dup with fp32");
    MPI_Comm_free(&comm);
    check_garbage_at_dup();
    check_one_other("int8", "off", true);
    check_one_other("int8", "int4", true);
    check_one_other("int8", "garbage", false);
    check_one_other("int4", "garbage", true);
    check_pending("off", "int8", true);
    check_many_communicators();
    return tap_end();
}
