/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_agreement.h"
#include "mca_compat_pmix.h"
#include "mca_params.h"
#include "mca_presence.h"

/* Would this process be asked, and does it want the component? */
static bool is_wanted(const arc_component_t *component)
{
    return *component->priority >= MCA_COMPAT_OWN_PRIORITY &&
           (NULL == component->wanted || component->wanted());
}

/*
 * What is published: a hash of all that must be the same, so that ranks need not compare it in a
 * call.  It is that of the parameters, in which the place in the chain of components is, and of our
 * version, which says what they do and whose last number is in the lowest bits.  Below these: does
 * this process want the component?  Nothing that is published is 0.
 */
enum { WANTED = 1, PRESENT = 2, FLAGS = 2 };

static uint32_t value_of(const arc_component_t *component)
{
    const uint64_t hash = arc_component_hash(component, component->config);

    return (uint32_t) (hash ^ hash >> 32) << FLAGS | PRESENT | (is_wanted(component) ? WANTED : 0);
}

void arc_presence_publish(const arc_component_t *component)
{
    mca_compat_publish(component->presence_key, value_of(component));
}

void arc_presence_begin(arc_module_t *module)
{
    const arc_component_t *component = module->component;

    module->presence =
        *component->installed_everywhere && !mca_compat_publications_known(module->comm)
            ? ARC_PRESENCE_SAID
            : ARC_PRESENCE_UNKNOWN;
    /* Ranks that may have other parameters must find out before they count by them. */
    module->calls_to_go = ARC_PRESENCE_SAID == module->presence ? 0 : *component->setup_calls;
}

/* What was found out: the vote, and the first rank of each kind; UINT64_MAX if there is none. */
enum { VOTE, WITHOUT, OTHER, WANTING };

typedef struct roll {
    arc_module_t *module;
    bool all_there; /* which is known of the whole job: looked at once, not for each rank */
    uint32_t own;
    uint64_t values[ARC_ROLL_VALUES];
} roll_t;

static void note_first(uint64_t *first, unsigned rank, bool is_one)
{
    *first = is_one && rank < *first ? rank : *first;
}

static roll_t begin_roll(arc_module_t *module)
{
    roll_t roll = {
        .module = module,
        .all_there = module->component->in_whole_world && mca_compat_is_of_job(module->comm),
        .own = value_of(module->component),
        .values = {1, UINT64_MAX, UINT64_MAX, UINT64_MAX},
    };

    note_first(&roll.values[WANTING], (unsigned) ompi_comm_rank(module->comm),
               is_wanted(module->component));
    return roll;
}

/* Has it the component, with our parameters?  Who has others is told so by what we published. */
static arc_answer_t ask(roll_t *roll, unsigned rank)
{
    /* Longer than a busy server takes.  A process without the component costs as much, once. */
    enum { ANSWER_SECONDS = 5 };
    struct ompi_communicator_t *comm = roll->module->comm;
    arc_component_t *component = roll->module->component;
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, (int) rank);
    const bool is_known = mca_compat_publication_known(comm, (int) rank);
    const bool was_in_vain = component->asks_in_vain;
    uint32_t value = 0;

    if (roll->all_there) {
        return ARC_ANSWER_THERE;
    }
    const int seconds = is_known || was_in_vain ? 0 : ANSWER_SECONDS;
    const bool answered = mca_compat_published(component->presence_key, name, seconds, &value);
    /* Another thread may set it meanwhile. */
    if (!answered) {
        component->asks_in_vain = true;
    }
    note_first(&roll->values[WITHOUT], rank, 0 == value && (is_known || !was_in_vain));
    note_first(&roll->values[OTHER], rank, 0 != value && roll->own != value);
    note_first(&roll->values[WANTING], rank, 0 != (value & WANTED));
    return roll->own == value                     ? ARC_ANSWER_THERE
           : (is_known && answered) || 0 != value ? ARC_ANSWER_NO
                                                  : ARC_ANSWER_NONE;
}

static arc_answer_t ask_and_doubt(void *context, unsigned rank)
{
    roll_t *roll = context;
    const arc_answer_t answer = ask(roll, rank);

    return ARC_ANSWER_THERE == answer && roll->module->component->asks_in_vain ? ARC_ANSWER_NONE
                                                                               : answer;
}

/* Once, by the first rank that wants it. */
static void tell_of_absence(arc_module_t *module, const uint64_t *values)
{
    arc_component_t *component = module->component;
    const char *name = arc_component_name(component);

    if ((uint64_t) ompi_comm_rank(module->comm) != values[WANTING] || component->absence_told ||
        *component->verbose < ARC_LOG_WARN) {
        return;
    }
    component->absence_told = true;
    if (UINT64_MAX != values[WITHOUT]) {
        enum { HOST_BYTES = 256 };
        char host[HOST_BYTES];
        mca_compat_host(module->comm, (int) values[WITHOUT], host, sizeof host);
        opal_output(0,
                    "coll_%s: not used: rank %d, on host %s, does not have it, or has not "
                    "answered; install it on all nodes, and give all ranks the same --mca "
                    "parameters",
                    name, (int) values[WITHOUT], host);
    } else if (UINT64_MAX != values[OTHER]) {
        opal_output(0,
                    "coll_%s: not used: its version or the coll_%s parameters are not the same on "
                    "all ranks; set these once, on the mpirun command line (those of ranks %d and "
                    "%d differ)",
                    name, name, (int) values[WANTING], (int) values[OTHER]);
    }
}

static void end_roll(arc_module_t *module, const uint64_t *values)
{
    struct ompi_communicator_t *comm = module->comm;

    if (1 == values[VOTE]) {
        module->presence = ARC_PRESENCE_KNOWN;
        module->component->in_whole_world |=
            mca_compat_job_size() == ompi_comm_size(comm) && mca_compat_is_of_job(comm);
        return;
    }
    module->presence = ARC_PRESENCE_LACKING;
    arc_module_disagree(module, UINT64_MAX == values[WITHOUT] && UINT64_MAX != values[OTHER]
                                    ? ARC_REASON_CONFIG_DIFFERS
                                    : ARC_REASON_ABSENT);
    tell_of_absence(module, values);
}

void arc_presence_find(arc_module_t *module)
{
    roll_t roll = begin_roll(module);

    if (ARC_PRESENCE_UNKNOWN == module->presence &&
        ARC_OK == arc_module_call_roll(module, roll.values, ask_and_doubt, &roll)) {
        end_roll(module, roll.values);
    }
}

void arc_presence_look(arc_module_t *module)
{
    if (ARC_PRESENCE_UNKNOWN != module->presence || !mca_compat_publications_known(module->comm)) {
        return;
    }
    roll_t roll = begin_roll(module);
    for (int rank = 0; rank < ompi_comm_size(module->comm); ++rank) {
        roll.values[VOTE] &=
            rank == ompi_comm_rank(module->comm) || ARC_ANSWER_THERE == ask(&roll, (unsigned) rank);
    }
    end_roll(module, roll.values);
}

void arc_presence_agree(arc_module_t *module)
{
    const arc_component_t *component = module->component;

    arc_presence_find(module);
    if (ARC_PRESENCE_SAID == module->presence) {
        arc_module_agree(module, arc_component_hash(component, component->config));
    } else if (ARC_PRESENCE_KNOWN == module->presence) {
        module->phase = ARC_PHASE_AGREED;
    }
}
