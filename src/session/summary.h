/* summary.h - short summaries of conversations.
 *
 *     rolling   per session, every few turns: the messages so far, at most 600 code points
 *     session   per ended session: one line, main points, open loops, commitments, people
 *     spine     per user and persona, every 20 user messages: PROFILE, PROJECTS, PEOPLE and
 *               OPEN_LOOPS
 *
 * A summary is never changed: the next one of its kind has the next version, and the newest one is
 * current. Each records the messages it was made from (a range of seqs of its session, and the ids
 * of its sources) and is removed when one of them is forgotten or withdrawn. Summaries are made by
 * the job `summary.make` (engine/summary_job.h); this file only enqueues it, in the transaction
 * that makes a summary due.
 *
 * Events: summary.made, summary.forgotten. Projection: summaries.
 */
#ifndef LC_SESSION_SUMMARY_H
#define LC_SESSION_SUMMARY_H

#include "base/arena.h"
#include "recall/forget.h"
#include "store/row.h"

#define LC_SUMMARY_KINDS "rolling|session|spine"
#define LC_SUMMARY_ROLLING_CODE_POINTS_MAX 600
#define LC_JOB_SUMMARY_MAKE "summary.make"

extern const lc_setting lc_setting_summary_rolling_turns;
extern const lc_setting lc_setting_summary_spine_messages;

extern const lc_table lc_summaries_table;
extern const lc_event_type lc_summary_made_event;
extern const lc_event_type lc_summary_forgotten_event;

typedef struct lc_summary {
    loci_str id; /* sum_… */
    int64_t seq;
    loci_str kind;
    loci_str session_id; /* "" for a spine. */
    loci_str persona_id; /* "" = shared by all personas. */
    int64_t version;  /* 1, 2, 3 … per kind and session, or per kind and persona for a spine. */
    loci_str text;    /* The summary as readers see it. */
    loci_str content; /* JSON object: its parts; none for a rolling summary. */
    loci_str method;  /* extract or model. */
    loci_str error;   /* Code of the error that prevented the use of the model, or none. */
    int64_t from_seq; /* First and last message that were read; 0 = none. */
    int64_t to_seq;
    int64_t message_count; /* Messages read; for a spine: user messages of the persona. */
    int64_t turn_count;    /* Turns of the session so far; 0 for a spine. */
    loci_str sources;      /* JSON array of ids: messages, memories, todos whose text is in it. */
    int64_t recorded_at;
} lc_summary;

extern const lc_row_type lc_summary_row; /* lc_summary */

/* Which summaries. */
typedef struct lc_summary_ref {
    loci_str kind;       /* None = any. */
    loci_str session_id; /* None = any. */
    loci_str persona_id; /* Summaries of this persona and shared ones. */
} lc_summary_ref;

/* Appends summary.made. Sets id, seq, version and recorded_at; `out_id` holds the text of the id.
 */
loci_status lc_summary_add(lc_tx *tx, lc_summary *summary, lc_id *out_id, loci_error *err);

/* The newest one; `*found` is false if there is none. A spine is found by the exact persona. Text
 * is in the arena. */
loci_status lc_summary_find_last(lc_tx *tx, const lc_summary_ref *ref, lc_arena *arena,
                                 lc_summary *out, bool *found, loci_error *err);
/* One that the persona sees; LOCI_ENOTFOUND. */
loci_status lc_summary_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                            lc_summary *out, loci_error *err);

typedef loci_status lc_summary_visit(void *ctx, const lc_summary *summary, loci_error *err);
/* Newest first, before `before_seq`. */
loci_status lc_summary_each(lc_tx *tx, const lc_summary_ref *ref, int64_t before_seq, int64_t limit,
                            lc_summary_visit *visit, void *ctx, loci_error *err);

/* As an answer. */
void lc_summary_put(lc_json_writer *out, const lc_summary *summary);
/* Whether the last session of the persona that has ended and in which something was said has no
 * summary yet. */
loci_status lc_summary_is_pending(lc_tx *tx, loci_str persona_id, bool *out, loci_error *err);

/* ---- When one is due --------------------------------------------------------------------------
 */

/* User messages before and after a write that appended some: turns of its session, and messages of
 * the persona in all sessions. */
typedef struct lc_summary_counts {
    loci_str session_id;
    loci_str persona_id;
    int64_t turns_before, turns_after;
    int64_t messages_before, messages_after;
    int64_t rolling_turns, spine_messages; /* Settings; 0 = never. */
    int64_t delay_ms;                      /* Before the jobs may run. */
} lc_summary_counts;

/* Enqueues the job for each summary that these messages make due. */
loci_status lc_summary_note_messages(lc_tx *tx, const lc_summary_counts *counts, loci_error *err);

/* Enqueues the job for the summary of a session that ends, if anything was said in it. */
loci_status lc_summary_note_end(lc_tx *tx, loci_str session_id, loci_error *err);

/* A job for one summary. */
typedef struct lc_summary_request {
    const char *kind;
    loci_str session_id; /* None for a spine. */
    loci_str persona_id;
    bool is_forced;   /* Make it even if the last one is recent enough. */
    int64_t delay_ms; /* Before the job may run. */
} lc_summary_request;
/* At most one queued job per kind and session or persona. `out_job` may be NULL. */
loci_status lc_summary_enqueue(lc_tx *tx, const lc_summary_request *request, lc_id *out_job,
                               loci_error *err);

/* ---- Forgetting and withdrawing ---------------------------------------------------------------
 */

/* Adds to `f` the summaries of the session that were made from the message `seq`; 0 = all of the
 * session. The events session.forgotten and message.forgotten remove their rows. */
loci_status lc_summary_collect(lc_forgetting *f, loci_str session_id, int64_t seq, loci_error *err);
/* Adds the spines that were made after the first thing in `f` was recorded: they may repeat it. */
loci_status lc_summary_collect_spines(lc_forgetting *f, loci_error *err);
/* Call it after the room has appended its own event. Appends summary.forgotten if spines are
 * removed, and enqueues new ones. */
loci_status lc_summary_commit_forget(lc_forgetting *f, loci_error *err);

/* Before a message is forgotten: enqueues new summaries in the place of those made from it. */
loci_status lc_summary_redo(lc_tx *tx, loci_str session_id, int64_t seq, loci_error *err);
/* Before messages after `seq` are withdrawn: enqueues a new summary of a session that has ended. */
loci_status lc_summary_redo_after(lc_tx *tx, loci_str session_id, int64_t seq, loci_error *err);

/* For `apply`: removes the summaries of the session that were made from a message after `seq`. */
loci_status lc_summary_remove_after(lc_tx *tx, const lc_event *event, loci_str session_id,
                                    int64_t seq, loci_error *err);
/* For `apply`: removes the summaries that were made from this message, which is still there. */
loci_status lc_summary_remove_of(lc_tx *tx, const lc_event *event, loci_str message_id,
                                 loci_error *err);
/* For `apply` of a rewind: removes the summaries that were made from messages of the session after
 * `seq`, and the spines that were made after it, and notes them in `withdrawals`. */
loci_status lc_summary_withdraw(lc_tx *tx, const lc_event *event, loci_str session_id, int64_t seq,
                                loci_error *err);

#endif /* LC_SESSION_SUMMARY_H */
