/* postings.h - an inverted index: the documents of each word, ranked for a query by BM25.
 *
 *     lc_postings_add(index, 7, terms, count, &err);       all words of document 7, repeats too
 *     lc_postings_search(index, &(lc_postings_query){.terms = words, .term_count = 2, .limit = 50},
 *                        hits, &found, &err);
 *     lc_postings_remove(index, 7);
 *
 * A document is a small number that the caller chooses; a term is any bytes, usually a stem
 * (text/term.h). Nothing here reads a text or a file: an index lives in memory and is made again
 * from the rows it belongs to.
 *
 * score = sum over the query's terms of
 *     weight * ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * L / A))
 * with N documents, n of them having the term, f its count in this document (at most 255 is
 * counted), L the document's terms and A the average of L. All are exact after any adds and
 * removes.
 *
 * Threads: any number may search while no thread adds or removes; the engine's lock ensures that.
 */
#ifndef LC_INDEX_POSTINGS_H
#define LC_INDEX_POSTINGS_H

#include "base/heap.h"
#include "index/bitmap.h"
#include "index/hit.h"

/* k1: how soon repeating a word stops raising the score; b: how much a long document lowers it. The
 * defaults of most search engines. */
#define LC_BM25_K1 1.2
#define LC_BM25_B 0.75

typedef struct lc_bm25 {
    double k1; /* At least 0. */
    double b;  /* 0 to 1. */
} lc_bm25;

typedef struct lc_postings lc_postings;

typedef struct lc_postings_term {
    loci_str text;
    double weight; /* Above 0; 1 = as it is. */
} lc_postings_term;

typedef struct lc_postings_query {
    const lc_postings_term *terms; /* A term that is given twice has twice the weight. */
    size_t term_count;             /* At most LC_QUERY_TERMS_MAX. */
    const lc_bitmap *filter;       /* Only these documents; NULL = all. */
    size_t limit;                  /* Hits wanted. */
    const lc_bm25 *bm25;           /* NULL = LC_BM25_K1 and LC_BM25_B. */
} lc_postings_query;

typedef struct lc_postings_size {
    size_t documents;
    size_t terms; /* That some document has, or had since the last compaction. */
    size_t postings;
    size_t dead_documents; /* Removed, still skipped by searches: at most a quarter, or 64. */
    size_t bytes;          /* Held from the heap. */
} lc_postings_size;

/* Memory is LOCI_MEM_INDEX of `heap`. */
loci_status lc_postings_new(lc_heap *heap, lc_postings **out, loci_error *err);
/* Gives all memory back. NULL is fine. */
void lc_postings_free(lc_postings *index);

/* Adds document `id`, below LC_INDEX_IDS_MAX, or replaces it. On failure nothing changed. */
loci_status lc_postings_add(lc_postings *index, uint32_t id, const loci_str *terms, size_t count,
                            loci_error *err);
/* False when it was not there. */
bool lc_postings_remove(lc_postings *index, uint32_t id);
bool lc_postings_has(const lc_postings *index, uint32_t id);
/* Drops the postings of removed documents and frees their memory. Happens automatically when more
 * than a quarter is removed. On failure (no memory for the copy) nothing changed. */
loci_status lc_postings_compact(lc_postings *index, loci_error *err);
lc_postings_size lc_postings_get_size(const lc_postings *index);

/* Writes the best documents that have a term of the query, at most `limit`, best first. `out` has
 * room for `limit`. Scratch memory is LOCI_MEM_REQUESTS. */
loci_status lc_postings_search(const lc_postings *index, const lc_postings_query *query,
                               lc_hit *out, size_t *out_count, loci_error *err);

#endif /* LC_INDEX_POSTINGS_H */
