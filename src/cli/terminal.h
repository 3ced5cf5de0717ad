/* terminal.h - what is on the other end of a descriptor, and text as it will look there. */
#ifndef LC_CLI_TERMINAL_H
#define LC_CLI_TERMINAL_H

#include "base/buf.h"

#include <stdbool.h>

typedef struct lc_terminal {
    bool is_terminal;
    bool has_color;
    size_t columns; /* 0 = not a terminal: nothing is cut. */
} lc_terminal;

/* Colour only on a terminal, and not with NO_COLOR, TERM=dumb or `no_color`. */
lc_terminal lc_terminal_of(int descriptor, bool no_color);

typedef enum lc_style {
    LC_STYLE_PLAIN,
    LC_STYLE_HEADING, /* Bold. */
    LC_STYLE_FAINT,   /* What the eye may skip. */
    LC_STYLE_NAME,    /* Names to type. */
    LC_STYLE_GOOD,
    LC_STYLE_WARNING,
    LC_STYLE_BAD
} lc_style;

/* Appends `text` in a style; unchanged where there is no colour. */
void lc_terminal_append(const lc_terminal *terminal, lc_buf *out, lc_style style, loci_str text);

/* Columns that valid text takes: wide characters count two, combining ones none. */
size_t lc_text_columns(loci_str text);
/* Bytes of the longest prefix that takes at most `columns`. */
size_t lc_text_cut(loci_str text, size_t columns);
/* Appends `text` with what would move the cursor, change colours or reorder characters written as
 * an escape (\n, \x1b, \u202e): stored text must not be able to act on the terminal. */
void lc_text_append_visible(lc_buf *out, loci_str text);

#endif /* LC_CLI_TERMINAL_H */
