/* drawing.h - lines for people, made piece by piece: no line is wider than the terminal, and stored
 * text cannot control it. Used for drawings of answers (window_draw.h, frame_draw.h).
 *
 *     lc_drawing d;
 *     lc_drawing_init(&d, terminal, out);
 *     lc_drawing_put(&d, LC_STYLE_PLAIN, goal, SIZE_MAX);
 *     lc_drawing_end_line(&d);
 *     lc_drawing_clear(&d);
 */
#ifndef LC_CLI_DRAWING_H
#define LC_CLI_DRAWING_H

#include "base/json.h"
#include "cli/terminal.h"

#define LC_DRAWING_COLUMNS 80 /* For layouts, without a terminal. */
#define LC_TOKENS_BYTES 24    /* Of lc_tokens_format(). */

typedef struct lc_drawing {
    const lc_terminal *terminal;
    lc_buf *out;
    lc_buf scratch; /* The visible form of one text. */
    size_t used;    /* Columns of the current line. */
} lc_drawing;

/* Errors of the buffers are those of `out`: check lc_buf_status() at the end. */
void lc_drawing_init(lc_drawing *drawing, const lc_terminal *terminal, lc_buf *out);
void lc_drawing_clear(lc_drawing *drawing);

/* Columns of the screen; LC_DRAWING_COLUMNS without a terminal, where lines have any length. */
size_t lc_drawing_columns(const lc_drawing *drawing);
/* Columns up to the right edge; SIZE_MAX without a terminal. */
size_t lc_drawing_columns_left(const lc_drawing *drawing);

/* Appends a text in at most `columns_max` columns, and not beyond the edge; a text that is cut ends
 * with an ellipsis. */
void lc_drawing_put(lc_drawing *drawing, lc_style style, loci_str text, size_t columns_max);
void lc_drawing_put_words(lc_drawing *drawing, lc_style style, const char *words);
/* Appends `count` times the same character of one column. */
void lc_drawing_repeat(lc_drawing *drawing, lc_style style, const char *character, size_t count);
void lc_drawing_pad(lc_drawing *drawing, size_t columns);
/* Ends a line, without spaces before its end. */
void lc_drawing_end_line(lc_drawing *drawing);

/* 910, 1.2K, 8K, 42K, 3M */
const char *lc_tokens_format(int64_t tokens, char out[LC_TOKENS_BYTES]);

/* Members of an answer: what is missing is empty. */
loci_str lc_member_str(const lc_json *object, const char *name);
int64_t lc_member_int(const lc_json *object, const char *name);
/* The first element of a list, or NULL. */
const lc_json *lc_member_list(const lc_json *object, const char *name);

#endif /* LC_CLI_DRAWING_H */
