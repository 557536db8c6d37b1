/*
 * Communicators come and go: make, use, free, hundreds of times, and 64 alive
 * at once. Sums are right on each of them, and a process that has freed its
 * communicators holds no more of the machine than before: memory, open files,
 * mappings, System V segments.
 *
 * The first cycles are not counted: first use of a path may keep a pool.
 *
 *   -n N   cycles (default 500)
 *   -c     cycles only: no 64 at once
 *   -q     also one float sum of over 256 KiB on each communicator
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "footprint.h"
#include "harness.h"
#include "sums.h"

enum {
    WARM_CYCLES = 60,
    ALIVE = 64,
    LARGE_ELEMS = 70000, /* 280 KB of floats */
    MIDDLE_ELEMS = 1000,
    /*
     * Over 500 cycles. Open MPI 4.1 alone grows by up to 140 KiB as its free lists fill, and what
     * 64 communicators at once have freed stays in pieces, up to 410 KiB in one of 14 runs; a leak
     * of half a page per communicator and rank, say of a module, would be 1000 KiB.
     */
    RESIDENT_GROWTH_KIB = 600,
    MAPPINGS_GROWTH = 6, /* the allocator may add a few; a leak of one per cycle is hundreds */
};

static const int small_counts[] = {1, 14, MIDDLE_ELEMS};
static float large[LARGE_ELEMS];

/* Sums on `comm`, checked. Values depend on the cycle, so that old data cannot pass. */
static void use_comm(MPI_Comm comm, int cycle, bool with_large)
{
    int ranks;

    MPI_Comm_size(comm, &ranks);
    for (size_t c = 0; c < sizeof small_counts / sizeof small_counts[0]; c++) {
        (void) sums_of(comm, MPI_DOUBLE, small_counts[c], cycle, true);
    }
    if (with_large) {
        const float half_code =
            0.5f / 127.0f; /* one step of an 8-bit code is 1/127 of the largest */

        for (int i = 0; i < LARGE_ELEMS; i++) {
            large[i] = 1.0f;
        }
        MPI_Allreduce(MPI_IN_PLACE, large, LARGE_ELEMS, MPI_FLOAT, MPI_SUM, comm);
        for (int i = 0; i < LARGE_ELEMS; i++) {
            float error = large[i] - (float) ranks;
            float bound = half_code * (float) (ranks * (ranks + 1)) / 2.0f;

            tap_check(error <= bound && -error <= bound, "cycle %d, large sum, element %d: %g",
                      cycle, i, (double) large[i]);
        }
    }
}

static MPI_Comm make_comm(int cycle)
{
    MPI_Comm comm;

    if (cycle % 2 == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, cycle % 4 == 1 ? world_rank % 2 : 0, -world_rank, &comm);
    }
    return comm;
}

static void check_growth(const footprint_t *before, const footprint_t *after, const char *when)
{
    long growth_kib = after->resident_kib - before->resident_kib;

    tap_note("%s: rank 0 holds %+ld KiB, %+ld mappings", when, growth_kib,
             after->mappings - before->mappings);
    tap_check(growth_kib <= RESIDENT_GROWTH_KIB, "grew by %ld KiB", growth_kib);
    tap_case("%s: resident memory grew by at most %d KiB", when, RESIDENT_GROWTH_KIB);
    tap_check(after->files <= before->files, "%ld open files instead of %ld", after->files,
              before->files);
    tap_check(after->mappings <= before->mappings + MAPPINGS_GROWTH, "%ld mappings instead of %ld",
              after->mappings, before->mappings);
    tap_check(after->shared_files <= before->shared_files,
              "%ld mapped files in /dev/shm instead of %ld", after->shared_files,
              before->shared_files);
    tap_check(after->sysv_segments <= before->sysv_segments, "%ld System V segments instead of %ld",
              after->sysv_segments, before->sysv_segments);
    tap_case("%s: files, mappings and shared memory as before", when);
}

static void run_cycles(int first, int last, bool with_large)
{
    for (int cycle = first; cycle < last; cycle++) {
        MPI_Comm comm = make_comm(cycle);

        use_comm(comm, cycle, with_large);
        MPI_Comm_free(&comm);
    }
}

/* All alive at once, used in two rounds in different order, then freed. */
static void run_alive(bool with_large)
{
    MPI_Comm comms[ALIVE];

    for (int i = 0; i < ALIVE; i++) {
        comms[i] = make_comm(i);
        use_comm(comms[i], i, with_large);
    }
    footprint_t peak = footprint_take();
    tap_note("%d alive: rank 0 has %ld KiB resident, %ld files, %ld mappings", ALIVE,
             peak.resident_kib, peak.files, peak.mappings);
    for (int i = ALIVE - 1; i >= 0; i--) {
        use_comm(comms[i], ALIVE + i, false);
    }
    for (int i = 0; i < ALIVE; i++) {
        MPI_Comm_free(&comms[i]);
    }
}

int main(int argc, char **argv)
{
    int cycles = 500;
    bool with_large = false;
    bool only_cycles = false;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('c', only_cycles), OPTION('n', cycles), OPTION('q', with_large));
    if (!only_cycles) {
        run_alive(with_large);
    }
    run_cycles(0, WARM_CYCLES, with_large);
    if (!only_cycles) {
        run_alive(with_large); /* elsewhere now: the first one of all took more, for trials */
    }
    tap_case("%d communicators made, used and freed: right sums", WARM_CYCLES);

    footprint_t before = footprint_settled();
    run_cycles(WARM_CYCLES, WARM_CYCLES + cycles, with_large);
    footprint_t after = footprint_settled();
    tap_case("%d more: right sums", cycles);
    check_growth(&before, &after, "after the cycles");

    if (only_cycles) {
        return tap_end();
    }
    before = footprint_settled();
    run_alive(with_large);
    after = footprint_settled();
    tap_case("%d communicators alive at once: right sums", ALIVE);
    check_growth(&before, &after, "after these were freed");
    return tap_end();
}
