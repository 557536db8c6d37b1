/*
 * The exchange of the three phases of lowlat_parts.h by a schedule.
 *
 * Up to E exchanges of a chunk are under way while further chunks are staged and reduced, so there
 * is room for chunk c once those of c-1 and before are over.  Short messages have one owner in each
 * node: one message instead of G.  A schedule has no circular wait when all its nodes run it.
 *
 * What a time limit leaves of an operation is in memory of ours; messages of one exchange are in
 * order, those of others have other streams.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <assert.h>

#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "lowlat_pairing.h"

/* ---- who sends what to whom ---- */

/*
 * What a position is responsible for before exchange `exchange`: at first everything, then the
 * lower or upper half of that, as bit s of the position is 0 or 1.
 */
static lowlat_range_t range_before(unsigned position, unsigned exchange, size_t elems,
                                   size_t line_elems)
{
    lowlat_range_t range = {0, elems};

    for (unsigned s = 0; s < exchange; ++s) {
        const size_t half_elems =
            arc_round_up(arc_divide_up(range.end - range.first, 2), line_elems);
        const size_t middle = arc_min(range.end, range.first + half_elems);
        if (position >> s & 1) {
            range.first = middle;
        } else {
            range.end = middle;
        }
    }
    return range;
}

/*
 * Steps of a position: 0 .. k-1 halve, k .. 2k-1 double.  What is sent in the one is what
 * comes in the other.  Where nothing is halved, steps 0 .. k-1 exchange everything.
 */
static lowlat_move_t move_of(bool halves, const lowlat_role_t *role, unsigned step, size_t elems,
                             size_t line_elems)
{
    const bool adds = step < role->steps;
    const unsigned exchange = adds ? step : 2 * role->steps - 1 - step;
    const unsigned cuts = halves ? exchange + 1 : 0;
    const unsigned partner = role->position ^ (1u << exchange);
    const lowlat_range_t own = range_before(role->position, cuts, elems, line_elems);
    const lowlat_range_t partners = range_before(partner, cuts, elems, line_elems);

    return (lowlat_move_t){.node = lowlat_node_at(role, partner),
                           .sent = adds ? partners : own,
                           .received = adds ? own : partners,
                           .adds = adds,
                           .peers_is_left = lowlat_is_upper(role, exchange)};
}

/*
 * The exchanges of the positions, between the fold and its end: an extra gives its vector to its
 * proxy, and gets the sum.  The even node of the two is the left operand, whoever is the proxy.
 */
bool lowlat_schedule(bool halves, const lowlat_role_t *role, unsigned step, size_t elems,
                     size_t line_elems, lowlat_move_t *move)
{
    const unsigned exchange = step - role->is_proxy;
    const unsigned exchanges = halves ? 2 * role->steps : role->steps;

    *move = (lowlat_move_t){.node = lowlat_mate(role), .peers_is_left = 1 == role->turn};
    if (role->is_extra) {
        move->sent.end = 0 == step ? elems : 0;
        move->received.end = 1 == step ? elems : 0;
        return step < 2;
    }
    if (role->is_proxy && 0 == step) {
        move->received.end = elems;
        move->adds = true;
        return true;
    }
    if (exchange < exchanges) {
        *move = move_of(halves, role, exchange, elems, line_elems);
        return true;
    }
    move->sent.end = elems;
    return role->is_proxy && exchange == exchanges;
}

/* ---- with whom, whatever the schedule ---- */

/* Insert, unless it is there. */
static unsigned insert_partner(unsigned *partner, unsigned count, unsigned node)
{
    unsigned at = 0;

    while (at < count && partner[at] < node) {
        ++at;
    }
    if (at < count && partner[at] == node) {
        return count;
    }
    assert(count < LOWLAT_MAX_PARTNERS);
    for (unsigned i = count; i > at; --i) {
        partner[i] = partner[i - 1];
    }
    partner[at] = node;
    return count + 1;
}

