/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "float_env.h"
#include "mca_compat.h"
#include "mca_seat.h"

static uint16_t number_of(hwloc_topology_t topology, hwloc_obj_type_t type,
                          hwloc_const_cpuset_t cpuset)
{
    /* The first one that has some of them: objects of one type have nothing in common. */
    const hwloc_obj_t object =
        hwloc_get_next_obj_covering_cpuset_by_type(topology, cpuset, type, NULL);

    return NULL == object || !hwloc_bitmap_isincluded(cpuset, object->cpuset)
               ? 0
               : (uint16_t) (1 + object->logical_index);
}

lowlat_seat_t mca_seat_of(hwloc_topology_t topology, hwloc_const_cpuset_t cpuset)
{
    const hwloc_obj_type_t cache = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L3CACHE) > 0
                                       ? HWLOC_OBJ_L3CACHE
                                       : HWLOC_OBJ_L2CACHE;

    return hwloc_bitmap_iszero(cpuset)
               ? (lowlat_seat_t){{0}}
               : (lowlat_seat_t){{number_of(topology, HWLOC_OBJ_PACKAGE, cpuset),
                                  number_of(topology, HWLOC_OBJ_NUMANODE, cpuset),
                                  number_of(topology, cache, cpuset)}};
}

static bool has_topology(void)
{
    ARC_IN_DEFAULT_FLOAT_ENV; /* hwloc reckons with floats where it loads a topology */

    /* Most programs have it by now: mpirun's daemon gives it to them in MPI_Init. */
    return NULL != opal_hwloc_topology || OPAL_SUCCESS == opal_hwloc_base_get_topology();
}

void mca_seat_prepare(void)
{
    if (opal_process_info.num_local_peers >= LOWLAT_FLAT_RANKS) {
        (void) has_topology();
    }
}

lowlat_seat_t mca_seat_of_cores(const arc_cores_t *cores)
{
    lowlat_seat_t seat = {{0}};
    hwloc_bitmap_t cpuset = hwloc_bitmap_alloc();
    uint32_t known = 0;

    for (unsigned i = 0; NULL != cpuset && i < cores->words; ++i) {
        (void) hwloc_bitmap_set_ith_ulong(cpuset, cores->word[i], cores->bits[i]);
        known += (uint32_t) __builtin_popcountl(cores->bits[i]);
    }
    /* A process that may run on more processors than a card has room for sits nowhere. */
    if (NULL != cpuset && has_topology() && known == cores->count) {
        seat = mca_seat_of(opal_hwloc_topology, cpuset);
    }
    hwloc_bitmap_free(cpuset);
    return seat;
}
