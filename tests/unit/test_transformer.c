/*
 * The model without MPI: gradients against finite differences, kept keys and values against a pass
 * over all at once, and a split model, its ranks being threads, against the whole one.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>
#include <pthread.h>

#include "unit.h"
#include "draw.h"
#include "pass.h"

enum {
    SEQUENCES = 2,
    LENGTH = 150, /* more than a block of queries */
    ROWS = SEQUENCES * LENGTH,
    VOCABULARY = 11,
    MAX_RANKS = 6
};

static const model_shape_t shape = {VOCABULARY, 24, 2, 6, 36};

static void draw_characters(uint8_t *characters, uint64_t seed)
{
    uint64_t state = seed;

    for (size_t i = 0; i < ROWS; i++) {
        characters[i] = (uint8_t) (draw_bits(&state) % VOCABULARY);
    }
}

/* ---- gradients ---- */

typedef struct training {
    model_t model;
    model_t gradient;
    pass_t pass;
    uint8_t characters[ROWS];
    uint8_t came[ROWS];
    float logits[ROWS * VOCABULARY];
} training_t;

static training_t *training_new(void)
{
    training_t *training = calloc(1, sizeof(*training));

    assert_non_null(training);
    assert_int_equal(model_new(&training->model, &shape, 0, 1), 0);
    assert_int_equal(model_new(&training->gradient, &shape, 0, 1), 0);
    assert_int_equal(pass_new(&training->pass, &training->model, SEQUENCES, LENGTH, ROWS, true), 0);
    model_draw(&training->model, 5);
    draw_characters(training->characters, 1);
    draw_characters(training->came, 2);
    return training;
}

static void training_free(training_t *training)
{
    pass_free(&training->pass);
    model_free(&training->gradient);
    model_free(&training->model);
    free(training);
}

static double mean_loss(training_t *training)
{
    size_t hits = 0;

    training->pass.past = 0;
    pass_forward(&training->pass, training->characters, LENGTH);
    pass_logits(&training->pass, 0, ROWS, training->logits);
    return pass_loss(training->logits, training->came, ROWS, VOCABULARY, &hits) / ROWS;
}

/* Central difference of the loss along a direction in count weights from `first` on. */
static double slope_along(training_t *training, size_t first, const float *direction, size_t count)
{
    const float step = 4e-3f;
    double losses[2];
    float *weights = training->model.values + first;
    float *kept = malloc(count * sizeof(float));

    assert_non_null(kept);
    memcpy(kept, weights, count * sizeof(float));
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < count; i++) {
            weights[i] = kept[i] + (0 == side ? -step : step) * direction[i];
        }
        losses[side] = mean_loss(training);
    }
    memcpy(weights, kept, count * sizeof(float));
    free(kept);
    return (losses[1] - losses[0]) / (2 * (double) step);
}

/* Along random directions of length root(count), in which a wrong element shows. */
static void check_matrix(training_t *training, const float *gradient, size_t count)
{
    enum { DIRECTIONS = 4 };
    const double noise = 3e-4; /* of a difference of losses in single precision, over the step */
    const size_t first = (size_t) (gradient - training->gradient.values);
    float *direction = malloc(count * sizeof(float));
    uint64_t state = first + 1;
    double norm = 0;

    assert_non_null(direction);
    for (size_t i = 0; i < count; i++) {
        norm += (double) gradient[i] * (double) gradient[i];
    }
    norm = sqrt(norm);
    assert_true(norm > 10 * noise); /* or nothing would be tested */
    for (int number = 0; number < DIRECTIONS; number++) {
        double expected = 0;
        for (size_t i = 0; i < count; i++) {
            direction[i] = draw_bits(&state) % 2 == 0 ? 1 : -1;
            expected += (double) direction[i] * (double) gradient[i];
        }
        const double found = slope_along(training, first, direction, count);
        assert_float_equal((float) found, (float) expected, (float) (0.01 * norm + noise));
    }
    free(direction);
}

