/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "exchange_pipeline_pack.h"
#include "sizes.h"

enum { PART_ALIGN_BYTES = 16 }; /* whatever a coder's numbers ask for */

/* ---- of one part, or one message ---- */

bool exchange_keep_is_reduce(const exchange_pipeline_t *pipe, unsigned round)
{
    return round < pipe->plan.rounds / 2;
}

cell_t *exchange_keep_cell(const exchange_pipeline_t *pipe, unsigned shard, unsigned lane)
{
    return &pipe->cell[(size_t) shard * pipe->plan.window + lane];
}

exchange_message_t exchange_keep_message(const exchange_pipeline_t *pipe, const place_t *place,
                                         unsigned shard, bool partial)
{
    return (exchange_message_t){
        .partial = partial,
        .inside = partial && pipe->round[place->round].inside,
        .round = partial ? place->round : pipe->plan.rounds,
        .shard = shard,
        .span = exchange_layout_segment(&pipe->operation.layout, shard, place->segment),
    };
}

exchange_message_t exchange_keep_received(const exchange_pipeline_t *pipe, const place_t *place)
{
    return exchange_keep_message(pipe, place, pipe->round[place->round].receive_shard,
                                 exchange_keep_is_reduce(pipe, place->round));
}

void exchange_keep_free_slot(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(pipe->free_slots < pipe->plan.slots);
    pipe->free_slot[pipe->free_slots++] = slot;
}

void exchange_keep_free_sum(exchange_pipeline_t *pipe, void *numbers)
{
    assert(pipe->free_sums < pipe->plan.kept);
    pipe->free_sum[pipe->free_sums++] = numbers;
}

void exchange_keep_release(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(slot->users > 0);
    if (0 == --slot->users) {
        exchange_keep_free_slot(pipe, slot);
    }
}

void exchange_keep_total(exchange_pipeline_t *pipe, slot_t *slot, const void *total, size_t bytes,
                         const place_t *place, unsigned shard)
{
    const unsigned forwards = pipe->round[place->round].forwards;
    cell_t *cell = exchange_keep_cell(pipe, shard, place->lane);

    pipe->kept += 0 == slot->forwards && 0 != forwards;
    assert(pipe->kept <= pipe->plan.kept);
    slot->users += forwards;
    slot->forwards += forwards;
    cell->kept = slot;
    cell->total = total;
    cell->total_bytes = bytes;
}

void exchange_keep_forwarded(exchange_pipeline_t *pipe, slot_t *slot)
{
    assert(slot->forwards > 0);
    pipe->kept -= 0 == --slot->forwards;
}

void exchange_keep_add(exchange_pipeline_t *pipe, const place_t *place,
                       const exchange_message_t *message, const void *buffer)
{
    const bool opens = pipe->round[place->round].opens;
    exchange_sum_t *sum = &exchange_keep_cell(pipe, message->shard, place->lane)->sum;

    if (opens) {
        assert(pipe->free_sums > 0);
        sum->numbers = pipe->free_sum[--pipe->free_sums];
    }
    pipe->coder->ops->add(pipe->coder, message, buffer, opens ? NULL : sum, sum);
}

const exchange_sum_t *exchange_keep_sent(exchange_pipeline_t *pipe, const place_t *place)
{
    const exchange_round_t *round = &pipe->round[place->round];
    const cell_t *cell = exchange_keep_cell(pipe, round->send_shard, place->lane);

    if (EXCHANGE_AFTER_NOTHING == round->send_after) {
        return NULL;
    }
    exchange_keep_free_sum(pipe, cell->sum.numbers);
    return &cell->sum;
}

/* ---- packs ---- */

static size_t table_bytes(unsigned parts)
{
    return arc_round_up(parts * sizeof(uint32_t), PART_ALIGN_BYTES);
}

size_t exchange_pack_bytes(unsigned parts, size_t bytes)
{
    return table_bytes(parts) + parts * arc_round_up(bytes, PART_ALIGN_BYTES);
}

