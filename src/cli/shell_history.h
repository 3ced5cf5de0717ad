/* shell_history.h - earlier lines of `loci shell`: in memory, and in a file of mode 0600 in the
 * user's state directory (loci/shell_history in XDG_STATE_HOME or ~/.local/state).
 *
 * Each line is appended at once, so several shells can share the file, and one that is killed loses
 * nothing. Without a state directory the history lasts as long as the shell. Not kept: lines with a
 * secret (text/secret.h), lines that begin with a space, long ones, and repeats of the line before.
 */
#ifndef LC_CLI_SHELL_HISTORY_H
#define LC_CLI_SHELL_HISTORY_H

#include "base/arena.h"

#define LC_HISTORY_LINES_MAX 1000
#define LC_HISTORY_LINE_BYTES_MAX 4096

typedef struct lc_history {
    lc_heap *heap;
    char path[4096];                      /* "" = no file. */
    loci_str lines[LC_HISTORY_LINES_MAX]; /* A ring. */
    size_t first, count;
} lc_history;

/* Reads the file. A zeroed history is valid and has no file. */
void lc_history_open(lc_history *history, lc_heap *heap);
void lc_history_clear(lc_history *history);
/* Adds a line, to the file, too. */
void lc_history_add(lc_history *history, loci_str line);
/* The line `index` steps back, 0 = the newest; ptr NULL = there is none. */
loci_str lc_history_at(const lc_history *history, size_t index);

#endif /* LC_CLI_SHELL_HISTORY_H */
