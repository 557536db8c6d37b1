/*
 * The selector on times that were measured between nodes (select_record.txt), with the candidates,
 * first choices and guesses of coll_lowlat: who is chosen, and what exploring costs; also when
 * ranks come late.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <math.h>

#include "unit.h"
#include "coll_lowlat_settled.h"
#include "lowlat_rules.h"
#include "seconds.h"
#include "select_world.h"

enum {
    JOBS = 8,
    CALLS = 100, /* recorded of each candidate */
    LINE_BYTES = 1024,
    NAME_BYTES = 64,
    SEED = 20261123,
    LOOP_CALLS = 20000,
    PERCENT = 100,
    AGREE_US = 140, /* the mean of the slowest short call of the record that is passed down */
};

typedef struct job {
    char name[NAME_BYTES];
    unsigned nodes;
    unsigned ranks; /* on a node */
    size_t bytes;
    unsigned candidates;
    unsigned calls;
    world_ends_t ends[CALLS][ARC_SELECT_CANDIDATES];
    double median_us[ARC_SELECT_CANDIDATES];
    double mean_us[ARC_SELECT_CANDIDATES];
} job_t;

static job_t jobs[JOBS];

static void find_times(job_t *job)
{
    for (unsigned i = 0; i < job->candidates; ++i) {
        double sorted[CALLS];
        for (unsigned call = 0; call < CALLS; ++call) {
            sorted[call] = job->ends[call][i].last_us;
            job->mean_us[i] += sorted[call] / CALLS;
        }
        job->median_us[i] = seconds_median(sorted, CALLS);
    }
}

/* "job nodes=4 ranks=1 link=none bytes=4096 below doubling ...": the candidates in their order. */
static void read_job(job_t *job, char *text)
{
    enum { LINK_BYTES = 16 };
    char link[LINK_BYTES];
    lowlat_candidates_t list;
    int used = 0;
    char *rest = NULL;

    assert_int_equal(sscanf(text, "job nodes=%u ranks=%u link=%15s bytes=%zu%n", &job->nodes,
                            &job->ranks, link, &job->bytes, &used),
                     4);
    (void) snprintf(job->name, sizeof job->name, "%ux%u, link %s, %zu bytes", job->nodes,
                    job->ranks, link, job->bytes);
    lowlat_candidates_list(&list, job->ranks, false);
    for (char *name = strtok_r(text + used, " \n", &rest); NULL != name;
         name = strtok_r(NULL, " \n", &rest)) {
        assert_string_equal(lowlat_candidate_name(list.candidate[job->candidates]), name);
        job->candidates += 1;
    }
    assert_int_equal(job->candidates, list.count);
}

/* Those of a line. */
static void read_calls(job_t *job, char *text)
{
    for (char *rest = text; '\n' != *rest; job->calls += 1) {
        assert_true(job->calls < CALLS);
        for (unsigned i = 0; i < job->candidates; ++i) {
            world_ends_t *ends = &job->ends[job->calls][i];
            ends->first_us = strtod(rest, &rest);
            ends->last_us = strtod(rest, &rest);
            assert_true(ends->first_us > 0 && ends->first_us <= ends->last_us);
        }
    }
}

