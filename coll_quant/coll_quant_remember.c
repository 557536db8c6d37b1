/*
 * What was learned is remembered by the process, for communicators of the same
 * processes, in the same order, with the same settings and the same components below.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <string.h>

#include "coll_quant_remember.h"
#include "hash.h"

void coll_quant_remember(const quant_module_t *module)
{
    quant_component_t *component = &mca_coll_quant_component;

    (void) pthread_mutex_lock(&component->base.lock);
    unsigned place = 0;
    while (place < QUANT_REMEMBERED && component->remembered[place].key != module->gain_key) {
        ++place;
    }
    if (QUANT_REMEMBERED == place) {
        place = component->remembered_next++ % QUANT_REMEMBERED;
    }
    quant_remembered_t *one = &component->remembered[place];
    if (one->key != module->gain_key) {
        *one = (quant_remembered_t){.key = module->gain_key};
    }
    for (unsigned tried = 0; tried < QUANT_TRIED; ++tried) {
        quant_gain_merge(&one->gain[tried], &module->gain[tried]);
    }
    (void) pthread_mutex_unlock(&component->base.lock);
}

/*
 * What decides how fast the two sides are.  Others that give the same number are unlikely, and
 * would only be slower.
 */
static uint64_t key_of(const quant_module_t *module)
{
    struct ompi_communicator_t *comm = module->base.comm;
    const arc_module_t *base = &module->base;
    const uintptr_t below[] = {
#define X(_name, _call) (uintptr_t) base->below_##_name,
        ARC_COLLECTIVE_TABLE(X)
#undef X
    };
    uint64_t key = arc_param_hash(quant_params, quant_params_count, &module->settings);

    for (size_t slot = 0; slot < ARC_COLLECTIVES; ++slot) {
        key = arc_hash_add(key, below[slot]);
    }
    for (int rank = 0; rank < ompi_comm_size(comm); ++rank) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        key = arc_hash_add(key, name.jobid);
        key = arc_hash_add(key, name.vpid);
    }
    return 0 != key ? key : 1;
}

uint64_t coll_quant_recall(quant_module_t *module)
{
    static const uint64_t factor = 0x9e3779b97f4a7c15; /* odd: no number is lost */
    enum { HALF = 32 };
    uint64_t number = 0;
    quant_component_t *component = &mca_coll_quant_component;

    for (unsigned tried = 0; tried < QUANT_TRIED; ++tried) {
        module->gain[tried] =
            0 == module->settings.explore_percent ? quant_gain_always() : (quant_gain_t){0};
    }
    module->gain_key = key_of(module);
    (void) pthread_mutex_lock(&component->base.lock);
    for (unsigned i = 0; i < QUANT_REMEMBERED; ++i) {
        if (component->remembered[i].key == module->gain_key) {
            memcpy(module->gain, component->remembered[i].gain, sizeof module->gain);
        }
    }
    (void) pthread_mutex_unlock(&component->base.lock);
    for (unsigned tried = 0; tried < QUANT_TRIED; ++tried) {
        const quant_gain_t *gain = &module->gain[tried];
        number = (number * factor) ^ ((uint64_t) gain->decided << HALF | gain->gains);
    }
    return number;
}
