/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"
#include "lowlat_select.h"
#include "queue_job.h"

enum {
    BLOCK_BYTES = 512,
    CHUNK_BYTES = 1024,
    NODES_CHUNK_BYTES = 1024,
    FAILED = 77,           /* what a call returns that has failed */
    NOTICE_ONE_IN = 50,    /* polls, after which a rank finds out that another one has failed */
    START_SPINS = 1,       /* any number but 0: polls pay at the start */
    POLLS_WHEN_IDLE = 1010 /* a few more than are made before nobody polls any more */
};

/* A communicator: a memory, or nodes. */
typedef struct comm {
    sim_memory_t *memory;
    sim_nodes_t *nodes;
    unsigned ranks;
    actor_t own[QUEUE_JOB_RANKS]; /* of a memory */
    uint64_t polls;
    uint64_t fail_at;
    bool failed; /* on some rank; the others notice later */
} comm_t;

/* A rank's side of it. */
typedef struct side {
    arc_queue_t queue; /* first */
    arc_task_t task;   /* the actor's, in its turn */
    actor_t *actor;
    comm_t *comm;
    test_random_t *random;
    const plan_t *plan; /* under way */
    size_t begun;       /* operations */
    size_t ended;
    size_t failures;
    bool broken;   /* an operation has failed: so do all later ones */
    unsigned held; /* by requests */
    bool freed;    /* by the program */
} side_t;

typedef struct request {
    arc_pending_t pending; /* first */
    const plan_t *plan;
    side_t *side;
    bool active;
    bool ended;
} request_t;

typedef struct rank {
    arc_queues_t queues; /* first */
    bool driven;
    side_t side[QUEUE_JOB_COMMS];
    request_t *single; /* [plans] nonblocking ones */
    request_t persistent[QUEUE_JOB_REQUESTS];
    request_t *active[QUEUE_JOB_PENDING];
    unsigned used;      /* of active */
    request_t *awaited; /* by the program; NULL: none */
    bool blocking;      /* a blocking call is under way */
    size_t next;        /* plan */
} rank_t;

struct queue_job {
    queue_job_options_t options;
    const plan_t *plans;
    size_t count;
    arc_wait_t wait[QUEUE_JOB_COMMS];
    comm_t comm[QUEUE_JOB_COMMS];
    rank_t rank[QUEUE_JOB_RANKS];
    test_random_t random;
};

/* ---- one operation ---- */

static void expect_sum(const operation_t *operation, const comm_t *comm, unsigned char *sum)
{
    if (NULL != comm->nodes) {
        sim_nodes_expect(operation, comm->nodes, sum);
    } else {
        operation_on_node(operation, comm->own, NULL, comm->ranks, sum);
    }
}

/* The turn of this rank on this communicator; it may fail. */
static arc_status_t progress_turn(arc_task_t *task)
{
    side_t *side = (side_t *) ((char *) task - offsetof(side_t, task));
    comm_t *comm = side->comm;

    comm->polls += 1;
    if (comm->polls == comm->fail_at ||
        (comm->failed && 0 == test_random_below(side->random, NOTICE_ONE_IN))) {
        comm->failed = true;
        return ARC_ERR_TRANSPORT;
    }
    return actor_progress(side->actor);
}

static const arc_task_ops_t turn_ops = {.progress = progress_turn};

static void count_begun(side_t *side, const plan_t *plan)
{
    assert_false(side->actor->running);
    assert_int_equal(side->begun, side->ended);
    assert_int_equal(side->begun, plan->number);
    side->begun += 1;
    side->plan = plan;
}

static void begin_actor(side_t *side, const plan_t *plan)
{
    count_begun(side, plan);
    actor_start(side->actor, &plan->operation);
}

static int end_actor(side_t *side, arc_status_t status)
{
    if (ARC_OK == status) {
        const operation_t *operation = &side->plan->operation;
        SCOPED unsigned char *expected = test_alloc(operation->span_bytes);
        expect_sum(operation, side->comm, expected);
        actor_check(side->actor, operation, expected);
    } else {
        side->broken = true;
        side->failures += 1;
    }
    actor_release(side->actor);
    side->ended += 1;
    return ARC_OK == status ? 0 : FAILED;
}

static int fail_at_once(side_t *side, const plan_t *plan)
{
    count_begun(side, plan);
    side->failures += 1;
    side->ended += 1;
    return FAILED;
}

/* ---- what the queue calls ---- */

static arc_task_t *begin_task(arc_queue_t *queue, const void *call)
{
    side_t *side = (side_t *) queue;

    if (side->broken || ((const plan_t *) call)->waits) {
        return NULL;
    }
    begin_actor(side, call);
    return &side->task;
}

static int end_task(arc_queue_t *queue, arc_status_t status)
{
    return end_actor((side_t *) queue, status);
}

static int run_blocking(arc_queue_t *queue, const void *call)
{
    side_t *side = (side_t *) queue;

    if (side->broken) {
        return fail_at_once(side, call);
    }
    begin_actor(side, call);
    return end_actor(side, arc_wait_run(queue->wait, &side->task));
}

