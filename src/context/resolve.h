/* resolve.h - the text of an object of any room, for a resource of a window or a handle of a frame.
 */
#ifndef LC_CONTEXT_RESOLVE_H
#define LC_CONTEXT_RESOLVE_H

#include "base/arena.h"
#include "fact/fact.h"

/* Reads the object `id` (mem_…, msg_…, fact_…, sum_…, todo_…, or ses_… for the summary of a
 * session) as the persona sees it; its text lives in `arena`. Facts that only some readers may see
 * are not found: the window has no reader of its own. LOCI_ENOTFOUND; LOCI_EINVAL for an id of any
 * other kind. */
loci_status lc_context_resolve(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                               loci_str *out, loci_error *err);

/* Why a reference has no text. */
#define LC_UNRESOLVED_REASONS                                                                      \
    "not_found|no_text|superseded|retracted|expired|claim|archived|claimed"

typedef struct lc_resolved {
    loci_str text;      /* In the arena; none if there is a reason. */
    const char *reason; /* One of LC_UNRESOLVED_REASONS; NULL = the text was found. */
} lc_resolved;

/* Reads the object or URL that a handle refers to: in addition to those above a resource (res_…), a
 * frame (frm_…), or the handle of another frame (hdl_…). A URL is its own text. An object that is
 * gone or not valid any more is no error. */
loci_status lc_context_resolve_ref(lc_tx *tx, loci_str persona_id, loci_str ref, lc_arena *arena,
                                   lc_resolved *out, loci_error *err);

#endif /* LC_CONTEXT_RESOLVE_H */
