/*
 * Starts of persistent quantized sums draw other numbers each time, and error feedback keeps what
 * each request lost, also after MPI_Comm_set_info; and so do nonblocking sums of 16-bit floats on a
 * communicator that was made with a key.
 *
 *   -f     with error feedback, by number in a sequence: two requests in turn.  The mean of many
 *          calls is much closer than one call
 *   -k     the last rank alone has a key, which says what is so anyway: after a persistent request
 *          and MPI_Comm_set_info blocking sums have the same bits on all ranks
 *   -u     sums of MPI_UINT16_T as bf16 numbers, nonblocking
 *
 * To be run with coll_quant on, of calls of any length, and rounding that draws.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "persistent.h"

enum { ELEMS = 20000, CALLS = 64, VECTORS = 2, COMPARE_TAG = 3 };

/* The error of a mean of CALLS draws is an eighth of that of one; with feedback it is less. */
static double expected_gain = 5;
static const double expected_gain_fed = 45;

static int rank;
static int ranks;
static float in[VECTORS][ELEMS];
static float out[VECTORS][ELEMS];
static double exact[VECTORS][ELEMS];

static float value(int vector, int from, int i)
{
    return (float) sin(i * (1.7 + vector) + from + 9 * vector);
}

static void fill(void)
{
    for (int vector = 0; vector < VECTORS; vector++) {
        for (int i = 0; i < ELEMS; i++) {
            in[vector][i] = value(vector, rank, i);
            exact[vector][i] = 0;
            for (int from = 0; from < ranks; from++) {
                exact[vector][i] += (double) value(vector, from, i);
            }
        }
    }
}

static void set_key(MPI_Comm comm, const char *key, const char *said)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, said);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* Many starts of `vectors` requests in turn: the mean of what comes is closer than one of it. */
static void check_series(MPI_Request *requests, int vectors, const char *when)
{
    static double mean[VECTORS][ELEMS];
    static float first[ELEMS];

    memset(mean, 0, sizeof mean);
    double of_one = 0;
    int same = 0;
    for (int call = 0; call < CALLS; call++) {
        for (int v = 0; v < vectors; v++) {
            MPI_Start(&requests[v]);
            MPI_Wait(&requests[v], MPI_STATUS_IGNORE);
            for (int i = 0; i < ELEMS; i++) {
                mean[v][i] += (double) out[v][i] / CALLS;
                of_one += 0 == call && 0 == v ? pow((double) out[v][i] - exact[v][i], 2) : 0;
            }
        }
        if (0 == call) {
            memcpy(first, out[0], sizeof first);
        }
        same += 0 != call && 0 == memcmp(first, out[0], sizeof first);
    }
    tap_check(of_one > 0, "%s: sums are exact", when);
    tap_check(0 == same, "%s: %d calls have the bits of the first", when, same);
    for (int v = 0; v < vectors; v++) {
        double of_mean = 0;
        for (int i = 0; i < ELEMS; i++) {
            of_mean += pow(mean[v][i] - exact[v][i], 2);
        }
        tap_check(expected_gain * sqrt(of_mean) < sqrt(of_one), "%s: error %g, of the mean %g",
                  when, sqrt(of_one), sqrt(of_mean));
    }
}

static void check_starts(MPI_Comm comm, int vectors)
{
    MPI_Request requests[VECTORS];

    for (int v = 0; v < vectors; v++) {
        persistent_allreduce_init(in[v], out[v], ELEMS, MPI_FLOAT, MPI_SUM, comm, &requests[v]);
    }
    check_series(requests, vectors, "at first");
    set_key(comm, "arc_quant", "int6");
    check_series(requests, vectors, "after a key was set");
    MPI_Allreduce(in[0], out[0], ELEMS, MPI_FLOAT, MPI_SUM, comm);
    check_series(requests, vectors, "after a blocking call");
    for (int v = 0; v < vectors; v++) {
        MPI_Request_free(&requests[v]);
    }
    tap_case("starts of %d requests differ, before and after a key is set", vectors);
}

static void compare(void)
{
    static float other[ELEMS];

    if (0 != rank) {
        MPI_Send(out[0], ELEMS, MPI_FLOAT, 0, COMPARE_TAG, MPI_COMM_WORLD);
    }
    for (int from = 1; 0 == rank && from < ranks; from++) {
        MPI_Recv(other, ELEMS, MPI_FLOAT, from, COMPARE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        tap_check(0 == memcmp(out[0], other, sizeof other), "rank %d has other bits", from);
    }
}

static void check_key_of_one(MPI_Comm comm)
{
    enum { BLOCKING = 5 };
    MPI_Request request;

    for (int call = 0; call < BLOCKING; call++) {
        MPI_Allreduce(in[0], out[0], ELEMS, MPI_FLOAT, MPI_SUM, comm);
        compare();
    }
    persistent_allreduce_init(in[0], out[0], ELEMS, MPI_FLOAT, MPI_SUM, comm, &request);
    for (int start = 0; start < 2; start++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        compare();
        if (0 == start) {
            set_key(comm, "arc_quant_format", "int6");
        }
    }
    for (int call = 0; call < BLOCKING; call++) {
        MPI_Allreduce(in[0], out[0], ELEMS, MPI_FLOAT, MPI_SUM, comm);
        compare();
    }
    MPI_Request_free(&request);
    tap_case("a key of one rank, a persistent request and another key: the same bits");
}

static void check_halves(MPI_Comm comm)
{
    static uint16_t halves[ELEMS];
    static uint16_t sums[ELEMS];
    static uint16_t first[ELEMS];
    int same = 0;

    for (int i = 0; i < ELEMS; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &in[0][i], sizeof bits);
        halves[i] = (uint16_t) (bits >> 16);
    }
    for (int call = 0; call < CALLS; call++) {
        MPI_Request request;

        MPI_Iallreduce(halves, sums, ELEMS, MPI_UINT16_T, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        same += 0 != call && 0 == memcmp(first, sums, sizeof first);
        memcpy(first, 0 == call ? sums : first, sizeof first);
    }
    tap_check(0 == same, "%d calls have the bits of the first", same);
    tap_case("nonblocking sums of 16-bit floats differ");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Info info;

    MPI_Init(&argc, &argv);
    const int option = getopt(argc, argv, "fku");
    expected_gain = 'f' == option ? expected_gain_fed : expected_gain;
    tap_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fill();
    MPI_Info_create(&info);
    if ('u' == option) {
        MPI_Info_set(info, "arc_quant", "int4");
    } else if ('k' == option && ranks - 1 == rank) {
        MPI_Info_set(info, "arc_quant_format", "int8");
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    switch (option) {
    case 'k':
        check_key_of_one(comm);
        break;
    case 'u':
        check_halves(comm);
        break;
    default:
        check_starts(comm, 'f' == option ? VECTORS : 1);
    }
    MPI_Comm_free(&comm);
    tap_finish();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