unsigned lowlat_partners(unsigned node, unsigned nodes, unsigned partner[LOWLAT_MAX_PARTNERS])
{
    static_assert((int) LOWLAT_PUT_NODES <= (int) LOWLAT_MAX_PARTNERS, "room for all others");
    lowlat_move_t move;
    unsigned count = 0;

    if (nodes <= LOWLAT_PUT_NODES) {
        for (unsigned other = 0; other < nodes; ++other) {
            count = other == node ? count : insert_partner(partner, count, other);
        }
        return count;
    }
    count = insert_partner(partner, count, (node + 1) % nodes);
    count = insert_partner(partner, count, (node + nodes - 1) % nodes);
    /* Each schedule in both turns. */
    for (unsigned i = 0; i < 2 * LOWLAT_SCHEDULES; ++i) {
        const lowlat_role_t role = lowlat_role(node, nodes, i % 2);
        /* As many elements as nodes: no piece is empty. */
        for (unsigned step = 0; lowlat_schedule(i / 2 == 1, &role, step, nodes, 1, &move); ++step) {
            count = insert_partner(partner, count, move.node);
        }
    }
    return count;
}

/* ---- an exchange ---- */

/* After the first step, which all nodes are in, a node needs only what that has written. */
static const unsigned char *own_of(const lowlat_exchange_t *exchange)
{
    return 0 == exchange->steps.step ? exchange->given : exchange->vector;
}

static unsigned begin_step(arc_steps_t *steps)
{
    lowlat_exchange_t *exchange = (lowlat_exchange_t *) steps;
    const lowlat_net_t *net = exchange->net;
    const size_t stride_bytes = net->reducer->stride_bytes;
    lowlat_move_t *move = &exchange->move;

    if (!lowlat_schedule(net->halves, &exchange->role, steps->step, exchange->elems,
                         lowlat_line_elems(stride_bytes), move)) {
        exchange->vector = NULL;
        return 0;
    }
    exchange->link = (arc_link_t){
        .peer = net->peer[move->node],
        .sent = own_of(exchange) + move->sent.first * stride_bytes,
        .sent_bytes = lowlat_range_elems(move->sent) * stride_bytes,
        .received =
            move->adds ? exchange->scratch : exchange->vector + move->received.first * stride_bytes,
        .received_bytes = lowlat_range_elems(move->received) * stride_bytes,
    };
    return 1;
}

/* ARC_ERR_PROTOCOL: what came has another length. */
static arc_status_t end_step(arc_steps_t *steps)
{
    lowlat_exchange_t *exchange = (lowlat_exchange_t *) steps;
    const arc_reducer_t *reducer = exchange->net->reducer;
    const lowlat_move_t *move = &exchange->move;
    const arc_link_t *link = &exchange->link;
    const size_t offset_bytes = move->received.first * reducer->stride_bytes;
    const unsigned char *own = own_of(exchange) + offset_bytes;

    if (link->receive.bytes != link->received_bytes) {
        return ARC_ERR_PROTOCOL;
    }
    if (move->adds && 0 != link->received_bytes) {
        const void *parts[] = {move->peers_is_left ? exchange->scratch : own,
                               move->peers_is_left ? own : exchange->scratch};
        reducer->reduce(parts, 2, exchange->vector + offset_bytes,
                        lowlat_range_elems(move->received), reducer->context);
    }
    return ARC_OK;
}

/*
 * Begin to sum what nodes give, `elems` > 0 elements, into `vector`, which is ours until it is
 * NULL and may be the same.  The turn says who of a pair is the proxy.
 */
static void exchange_begin(lowlat_exchange_t *exchange, const lowlat_net_t *net, unsigned turn,
                           const unsigned char *given, unsigned char *vector, size_t elems)
{
    static const arc_steps_ops_t ops = {.begin = begin_step, .end = end_step};

    arc_steps_start(&exchange->steps, &ops, exchange->stream, &exchange->link);
    exchange->net = net;
    exchange->role = lowlat_role(net->node, net->nodes, turn);
    exchange->given = given;
    exchange->vector = vector;
    exchange->elems = elems;
}

