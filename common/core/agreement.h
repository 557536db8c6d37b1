/*
 * The minimum of a few numbers over all ranks, by messages of our own; and if a rank does not come,
 * an end with its name.
 *
 * With P ranks, in round k = 0, 1, ... as long as 2^k < P
 *
 *     rank r sends what it knows to rank r + 2^k and receives from rank r - 2^k     (modulo P)
 *
 * and takes the minimum: it then knows that of the 2^(k+1) ranks up to its own, and after the last
 * round that of all.  A number that comes twice does no harm to a minimum, so any P will do.  Where
 * P is a power of two both are rank r xor 2^k, and it knows that of a block of 2^(k+1) ranks: these
 * are the partners of recursive doubling, so a program with short sums has no more connections.
 *
 *   cost    ceil(log2 P) (alpha + n beta)
 *   message 8 bytes for each number; one more says who is missing: 2^64 - 1 if nobody is
 *
 * The distances 2^k < P differ, so from one rank to another there goes at most one message in an
 * agreement, and always in the same round: the i-th message between two ranks cannot be taken for
 * that of another agreement.
 *
 * If rank m does not come, rank m + 1 (or m xor 1) waits in round 0, where everybody sends at once,
 * and so knows that m is missing; the others wait for m in a later round, or for a rank that itself
 * waits in an earlier one.  So a rank gives up after the time limit in round 0, and the later the
 * round the longer it waits for somebody who knows better, in the last one nearly once more as
 * long.  Who gives up, or is told that a rank is missing, tells that, in a message of 8 bytes, to
 * all to whom it sends in an agreement, and ends.  To whom it would have sent later in this one the
 * notice comes in place of that message, and to the others in place of the message of the next
 * agreement, which there will not be.  In this way all are told who wait for a rank that waits, and
 * who come late: one rank with a time limit is enough if the missing one comes in the end.
 *
 * A roll call is an agreement among ranks of which some may be deaf: they do not take part at all.
 * Each rank asks beforehand which of its partners are there.  It may get no answer.
 * A yes is never wrong; a no is either, or else the partner is not told yes about this rank.  If it
 * misses a partner it votes 0.  It receives from those it knows to be there, and sends to all but
 * those of which it knows that they are not: to those of which it knows nothing a 0, for whose way
 * nobody waits.
 *
 *   No rank waits for a deaf one, and whom a rank waits for sends.
 *
 *   If one rank s is deaf, or votes 0, all that are not deaf end with 0.  From s to a rank r goes a
 *   path of messages, in rounds that ascend: the powers of two that r - s (modulo P) or r xor s
 *   consists of.  Take the last rank on it that is deaf or votes 0 from the start.  If that is r,
 *   it is so.  Otherwise all after it vote 1, so they receive from those before them: the rank is
 *   not deaf, as it is known to be there, it sends its 0, and the 0 is passed on to r.
 *
 * A message is left in the queue of a rank only if one of the two got no answer about the other.
 * The receiver is deaf or has voted 0, and so makes no agreement on this communicator.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_AGREEMENT_H
#define ARC_AGREEMENT_H

#include <stdint.h>

#include "steps.h"
#include "wait.h"

enum {
    ARC_AGREEMENT_VALUES = 84, /* the set-ups compare 1 to 5, the selector up to 83 times */
    ARC_AGREEMENT_WORDS = 1 + ARC_AGREEMENT_VALUES,
    ARC_ROLL_VALUES = 4, /* the vote, and three for the caller */
};

#define ARC_AGREEMENT_NOBODY UINT64_MAX

typedef struct arc_agreement {
    arc_steps_t steps;  /* first; step k is round k */
    arc_link_t link[2]; /* to whom it sends, and from whom it receives */
    /* In which rounds (bits) these two are there, and in which the first one is told. */
    uint64_t hears[2];
    uint64_t tells;
    size_t bytes; /* of a message */
    /* [0] who is missing, then the numbers. */
    uint64_t known[ARC_AGREEMENT_WORDS]; /* what is sent: unchanged while a round is under way */
    uint64_t received[ARC_AGREEMENT_WORDS];
    uint64_t notice; /* who is missing, once that is told */
} arc_agreement_t;

/* Is the rank after another one at a distance the one before it, too? */
static inline bool arc_ranks_exchange(unsigned ranks)
{
    return 0 == (ranks & (ranks - 1));
}

/* The rank at a distance that is less than `ranks`: to it a rank sends. */
static inline unsigned arc_rank_after(unsigned rank, unsigned ranks, uint64_t distance)
{
    return (unsigned) (arc_ranks_exchange(ranks) ? rank ^ distance : (rank + distance) % ranks);
}

/* The distance at which `other` is after `rank`. */
static inline unsigned arc_rank_distance(unsigned rank, unsigned ranks, unsigned other)
{
    return arc_ranks_exchange(ranks) ? rank ^ other : (other + ranks - rank) % ranks;
}

/* The rank of which `rank` is the one after, at this distance: from it a rank receives. */
static inline unsigned arc_rank_before(unsigned rank, unsigned ranks, uint64_t distance)
{
    return arc_rank_distance((unsigned) distance, ranks, rank);
}

/* At least 2 ranks, 1 to ARC_AGREEMENT_VALUES numbers.  The task ends in ARC_OK, ARC_ERR_TIMEOUT if
 * somebody is missing, or an error of the stream. */
void arc_agreement_start(arc_agreement_t *agreement, arc_stream_t *stream, const uint64_t *values,
                         unsigned count);

/* What is known of a rank, asked for a roll call. */
typedef enum arc_answer {
    ARC_ANSWER_NONE,  /* it may be there, and wait for us */
    ARC_ANSWER_NO,    /* nor does it wait for us */
    ARC_ANSWER_THERE, /* it calls the roll, too */
} arc_answer_t;

/* Is the rank there?  May change what is in `values` of the call that asks, but not the vote. */
typedef arc_answer_t (*arc_roll_fn_t)(void *context, unsigned rank);

/*
 * Call the roll: of ARC_ROLL_VALUES numbers the first is the vote, which is 1 or, if a partner is
 * not there, 0.  The others are found among fewer ranks than all if the vote ends with 0;
 * UINT64_MAX says nothing.
 */
void arc_agreement_call_roll(arc_agreement_t *agreement, arc_stream_t *stream, uint64_t *values,
                             arc_roll_fn_t ask, void *context);

/*
 * Drive to the end, and give up if a rank does not come within the time limit.  ARC_OK, and the
 * minimum is in `values`.  After ARC_ERR_TIMEOUT *missing is who has not come: this rank itself
 * if others waited for it.  After any error the stream is dead, and messages that are under way may
 * still be read from `agreement`.
 */
arc_status_t arc_agreement_run(arc_agreement_t *agreement, uint64_t *values, const arc_wait_t *wait,
                               unsigned *missing) ARC_MUST_CHECK;

/* For tests, what arc_agreement_run() does when the time is over: name who is awaited, tell. */
void arc_agreement_give_up(arc_agreement_t *agreement);

#endif
