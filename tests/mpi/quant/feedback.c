/*
 * Error feedback as a program meets it: many vectors on one communicator, each with the same
 * numbers in every call, so that the error of its mean is that of one call, divided by the calls,
 * if it gets back all that it lost and nothing of another vector.
 *
 * A series of vectors is one of these:
 *
 *   -l       of several lengths, types and buffers in turn; with -T double of doubles, too, else
 *            of bf16 numbers
 *   -b P     buckets, as a training adds them, of equal and of different lengths, of the type of -T
 *            and with -s by a reduce-scatter.  fixed: each has buffers of its own.  moving: before
 *            each call its buffer goes to memory that was not in use, and leaves its own to the
 *            next bucket, as where a program binds a name to a new array; in place.  one: all of
 *            them pass through the same buffer, in place.
 *
 *   -k       a vector in every second call, others in turn between: where there is room for three
 *            vectors, what it lost is kept
 *
 *   -p       two persistent requests that are started in turn, also after MPI_Comm_set_info
 *
 *   -u       two vectors in turn by nonblocking calls, on a communicator that was made with a key
 *
 *   -r       two vectors in turn, on one that is given its own info before each turn, and has then
 *            a nonblocking call of a third one: three calls that repeat
 *
 * or else
 *
 *   -m       two vectors of one length in the same buffers, one of them a thousandth of the other:
 *            no call has anything of the other vector
 *   -t X     coll_quant_target_nmse is X: the error of every call is below
 *   -v N     N vectors in turn, three times
 *   -h       a call of each stage
 *
 *   -T TYPE  float (default), double or bf16 (in MPI_UINT16_T)
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "calls.h"
#include "harness.h"
#include "persistent.h"

enum {
    ELEMS = 70001,
    CALLS = 24,
    VECTORS_MOST = 6,
    DULL = 5,              /* vectors of zeros between the calls of -k */
    PLACES = VECTORS_MOST, /* of buckets that move: one more than there are */
};

typedef enum form { BLOCKING, NONBLOCKING, PERSISTENT } form_t;

/* A vector that is summed again and again, in its own way. */
typedef struct vector {
    const char *name;
    const char *type;
    size_t elems; /* of all of it, or of a block */
    int stride;   /* of the calls that have it */
    int begins;   /* the vector whose buffers and numbers it has, or itself */
} vector_t;

typedef struct series {
    const vector_t *vector;
    numbers_t numbers;
    bool scatters;
    size_t sent;
    size_t first; /* of what is sent, where the result begins */
    float *own;
    double *exact;
    double *running;
    void *send;
    void *receive;
    MPI_Request request;
    int calls;
    double once; /* mean square of the error of the first call */
} series_t;

static MPI_Comm comm = MPI_COMM_WORLD;
static bool gives_again; /* the communicator its info, before each turn */

/* What a rank has in vector number `which`, in the type's precision; and the exact sum of all. */
static void draw_vector(int which, double size, size_t elems, float *own, double *exact)
{
    enum { RANKS_MOST = 1000 };
    SCOPED float *of_rank = must_alloc((elems + 1) * sizeof *of_rank);

    memset(exact, 0, elems * sizeof *exact);
    for (int r = 0; r < world_ranks; r++) {
        draw_normal(of_rank, which * RANKS_MOST + r, elems);
        for (size_t i = 0; i < elems; i++) {
            const float value = numbers_value((float) ((double) of_rank[i] * size));
            exact[i] += (double) value;
            if (r == world_rank) {
                own[i] = value;
            }
        }
    }
}

static void series_init(series_t *series, const vector_t *vectors, int v, bool scatters)
{
    const vector_t *vector = &vectors[v];
    const size_t sent = vector->elems * (scatters ? (size_t) world_ranks : 1);
    const size_t room = (sent > ELEMS ? sent : ELEMS) * sizeof(double);
    series_t *one = &series[v];

    *one = (series_t){.vector = vector,
                      .numbers = numbers_named(vector->type),
                      .scatters = scatters,
                      .sent = sent,
                      .first = scatters ? vector->elems * (size_t) world_rank : 0,
                      .own = must_alloc(sent * sizeof(float)),
                      .exact = must_alloc(sent * sizeof(double)),
                      .running = must_alloc(vector->elems * sizeof(double)),
                      .send = vector->begins < v ? series[vector->begins].send : must_alloc(room),
                      .receive =
                          vector->begins < v ? series[vector->begins].receive : must_alloc(room),
                      .request = MPI_REQUEST_NULL};
    draw_vector(vector->begins, 1, sent, one->own, one->exact);
}

static void series_fini(series_t *series, int v)
{
    if (series[v].vector->begins == v) {
        free(series[v].send);
        free(series[v].receive);
    }
    if (series[v].request != MPI_REQUEST_NULL) {
        MPI_Request_free(&series[v].request);
    }
    free(series[v].own);
    free(series[v].exact);
    free(series[v].running);
}

