/* evict.h - which resource leaves a full window first: kinds, policies, and one total order.
 *
 * The order of candidates is: attention bucket (0, below 1, exactly 1, above 1), then the key of
 * the policy, then the time of the last access, then the id. Protected resources are no candidates
 * at all: those with the tag `protected`, and those of the kinds that a keep_ policy keeps.
 *
 * lc_evict_compare() is the order. The room's index on the table has the same columns, so that the
 * first candidates are found without reading the others; a test compares both on random resources.
 */
#ifndef LC_WINDOW_EVICT_H
#define LC_WINDOW_EVICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "window/kind.h"

#define LC_ATTENTION_MAX 10.0
#define LC_ATTENTION_DEFAULT 1.0

/* 0, 1, 2 or 3: attention 0, below 1, exactly 1, above 1. */
int lc_attention_bucket(double attention);
/* The place of a kind under a keep_ policy: 0 goes first, 2 is protected. 0 for other policies. */
int lc_kind_rank(lc_window_policy policy, lc_resource_kind kind);

/* The part of an active resource that its place in the order depends on. */
typedef struct lc_evictable {
    loci_str id;
    lc_resource_kind kind;
    double attention;
    int64_t tokens; /* In the window now. */
    int64_t last_accessed;
    bool is_protected; /* By its tag. */
} lc_evictable;

/* Whether the policy may page it out. */
bool lc_evict_allows(lc_window_policy policy, const lc_evictable *resource);
/* Below 0: `a` goes before `b`. 0 only for the same id. */
int lc_evict_compare(lc_window_policy policy, const lc_evictable *a, const lc_evictable *b);

#define LC_EVICT_REASON_BYTES 160
/* Why it is where it is in the order: "attention 1; lru: last used 2026-01-06T10:00:00Z". */
loci_str lc_evict_explain(lc_window_policy policy, const lc_evictable *resource,
                          char out[LC_EVICT_REASON_BYTES]);

#endif /* LC_WINDOW_EVICT_H */
