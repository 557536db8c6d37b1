/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "ucx_memory.h"

/* The component `name` of this UCX, or NULL. */
static uct_component_h find_component(const ucx_library_t *library, const char *name)
{
    uct_component_h *components = NULL;
    uct_component_h found = NULL;
    unsigned count = 0;

    if (UCS_OK != library->uct_query_components(&components, &count)) {
        return NULL;
    }
    for (unsigned i = 0; i < count && NULL == found; ++i) {
        uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
        if (UCS_OK == library->uct_component_query(components[i], &attr) &&
            0 == strcmp(attr.name, name)) {
            found = components[i];
        }
    }
    library->uct_release_component_list(components);
    return found;
}

arc_status_t ucx_domain_open(ucx_domain_t *domain, const ucx_library_t *library, const char *name)
{
    uct_md_config_t *config = NULL;
    uct_md_attr_t attr;

    domain->library = library;
    domain->md = NULL;
    domain->is_system_v = 0 == strcmp(name, "sysv");
    domain->component = find_component(library, name);
    if (NULL == domain->component ||
        UCS_OK != library->uct_md_config_read(domain->component, NULL, NULL, &config)) {
        return ARC_UNSUPPORTED;
    }
    ucs_status_t opened = library->uct_md_open(domain->component, name, config, &domain->md);
    library->uct_config_release(config);
    if (UCS_OK != opened) {
        domain->md = NULL;
        return ARC_UNSUPPORTED;
    }
    if (UCS_OK != library->uct_md_query(domain->md, &attr) ||
        attr.rkey_packed_size > UCX_KEY_BYTES) {
        ucx_domain_close(domain);
        return ARC_UNSUPPORTED;
    }
    return ARC_OK;
}

void ucx_domain_close(ucx_domain_t *domain)
{
    if (NULL != domain->md) {
        domain->library->uct_md_close(domain->md);
        domain->md = NULL;
    }
}

/*
 * UCX opens System V regions to the group of the user: mode 0660.  Ours are for their user only.
 * The packed key begins with the region's number; what is found under it must look like what was
 * just made.  Whoever attached it before the mode was changed could write to it for ever: then,
 * too, it is not used.
 */
static bool close_to_others(const ucx_region_t *region, const ucx_key_t *key)
{
    enum { OWNER_ONLY = 0600, MODE_MASK = 0777 };
    struct shmid_ds state;
    uint32_t number = 0;

    memcpy(&number, key->packed, sizeof number);
    if (0 != shmctl((int) number, IPC_STAT, &state) || getpid() != state.shm_cpid ||
        state.shm_segsz < region->memory.length) {
        return false;
    }
    state.shm_perm.mode = OWNER_ONLY;
    return 0 == shmctl((int) number, IPC_SET, &state) &&
           0 == shmctl((int) number, IPC_STAT, &state) &&
           OWNER_ONLY == (state.shm_perm.mode & MODE_MASK) && 1 == state.shm_nattch;
}

arc_status_t ucx_region_create(ucx_region_t *region, const ucx_domain_t *domain, size_t bytes,
                               ucx_key_t *key)
{
    const ucx_library_t *library = domain->library;
    uct_md_h md = domain->md;
    const uct_alloc_method_t methods[] = {UCT_ALLOC_METHOD_MD};
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS |
                      UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE | UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                      UCT_MEM_ALLOC_PARAM_FIELD_NAME,
        .flags = UCT_MD_MEM_ACCESS_ALL,
        .address = NULL,
        .mem_type = UCS_MEMORY_TYPE_HOST,
        .mds = {.mds = &md, .count = 1},
        .name = "arc",
    };

    region->domain = NULL;
    if (UCS_OK != library->uct_mem_alloc(bytes, methods, 1, &params, &region->memory)) {
        return ARC_ERR_NO_MEMORY;
    }
    region->domain = domain;
    memset(key, 0, sizeof *key);
    key->address = (uint64_t) (uintptr_t) region->memory.address;
    if (UCS_OK != library->uct_md_mkey_pack(md, region->memory.memh, key->packed)) {
        ucx_region_free(region);
        return ARC_ERR_TRANSPORT;
    }
    if (domain->is_system_v && !close_to_others(region, key)) {
        ucx_region_free(region);
        return ARC_UNSUPPORTED;
    }
    return ARC_OK;
}

void ucx_region_free(ucx_region_t *region)
{
    if (NULL != region->domain) {
        (void) region->domain->library->uct_mem_free(&region->memory);
        region->domain = NULL;
    }
}

arc_status_t ucx_mapping_attach(ucx_mapping_t *mapping, const ucx_domain_t *domain,
                                const ucx_key_t *key)
{
    const ucx_library_t *library = domain->library;

    mapping->domain = NULL;
    if (UCS_OK != library->uct_rkey_unpack(domain->component, key->packed, &mapping->rkey)) {
        return ARC_ERR_TRANSPORT;
    }
    mapping->domain = domain;
    if (UCS_OK !=
        library->uct_rkey_ptr(domain->component, &mapping->rkey, key->address, &mapping->base)) {
        ucx_mapping_detach(mapping);
        return ARC_ERR_TRANSPORT;
    }
    return ARC_OK;
}

void ucx_mapping_detach(ucx_mapping_t *mapping)
{
    if (NULL != mapping->domain) {
        (void) mapping->domain->library->uct_rkey_release(mapping->domain->component,
                                                          &mapping->rkey);
        mapping->domain = NULL;
    }
}
