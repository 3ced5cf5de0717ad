/* session.h - conversations: when one begins and ends, who speaks in it, and what was said.
 *
 * Nobody has to open a session. A caller may name one by its id (ses_…) or by any string of its own
 * (external_id), or not at all: then its writes use the session of (user, persona), and open it
 * when there is none. A session ends when it is closed, or when nothing was written in it for
 * `idle_us`: that is judged when somebody looks, by the domain clock.
 *
 *     (none) --opened--> active --ended--> ended
 *
 * Writing takes two steps, so that an operation can find all its errors before its first write:
 * lc_session_choose() decides which session it is and writes nothing, lc_session_begin() writes
 * what that needs. Reads use lc_session_find(), which opens nothing and is no activity.
 *
 * Events and projections: sessions, messages. The time of the last activity is operational: it
 * moves with every write and says nothing about what is known.
 */
#ifndef LC_SESSION_SESSION_H
#define LC_SESSION_SESSION_H

#include "base/arena.h"
#include "recall/forget.h"
#include "store/row.h"

extern const lc_room lc_session_room;
extern const lc_setting lc_setting_session_idle_minutes;

extern const lc_row_type lc_session_row;  /* lc_session */
extern const lc_row_type lc_identity_row; /* lc_identity */
extern const lc_row_type lc_message_row;  /* lc_message */

typedef enum lc_session_state { LC_SESSION_ACTIVE, LC_SESSION_ENDED } lc_session_state;

/* The identity of the user, set once per session. */
typedef struct lc_identity {
    loci_str user_name; /* None = no identity was set. */
    loci_str authority;
    loci_str department;
    loci_str organization;
    loci_str permissions; /* JSON array of strings; none = none. */
    /* Ceilings of the caller that set it; none = not capped. */
    loci_str authority_max;
    loci_str trust_max;
} lc_identity;

typedef struct lc_session {
    loci_str id;          /* ses_… */
    loci_str external_id; /* The caller's own name for it; none = none. */
    loci_str persona_id;  /* "" = everybody's. */
    int64_t seq;          /* Of the event that opened it. */
    int64_t opened_at;
    int64_t last_activity;
    int64_t ended_at;       /* 0 = not ended. */
    loci_str end_reason;    /* closed or idle; none = not ended. */
    lc_session_state state; /* One that was read and has been idle for too long has ended. */
    lc_identity identity;
} lc_session;

/* Which session is meant. */
typedef struct lc_session_ref {
    loci_str session_id; /* ses_…, a caller's string, or none. */
    loci_str persona_id; /* None = none. */
    int64_t idle_us;     /* After so long without a write it has ended. */
} lc_session_ref;

/* The session meant, open or (when named by its id) ended; `*found` is false when there is none.
 * An unknown ses_… is LOCI_ENOTFOUND. Text lives in `arena`. */
loci_status lc_session_find(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena, lc_session *out,
                            bool *found, loci_error *err);

/* A session that a write will use. */
typedef struct lc_session_use {
    lc_session session; /* With its id, also when it is still to be opened. */
    lc_id new_id;       /* What session.id refers to when it is new. */
    bool is_new;
    bool needs_touch; /* The last activity is long enough ago to be written. */
    lc_id stale_id;   /* An idle one that ends first; "" = none. */
    int64_t stale_ended_at;
} lc_session_use;

/* Decides; writes nothing. `out` must not move between the two calls. A session named by its id
 * that has ended is followed by the open one with the same external_id, or of the persona. */
loci_status lc_session_choose(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                              lc_session_use *out, loci_error *err);
/* Writes what the choice needs. `has_event`: the caller appends an event next, which then carries
 * the opening of a session without a name; otherwise it is an event of its own. */
loci_status lc_session_begin(lc_tx *tx, lc_session_use *use, bool has_event, loci_error *err);
/* The same, but a call that changed nothing in a session that nobody named opens none. */
loci_status lc_session_begin_lazily(lc_tx *tx, lc_session_use *use, bool has_event,
                                    loci_error *err);
/* Opens one whatever is there; one with the same external_id is used when it is open. */
loci_status lc_session_choose_new(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                  lc_session_use *out, loci_error *err);

/* Ends an open session for good: its working set is gone. `reason`: closed or idle. */
loci_status lc_session_end(lc_tx *tx, loci_str id, const char *reason, int64_t ended_at,
                           loci_error *err);

/* Ends idle sessions; lc_setting_session_idle_minutes is its limit. */
extern const lc_sweep lc_session_sweep;

/* Begins the session and sets the identity of its user, once: a second time is LOCI_EFORBIDDEN,
 * found before anything is written. `replaces`: the identity that is there does not bind this
 * caller, which may set another. */
loci_status lc_session_identify(lc_tx *tx, lc_session_use *use, const lc_identity *identity,
                                bool replaces, loci_error *err);

