/* todo.h - tasks of the user or the agent, per persona: commitments, habits, open threads,
 * frictions and wins.
 *
 *     open --done--> done
 *       '--update--> done, dropped, and back
 */
#ifndef LC_MEMORY_TODO_H
#define LC_MEMORY_TODO_H

#include "base/arena.h"
#include "recall/forget.h"
#include "store/row.h"

#define LC_TODO_KINDS "commitment|habit|thread|friction|win"
#define LC_TODO_STATUSES "open|done|dropped"
#define LC_TODO_TEXT_BYTES_MAX (64 * 1024)

extern const lc_table lc_todos_table;
extern const lc_event_type lc_todo_added_event;
extern const lc_event_type lc_todo_changed_event;
extern const lc_event_type lc_todo_forgotten_event;

typedef struct lc_todo {
    loci_str id; /* todo_… */
    int64_t seq;
    loci_str text;
    loci_str kind;
    loci_str status;
    int64_t due_at;       /* 0 = no date. */
    loci_str entity_refs; /* JSON array. */
    int64_t done_at;      /* 0 = it is not done. */
    loci_str persona_id;  /* "" = it belongs to all. */
    int64_t created_at;
    loci_str message_id; /* That it was read in; none = it was added by a call. */
    loci_str session_id; /* Of that message. */
    loci_str quote;      /* The sentence it came from. */
} lc_todo;

extern const lc_row_type lc_todo_row;       /* lc_todo */
extern const lc_row_type lc_todo_state_row; /* lc_todo: the columns that todo.changed sets */

/* id, seq and created_at of `todo` are set. */
loci_status lc_todo_add(lc_tx *tx, lc_todo *todo, lc_id *out_id, loci_error *err);
/* Whether the persona has an open one with the same text and date. */
loci_status lc_todo_is_open(lc_tx *tx, const lc_todo *todo, bool *out, loci_error *err);
/* One that the persona sees; LOCI_ENOTFOUND. */
loci_status lc_todo_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_todo *out,
                         loci_error *err);
/* Sets text, kind, status, due_at, entity_refs and done_at. */
loci_status lc_todo_change(lc_tx *tx, const lc_todo *todo, loci_error *err);

typedef loci_status lc_todo_visit(void *ctx, const lc_todo *todo, loci_error *err);
typedef struct lc_todo_page {
    loci_str persona_id;
    loci_str status;    /* None = any. */
    loci_str kind;      /* None = any. */
    int64_t before_seq; /* Newest first, from here on. */
    int64_t limit;
} lc_todo_page;
loci_status lc_todo_each(lc_tx *tx, const lc_todo_page *page, lc_todo_visit *visit, void *ctx,
                         loci_error *err);

/* Adds one that the persona sees, and the events that changed it; LOCI_ENOTFOUND. */
loci_status lc_todo_decide_forget(lc_tx *tx, loci_str persona_id, loci_str id, lc_forgetting *f,
                                  loci_error *err);
loci_status lc_todo_commit_forget(lc_tx *tx, loci_str id, loci_error *err);

/* Those that were read in a message, or in any of a session: of every persona. None = any. */
typedef struct lc_todo_source {
    loci_str message_id, session_id;
} lc_todo_source;
loci_status lc_todo_each_of_source(lc_tx *tx, const lc_todo_source *source, lc_todo_visit *visit,
                                   void *ctx, loci_error *err);

#endif /* LC_MEMORY_TODO_H */
