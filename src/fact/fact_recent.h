/* fact_recent.h - the facts that changed last: what a conversation is likely to be about, and what
 * an index has to catch up with. Every walk is bounded by an index on the seq. */
#ifndef LC_FACT_FACT_RECENT_H
#define LC_FACT_FACT_RECENT_H

#include "fact/fact.h"

/* What changed last. */
typedef struct lc_fact_recent {
    loci_str persona_id; /* Its own and everybody's. */
    bool has_claims;     /* With what ended what was only claimed. */
    int64_t after_seq;   /* Written or ended by a later event. */
    int64_t limit;
} lc_fact_recent;
/* Valid facts, the last written first, of every scope; expired and restricted ones too. */
loci_status lc_fact_each_recent(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                                void *ctx, loci_error *err);
/* Those that were superseded or retracted, the last ended first. */
loci_status lc_fact_each_ended(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                               void *ctx, loci_error *err);

/* Which keys. */
typedef struct lc_fact_prefix {
    loci_str key;        /* How they begin. */
    loci_str persona_id; /* Its own and everybody's. */
    int64_t limit;
} lc_fact_prefix;
/* Valid global facts by key, the shortest first; expired and restricted ones too. */
loci_status lc_fact_each_prefix(lc_tx *tx, const lc_fact_prefix *prefix, lc_arena *arena,
                                lc_fact_visit *visit, void *ctx, loci_error *err);

/* Valid facts that need a review, of everybody; at most LC_FACT_REVIEW_MAX. */
loci_status lc_fact_each_in_doubt(lc_tx *tx, lc_fact_visit *visit, void *ctx, loci_error *err);

/* How many are not valid, by why. */
typedef struct lc_fact_counts {
    int64_t superseded; /* Late ones too: they never stood. */
    int64_t retracted;
    int64_t claims;
} lc_fact_counts;
/* Adds `count` facts of one standing, as fact_past has it. */
void lc_fact_counts_add(lc_fact_counts *counts, loci_str standing, int64_t count);

#endif /* LC_FACT_FACT_RECENT_H */
