/* review.h - everything that waits for a person's decision, of all rooms, in one shape.
 *
 *     kind           id            accept                    correct            dismiss
 *     proposal       prop_…        it is stored              stored with text   closed
 *     fact_claim     fact_…        written as a fact         with the value     not listed again
 *     fact_review    fact_…        it is still true          with the value     it is retracted
 *     memory_claim   mem_…         it takes the other's      with the text      archived
 *                                  place
 *     merge          ent_…~ent_…   the two become one        -                  not suggested again
 *
 * A decision is a write of the room that owns the thing, with the rights of the caller: what the
 * caller may not write, it may not accept. A dismissed thing does not come back with the same
 * content (review/review.h).
 */
#ifndef LC_CONTEXT_REVIEW_H
#define LC_CONTEXT_REVIEW_H

#include "fact/fact.h"
#include "memory/entity.h"

#define LC_REVIEW_KINDS "proposal|fact_claim|fact_review|memory_claim|merge"

typedef enum lc_review_kind {
    LC_REVIEW_PROPOSAL,
    LC_REVIEW_FACT_CLAIM,
    LC_REVIEW_FACT_DOUBT,
    LC_REVIEW_MEMORY_CLAIM,
    LC_REVIEW_MERGE,
    LC_REVIEW_KIND_COUNT
} lc_review_kind;
const char *lc_review_kind_name(lc_review_kind kind);

typedef struct lc_review_item {
    lc_review_kind kind;
    loci_str id;
    int64_t position;           /* In its kind: see lc_review_query. */
    loci_str about;             /* A key, a person, an entity; "user" otherwise. */
    loci_str text;              /* One line for people. */
    loci_str proposed, current; /* Value or text; current none = there is none. */
    const char *reason;
    loci_str quote; /* None = none. */
    /* Of the speaker; none = it is not a fact, or was not given. */
    loci_str source, authority, trust;
    int64_t at_us;
    double confidence; /* NaN = unknown. */
} lc_review_item;

typedef loci_status lc_review_item_visit(void *ctx, const lc_review_item *item, loci_error *err);

/* Kind by kind, each from its position on; text lives in the arena. */
typedef struct lc_review_query {
    lc_fact_view view;
    int kind;             /* Only this one; -1 = all. */
    lc_review_kind first; /* Begin with this kind, behind `after`. */
    int64_t after;        /* 0 = from its beginning. */
    int64_t limit;        /* Maximum number of items. */
} lc_review_query;
loci_status lc_review_each_item(lc_tx *tx, const lc_review_query *query, lc_arena *arena,
                                lc_review_item_visit *visit, void *ctx, loci_error *err);

typedef enum lc_review_action {
    LC_REVIEW_ACCEPT,
    LC_REVIEW_CORRECT,
    LC_REVIEW_DISMISS
} lc_review_action;

typedef struct lc_review_decision {
    loci_str id;
    lc_review_action action;
    loci_str value;    /* Corrected: canonical JSON. */
    loci_str text;     /* The same as text. */
    lc_fact_view view; /* Rights of the caller; scope is not used. */
    lc_authority authority;
    loci_str trust;
    loci_str reason; /* Of a retraction; none = none. */
} lc_review_decision;

typedef struct lc_review_result {
    lc_review_kind kind;
    const char *outcome; /* accepted, corrected, dismissed */
    loci_str result_id;  /* Id of the written row; none = nothing was written. */
} lc_review_result;

/* In the writer. LOCI_ENOTFOUND: nothing with this id waits; LOCI_EFORBIDDEN: the caller may not
 * write it. Everything is decided before the first write. */
loci_status lc_review_decide(lc_tx *tx, const lc_review_decision *decision, lc_arena *arena,
                             lc_review_result *out, loci_error *err);

/* Whether a person dismissed this pair before. */
loci_status lc_review_merge_is_judged(lc_tx *tx, const lc_entity_pair *pair, lc_arena *arena,
                                      bool *out, loci_error *err);

#endif /* LC_CONTEXT_REVIEW_H */
