/* recall.h - an index per user over the texts of a table, searched by words and by meaning.
 *
 * A room whose texts are searched declares where they are stored:
 *
 *     static const lc_sql texts_sql = {
 *         "select seq, written_at, body, persona_id, topic from notes"
 *         " where tenant_id = $1 and user_id = $2 and seq > $3 order by seq limit $4",
 *         "ttii", "iittt"};
 *     const lc_recall_source lc_note_source = {.name = "note", .rows = &texts_sql};
 *     const lc_user_kind lc_note_index = LC_RECALL_INDEX("note.index", &lc_note_source);
 *
 * and names the source in lc_room.texts. It gets an index in the user cache (store/user_kind.h)
 * that is built in slices and follows the log, vectors that the job model.reembed stores or that a
 * search makes itself, and lc_recall_search(). The index holds numbers and interned names; texts
 * stay in the store, and lc_recall_read() reads those of the hits.
 *
 * Isolation: a row of a persona is found by that persona alone. The rows that the reader may see
 * and the query's own conditions are one filter inside the search, so the hits are the best of the
 * rows that pass.
 *
 * Rows of such a table are added, and may leave the index for good (lc_recall_source.ended). A room
 * that keeps more about each (fact/fact_corpus.c) has a state of its own and uses lc_recall_build.
 */
#ifndef LC_RECALL_RECALL_H
#define LC_RECALL_RECALL_H

#include "base/str.h"
#include "index/corpus.h"
#include "store/user_kind.h"
#include "store/vector.h"

/* ---- Sources --------------------------------------------------------------------------------- */

#define LC_RECALL_TAGS_MAX 3 /* Columns behind persona_id. */

struct lc_recall_source {
    const char *name; /* "message"; kept in checkpoints of model.reembed. */
    /* The rows of user ($1, $2) behind seq $3 in the order of seq, at most $4. Columns: seq, time,
     * text, persona_id ("" = all personas), and up to LC_RECALL_TAGS_MAX texts to filter by. */
    const lc_sql *rows;
    /* The text to embed of the current row, in the arena. NULL = the column. */
    loci_status (*text)(const lc_rows *rows, lc_arena *arena, loci_str *out, loci_error *err);
    /* The seqs of rows of user ($1, $2) that an event behind seq $3 took out of `rows`, which must
     * not return them any more. NULL = rows are only added. */
    const lc_sql *ended;
};

/* A page of the texts of one user, for model.reembed. */
typedef struct lc_recall_page {
    loci_str tenant_id;
    loci_str user_id;
    loci_str cursor; /* Texts behind this one; "" = from the first. */
    int64_t limit;
} lc_recall_page;
/* Gets each text and the cursor that leads behind it, borrowed for the call. Non-OK stops. */
typedef loci_status lc_recall_visit(void *ctx, loci_str text, loci_str cursor, loci_error *err);
loci_status lc_recall_each_text(lc_tx *tx, const lc_recall_source *source,
                                const lc_recall_page *page, lc_recall_visit *visit, void *ctx,
                                loci_error *err);

/* ---- An index made from a source ------------------------------------------------------------- */

#define LC_RECALL_INDEX(of_name, of_source)                                                        \
    {                                                                                              \
        .name = (of_name), .of = (of_source), .open = lc_recall_open,                              \
        .catch_up = lc_recall_catch_up, .bytes = lc_recall_bytes, .close = lc_recall_close         \
    }
loci_status lc_recall_open(const lc_user_kind *kind, lc_heap *heap, void **out, loci_error *err);
loci_status lc_recall_catch_up(void *state, lc_tx *tx, lc_catch_up *step, loci_error *err);
size_t lc_recall_bytes(const void *state);
void lc_recall_close(void *state);

#define LC_RECALL_HITS_MAX 2000

/* The answer to a question is often in the row next to the one with its words. Rows with the same
 * first tag are neighbours, in the order of writing. */
typedef enum lc_recall_neighbours {
    LC_NEIGHBOURS_IGNORED,
    LC_NEIGHBOURS_RATED, /* The neighbours' share of the score is in lc_recall_hit.beside. */
    LC_NEIGHBOURS_ADDED  /* Rows next to a hit become hits, and hits next to each other rise. */
} lc_recall_neighbours;
#define LC_RECALL_NEXT_SHARE 0.3
#define LC_RECALL_SECOND_SHARE 0.1