/* ---- some exchanges of a chunk each at a time ---- */

static lowlat_exchange_t *exchange_of(const lowlat_task_t *task, size_t chunk)
{
    return &task->group->net->exchange[chunk % LOWLAT_EXCHANGES];
}

static void begin_exchange(lowlat_task_t *task, size_t chunk)
{
    const unsigned rank = task->group->rank;
    const lowlat_range_t part = lowlat_own_part(task, chunk);

    if (lowlat_range_elems(part) > 0) {
        unsigned char *vector = lowlat_part_at(task, rank, chunk, part.first);
        exchange_begin(exchange_of(task, chunk), task->group->net, (chunk + rank) % 2, vector,
                       vector, lowlat_range_elems(part));
    }
}

static arc_status_t drive_exchanges(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;
    arc_status_t all = ARC_OK;

    for (size_t chunk = task->exchanged; chunk < task->reduced; ++chunk) {
        lowlat_exchange_t *exchange = exchange_of(task, chunk);
        if (NULL != exchange->vector) {
            arc_task_t *steps = &exchange->steps.task;
            const unsigned long before = steps->steps;
            const arc_status_t status = steps->ops->progress(steps);
            task->task.steps += steps->steps - before;
            if (ARC_OK != status && ARC_IN_PROGRESS != status) {
                return status;
            }
            all = ARC_IN_PROGRESS == status ? status : all;
        }
    }
    return all;
}

static size_t completed_chunks(const lowlat_task_t *task)
{
    size_t chunk = task->exchanged;

    while (chunk < task->reduced && NULL == exchange_of(task, chunk)->vector) {
        ++chunk;
    }
    return chunk;
}

static arc_status_t progress(arc_task_t *base)
{
    static const lowlat_between_t between = {.room = LOWLAT_EXCHANGES,
                                             .begin = begin_exchange,
                                             .drive = drive_exchanges,
                                             .completed = completed_chunks};

    return lowlat_phases_progress((lowlat_task_t *) base, &between);
}

static unsigned awaits(const arc_task_t *base)
{
    const lowlat_task_t *task = (const lowlat_task_t *) base;

    for (size_t chunk = task->exchanged; chunk < task->reduced; ++chunk) {
        const lowlat_exchange_t *exchange = exchange_of(task, chunk);
        const arc_task_t *steps = &exchange->steps.task;
        if (NULL != exchange->vector && steps->ops->waits_for(steps, exchange->link.peer)) {
            return exchange->move.node;
        }
    }
    return task->group->net->nodes;
}

static void give_up(arc_task_t *base)
{
    lowlat_net_t *net = ((lowlat_task_t *) base)->group->net;

    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        lowlat_exchange_t *exchange = &net->exchange[i];
        if (NULL != exchange->vector) {
            arc_task_abort(&exchange->steps.task);
            exchange->vector = NULL;
        }
    }
}

/* ---- where nothing is staged: sums are made in `out` ---- */

/* What a time limit gives up may still be sent and received: then all is in memory of ours. */
static void begin_unstaged(lowlat_task_t *task, size_t chunk)
{
    const lowlat_net_t *net = task->group->net;
    const size_t stride_bytes = task->reducer->stride_bytes;
    const lowlat_range_t elems = lowlat_chunk_elems(task, chunk);
    lowlat_exchange_t *exchange = exchange_of(task, chunk);
    const unsigned char *given = lowlat_in(task, elems.first * stride_bytes);
    unsigned char *sum = lowlat_out(task, elems.first * stride_bytes);

    if (net->gives_up) {
        sum = memcpy(exchange->place, given, lowlat_range_elems(elems) * stride_bytes);
        given = sum;
    }
    exchange_begin(exchange, net, chunk % 2, given, sum, lowlat_range_elems(elems));
}

