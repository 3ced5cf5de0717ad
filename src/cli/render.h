/* render.h - JSON as readable text: objects as aligned lists, arrays of objects as tables.
 *
 * Nulls are omitted; a table on a terminal is cut to its width, with a note. Control
 * characters are escaped (terminal.h).
 */
#ifndef LC_CLI_RENDER_H
#define LC_CLI_RENDER_H

#include "base/json.h"
#include "cli/terminal.h"

typedef struct lc_render_target {
    lc_arena *arena; /* Scratch memory; rewound at the end. */
    const lc_terminal *terminal;
    lc_buf *out;
    size_t indent; /* Columns. */
    /* Columns of a top-level table, in order: "name value help"; NULL = all. */
    const char *columns;
    /* Sections to omit, and members that are only shown if they are false: "memory counters"; NULL
     * = none. */
    const char *hidden;
    /* Columns of tables with numbers from 0 to 1 that are shown as bars; NULL = none. */
    const char *bars;
    /* Columns of tables with times that are shown as ages, "3 days ago"; NULL = none. */
    const char *ages;
    int64_t now_us; /* For ages. */
    /* Rows have a `text` to be read: on a terminal it is shown whole, below it the other columns in
     * one faint line. Elsewhere each row is one line of a table. */
    bool is_of_texts;
    /* A member whose text is the answer: it is printed as it is, without the other plain members.
     * NULL = none. */
    const char *text;
} lc_render_target;

void lc_render(const lc_render_target *target, const lc_json *value);

/* One value as the text of a cell: strings without quotes, true as yes, structures as JSON. */
void lc_render_cell(lc_buf *out, const lc_json *value);
/* Appends a value as JSON, with everything that controls a terminal escaped. */
void lc_render_json(lc_buf *out, const lc_json *value);

#endif /* LC_CLI_RENDER_H */