static void gradient_is_that_of_finite_differences(void **state)
{
    training_t *training = training_new();
    float *scratch = calloc(pass_backward_floats(&training->pass), sizeof(float));
    const size_t width = (size_t) shape.width;
    const size_t hidden = (size_t) shape.hidden;

    assert_non_null(scratch);
    training->pass.residual = PASS_RESIDUAL_FIRST;
    (void) mean_loss(training);
    pass_backward(&training->pass, training->characters, training->logits, &training->gradient,
                  scratch);
    check_matrix(training, training->gradient.embedding, VOCABULARY * width);
    for (int i = 0; i < shape.layers; i++) {
        const model_layer_t *layer = &training->gradient.layers[i];
        check_matrix(training, layer->norm_mix, width);
        check_matrix(training, layer->query, width * width);
        check_matrix(training, layer->key, width * width);
        check_matrix(training, layer->value, width * width);
        check_matrix(training, layer->mix, width * width);
        check_matrix(training, layer->norm_mlp, width);
        check_matrix(training, layer->up, width * hidden);
        check_matrix(training, layer->down, width * hidden);
    }
    check_matrix(training, training->gradient.norm_out, width);
    check_matrix(training, training->gradient.logits, VOCABULARY * width);
    free(scratch);
    training_free(training);
}

/* ---- inference ---- */

/* Logits of all rows, the characters coming in pieces of count. */
static void infer(pass_t *pass, const uint8_t *characters, int count, float *logits)
{
    static _Thread_local uint8_t piece[ROWS];
    static _Thread_local float of_piece[ROWS * VOCABULARY];
    const size_t row_bytes = VOCABULARY * sizeof(float);

    pass->past = 0;
    for (size_t begin = 0; begin < LENGTH; begin += (size_t) count) {
        for (size_t i = 0; i < SEQUENCES; i++) {
            memcpy(piece + i * (size_t) count, characters + i * LENGTH + begin, (size_t) count);
        }
        pass_forward(pass, piece, count);
        pass_logits(pass, 0, SEQUENCES * (size_t) count, of_piece);
        for (size_t i = 0; i < SEQUENCES; i++) {
            memcpy(logits + (i * LENGTH + begin) * VOCABULARY,
                   of_piece + i * (size_t) count * VOCABULARY, (size_t) count * row_bytes);
        }
    }
}

static void assert_close(const float *found, const float *expected)
{
    for (size_t i = 0; i < ROWS * VOCABULARY; i++) {
        assert_float_equal(found[i], expected[i], 2e-5f);
    }
}

static void pieces_of_any_length_give_the_same_logits(void **state)
{
    static const int counts[] = {1, 3, 50, 75};
    static float at_once[ROWS * VOCABULARY];
    static float in_pieces[ROWS * VOCABULARY];
    uint8_t characters[ROWS];
    model_t model;
    pass_t pass;

    draw_characters(characters, 3);
    assert_int_equal(model_new(&model, &shape, 0, 1), 0);
    model_draw(&model, 7);
    assert_int_equal(pass_new(&pass, &model, SEQUENCES, LENGTH, ROWS, false), 0);
    infer(&pass, characters, LENGTH, at_once);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        infer(&pass, characters, counts[i], in_pieces);
        assert_close(in_pieces, at_once);
    }
    pass_free(&pass);
    model_free(&model);
}

/* Ranks that are threads, and what they add. */
typedef struct team {
    int ranks;
    pthread_barrier_t barrier;
    float contributions[MAX_RANKS][ROWS * 24];
    model_t whole;
    pass_residual_t residual;
    uint8_t characters[ROWS];
    float logits[MAX_RANKS][ROWS * VOCABULARY];
} team_t;

typedef struct member {
    team_t *team;
    int rank;
} member_t;