static int read_record(void **state)
{
    char text[LINE_BYTES];
    unsigned count = 0;
    FILE *file = fopen(SELECT_RECORD, "r");

    assert_non_null(file);
    while (NULL != fgets(text, sizeof text, file)) {
        if ('j' == text[0]) {
            assert_true(count < JOBS);
            read_job(&jobs[count++], text);
        } else if ('#' != text[0]) {
            assert_true(count > 0);
            read_calls(&jobs[count - 1], text);
        }
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(count, JOBS);
    for (unsigned i = 0; i < JOBS; ++i) {
        assert_int_equal(jobs[i].calls, CALLS);
        find_times(&jobs[i]);
    }
    return 0;
}

/* As begin_class() of coll_lowlat_choice.c, where nothing is known. */
static arc_select_config_t config_of(const job_t *job)
{
    const lowlat_net_t net = {
        .nodes = job->nodes, .owners = job->ranks, .leader_bytes = LOWLAT_LEADER_BYTES};
    const bool is_short = job->bytes <= LOWLAT_EXPLORE_SOON_BYTES;
    lowlat_shape_t shape = lowlat_shape_of(&(lowlat_group_t){.ranks = job->ranks});
    lowlat_candidates_t list;
    lowlat_rules_t rules;

    lowlat_candidates_list(&list, job->ranks, false);
    shape.fact[LOWLAT_FACT_NODES] = (lowlat_span_t){job->nodes, job->nodes};
    lowlat_rules_init(&rules, "", false, NULL, NULL);
    arc_select_config_t config = {
        .candidates = list.count,
        .first =
            lowlat_candidates_find(&list, lowlat_rules_find(&rules, &shape, job->bytes)->candidate),
        .explore_percent = 1,
        .margin_percent = LOWLAT_NODES_MARGIN_PERCENT,
        .start_calls = is_short ? LOWLAT_EXPLORE_CALLS : LOWLAT_EXPLORE_SOON_CALLS,
    };
    for (unsigned i = 0; i < list.count; ++i) {
        config.guess[i] = lowlat_candidate_guess(list.candidate[i], &net, job->bytes);
    }
    return config;
}

/* With the wait for the last one of the ranks that come late by up to `late` medians. */
static bool is_near(const job_t *job, const double *call_us, unsigned candidate, double late)
{
    static const double near = 1.05;
    const unsigned ranks = job->nodes * job->ranks;
    const double wait_us = late * job->median_us[candidate] * ranks / (ranks + 1);
    double best_us = call_us[0];

    for (unsigned i = 1; i < job->candidates; ++i) {
        best_us = fmin(best_us, call_us[i]);
    }
    return wait_us + call_us[candidate] <= near * (wait_us + best_us);
}

/* By the medians, or by the means, where a few long calls make these tell something else. */
static bool is_near_best(const job_t *job, unsigned candidate, double late)
{
    return is_near(job, job->median_us, candidate, late) ||
           is_near(job, job->mean_us, candidate, late);
}

/*
 * Begun at any call of the record, 39 of 40 choose one that is at most 5 % slower than the
 * best, and exploring takes at most 1 % of the time, in the mean.
 */
static void keep_promises(double late)
{
    enum { STARTS = CALLS, BAD_MAX = STARTS / 40 };

    for (unsigned i = 0; i < JOBS; ++i) {
        const job_t *job = &jobs[i];
        const world_record_t record = {job->calls, jobs[i].ends};
        world_setting_t setting = {.name = job->name,
                                   .ranks = job->nodes * job->ranks,
                                   .late = late,
                                   .agree_us = AGREE_US,
                                   .record = &record,
                                   .config = config_of(job)};
        unsigned bad = 0;
        double explore_us = 0;
        double all_us = 0;
        double most_share = 0;

        memcpy(setting.call_us, job->median_us, sizeof setting.call_us);
        for (unsigned start = 0; start < STARTS; ++start) {
            world_t world;
            world_start(&world, &setting, SEED + start);
            world.first_line = start;
            for (unsigned call = 0; call < LOOP_CALLS; ++call) {
                world_call(&world);
            }
            assert_true(world.agreed);
            bad += !is_near_best(job, world.select[0].chosen, late);
            explore_us += world.explore_us;
            all_us += world.clock_us[0];
            most_share = fmax(most_share, world.explore_us / world.clock_us[0]);
        }
        print_message("# %s: %u of %u chose badly; exploring took %.2f %%, at most %.2f %%\n",
                      job->name, bad, (unsigned) STARTS, PERCENT * explore_us / all_us,
                      PERCENT * most_share);
        assert_true(bad <= BAD_MAX);
        assert_true(PERCENT * explore_us <= all_us);
    }
}

static void the_choice_is_near_the_best(void **state)
{
    keep_promises(0);
}

static void so_it_is_when_ranks_come_late(void **state)
{
    keep_promises(5);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_near_the_best),
        cmocka_unit_test(so_it_is_when_ranks_come_late),
    };
    return cmocka_run_group_tests_name("select_recorded", tests, read_record, NULL);
}
