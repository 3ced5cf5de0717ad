/* session.h - sessions (conversations): their beginning and end, their user and their messages.
 *
 * A caller does not have to open a session. It may name one by its id (ses_…) or by any string of
 * its own (external_id). If it names none, its writes use the open session of (user, persona), or
 * open one. A session ends when it is closed, or when nothing was written in it for `idle_us`; each
 * read and write checks that by the domain clock. session_state.h has the life cycle.
 *
 * Writing takes two steps, so that an operation can find all its errors before its first write:
 * lc_session_choose() decides which session to use and writes nothing; lc_session_begin() then
 * opens or updates that session. Reads use lc_session_find(), which opens no session and does not
 * count as activity.
 *
 * Events and projections: sessions, messages, counts of user messages (a turn is a user message
 * and the messages up to the next one). The time of the last activity is operational data without
 * events: it changes with every write and contains no knowledge about the user.
 */
#ifndef LC_SESSION_SESSION_H
#define LC_SESSION_SESSION_H

#include "base/arena.h"
#include "recall/forget.h"
#include "recall/rewind.h"
#include "session/session_state.h"
#include "store/row.h"

extern const lc_room lc_session_room;
extern const lc_setting lc_setting_session_idle_minutes;
extern const lc_setting lc_setting_session_close_on_shutdown;

extern const lc_row_type lc_session_row;  /* lc_session */
extern const lc_row_type lc_identity_row; /* lc_identity */
extern const lc_row_type lc_message_row;  /* lc_message */

/* The identity of the user, set once per session. */
typedef struct lc_identity {
    loci_str user_name; /* None = no identity was set. */
    loci_str authority;
    loci_str department;
    loci_str organization;
    loci_str permissions; /* JSON array of strings; none = not set. */
    /* Maximum levels of the caller that set the identity; none = no maximum. */
    loci_str authority_max;
    loci_str trust_max;
} lc_identity;

typedef struct lc_session {
    loci_str id;          /* ses_… */
    loci_str external_id; /* The caller's own name for it; none = it has no name. */
    loci_str persona_id;  /* "" = shared by all personas. */
    int64_t seq;          /* Seq of the event that opened it. */
    int64_t opened_at;
    int64_t last_activity;
    int64_t ended_at;       /* 0 = not ended. */
    loci_str end_reason;    /* closed, idle or shutdown; none = not ended. */
    lc_session_state state; /* Reads return `ended` for a session that was idle for too long. */
    int64_t turn_count;     /* User messages in it. */
    loci_str metadata;      /* JSON object as given; none = not given. */
    lc_identity identity;
} lc_session;

/* The session that a caller refers to. */
typedef struct lc_session_ref {
    loci_str session_id; /* ses_…, a caller's string, or none. */
    loci_str persona_id; /* None = no persona. */
    int64_t idle_us;     /* A session without a write for this time has ended. */
} lc_session_ref;

/* Finds the session that `ref` names: an open one or, if named by its id, also an ended one.
 * `*found` is false if there is none. An unknown ses_… is LOCI_ENOTFOUND. Text lives in `arena`. */
loci_status lc_session_find(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena, lc_session *out,
                            bool *found, loci_error *err);
/* The same for reads of past sessions: if none is open, finds the one last opened under that name,
 * or the last one of the persona if `ref` has no name. */
loci_status lc_session_find_past(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                 lc_session *out, bool *found, loci_error *err);
/* For readers of a user's whole log: the id of the session with this id or, last opened, with this
 * external_id, of any persona. LOCI_ENOTFOUND if there is none. */
loci_status lc_session_find_id(lc_tx *tx, loci_str name, lc_id *out, loci_error *err);

/* A session that a write will use. */
typedef struct lc_session_use {
    lc_session session; /* Has its id even if lc_session_begin() has yet to open it. */
    lc_id new_id;       /* Memory of session.id if the session is new. */
    bool is_new;
    bool needs_touch; /* The stored time of the last activity is too old and must be updated. */
    lc_id stale_id;   /* An idle session that must end first; "" = none. */
    int64_t stale_ended_at;
} lc_session_use;

/* Decides which session to use; writes nothing. `out` must stay at its address until
 * lc_session_begin() returns. If `ref` names an ended session by its id, chooses the open session
 * with the same external_id or, if it had none, the open session of the persona. If no session is
 * open, chooses a new one. */
