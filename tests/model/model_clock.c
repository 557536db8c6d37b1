/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_clock.h"

#include <stdlib.h>

#include "fiber.h"
#include "model_machine.h"

/* A store becomes visible, or, without an address, a core goes on. */
typedef struct event {
    double at_ns;
    uint64_t number;
    uint64_t *address;
    uint64_t value; /* or the core */
} event_t;

static struct {
    event_t *heap; /* the earliest first */
    size_t events;
    size_t room;
    uint64_t numbers;
    unsigned core; /* whose body runs */
    double now_ns[MODEL_MOST_CORES];
    arc_fiber_t *fiber[MODEL_MOST_CORES];
    model_body_fn_t body;
    void *context;
} the;

static bool is_before(const event_t *a, const event_t *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->number < b->number);
}

static void push(event_t event)
{
    event.number = the.numbers++;
    if (the.events == the.room) {
        the.room = 2 * the.room + MODEL_MOST_CORES;
        the.heap = realloc(the.heap, the.room * sizeof *the.heap);
        if (NULL == the.heap) {
            abort();
        }
    }
    size_t at = the.events++;
    for (; at > 0 && is_before(&event, &the.heap[(at - 1) / 2]); at = (at - 1) / 2) {
        the.heap[at] = the.heap[(at - 1) / 2];
    }
    the.heap[at] = event;
}

static event_t pop(void)
{
    const event_t first = the.heap[0];
    const event_t last = the.heap[--the.events];
    size_t at = 0;

    for (size_t child = 1; child < the.events; child = 2 * at + 1) {
        if (child + 1 < the.events && is_before(&the.heap[child + 1], &the.heap[child])) {
            ++child;
        }
        if (!is_before(&the.heap[child], &last)) {
            break;
        }
        the.heap[at] = the.heap[child];
        at = child;
    }
    the.heap[at] = last;
    return first;
}

static void go_on(unsigned core)
{
    push((event_t){.at_ns = the.now_ns[core], .value = core});
}

unsigned model_clock_core(void)
{
    return the.core;
}

double model_clock_now(void)
{
    return the.now_ns[the.core];
}

void model_clock_advance(double ns)
{
    the.now_ns[the.core] += ns;
}

void model_clock_await(double ns)
{
    if (the.now_ns[the.core] < ns) {
        the.now_ns[the.core] = ns;
    }
}

void model_clock_settle(void)
{
    while (the.events > 0 && the.heap[0].at_ns <= the.now_ns[the.core]) {
        if (NULL == the.heap[0].address) {
            go_on(the.core);
            arc_fiber_yield();
            return;
        }
        const event_t event = pop();
        *event.address = event.value;
    }
}

void model_clock_store(double at_ns, uint64_t *address, uint64_t value)
{
    push((event_t){.at_ns = at_ns, .address = address, .value = value});
}

static void run_body(void *core)
{
    the.body(the.context, *(unsigned *) core);
}

bool model_clock_run(unsigned cores, model_body_fn_t body, void *context, double limit_ns)
{
    static unsigned number[MODEL_MOST_CORES];
    unsigned running = 0;

    the.events = 0;
    the.body = body;
    the.context = context;
    for (; running < cores; ++running) {
        number[running] = running;
        the.now_ns[running] = 0;
        the.fiber[running] = arc_fiber_new(0);
        if (NULL == the.fiber[running]) {
            abort();
        }
        arc_fiber_begin(the.fiber[running], run_body, &number[running]);
        go_on(running);
    }
    while (running > 0 && the.heap[0].at_ns <= limit_ns) {
        const event_t event = pop();
        if (NULL != event.address) {
            *event.address = event.value;
            continue;
        }
        the.core = (unsigned) event.value;
        if (!arc_fiber_resume(the.fiber[the.core])) {
            arc_fiber_free(the.fiber[the.core]);
            --running;
        }
    }
    /* Stores that nobody has waited for: of the next run they would be none. */
    while (0 == running && the.events > 0) {
        const event_t event = pop();
        *event.address = event.value;
    }
    free(the.heap);
    the.heap = NULL;
    the.room = 0;
    return 0 == running;
}
