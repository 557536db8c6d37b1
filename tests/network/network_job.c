/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coll_lowlat_settled.h"
#include "exchange_pipeline.h"
#include "lowlat_memory.h"
#include "lowlat_net.h"
#include "network.h"
#include "reduce.h"
#include "sizes.h"

enum {
    ALIGN_BYTES = 4096,
    /* coll_quant's defaults: int8 with a scale of 2 bytes for 64 numbers, tiles of 64 blocks. */
    INT8_BLOCK = 64,
    INT8_BLOCK_BYTES = INT8_BLOCK + 2,
    INT8_HEADER_BYTES = 16,
    INT8_SEGMENT_ELEMS = 14 * 64 * INT8_BLOCK,
    INT8_CHUNK_SEGMENT_ELEMS = 8 * 64 * INT8_BLOCK, /* the longest one where ranks share nodes */
    INT8_DEPTH = 16,
    VALUES = 7,
};

typedef struct coder {
    exchange_coder_t base; /* of messages without numbers */
    size_t added_bytes;
} coder_t;

struct network_job {
    network_setting_t setting;
    size_t count;
    lowlat_group_t group;
    lowlat_net_t net;
    lowlat_segment_t *segment;
    const void *parts[1];
    arc_reducer_t reducer;
    lowlat_task_t task;
    void (*start)(lowlat_task_t *task);
    float *in;
    float *out;
    unsigned *peer;
    coder_t coder;
    size_t *added_bytes;  /* the coder's, also of exact sums */
    arc_task_t *exchange; /* of int8; NULL: exact */
    void *memory;
};

/* `bytes` bytes that nobody looks at: one page again and again. */
static void *same_page(size_t bytes)
{
    enum { PIECE_BYTES = 1 << 20 };
    static char *memory;
    static size_t have_bytes;
    static int file = -1;

    if (bytes <= have_bytes) {
        return memory;
    }
    if (file < 0) {
        file = memfd_create("network", 0);
        if (file < 0 || 0 != ftruncate(file, PIECE_BYTES)) {
            abort();
        }
    }
    have_bytes = arc_round_up(bytes, PIECE_BYTES);
    memory = mmap(NULL, have_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t at = 0; at < have_bytes; at += PIECE_BYTES) {
        if (MAP_FAILED == mmap(memory + at, PIECE_BYTES, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED, file, 0)) {
            abort();
        }
    }
    return memory;
}

static void *own_memory(size_t bytes)
{
    void *memory = aligned_alloc(ALIGN_BYTES, arc_round_up(bytes, ALIGN_BYTES));

    if (NULL == memory) {
        abort();
    }
    memset(memory, 0, bytes);
    return memory;
}

static void *get(const network_job_t *job, size_t bytes)
{
    return job->setting.checked ? own_memory(bytes) : same_page(bytes);
}

/* The context is where such bytes are counted. */
static void add_nothing(const void *const *parts, unsigned count, void *sum, size_t elems,
                        const void *context)
{
    **(size_t *const *) context += (count - 1) * elems * sizeof(float);
}

/* ---- messages of int8 without numbers ---- */

static size_t capacity(const exchange_coder_t *base, const exchange_message_t *message)
{
    return INT8_HEADER_BYTES +
           arc_divide_up(message->span.elems, INT8_BLOCK) * (size_t) INT8_BLOCK_BYTES;
}

static arc_status_t check(const exchange_coder_t *base, const exchange_message_t *message,
                          const void *buffer, size_t bytes)
{
    return bytes == capacity(base, message) ? ARC_OK : ARC_ERR_PROTOCOL;
}

static size_t encode(exchange_coder_t *base, const exchange_message_t *message,
                     const exchange_sum_t *x, void *buffer)
{
    return capacity(base, message);
}

static void add(exchange_coder_t *base, const exchange_message_t *message, const void *buffer,
                const exchange_sum_t *x, exchange_sum_t *sum)
{
    ((coder_t *) base)->added_bytes += message->span.elems * sizeof(float);
}

static size_t hop(exchange_coder_t *base, const exchange_message_t *received, const void *buffer,
                  const exchange_sum_t *x, const exchange_message_t *sent, void *to)
{
    ((coder_t *) base)->added_bytes += received->span.elems * sizeof(float);
    return capacity(base, sent);
}

