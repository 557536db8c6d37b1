/*
 * Serves a trace of requests with a model that no small machine holds: the sums over the ranks are
 * real, what is computed between them is a wait (accelerator.h).
 *
 *   -m NAME   model (default 70B), of which -l N layers run (default 4)
 *   -n N      requests (default 200)             -c N   served at a time, at most (default 32)
 *   -i N      mean tokens of a prompt (64)       -o N   and of an answer (64)
 *   -a X      requests that arrive in a second (default 100)
 *   -p N      stages of a pipeline (default 1), each split over ranks / N ranks
 *   -k N      tokens of a step, at most (default 512)
 *   -s N      seed (1)      -g X, -f X   as of transformer_decode
 *
 * As a serving engine with continuous batching: each step takes a token of every request that has
 * begun to answer, and as much of the prompts of others as fits into -k. Lengths are drawn from
 * exponential distributions, pauses between requests from a gamma distribution of shape 2, as table
 * 6 of the NVRAR paper has it. A step of a pipeline is one of -p lanes, which follow each other
 * from stage to stage; a request stays in its lane. Rank 0 decides what a step has, and the others
 * learn that from a message. Prints: requests, answered tokens, seconds, tokens/s, median and 99th
 * percentile of the seconds from a request's arrival to its first token and to its end.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "accelerator.h"
#include "draw.h"
#include "seconds.h"

enum { MOST_LANES = 8, END = -1, DATA_TAG = 1, DONE_TAG = 2 };

typedef struct request {
    double arrival;
    double first; /* when its first token was there */
    double end;
    int prompt_left; /* tokens */
    int answer_left;
    int prompt_now; /* in the step that is under way */
    int lane;       /* -1: it waits */
} request_t;

typedef struct server {
    job_t job;
    accelerator_t accelerator;
    const big_model_t *model;
    const char *name;
    int layers;
    int requests;
    int most_at_a_time;
    int mean_prompt;
    int mean_answer;
    double arrivals;
    int stages;
    int step_tokens;
    long seed;
    int stage;
    MPI_Comm within; /* the ranks of the stage */
    int split;       /* how many they are */
    float *activations;
    request_t *request; /* rank 0 */
    int arrived;        /* of these, the first ones have; so many have */
    int ended;          /* ended */
    int running[MOST_LANES];
    double begin;
} server_t;

/* ---- what comes ---- */

static double draw_exponential(uint64_t *state)
{
    return -log(draw_uniform(state));
}

static int draw_length(uint64_t *state, int mean)
{
    return 1 + (int) (draw_exponential(state) * mean);
}

static void draw_requests(server_t *server)
{
    uint64_t state = (uint64_t) server->seed;
    double arrival = 0;

    for (int i = 0; i < server->requests; i++) {
        arrival += (draw_exponential(&state) + draw_exponential(&state)) / (2 * server->arrivals);
        server->request[i] = (request_t){.arrival = arrival,
                                         .prompt_left = draw_length(&state, server->mean_prompt),
                                         .answer_left = draw_length(&state, server->mean_answer),
                                         .lane = -1};
    }
}

/* ---- what a step has ---- */

/* Those that wait come into the lane as long as there is room. */
static void admit(server_t *server, int lane)
{
    const double now = MPI_Wtime() - server->begin;
    const int most = server->most_at_a_time / server->stages;

    while (server->arrived < server->requests && server->running[lane] < most &&
           server->request[server->arrived].arrival <= now) {
        server->request[server->arrived++].lane = lane;
        server->running[lane]++;
    }
}

/* Tokens of the next step of the lane; END: everything has been answered. */
static int plan_step(server_t *server, int lane)
{
    int tokens = 0;

    admit(server, lane);
    for (int i = 0; i < server->arrived; i++) {
        const request_t *request = &server->request[i];
        tokens += request->lane == lane && 0 == request->prompt_left && request->answer_left > 0;
    }
    for (int i = 0; i < server->arrived; i++) {
        request_t *request = &server->request[i];
        const int room = server->step_tokens > tokens ? server->step_tokens - tokens : 0;
        if (request->lane == lane) {
            request->prompt_now = request->prompt_left < room ? request->prompt_left : room;
            tokens += request->prompt_now;
        }
    }
    return server->ended == server->requests ? END : tokens;
}

/* Every request of the lane that has its whole prompt behind it has got a token. */
static void end_step(server_t *server, int lane)
{
    const double now = MPI_Wtime() - server->begin;

    for (int i = 0; i < server->arrived; i++) {
        request_t *request = &server->request[i];
        if (request->lane != lane || 0 == request->answer_left) {
            continue;
        }
        const bool began = request->prompt_left > 0;
        request->prompt_left -= request->prompt_now;
        if (request->prompt_left > 0) {
            continue;
        }
        request->first = began ? now : request->first;
        if (0 == --request->answer_left) {
            request->end = now;
            server->running[lane]--;
            server->ended++;
        }
    }
}

/* ---- a step ---- */

static void sum(server_t *server, int tokens)
{
    MPI_Allreduce(MPI_IN_PLACE, server->activations, tokens * server->model->width, MPI_FLOAT,
                  MPI_SUM, server->within);
}

static void run_layers(server_t *server, int tokens)
{
    for (int layer = 0; layer < server->layers / server->stages; layer++) {
        accelerator_attention(&server->accelerator, server->model, server->split, tokens);
        sum(server, tokens);
        accelerator_mlp(&server->accelerator, server->model, server->split, tokens);
        sum(server, tokens);
    }
}

