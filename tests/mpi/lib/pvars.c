/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "pvars.h"

static MPI_T_pvar_session session;

/*
 * MPI_T_pvar_handle_alloc() of Open MPI 6.0.0rc2 takes the address of a handle for a communicator's
 * where it looks for flags, and refuses what has bits set 224 bytes behind.
 */
static struct {
    MPI_Comm comm;
    char behind[256];
} object;

void pvars_begin(void)
{
    int provided = 0;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
}

void pvars_end(void)
{
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

bool pvar_open(pvar_t *pvar, const char *name, MPI_Comm *comm)
{
    int count = 0;

    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        enum { NAME_BYTES = 128 };
        char found[NAME_BYTES] = "";
        int name_bytes = NAME_BYTES;
        int help_bytes = 0;
        int verbosity, class, binding, readonly, continuous, atomic, values;

        if (MPI_T_pvar_get_info(i, found, &name_bytes, &verbosity, &class, &pvar->type,
                                &pvar->names, NULL, &help_bytes, &binding, &readonly, &continuous,
                                &atomic) == MPI_SUCCESS &&
            strcmp(name, found) == 0) {
            object.comm = *comm;
            return readonly && continuous && binding == MPI_T_BIND_MPI_COMM &&
                   MPI_T_pvar_handle_alloc(session, i, &object, &pvar->handle, &values) ==
                       MPI_SUCCESS &&
                   values == 1;
        }
    }
    return false;
}

void pvar_close(pvar_t *pvar)
{
    MPI_T_pvar_handle_free(session, &pvar->handle);
}

double pvar_read(const pvar_t *pvar)
{
    union {
        unsigned long long calls;
        double number;
        int state;
    } value;
    int status = MPI_T_pvar_read(session, pvar->handle, &value);

    if (status != MPI_SUCCESS) {
        return -1;
    }
    if (pvar->type == MPI_DOUBLE) {
        return value.number;
    }
    return pvar->type == MPI_INT ? (double) value.state : (double) value.calls;
}

void pvar_name(const pvar_t *pvar, int value, char *text)
{
    int items = 0;
    int none = 0;

    text[0] = '\0';
    if (pvar->names == MPI_T_ENUM_NULL ||
        MPI_T_enum_get_info(pvar->names, &items, NULL, &none) != MPI_SUCCESS) {
        return;
    }
    for (int i = 0; i < items; i++) {
        int name_bytes = PVAR_NAME_BYTES;
        int of_item = -1;

        if (MPI_T_enum_get_item(pvar->names, i, &of_item, text, &name_bytes) == MPI_SUCCESS &&
            of_item == value) {
            return;
        }
    }
    text[0] = '\0';
}
