/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mca_slots.h"

#include <ompi/mca/coll/base/coll_base_util.h>

typedef struct slot_ops {
    bool (*enter)(arc_module_t *module);
    bool (*leave)(arc_module_t *module);
    /*
     * Does a module of higher priority serve the collective?  What the slot holds at the
     * moment does not tell: han puts the functions it saved back for a while, without
     * references.  The list has all modules in ascending order of priority.
     */
    bool (*has_one_above)(const arc_module_t *module);
    bool (*descend)(arc_module_t *module);
} slot_ops_t;

/* Put a function and its module into a slot. */
#define FILL(_slots, _name, _function, _ours)                             \
    do {                                                                  \
        mca_coll_base_module_t *before = (_slots)->coll_##_name##_module; \
        if (MCA_COMPAT_SLOTS_HOLD) {                                      \
            OBJ_RETAIN(_ours);                                            \
        }                                                                 \
        (_slots)->coll_##_name = (_function);                             \
        (_slots)->coll_##_name##_module = (_ours);                        \
        if (MCA_COMPAT_SLOTS_HOLD) {                                      \
            OBJ_RELEASE(before);                                          \
        }                                                                 \
    } while (0)

#define DEFINE_SLOT(_name, _call)                                                                 \
    static bool enter_##_name(arc_module_t *module)                                               \
    {                                                                                             \
        mca_coll_base_comm_coll_t *slots = module->comm->c_coll;                                  \
                                                                                                  \
        if (NULL == slots->coll_##_name || NULL == slots->coll_##_name##_module ||                \
            NULL == module->component->entries->_name) {                                          \
            return false;                                                                         \
        }                                                                                         \
        if (NULL != module->below_##_name##_module) {                                             \
            OBJ_RELEASE(module->below_##_name##_module);                                          \
        }                                                                                         \
        module->below_##_name = slots->coll_##_name;                                              \
        module->below_##_name##_module = slots->coll_##_name##_module;                            \
        OBJ_RETAIN(module->below_##_name##_module);                                               \
        module->super.coll_##_name = module->component->entries->_name;                           \
        FILL(slots, _name, module->super.coll_##_name, &module->super);                           \
        return true;                                                                              \
    }                                                                                             \
                                                                                                  \
    static bool leave_##_name(arc_module_t *module)                                               \
    {                                                                                             \
        mca_coll_base_comm_coll_t *slots = module->comm->c_coll;                                  \
                                                                                                  \
        if (slots->coll_##_name##_module != &module->super) {                                     \
            return false;                                                                         \
        }                                                                                         \
        FILL(slots, _name, module->below_##_name, module->below_##_name##_module);                \
        return true;                                                                              \
    }                                                                                             \
                                                                                                  \
    static bool has_one_above_##_name(const arc_module_t *module)                                 \
    {                                                                                             \
        mca_coll_base_avail_coll_t *item = NULL;                                                  \
        bool above = false;                                                                       \
        bool found = false;                                                                       \
                                                                                                  \
        OPAL_LIST_FOREACH (item, module->comm->c_coll->module_list, mca_coll_base_avail_coll_t) { \
            above = above || (found && NULL != item->ac_module->coll_##_name);                    \
            found = found || item->ac_module == &module->super;                                   \
        }                                                                                         \
        return above;                                                                             \
    }                                                                                             \
                                                                                                  \
    static bool descend_##_name(arc_module_t *module)                                             \
    {                                                                                             \
        mca_coll_base_avail_coll_t *item = NULL;                                                  \
        mca_coll_base_module_t *next = NULL;                                                      \
                                                                                                  \
        OPAL_LIST_FOREACH (item, module->comm->c_coll->module_list, mca_coll_base_avail_coll_t) { \
            if (item->ac_module == module->below_##_name##_module) {                              \
                break;                                                                            \
            }                                                                                     \
            next = NULL != item->ac_module->coll_##_name ? item->ac_module : next;                \
        }                                                                                         \
        if (NULL == next) {                                                                       \
            return false;                                                                         \
        }                                                                                         \
        OBJ_RETAIN(next);                                                                         \
        OBJ_RELEASE(module->below_##_name##_module);                                              \
        module->below_##_name = next->coll_##_name;                                               \
        module->below_##_name##_module = next;                                                    \
        return true;                                                                              \
    }

ARC_SLOT_TABLE(DEFINE_SLOT)

static const slot_ops_t slot_ops[ARC_SLOTS] = {
#define X(_name, _call) \
    [ARC_SLOT_##_name] = {enter_##_name, leave_##_name, has_one_above_##_name, descend_##_name},
    ARC_SLOT_TABLE(X)
#undef X
};

bool mca_slot_enter(arc_module_t *module, arc_slot_t slot)
{
    if (!slot_ops[slot].enter(module)) {
        return false;
    }
    module->entered |= arc_slot_bit(slot);
    return true;
}

/* Give the slot back to the component below; nothing if another one has come above it. */
static void leave(arc_module_t *module, arc_slot_t slot)
{
    if (!slot_ops[slot].has_one_above(module) && slot_ops[slot].leave(module)) {
        module->entered &= ~arc_slot_bit(slot);
    }
}

void mca_slots_disabled(arc_module_t *module)
{
    for (arc_slot_t slot = 0; slot < ARC_SLOTS; ++slot) {
        if (!MCA_COMPAT_SLOTS_HOLD && 0 != (module->entered & arc_slot_bit(slot))) {
            (void) slot_ops[slot].leave(module);
        }
    }
}

bool mca_slot_descend(arc_module_t *module, arc_slot_t slot)
{
    return slot_ops[slot].descend(module);
}

void arc_module_install(arc_module_t *module)
{
    for (arc_slot_t slot = 0; slot < ARC_SLOTS; ++slot) {
        const bool wanted = 0 != (module->wanted & arc_slot_bit(slot));
        const bool entered = 0 != (module->entered & arc_slot_bit(slot));

        if (entered && !wanted) {
            leave(module, slot);
        }
        if (wanted && !entered && !slot_ops[slot].has_one_above(module)) {
            (void) mca_slot_enter(module, slot);
        }
    }
}

void arc_module_uninstall(arc_module_t *module)
{
    if (module->unsettled) {
        return; /* other ranks may be elsewhere in the order of calls */
    }
    for (arc_slot_t slot = 0; slot < ARC_SLOTS; ++slot) {
        if (0 != (module->entered & arc_slot_bit(slot))) {
            leave(module, slot);
        }
    }
}
