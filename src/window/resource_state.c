/* resource_state.c - see resource_state.h. The table is the only place that knows which moves
 * exist. */
#include "window/resource_state.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

#define UNKNOWN LC_RESOURCE_UNKNOWN
#define COLD LC_RESOURCE_COLD
#define LOADED LC_RESOURCE_LOADED
#define HOT LC_RESOURCE_HOT
#define INDEXED LC_RESOURCE_INDEXED
#define OFFLINE LC_RESOURCE_OFFLINE

static const struct {
    lc_resource_state from;
    lc_resource_move move;
    lc_resource_state to;
    const char *effect;
} moves[] = {
    {UNKNOWN, LC_RESOURCE_DISCOVER, COLD, "it has an id and a place in the window"},
    {COLD, LC_RESOURCE_PAGE_IN, LOADED, "its content is read, counted and summarised"},
    {INDEXED, LC_RESOURCE_PAGE_IN, LOADED, "its content or its summary is read"},
    {LOADED, LC_RESOURCE_PAGE_IN, LOADED, "it is read again; the mode may change"},
    {HOT, LC_RESOURCE_PAGE_IN, HOT, "it is read again; the mode may change"},
    {COLD, LC_RESOURCE_LOAD, LOADED, "as page_in, by the engine"},
    {INDEXED, LC_RESOURCE_LOAD, LOADED, "as page_in, by the engine"},
    {LOADED, LC_RESOURCE_LOAD, LOADED, "as page_in, by the engine"},
    {HOT, LC_RESOURCE_LOAD, HOT, "as page_in, by the engine"},
    {LOADED, LC_RESOURCE_PAGE_OUT, INDEXED, "its tokens are free; its summary stays"},
    {HOT, LC_RESOURCE_PAGE_OUT, INDEXED, "its tokens are free; its summary stays"},
    {LOADED, LC_RESOURCE_RAISE, HOT, "it is evicted after all others"},
    {HOT, LC_RESOURCE_LOWER, LOADED, "it may be evicted like others"},
    {INDEXED, LC_RESOURCE_STALE, COLD, "its summary is dropped"},
    {LOADED, LC_RESOURCE_STALE, LOADED, "it is marked as stale"},
    {HOT, LC_RESOURCE_STALE, HOT, "it is marked as stale"},
    {COLD, LC_RESOURCE_FAIL, OFFLINE, "reads answer `unavailable`"},
    {LOADED, LC_RESOURCE_FAIL, OFFLINE, "reads answer `unavailable`; its tokens are free"},
    {HOT, LC_RESOURCE_FAIL, OFFLINE, "reads answer `unavailable`; its tokens are free"},
    {INDEXED, LC_RESOURCE_FAIL, OFFLINE, "reads answer `unavailable`; its summary stays"},
    {OFFLINE, LC_RESOURCE_RESTORE, INDEXED, "its content is what the summary was made from"},
    {OFFLINE, LC_RESOURCE_RECOVER, COLD, "it can be read again; its summary is dropped"},
};

static const char *const state_helps[] = {
    [UNKNOWN] = "not discovered",
    [COLD] = "known, not read, or outdated",
    [LOADED] = "in the agent's context",
    [HOT] = "in the agent's context, with an attention above 1",
    [INDEXED] = "paged out; a summary is kept",
    [OFFLINE] = "its file or object cannot be read",
};

static const char *const move_names[] = {
    [LC_RESOURCE_DISCOVER] = "discover", [LC_RESOURCE_PAGE_IN] = "page_in",
    [LC_RESOURCE_LOAD] = "load",         [LC_RESOURCE_PAGE_OUT] = "page_out",
    [LC_RESOURCE_RAISE] = "raise",       [LC_RESOURCE_LOWER] = "lower",
    [LC_RESOURCE_STALE] = "stale",       [LC_RESOURCE_FAIL] = "fail",
    [LC_RESOURCE_RESTORE] = "restore",   [LC_RESOURCE_RECOVER] = "recover",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
_Static_assert(COUNT(state_helps) == LC_RESOURCE_STATES, "every state is described");
_Static_assert(COUNT(move_names) == LC_RESOURCE_MOVE_COUNT, "every move has its name");

const char *lc_resource_move_name(lc_resource_move move)
{
    LC_ASSERT(move < LC_RESOURCE_MOVE_COUNT);
    return move_names[move];
}

bool lc_resource_next(lc_resource_state state, lc_resource_move move, lc_resource_state *out)
{
    for (size_t i = 0; i < COUNT(moves); i++) {
        if (moves[i].from == state && moves[i].move == move) {
            *out = moves[i].to;
            return true;
        }
    }
    return false;
}

loci_status lc_resource_make_move(lc_resource_state *state, lc_resource_move move, loci_str id,
                                  loci_error *err)
{
    if (lc_resource_next(*state, move, state))
        return LOCI_OK;
    return lc_fail(err, LOCI_ECONFLICT, "resource %.*s is %s, which does not allow %s",
                   LC_STR_ARG(id), lc_resource_state_name(*state), move_names[move]);
}

static const char *region_of(lc_resource_state state)
{
    return state == UNKNOWN ? "—" : lc_resource_region_name(lc_resource_region_of(state));
}

void lc_resource_states_write(lc_buf *out)
{
    lc_buf_append(out, LC_STR("```mermaid\nstateDiagram-v2\n    [*] --> unknown\n"));
    for (size_t i = 0; i < COUNT(moves); i++)
        lc_buf_append_format(out, "    %s --> %s: %s\n", lc_resource_state_name(moves[i].from),
                             lc_resource_state_name(moves[i].to), move_names[moves[i].move]);
    lc_buf_append(out, LC_STR("```\n\n| state | symbol | region | meaning |\n|---|---|---|---|\n"));
    for (lc_resource_state state = 0; state < LC_RESOURCE_STATES; state++)
        lc_buf_append_format(out, "| %s | %s | %s | %s |\n", lc_resource_state_name(state),
                             lc_resource_state_symbol(state), region_of(state), state_helps[state]);
    lc_buf_append(out, LC_STR("\n| from | move | to | effect |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < COUNT(moves); i++)
        lc_buf_append_format(out, "| %s | %s | %s | %s |\n", lc_resource_state_name(moves[i].from),
                             move_names[moves[i].move], lc_resource_state_name(moves[i].to),
                             moves[i].effect);
}
