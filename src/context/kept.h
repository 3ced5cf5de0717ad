/* kept.h - contexts that were handed to a model, kept for a while: which lines, and why.
 *
 * Of each line its id, section, tokens, reason and scores are kept, never its text or the query. So
 * a kept context can say later why a line was there and whether it is still true, and nothing has
 * to be erased from it but the ids: lc_table.forget_id deletes the lines of things that are
 * forgotten, and `line_count`, which stays, shows how many.
 *
 * The tables are operational: a context is derived from the state and its reader, and is no
 * knowledge of its own. A context expires after context.keep_hours; a user has at most LC_KEPT_MAX,
 * the oldest go first.
 */
#ifndef LC_CONTEXT_KEPT_H
#define LC_CONTEXT_KEPT_H

#include "base/setting.h"
#include "context/build.h"

#define LC_KEPT_MAX 100

extern const lc_room lc_context_room;
extern const lc_setting lc_setting_context_keep_hours;

typedef struct lc_kept_context {
    loci_str id; /* ctx_… */
    loci_str persona_id;
    loci_str session_id; /* Of the working set; none = none. */
    int64_t seq;         /* Last event that it was built from. */
    int64_t budget, tokens;
    loci_str model;         /* That it was built for; none = not told. */
    loci_str encoding;      /* Of all counts; LC_USAGE_ESTIMATED for estimates. */
    int64_t request_tokens; /* Of the text and, for the format messages, of the query. */
    int64_t line_count;
    int64_t created_at, expires_at;
} lc_kept_context;
extern const lc_row_type lc_kept_context_row;

typedef struct lc_kept_line {
    int64_t position;
    loci_str id;
    loci_str section;
    loci_str why;    /* LC_CONTEXT_WHYS; none = it is not in the text. */
    loci_str reason; /* Why it is not in the text; none = it is. */
    int64_t tokens;
    double score, words, meaning; /* 0 = it was not searched for. */
} lc_kept_line;
extern const lc_row_type lc_kept_line_row;

/* In the writer. Sets id, line_count, created_at and expires_at of `context`. */
loci_status lc_kept_add(lc_tx *tx, lc_kept_context *context, const lc_context_lines *lines,
                        int64_t keep_hours, lc_id *out_id, loci_error *err);

/* One that the persona sees and that has not expired; LOCI_ENOTFOUND. Text lives in the arena. */
loci_status lc_kept_find(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                         lc_kept_context *out, loci_error *err);

typedef struct lc_kept {
    lc_kept_context context;
    lc_kept_line *lines; /* Those of forgotten things are missing: fewer than line_count. */
    size_t count;
} lc_kept;

/* The same, with its lines. */
loci_status lc_kept_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_kept *out,
                         loci_error *err);

#endif /* LC_CONTEXT_KEPT_H */
