/* render.h - answers as text for people: lists as tables or paragraphs, records as aligned names
 * and values, changes as one sentence (lc_look).
 *
 * On a terminal, lines fit its width, times are ages ("3 min ago"), and null or empty members are
 * omitted. In a pipe, tables are not padded and times are exact. Control characters are escaped
 * everywhere (terminal.h).
 */
#ifndef LC_CLI_RENDER_H
#define LC_CLI_RENDER_H

#include "base/json.h"
#include "cli/terminal.h"
#include "ops/op.h"

typedef struct lc_render_target {
    lc_arena *arena; /* Scratch memory; rewound at the end. */
    const lc_terminal *terminal;
    lc_buf *out;
    size_t indent;  /* Columns. */
    int64_t now_us; /* For ages. */
    /* The members to show, as the operation declares them. NULL = all. */
    const lc_record *record;
    const lc_look *look;
    const lc_json *args; /* Of the call, for sentences; may be NULL. */
    const char *columns; /* Instead of those of the look, "name value"; NULL = none given. */
    bool is_table;       /* Rows are a table even if they are texts, changes are not a sentence. */
    bool is_full;        /* All members, exact times. */
} lc_render_target;

void lc_render(const lc_render_target *target, const lc_json *value);

/* One value as the text of a cell: strings without quotes, true as yes, structures as JSON. */
void lc_render_cell(lc_buf *out, const lc_json *value);
/* Appends a value as JSON, with everything that controls a terminal escaped. */
void lc_render_json(lc_buf *out, const lc_json *value);
/* Appends how long ago that was: "just now", "3 min ago", "in 2 hours". */
void lc_render_age(lc_buf *out, int64_t age_us);
/* Appends words, wrapped at the terminal's width; lines behind the first begin at `indent`. */
void lc_render_words(const lc_render_target *target, lc_style style, loci_str text, size_t indent);

/* Whether a word of `list`, "name value", is `name`; false without a list. */
bool lc_render_is_listed(const char *list, loci_str name);
/* The member of a record with this name, in `out`; false if it has none. */
bool lc_render_find_member(const lc_record *record, loci_str name, lc_result *out);

#endif /* LC_CLI_RENDER_H */
