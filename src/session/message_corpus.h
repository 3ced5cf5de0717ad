/* message_corpus.h - all messages of a user, searched by words and by meaning (recall/recall.h). */
#ifndef LC_SESSION_MESSAGE_CORPUS_H
#define LC_SESSION_MESSAGE_CORPUS_H

#include "recall/recall.h"
#include "session/session.h"

extern const lc_user_kind lc_message_corpus_kind;
extern const lc_recall_source lc_message_source;

#define LC_MESSAGE_HITS_MAX LC_RECALL_HITS_MAX
#define LC_MESSAGE_SEARCH_MAX 100 /* Hits of one call of session.search. */

typedef struct lc_message_query {
    lc_corpus_terms terms;  /* Terms of the query: lc_corpus_split(). */
    const float *vector;    /* Of the query, made by tx->embedding; NULL = by words alone. */
    loci_str persona_id;    /* Messages of this persona and shared ones; none = shared ones only. */
    loci_str session;       /* ses_…, or an external_id: all sessions of that name. None = all. */
    loci_str role;          /* None = all. */
    int64_t from_us, to_us; /* Said at or after `from_us` and before `to_us`. */
    size_t limit;           /* At most LC_MESSAGE_HITS_MAX. */
    bool with_neighbours;   /* With the messages beside each hit; see lc_recall_query. */
} lc_message_query;

typedef struct lc_message_hit {
    lc_message message;   /* First: read by lc_recall_read(). */
    loci_str external_id; /* External id of its session; none = it has none. */
    lc_fused score;
} lc_message_hit;

/* Best first, in the arena. */
typedef struct lc_message_hits {
    lc_message_hit *items;
    size_t count;
    size_t total;     /* Messages that the reader may see and asked for, hits or not. */
    bool is_complete; /* False: the index was still being built, so messages may be missing. */
} lc_message_hits;

/* Borrows the user's state, so the caller holds none. An unknown ses_… is LOCI_ENOTFOUND.
 * LOCI_ECONFLICT must be returned untouched: the engine then runs the body again. */
loci_status lc_message_search(lc_tx *tx, const lc_message_query *query, lc_arena *arena,
                              lc_message_hits *out, loci_error *err);

#endif /* LC_SESSION_MESSAGE_CORPUS_H */