static int lack_fiber(arc_queue_t *queue, const void *call)
{
    fail();
    return FAILED;
}

static const arc_queue_ops_t queue_ops = {begin_task, end_task, run_blocking, lack_fiber};

static void drive(arc_queues_t *queues, bool on)
{
    rank_t *rank = (rank_t *) queues;

    assert_int_not_equal(rank->driven, on);
    rank->driven = on;
}

/* ---- a rank ---- */

/* Whoever still uses the queue of a communicator that is gone finds nothing that makes sense. */
static void release(side_t *side)
{
    side->held -= 1;
    if (side->freed && 0 == side->held) {
        assert_true(arc_queue_is_idle(&side->queue));
        assert_false(side->queue.running);
        memset(&side->queue, TEST_POISON, sizeof side->queue);
    }
}

static void complete(request_t *request)
{
    const side_t *side = request->side;

    assert_true(request->active && !request->ended);
    assert_true(request->plan->number < side->ended); /* it was run */
    assert_int_equal(side->broken ? request->pending.result : 0, request->pending.result);
    request->ended = true;
    release(request->side);
}

/* As Open MPI's progress function. */
static void poll_rank(rank_t *rank, unsigned comms)
{
    arc_pending_t *ended = NULL;
    unsigned of_comm[QUEUE_JOB_COMMS] = {0};

    if (!rank->driven) {
        return;
    }
    int count = arc_queues_poll(&rank->queues, &ended);
    while (NULL != ended) {
        request_t *request = (request_t *) ended;
        ended = ended->next;
        of_comm[request->plan->comm] += 1;
        count -= 1;
        complete(request);
        memset(&request->pending, TEST_POISON, sizeof request->pending);
    }
    assert_int_equal(0, count);
    for (unsigned comm = 0; comm < comms; ++comm) {
        assert_true(of_comm[comm] <= ARC_QUEUE_AT_ONCE);
    }
}

/* The program has seen its end. */
static void take(rank_t *rank, request_t *request)
{
    for (unsigned i = 0; i < rank->used; ++i) {
        if (request == rank->active[i]) {
            rank->active[i] = rank->active[--rank->used];
        }
    }
    request->active = false;
}

static void go_on(rank_t *rank, const plan_t *plan)
{
    side_t *side = &rank->side[plan->comm];

    rank->next += 1;
    if (plan->last) {
        side->freed = true;
        side->held += 1;
        release(side);
    }
}

static void start(rank_t *rank, const plan_t *plan)
{
    side_t *side = &rank->side[plan->comm];
    request_t *request =
        PERSISTENT == plan->form ? &rank->persistent[plan->request] : &rank->single[rank->next];
    int result = 0;

    if (request->active) {
        rank->awaited = request; /* a persistent one that was not waited for */
        return;
    }
    *request = (request_t){.pending = {.call = plan}, .plan = plan, .side = side, .active = true};
    rank->active[rank->used++] = request;
    side->held += 1;
    if (arc_queue_try(&rank->queues, &side->queue, plan, &result)) {
        request->pending.result = result;
        complete(request);
    } else {
        arc_queue_append(&rank->queues, &side->queue, &request->pending);
    }
    go_on(rank, plan);
}

/* A step of a blocking call. */
static void block(queue_job_t *job, rank_t *rank, const plan_t *plan)
{
    side_t *side = &rank->side[plan->comm];

    if (!rank->blocking && !arc_queue_is_idle(&side->queue)) {
        poll_rank(rank, job->options.comms);
        return;
    }
    if (!rank->blocking && side->broken) {
        (void) fail_at_once(side, plan);
        go_on(rank, plan);
        return;
    }
    if (!rank->blocking) {
        begin_actor(side, plan);
        rank->blocking = true;
    }
    const arc_status_t status = progress_turn(&side->task);
    if (ARC_IN_PROGRESS == status) {
        poll_rank(rank, job->options.comms);
        return;
    }
    (void) end_actor(side, status);
    rank->blocking = false;
    go_on(rank, plan);
}

static request_t *any_active(const rank_t *rank, test_random_t *random)
{
    return rank->active[test_random_below(random, rank->used)];
}

static void move(queue_job_t *job, rank_t *rank, test_random_t *random)
{
    const bool all_started = job->count == rank->next;

    if (NULL != rank->awaited) {
        poll_rank(rank, job->options.comms);
        if (rank->awaited->ended) {
            take(rank, rank->awaited);
            rank->awaited = NULL;
        }
    } else if (!rank->blocking && rank->used > 0 &&
               (all_started || job->options.pending == rank->used ||
                0 == test_random_below(random, 4 + job->options.pending / 2))) {
        rank->awaited = any_active(rank, random);
    } else if (!rank->blocking && 0 == test_random_below(random, 4)) {
        poll_rank(rank, job->options.comms);
    } else if (!all_started && BLOCKING == job->plans[rank->next].form) {
        block(job, rank, &job->plans[rank->next]);
    } else if (!all_started) {
        start(rank, &job->plans[rank->next]);
    }
}

