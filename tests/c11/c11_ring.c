/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "c11_ring.h"

#include <string.h>

#include "put_ring.h"
#include "testlib.h"

enum { RANKS = 2, MOST_SLOTS = 8, SLOT_BYTES = 64 };

static struct {
    const c11_ring_case_t *what;
    arc_put_config_t config;
    arc_window_t window[RANKS];
    arc_put_ring_t ring[RANKS];
    arc_window_request_t requests[RANKS][2 * MOST_SLOTS];
    _Alignas(64) unsigned char staging[RANKS][MOST_SLOTS * 2 * SLOT_BYTES];
} job;

static const unsigned number_at_peer[] = {0};

/* The request has ended. */
static arc_status_t put(arc_window_t *window, unsigned peer, size_t offset, const void *source,
                        size_t bytes, arc_window_request_t *request)
{
    c11_put(job.window[window == job.window].base + offset, source, bytes);
    return ARC_OK;
}

static arc_status_t fence(arc_window_t *window)
{
    if (!job.what->ignores_fences) {
        c11_fence_puts();
    }
    return ARC_OK;
}

static const arc_window_ops_t ops = {.put = put, .fence = fence};

static void prepare(void *context, unsigned char *memory)
{
    for (unsigned rank = 0; rank < RANKS; ++rank) {
        arc_put_ring_t *ring = &job.ring[rank];
        job.window[rank] = (arc_window_t){.ops = &ops,
                                          .base = memory + rank * arc_put_ring_bytes(&job.config),
                                          .peers = 1,
                                          .number_at_peer = number_at_peer};
        arc_put_ring_init(ring, &job.window[rank], &job.config, 0, 0, job.staging[rank],
                          job.requests[rank]);
        if (job.what->wraps) {
            ring->out.sequence = ring->in.sequence = 3 * ring->in.sequence;
        }
    }
}

/* What a rank's fragment has in each byte. */
static unsigned char byte_of(unsigned rank, unsigned number)
{
    return (unsigned char) (1 + number * RANKS + rank);
}

static unsigned fragments_of(unsigned rank)
{
    unsigned count = 0;

    while (count < C11_MOST_FRAGMENTS && 0 != job.what->bytes[rank][count]) {
        ++count;
    }
    return count;
}

static void body(void *context, unsigned rank)
{
    arc_put_ring_t *ring = &job.ring[rank];
    const unsigned to_send = fragments_of(rank);
    const unsigned to_receive = fragments_of(!rank);
    unsigned char out[MOST_SLOTS * SLOT_BYTES];
    unsigned char in[MOST_SLOTS * SLOT_BYTES];
    unsigned sent = 0;
    unsigned received = 0;
    bool waits = false;

    while ((sent < to_send || received < to_receive) && (!waits || c11_polled_in_vain())) {
        arc_put_fragment_t fragment = {.bytes = 0};
        waits = true;
        if (sent < to_send && (!job.what->answers || received == sent + rank)) {
            memset(out, byte_of(rank, sent), sizeof out);
            if (ARC_OK == arc_put_ring_send(ring, out, job.what->bytes[rank][sent], true)) {
                ++sent;
                waits = false;
            }
        }
        if (received < to_receive && ARC_OK == arc_put_ring_peek(ring, &fragment) &&
            ARC_OK == arc_put_ring_read(ring, &fragment, in)) {
            bool right = fragment.bytes == job.what->bytes[!rank][received];
            for (size_t i = 0; right && i < fragment.bytes; ++i) {
                right = byte_of(!rank, received) == in[i];
            }
            if (!right || ARC_OK != arc_put_ring_tell(ring)) {
                c11_complain("a wrong fragment");
            }
            ++received;
            waits = false;
        }
    }
}

c11_run_t c11_ring_run(const c11_ring_case_t *what)
{
    job.what = what;
    job.config = (arc_put_config_t){.streams = 1,
                                    .slots = what->slots,
                                    .slot_bytes = SLOT_BYTES,
                                    .fused_bytes = what->fused_bytes,
                                    .sequence_bits = 2};
    return (c11_run_t){.ranks = RANKS,
                       .bytes = RANKS * arc_put_ring_bytes(&job.config),
                       .prepare = prepare,
                       .body = body};
}
