/*
 * The Open MPI side of coll_lowlat.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef COLL_LOWLAT_H
#define COLL_LOWLAT_H

#include "lowlat_net.h"
#include "lowlat_rules.h"
#include "mca_agreement.h"
#include "mca_below.h"
#include "mca_bridge.h"
#include "mca_share.h"
#include "mca_stream.h"

typedef struct lowlat_component {
    arc_component_t base;
    lowlat_config_t config;
    lowlat_rules_t rules;
    struct lowlat_puts *puts; /* NULL: not wanted, or ... */
    const char *why_no_puts;
    bool told_of_messages; /* that they are used instead; once is enough */
} lowlat_component_t;

typedef struct lowlat_module {
    arc_module_t base;
    mca_bridge_t bridge;
    arc_topology_t topology;
    lowlat_group_t group; /* our node */
    lowlat_net_t net;     /* the others */
    mca_stream_t stream[LOWLAT_EXCHANGES];
    struct lowlat_port *port;     /* puts instead of these messages, or beside them; NULL: none */
    struct lowlat_port *opening;  /* ... whose partners are still awaited */
    unsigned opening_calls;       /* meanwhile */
    bool over_puts;               /* the exchanges use the port now */
    unsigned char *scratch;       /* of the exchanges */
    struct lowlat_choice *choice; /* between nodes, unless an algorithm is forced; or NULL */
    /* The last blocking call for which `choice` had the component below. */
    struct {
        arc_select_t *select; /* that chose; NULL: there is none that its arguments tell */
        unsigned chosen;
        mca_compat_count_t count;
        const struct ompi_op_t *op;
        const struct ompi_datatype_t *type;
    } slower;
    lowlat_map_t map;
    mca_share_t share;
    size_t request_bytes;   /* of a persistent request: what it may have of the limit */
    size_t max_arena_bytes; /* what the memory may grow to */
    size_t enough_bytes;    /* for longer messages it should grow */
    /* When coll_lowlat_look() is due, and for which half of it; the same on all ranks. */
    int64_t until_look;
    bool looked;
    /* The nonblocking call that runs as a task. */
    lowlat_task_t pending;
    arc_reduction_t reduction;
    /* What decides over nonblocking calls until the next blocking one (coll_lowlat_door.c). */
    struct {
        bool unknown;   /* whether parameters are the same on all ranks */
        uint32_t below; /* of `choice` */
        lowlat_map_t map;
        arc_type_t uint16;
    } settled;
} lowlat_module_t;
OBJ_CLASS_DECLARATION(lowlat_module_t);

extern lowlat_component_t mca_coll_lowlat_component;

/* The door: how the component serves calls (mca_module.h); coll_lowlat_door.c. */
extern const arc_entries_t coll_lowlat_entries;
int coll_lowlat_serve(arc_module_t *base, const arc_call_t *call);
void coll_lowlat_settled(arc_module_t *base);
arc_reason_t coll_lowlat_decide(arc_module_t *base, arc_call_t *call, arc_moment_t moment);
arc_task_t *coll_lowlat_direct(arc_module_t *base, const arc_call_t *call);

/* What a message counts for, in calls, towards the next look at staging. */
static inline int64_t coll_lowlat_look_calls(size_t bytes)
{
    enum { LOOK_BYTES = 4096 };
    return 1 + (int64_t) (bytes / LOOK_BYTES);
}

/*
 * The set-up of a communicator, at its first eligible call, of `bytes` bytes:
 * share memory, or decline.  All ranks take part and all come to the same end:
 * the module is then in ARC_PHASE_READY or in ARC_PHASE_DECLINED.
 */
void coll_lowlat_setup(lowlat_module_t *module, size_t bytes);

/*
 * Get more memory for a message of `bytes` bytes and for those to come, or
 * resolve to do without and change the map.  All ranks together, between two
 * operations.
 */
void coll_lowlat_grow(lowlat_module_t *module, size_t bytes);

/*
 * After a call that made until_look negative, all ranks together: look whether staging is still
 * as it should be, or act on what all have seen.  An MPI error if that breaks the module.
 */
int coll_lowlat_look(lowlat_module_t *module);

/* Undo the set-up; harmless if there was none. */
void coll_lowlat_teardown(lowlat_module_t *module);

#endif
