/* resource_state.h - the life cycle of a resource: its states, the moves between them, and the
 * table that allows them.
 *
 *     unknown --discover--> cold --page_in--> loaded <--raise/lower--> hot
 *     loaded, hot --page_out--> indexed --page_in--> loaded, --stale--> cold
 *     any but unknown --fail--> offline --restore--> indexed, --recover--> cold
 *
 * Every change of state goes through lc_resource_next(), so a move that is not in the table fails
 * at the place that tries it. A page_in of a resource with an attention above 1 is two moves:
 * page_in, then raise. docs/window.md has the diagram that `loci reference --states` makes from the
 * table.
 */
#ifndef LC_WINDOW_RESOURCE_STATE_H
#define LC_WINDOW_RESOURCE_STATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "window/kind.h"

typedef enum lc_resource_move {
    LC_RESOURCE_DISCOVER, /* It is added to the window. */
    LC_RESOURCE_PAGE_IN,  /* The agent reads its content or its summary. */
    LC_RESOURCE_LOAD,     /* The same, done by the engine when a session begins. */
    LC_RESOURCE_PAGE_OUT, /* It leaves the context; its summary stays. */
    LC_RESOURCE_RAISE,    /* Its attention becomes more than 1. */
    LC_RESOURCE_LOWER,    /* Its attention becomes 1 or less. */
    LC_RESOURCE_STALE,    /* Its content has changed since it was read. */
    LC_RESOURCE_FAIL,     /* Its content cannot be read. */
    LC_RESOURCE_RESTORE,  /* It can be read again, and its summary still fits. */
    LC_RESOURCE_RECOVER,  /* It can be read again, and has no summary that fits. */
    LC_RESOURCE_MOVE_COUNT
} lc_resource_move;

const char *lc_resource_move_name(lc_resource_move move);
/* In the agent's context. */
static inline bool lc_resource_is_active(lc_resource_state state)
{
    return state == LC_RESOURCE_LOADED || state == LC_RESOURCE_HOT;
}

/* The state that `move` leads to from `state`; false if there is no such move. */
bool lc_resource_next(lc_resource_state state, lc_resource_move move, lc_resource_state *out);
/* Makes the move; a move that is not in the table is LOCI_ECONFLICT and changes nothing. `id` is
 * the id of the resource, for the error message. */
loci_status lc_resource_make_move(lc_resource_state *state, lc_resource_move move, loci_str id,
                                  loci_error *err);

/* Appends the table as a Mermaid state diagram, and as a table in Markdown. */
void lc_resource_states_write(lc_buf *out);

#endif /* LC_WINDOW_RESOURCE_STATE_H */
