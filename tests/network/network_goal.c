/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "network_goal.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a tag. */
typedef struct lane {
    unsigned calc;   /* the last one; 0: none */
    unsigned *ended; /* since then */
    unsigned ended_count;
} lane_t;

struct network_goal {
    FILE *lines;
    char *text;
    size_t text_bytes;
    unsigned labels;
    size_t added_bytes;
    lane_t lane[NETWORK_GOAL_TAGS];
};

network_goal_t *network_goal_new(void)
{
    network_goal_t *goal = calloc(1, sizeof *goal);

    goal->lines = open_memstream(&goal->text, &goal->text_bytes);
    return goal;
}

void network_goal_add(network_goal_t *goal, size_t bytes)
{
    if (NULL != goal) {
        goal->added_bytes += bytes;
    }
}

static void requires(network_goal_t *goal, unsigned label, unsigned after)
{
    if (0 != after) {
        (void) fprintf(goal->lines, "l%u requires l%u\n", label, after);
    }
}

static void join(network_goal_t *goal, lane_t *lane)
{
    if (0 == lane->ended_count && 0 == goal->added_bytes) {
        return;
    }
    const unsigned calc = ++goal->labels;
    (void) fprintf(goal->lines, "l%u: calc %zu\n", calc, goal->added_bytes);
    requires(goal, calc, lane->calc);
    for (unsigned i = 0; i < lane->ended_count; ++i) {
        requires(goal, calc, lane->ended[i]);
    }
    lane->calc = calc;
    lane->ended_count = 0;
    goal->added_bytes = 0;
}

network_goal_message_t network_goal_post(network_goal_t *goal, unsigned rank, unsigned tag)
{
    network_goal_message_t message = {.rank = rank, .tag = tag};

    if (NULL != goal) {
        join(goal, &goal->lane[tag]);
        message.label = ++goal->labels;
        message.after = goal->lane[tag].calc;
    }
    return message;
}

static void print_message(network_goal_t *goal, const network_goal_message_t *message,
                          const char *what, size_t bytes, const char *whom)
{
    (void) fprintf(goal->lines, "l%u: %s %zub %s %u tag %u\n", message->label, what, bytes, whom,
                   message->rank, message->tag);
    requires(goal, message->label, message->after);
}

void network_goal_sent(network_goal_t *goal, const network_goal_message_t *message, size_t bytes)
{
    if (NULL != goal) {
        print_message(goal, message, "send", bytes, "to");
    }
}

void network_goal_received(network_goal_t *goal, const network_goal_message_t *message,
                           size_t bytes)
{
    if (NULL != goal) {
        print_message(goal, message, "recv", bytes, "from");
        network_goal_ended(goal, message);
    }
}

void network_goal_ended(network_goal_t *goal, const network_goal_message_t *message)
{
    if (NULL != goal) {
        lane_t *lane = &goal->lane[message->tag];
        lane->ended = realloc(lane->ended, (lane->ended_count + 1) * sizeof *lane->ended);
        lane->ended[lane->ended_count++] = message->label;
    }
}

void network_goal_print(network_goal_t *goal, unsigned rank)
{
    for (unsigned tag = 0; tag < NETWORK_GOAL_TAGS; ++tag) {
        join(goal, &goal->lane[tag]);
        free(goal->lane[tag].ended);
    }
    (void) fclose(goal->lines);
    (void) printf("\nrank %u {\n%s}\n", rank, goal->text);
    free(goal->text);
    free(goal);
}
