/*
 * Open MPI's internal interfaces, and with mca_compat_pmix.h, for what processes
 * publish, the only place that knows how its releases differ.
 *
 *   Open MPI 4.1   coll interface 2.0.0    int counts, slots hold modules, char *info callbacks
 *   Open MPI 5.0   coll interface 2.4.0    int counts, slots hold modules, const info callbacks
 *   Open MPI 6.0   coll interface 3.0.0    size_t counts, modules fill slots, const info callbacks
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_COMPAT_H
#define MCA_COMPAT_H

#include <ompi_config.h>

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/constants.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/coll/base/base.h>
#include <ompi/mca/coll/base/coll_tags.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/mca/pml/base/base.h>
#include <ompi/mca/pml/pml.h>
#include <ompi/op/op.h>
#include <ompi/proc/proc.h>
#include <ompi/request/request.h>
#include <ompi/runtime/mpiruntime.h>
#include <ompi/runtime/params.h>
#include <opal/class/opal_hash_table.h>
#include <opal/datatype/opal_datatype_internal.h>
#include <opal/mca/base/base.h>
#include <opal/runtime/opal_progress.h>
#include <opal/util/argv.h>
#include <opal/util/info.h>
#include <opal/util/info_subscriber.h>
#include <opal/util/output.h>
#include <opal/util/proc.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiber.h"

/*
 * A slot of a communicator holds a reference to its module, and comm_select() puts into it what the
 * module names; or a module that is enabled fills its slots, and has to restore them when it is
 * disabled.
 */
#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#define MCA_COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
enum { MCA_COMPAT_SLOTS_HOLD = false };
typedef size_t mca_compat_count_t;
#elif defined(MCA_COLL_BASE_VERSION_2_4_0)
#define MCA_COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
enum { MCA_COMPAT_SLOTS_HOLD = true };
typedef int mca_compat_count_t;
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#define MCA_COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
enum { MCA_COMPAT_SLOTS_HOLD = true };
typedef int mca_compat_count_t;
#else
#error "this Open MPI has a coll interface that is not supported: use 4.1.x, 5.0.x or 6.0.x"
#endif
#if OMPI_MAJOR_VERSION >= 5
typedef const char *mca_compat_info_string_t;
#else
typedef char *mca_compat_info_string_t;
#endif

/*
 * May several threads of the program be in MPI at the same time?  Open MPI 5.0 tells sessions by
 * opal_using_threads() alone, which Open MPI 4.1 sets for threads of its own, too.
 */
static inline bool mca_compat_threads(void)
{
    return ompi_mpi_thread_multiple || (OMPI_MAJOR_VERSION >= 5 && opal_using_threads());
}

/* Now or later?  In Open MPI 5 a session that is opened later may ask for them. */
static inline bool mca_compat_threads_may_come(void)
{
    return OMPI_MAJOR_VERSION >= 5 || mca_compat_threads();
}

/*
 * Do two processes send each other long messages at the same time?  Over TCP, pml ob1 has the ends
 * take turns: with long chunks halving on 4 nodes at 1 Gb/s took 1.1 to 1.4 times as long.
 */
static inline bool mca_compat_is_duplex(void)
{
    return 0 != strcmp("ob1", mca_pml_base_selected_component.pmlm_version.mca_component_name);
}

/* The value of a communicator's info key, at most value_bytes - 1 long; false if it has none. */
static inline bool mca_compat_info_get(struct ompi_communicator_t *comm, const char *key,
                                       char *value, size_t value_bytes)
{
    int found = 0;

    if (NULL == comm->super.s_info) {
        return false;
    }
#if OMPI_MAJOR_VERSION >= 5
    opal_cstring_t *string = NULL;
    (void) opal_info_get(comm->super.s_info, key, &string, &found);
    if (found) {
        (void) strncpy(value, string->string, value_bytes - 1);
        value[value_bytes - 1] = '\0';
        OBJ_RELEASE(string);
    }
#else
    (void) opal_info_get(comm->super.s_info, key, (int) value_bytes - 1, value, &found);
#endif
    return 0 != found;
}

/* On a communicator that is being made: forget what the program says of the key. */
static inline void mca_compat_info_forget(struct ompi_communicator_t *comm, const char *key)
{
    if (NULL != comm->super.s_info) {
        (void) opal_info_delete(comm->super.s_info, key);
    }
}

/*
 * From now on MPI_Comm_get_info has `value` for the key, whatever the program said; NULL: nothing.
 * No callback runs, and other threads may look at the communicator's info meanwhile: Open MPI locks
 * it.  It does not lock the making of the info object; where another thread's MPI_Comm_get_info,
 * the first on this communicator, makes one at the same time, what is shown here may be lost.
 */
