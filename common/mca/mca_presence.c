/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>

#include "mca_log.h"
#include "mca_params.h"
#include "mca_presence.h"

enum { KEY_BYTES = sizeof "arc coll_" + MCA_BASE_MAX_COMPONENT_NAME_LEN };

static void key_of(const arc_component_t *component, char key[KEY_BYTES])
{
    (void) snprintf(key, KEY_BYTES, "arc coll_%s", arc_component_name(component));
}

static bool is_wanted(const arc_component_t *component)
{
    return NULL == component->wanted || component->wanted();
}

/*
 * What is published: a hash of all that must be the same, so that ranks need not compare it in a
 * call.  It is that of the parameters, in which the place in the chain of components is, and of our
 * version, which says what they do.  The lowest bits of it are others: does this process want the
 * component?  Nothing that is published is 0.
 */
enum { WANTED = 1, PRESENT = 2 };

static uint32_t value_of(const arc_component_t *component)
{
    const uint64_t hash = arc_component_hash(component, component->config);

    const uint32_t flags = PRESENT | (is_wanted(component) ? WANTED : 0);

    return ((uint32_t) (hash ^ hash >> 32) & ~(uint32_t) (PRESENT | WANTED)) | flags;
}

void arc_presence_publish(const arc_component_t *component)
{
    char key[KEY_BYTES];

    key_of(component, key);
    mca_compat_publish(key, value_of(component));
}

/* The first rank of each kind; as many as the communicator has if there is none. */
typedef struct firsts {
    int without; /* the component */
    int other;   /* has another value than this rank */
    int wanting; /* wants the component */
} firsts_t;

static firsts_t find_firsts(const arc_component_t *component, struct ompi_communicator_t *comm)
{
    const int ranks = ompi_comm_size(comm);
    const uint32_t own = value_of(component);
    firsts_t firsts = {ranks, ranks, ranks};
    char key[KEY_BYTES];

    key_of(component, key);
    for (int rank = ranks - 1; rank >= 0; --rank) {
        const uint32_t value =
            rank == ompi_comm_rank(comm)
                ? own
                : mca_compat_published(key, ompi_group_get_proc_name(comm->c_local_group, rank));
        const bool has = 0 != value;
        firsts.without = has ? firsts.without : rank;
        firsts.other = has && own != value ? rank : firsts.other;
        firsts.wanting = 0 != (value & WANTED) ? rank : firsts.wanting;
    }
    return firsts;
}

/* Whether all have it cannot be found out here: then it is as the user says. */
static bool as_the_user_says(arc_component_t *component, struct ompi_communicator_t *comm)
{
    const bool told = component->absence_told;

    if (*component->installed_everywhere) {
        return true;
    }
    component->absence_told = true; /* the first communicator is that of all */
    if (!told && 0 == ompi_comm_rank(comm) && is_wanted(component) &&
        *component->verbose >= ARC_LOG_WARN) {
        opal_output(0,
                    "coll_%s: not used on communicators for which this Open MPI cannot tell "
                    "whether all ranks have it; if it is installed on all nodes, set "
                    "coll_arc_installed_everywhere 1",
                    arc_component_name(component));
    }
    return false;
}

/* Once, by the first rank that wants it. */
static void tell_of_absence(arc_component_t *component, struct ompi_communicator_t *comm,
                            const firsts_t *firsts)
{
    const char *name = arc_component_name(component);

    if (ompi_comm_rank(comm) != firsts->wanting || component->absence_told ||
        *component->verbose < ARC_LOG_WARN) {
        return;
    }
    component->absence_told = true;
    if (firsts->without < ompi_comm_size(comm)) {
        opal_output(
            0,
            "coll_%s: not used: rank %d does not have it; install it on all nodes, and give "
            "all ranks the same --mca parameters",
            name, firsts->without);
    } else {
        opal_output(0,
                    "coll_%s: not used: the coll_%s parameters are not the same on all ranks; set "
                    "them once, on the mpirun command line (those of ranks %d and %d differ)",
                    name, name, firsts->wanting, firsts->other);
    }
}

arc_presence_t arc_presence_find(arc_component_t *component, struct ompi_communicator_t *comm)
{
    if (component->in_whole_world && mca_compat_is_of_job(comm)) {
        return ARC_PRESENCE_KNOWN;
    }
    if (!mca_compat_publications_known(comm)) {
        return as_the_user_says(component, comm) ? ARC_PRESENCE_SAID : ARC_PRESENCE_LACKING;
    }
    const firsts_t firsts = find_firsts(component, comm);
    const int ranks = ompi_comm_size(comm);
    const bool everywhere = ranks == firsts.without && ranks == firsts.other;
    if (&ompi_mpi_comm_world.comm == comm) {
        component->in_whole_world = everywhere;
    }
    if (!everywhere) {
        tell_of_absence(component, comm, &firsts);
    }
    return everywhere                ? ARC_PRESENCE_KNOWN
           : ranks == firsts.without ? ARC_PRESENCE_OTHER
                                     : ARC_PRESENCE_LACKING;
}
