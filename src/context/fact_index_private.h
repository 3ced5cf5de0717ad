/* fact_index_private.h - the index as fact_index.c and fact_choose.c see it. */
#ifndef LC_CONTEXT_FACT_INDEX_PRIVATE_H
#define LC_CONTEXT_FACT_INDEX_PRIVATE_H

#include "base/map.h"
#include "context/fact_index.h"
#include "index/bitmap.h"
#include "index/postings.h"
#include "index/vector.h"
#include "model/embedder.h"
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

/* Vectors by place. */
typedef struct lc_fact_vectors {
    lc_vectors set;
    char generation[LC_GENERATION_BYTES]; /* "" = none yet. */
    uint32_t stored; /* The facts of places below it have their vector in the store; */
    uint32_t made;   /* those of places below this one have it in the set. At least `stored`. */
    uint32_t told;   /* How many places there were when a job was last wanted. */
} lc_fact_vectors;

struct lc_fact_index {
    lc_heap *heap;
    lc_indexed_fact **places; /* By place; NULL = its fact has ended. */
    size_t count, room, live;
    /* Places with a fact: those that everybody may see at any time, as nearly all, and the others;
     * constraints are in one of these, too. */
    lc_bitmap open, special, constraints;
    size_t constraint_count;
    lc_map by_id;
    lc_postings *postings; /* NULL = empty. */
    lc_fact_vectors vectors;
    size_t bytes;
    int64_t seen_seq;     /* -1 = nothing. */
    int64_t restore_mark; /* Of the store, when that was seen. */
    lc_fact_counts past;  /* Everybody's, that no persona owns. */
};

/* Brings the vectors to what `tx` sees. `out_end`: those of places below it count. */
loci_status lc_fact_vectors_follow(lc_fact_index *index, lc_tx *tx, lc_fact_meaning *meaning,
                                   uint32_t *out_end, loci_error *err);
void lc_fact_vectors_clear(lc_fact_vectors *vectors);

#endif /* LC_CONTEXT_FACT_INDEX_PRIVATE_H */
