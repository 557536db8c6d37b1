/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <stdio.h>

#include "mca_presence.h"

enum { KEY_BYTES = sizeof "arc coll_" + MCA_BASE_MAX_COMPONENT_NAME_LEN };

static void key_of(const arc_component_t *component, char key[KEY_BYTES])
{
    (void) snprintf(key, KEY_BYTES, "arc coll_%s", arc_component_name(component));
}

/*
 * What is published: what must be the same for calls to meet.  The place in the chain of
 * components, and the collectives that the component is in at all.
 */
static uint32_t value_of(const arc_component_t *component)
{
    enum { SLOTS_SHIFT = 16 };
    static_assert(SLOTS_SHIFT + ARC_SLOTS <= 32, "a bit for each slot beside the priority");
    const uint32_t slots =
        NULL == component->slots ? arc_slot_bit(ARC_SLOT_allreduce) : component->slots();

    return (1 + (uint32_t) *component->priority) | slots << SLOTS_SHIFT;
}

void arc_presence_publish(const arc_component_t *component)
{
    char key[KEY_BYTES];

    key_of(component, key);
    mca_compat_publish(key, value_of(component));
}

/*
 * The first rank of `comm` that lacks it, or has another value; as many as `comm` has if none does.
 * *present: the first one that has it.
 */
static int first_without(char *key, uint32_t value, struct ompi_communicator_t *comm, int *present)
{
    const int ranks = ompi_comm_size(comm);
    int without = ranks;

    *present = ranks;
    for (int rank = 0; rank < ranks && (ranks == without || ranks == *present); ++rank) {
        const bool has = rank == ompi_comm_rank(comm) ||
                         mca_compat_is_published(
                             key, value, ompi_group_get_proc_name(comm->c_local_group, rank));
        int *first = has ? present : &without;
        *first = ranks == *first ? rank : *first;
    }
    return without;
}

/* Are all processes of `comm` of the job that MPI_COMM_WORLD is? */
static bool is_in_world(struct ompi_communicator_t *comm)
{
    const ompi_proc_t *self = ompi_proc_local();

    for (int rank = 0; rank < ompi_comm_size(comm); ++rank) {
        if (self->super.proc_name.jobid !=
            ompi_group_get_proc_name(comm->c_local_group, rank).jobid) {
            return false;
        }
    }
    return true;
}

/* Whether all have it cannot be found out here: then it is as the user says. */
static bool as_the_user_says(arc_component_t *component, struct ompi_communicator_t *comm)
{
    if (*component->installed_everywhere) {
        return true;
    }
    if (!component->absence_told && 0 == ompi_comm_rank(comm) &&
        *component->verbose >= ARC_LOG_CHOICE) {
        component->absence_told = true;
        opal_output(
            0,
            "coll_%s: not used on communicators for which this Open MPI cannot tell whether "
            "all ranks have it; if it is installed on all nodes, set "
            "coll_%s_installed_everywhere 1",
            arc_component_name(component), arc_component_name(component));
    }
    return false;
}

static bool is_wanted(const arc_component_t *component)
{
    return NULL == component->wanted || component->wanted();
}

bool arc_presence_everywhere(arc_component_t *component, struct ompi_communicator_t *comm)
{
    char key[KEY_BYTES];
    int present = 0;

    if (component->in_whole_world && is_in_world(comm)) {
        return true;
    }
    if (!mca_compat_publications_known(comm)) {
        return as_the_user_says(component, comm);
    }
    key_of(component, key);
    const int without = first_without(key, value_of(component), comm, &present);
    const bool everywhere = ompi_comm_size(comm) == without;
    if (&ompi_mpi_comm_world.comm == comm) {
        component->in_whole_world = everywhere;
    }
    if (!everywhere && *component->verbose >= ARC_LOG_WARN && is_wanted(component) &&
        !component->absence_told && present == ompi_comm_rank(comm)) {
        component->absence_told = true;
        opal_output(
            0,
            "coll_%s: not used: rank %d does not have it, or with another priority or other "
            "collectives; install it on all nodes, and give all ranks the same --mca parameters",
            arc_component_name(component), without);
    }
    return everywhere;
}
