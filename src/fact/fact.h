/* fact.h - what is true now, and what was true before.
 *
 * A fact is one version of a slot (its `key`): writing the same key again supersedes the version
 * before, which stays in history. Writing the value that is already there changes nothing and
 * answers the same id. Authority, scopes, trust and dependencies are to come; the log is made for
 * them.
 *
 * Functions that write run in the writer with the user's head locked; every error is found before
 * the first write.
 */
#ifndef LC_FACT_FACT_H
#define LC_FACT_FACT_H

#include "base/arena.h"
#include "base/json.h"
#include "store/event.h"

extern const lc_room lc_fact_room;

typedef struct lc_fact {
    loci_str id;         /* fact_…: this version. */
    loci_str key;        /* The slot. */
    loci_str value;      /* Canonical JSON. */
    loci_str source;     /* Where it came from, or none. */
    loci_str persona_id; /* Whose it is; none = everybody's. */
    int64_t seq;         /* Of the event that wrote it. */
    int64_t observed_at;
    int64_t recorded_at;
    bool is_valid;          /* Nothing has taken its place. */
    loci_str supersedes;    /* Id of the version before, or none. */
    loci_str superseded_by; /* Id of the version after, or none. */
} lc_fact;

typedef struct lc_fact_new {
    loci_str key;
    loci_str value; /* Canonical JSON. */
    loci_str source;
    loci_str persona_id;
    int64_t observed_at; /* LOCI_AT_CLOCK = the time of the call. */
} lc_fact_new;

typedef enum lc_fact_outcome {
    LC_FACT_CREATED,
    LC_FACT_SUPERSEDED, /* Took the place of another value. */
    LC_FACT_REPEATED    /* The value was there already: nothing was written. */
} lc_fact_outcome;

typedef struct lc_fact_written {
    lc_id id;
    lc_id superseded; /* "" = none. */
    int64_t seq;      /* Of the event, or of the one that wrote the repeated fact. */
    lc_fact_outcome outcome;
} lc_fact_written;

const char *lc_fact_outcome_name(lc_fact_outcome outcome);

loci_status lc_fact_write(lc_tx *tx, const lc_fact_new *fact, lc_fact_written *out,
                          loci_error *err);

/* Whose facts are looked at. What a persona owns is seen by it alone; what has none is seen by all.
 */
typedef struct lc_fact_view {
    loci_str tenant_id;
    loci_str user_id;
    loci_str persona_id; /* None = only what has none. */
} lc_fact_view;

typedef loci_status lc_fact_visit(void *ctx, const lc_fact *fact, loci_error *err);

/* The valid version of a slot. A slot never written is LOCI_ENOTFOUND. Text lives in `arena`. */
loci_status lc_fact_load_current(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                                 lc_fact *out, loci_error *err);
loci_status lc_fact_load(lc_tx *tx, const lc_fact_view *view, loci_str id, lc_arena *arena,
                         lc_fact *out, loci_error *err);
/* Every version of a slot, oldest first. LOCI_ENOTFOUND when there is none. */
typedef struct lc_fact_history {
    loci_str key;
    int64_t after_seq;
    int64_t limit;
} lc_fact_history;
loci_status lc_fact_each_version(lc_tx *tx, const lc_fact_view *view,
                                 const lc_fact_history *history, lc_fact_visit *visit, void *ctx,
                                 loci_error *err);
/* Valid facts in the order of their keys and ids: a persona may see two of one key, its own and
 * everybody's. */
typedef struct lc_fact_page {
    loci_str after_key;
    loci_str after_id; /* Of that key; none = behind all of them. */
    int64_t limit;
} lc_fact_page;
loci_status lc_fact_each_valid(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                               lc_fact_visit *visit, void *ctx, loci_error *err);

/* All of it as one JSON object. */
void lc_fact_put(lc_json_writer *out, const lc_fact *fact);

#endif /* LC_FACT_FACT_H */