static void end_unstaged(const lowlat_task_t *task, size_t chunk)
{
    const lowlat_range_t elems = lowlat_chunk_elems(task, chunk);

    if (task->group->net->gives_up) {
        lowlat_copy_out(task, exchange_of(task, chunk)->place, elems.first, elems.end);
    }
}

static arc_status_t progress_unstaged(arc_task_t *base)
{
    lowlat_task_t *task = (lowlat_task_t *) base;

    while (task->exchanged < task->pieces) {
        const size_t before = task->exchanged + task->reduced;
        while (task->reduced < arc_min(task->pieces, task->exchanged + LOWLAT_EXCHANGES)) {
            begin_unstaged(task, task->reduced++);
        }
        const arc_status_t status = drive_exchanges(base);
        if (ARC_OK != status && ARC_IN_PROGRESS != status) {
            arc_task_abort(base);
            return status;
        }
        for (const size_t end = completed_chunks(task); task->exchanged < end; ++task->exchanged) {
            end_unstaged(task, task->exchanged);
        }
        if (before == task->exchanged + task->reduced) {
            return ARC_IN_PROGRESS;
        }
    }
    return ARC_OK;
}

/*
 * Halving cuts long vectors into few chunks, within two bounds: each takes 2 log2 N messages, but
 * one is added while others travel; into fewer where a node's part of one would be short.  For the
 * turns of the pairs it has an even number of them.
 */
static void cut_unstaged(lowlat_task_t *task, bool halves)
{
    enum { LONG_CHUNKS = 3, FEWER_CHUNKS = 2 };
    const lowlat_net_t *net = task->group->net;
    const size_t line_elems = lowlat_line_elems(task->reducer->stride_bytes);
    const size_t bytes = task->count * task->reducer->stride_bytes;
    const bool has_pairs = lowlat_role(net->node, net->nodes, 0).extras > 0;
    const bool is_short = bytes < (size_t) LONG_CHUNKS * net->part_bytes * net->nodes;
    const size_t chunks = is_short ? FEWER_CHUNKS : LONG_CHUNKS;
    const size_t chunk_elems = arc_round_up(arc_divide_up(task->count, chunks), line_elems);
    const size_t long_bytes =
        arc_min(net->long_chunk_bytes, chunk_elems * task->reducer->stride_bytes);

    lowlat_cut_pieces(task, halves && long_bytes > net->chunk_bytes ? long_bytes : net->chunk_bytes,
                      line_elems, halves && has_pairs && bytes > net->leader_bytes ? 2 : 1);
}

static void start(lowlat_task_t *task, bool halves)
{
    static const arc_task_ops_t ops = {.progress = progress,
                                       .waits_for = lowlat_parts_waits_for,
                                       .awaits = awaits,
                                       .abort = give_up};
    static const arc_task_ops_t unstaged_ops = {.progress = progress_unstaged,
                                                .waits_for = lowlat_parts_waits_for,
                                                .awaits = awaits,
                                                .abort = give_up};
    lowlat_net_t *net = task->group->net;

    net->halves = halves;
    net->reducer = task->reducer;
    task->exchanged = 0;
    if (lowlat_net_is_unstaged(task)) {
        cut_unstaged(task, halves);
        lowlat_task_begin(task, &unstaged_ops, 1);
        task->task.memory_only = false;
        task->reduced = 0;
        return;
    }
    lowlat_parts_begin(task, &ops, net->chunk_bytes, lowlat_net_owners(task),
                       lowlat_line_elems(task->reducer->stride_bytes));
}

void lowlat_doubling_start(lowlat_task_t *task)
{
    start(task, false);
}

void lowlat_halving_start(lowlat_task_t *task)
{
    start(task, true);
}
