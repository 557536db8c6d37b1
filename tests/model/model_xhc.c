/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_access.h"
#include "model_clock.h"
#include "model_rivals.h"
#include "model_rivals_memory.h"
#include "sizes.h"

/* The groups that a rank is in, from the lowest level on, up to the one in which it does not lead.
 */
typedef struct place {
    size_t box_bytes; /* vectors up to this length go through boxes */
    unsigned levels;  /* of the node */
    unsigned own;     /* ... in which the rank takes part */
    unsigned leader[RIVAL_XHC_LEVELS];
    unsigned stride[RIVAL_XHC_LEVELS]; /* from a member to the next */
    unsigned members[RIVAL_XHC_LEVELS];
    unsigned index[RIVAL_XHC_LEVELS]; /* of the rank; 0: it leads */
} place_t;

static place_t find_place(const model_rival_call_t *call, model_level_t first, size_t box_bytes)
{
    place_t place = {.box_bytes = box_bytes};
    unsigned stride = 1;

    for (unsigned level = first; level < MODEL_LEVELS; ++level) {
        const unsigned shared =
            MODEL_ACROSS == level ? call->ranks : (unsigned) call->machine->shared[level];
        const unsigned leader = call->rank / shared * shared;
        const unsigned end = arc_min(call->ranks, leader + shared);
        if (shared <= stride || stride >= call->ranks) {
            continue;
        }
        const unsigned at = place.levels++;
        place.leader[at] = leader;
        place.stride[at] = stride;
        place.members[at] = (unsigned) arc_divide_up(end - leader, stride);
        place.index[at] = (call->rank - leader) / stride;
        if (0 == (call->rank - leader) % stride) {
            place.own = place.levels;
        }
        stride = shared;
    }
    return place;
}

static unsigned member(const place_t *place, unsigned level, unsigned index)
{
    return place->leader[level] + index * place->stride[level];
}

static rival_box_t *box(const model_rival_call_t *call, unsigned rank, unsigned level)
{
    return &rival_memory(call, rank)->box[call->call % RIVAL_SETS][level];
}

/* Where a rank's vector is at a level. */
static unsigned char *vector(const model_rival_call_t *call, const place_t *place, unsigned level,
                             unsigned rank)
{
    if (call->bytes <= place->box_bytes) {
        return box(call, rank, level)->data;
    }
    return 0 == level ? rival_in(call, rank) : rival_out(call, rank);
}

static void await_members(const model_rival_call_t *call, const place_t *place, unsigned level,
                          size_t flag_offset, uint64_t number)
{
    for (unsigned i = 0; i < place->members[level]; ++i) {
        if (i != place->index[level]) {
            const unsigned char *memory =
                (const unsigned char *) rival_memory(call, member(place, level, i));
            const rival_flag_t *flags =
                (const rival_flag_t *) (const void *) (memory + flag_offset);
            model_rival_await(call->machine, &flags[level].number, number);
        }
    }
}

/* Sum bytes [first, end) of all members' vectors to `to`, which has the whole vector. */
static void sum(const model_rival_call_t *call, const place_t *place, unsigned level,
                unsigned char *to, size_t first, size_t end)
{
    const void *parts[MODEL_MOST_CORES];

    for (unsigned i = 0; i < place->members[level]; ++i) {
        parts[i] = vector(call, place, level, member(place, level, i)) + first;
    }
    if (end > first) {
        model_sum(parts, place->members[level], to + first, (end - first) / sizeof(int32_t), NULL);
    }
}

