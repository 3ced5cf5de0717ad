/* since.h - what happened to a context that a model holds: lines that are no longer true, and
 * changes since a point of the log. */
#ifndef LC_CONTEXT_SINCE_H
#define LC_CONTEXT_SINCE_H

#include "context/kept.h"

/* changed: a note or signal that was set again. forgotten is not among them: such lines are gone.
 */
#define LC_STALE_REASONS                                                                           \
    "superseded|retracted|withdrawn|expired|needs_review|restricted|archived|closed|changed"

typedef struct lc_stale {
    const char *reason; /* NULL = the line is still true. */
    loci_str now_id;    /* Of the version that is true now; none = none that the reader sees. */
} lc_stale;

/* The state of a line of the context, now and for this reader. */
typedef struct lc_line_check {
    const lc_fact_view *view; /* Of the reader. */
    const lc_kept_context *context;
    const lc_kept_line *line;
    lc_arena *arena;
} lc_line_check;
loci_status lc_context_check_line(lc_tx *tx, const lc_line_check *check, lc_stale *out,
                                  loci_error *err);

/* ended: no longer true, without a successor. */
#define LC_CHANGE_KINDS "fact|ended|memory|todo"

typedef struct lc_change {
    const char *kind;
    loci_str id;
    loci_str line; /* "deadline: Monday", one line. */
    int64_t seq;
} lc_change;

typedef struct lc_changes {
    lc_change *items;
    size_t count;
    bool is_complete; /* False: there may be more than the limit. */
} lc_changes;

/* The state that changed after `seq`, newest first within a kind: facts with their new value, facts
 * that ended, new memories, new todos. A fact that was written and replaced since is listed once,
 * as it is now. At most `limit` of each kind. */
typedef struct lc_change_query {
    const lc_fact_view *view;
    int64_t seq;
    int64_t limit;
} lc_change_query;
loci_status lc_context_list_changes(lc_tx *tx, const lc_change_query *query, lc_arena *arena,
                                    lc_changes *out, loci_error *err);

#endif /* LC_CONTEXT_SINCE_H */
