/* naive_postings.h - BM25 computed directly from the formula: documents are lists of terms, and
 * every search counts everything again. Tests and the fuzzer compare the postings with it. Small:
 * terms are numbers, documents have a fixed room. Memory is malloc's.
 */
#ifndef TEST_LIB_NAIVE_POSTINGS_H
#define TEST_LIB_NAIVE_POSTINGS_H

#include "index/postings.h"

#define NAIVE_IDS 300
#define NAIVE_TERMS_MAX 40 /* Of a document. */
#define NAIVE_VOCABULARY 60
#define NAIVE_QUERY_MAX 12

typedef struct naive_document {
    bool is_there;
    size_t length;
    unsigned terms[NAIVE_TERMS_MAX];
} naive_document;

typedef struct naive_postings {
    naive_document documents[NAIVE_IDS];
} naive_postings;

/* The text of term `number`; some are prefixes of others, one is empty, one holds a NUL. */
loci_str naive_term_text(unsigned number);

/* Adds the same document to both; returns the status of the index. */
loci_status naive_add(naive_postings *naive, lc_postings *index, uint32_t id,
                      const naive_document *document);
/* Removes it from both; false when they disagree on whether it was there. */
bool naive_remove(naive_postings *naive, lc_postings *index, uint32_t id);

typedef struct naive_query {
    unsigned terms[NAIVE_QUERY_MAX];
    double weights[NAIVE_QUERY_MAX];
    size_t count;
    const bool *filter; /* NAIVE_IDS of them, or NULL. */
    size_t limit;
    lc_bm25 bm25;
} naive_query;

/* Writes at most `limit` hits with scores in double, best first; returns how many. */
typedef struct naive_hit {
    uint32_t id;
    double score;
} naive_hit;
size_t naive_search(const naive_postings *naive, const naive_query *query,
                    naive_hit out[NAIVE_IDS]);

/* NULL when searching both gives the same, and so does the query's weight, else what differs. */
const char *naive_compare(const naive_postings *naive, const lc_postings *index, lc_heap *heap,
                          const naive_query *query);

#endif /* TEST_LIB_NAIVE_POSTINGS_H */
