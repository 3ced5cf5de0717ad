/* relevance.h - which facts bear on a question: BM25 over their keys and values. */
#ifndef LC_CONTEXT_RELEVANCE_H
#define LC_CONTEXT_RELEVANCE_H

#include "context/source.h"

/* Fills `scores`, one a fact, 0 for one that shares no word with the query. */
loci_status lc_relevance_score(lc_arena *arena, const lc_source *source, loci_str query,
                               float *scores, loci_error *err);

#endif /* LC_CONTEXT_RELEVANCE_H */