static bool is_over(const queue_job_t *job, const rank_t *rank)
{
    return job->count == rank->next && 0 == rank->used;
}

/* ---- the job ---- */

static void happen(comm_t *comm)
{
    if (NULL != comm->nodes) {
        sim_nodes_happen(comm->nodes);
    } else {
        sim_memory_deliver(comm->memory);
    }
}

/* Nothing is left of anything, and after some more polls nobody polls. */
static void check_rest(queue_job_t *job, rank_t *rank)
{
    assert_null(rank->queues.active);
    for (unsigned i = 0; i < POLLS_WHEN_IDLE; ++i) {
        poll_rank(rank, job->options.comms);
    }
    assert_false(rank->driven);
}

bool queue_job_run(queue_job_t *job, test_random_t *random, size_t steps)
{
    const unsigned ranks = job->options.ranks;
    unsigned favourite = 0;
    unsigned over = 0;

    for (; over < ranks && steps > 0; --steps) {
        for (unsigned comm = 0; comm < job->options.comms; ++comm) {
            happen(&job->comm[comm]);
        }
        rank_t *rank = &job->rank[job_pick_rank(ranks, &favourite, random)];
        if (!is_over(job, rank)) {
            move(job, rank, random);
            over += is_over(job, rank);
        }
    }
    for (unsigned rank = 0; over == ranks && rank < ranks; ++rank) {
        check_rest(job, &job->rank[rank]);
    }
    return over == ranks;
}

size_t queue_job_failures(const queue_job_t *job)
{
    size_t failures = 0;

    for (unsigned rank = 0; rank < job->options.ranks; ++rank) {
        for (unsigned comm = 0; comm < job->options.comms; ++comm) {
            failures += job->rank[rank].side[comm].failures;
        }
    }
    return failures;
}

/* ---- to make one ---- */

static void make_comm(queue_job_t *job, unsigned index)
{
    const unsigned ranks = job->options.ranks;
    comm_t *comm = &job->comm[index];
    const uint64_t seed = test_random_bits(&job->random);

    comm->fail_at = 0 == index ? job->options.fail_at : 0;
    if (queue_job_over_nodes(&job->options, index)) {
        const nodes_options_t options = {.nodes = 2,
                                         .size = {ranks - ranks / 2, ranks / 2},
                                         .chunk_bytes = NODES_CHUNK_BYTES,
                                         .seed = seed};
        comm->nodes = sim_nodes_new(&options);
        return;
    }
    comm->memory = sim_memory_new(ranks, QUEUE_JOB_ARENA_BYTES, seed);
    comm->ranks = ranks;
    for (unsigned rank = 0; rank < ranks; ++rank) {
        comm->own[rank].rank = rank;
        comm->own[rank].memory = comm->memory;
        comm->own[rank].group = sim_memory_group(comm->memory, rank, BLOCK_BYTES, CHUNK_BYTES);
    }
}

static void make_side(queue_job_t *job, unsigned rank, unsigned index)
{
    side_t *side = &job->rank[rank].side[index];
    comm_t *comm = &job->comm[index];

    side->comm = comm;
    side->actor = NULL != comm->nodes ? &comm->nodes->actors[rank] : &comm->own[rank];
    side->random = &job->random;
    side->task.ops = &turn_ops;
    side->queue.ops = &queue_ops;
    side->queue.wait = &job->wait[index];
}

queue_job_t *queue_job_new(const queue_job_options_t *options, const plan_t *plans, size_t count)
{
    queue_job_t *job = test_zeros(sizeof *job);

    job->options = *options;
    job->plans = plans;
    job->count = count;
    job->random = test_random_of(options->seed, 1);
    for (unsigned comm = 0; comm < options->comms; ++comm) {
        job->wait[comm].spins = comm % 2 * START_SPINS;
        make_comm(job, comm);
    }
    for (unsigned rank = 0; rank < options->ranks; ++rank) {
        arc_queues_open(&job->rank[rank].queues, drive);
        job->rank[rank].single = test_zeros(count * sizeof *job->rank[rank].single);
        for (unsigned comm = 0; comm < options->comms; ++comm) {
            make_side(job, rank, comm);
        }
    }
    return job;
}

void queue_job_free(queue_job_t *job)
{
    for (unsigned comm = 0; comm < job->options.comms; ++comm) {
        if (NULL != job->comm[comm].nodes) {
            assert_int_equal(0, sim_nodes_outstanding(job->comm[comm].nodes));
            assert_true(sim_nodes_intact(job->comm[comm].nodes));
            sim_nodes_free(job->comm[comm].nodes);
        } else {
            sim_memory_free(job->comm[comm].memory);
        }
    }
    for (unsigned rank = 0; rank < job->options.ranks; ++rank) {
        arc_queues_close(&job->rank[rank].queues);
        free(job->rank[rank].single);
    }
    free(job);
}
