/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "mca_fold.h"

/*
 * Each component has classes of its own, of the same names.  `component` follows Open MPI's own
 * part of the module, whatever the release, and in it comes Open MPI's part first: so the release
 * can be read before anything that depends on it.
 */
arc_module_t *mca_fold_below(const arc_module_t *module)
{
    mca_coll_base_module_t *base = module->below_allreduce_module;
    const opal_class_t *class = NULL == base ? NULL : ((opal_object_t *) base)->obj_class;

    if (NULL == class || 0 != strcmp("lowlat_module_t", class->cls_name)) {
        return NULL;
    }
    arc_module_t *below = (arc_module_t *) base;
    const mca_base_component_t *own = &module->component->super.collm_version;
    const mca_base_component_t *its = &below->component->super.collm_version;
    const bool same_release =
        own->mca_component_major_version == its->mca_component_major_version &&
        own->mca_component_minor_version == its->mca_component_minor_version &&
        own->mca_component_release_version == its->mca_component_release_version;

    return same_release && NULL != below->component->fold ? below : NULL;
}
