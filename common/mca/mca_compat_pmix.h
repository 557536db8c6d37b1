/*
 * What processes publish in MPI_Init and look up of each other, by way of PMIx, in which releases
 * of Open MPI differ.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef MCA_COMPAT_PMIX_H
#define MCA_COMPAT_PMIX_H

#include "float_env.h"
#include "mca_compat.h"

#if OMPI_MAJOR_VERSION >= 5
#include <opal/mca/pmix/pmix-internal.h>
#define MCA_COMPAT_GLOBAL PMIX_GLOBAL
#define MCA_COMPAT_UINT32 PMIX_UINT32
#else
#include <opal/mca/pmix/pmix.h>
#define MCA_COMPAT_GLOBAL OPAL_PMIX_GLOBAL
#define MCA_COMPAT_UINT32 OPAL_UINT32
#endif

/*
 * Is what this process of `comm` published, or that it published nothing, known without waiting?
 *
 *   processes exchange without waiting for each other    no: it may not have published yet
 *   Open MPI 4.1, all is collected (its default)         yes: it is in local memory
 *   otherwise                                            on one node: the node's server has it
 *
 * Open MPI 6.0 exchanges beside what else MPI_Init does, and waits at its end, if all is collected;
 * both are its defaults.  Open MPI 5.0.7 collects, but lacks some ranks of other nodes.  Where
 * nothing is collected a process may not know yet who is local, but knows how many of its job are.
 */
static inline bool mca_compat_publication_known(struct ompi_communicator_t *comm, int rank)
{
    const bool waits = OMPI_MAJOR_VERSION >= 6;

    if (opal_pmix_base_async_modex && !(waits && opal_pmix_collect_all_data)) {
        return false;
    }
    if (!opal_pmix_collect_all_data) {
        return mca_compat_on_one_node(comm);
    }
#if OMPI_MAJOR_VERSION >= 5
    return mca_compat_is_local(comm->c_local_group, rank);
#else
    (void) rank;
    return true;
#endif
}

/*
 * ... of all its processes, and of their job?  They know it alike: from 5 on by the size of the
 * job, since ranks of several jobs need not be local to each other alike.
 */
static inline bool mca_compat_publications_known(struct ompi_communicator_t *comm)
{
    return (OMPI_MAJOR_VERSION < 5 || mca_compat_on_one_node(comm)) &&
           mca_compat_publication_known(comm, ompi_comm_rank(comm));
}

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
    ARC_IN_DEFAULT_FLOAT_ENV; /* whatever PMIx reckons with */

    *value = 0;
#if OMPI_MAJOR_VERSION >= 5
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

#endif
