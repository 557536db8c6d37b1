/*
 * Error feedback as a program meets it: many vectors on one communicator, each by itself.
 *
 *   -m     two vectors of one length in the same buffers, one of them a thousandth of the other:
 *          no call has anything of the other vector
 *   -l T   vectors of several lengths, types and buffers in turn, of the types that
 *          coll_quant_types T allows: the error of the sum of many calls is about that of one, for
 *          each of them
 *   -t T   coll_quant_target_nmse is T: the error of every call is below
 *   -v N   N vectors in turn, three times
 *   -k     a vector in every second call, others in turn between: where there is room for three
 *          vectors, what it lost is kept
 *   -h     a call of each stage
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "normal.h"
#include "numbers.h"

enum { ELEMS = 70001, CALLS = 24 };

/* What a rank has in vector number `which`, of numbers around `size`; and their exact sum. */
static void draw_vector(int which, double size, float *own, double *sum)
{
    enum { VECTORS = 1000 };
    SCOPED float *of_rank = must_alloc((ELEMS + 1) * sizeof *of_rank);

    memset(sum, 0, ELEMS * sizeof *sum);
    for (int r = 0; r < world_ranks; r++) {
        draw_normal(of_rank, which * VECTORS + r, ELEMS);
        for (size_t i = 0; i < ELEMS; i++) {
            const float value = numbers_value((float) ((double) of_rank[i] * size));
            sum[i] += (double) value;
            if (r == world_rank) {
                own[i] = value;
            }
        }
    }
}

static double nmse_of(const float *got, const double *exact, double factor)
{
    double errors = 0;
    double squares = 0;

    for (size_t i = 0; i < ELEMS; i++) {
        const double error = (double) got[i] * factor - exact[i];
        errors += error * error;
        squares += exact[i] * exact[i];
    }
    return errors / squares;
}

