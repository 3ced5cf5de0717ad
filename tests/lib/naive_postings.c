#include "lib/naive_postings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

loci_str naive_term_text(unsigned number)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl";

    switch (number) {
    case 0:
        return LC_STR("");
    case 1:
        return (loci_str){"\0", 1};
    default:
        /* a, ab, abc ... then b, bc, bcd ... */
        return (loci_str){letters + number / 8, 1 + number % 8};
    }
}

loci_status naive_add(naive_postings *naive, lc_postings *index, uint32_t id,
                      const naive_document *document)
{
    loci_str terms[NAIVE_TERMS_MAX];
    loci_status status;

    for (size_t i = 0; i < document->length; i++)
        terms[i] = naive_term_text(document->terms[i]);
    status = lc_postings_add(index, id, terms, document->length, NULL);
    if (status == LOCI_OK) {
        naive->documents[id] = *document;
        naive->documents[id].is_there = true;
    }
    return status;
}

bool naive_remove(naive_postings *naive, lc_postings *index, uint32_t id)
{
    bool was_there = naive->documents[id].is_there;

    naive->documents[id].is_there = false;
    return lc_postings_remove(index, id) == was_there;
}

static size_t count_term(const naive_document *document, unsigned term)
{
    size_t count = 0;

    for (size_t i = 0; i < document->length; i++)
        count += document->terms[i] == term;
    return count;
}

static double idf(const naive_postings *naive, unsigned term)
{
    double all = 0, having = 0;

    for (size_t i = 0; i < NAIVE_IDS; i++) {
        all += naive->documents[i].is_there;
        having += naive->documents[i].is_there && count_term(&naive->documents[i], term) > 0;
    }
    return log(1 + (all - having + 0.5) / (having + 0.5));
}

/* The part of one term in the score of one document. */
static double part(const naive_postings *naive, const naive_document *document, unsigned term,
                   const lc_bm25 *bm25)
{
    double all = 0, lengths = 0, count = (double)count_term(document, term);

    for (size_t i = 0; i < NAIVE_IDS; i++) {
        if (!naive->documents[i].is_there)
            continue;
        all++;
        lengths += (double)naive->documents[i].length;
    }
    return idf(naive, term) * count * (bm25->k1 + 1) /
           (count + bm25->k1 * (1 - bm25->b + bm25->b * (double)document->length * all / lengths));
}

static int compare_hits(const void *a, const void *b)
{
    const naive_hit *left = a, *right = b;

    if ((float)left->score != (float)right->score)
        return (float)left->score < (float)right->score ? 1 : -1;
    return left->id < right->id ? -1 : 1;
}

size_t naive_search(const naive_postings *naive, const naive_query *query, naive_hit out[NAIVE_IDS])
{
    size_t count = 0;

    for (uint32_t id = 0; id < NAIVE_IDS; id++) {
        const naive_document *document = &naive->documents[id];
        double score = 0;
        bool is_found = false;

        if (!document->is_there || (query->filter != NULL && !query->filter[id]))
            continue;
        for (size_t i = 0; i < query->count; i++) {
            if (count_term(document, query->terms[i]) == 0)
                continue;
            is_found = true;
            score += query->weights[i] * part(naive, document, query->terms[i], &query->bm25);
        }
        if (is_found)
            out[count++] = (naive_hit){.id = id, .score = score};
    }
    if (count > 0)
        qsort(out, count, sizeof *out, compare_hits);
    return count < query->limit ? count : query->limit;
}

/* Documents whose scores differ by less than this may be in either order: both sides round.
 */
#define NEAR 1e-6

static const char *compare_lists(const naive_hit *expected, const lc_hit *hits, size_t count,
                                 const naive_query *query, const naive_postings *naive)
{
    naive_query all = *query;
    naive_hit scores[NAIVE_IDS];
    size_t scored;

    all.limit = NAIVE_IDS;
    scored = naive_search(naive, &all, scores);
    for (size_t i = 0; i < count; i++) {
        double score = NAN;

        if (fabs(hits[i].score - expected[i].score) > NEAR * expected[i].score)
            return "a score differs";
        for (size_t k = 0; k < scored; k++)
            score = scores[k].id == hits[i].id ? scores[k].score : score;
        if (!(fabs(hits[i].score - score) <= NEAR * score))
            return "a document has the score of another";
        if (hits[i].id != expected[i].id && score == expected[i].score)
            return "of equal ones not the lower id";
        if (i > 0 && !lc_hit_is_better(hits[i - 1], hits[i]))
            return "the order is wrong, or a document is there twice";
    }
    return NULL;
}

const char *naive_compare(const naive_postings *naive, const lc_postings *index, lc_heap *heap,
                          const naive_query *query)
{
    lc_postings_term terms[NAIVE_QUERY_MAX];
    lc_postings_query asked = {
        .terms = terms, .term_count = query->count, .limit = query->limit, .bm25 = &query->bm25};
    naive_hit expected[NAIVE_IDS];
    lc_hit hits[NAIVE_IDS + 10];
    size_t expected_count = naive_search(naive, query, expected), count = 0;
    lc_bitmap filter;
    loci_status status = LOCI_OK;

    lc_bitmap_init(&filter, heap, LOCI_MEM_REQUESTS);
    for (uint32_t id = 0; query->filter != NULL && id < NAIVE_IDS && status == LOCI_OK; id++) {
        if (query->filter[id])
            status = lc_bitmap_add(&filter, id, NULL);
    }
    for (size_t i = 0; i < query->count; i++)
        terms[i] = (lc_postings_term){naive_term_text(query->terms[i]), query->weights[i]};
    asked.filter = query->filter != NULL ? &filter : NULL;
    if (status == LOCI_OK)
        status = lc_postings_search(index, &asked, hits, &count, NULL);
    lc_bitmap_clear(&filter);
    if (status != LOCI_OK)
        return "searching failed";
    if (count != expected_count)
        return "the number of hits differs";
    return compare_lists(expected, hits, count, query, naive);
}