loci_status lc_session_choose(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                              lc_session_use *out, loci_error *err);
/* Opens a new session, ends a stale one and updates the last activity, as chosen. `has_event`: the
 * caller appends an event next. The refs of that event then record the opening of a session without
 * a name; in all other cases the opening is an event of its own. */
loci_status lc_session_begin(lc_tx *tx, lc_session_use *use, bool has_event, loci_error *err);
/* The same, but opens no session without a name if the caller appends no event. */
loci_status lc_session_begin_lazily(lc_tx *tx, lc_session_use *use, bool has_event,
                                    loci_error *err);
/* Chooses a new session even if the persona has an open one; but if a session with the same
 * external_id is open, chooses that one. */
loci_status lc_session_choose_new(lc_tx *tx, const lc_session_ref *ref, lc_arena *arena,
                                  lc_session_use *out, loci_error *err);

/* Ends an open session for good by LC_SESSION_CLOSED, GONE_IDLE or SHUT_DOWN: deletes its working
 * set and updates `session` like its row. LOCI_ECONFLICT if the session is not open. */
loci_status lc_session_end(lc_tx *tx, lc_session *session, lc_session_move move, int64_t ended_at,
                           loci_error *err);

/* Ends idle sessions; lc_setting_session_idle_minutes is its limit. */
extern const lc_sweep lc_session_sweep;
/* Ends all open sessions, when their process ends. */
extern const lc_sweep lc_session_shutdown;

/* ---- Data about all sessions of (user, persona) ---------------------------------------------- */

typedef struct lc_session_record {
    int64_t message_count; /* User messages in all sessions. */
    int64_t last_at;       /* Time when the last of them was recorded; 0 = there is none. */
    loci_str last_message; /* Beginning of its text; none = there is none. */
} lc_session_record;
#define LC_LAST_MESSAGE_BYTES_MAX 200

loci_status lc_session_read_record(lc_tx *tx, loci_str persona_id, lc_arena *arena,
                                   lc_session_record *out, loci_error *err);

/* Begins the session and sets the identity of its user, once: a second time is LOCI_EFORBIDDEN,
 * and then nothing is written. `replaces`: this caller may replace an identity that is set. */
loci_status lc_session_identify(lc_tx *tx, lc_session_use *use, const lc_identity *identity,
                                bool replaces, loci_error *err);

/* ---- Messages -------------------------------------------------------------------------------- */

#define LC_MESSAGE_ROLES "user|assistant|tool|system"

typedef struct lc_message {
    loci_str id; /* msg_… */
    int64_t seq;
    loci_str session_id;
    loci_str role;    /* user, assistant, tool, system. */
    loci_str speaker; /* Name of the speaker as given by the caller; none = not given. */
    loci_str text;
    loci_str persona_id;  /* "" = shared by all personas. */
    loci_str external_id; /* The caller's own id for it; none = not given. */
    loci_str metadata;    /* JSON object as given; none = not given. */
    int64_t tokens;       /* Tokens of the text when it was appended; 0 = not counted. */
    bool is_estimated;    /* The count is an estimate. */
    int64_t observed_at;  /* When it was said; LOCI_AT_CLOCK = recorded_at, for a new one. */
    int64_t recorded_at;
    loci_str client; /* Program that appended it, a JSON object; set by lc_session_each_message()
                        only. */
} lc_message;

/* Appends to an open session; ignores id, seq and recorded_at of `message`. */
loci_status lc_session_append_message(lc_tx *tx, const lc_message *message, lc_id *out_id,
                                      int64_t *out_seq, loci_error *err);

/* Adds this message as "message_id" to the refs of the events that this body appends from now on. A
 * rewind uses it to find the events that were derived from a message. */
loci_status lc_session_carry_source(lc_tx *tx, loci_str message_id, loci_error *err);

/* Whether there is a message with this id that the persona sees. */
loci_status lc_session_has_message(lc_tx *tx, loci_str persona_id, loci_str id, bool *out,
                                   loci_error *err);

/* One message that the persona sees; LOCI_ENOTFOUND. Text lives in `arena`. */
loci_status lc_session_load_message(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                                    lc_message *out, loci_error *err);

/* The message that has used an external id. It may have been forgotten since. */
typedef struct lc_message_use {
    loci_str message_id;
    loci_str session_id;
    int64_t seq;
} lc_message_use;
/* Finds the use by the persona_id and external_id of `message`. Each persona has its own external
 * ids: equal ids of two personas do not conflict. */