static void store_total(exchange_coder_t *base, const exchange_message_t *message,
                        const void *buffer)
{
}

static const exchange_coder_ops_t coder_ops = {.capacity = capacity,
                                               .check = check,
                                               .encode = encode,
                                               .add = add,
                                               .hop = hop,
                                               .store_total = store_total};

static void make_exchange(network_job_t *job, unsigned node, arc_stream_t *stream,
                          const exchange_tree_t *tree)
{
    const exchange_message_t longest = {.span.elems = 0 == job->setting.chunk_bytes
                                                          ? INT8_SEGMENT_ELEMS
                                                          : INT8_CHUNK_SEGMENT_ELEMS};
    const bool packs = job->setting.carried;
    const exchange_config_t config = {.tree = tree,
                                      .shape = exchange_shape_flat(job->setting.nodes),
                                      .depth = INT8_DEPTH,
                                      .message_bytes =
                                          packs ? capacity(NULL, &longest) : ARC_ALIGN_BYTES,
                                      .sum_bytes = ARC_ALIGN_BYTES};

    arc_room_t room = {.memory = NULL};

    (void) exchange_pipeline_init(&config, node, stream, &job->coder.base, &room);
    /* Pages of it are taken as far as packs have bytes. */
    job->memory = aligned_alloc(ARC_ALIGN_BYTES, room.used);
    if (NULL == job->memory) {
        abort();
    }
    job->coder.base.ops = &coder_ops;
    room = (arc_room_t){.memory = job->memory};
    job->exchange = exchange_pipeline_init(&config, node, stream, &job->coder.base, &room);
}

/* ---- exact sums ---- */

static void fill(network_job_t *job, unsigned node)
{
    for (size_t i = 0; job->setting.checked && i < job->count; ++i) {
        job->in[i] = (float) (node + i % VALUES);
    }
}

static void make_group(network_job_t *job, unsigned node, arc_stream_t *const *streams)
{
    const network_setting_t *setting = &job->setting;
    const size_t chunk_bytes = setting->chunk_bytes / setting->owners;
    const size_t arena_bytes = (size_t) LOWLAT_SLOTS * chunk_bytes;
    const bool single = 1 == setting->owners;
    const bool rings = 0 == strcmp(setting->algorithm, "ring");

    (void) arc_reduce_make(arc_reduce_table(ARC_ISA_BEST), ARC_OP_SUM, ARC_TYPE_FLOAT,
                           &job->reducer);
    if (!setting->checked) {
        job->reducer.reduce = add_nothing;
        job->reducer.context = &job->added_bytes;
    }
    job->segment = get(job, lowlat_segment_bytes(arena_bytes));
    job->net = (lowlat_net_t){.nodes = setting->nodes,
                              .node = node,
                              .owners = 1,
                              .peer = job->peer,
                              .single = single,
                              .loops = rings,
                              .chunk_bytes = chunk_bytes,
                              .long_chunk_bytes = single ? LOWLAT_NODES_SINGLE_CHUNK_BYTES : 0,
                              .part_bytes = LOWLAT_NODES_PART_BYTES,
                              .piece_bytes = LOWLAT_PIECE_BYTES,
                              .leader_bytes = LOWLAT_LEADER_BYTES};
    lowlat_pipe_prepare(&job->net);
    for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
        job->net.exchange[i].stream = streams[i];
        job->net.exchange[i].scratch = get(job, LOWLAT_NODES_SINGLE_CHUNK_BYTES);
    }
    arc_room_t room = {.memory = NULL};
    lowlat_pipe_init(&job->net, &room);
    if (room.used > 0 && (rings || job->start == lowlat_direct_start)) {
        job->memory = own_memory(room.used);
        room = (arc_room_t){.memory = job->memory};
        lowlat_pipe_init(&job->net, &room);
    }
    job->group = (lowlat_group_t){.ranks = 1,
                                  .arena_bytes = arena_bytes,
                                  .chunk_bytes = chunk_bytes,
                                  .stream_bytes = SIZE_MAX,
                                  .segment = &job->segment,
                                  .parts = job->parts,
                                  .net = &job->net};
    job->in = get(job, job->count * sizeof *job->in);
    job->out = get(job, job->count * sizeof *job->out);
    fill(job, node);
}

