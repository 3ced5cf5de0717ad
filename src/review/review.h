/* review.h - proposals that wait for a person's decision, and the decisions (verdicts).
 *
 * A proposal is a memory or a todo that loci read in a message but is not sure enough of to store.
 * A person may accept, correct or dismiss it. Other rooms have their own items to review (claims,
 * facts in doubt); context/review.h lists all of them in one format.
 *
 *     (none) --proposed--> open --closed--> accepted | dismissed
 *
 * A verdict records that a person has decided on an item of any room. Neither the item nor another
 * one with the same content (compared by hash) is listed again. Proposals are compared by hash,
 * too: a proposal that was dismissed is not made again.
 *
 * Events: review.proposed, review.closed, review.judged, review.withdrawn (review/withdraw.h),
 * review.forgotten. Projections: proposals, verdicts.
 */
#ifndef LC_REVIEW_REVIEW_H
#define LC_REVIEW_REVIEW_H

#include "base/arena.h"
#include "recall/forget.h"
#include "store/row.h"

extern const lc_room lc_review_room;

#define LC_PROPOSAL_KINDS "memory|todo"
#define LC_PROPOSAL_STATUSES "open|accepted|dismissed"

typedef struct lc_review_proposal {
    loci_str id; /* prop_… */
    int64_t seq;
    loci_str kind;  /* memory or todo. */
    loci_str text;  /* The statement of a memory, or the task of a todo. */
    loci_str quote; /* Sentence that it came from. */
    loci_str type;  /* For a memory: profile, people, project; none = derived when it is stored. */
    loci_str fact_type;
    loci_str person; /* Person that it is about; none = derived when it is stored. */
    int64_t importance;
    int64_t due_at; /* Due time of a todo, or the date that a memory names; 0 = none. */
    double confidence;
    loci_str trust;
    loci_str persona_id; /* "" = shared by all personas. */
    loci_str message_id; /* Message that it came from. */
    loci_str session_id;
    loci_str content; /* Hash: see lc_review_hash(). */
    loci_str status;
    int64_t observed_at; /* When it was said. */
    int64_t created_at;
} lc_review_proposal;

extern const lc_row_type lc_review_proposal_row;
extern const lc_event_type lc_review_proposed_event;

/* A hash of several texts, in the arena; `ptr` is NULL when out of memory. */
loci_str lc_review_hash(lc_arena *arena, const loci_str *parts, size_t count);

/* Adds a proposal and sets its `content`. If one with the same content was made before, in whatever
 * status it is now, nothing is added and `out_id` is "". */
loci_status lc_review_propose(lc_tx *tx, lc_review_proposal *proposal, lc_arena *arena,
                              lc_id *out_id, loci_error *err);
/* Loads a proposal; LOCI_ENOTFOUND if there is none with this id that the persona sees. */
loci_status lc_review_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                           lc_review_proposal *out, loci_error *err);
/* Closes an open proposal with `status` accepted or dismissed. `result`: id of the memory or todo
 * that was made from it, or none. */
loci_status lc_review_close(lc_tx *tx, const lc_review_proposal *proposal, const char *status,
                            loci_str result, loci_error *err);

typedef loci_status lc_review_visit(void *ctx, const lc_review_proposal *proposal, loci_error *err);
typedef struct lc_review_page {
    loci_str persona_id;
    int64_t after_seq;
    int64_t limit;
} lc_review_page;
/* Open proposals, oldest first. */
loci_status lc_review_each(lc_tx *tx, const lc_review_page *page, lc_review_visit *visit, void *ctx,
                           loci_error *err);

/* ---- Verdicts -------------------------------------------------------------------------------- */

typedef struct lc_verdict_on {
    const char *kind; /* Kind of the item: fact_claim, memory_claim, merge. */
    loci_str content; /* lc_review_hash() of the item's content. */
    loci_str persona_id;
    loci_str target;     /* Id of the item. */
    const char *verdict; /* accepted or dismissed */
} lc_verdict_on;
loci_status lc_review_judge(lc_tx *tx, const lc_verdict_on *verdict, loci_error *err);
loci_status lc_review_is_judged(lc_tx *tx, const lc_verdict_on *verdict, bool *out,
                                loci_error *err);

/* ---- Forgetting (recall/forget.h) ------------------------------------------------------------ */

/* Which proposals to forget: those of a message, of a session, or with this content. */
typedef struct lc_review_target {
    loci_str message_id, session_id; /* None = any. */
    loci_str content;                /* lc_review_hash(); none = any. */
} lc_review_target;
typedef struct lc_review_oblivion {
    loci_str *ids;
    size_t count, room;
} lc_review_oblivion;
/* Collects the proposals of all personas into `f` and `out`; finding none is no error. */
loci_status lc_review_decide_forget(lc_tx *tx, const lc_review_target *target, lc_forgetting *f,
                                    lc_review_oblivion *out, loci_error *err);
/* Appends review.forgotten if there is something to forget. */
loci_status lc_review_commit_forget(lc_tx *tx, const lc_review_oblivion *oblivion, loci_error *err);

#endif /* LC_REVIEW_REVIEW_H */
