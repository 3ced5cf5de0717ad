/* shell_words.h - splits a line into words as a POSIX shell does, without expanding anything: 'as
 * it is', "with \" and \\", and \ before any character. */
#ifndef LC_CLI_SHELL_WORDS_H
#define LC_CLI_SHELL_WORDS_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

#define LC_SHELL_WORDS_MAX 1024

typedef struct lc_shell_words {
    char **items; /* In the arena; ended by NULL. */
    size_t count;
    size_t last_start; /* Byte of the line at which the last word begins. */
    bool is_in_word;   /* The line ends within the last word, or in a quote of it. */
} lc_shell_words;

/* LOCI_EINVAL for a quote that is not closed (`out` is filled all the same), or a NUL byte.
 * LOCI_ELIMIT for too many words. */
loci_status lc_shell_words_split(lc_arena *arena, loci_str line, lc_shell_words *out,
                                 loci_error *err);

/* Appends `word` so that it is split into itself. */
void lc_shell_words_quote(lc_buf *out, loci_str word);

#endif /* LC_CLI_SHELL_WORDS_H */
