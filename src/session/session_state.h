/* session_state.h - the life cycle of a session: its states, the moves between them, and the table
 * that allows them.
 *
 *     loading -> bootstrap -> active <-> active/pressure -> persisting -> ended
 *
 * A session passes `loading` and `bootstrap` within the call that opens it, which collects the
 * known data and returns it. It passes `persisting` within the call that ends it: that call
 * enqueues the job of its summary, and `session_summary` of the next session is "pending" until the
 * job is done. `active/pressure` is the state of an active session whose window is full; the row of
 * such a session has the state `active`.
 *
 * Every change of state goes through lc_session_next(), so a move that is not in the table fails at
 * the place that tries it.
 */
#ifndef LC_SESSION_SESSION_STATE_H
#define LC_SESSION_SESSION_STATE_H

#include <stdbool.h>

#include "loci.h"

/* In the order of the life cycle; LC_SESSION_STATES has their names in the same order. */
typedef enum lc_session_state {
    LC_SESSION_LOADING,
    LC_SESSION_BOOTSTRAP,
    LC_SESSION_ACTIVE,
    LC_SESSION_PRESSURE,
    LC_SESSION_PERSISTING,
    LC_SESSION_ENDED,
    LC_SESSION_STATE_COUNT
} lc_session_state;
#define LC_SESSION_STATES "loading|bootstrap|active|active/pressure|persisting|ended"

typedef enum lc_session_move {
    LC_SESSION_LOADED,    /* The data that the session begins with was found. */
    LC_SESSION_BEGUN,     /* The caller gets the session and may append messages. */
    LC_SESSION_FILLED,    /* The window has reached a level of pressure. */
    LC_SESSION_RELIEVED,  /* The window is below it again. */
    LC_SESSION_CLOSED,    /* Ended by a call. */
    LC_SESSION_GONE_IDLE, /* Ended because nothing was written for too long. */
    LC_SESSION_SHUT_DOWN, /* Ended because its process ends. */
    LC_SESSION_PERSISTED, /* Its summary is enqueued, or there is none to make. */
    LC_SESSION_FAILED,    /* The work of the current state failed. */
    LC_SESSION_MOVE_COUNT
} lc_session_move;

/* Open: messages can be appended. */
bool lc_session_state_is_open(lc_session_state state);
const char *lc_session_state_name(lc_session_state state);
const char *lc_session_move_name(lc_session_move move);

/* The state that `move` leads to from `state`; false if there is no such move. */
bool lc_session_next(lc_session_state state, lc_session_move move, lc_session_state *out);
/* Makes the move; a move that is not in the table is LOCI_ECONFLICT and changes nothing. `id` is
 * the id of the session, for the error message. */
loci_status lc_session_make_move(lc_session_state *state, lc_session_move move, loci_str id,
                                 loci_error *err);

#endif /* LC_SESSION_SESSION_STATE_H */