loci_status lc_session_find_message_use(lc_tx *tx, const lc_message *message, lc_arena *arena,
                                        lc_message_use *out, bool *found, loci_error *err);

typedef loci_status lc_message_visit(void *ctx, const lc_message *message, loci_error *err);
typedef struct lc_message_page {
    loci_str session_id;
    loci_str persona_id; /* Messages of this persona and shared ones; none = shared only. */
    int64_t after_seq;
    int64_t before_seq; /* Exclusive end, for lc_session_each_last_message() only; 0 = no end. */
    int64_t limit;
} lc_message_page;
/* Visits the messages of a session in the order of recording; text is borrowed for the visit. */
loci_status lc_session_each_message(lc_tx *tx, const lc_message_page *page, lc_message_visit *visit,
                                    void *ctx, loci_error *err);

/* Visits the last messages, newest first, of one session, or of all sessions of the user if there
 * is no session_id. Ignores after_seq. */
loci_status lc_session_each_last_message(lc_tx *tx, const lc_message_page *page,
                                         lc_message_visit *visit, void *ctx, loci_error *err);

/* ---- Forgetting (recall/forget.h) ------------------------------------------------------------ */

/* A session to forget. If it is not whole, it has messages of another persona; those messages and
 * the session itself stay. */
typedef struct lc_session_oblivion {
    lc_session session;
    bool is_whole;
} lc_session_oblivion;

typedef struct lc_session_oblivions {
    lc_session_oblivion *items;
    size_t count;
} lc_session_oblivions;

/* Decides and collects into `f`; writes nothing. `ref` has an id, or a name: then all sessions that
 * ever had this name are forgotten. LOCI_ENOTFOUND if the persona sees no such session. */
loci_status lc_session_decide_forget(lc_tx *tx, const lc_session_ref *ref, lc_forgetting *f,
                                     lc_session_oblivions *out, loci_error *err);
loci_status lc_message_decide_forget(lc_tx *tx, loci_str persona_id, loci_str id, lc_forgetting *f,
                                     loci_error *err);
/* Append the events; the caller calls lc_forget_finish() next. */
loci_status lc_session_commit_forget(lc_tx *tx, loci_str persona_id,
                                     const lc_session_oblivions *oblivions, loci_error *err);
loci_status lc_message_commit_forget(lc_tx *tx, loci_str id, loci_error *err);

/* ---- Rewinding (recall/rewind.h) ------------------------------------------------------------- */

/* Finds the last message that stays; the caller calls lc_rewind_collect() next. LOCI_ENOTFOUND if
 * the persona sees no such message, or if it is not in the session that `ref` names. */
loci_status lc_session_decide_rewind(const lc_session_ref *ref, loci_str message_id, lc_rewind *r,
                                     loci_error *err);
/* Adds the later messages to the items of `r`. */
loci_status lc_session_list_rewind(lc_rewind *r, loci_error *err);
/* Appends session.rewound. */
loci_status lc_session_commit_rewind(lc_rewind *r, int64_t *out_seq, loci_error *err);

/* ---- Lists ----------------------------------------------------------------------------------- */

typedef loci_status lc_session_visit(void *ctx, const lc_session *session, loci_error *err);
typedef struct lc_session_page {
    loci_str persona_id;  /* As in lc_message_page. */
    loci_str external_id; /* Only sessions with this name; none = all. */
    int64_t before_seq;   /* Only sessions before this seq, newest first; INT64_MAX = all. */
    int64_t limit;
    int64_t idle_us;
} lc_session_page;
loci_status lc_session_each(lc_tx *tx, const lc_session_page *page, lc_session_visit *visit,
                            void *ctx, loci_error *err);
/* Whether `name` is the id of this session or the caller's own name for it. */
loci_status lc_session_is_named(lc_tx *tx, loci_str id, loci_str name, bool *out, loci_error *err);

/* {id, external_id?, persona_id?, state, opened_at, turn_count, last_activity, ended_at?,
 * end_reason?, metadata?, identity?} */
void lc_session_put(lc_json_writer *out, const lc_session *session);
void lc_identity_put(lc_json_writer *out, const lc_identity *identity);
void lc_message_put(lc_json_writer *out, const lc_message *message);

#endif /* LC_SESSION_SESSION_H */
