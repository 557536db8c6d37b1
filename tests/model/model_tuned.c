/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_access.h"
#include "model_clock.h"
#include "model_rivals.h"
#include "model_rivals_memory.h"
#include "sizes.h"

typedef enum algorithm { NONOVERLAPPING, DOUBLING, RING, RABENSEIFNER } algorithm_t;

/* Up to so many ranks and, of these, below so many bytes.  SEGMENTED is a ring at these lengths. */
static const struct {
    unsigned below_ranks;
    size_t below_bytes;
    algorithm_t algorithm;
} rules[] = {
    {4, 8, RING},
    {4, 4096, DOUBLING},
    {4, 8192, RING},
    {4, 16384, DOUBLING},
    {4, 262144, RING},
    {4, SIZE_MAX, RABENSEIFNER},
    {8, 16, RING},
    {16, 8192, DOUBLING},
    {16, SIZE_MAX, RABENSEIFNER},
    {32, 64, RING},
    {32, 4096, DOUBLING},
    {32, SIZE_MAX, RABENSEIFNER},
    {64, 128, RING},
    {64, SIZE_MAX, RABENSEIFNER},
    {128, 262144, DOUBLING},
    {128, SIZE_MAX, RABENSEIFNER},
    {256, 131072, NONOVERLAPPING},
    {256, 262144, DOUBLING},
    {256, SIZE_MAX, RABENSEIFNER},
    {512, 4096, NONOVERLAPPING},
    {512, SIZE_MAX, RABENSEIFNER},
};

static algorithm_t choose(unsigned ranks, size_t bytes)
{
    unsigned i = 0;

    while (ranks >= rules[i].below_ranks || bytes >= rules[i].below_bytes) {
        ++i;
    }
    /* A ring of more ranks than numbers is recursive doubling. */
    return RING == rules[i].algorithm && bytes / sizeof(int32_t) < ranks ? DOUBLING
                                                                         : rules[i].algorithm;
}

/* ---- messages ---- */

static void send(const model_rival_call_t *call, unsigned to, unsigned step, const void *data,
                 size_t bytes)
{
    rival_box_t *box = &rival_memory(call, to)->box[call->call % RIVAL_SETS][step];

    model_clock_advance(call->machine->message_ns / 2);
    if (bytes <= RIVAL_BOX_BYTES) {
        (void) model_copy(box->data, data, bytes);
    }
    model_store(&box->number, call->call);
}

/* The message of that step is at `data` afterwards; `from` has it at `there`. */
static void receive(const model_rival_call_t *call, unsigned from, unsigned step, const void *there,
                    void *data, size_t bytes)
{
    rival_box_t *box = &rival_memory(call, call->rank)->box[call->call % RIVAL_SETS][step];

    model_rival_await(call->machine, &box->number, call->call);
    model_clock_advance(call->machine->message_ns / 2);
    if (bytes <= RIVAL_BOX_BYTES) {
        (void) model_copy(data, box->data, bytes);
    } else {
        model_clock_advance(call->machine->single_ns);
        (void) model_copy(data, there, bytes);
        model_store(&rival_memory(call, from)->done[call->call % RIVAL_SETS][step].number,
                    call->call);
    }
}

/* The receiver of a long message has copied it. */
static void finish(const model_rival_call_t *call, unsigned step, size_t bytes)
{
    if (bytes > RIVAL_BOX_BYTES) {
        model_rival_await(
            call->machine,
            &rival_memory(call, call->rank)->done[call->call % RIVAL_SETS][step].number,
            call->call);
    }
}

/* ---- algorithms: each rank's sum is in `out` from the beginning on ---- */

static void add(const model_rival_call_t *call, const void *other, size_t first, size_t bytes)
{
    unsigned char *own = rival_out(call, call->rank) + first;
    const void *parts[] = {own, other};

    if (bytes > 0) {
        model_sum(parts, 2, own, bytes / sizeof(int32_t), NULL);
    }
}

/* Give `give_bytes` of `out` to the other, and get the same of it, to add or to keep. */
static void exchange(const model_rival_call_t *call, unsigned other, unsigned step, size_t give,
                     size_t give_bytes, size_t get, size_t get_bytes, bool adds)
{
    unsigned char *out = rival_out(call, call->rank);
    unsigned char *work = adds ? rival_work(call, call->rank) : out + get;

    if (give_bytes > 0) {
        send(call, other, step, out + give, give_bytes);
    }
    if (get_bytes > 0) {
        receive(call, other, step, rival_out(call, other) + get, work, get_bytes);
    }
    finish(call, step, give_bytes);
    if (adds) {
        add(call, work, get, get_bytes);
    }
}

/* Numbers [first, first + bytes) of `out` that a position has after some halvings. */
static void halve(size_t bytes, unsigned position, unsigned steps, unsigned most_steps,
                  size_t *first, size_t *own_bytes)
{
    *first = 0;
    *own_bytes = bytes;
    for (unsigned step = 0; step < steps; ++step) {
        const size_t lower = arc_round_up(*own_bytes / 2, sizeof(int32_t));
        const bool is_upper = 0 != (position >> (most_steps - 1 - step) & 1);
        *first += is_upper ? lower : 0;
        *own_bytes = is_upper ? *own_bytes - lower : lower;
    }
}

