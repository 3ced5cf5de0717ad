/* session_state.c - see session_state.h. The table is the only place that knows which moves exist.
 */
#include "session/session_state.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

static const struct {
    lc_session_state from;
    lc_session_move move;
    lc_session_state to;
} moves[] = {
    {LC_SESSION_LOADING, LC_SESSION_LOADED, LC_SESSION_BOOTSTRAP},
    {LC_SESSION_BOOTSTRAP, LC_SESSION_BEGUN, LC_SESSION_ACTIVE},
    {LC_SESSION_ACTIVE, LC_SESSION_FILLED, LC_SESSION_PRESSURE},
    {LC_SESSION_PRESSURE, LC_SESSION_RELIEVED, LC_SESSION_ACTIVE},
    {LC_SESSION_ACTIVE, LC_SESSION_CLOSED, LC_SESSION_PERSISTING},
    {LC_SESSION_ACTIVE, LC_SESSION_GONE_IDLE, LC_SESSION_PERSISTING},
    {LC_SESSION_ACTIVE, LC_SESSION_SHUT_DOWN, LC_SESSION_PERSISTING},
    {LC_SESSION_PRESSURE, LC_SESSION_CLOSED, LC_SESSION_PERSISTING},
    {LC_SESSION_PRESSURE, LC_SESSION_GONE_IDLE, LC_SESSION_PERSISTING},
    {LC_SESSION_PRESSURE, LC_SESSION_SHUT_DOWN, LC_SESSION_PERSISTING},
    {LC_SESSION_PERSISTING, LC_SESSION_PERSISTED, LC_SESSION_ENDED},
    /* Failures. If a session cannot be loaded, nothing of it is stored. If its bootstrap fails, it
     * becomes active without one: an agent can talk without knowing the earlier conversations. If
     * its summary cannot be made, the session ends without one. */
    {LC_SESSION_LOADING, LC_SESSION_FAILED, LC_SESSION_ENDED},
    {LC_SESSION_BOOTSTRAP, LC_SESSION_FAILED, LC_SESSION_ACTIVE},
    {LC_SESSION_PERSISTING, LC_SESSION_FAILED, LC_SESSION_ENDED},
};

static const char *const state_names[] = {
    [LC_SESSION_LOADING] = "loading",       [LC_SESSION_BOOTSTRAP] = "bootstrap",
    [LC_SESSION_ACTIVE] = "active",         [LC_SESSION_PRESSURE] = "active/pressure",
    [LC_SESSION_PERSISTING] = "persisting", [LC_SESSION_ENDED] = "ended",
};

static const char *const move_names[] = {
    [LC_SESSION_LOADED] = "loaded",      [LC_SESSION_BEGUN] = "begun",
    [LC_SESSION_FILLED] = "filled",      [LC_SESSION_RELIEVED] = "relieved",
    [LC_SESSION_CLOSED] = "closed",      [LC_SESSION_GONE_IDLE] = "idle",
    [LC_SESSION_SHUT_DOWN] = "shutdown", [LC_SESSION_PERSISTED] = "persisted",
    [LC_SESSION_FAILED] = "failed",
};

_Static_assert(sizeof state_names / sizeof state_names[0] == LC_SESSION_STATE_COUNT, "");
_Static_assert(sizeof move_names / sizeof move_names[0] == LC_SESSION_MOVE_COUNT, "");

bool lc_session_state_is_open(lc_session_state state)
{
    return state == LC_SESSION_ACTIVE || state == LC_SESSION_PRESSURE;
}

const char *lc_session_state_name(lc_session_state state)
{
    LC_ASSERT(state < LC_SESSION_STATE_COUNT);
    return state_names[state];
}

const char *lc_session_move_name(lc_session_move move)
{
    LC_ASSERT(move < LC_SESSION_MOVE_COUNT);
    return move_names[move];
}

bool lc_session_next(lc_session_state state, lc_session_move move, lc_session_state *out)
{
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        if (moves[i].from == state && moves[i].move == move) {
            *out = moves[i].to;
            return true;
        }
    }
    return false;
}

loci_status lc_session_make_move(lc_session_state *state, lc_session_move move, loci_str id,
                                 loci_error *err)
{
    if (lc_session_next(*state, move, state))
        return LOCI_OK;
    return lc_fail(err, LOCI_ECONFLICT, "session %.*s is %s and cannot become %s", LC_STR_ARG(id),
                   lc_session_state_name(*state), lc_session_move_name(move));
}