static void check_mixed(void)
{
    static const double sizes[] = {1, 1e-3};
    SCOPED float *send = must_alloc(ELEMS * sizeof *send);
    SCOPED float *receive = must_alloc(ELEMS * sizeof *receive);
    SCOPED double *exact = must_alloc(ELEMS * sizeof *exact);
    double first = 0;

    for (int call = 0; call < 6; call++) {
        draw_vector(call, sizes[call % 2], send, exact);
        MPI_Allreduce(send, receive, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        const double error = nmse_of(receive, exact, 1);
        first = call == 0 ? error : first;
        tap_check(error < 2.2 * first, "call %d: %g, the first one %g", call, error, first);
    }
    tap_case("nothing of a large vector is added to a small one in its place");
}

/* A vector that is summed again and again, in its own way. */
typedef struct vector {
    const char *name;
    int elems;
    const char *type;
    int stride; /* of the calls that have it */
    int begins; /* the vector whose buffers and numbers it has, or itself */
} vector_t;

static void check_lengths(const char *types)
{
    const bool has_doubles = strcmp(types, "all") == 0;
    const vector_t vectors[] = {
        {"floats", ELEMS, "float", 1, 0},
        {"fewer of these floats", ELEMS - 64, "float", 1, 0},
        {"fewer floats", ELEMS - 64, "float", 1, 2},
        {"other floats", ELEMS, "float", 1, 3},
        {"others", ELEMS, has_doubles ? "double" : "bf16", 1, 4},
        {"floats, seldom", ELEMS, "float", 3, 5},
    };
    enum { VECTORS = sizeof vectors / sizeof vectors[0] };
    SCOPED float *own = must_alloc(ELEMS * sizeof *own);
    SCOPED double *exact = must_alloc(ELEMS * sizeof *exact);
    void *send[VECTORS];
    void *receive[VECTORS];
    float *running[VECTORS];
    double once[VECTORS] = {0};
    int calls[VECTORS] = {0};
    numbers_t numbers[VECTORS];

    for (int v = 0; v < VECTORS; v++) {
        const int begins = vectors[v].begins;
        numbers[v] = numbers_named(vectors[v].type);
        send[v] = begins < v ? send[begins] : must_alloc(ELEMS * sizeof(double));
        receive[v] = begins < v ? receive[begins] : must_alloc(ELEMS * sizeof(double));
        running[v] = must_alloc(ELEMS * sizeof *running[v]);
        memset(running[v], 0, ELEMS * sizeof *running[v]);
        draw_vector(begins, 1, own, exact);
        for (size_t i = 0; i < ELEMS; i++) {
            numbers_write(&numbers[v], send[v], i, own[i]);
        }
    }
    for (int call = 0; call < CALLS; call++) {
        for (int v = 0; v < VECTORS; v++) {
            if (call % vectors[v].stride != 0) {
                continue;
            }
            memset(receive[v], 0, ELEMS * sizeof(double));
            MPI_Allreduce(send[v], receive[v], vectors[v].elems, numbers[v].type, MPI_SUM,
                          MPI_COMM_WORLD);
            for (size_t i = 0; i < (size_t) vectors[v].elems; i++) {
                running[v][i] += (float) numbers_read(&numbers[v], receive[v], i);
            }
            calls[v]++;
            if (calls[v] == 1) {
                draw_vector(vectors[v].begins, 1, own, exact);
                memset(exact + vectors[v].elems, 0,
                       (size_t) (ELEMS - vectors[v].elems) * sizeof *exact);
                once[v] = nmse_of(running[v], exact, 1);
            }
        }
    }
    for (int v = 0; v < VECTORS; v++) {
        draw_vector(vectors[v].begins, 1, own, exact);
        memset(exact + vectors[v].elems, 0, (size_t) (ELEMS - vectors[v].elems) * sizeof *exact);
        const double mean = nmse_of(running[v], exact, 1.0 / calls[v]);
        /* The error of one call over the number of calls, squared.  Rounding to bf16 is not
         * carried. */
        const double rounded = numbers[v].type == MPI_UINT16_T ? 4e-6 : 0;
        tap_check(mean < 3 * once[v] / (calls[v] * calls[v]) + rounded, "%g, of one call %g", mean,
                  once[v]);
        tap_case("%s: the error of %d calls is that of one", vectors[v].name, calls[v]);
        if (vectors[v].begins == v) {
            free(send[v]);
            free(receive[v]);
        }
        free(running[v]);
    }
}

static void check_target(double target)
{
    SCOPED float *send = must_alloc(ELEMS * sizeof *send);
    SCOPED float *receive = must_alloc(ELEMS * sizeof *receive);
    SCOPED double *exact = must_alloc(ELEMS * sizeof *exact);
    double worst = 0;

    for (int call = 0; call < 5; call++) {
        draw_vector(call, 1, send, exact);
        MPI_Allreduce(send, receive, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        worst = fmax(worst, nmse_of(receive, exact, 1));
    }
    tap_check(worst > 0 && worst < target, "%g", worst);
    tap_case("the error of every call is below %g", target);
}

static void call_many(int vectors)
{
    SCOPED float *data = must_alloc((size_t) (ELEMS + vectors) * sizeof *data);

    memset(data, 0, (size_t) (ELEMS + vectors) * sizeof *data);
    for (int i = 0; i < 3 * vectors; i++) {
        MPI_Allreduce(MPI_IN_PLACE, data + i % vectors, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    tap_case("%d vectors in turn", vectors);
}

static void check_kept(void)
{
    enum { OTHERS = 5 };
    SCOPED float *send = must_alloc(ELEMS * sizeof *send);
    SCOPED float *receive = must_alloc(ELEMS * sizeof *receive);
    SCOPED float *others = must_alloc((ELEMS + OTHERS) * sizeof *others);
    SCOPED float *running = must_alloc(ELEMS * sizeof *running);
    SCOPED double *exact = must_alloc(ELEMS * sizeof *exact);
    double once = 0;

    memset(running, 0, ELEMS * sizeof *running);
    memset(others, 0, (ELEMS + OTHERS) * sizeof *others);
    draw_vector(0, 1, send, exact);
    for (int call = 0; call < CALLS; call++) {
        MPI_Allreduce(send, receive, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        for (size_t i = 0; i < ELEMS; i++) {
            running[i] += receive[i];
        }
        once = call == 0 ? nmse_of(running, exact, 1) : once;
        MPI_Allreduce(MPI_IN_PLACE, others + call % OTHERS, ELEMS, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    const double mean = nmse_of(running, exact, 1.0 / CALLS);
    tap_check(mean < 3 * once / (CALLS * CALLS), "%g, of one call %g", mean, once);
    tap_case("the vector that was used last is not forgotten");
}

static void call_halves(void)
{
    SCOPED float *blocks = must_alloc((size_t) world_ranks * ELEMS * sizeof *blocks);
    SCOPED float *own = must_alloc(ELEMS * sizeof *own);

    memset(blocks, 0, (size_t) world_ranks * ELEMS * sizeof *blocks);
    for (int call = 0; call < 2; call++) {
        MPI_Reduce_scatter_block(blocks, own, ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather(own, ELEMS, MPI_FLOAT, blocks, ELEMS, MPI_FLOAT, MPI_COMM_WORLD);
    }
    tap_case("both stages");
}

int main(int argc, char **argv)
{
    int option;

    tap_begin(&argc, &argv);
    while ((option = getopt(argc, argv, "ml:t:v:kh")) != -1) {
        switch (option) {
        case 'm':
            check_mixed();
            break;
        case 'l':
            check_lengths(optarg);
            break;
        case 't':
            check_target(atof(optarg));
            break;
        case 'v':
            call_many(atoi(optarg));
            break;
        case 'k':
            check_kept();
            break;
        case 'h':
            call_halves();
            break;
        default:
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    return tap_end();
}