/* Write what the round of a place sends; its bytes. */
static size_t put_part(exchange_pipeline_t *pipe, const place_t *place, uint8_t *to)
{
    const unsigned shard = pipe->round[place->round].send_shard;
    const exchange_message_t message =
        exchange_keep_message(pipe, place, shard, exchange_keep_is_reduce(pipe, place->round));
    const cell_t *cell = exchange_keep_cell(pipe, shard, place->lane);

    if (0 == message.span.elems) {
        return 0;
    }
    if (!message.partial) {
        memcpy(to, cell->total, cell->total_bytes);
        exchange_keep_forwarded(pipe, cell->kept);
        exchange_keep_release(pipe, cell->kept);
        return cell->total_bytes;
    }
    return pipe->coder->ops->encode(pipe->coder, &message, exchange_keep_sent(pipe, place), to);
}

size_t exchange_pack_make(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot)
{
    uint32_t *table = (uint32_t *) (void *) slot->buffer;
    size_t bytes = table_bytes(place->end - place->round);

    memset(table, 0, bytes);
    for (place_t part = *place; part.round < part.end; ++part.round) {
        const size_t put = put_part(pipe, &part, slot->buffer + bytes);
        const size_t padded = arc_round_up(put, PART_ALIGN_BYTES);
        memset(slot->buffer + bytes + put, 0, padded - put);
        *table++ = (uint32_t) put;
        bytes += padded;
    }
    return bytes;
}

/* A walk along the parts that came, without the empty ones. */
typedef struct walk {
    place_t at; /* of the part */
    exchange_message_t message;
    size_t begin;
    size_t bytes;
    size_t next;
    unsigned next_round;
} walk_t;

static walk_t walk_from(const place_t *place)
{
    return (walk_t){
        .at = *place,
        .next = table_bytes(place->end - place->round),
        .next_round = place->round,
    };
}

/* False: there is no other part. */
static bool walk_on(walk_t *walk, const exchange_pipeline_t *pipe, const place_t *place,
                    const slot_t *slot)
{
    const uint32_t *table = (const uint32_t *) (const void *) slot->buffer;

    while (walk->next_round < place->end) {
        walk->at.round = walk->next_round++;
        walk->message = exchange_keep_received(pipe, &walk->at);
        if (0 != walk->message.span.elems) {
            walk->begin = walk->next;
            walk->bytes = table[walk->at.round - place->round];
            walk->next += arc_round_up(walk->bytes, PART_ALIGN_BYTES);
            return true;
        }
    }
    return false;
}

arc_status_t exchange_pack_check(const exchange_pipeline_t *pipe, const place_t *place,
                                 const slot_t *slot, size_t bytes)
{
    const exchange_coder_t *coder = pipe->coder;
    walk_t walk = walk_from(place);
    bool ok = walk.next <= bytes;

    while (ok && walk_on(&walk, pipe, place, slot)) {
        ok = walk.next <= bytes &&
             ARC_OK ==
                 coder->ops->check(coder, &walk.message, slot->buffer + walk.begin, walk.bytes);
    }
    return ok && walk.next == bytes ? ARC_OK : ARC_ERR_PROTOCOL;
}

void exchange_pack_add(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot)
{
    for (walk_t walk = walk_from(place); walk_on(&walk, pipe, place, slot);) {
        exchange_keep_add(pipe, &walk.at, &walk.message, slot->buffer + walk.begin);
    }
}

void exchange_pack_keep(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot)
{
    for (walk_t walk = walk_from(place); walk_on(&walk, pipe, place, slot);) {
        exchange_keep_total(pipe, slot, slot->buffer + walk.begin, walk.bytes, &walk.at,
                            walk.message.shard);
    }
}

void exchange_pack_store(exchange_pipeline_t *pipe, const place_t *place, slot_t *slot)
{
    for (walk_t walk = walk_from(place); walk_on(&walk, pipe, place, slot);) {
        pipe->coder->ops->store_total(pipe->coder, &walk.message, slot->buffer + walk.begin);
    }
}