/* ---- Messages -------------------------------------------------------------------------------- */

#define LC_MESSAGE_ROLES "user|assistant|tool|system"

typedef struct lc_message {
    loci_str id; /* msg_… */
    int64_t seq;
    loci_str session_id;
    loci_str role;    /* user, assistant, tool, system. */
    loci_str speaker; /* Who, in the caller's words; none = the role says it. */
    loci_str text;
    loci_str persona_id;  /* "" = everybody's. */
    loci_str external_id; /* The caller's own id for it; none = none. */
    int64_t observed_at;  /* When it was said; LOCI_AT_CLOCK = recorded_at, for a new one. */
    int64_t recorded_at;
    loci_str client; /* Program that appended it, a JSON object; set by lc_session_each_message()
                        only. */
} lc_message;

/* Appends to an open session. id, seq and recorded_at of `message` are not looked at. */
loci_status lc_session_append_message(lc_tx *tx, const lc_message *message, lc_id *out_id,
                                      int64_t *out_seq, loci_error *err);

/* What became of an external id that was used before. The message may be forgotten since. */
typedef struct lc_message_use {
    loci_str message_id;
    loci_str session_id;
    int64_t seq;
} lc_message_use;
/* By the persona_id and external_id of `message`. External ids are a persona's own: another one
 * neither sees nor disturbs them. */
loci_status lc_session_find_message_use(lc_tx *tx, const lc_message *message, lc_arena *arena,
                                        lc_message_use *out, bool *found, loci_error *err);

typedef loci_status lc_message_visit(void *ctx, const lc_message *message, loci_error *err);
typedef struct lc_message_page {
    loci_str session_id;
    loci_str persona_id; /* Whose: its own and everybody's. None = everybody's only. */
    int64_t after_seq;
    int64_t before_seq; /* Of the last messages: only those before it; 0 = up to the newest. */
    int64_t limit;
} lc_message_page;
/* What was said in a session, in the order it was recorded; text is borrowed for the visit. */
loci_status lc_session_each_message(lc_tx *tx, const lc_message_page *page, lc_message_visit *visit,
                                    void *ctx, loci_error *err);

/* What was said last, newest first: in one session, or in all of the user's when session_id is
 * none. after_seq is not looked at. */
loci_status lc_session_each_last_message(lc_tx *tx, const lc_message_page *page,
                                         lc_message_visit *visit, void *ctx, loci_error *err);

/* ---- Forgetting (recall/forget.h) ------------------------------------------------------------ */

/* A session that is forgotten; not whole: messages of another persona, and so it itself, stay. */
typedef struct lc_session_oblivion {
    lc_session session;
    bool is_whole;
} lc_session_oblivion;

typedef struct lc_session_oblivions {
    lc_session_oblivion *items;
    size_t count;
} lc_session_oblivions;

/* Decides and collects into `f`; writes nothing. An id, or a name: then all sessions that ever had
 * it. None that the persona sees is LOCI_ENOTFOUND. */
loci_status lc_session_decide_forget(lc_tx *tx, const lc_session_ref *ref, lc_forgetting *f,
                                     lc_session_oblivions *out, loci_error *err);
loci_status lc_message_decide_forget(lc_tx *tx, loci_str persona_id, loci_str id, lc_forgetting *f,
                                     loci_error *err);
/* Append the events; lc_forget_finish() follows. */
loci_status lc_session_commit_forget(lc_tx *tx, loci_str persona_id,
                                     const lc_session_oblivions *oblivions, loci_error *err);
loci_status lc_message_commit_forget(lc_tx *tx, loci_str id, loci_error *err);

/* ---- Lists ----------------------------------------------------------------------------------- */

typedef loci_status lc_session_visit(void *ctx, const lc_session *session, loci_error *err);
typedef struct lc_session_page {
    loci_str persona_id; /* As above. */
    int64_t before_seq;  /* Newest first, from here on; INT64_MAX = from the newest. */
    int64_t limit;
    int64_t idle_us;
} lc_session_page;
loci_status lc_session_each(lc_tx *tx, const lc_session_page *page, lc_session_visit *visit,
                            void *ctx, loci_error *err);
/* The session last opened, open or not, whose conversation a read without a session sees. */
loci_status lc_session_find_last(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                 lc_session *out, bool *found, loci_error *err);

/* Whether `name` is the id of this session or the caller's own name for it. */
loci_status lc_session_is_named(lc_tx *tx, loci_str id, loci_str name, bool *out, loci_error *err);

/* {id, external_id?, persona_id?, state, opened_at, last_activity, ended_at?, end_reason?,
 * identity?} */
void lc_session_put(lc_json_writer *out, const lc_session *session);
void lc_identity_put(lc_json_writer *out, const lc_identity *identity);
void lc_message_put(lc_json_writer *out, const lc_message *message);

#endif /* LC_SESSION_SESSION_H */