static double mean_square_error(const series_t *one)
{
    double squares = 0;

    for (size_t i = 0; i < one->vector->elems; i++) {
        const double error = one->running[i] / one->calls - one->exact[one->first + i];
        squares += error * error;
    }
    return squares / (double) one->vector->elems;
}

static void give_again(void)
{
    static float zeros[ELEMS];
    MPI_Info info;

    MPI_Comm_get_info(comm, &info);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    nonblocking_allreduce(MPI_IN_PLACE, zeros, ELEMS, MPI_FLOAT, MPI_SUM, comm);
}

/* Once more the sum of the same numbers, from `send` to `receive`, which may be the same. */
static void sum_once(series_t *one, void *send, void *receive, form_t form)
{
    const void *from = send == receive ? MPI_IN_PLACE : send;
    const int elems = (int) one->vector->elems;
    const MPI_Datatype type = one->numbers.type;

    for (size_t i = 0; i < one->sent; i++) {
        numbers_write(&one->numbers, send, i, one->own[i]);
    }
    if (gives_again && one->vector->begins == 0) {
        give_again();
    }
    if (one->scatters) {
        MPI_Reduce_scatter_block(from, receive, elems, type, MPI_SUM, comm);
    } else if (form == NONBLOCKING) {
        nonblocking_allreduce(from, receive, elems, type, MPI_SUM, comm);
    } else if (form == PERSISTENT) {
        MPI_Start(&one->request);
        MPI_Wait(&one->request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(from, receive, elems, type, MPI_SUM, comm);
    }
    if (one->calls == 0) {
        memset(one->running, 0, one->vector->elems * sizeof *one->running);
    }
    for (size_t i = 0; i < one->vector->elems; i++) {
        one->running[i] += numbers_read(&one->numbers, receive, i);
    }
    one->calls++;
    one->once = one->calls == 1 ? mean_square_error(one) : one->once;
}

/* Where a bucket lies in its next call; NULL: where it always does. */
typedef struct places {
    const char *name;
    void *memory[PLACES];
    int held[VECTORS_MOST];
    int spare;
} places_t;

static void *place_of(places_t *places, int v)
{
    const int before = places->held[v];

    if (strcmp(places->name, "moving") == 0) {
        places->held[v] = places->spare;
        places->spare = before;
        return places->memory[places->held[v]];
    }
    return strcmp(places->name, "one") == 0 ? places->memory[0] : NULL;
}

static void run_series(series_t *series, int vectors, form_t form, places_t *places, float *dull)
{
    for (int call = 0; call < CALLS; call++) {
        for (int v = 0; v < vectors; v++) {
            series_t *one = &series[v];
            void *place = places == NULL ? NULL : place_of(places, v);
            if (call % one->vector->stride == 0) {
                sum_once(one, place == NULL ? one->send : place,
                         place == NULL ? one->receive : place, form);
            }
            if (dull != NULL) {
                MPI_Allreduce(MPI_IN_PLACE, dull + call % DULL, ELEMS, MPI_FLOAT, MPI_SUM, comm);
            }
        }
    }
    for (int v = 0; v < vectors; v++) {
        series_t *one = &series[v];
        /* The sums, of numbers of variance 1, are rounded to bf16, of which nothing is carried. */
        const double narrowed = one->numbers.type == MPI_UINT16_T ? 4e-6 * world_ranks : 0;
        const double mean = mean_square_error(one);
        tap_check(one->once > 1e-6, "nothing is quantized");
        tap_check(mean < 3 * one->once / (one->calls * one->calls) + narrowed, "%g, of one call %g",
                  mean, one->once);
        tap_case("%s: the mean of %d calls has the error of one, divided by the calls",
                 one->vector->name, one->calls);
        one->calls = 0;
    }
}

static void check_series(const vector_t *vectors, int count, bool scatters, form_t form,
                         const char *where, bool between)
{
    series_t series[VECTORS_MOST];
    places_t places = {.name = where, .spare = PLACES - 1};
    SCOPED float *dull = must_alloc((ELEMS + DULL) * sizeof *dull);

    memset(dull, 0, (ELEMS + DULL) * sizeof *dull);
    for (int v = 0; v < count; v++) {
        series_init(series, vectors, v, scatters);
        places.held[v] = v;
        if (form == PERSISTENT) {
            persistent_allreduce_init(series[v].send, series[v].receive, (int) vectors[v].elems,
                                      series[v].numbers.type, MPI_SUM, comm, &series[v].request);
        }
    }
    for (int p = 0; p < PLACES; p++) {
        places.memory[p] = must_alloc(ELEMS * sizeof(double) * (size_t) world_ranks);
    }
    run_series(series, count, form, where == NULL ? NULL : &places, between ? dull : NULL);
    if (form == PERSISTENT) {
        set_key(comm, "arc_quant", "int6");
        run_series(series, count, form, NULL, NULL);
        MPI_Allreduce(MPI_IN_PLACE, dull, ELEMS, MPI_FLOAT, MPI_SUM, comm);
        run_series(series, count, form, NULL, NULL);
    }
    for (int v = 0; v < count; v++) {
        series_fini(series, v);
    }
    for (int p = 0; p < PLACES; p++) {
        free(places.memory[p]);
    }
}

static void check_lengths(const char *type)
{
    const vector_t vectors[] = {
        {"floats", "float", ELEMS, 1, 0},
        {"fewer of these floats", "float", ELEMS - 64, 1, 0},
        {"fewer floats", "float", ELEMS - 64, 1, 2},
        {"other floats", "float", ELEMS, 1, 3},
        {"others", strcmp(type, "double") == 0 ? "double" : "bf16", ELEMS, 1, 4},
        {"floats, seldom", "float", ELEMS, 3, 5},
    };
    check_series(vectors, VECTORS_MOST, false, BLOCKING, NULL, false);
}

/* The first three differ by nothing but where they are. */
static void check_buckets(const char *type, bool scatters, const char *places)
{
    const vector_t buckets[] = {{"bucket 0", type, 20001, 1, 0},
                                {"bucket 1", type, 20001, 1, 1},
                                {"bucket 2", type, 20001, 1, 2},
                                {"bucket 3", type, 7040, 1, 3},
                                {"bucket 4", type, 30011, 1, 4}};

    check_series(buckets, sizeof buckets / sizeof buckets[0], scatters, BLOCKING, places, false);
}

/* Two vectors in turn, on a communicator of their own. */
static void check_forms(form_t form, const char *type)
{
    const vector_t vectors[] = {{"a vector", type, 20000, 1, 0}, {"another", type, 20000, 1, 1}};

    comm = form != PERSISTENT ? dup_with_key("arc_quant", "int4") : dup_of(MPI_COMM_WORLD);
    check_series(vectors, 2, false, form, NULL, false);
    MPI_Comm_free(&comm);
}

/* ---- other calls ---- */

/* Of other numbers in each call: the NMSE. */
static double error_of_call(int which, double size)
{
    SCOPED float *send = must_alloc(ELEMS * sizeof *send);
    SCOPED double *exact = must_alloc(ELEMS * sizeof *exact);
    static float fixed[2][ELEMS]; /* the same buffers in all calls */
    double errors = 0;
    double squares = 0;

    draw_vector(which, size, ELEMS, send, exact);
    memcpy(fixed[0], send, sizeof fixed[0]);
    MPI_Allreduce(fixed[0], fixed[1], ELEMS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < ELEMS; i++) {
        const double error = (double) fixed[1][i] - exact[i];
        errors += error * error;
        squares += exact[i] * exact[i];
    }
    return errors / squares;
}

static void check_mixed(void)
{
    const double first = error_of_call(0, 1);

    for (int call = 1; call < 6; call++) {
        const double error = error_of_call(call, call % 2 == 0 ? 1 : 1e-3);
        tap_check(error < 2.2 * first, "call %d: %g, the first one %g", call, error, first);
    }
    tap_case("nothing of a large vector is added to a small one in its place");
}

static void check_target(double target)
{
    double worst = 0;

    for (int call = 0; call < 5; call++) {
        worst = fmax(worst, error_of_call(call, 1));
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

static void call_stages(void)
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
    static const vector_t kept[] = {{"the vector that was used last", "float", ELEMS, 1, 0}};
    bool lengths = false, keeps = false, requests = false, by_key = false, mixed = false;
    bool stages = false, scatters = false;
    const char *places = NULL;
    const char *type = "float";
    double target = 0;
    int many = 0;

    tap_begin(&argc, &argv);
    TAKE_OPTIONS(OPTION('l', lengths), OPTION('b', places), OPTION('k', keeps),
                 OPTION('p', requests), OPTION('u', by_key), OPTION('r', gives_again),
                 OPTION('m', mixed), OPTION('t', target), OPTION('v', many), OPTION('h', stages),
                 OPTION('s', scatters), OPTION('T', type));
    if (lengths) {
        check_lengths(type);
    } else if (places != NULL) {
        check_buckets(type, scatters, places);
    } else if (keeps) {
        check_series(kept, 1, false, BLOCKING, NULL, true);
    } else if (requests || by_key || gives_again) {
        check_forms(requests ? PERSISTENT : by_key ? NONBLOCKING : BLOCKING, type);
    } else if (mixed) {
        check_mixed();
    } else if (target > 0) {
        check_target(target);
    } else if (many > 0) {
        call_many(many);
    } else if (stages) {
        call_stages();
    } else {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return tap_end();
}
