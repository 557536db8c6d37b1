/*
 * Open MPI's internal interfaces, and the only place that knows how its
 * releases differ.
 *
 *   Open MPI 4.1   coll interface 2.0.0    int counts, char *info callbacks
 *   Open MPI 5.0   coll interface 2.4.0    int counts, const info callbacks
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

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fiber.h"

#if defined(MCA_COLL_BASE_VERSION_2_4_0)
#include <opal/mca/pmix/pmix-internal.h>
#define MCA_COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#define MCA_COMPAT_GLOBAL PMIX_GLOBAL
#define MCA_COMPAT_UINT32 PMIX_UINT32
typedef const char *mca_compat_info_string_t;
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#include <opal/mca/pmix/pmix.h>
#define MCA_COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#define MCA_COMPAT_GLOBAL OPAL_PMIX_GLOBAL
#define MCA_COMPAT_UINT32 OPAL_UINT32
typedef char *mca_compat_info_string_t;
#else
#error "this Open MPI has a coll interface that is not supported: use 4.1.x or 5.0.x"
#endif

/* The value of a communicator's info key, at most value_bytes - 1 long; false if it has none. */
static inline bool mca_compat_info_get(struct ompi_communicator_t *comm, const char *key,
                                       char *value, size_t value_bytes)
{
    int found = 0;

    if (NULL == comm->super.s_info) {
        return false;
    }
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
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
#if !defined(MCA_COLL_BASE_VERSION_2_4_0)
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
 * Have `changed` called with the key's value now (`initial` if it has none) and
 * whenever the program sets it.
 */
static inline int mca_compat_info_subscribe(
    struct ompi_communicator_t *comm, mca_compat_info_string_t key,
    mca_compat_info_string_t initial,
    mca_compat_info_string_t (*changed)(opal_infosubscriber_t *, mca_compat_info_string_t,
                                        mca_compat_info_string_t))
{
    return opal_infosubscribe_subscribe(&comm->super, key, initial, changed);
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

    return ompi_comm_size(&ompi_mpi_comm_world.comm) == here && mca_compat_is_of_job(comm);
}

/*
 * Is what this process of `comm` published, or that it published nothing, known without waiting?
 *
 *   processes exchange without waiting for each other    no: it may not have published yet
 *   Open MPI 4.1, all is collected (its default)         yes: it is in local memory
 *   otherwise                                            on one node: the node's server has it
 *
 * Open MPI 5.0.7 collects, but lacks some ranks of other nodes.  Where nothing is collected a
 * process may not know yet who is local, but knows how many of its job are.
 */
static inline bool mca_compat_publication_known(struct ompi_communicator_t *comm, int rank)
{
    if (opal_pmix_base_async_modex) {
        return false;
    }
    if (!opal_pmix_collect_all_data) {
        return mca_compat_on_one_node(comm);
    }
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
    return mca_compat_is_local(comm->c_local_group, rank);
#else
    (void) rank;
    return true;
#endif
}

/* ... of all its processes?  They know it alike. */
static inline bool mca_compat_publications_known(struct ompi_communicator_t *comm)
{
    int rank = 0;

    while (rank < ompi_comm_size(comm) && mca_compat_publication_known(comm, rank)) {
        ++rank;
    }
    return ompi_comm_size(comm) == rank;
}

/* Components of Open MPI's own serve every call before one of less priority: tuned, and han in 5.
 */
enum { MCA_COMPAT_OWN_PRIORITY = 35 };

/* Let all processes know `value` of `key`, of this one, from the exchange in MPI_Init on. */
static inline void mca_compat_publish(char *key, uint32_t value)
{
    int status = 0;

    OPAL_MODEX_SEND_VALUE(status, MCA_COMPAT_GLOBAL, key, &value, MCA_COMPAT_UINT32);
    (void) status; /* then others see that it is not there */
}

/*
 * What the process `name` published as `key`; 0: nothing.  If `seconds` is 0, this node's server at
 * most is asked.  Otherwise the process's own is, and waits until the key is there; false: no
 * answer within so many seconds.
 */
static inline bool mca_compat_published(char *key, opal_process_name_t name, int seconds,
                                        uint32_t *value)
{
    bool here = true;

    *value = 0;
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
    pmix_proc_t process;
    pmix_info_t how;
    pmix_value_t *found = NULL;

    OPAL_PMIX_CONVERT_NAME(&process, &name);
    if (0 == seconds) {
        PMIX_INFO_LOAD(&how, PMIX_IMMEDIATE, &here, PMIX_BOOL);
    } else {
        PMIX_INFO_LOAD(&how, PMIX_TIMEOUT, &seconds, PMIX_INT);
    }
    const pmix_status_t status = PMIx_Get(&process, key, &how, 1, &found);
    PMIX_INFO_DESTRUCT(&how);
    if (PMIX_SUCCESS == status && NULL != found) {
        *value = PMIX_UINT32 == found->type ? found->data.uint32 : 0;
        PMIX_VALUE_RELEASE(found);
    }
    return PMIX_SUCCESS == status || PMIX_ERR_NOT_FOUND == status;
#else
    char immediate[] = OPAL_PMIX_IMMEDIATE;
    char timeout[] = OPAL_PMIX_TIMEOUT;
    opal_list_t list;
    opal_value_t how;
    opal_value_t *found = NULL;

    OBJ_CONSTRUCT(&list, opal_list_t);
    OBJ_CONSTRUCT(&how, opal_value_t);
    how.key = 0 == seconds ? immediate : timeout;
    how.type = 0 == seconds ? OPAL_BOOL : OPAL_INT;
    if (0 == seconds) {
        how.data.flag = here;
    } else {
        how.data.integer = seconds;
    }
    opal_list_append(&list, &how.super);
    const int status = opal_pmix.get(&name, key, &list, &found);
    (void) opal_list_remove_first(&list);
    how.key = NULL;
    OBJ_DESTRUCT(&how);
    OBJ_DESTRUCT(&list);
    if (OPAL_SUCCESS == status && NULL != found) {
        *value = OPAL_UINT32 == found->type ? found->data.uint32 : 0;
        OBJ_RELEASE(found);
    }
    return OPAL_SUCCESS == status || OPAL_ERR_NOT_FOUND == status;
#endif
}

/*
 * Tags of our own agreements, and what is added to them for what is gathered at a set-up.  Those of
 * Open MPI itself begin at -7 and go downwards, those of programs at 0 and upwards; -1 means any.
 * All networks keep them apart: some carry only 24 bits.
 */
enum { MCA_COMPAT_TAG_LOWLAT = -5, MCA_COMPAT_TAG_QUANT = -6, MCA_COMPAT_TAG_GATHER = 2 };

/* A name of a communicator for messages. */
static inline unsigned mca_compat_comm_id(struct ompi_communicator_t *comm)
{
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
    return (unsigned) comm->c_index;
#else
    return (unsigned) comm->c_contextid;
#endif
}

/* May several threads of the program be in MPI at the same time? */
static inline bool mca_compat_threads(void)
{
    return ompi_mpi_thread_multiple;
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