/* Its activations come from the stage before and go to the next one, between ranks of one place. */
static int run_step(server_t *server, int lane)
{
    const int width = server->model->width;
    int tokens = END;
    MPI_Status status;

    if (0 == server->stage) {
        tokens = 0 == server->job.rank ? plan_step(server, lane) : tokens;
        MPI_Bcast(&tokens, 1, MPI_INT, 0, server->within);
    } else {
        MPI_Recv(server->activations, server->step_tokens * width, MPI_FLOAT,
                 server->job.rank - server->split, DATA_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_FLOAT, &tokens);
        tokens = 1 == tokens ? END : tokens / width; /* one number, which is no token */
    }
    if (tokens > 0) {
        run_layers(server, tokens);
    }
    if (server->stage + 1 < server->stages) {
        MPI_Send(server->activations, END == tokens ? 1 : tokens * width, MPI_FLOAT,
                 server->job.rank + server->split, DATA_TAG, MPI_COMM_WORLD);
    } else if (server->job.rank == (server->stages - 1) * server->split && server->stages > 1) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, DONE_TAG, MPI_COMM_WORLD);
    }
    return tokens;
}

/* Rank 0 begins the next step of a lane when the one before has come out of the last stage. */
static void serve(server_t *server)
{
    bool under_way[MOST_LANES] = {false};
    int ends = 0;

    for (int lane = 0; ends < server->stages; lane = (lane + 1) % server->stages) {
        if (0 == server->job.rank && under_way[lane]) {
            if (server->stages > 1) {
                MPI_Recv(NULL, 0, MPI_BYTE, (server->stages - 1) * server->split, DONE_TAG,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            end_step(server, lane);
        }
        under_way[lane] = true;
        ends = END == run_step(server, lane) ? ends + 1 : 0;
    }
    while (0 == server->job.rank && server->stages > 1 && ends-- > 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, (server->stages - 1) * server->split, DONE_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

/* ---- the program ---- */

static void print_times(const server_t *server, double seconds, double tokens)
{
    const int count = server->requests;
    double *first = malloc((size_t) count * sizeof(double));
    double *whole = malloc((size_t) count * sizeof(double));

    if (NULL == first || NULL == whole) {
        MPI_Abort(MPI_COMM_WORLD, JOB_USAGE);
    }
    for (int i = 0; i < count; i++) {
        first[i] = server->request[i].first - server->request[i].arrival;
        whole[i] = server->request[i].end - server->request[i].arrival;
    }
    const double medians[] = {seconds_median(first, (size_t) count),
                              seconds_median(whole, (size_t) count)};
    printf("served\t%s\t%d\t%d\t%.0f\t%.4f\t%.2f\t%.4f\t%.4f\t%.4f\t%.4f\n", server->name,
           server->most_at_a_time, count, tokens, seconds, tokens / seconds, medians[0],
           first[count * 99 / 100], medians[1], whole[count * 99 / 100]);
    free(whole);
    free(first);
}

static void read_options(server_t *server, int argc, char **argv)
{
    const option_row_t rows[] = {
        OPTION('m', server->name),
        OPTION_FROM('l', NULL, server->layers, 1, 1000),
        OPTION_FROM('n', NULL, server->requests, 1, 100000),
        OPTION_FROM('c', NULL, server->most_at_a_time, 1, 4096),
        OPTION_FROM('i', NULL, server->mean_prompt, 1, 100000),
        OPTION_FROM('o', NULL, server->mean_answer, 1, 100000),
        OPTION_FROM('a', NULL, server->arrivals, 1e-6, 1e9),
        OPTION_FROM('p', NULL, server->stages, 1, MOST_LANES),
        OPTION_FROM('k', NULL, server->step_tokens, 1, 4096),
        OPTION('s', server->seed),
        OPTION_FROM('g', NULL, server->accelerator.gigabytes_per_second, 1e-6, 1e12),
        OPTION_FROM('f', NULL, server->accelerator.teraflops, 1e-6, 1e12),
        {.letter = 0},
    };

    job_take_options(&server->job, "transformer_serve", argc, argv, rows);
    server->model = accelerator_model(&server->job, server->name);
    if (0 != server->job.ranks % server->stages || 0 != server->layers % server->stages ||
        server->most_at_a_time < server->stages ||
        server->step_tokens < server->most_at_a_time / server->stages) {
        job_fail(&server->job, JOB_USAGE,
                 "transformer_serve: -p must divide the ranks and -l; -c at least -p; -k at least "
                 "the requests of a lane");
    }
}

int main(int argc, char **argv)
{
    server_t server = {.accelerator = ACCELERATOR_A100,
                       .name = "70B",
                       .layers = 4,
                       .requests = 200,
                       .most_at_a_time = 32,
                       .mean_prompt = 64,
                       .mean_answer = 64,
                       .arrivals = 100,
                       .stages = 1,
                       .step_tokens = 512,
                       .seed = 1};
    double tokens = 0;

    job_begin(&server.job, &argc, &argv);
    read_options(&server, argc, argv);
    server.split = server.job.ranks / server.stages;
    server.stage = server.job.rank / server.split;
    MPI_Comm_split(MPI_COMM_WORLD, server.stage, server.job.rank, &server.within);
    server.activations =
        calloc((size_t) server.step_tokens * (size_t) server.model->width, sizeof(float));
    server.request = calloc((size_t) server.requests, sizeof(request_t));
    job_fail_if_any(&server.job, NULL == server.activations || NULL == server.request);
    accelerator_calibrate(&server.accelerator);
    draw_requests(&server);
    for (int i = 0; i < server.requests; i++) {
        tokens += server.request[i].answer_left;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    server.begin = MPI_Wtime();
    serve(&server);
    if (0 == server.job.rank) {
        print_times(&server, MPI_Wtime() - server.begin, tokens);
    }
    MPI_Comm_free(&server.within);
    free(server.request);
    free(server.activations);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