/* ---- both ---- */

network_job_t *network_job_new(const network_setting_t *setting, unsigned node,
                               arc_stream_t *const *streams)
{
    static const struct {
        const char *name;
        void (*start)(lowlat_task_t *task);
        const exchange_tree_t *tree;
    } algorithms[] = {
        {"doubling", lowlat_doubling_start, NULL},
        {"halving", lowlat_halving_start, NULL},
        {"direct", lowlat_direct_start, NULL},
        {"ring", lowlat_ring_start, NULL},
        {"int8_full_loop", NULL, &exchange_full_loop},
        {"int8_semi_loop", NULL, &exchange_semi_loop},
        {"int8_direct", NULL, &exchange_direct},
        {"int8_recursive_halving", NULL, &exchange_recursive_halving},
        {NETWORK_PACKED, NULL, &exchange_recursive_halving},
    };
    const size_t part_bytes = arc_divide_up(setting->bytes, setting->owners);

    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; ++i) {
        if (0 == strcmp(setting->algorithm, algorithms[i].name)) {
            network_job_t *job = own_memory(sizeof *job);
            job->setting = *setting;
            job->count = arc_divide_up(part_bytes, sizeof(float));
            if (setting->carried && !setting->checked && 0 != setting->chunk_bytes) {
                job->count = arc_round_up(job->count, (size_t) INT8_BLOCK * setting->nodes);
            }
            job->start = algorithms[i].start;
            job->added_bytes = &job->coder.added_bytes;
            job->peer = own_memory(setting->nodes * sizeof *job->peer);
            for (unsigned peer = 0; peer < setting->nodes; ++peer) {
                job->peer[peer] = peer;
            }
            if (NULL == job->start) {
                make_exchange(job, node, streams[0], algorithms[i].tree);
            } else {
                make_group(job, node, streams);
            }
            return job;
        }
    }
    return NULL;
}

/* An owner's part of the vector; in chunks of equal length, as lowlat_piped.h cuts them. */
static exchange_layout_t layout_of(const network_job_t *job)
{
    const size_t most = job->setting.chunk_bytes / job->setting.owners / sizeof(float);
    exchange_layout_t layout = {.count = job->count,
                                .shards = job->setting.nodes,
                                .row_elems = INT8_BLOCK,
                                .segment_elems = INT8_SEGMENT_ELEMS};

    if (0 != most) {
        const size_t chunks = arc_divide_up(job->count, most);
        const size_t row_elems = INT8_BLOCK * (job->setting.carried ? layout.shards : 1);
        layout.chunk_elems = arc_round_up(arc_divide_up(job->count, chunks), row_elems);
        layout.chunks = arc_divide_up(job->count, layout.chunk_elems);
    }
    return layout;
}

arc_task_t *network_job_start(network_job_t *job)
{
    if (NULL != job->exchange) {
        const exchange_operation_t operation = {.layout = layout_of(job),
                                                .collective = EXCHANGE_ALLREDUCE};
        exchange_pipeline_start(job->exchange, &operation);
        return job->exchange;
    }
    job->task = (lowlat_task_t){.group = &job->group,
                                .reducer = &job->reducer,
                                .in = job->in,
                                .out = job->out,
                                .count = job->count,
                                .span_bytes = job->count * sizeof *job->in};
    job->start(&job->task);
    return &job->task.task;
}

size_t network_job_take_added(network_job_t *job)
{
    const size_t bytes = *job->added_bytes;

    *job->added_bytes = 0;
    return bytes;
}

bool network_job_is_right(const network_job_t *job)
{
    const size_t nodes = job->setting.nodes;

    for (size_t i = 0; job->setting.checked && NULL == job->exchange && i < job->count; ++i) {
        if (job->out[i] != (float) (nodes * (nodes - 1) / 2 + nodes * (i % VALUES))) {
            return false;
        }
    }
    return true;
}

void network_job_free(network_job_t *job)
{
    free(job->peer);
    free(job->memory);
    if (job->setting.checked && NULL == job->exchange) {
        free(job->segment);
        free(job->in);
        free(job->out);
        for (unsigned i = 0; i < LOWLAT_EXCHANGES; ++i) {
            free(job->net.exchange[i].scratch);
        }
    }
    free(job);
}