static void sum_of_team(void *context, float *x, size_t count)
{
    const member_t *member = context;
    team_t *team = member->team;

    memcpy(team->contributions[member->rank], x, count * sizeof(float));
    pthread_barrier_wait(&team->barrier);
    memset(x, 0, count * sizeof(float));
    for (int rank = 0; rank < team->ranks; rank++) {
        for (size_t i = 0; i < count; i++) {
            x[i] += team->contributions[rank][i];
        }
    }
    pthread_barrier_wait(&team->barrier);
}

static void *run_member(void *context)
{
    member_t *member = context;
    team_t *team = member->team;
    model_t part;
    pass_t pass;

    if (0 != model_new(&part, &shape, member->rank, team->ranks) ||
        0 != pass_new(&pass, &part, SEQUENCES, LENGTH, ROWS, false)) {
        abort(); /* the others would wait for ever */
    }
    model_split(&team->whole, &part);
    pass.residual = team->residual;
    pass.sum = sum_of_team;
    pass.sum_context = member;
    infer(&pass, team->characters, LENGTH / 2, team->logits[member->rank]);
    pass_free(&pass);
    model_free(&part);
    return NULL;
}

static void run_team(team_t *team)
{
    pthread_t threads[MAX_RANKS];
    member_t members[MAX_RANKS];

    assert_int_equal(pthread_barrier_init(&team->barrier, NULL, (unsigned) team->ranks), 0);
    for (int rank = 0; rank < team->ranks; rank++) {
        members[rank] = (member_t){team, rank};
        assert_int_equal(pthread_create(&threads[rank], NULL, run_member, &members[rank]), 0);
    }
    for (int rank = 0; rank < team->ranks; rank++) {
        assert_int_equal(pthread_join(threads[rank], NULL), 0);
    }
    pthread_barrier_destroy(&team->barrier);
}

static void split_models_give_the_logits_of_the_whole_one(void **state)
{
    static const int splits[] = {1, 2, 3, 6};
    static float alone[ROWS * VOCABULARY];
    team_t *team = calloc(1, sizeof(*team));
    pass_t pass;

    assert_non_null(team);
    assert_int_equal(model_new(&team->whole, &shape, 0, 1), 0);
    model_draw(&team->whole, 11);
    draw_characters(team->characters, 4);
    assert_int_equal(pass_new(&pass, &team->whole, SEQUENCES, LENGTH, ROWS, false), 0);
    infer(&pass, team->characters, LENGTH, alone);
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
        for (int residual = PASS_RESIDUAL_APART; residual <= PASS_RESIDUAL_SHARED; residual++) {
            team->ranks = splits[i];
            team->residual = (pass_residual_t) residual;
            run_team(team);
            for (int rank = 0; rank < team->ranks; rank++) {
                assert_close(team->logits[rank], alone);
                assert_memory_equal(team->logits[rank], team->logits[0], sizeof(team->logits[0]));
            }
        }
    }
    pass_free(&pass);
    model_free(&team->whole);
    free(team);
}

/* ---- shapes ---- */

static void shapes_that_cannot_be_split_have_a_fault(void **state)
{
    model_shape_t wrong = shape;
    char text[160];

    assert_null(model_shape_fault(&shape, 1, text, sizeof(text)));
    assert_null(model_shape_fault(&shape, 6, text, sizeof(text)));
    assert_non_null(model_shape_fault(&shape, 4, text, sizeof(text)));
    wrong.heads = 7;
    assert_non_null(model_shape_fault(&wrong, 1, text, sizeof(text)));
    wrong = shape;
    wrong.layers = MODEL_MAX_LAYERS + 1;
    assert_non_null(model_shape_fault(&wrong, 1, text, sizeof(text)));
    wrong = shape;
    wrong.width = -24;
    assert_non_null(model_shape_fault(&wrong, 1, text, sizeof(text)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_that_of_finite_differences),
        cmocka_unit_test(pieces_of_any_length_give_the_same_logits),
        cmocka_unit_test(split_models_give_the_logits_of_the_whole_one),
        cmocka_unit_test(shapes_that_cannot_be_split_have_a_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
