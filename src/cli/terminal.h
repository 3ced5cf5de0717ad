/* terminal.h - properties of the terminal, and the width and escaping of text on it. */
#ifndef LC_CLI_TERMINAL_H
#define LC_CLI_TERMINAL_H

#include "base/buf.h"

#include <stdbool.h>

typedef struct lc_terminal {
    bool is_terminal;
    bool has_color;
    size_t columns; /* 0 = not a terminal: lines are not cut. */
    size_t rows;    /* 0 = not known. */
} lc_terminal;

/* Colour only on a terminal, and not with NO_COLOR, TERM=dumb or `no_color`. */
lc_terminal lc_terminal_of(int descriptor, bool no_color);

typedef enum lc_style {
    LC_STYLE_PLAIN,
    LC_STYLE_HEADING, /* Bold. */
    LC_STYLE_FAINT,   /* Less important. */
    LC_STYLE_NAME,    /* Names of commands. */
    LC_STYLE_GOOD,
    LC_STYLE_WARNING,
    LC_STYLE_BAD
} lc_style;

/* Appends `text` in a style; unchanged without colour. */
void lc_terminal_append(const lc_terminal *terminal, lc_buf *out, lc_style style, loci_str text);

/* Width in columns: 2 for wide characters, 0 for combining ones. */
size_t lc_text_columns(loci_str text);
/* Bytes of the longest prefix that fits into `columns`. */
size_t lc_text_cut(loci_str text, size_t columns);
/* Bytes of the first line if `text` is wrapped at spaces into lines of `columns`; a word that is
 * longer than a line is cut. */
size_t lc_text_line(loci_str text, size_t columns);
/* The text behind such a line, without the spaces around it. */
loci_str lc_text_rest(loci_str text, size_t bytes);
/* Appends `text` with control and bidirectional formatting characters escaped (\n, \x1b, \u202e):
 * stored text must not be able to control the terminal. */
void lc_text_append_visible(lc_buf *out, loci_str text);

/* Appends `text`, whose first line begins in column `indent`, wrapped at spaces into lines of
 * `width` columns (0 = not wrapped) with `indent` spaces in front, and a line break. */
void lc_text_append_wrapped(lc_buf *out, loci_str text, size_t indent, size_t width);

#endif /* LC_CLI_TERMINAL_H */
