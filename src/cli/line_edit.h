/* line_edit.h - reads a line from a terminal with editing, history and completion.
 *
 * Keys are those of Emacs and the arrows; the line scrolls sideways if it is wider than the
 * terminal. Text is UTF-8, and the cursor moves by user-visible characters: a letter together with
 * its combining marks. Pasted text never runs by itself: its line breaks become spaces.
 */
#ifndef LC_CLI_LINE_EDIT_H
#define LC_CLI_LINE_EDIT_H

#include "base/arena.h"
#include "base/buf.h"

#define LC_LINE_BYTES_MAX (64u * 1024)
#define LC_COMPLETIONS_MAX 200

typedef struct lc_completions {
    lc_arena *arena;                    /* For the texts of `items`. */
    size_t start;                       /* Where the word that is completed begins in the line. */
    loci_str items[LC_COMPLETIONS_MAX]; /* The possible words, as the user would type them. */
    size_t count;
} lc_completions;

/* Fills `out` for a line whose text before the cursor is `before`. */
typedef void lc_complete_fn(void *ctx, loci_str before, lc_completions *out);
/* The entry `index` steps back in the history, 0 = the newest; ptr NULL = there is none. */
typedef loci_str lc_recall_fn(void *ctx, size_t index);

typedef struct lc_line_edit {
    lc_heap *heap;
    int in, out;           /* The terminal. */
    const char *prompt;    /* As it is written, with its colours, */
    size_t prompt_columns; /* and its width. */
    lc_complete_fn *complete;
    lc_recall_fn *recall;
    void *ctx;       /* Of both. */
    char typed[256]; /* Read and not used yet: the beginning of the next line. */
    size_t typed_count, typed_at;
} lc_line_edit;

typedef enum lc_edit_result {
    LC_EDIT_LINE,
    LC_EDIT_CANCELLED, /* Ctrl-C: forget the line. */
    LC_EDIT_END,       /* Ctrl-D on an empty line, or the terminal is gone. */
    LC_EDIT_FAILED     /* No terminal, or out of memory. */
} lc_edit_result;

/* Reads a line and appends it to `line`, which is empty and has a maximum of LC_LINE_BYTES_MAX. The
 * terminal is as before when it returns. */
lc_edit_result lc_line_edit_read(lc_line_edit *edit, lc_buf *line);

#endif /* LC_CLI_LINE_EDIT_H */