/* Short ones: the leader sums what the members have put into their buffers, behind the number. */
static void run_short(const model_rival_call_t *call, const place_t *place)
{
    rival_box_t *result = box(call, call->rank, RIVAL_XHC_LEVELS);
    unsigned level = 0;

    (void) model_copy(vector(call, place, 0, call->rank), rival_in(call, call->rank), call->bytes);
    for (; level < place->own && 0 == place->index[level]; ++level) {
        const bool is_last = level + 1 == place->levels;
        for (unsigned i = 1; i < place->members[level]; ++i) {
            model_rival_await(call->machine, &box(call, member(place, level, i), level)->number,
                              call->call);
        }
        sum(call, place, level, is_last ? result->data : vector(call, place, level + 1, call->rank),
            0, call->bytes);
    }
    if (level < place->levels) {
        const rival_box_t *there = box(call, place->leader[level], RIVAL_XHC_LEVELS);
        model_store(&box(call, call->rank, level)->number, call->call);
        model_rival_await(call->machine, &there->number, call->call);
        (void) model_copy(0 == level ? rival_out(call, call->rank) : result->data, there->data,
                          call->bytes);
    }
    if (level > 0) {
        model_store(&result->number, call->call);
        (void) model_copy(rival_out(call, call->rank), result->data, call->bytes);
    }
}

/* Longer ones: each member sums its part of a chunk into the memory of the leader. */
static void run_long(const model_rival_call_t *call, const place_t *place)
{
    rival_memory_t *own = rival_memory(call, call->rank);
    const size_t chunks = arc_divide_up(call->bytes, RIVAL_XHC_CHUNK_BYTES);
    const uint64_t before = call->call * chunks;
    unsigned led = 0;

    for (; led < place->own && 0 == place->index[led]; ++led) {
    }
    for (size_t chunk = 0; chunk < chunks; ++chunk) {
        const uint64_t number = before + chunk + 1;
        const size_t start = chunk * RIVAL_XHC_CHUNK_BYTES;
        const size_t bytes = arc_min(call->bytes - start, RIVAL_XHC_CHUNK_BYTES);
        for (unsigned level = 0; level < place->own; ++level) {
            const size_t part =
                arc_round_up(arc_divide_up(bytes, place->members[level]), MODEL_LINE_BYTES);
            const size_t first = start + arc_min(bytes, place->index[level] * part);
            const size_t end = arc_min(start + bytes, first + part);
            model_store(&own->ready[level].number, number);
            await_members(call, place, level, offsetof(rival_memory_t, ready), number);
            sum(call, place, level, rival_out(call, place->leader[level]), first, end);
            model_store(&own->summed[level].number, number);
            if (0 == place->index[level]) {
                await_members(call, place, level, offsetof(rival_memory_t, summed), number);
            }
        }
        if (led == place->levels) {
            model_store(&own->result.number, number);
        }
    }
    for (size_t chunk = 0; chunk < chunks && led < place->levels; ++chunk) {
        const uint64_t number = before + chunk + 1;
        const size_t start = chunk * RIVAL_XHC_CHUNK_BYTES;
        const unsigned leader = place->leader[led];
        model_rival_await(call->machine, &rival_memory(call, leader)->result.number, number);
        (void) model_copy(rival_out(call, call->rank) + start, rival_out(call, leader) + start,
                          arc_min(call->bytes - start, RIVAL_XHC_CHUNK_BYTES));
        if (led > 0) {
            model_store(&own->result.number, number);
        }
    }
    if (led < place->levels) {
        model_store(&own->taken[led].number, before + chunks);
    }
    for (unsigned level = 0; level < led; ++level) {
        await_members(call, place, level, offsetof(rival_memory_t, taken), before + chunks);
    }
}

static void run(const model_rival_call_t *call, model_level_t first, size_t box_bytes)
{
    const place_t place = find_place(call, first, box_bytes);

    if (call->bytes <= box_bytes) {
        run_short(call, &place);
    } else {
        run_long(call, &place);
    }
}

void model_xhc_run(const model_rival_call_t *call)
{
    run(call, MODEL_NUMA, RIVAL_XHC_BOX_BYTES);
}

void model_xhc_l3_run(const model_rival_call_t *call)
{
    run(call, MODEL_GROUP, RIVAL_BOX_BYTES);
}
