/*
 * What MPI_Comm_get_info shows of what is in effect on a communicator: nothing of ours before it is
 * set up, then what the components have chosen, and the key of coll_quant.
 *
 * coll_quant is off but for the key arc_quant; every fourth call is verified, and may have an NMSE
 * of 1e-3.
 *
 *   shown lowlat WORD    arc_lowlat_choice has WORD
 *   shown quant          coll_quant
 *   shown lacking        coll_quant, which rank 0 does not have
 *   shown nonblocking    coll_quant, enabled, after nonblocking calls only
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "harness.h"
#include "persistent.h"

enum { ELEMS = 70001 }; /* from 256 KiB on sums are quantized */

static float data[ELEMS];

static int count_keys(MPI_Comm comm, const char *prefix)
{
    int keys = 0;
    int ours = 0;
    MPI_Info info;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1] = "";

        MPI_Info_get_nthkey(info, i, key);
        ours += strncmp(key, prefix, strlen(prefix)) == 0;
    }
    MPI_Info_free(&info);
    return ours;
}

static void sum(MPI_Comm comm)
{
    for (int i = 0; i < ELEMS; i++) {
        data[i] = (float) (i % 1000);
    }
    MPI_Allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, comm);
}

static void expect(MPI_Comm comm, const char *key, const char *value)
{
    tap_check(strcmp(key_of(comm, key), value) == 0, "%s is \"%s\", not \"%s\"", key,
              key_of(comm, key), value);
}

static void expect_word(MPI_Comm comm, const char *key, const char *word)
{
    tap_check(strstr(key_of(comm, key), word) != NULL, "%s is \"%s\" without \"%s\"", key,
              key_of(comm, key), word);
}

static void check_lowlat(MPI_Comm comm, const char *word)
{
    tap_check(count_keys(comm, "arc_") == 0, "%d keys of ours before a call",
              count_keys(comm, "arc_"));
    tap_case("nothing is shown before the set-up");
    sum(comm);
    tap_note("arc_lowlat_choice: %s", key_of(comm, "arc_lowlat_choice"));
    expect_word(comm, "arc_lowlat_choice", word);
    tap_check(count_keys(comm, "arc_") == 1, "%d keys of ours", count_keys(comm, "arc_"));
    tap_case("what was selected is shown after it");
}

/* All that one communicator shows is given to another one, which has made no call. */
static void check_inherited(MPI_Comm comm, const char *key)
{
    MPI_Info info;
    MPI_Comm copy;

    MPI_Comm_get_info(comm, &info);
    MPI_Comm_dup_with_info(comm, info, &copy);
    MPI_Info_free(&info);
    expect(copy, key, "");
    sum(copy);
    tap_check(key_of(copy, key)[0] != '\0', "%s is not shown", key);
    MPI_Comm_free(&copy);
    tap_case("what another communicator showed is not taken over");
}

static void check_quant(MPI_Comm comm)
{
    sum(comm);
    tap_check(count_keys(comm, "arc_quant") == 0, "%d keys where nobody wants it",
              count_keys(comm, "arc_quant"));
    set_key(comm, "arc_quant", "on");
    expect(comm, "arc_quant_choice", "");
    tap_case("nothing is shown where nothing is quantized, or before the set-up");

    sum(comm);
    tap_note("arc_quant_choice: %s", key_of(comm, "arc_quant_choice"));
    expect(comm, "arc_quant", "on");
    expect_word(comm, "arc_quant_choice", ", int8 then int8, from 262144 bytes");
    tap_case("the key is shown, and what it leads to");

    set_key(comm, "arc_quant", "int4");
    expect(comm, "arc_quant_choice", "");
    sum(comm);
    expect(comm, "arc_quant", "int4");
    expect_word(comm, "arc_quant_choice", ", int4 then int4, from 262144 bytes");
    set_key(comm, "arc_quant", "most");
    set_key(comm, "arc_quant", "0.00010");
    sum(comm);
    expect(comm, "arc_quant", "0.0001");
    expect_word(comm, "arc_quant_choice", ", int8 then int8, from 262144 bytes");
    tap_case("values that are set or refused are shown as they are in effect");
    check_inherited(comm, "arc_quant_choice");

    set_key(comm, "arc_quant", "1e-30");
    sum(comm);
    expect_word(comm, "arc_quant_choice", "exact: nothing allowed is below target_nmse");
    set_key(comm, "arc_quant", "int4");
    sum(comm);
    expect_word(comm, "arc_quant_choice", "exact: a verified call was less accurate");
    set_key(comm, "arc_quant", "off");
    sum(comm);
    expect(comm, "arc_quant", "off");
    expect(comm, "arc_quant_choice", "");
    tap_case("a communicator that stays exact tells why");
}

static void check_lacking(MPI_Comm comm)
{
    sum(comm);
    set_key(comm, "arc_quant", "on");
    expect_word(comm, "arc_quant_choice", world_rank > 0 ? "exact: a rank lacks" : "");
    tap_case("a key that comes when ranks are known to lack the component: why it has no effect");
}

/*
 * How far a nonblocking call is differs between ranks, and what is shown of arc_quant another
 * communicator may be given.
 */
static void check_nonblocking(MPI_Comm comm)
{
    nonblocking_allreduce(MPI_IN_PLACE, data, ELEMS, MPI_FLOAT, MPI_SUM, comm);
    expect_word(comm, "arc_quant_choice", ", int8 then int8, from 262144 bytes");
    expect(comm, "arc_quant", "");
    tap_case("a nonblocking call shows what it has led to, but not the key");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    MPI_Comm comm = dup_of(MPI_COMM_WORLD);
    if (argc > 2) {
        check_lowlat(comm, argv[2]);
        check_inherited(comm, "arc_lowlat_choice");
    } else if (argc > 1 && strcmp(argv[1], "lacking") == 0) {
        check_lacking(comm);
    } else if (argc > 1 && strcmp(argv[1], "nonblocking") == 0) {
        check_nonblocking(comm);
    } else {
        check_quant(comm);
    }
    MPI_Comm_free(&comm);
    return tap_end();
}
