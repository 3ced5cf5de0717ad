/* named.h - the facts that a sentence names by their keys, among all of a user's.
 *
 * "The marquee budget is 7,200 pounds" names marquee_budget, whenever that was written. Words are
 * tried one, two and three at a time as the beginning of a key, each a short walk along the key's
 * own index: what it costs depends on the sentence and not on how much is known. */
#ifndef LC_CONTEXT_NAMED_H
#define LC_CONTEXT_NAMED_H

#include "base/arena.h"
#include "fact/fact_recent.h"

/* Valid global facts, those of longer names first; one may be visited more than once. */
loci_status lc_named_each(lc_tx *tx, loci_str persona_id, loci_str sentence, lc_arena *arena,
                          lc_fact_visit *visit, void *ctx, loci_error *err);

#endif /* LC_CONTEXT_NAMED_H */
