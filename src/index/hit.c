/* hit.c - a binary heap with the worst hit on top; sorting is heapsort, so no memory and no
 * recursion is needed. */
#include "index/hit.h"

/* Puts `hit` at `place` or below it, so that no hit is better than those under it. */
static void sink(lc_hit *hits, size_t count, size_t place, lc_hit hit)
{
    for (size_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && lc_hit_is_better(hits[child], hits[child + 1]))
            child++;
        if (!lc_hit_is_better(hit, hits[child]))
            break;
        hits[place] = hits[child];
        place = child;
    }
    hits[place] = hit;
}

static void rise(lc_hit *hits, size_t place, lc_hit hit)
{
    while (place > 0 && lc_hit_is_better(hits[(place - 1) / 2], hit)) {
        hits[place] = hits[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    hits[place] = hit;
}

void lc_best_offer(lc_best *best, lc_hit hit)
{
    if (best->count < best->limit)
        rise(best->hits, best->count++, hit);
    else if (best->limit > 0 && lc_hit_is_better(hit, best->hits[0]))
        sink(best->hits, best->count, 0, hit);
}

void lc_hits_sort(lc_hit *hits, size_t count)
{
    for (size_t place = count / 2; place-- > 0;)
        sink(hits, count, place, hits[place]);
    for (size_t left = count; left-- > 1;) {
        lc_hit worst = hits[0];

        sink(hits, left, 0, hits[left]);
        hits[left] = worst;
    }
}
