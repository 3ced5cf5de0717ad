/* render.h - JSON for people: objects as aligned lists, arrays of objects as tables.
 *
 * Nothing is left out but nulls; only a table on a terminal is cut to its width, and says so. Text
 * is made harmless (terminal.h) on the way.
 */
#ifndef LC_CLI_RENDER_H
#define LC_CLI_RENDER_H

#include "base/json.h"
#include "cli/terminal.h"

typedef struct lc_render_target {
    lc_arena *arena; /* For scratch; what is taken is given back. */
    const lc_terminal *terminal;
    lc_buf *out;
    size_t indent; /* Columns. */
    /* What a table of the first level shows, "name value help"; NULL = all there is. */
    const char *columns;
    /* Sections that are not shown, "memory counters"; NULL = none. */
    const char *hidden;
} lc_render_target;

void lc_render(const lc_render_target *target, const lc_json *value);

/* One value as it stands in a cell: text bare, true as yes, structures as JSON. */
void lc_render_cell(lc_buf *out, const lc_json *value);

#endif /* LC_CLI_RENDER_H */
