/* hit.h - the hits of a search, and a heap that keeps the best of them.
 *
 * Better means a higher score or, if the scores are equal, the lower id. So an answer depends on
 * the content of an index and never on the order in which it was scanned. Scores are numbers, never
 * NaN.
 *
 *     lc_hit hits[50];
 *     lc_best best = {.hits = hits, .limit = 50};
 *     while (...)
 *         if (score > lc_best_floor(&best))
 *             lc_best_offer(&best, (lc_hit){id, score});
 *     lc_hits_sort(hits, best.count);
 */
#ifndef LC_INDEX_HIT_H
#define LC_INDEX_HIT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lc_hit {
    uint32_t id;
    float score;
} lc_hit;

/* Keeps the best `limit` of the offered hits, in the caller's array. */
typedef struct lc_best {
    lc_hit *hits; /* A heap: the worst one kept is the first. */
    size_t limit; /* 0 keeps nothing. */
    size_t count;
} lc_best;

static inline bool lc_hit_is_better(lc_hit a, lc_hit b)
{
    return a.score > b.score || (a.score == b.score && a.id < b.id);
}

/* A score at or below this is not kept when ids are offered in rising order. */
static inline float lc_best_floor(const lc_best *best)
{
    return best->count < best->limit ? -INFINITY
           : best->limit == 0        ? INFINITY
                                     : best->hits[0].score;
}

void lc_best_offer(lc_best *best, lc_hit hit);

/* Best first. */
void lc_hits_sort(lc_hit *hits, size_t count);

#endif /* LC_INDEX_HIT_H */