static void exchange_all(const model_rival_call_t *call, unsigned position, unsigned extras,
                         unsigned steps)
{
    for (unsigned step = 0; step < steps; ++step) {
        const unsigned other = position ^ (1u << step);
        exchange(call, other < extras ? 2 * other + 1 : other + extras, 1 + step, 0, call->bytes, 0,
                 call->bytes, true);
    }
}

static void halve_and_double(const model_rival_call_t *call, unsigned position, unsigned extras,
                             unsigned steps)
{
    for (unsigned i = 0; i < 2 * steps; ++i) {
        const unsigned step = i < steps ? i : 2 * steps - 1 - i;
        const unsigned other = position ^ (1u << (steps - 1 - step));
        size_t own = 0, own_bytes = 0, others = 0, others_bytes = 0;
        halve(call->bytes, position, step + 1, steps, &own, &own_bytes);
        halve(call->bytes, other, step + 1, steps, &others, &others_bytes);
        const unsigned rank = other < extras ? 2 * other + 1 : other + extras;
        if (i < steps) {
            exchange(call, rank, 1 + i, others, others_bytes, own, own_bytes, true);
        } else {
            exchange(call, rank, 1 + i, own, own_bytes, others, others_bytes, false);
        }
    }
}

/* Of the first 2 * extras ranks the even ones give their part to the odd ones. */
static void by_positions(const model_rival_call_t *call,
                         void (*exchange_positions)(const model_rival_call_t *, unsigned, unsigned,
                                                    unsigned))
{
    unsigned steps = 0;
    while (call->ranks >> (steps + 1)) {
        ++steps;
    }
    const unsigned extras = call->ranks - (1u << steps);
    const bool is_paired = call->rank < 2 * extras;
    const unsigned last = RIVAL_STEPS - 1;

    if (is_paired && 0 == call->rank % 2) {
        exchange(call, call->rank + 1, 0, 0, call->bytes, 0, 0, true);
        exchange(call, call->rank + 1, last, 0, 0, 0, call->bytes, false);
        return;
    }
    if (is_paired) {
        exchange(call, call->rank - 1, 0, 0, 0, 0, call->bytes, true);
    }
    exchange_positions(call, is_paired ? call->rank / 2 : call->rank - extras, extras, steps);
    if (is_paired) {
        exchange(call, call->rank - 1, last, 0, call->bytes, 0, 0, false);
    }
}

static void ring(const model_rival_call_t *call)
{
    const unsigned ranks = call->ranks;
    const size_t block = arc_round_up(arc_divide_up(call->bytes, ranks), sizeof(int32_t));

    for (unsigned step = 0; step < 2 * (ranks - 1); ++step) {
        const unsigned next = (call->rank + 1) % ranks;
        const unsigned before = (call->rank + ranks - 1) % ranks;
        const bool adds = step < ranks - 1;
        /* The block that goes on from us, and the one that comes. */
        const unsigned shift = adds ? step : step - ranks;
        const size_t give = arc_min(call->bytes, (call->rank + 2 * ranks - shift) % ranks * block);
        const size_t get = arc_min(call->bytes, (before + 2 * ranks - shift) % ranks * block);
        const size_t give_bytes = arc_min(call->bytes - give, block);
        const size_t get_bytes = arc_min(call->bytes - get, block);
        unsigned char *out = rival_out(call, call->rank);
        unsigned char *to = adds ? rival_work(call, call->rank) : out + get;
        send(call, next, step, out + give, give_bytes);
        receive(call, before, step, rival_out(call, before) + get, to, get_bytes);
        finish(call, step, give_bytes);
        if (adds) {
            add(call, to, get, get_bytes);
        }
    }
}

/* Up the binomial tree of rank 0, and down again. */
static void up_and_down(const model_rival_call_t *call)
{
    unsigned step = 0;

    for (; call->rank + (1u << step) < call->ranks && 0 == (call->rank >> step & 1); ++step) {
        exchange(call, call->rank + (1u << step), step, 0, 0, 0, call->bytes, true);
    }
    while (0 != call->rank && 0 == (call->rank >> step & 1)) {
        ++step;
    }
    if (0 != call->rank) {
        const unsigned above = call->rank - (1u << step);
        exchange(call, above, step, 0, call->bytes, 0, 0, true);
        exchange(call, above, RIVAL_STEPS / 2 + step, 0, 0, 0, call->bytes, false);
    }
    while (step-- > 0) {
        if (call->rank + (1u << step) < call->ranks) {
            exchange(call, call->rank + (1u << step), RIVAL_STEPS / 2 + step, 0, call->bytes, 0, 0,
                     false);
        }
    }
}

void model_tuned_run(const model_rival_call_t *call)
{
    (void) model_copy(rival_out(call, call->rank), rival_in(call, call->rank), call->bytes);
    switch (choose(call->ranks, call->bytes)) {
    case NONOVERLAPPING:
        up_and_down(call);
        break;
    case DOUBLING:
        by_positions(call, exchange_all);
        break;
    case RING:
        ring(call);
        break;
    case RABENSEIFNER:
        by_positions(call, halve_and_double);
        break;
    }
}
