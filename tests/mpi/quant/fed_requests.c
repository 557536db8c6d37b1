/*
 * Error feedback by the number of a call: what each of two persistent requests lost, which are
 * started in turn, comes with its next start, also after MPI_Comm_set_info.  The mean of many calls
 * is then much closer than one call.
 *
 *   -u     instead, nonblocking sums of MPI_UINT16_T as bf16 numbers, of two vectors in turn, on a
 *          communicator that was made with a key
 *
 * To be run with coll_quant on, of calls of any length, and coll_quant_feedback_calls 2.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "numbers.h"
#include "persistent.h"

enum { ELEMS = 20000, CALLS = 64, VECTORS = 2 };

/* The error of a mean of CALLS calls is about that of one, divided by them. */
static const double expected_gain = 45;

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
            in[vector][i] = value(vector, world_rank, i);
            exact[vector][i] = 0;
            for (int from = 0; from < world_ranks; from++) {
                exact[vector][i] += (double) value(vector, from, i);
            }
        }
    }
}

/* The error of the mean of many calls of each vector, and that of the first call of the first. */
typedef struct series {
    double mean[VECTORS][ELEMS];
    double of_one;
} series_t;

static void add_to_series(series_t *series, int call, int vector, const float *sum)
{
    for (int i = 0; i < ELEMS; i++) {
        series->mean[vector][i] += (double) sum[i] / CALLS;
        series->of_one += 0 == call && 0 == vector ? pow((double) sum[i] - exact[0][i], 2) : 0;
    }
}

static void check_series(const series_t *series, const char *when)
{
    tap_check(series->of_one > 0, "%s: sums are exact", when);
    for (int v = 0; v < VECTORS; v++) {
        double of_mean = 0;
        for (int i = 0; i < ELEMS; i++) {
            of_mean += pow(series->mean[v][i] - exact[v][i], 2);
        }
        tap_check(expected_gain * sqrt(of_mean) < sqrt(series->of_one),
                  "%s: error %g, of the mean %g", when, sqrt(series->of_one), sqrt(of_mean));
    }
}

/* Many starts of the requests in turn. */
static void check_requests(MPI_Request *requests, const char *when)
{
    static series_t series;

    memset(&series, 0, sizeof series);
    for (int call = 0; call < CALLS; call++) {
        for (int v = 0; v < VECTORS; v++) {
            MPI_Start(&requests[v]);
            MPI_Wait(&requests[v], MPI_STATUS_IGNORE);
            add_to_series(&series, call, v, out[v]);
        }
    }
    check_series(&series, when);
}

static void check_starts(MPI_Comm comm)
{
    MPI_Request requests[VECTORS];

    for (int v = 0; v < VECTORS; v++) {
        persistent_allreduce_init(in[v], out[v], ELEMS, MPI_FLOAT, MPI_SUM, comm, &requests[v]);
    }
    check_requests(requests, "at first");
    set_key(comm, "arc_quant", "int6");
    check_requests(requests, "after a key was set");
    MPI_Allreduce(in[0], out[0], ELEMS, MPI_FLOAT, MPI_SUM, comm);
    check_requests(requests, "after a blocking call");
    for (int v = 0; v < VECTORS; v++) {
        MPI_Request_free(&requests[v]);
    }
    tap_case("requests carry what they lost, before and after a key is set");
}

static void check_halves(MPI_Comm comm)
{
    const numbers_t numbers = numbers_named("bf16");
    static uint16_t halves[VECTORS][ELEMS];
    static uint16_t sums[ELEMS];
    static double own[ELEMS];
    static series_t series;

    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < ELEMS; i++) {
            in[v][i] = numbers_value(in[v][i]);
            numbers_write(&numbers, halves[v], (size_t) i, in[v][i]);
            own[i] = (double) in[v][i];
        }
        MPI_Allreduce(own, exact[v], ELEMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int call = 0; call < CALLS; call++) {
        for (int v = 0; v < VECTORS; v++) {
            MPI_Request request;

            MPI_Iallreduce(halves[v], sums, ELEMS, MPI_UINT16_T, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (size_t i = 0; i < ELEMS; i++) {
                out[v][i] = (float) numbers_read(&numbers, sums, i);
            }
            add_to_series(&series, call, v, out[v]);
        }
    }
    check_series(&series, "16-bit floats");
    tap_case("nonblocking sums of 16-bit floats carry what they lost");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Info info;

    tap_begin(&argc, &argv);
    bool is_of_halves = false;
    TAKE_OPTIONS(OPTION('u', is_of_halves));
    fill();
    MPI_Info_create(&info);
    if (is_of_halves) {
        MPI_Info_set(info, "arc_quant", "int4");
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    (is_of_halves ? check_halves : check_starts)(comm);
    MPI_Comm_free(&comm);
    return tap_end();
}