typedef struct lc_recall_query {
    lc_corpus_terms terms; /* Of the query: lc_corpus_split(). */
    const float *vector;   /* Of the query, made by tx->embedding; NULL = by words alone. */
    loci_str persona_id;   /* Rows of this persona and of all personas; none = only the latter. */
    const lc_str_list *tags[LC_RECALL_TAGS_MAX]; /* Rows with one of these; NULL = any. */
    int64_t from_us, to_us;                      /* Rows at or after `from_us`, before `to_us`. */
    const int64_t *seqs;                         /* Only these rows, in rising order; NULL = all. */
    size_t seq_count;
    size_t limit; /* At most LC_RECALL_HITS_MAX. */
    lc_recall_neighbours neighbours;
} lc_recall_query;

typedef struct lc_recall_hit {
    int64_t seq;
    lc_fused score; /* With every part of it. */
    /* LC_NEIGHBOURS_RATED: LC_RECALL_NEXT_SHARE of the score of the better of the two rows next to
     * it, and LC_RECALL_SECOND_SHARE of that of the two behind them; else 0. */
    double beside;
} lc_recall_hit;

/* Best first, in the arena. */
typedef struct lc_recall_hits {
    lc_recall_hit *items;
    size_t count;
    size_t total;     /* Rows that the reader may see and asked for, hits or not. */
    bool is_complete; /* False: the index was still being built, so rows may be missing. */
} lc_recall_hits;

/* Borrows the user's index, so the caller holds no state. LOCI_ECONFLICT must be returned
 * untouched: the engine then runs the body again. */
loci_status lc_recall_search(lc_tx *tx, const lc_user_kind *kind, const lc_recall_query *query,
                             lc_arena *arena, lc_recall_hits *out, loci_error *err);

/* "… where tenant_id = $1 and user_id = $2 and seq in " LC_RECALL_SEQS */
#define LC_RECALL_SEQS "($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
#define LC_RECALL_SEQ_PARAMS "ttiiiiiiiiiiiiiiii"
/* Reads the rows of all hits, a few with each run of `sql`, which selects {row}, any further
 * columns and the seq. A row that is missing is LOCI_ECORRUPT. */
typedef struct lc_recall_rows {
    size_t item_bytes; /* Of one item, which begins with the struct of the row; 0 = the struct. */
    /* Keeps the further columns in the item. May be NULL. */
    loci_status (*more)(void *item, const lc_rows *rows, lc_arena *arena, loci_error *err);
    void *items; /* Out: one per hit, in their order, in the arena; bytes behind the row are 0. */
} lc_recall_rows;
loci_status lc_recall_read(lc_tx *tx, const lc_sql *sql, const lc_recall_hits *hits,
                           lc_arena *arena, lc_recall_rows *out, loci_error *err);

/* ---- For states of a room's own -------------------------------------------------------------- */

/* How a corpus is filled. */
typedef struct lc_recall_build {
    lc_corpus *corpus;
    const lc_sql *rows; /* Parameters as of lc_recall_source.rows; any columns. */
    /* Adds the current row and says its seq. */
    loci_status (*add)(void *state, const lc_rows *rows, lc_arena *scratch, int64_t *out_seq,
                       loci_error *err);
    /* The text that the vector of a document is made from, in the arena. */
    loci_status (*text)(void *state, lc_tx *tx, const void *record, lc_arena *arena, loci_str *out,
                        loci_error *err);
    void *state;
} lc_recall_build;

/* Adds the rows behind step->seen_seq in pages, then loads vectors: the `catch_up` of a kind. */
loci_status lc_recall_follow(lc_tx *tx, const lc_recall_build *build, lc_catch_up *step,
                             loci_error *err);
/* Loads vectors for a search; `out` says which of them it may use. */
loci_status lc_recall_load_vectors(lc_tx *tx, const lc_recall_build *build, lc_corpus_vectors *out,
                                   loci_error *err);

#endif /* LC_RECALL_RECALL_H */
