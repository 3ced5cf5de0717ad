/* fusion.h - one ranking from two: what is near in meaning, and what has the same words.
 *
 * Adding up ranks (RRF) treats a list that found nothing as the equal of one that did: the best of
 * a useless list gets as much as the best of a good one. So scores are used, each on a scale that
 * means something by itself, and a list that says little moves little:
 *
 *   vector   = (cosine - floor) / (1 - floor), at least 0
 *   beyond   = BM25 - background, at least 0; background = the score of the 20th lexical hit, or 0:
 *              words that so many documents have tell none of them apart
 *   rarity   = beyond / the weight (idf) of a word that only one document has, at least that of
 *              one in 4,500: in a small collection every word looks rare
 *   coverage = beyond / the weight of all words of the query, at most 1
 *   evidence = rarity * (1 + coverage) / 2
 *   lexical  = evidence^3 / (evidence^3 + midpoint^3)
 *   score    = 1 - (1 - vector) * (1 - weight * lexical)
 *
 * So sharing one common word gives next to nothing, sharing the one rare word of a long query (an
 * identifier) gives much, sharing all of a short one gives all; and a match of either kind is a
 * match, whatever the other says. The score is from 0 to 1 and rises with both parts. With no
 * vectors at all words are all there is: weight is 1 and background 0, and the order is BM25's.
 *
 * Better answers: let every lexical hit have its cosine too (lc_hits_rerank() takes any ids), so
 * that none is judged by half of what could be known.
 */
#ifndef LC_INDEX_FUSION_H
#define LC_INDEX_FUSION_H

#include "index/hit.h"

/* How to weigh. Members are from 0 to 1 unless they say otherwise. */
typedef struct lc_fusion {
    double vector_floor;       /* The cosine, below 1, of texts that have nothing in common. */
    double lexical_weight;     /* What the strongest lexical match alone is worth. */
    double lexical_midpoint;   /* The evidence, above 0, that is worth half of that. */
    double rarest_idf_min;     /* Above 0: what the rarest word weighs at least, for rarity. */
    uint32_t background_place; /* Which hit is the background; 1 to LC_FUSION_BACKGROUND_MAX. */
} lc_fusion;

#define LC_FUSION_BACKGROUND_MAX 100u
/* As tests/recall wants it. Without rarest_idf_min three of its 30 answers leave the first three of
 * 60 for sentences that share a word or two; with it one does, for the sentence that repeats the
 * query, and what only words can find still comes among the first three. */
#define LC_FUSION_DEFAULT                                                                          \
    ((lc_fusion){.vector_floor = 0,                                                                \
                 .lexical_weight = 0.5,                                                            \
                 .lexical_midpoint = 0.5,                                                          \
                 .rarest_idf_min = 8,                                                              \
                 .background_place = 20})

/* What is to be fused. In each list an id stands once; the order does not matter. */
typedef struct lc_fusion_lists {
    const lc_hit *vector; /* Scores are cosines. */
    size_t vector_count;
    const lc_hit *lexical; /* Scores are BM25, at least 0. */
    size_t lexical_count;
    double query_weight; /* See lc_postings_query_weight(). */
    double rarest_idf;   /* The idf of a word that one document has; see lc_fusion_rarest_idf(). */
} lc_fusion_lists;

/* One document of either list, with every part of its score; a part that it does not have is 0. */
typedef struct lc_fused {
    uint32_t id;
    bool has_cosine;
    bool has_bm25;
    double cosine;
    double bm25;
    double vector;
    double rarity;
    double coverage;
    double lexical;
    double score;
} lc_fused;

/* ln(1 + (documents - 0.5) / 1.5): what the postings give a word of one document. */
double lc_fusion_rarest_idf(size_t documents);

/* Writes all documents of both lists, best first, of equal scores the lower id first, and answers
 * how many. `out` has room for vector_count + lexical_count. NULL as `how`: LC_FUSION_DEFAULT. */
size_t lc_fuse(const lc_fusion_lists *lists, const lc_fusion *how, lc_fused *out);

#endif /* LC_INDEX_FUSION_H */
