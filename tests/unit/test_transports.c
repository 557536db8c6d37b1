/*
 * What the user's UCX_TLS leaves of the transports that puts may use.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "unit.h"
#include "ucx_transports.h"

typedef struct row {
    ucx_reach_t reach;
    const char *wanted;
    const char *left; /* NULL: none */
} row_t;

static row_t rows[] = {
    {UCX_REACH_NETWORK, NULL, "^sm,self,tcp"},
    {UCX_REACH_NETWORK, "", "^sm,self,tcp"},
    {UCX_REACH_NETWORK, "all", "all"},
    {UCX_REACH_NETWORK, "ud,sm,self", "ud,sm,self"},
    {UCX_REACH_NETWORK, "rc_x,dc_mlx5", "rc_x,dc_mlx5"},
    {UCX_REACH_NETWORK, "^tcp", "^tcp,sm,self,tcp"},
    {UCX_REACH_NETWORK, "^dc,rc", "^dc,rc,sm,self,tcp"},
    {UCX_REACH_NETWORK,
     "rc_verbs,rc_mlx5,rc_other_that_is_longer_than_there_is_room_for_in_it,"
     "and_another_one_that_would_not_even_fit_if_it_were_alone_there,x",
     NULL},
    {UCX_REACH_MACHINE, NULL, "posix"},
    {UCX_REACH_MACHINE, "tcp,mm", "tcp,mm"},
    {UCX_REACH_MACHINE, "^sysv", "^sysv"},
};

static void the_users_list_counts(void **state)
{
    const row_t *row = *state;
    char text[UCX_TRANSPORTS_BYTES] = "";

    assert_int_equal(NULL != row->left, ucx_transports(row->reach, row->wanted, text));
    if (NULL != row->left) {
        assert_string_equal(row->left, text);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        unit_add_row(the_users_list_counts, &rows[i], 0, "the_users_list_counts %s %s",
                     UCX_REACH_NETWORK == rows[i].reach ? "network" : "machine",
                     NULL == rows[i].wanted ? "unset" : rows[i].wanted);
    }
    return unit_run("transports for puts");
}