static inline void mca_compat_info_show(struct ompi_communicator_t *comm, const char *key,
                                        const char *value)
{
    if (arc_fiber_inside() && mca_compat_threads()) {
        return; /* another thread may free the communicator now, its info first */
    }
    if (NULL == comm->super.s_info) {
        opal_info_t *none = NULL;
        opal_info_t *made = NULL == value ? NULL : OBJ_NEW(opal_info_t);

        if (NULL == made) {
            return;
        }
        if (!__atomic_compare_exchange_n(&comm->super.s_info, &none, made, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            OBJ_RELEASE(made);
        }
    }
#if OMPI_MAJOR_VERSION < 5
    char saved[OPAL_MAX_INFO_KEY + sizeof OPAL_INFO_SAVE_PREFIX];

    /* The program's own text, which would be shown instead. */
    (void) snprintf(saved, sizeof saved, OPAL_INFO_SAVE_PREFIX "%.*s", OPAL_MAX_INFO_KEY, key);
    (void) opal_info_delete(comm->super.s_info, saved);
#endif
    if (NULL == value) {
        (void) opal_info_delete(comm->super.s_info, key);
    } else {
        (void) opal_info_set(comm->super.s_info, key, value);
    }
}

/*
 * Does the program want to survive the death of a rank (ULFM)?  The same on all
 * ranks.  A rank that waits for memory of a dead one would never notice.
 */
static inline bool mca_compat_fault_tolerant(void)
{
#if defined(OPAL_ENABLE_FT_MPI) && OPAL_ENABLE_FT_MPI
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

/* Is the process `rank` of the group on this node?  One that nobody has looked up yet is not. */
static inline bool mca_compat_is_local(struct ompi_group_t *group, int rank)
{
    const ompi_proc_t *process = ompi_group_peer_lookup_existing(group, rank);

    return NULL != process && OPAL_PROC_ON_LOCAL_NODE(process->super.proc_flags);
}

/* The host of a rank, for a message; "unknown" if Open MPI has not heard of it. */
static inline void mca_compat_host(struct ompi_communicator_t *comm, int rank, char *text,
                                   size_t text_bytes)
{
    const ompi_proc_t *process = ompi_comm_peer_lookup(comm, rank);
    char *name = NULL == process ? NULL : opal_get_proc_hostname(&process->super);

    (void) snprintf(text, text_bytes, "%s", NULL == name ? "unknown" : name);
#if OMPI_MAJOR_VERSION >= 5
    free(name);
#endif
}

/* Processes of this one's job; ranks with sessions may make MPI_COMM_WORLD late, or never. */
static inline int mca_compat_job_size(void)
{
#if OMPI_MAJOR_VERSION >= 5
    return (int) opal_process_info.num_procs;
#else
    return ompi_comm_size(&ompi_mpi_comm_world.comm);
#endif
}

/* Are all processes of `comm` of this one's job? */
static inline bool mca_compat_is_of_job(struct ompi_communicator_t *comm)
{
    const ompi_proc_t *self = ompi_proc_local();
    const int ranks = ompi_comm_size(comm);
    int rank = 0;

    if (ompi_mpi_comm_world.comm.c_local_group == comm->c_local_group) {
        return true; /* a duplicate */
    }
    while (rank < ranks && self->super.proc_name.jobid ==
                               ompi_group_get_proc_name(comm->c_local_group, rank).jobid) {
        ++rank;
    }
    return ranks == rank;
}

/* Is the job on one node, and `comm` of that job?  All ranks know it alike. */
static inline bool mca_compat_on_one_node(struct ompi_communicator_t *comm)
{
    const int here = 1 + (int) opal_process_info.num_local_peers;

    return mca_compat_job_size() == here && mca_compat_is_of_job(comm);
}

/* Components of Open MPI's own serve every call before one of less priority: tuned, and han in 5.
 */
enum { MCA_COMPAT_OWN_PRIORITY = 35 };

/*
 * The type of a request that has failed.  For requests of collectives Open MPI 4.1 calls the error
 * handler of MPI_COMM_WORLD, for those of point-to-point messages the communicator's.
 */
enum { MCA_COMPAT_REQUEST_FAILED = OMPI_MAJOR_VERSION < 5 ? OMPI_REQUEST_PML : OMPI_REQUEST_COLL };

/*
 * Open MPI frees a request that has failed and then asks its communicator for the error handler, so
 * the communicator must stay.  From 6.0 on persistent ones are left to the program.
 */
enum { MCA_COMPAT_FREES_FAILED_PERSISTENT = OMPI_MAJOR_VERSION < 6 };

/*
 * Tags of our own agreements, and what is added to them for what is gathered at a set-up.  Those of
 * Open MPI itself begin at -7 and go downwards, those of programs at 0 and upwards; -1 means any.
 * All networks keep them apart: some carry only 24 bits.
 */
enum { MCA_COMPAT_TAG_LOWLAT = -5, MCA_COMPAT_TAG_QUANT = -6, MCA_COMPAT_TAG_GATHER = 2 };

/* A name of a communicator for messages. */
static inline unsigned mca_compat_comm_id(struct ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 5
    return (unsigned) comm->c_index;
#else
    return (unsigned) comm->c_contextid;
#endif
}

/* In a fiber: back to whoever drives the progress (fiber.h). */
static inline void mca_compat_progress(void)
{
    if (arc_fiber_inside()) {
        arc_fiber_yield();
    } else {
        (void) opal_progress();
    }
}

#endif
