/* postings_search.c - BM25 over windows of documents.
 *
 * All lists are walked together, WINDOW places at a time: each term adds its part to the scores of
 * the window, then the places that were touched are offered to the best. So the scores stay in the
 * nearest cache whatever the number of documents, and windows that no list reaches cost nothing.
 * The dead and the filtered are found only after their score would have been good enough.
 *
 * The parts are added in the order of the query's terms, in double: the same index and query give
 * the same scores to the last bit, however the index came about.
 */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "index/postings.h"
#include "index/postings_private.h"

#define WINDOW 2048u /* 16 KiB of scores. */

typedef struct cursor {
    const uint32_t *at;
    const uint32_t *end;
    double factor; /* Everything of the formula that is the same for all documents. */
} cursor;

typedef struct search {
    const lc_postings *index;
    const lc_postings_query *query;
    double norm_base;       /* k1 * (1 - b) */
    double norm_per_length; /* k1 * b / A */
    lc_best best;
    double scores[WINDOW];
    uint64_t touched[WINDOW / 64];
    size_t cursor_count;
    cursor cursors[]; /* Of the terms that some document has, in the query's order. */
} search;

/* Of a term that `having` of all documents have; none is fine. */
static double idf(const lc_postings *index, size_t having)
{
    return log1p(((double)(index->live_count - having) + 0.5) / ((double)having + 0.5));
}

static void init_cursors(search *s, const lc_bm25 *bm25)
{
    const lc_postings *index = s->index;

    for (size_t i = 0; i < s->query->term_count; i++) {
        const lc_postings_term *asked = &s->query->terms[i];
        const lc_term *term = lc_map_find(&index->by_text, asked->text);

        if (term == NULL || term->live == 0)
            continue;
        s->cursors[s->cursor_count++] = (cursor){
            .at = term->list,
            .end = term->list + term->count,
            .factor = asked->weight * idf(index, term->live) * (bm25->k1 + 1),
        };
    }
}

/* The first place that any list still has; LC_PLACE_NONE at the end. */
static uint32_t first_place(const search *s)
{
    uint32_t first = LC_PLACE_NONE;

    for (size_t i = 0; i < s->cursor_count; i++) {
        const cursor *c = &s->cursors[i];

        if (c->at < c->end && *c->at >> LC_POSTING_COUNT_BITS < first)
            first = *c->at >> LC_POSTING_COUNT_BITS;
    }
    return first;
}

/* Adds one term's part to the scores of the places from `begin` on. */
static void add_term(search *s, cursor *c, uint32_t begin)
{
    /* A posting's upper bits are its place: lists are compared with the first one behind. */
    uint64_t behind = (uint64_t)(begin + WINDOW) << LC_POSTING_COUNT_BITS;
    const uint32_t *lengths = s->index->lengths + begin;
    const uint32_t *at = c->at;

    for (; at < c->end && *at < behind; at++) {
        uint32_t place = (*at >> LC_POSTING_COUNT_BITS) - begin;
        double count = (double)(*at & LC_POSTING_COUNT_MAX);
        double norm = s->norm_base + s->norm_per_length * (double)lengths[place];

        s->scores[place] += c->factor * count / (count + norm);
        s->touched[place / 64] |= UINT64_C(1) << (place % 64);
    }
    c->at = at;
}

static void offer(search *s, uint32_t place, double score)
{
    lc_hit hit = {.id = s->index->places[place].id, .score = (float)score};

    if (hit.id == LC_PLACE_NONE)
        return;
    if (s->query->filter != NULL && !lc_bitmap_has(s->query->filter, hit.id))
        return;
    lc_best_offer(&s->best, hit);
}

/* Offers what the window holds and empties it. */
static void collect(search *s, uint32_t begin)
{
    for (uint32_t word = 0; word < WINDOW / 64; word++) {
        for (uint64_t bits = s->touched[word]; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            double score = s->scores[place];

            s->scores[place] = 0;
            /* One with the same score may still win by its id. */
            if ((float)score >= lc_best_floor(&s->best))
                offer(s, begin + place, score);
        }
        s->touched[word] = 0;
    }
}

static void run(search *s)
{
    for (uint32_t first = first_place(s); first != LC_PLACE_NONE; first = first_place(s)) {
        uint32_t begin = first - first % WINDOW;

        for (size_t i = 0; i < s->cursor_count; i++)
            add_term(s, &s->cursors[i], begin);
        collect(s, begin);
    }
}

loci_status lc_postings_search(const lc_postings *index, const lc_postings_query *query,
                               lc_hit *out, size_t *out_count, loci_error *err)
{
    const lc_bm25 usual = {.k1 = LC_BM25_K1, .b = LC_BM25_B};
    const lc_bm25 *bm25 = query->bm25 != NULL ? query->bm25 : &usual;
    size_t bytes = sizeof(search) + query->term_count * sizeof(cursor);
    search *s;

    LC_ASSERT(bm25->k1 >= 0);
    LC_ASSERT(bm25->b >= 0 && bm25->b <= 1);
    if (query->term_count > LC_QUERY_TERMS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "a search has at most %d terms", LC_QUERY_TERMS_MAX);
    if (index->live_length == 0 || query->limit == 0) {
        *out_count = 0;
        return LOCI_OK;
    }
    s = lc_heap_zalloc(index->heap, bytes, LOCI_MEM_REQUESTS);
    if (s == NULL)
        return lc_fail_memory(err);
    s->index = index;
    s->query = query;
    s->norm_base = bm25->k1 * (1 - bm25->b);
    s->norm_per_length = bm25->k1 * bm25->b * (double)index->live_count /
                         (double)index->live_length;
    s->best = (lc_best){.hits = out, .limit = query->limit};
    init_cursors(s, bm25);
    run(s);
    lc_hits_sort(out, s->best.count);
    *out_count = s->best.count;
    lc_heap_free(index->heap, s, bytes, LOCI_MEM_REQUESTS);
    return LOCI_OK;
}

double lc_postings_query_weight(const lc_postings *index, const lc_postings_query *query)
{
    double sum = 0;

    for (size_t i = 0; i < query->term_count; i++) {
        const lc_postings_term *asked = &query->terms[i];
        const lc_term *term = lc_map_find(&index->by_text, asked->text);

        sum += asked->weight * idf(index, term != NULL ? term->live : 0);
    }
    return sum;
}
