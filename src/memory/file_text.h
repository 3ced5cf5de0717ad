/* file_text.h - the texts of Anthropic's memory tool: paths, numbered lines, edits, directories.
 *
 * Computation only; file.h has the store. Successes and errors are worded exactly as the tool's
 * reference implementation words them, because models were trained on these sentences. An error is
 * at most LOCI_ERROR_MESSAGE_BYTES long and one line: a long old_str is quoted in part.
 */
#ifndef LC_MEMORY_FILE_TEXT_H
#define LC_MEMORY_FILE_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

#define LC_FILE_ROOT "/memories"

/* The one spelling of a path: below LC_FILE_ROOT, in NFC, without "." and "..", without empty names
 * and a slash at its end. LOCI_EINVAL for another root, a path that leaves the root, and one that
 * is too long or too deep. */
loci_status lc_file_path_make(lc_arena *arena, loci_str given, loci_str *out, loci_error *err);
/* Whether `path` is a name at or below the directory `above`. */
bool lc_file_path_is_within(loci_str path, loci_str above);

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Newlines separate lines: "a\n" has two, the second is empty. */
int64_t lc_file_line_count(loci_str content);
/* Lines `first` to `last`, counted from 1, as "     1\ttext", with newlines between them. */
void lc_file_put_lines(lc_buf *out, loci_str content, int64_t first, int64_t last);

/* ---- Edits ----------------------------------------------------------------------------------- */

/* `removed` bytes at `at` become `inserted`. */
typedef struct lc_file_edit {
    int64_t at;
    int64_t removed;
    loci_str inserted;
} lc_file_edit;

/* The edit that replaces the only occurrence of `old_str`; LOCI_ECONFLICT if there is none, or more
 * than one. `out_line` is the line where it begins. */
typedef struct lc_file_replacement {
    loci_str path; /* For messages. */
    loci_str old_str, new_str;
} lc_file_replacement;
loci_status lc_file_replace(loci_str content, const lc_file_replacement *what, lc_file_edit *out,
                            int64_t *out_line, loci_error *err);
/* The edit that puts `text` behind line `line`; one newline at the end of `text` is not a line of
 * its own. LOCI_EINVAL if the file has fewer lines. */
loci_status lc_file_insert(lc_arena *arena, loci_str content, int64_t line, loci_str text,
                           lc_file_edit *out, loci_error *err);
/* Whether the edit is within `content`. */
bool lc_file_edit_fits(loci_str content, const lc_file_edit *edit);
/* `content` with an edit that fits; none when out of memory. */
loci_str lc_file_edit_apply(lc_arena *arena, loci_str content, const lc_file_edit *edit);

/* ---- Directories ----------------------------------------------------------------------------- */

typedef struct lc_file_entry {
    loci_str path;
    int64_t size;
} lc_file_entry;

/* Sizes as `ls -h` shows them: 17B, 1.5K, 4K. */
void lc_file_put_size(lc_buf *out, int64_t bytes);
/* The directory at `path`, two levels deep, without hidden items and node_modules: one line for
 * each, sorted. `entries` are all files below it, in any order; they are sorted in place. */
void lc_file_put_directory(lc_buf *out, loci_str path, lc_file_entry *entries, size_t count);

#endif /* LC_MEMORY_FILE_TEXT_H */
