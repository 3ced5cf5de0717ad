/* fact_index.h - one user's valid facts in memory, found by words.
 *
 * Made from rows, never stored. It knows the seq of the user's log that it has seen and catches up
 * from there: with the facts written since, and without those that ended since; so another
 * process's writes are noticed and nothing is made anew for one fact. Places are given in the order
 * of writing and not used again; when too many are empty the index is made again.
 *
 * One thread at a time; engine/fact_cache.h has the lock. */
#ifndef LC_CONTEXT_FACT_INDEX_H
#define LC_CONTEXT_FACT_INDEX_H

#include "fact/fact_recent.h"
#include "pack/pack.h"

#define LC_FACT_BULLET "- "

typedef struct lc_fact_index lc_fact_index;

loci_status lc_fact_index_new(lc_heap *heap, lc_fact_index **out, loci_error *err);
void lc_fact_index_free(lc_fact_index *index); /* NULL is fine. */
/* Empties it: what it has seen does not count any more. */
void lc_fact_index_reset(lc_fact_index *index);
size_t lc_fact_index_bytes(const lc_fact_index *index);

/* Brings it to what `tx` sees. LOCI_ECONFLICT when it has seen more than that already: another
 * reader was faster, and the caller needs an index of its own. After any other failure the index is
 * empty and may be used again. */
loci_status lc_fact_index_catch_up(lc_fact_index *index, lc_tx *tx, loci_error *err);

/* What is wanted. */
typedef struct lc_fact_request {
    lc_fact_view view;
    loci_str query;
    size_t limit;       /* Facts beside the constraints, which are all given. */
    lc_counter counter; /* Counts the tokens of lines that were not counted before. */
    int encoding;       /* Which counts these are; a count of another one does not serve. */
} lc_fact_request;

typedef struct lc_source_fact {
    lc_fact fact;
    loci_str text;       /* Its value as text. */
    float score;         /* BM25; 0 = shares no word with the query. */
    int64_t line_tokens; /* Of lc_fact_line() in a list: counted once, kept with the fact. */
} lc_source_fact;

/* What was chosen, in the arena: constraints, then the best for the query, then the newest. */
typedef struct lc_fact_choice {
    lc_source_fact *facts;
    size_t count;
    int64_t expired, restricted, scoped, irrelevant; /* Those that are not in it. */
    lc_fact_counts past;
    /* Some that were left out for another reason than relevance. */
    struct {
        loci_str id;
        const char *reason;
    } left_out[20];
    size_t left_out_count;
} lc_fact_choice;

loci_status lc_fact_index_choose(lc_fact_index *index, lc_tx *tx, const lc_fact_request *request,
                                 lc_arena *arena, lc_fact_choice *out, loci_error *err);

/* "key: value", and where it comes from when that is an organisation's; in the arena. */
loci_status lc_fact_line(lc_arena *arena, const lc_fact *fact, loci_str text, loci_str *out,
                         loci_error *err);

/* Whoever has an index. */
typedef struct lc_fact_chooser {
    loci_status (*choose)(void *ctx, lc_tx *tx, const lc_fact_request *request, lc_arena *arena,
                          lc_fact_choice *out, loci_error *err);
    void *ctx;
} lc_fact_chooser;

#endif /* LC_CONTEXT_FACT_INDEX_H */
