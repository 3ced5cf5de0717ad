/* corpus.h - the documents of one user, found by words and by meaning.
 *
 * A room keeps one corpus per user for each kind of text that is searched: facts, messages. Adding
 * a document gives it the next number, so numbers follow the order of writing; a number is not used
 * again. Each document has
 *
 *   terms     in BM25 postings (index/postings.h)
 *   a vector  as int8 codes (index/vector.h), when there is one
 *   a record  of fixed size that belongs to the room: data for its filters, or a pointer
 *
 * A search fuses words and meaning (index/fusion.h) among the documents of a filter, so the best
 * are always taken from inside the allowed set. The result depends on the documents and the stored
 * vectors only, never on earlier searches or on when the corpus was built.
 *
 * The corpus does no I/O: the room reads its rows and adds them, and vectors come through callbacks
 * (lc_corpus_vectors). One thread at a time changes a corpus; it is rebuilt from rows and never
 * stored.
 */
#ifndef LC_INDEX_CORPUS_H
#define LC_INDEX_CORPUS_H

#include "base/arena.h"
#include "base/hash.h"
#include "index/fusion.h"
#include "index/postings.h"
#include "index/vector.h"
#include "text/term.h"

typedef struct lc_corpus {
    lc_heap *heap;
    size_t record_bytes;
    char *records;        /* By number; those of removed documents are zero. */
    lc_hash128 *contents; /* By number: the hash that the document's vector is stored under. */
    uint32_t count, room; /* Numbers given, and the capacity of both arrays. */
    uint32_t live;        /* Documents that were not removed. */
    lc_bitmap present;    /* Their numbers. */
    lc_postings *postings;
    lc_stemmer stemmer;
    /* The two sets of vectors by number that a search uses: see lc_corpus_follow_vectors(). */
    lc_vectors vectors;
    lc_vectors newest;
    lc_hash128 generation; /* Of the embedder; zero = there are no vectors. */
    uint32_t stored;      /* All documents below have their vector in the store and in `vectors`. */
    uint32_t newest_from; /* `newest` has no number below, */
    uint32_t newest_end;  /* and has the vectors of the newest documents below this. */
    uint32_t reported;    /* Value of `count` when a job was last asked for. */
    struct lc_corpus_scan *scan; /* Of the store, to fill `vectors`; NULL = none runs. */
    uint32_t not_to_scan;        /* A scan of documents below this found too few of them. */
} lc_corpus;

/* `record_bytes` may be 0. */
loci_status lc_corpus_init(lc_corpus *corpus, lc_heap *heap, size_t record_bytes, loci_error *err);
/* Gives all memory back; before, the room frees the memory that its records point to. Zeroed is
 * fine. */
void lc_corpus_clear(lc_corpus *corpus);
size_t lc_corpus_bytes(const lc_corpus *corpus);

/* No text to embed: the document is found by words alone. */
#define LC_CORPUS_NO_VECTOR ((lc_hash128){0, 0})

typedef struct lc_corpus_document {
    loci_str text;      /* Its words. */
    lc_hash128 content; /* The hash that its vector is stored under, or LC_CORPUS_NO_VECTOR. */
    const void *record; /* `record_bytes` to copy; NULL when that is 0. */
} lc_corpus_document;

/* Scratch memory comes from `scratch` and is given back. On failure nothing changed. */
loci_status lc_corpus_add(lc_corpus *corpus, const lc_corpus_document *document, lc_arena *scratch,
                          uint32_t *out_number, loci_error *err);
/* Removing a document that is not there is fine. */
void lc_corpus_remove(lc_corpus *corpus, uint32_t number);
/* More than half of the numbers are unused: the room should build the corpus again. */
bool lc_corpus_is_sparse(const lc_corpus *corpus);

/* The record of a number below `count`. */
static inline void *lc_corpus_record(const lc_corpus *corpus, uint32_t number)
{
    return corpus->records + number * corpus->record_bytes;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Maximum number of newest documents without a stored vector that a search embeds itself. */
#define LC_CORPUS_TAIL_MAX 64

/* A stored vector that is looked up. */
typedef struct lc_corpus_vector {
    lc_hash128 content;
    int8_t *codes; /* Out: `dimensions` of them. */
    float scale;   /* Out. */
    bool found;    /* Out. */
} lc_corpus_vector;
typedef void lc_corpus_visit(void *ctx, lc_hash128 content, lc_vector_code code);

/* Where vectors come from. */
typedef struct lc_corpus_vectors {
    loci_str generation; /* Of the embedder in use. */
    size_t dimensions;
    /* Looks up the vectors of `count` documents by content. */
    loci_status (*find)(void *ctx, lc_corpus_vector *vectors, size_t count, loci_error *err);
    /* Visits the stored vectors behind the content `after`, in the order of their contents, at most
     * `limit`; some may be of other corpora. */
    loci_status (*scan)(void *ctx, lc_hash128 after, size_t limit, lc_corpus_visit *visit,
                        void *visit_ctx, loci_error *err);
    /* The text that a document's vector is made from, in the arena. */
    loci_status (*text)(void *ctx, const void *record, lc_arena *arena, loci_str *out,
                        loci_error *err);
    /* Makes the vectors of `count` texts. */
    loci_status (*embed)(void *ctx, const loci_str *texts, size_t count, float *out,
                         loci_error *err);
    void *ctx;
    int64_t pause_us; /* Monotonic time at which a long load returns unfinished. */
    bool is_given;    /* No vector will be made of a text: a missing one is one of zeros. */
    /* Out. */
    bool is_complete; /* There was time for all of it. */
    bool wants_job;   /* Many documents have no stored vector: a job should make them. */
} lc_corpus_vectors;

/* Loads vectors from the store (many by a scan, few by look-ups) up to the first document that has
 * none there, and embeds the newest LC_CORPUS_TAIL_MAX documents behind it. A search uses these two
 * sets; they depend on the snapshot alone. Documents between them are left to the job and found by
 * words until then; so a document that was just written is found by meaning, no matter how many
 * others wait. If nothing changed this costs one look-up. */
loci_status lc_corpus_follow_vectors(lc_corpus *corpus, lc_corpus_vectors *from, loci_error *err);

/* ---- Searching ------------------------------------------------------------------------------- */

/* A text as the corpus searches for it. */
typedef struct lc_corpus_terms {
    lc_postings_term *items;
    size_t count;
} lc_corpus_terms;
/* The terms of a query in the arena, at most LC_QUERY_TERMS_MAX. Needs no corpus. */
loci_status lc_corpus_split(lc_arena *arena, loci_str query, lc_corpus_terms *out, loci_error *err);

typedef struct lc_corpus_query {
    lc_corpus_terms terms;
    const float *vector;     /* Of length 1; NULL = by words alone. */
    const lc_bitmap *filter; /* Only these documents; NULL = all. */
    size_t limit; /* Number of hits per kind that are fused: returns at most twice this. */
} lc_corpus_query;

/* Hits with every part of their score, best first. Of equal scores the older document comes first.
 */
typedef struct lc_corpus_hits {
    lc_fused *items;
    size_t count;
    bool has_vectors; /* Some hit has a cosine; otherwise the order is that of BM25. */
} lc_corpus_hits;
loci_status lc_corpus_search(const lc_corpus *corpus, const lc_corpus_query *query, lc_arena *arena,
                             lc_corpus_hits *out, loci_error *err);

#endif /* LC_INDEX_CORPUS_H */
