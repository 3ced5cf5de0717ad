/* fact_index_private.h - the index as fact_index.c and fact_choose.c see it. */
#ifndef LC_CONTEXT_FACT_INDEX_PRIVATE_H
#define LC_CONTEXT_FACT_INDEX_PRIVATE_H

#include "base/map.h"
#include "context/fact_index.h"
#include "index/postings.h"
#include "text/term.h"

typedef struct lc_indexed_fact {
    lc_fact fact;
    loci_str text;
    uint32_t place;
    int64_t line_tokens; /* 0 = not counted. */
    int line_encoding;
    bool is_plain; /* Global, and nobody's own: as nearly all are. */
    size_t bytes;  /* Of the block, texts included. */
} lc_indexed_fact;

struct lc_fact_index {
    lc_heap *heap;
    lc_indexed_fact **places; /* By place; NULL = its fact has ended. */
    size_t count, room, live, constraints;
    lc_map by_id;
    lc_postings *postings; /* NULL = empty. */
    size_t bytes;
    int64_t seen_seq;     /* -1 = nothing. */
    int64_t restore_mark; /* Of the store, when that was seen. */
    lc_fact_counts past;  /* Everybody's, that no persona owns. */
};

#endif /* LC_CONTEXT_FACT_INDEX_PRIVATE_H */
