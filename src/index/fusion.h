/* fusion.h - one ranking from two: near in meaning, and with the same words.
 *
 * Adding up ranks (RRF) treats a list that found nothing as the equal of one that did: the best of
 * a useless list gets as much as the best of a good one. So scores are used, each on a scale from
 * 0 to 1 that means something by itself, and a list with low scores has little influence:
 *
 *   vector  = cosine, at least 0; of a document whose vector is not there yet: lexical
 *   lexical = BM25 / (BM25 + rarest), where rarest is the weight (idf) of a word that only one
 *             document has: a document with one such word of the query has about a half
 *   score   = (lexical + 2 * vector) / 3; without any vectors that is the order of BM25
 *
 * In a small collection every word looks rare, so rarest is at least that of one document in
 * 4,500. The weights were chosen on conversations with questions (bench/talk), where any weight of
 * the vector from 1.5 to 3 does about as well; tests/recall has floors for both kinds of match.
 *
 * Better answers: compute the cosine of every lexical hit, too (lc_hits_rerank() takes any ids), so
 * that each hit is judged by both scores.
 */
#ifndef LC_INDEX_FUSION_H
#define LC_INDEX_FUSION_H

#include "index/hit.h"

/* The lists to fuse. An id occurs at most once per list; the order does not matter. */
typedef struct lc_fusion_lists {
    const lc_hit *vector; /* Scores are cosines. */
    size_t vector_count;
    const lc_hit *lexical; /* Scores are BM25, at least 0. */
    size_t lexical_count;
    size_t documents; /* In the collection. */
} lc_fusion_lists;

/* One document of either list, with every part of its score. */
typedef struct lc_fused {
    uint32_t id;
    bool has_cosine;
    bool has_bm25;
    double cosine; /* 0 without one. */
    double bm25;   /* 0 without one. */
    double vector;
    double lexical;
    double score;
} lc_fused;

/* Writes all documents of both lists, best first, of equal scores the lower id first, and returns
 * their number. `out` has room for vector_count + lexical_count. */
size_t lc_fuse(const lc_fusion_lists *lists, lc_fused *out);

#endif /* LC_INDEX_FUSION_H */
