/* content.h - texts of frames, stored once per user and found by their hash.
 *
 * The text is in the log alone, in the event frame.content_stored; the projection frame_contents
 * says which event has it. A long text is compressed there. So a text that is the output of a tool,
 * the result of a frame and a handle of its parent costs its bytes once.
 */
#ifndef LC_FRAME_CONTENT_H
#define LC_FRAME_CONTENT_H

#include "base/arena.h"
#include "store/row.h"

#define LC_CONTENT_BYTES_MAX (768 * 1024) /* Escaped as JSON it must fit into an event. */
#define LC_CONTENT_HASH_BYTES 41          /* 160 bits of SHA-256 as digits, and a NUL. */

extern const lc_table lc_frame_contents_table;
extern const lc_event_type lc_frame_content_stored_event;
extern const lc_row_type lc_content_row;

typedef struct lc_content {
    loci_str text;
    int64_t tokens;
    char hash[LC_CONTENT_HASH_BYTES];
    loci_str deflated; /* Base64, in the arena; none = the text is stored as it is. */
} lc_content;

/* Hashes and compresses, which takes a while: outside a transaction. `text` must outlive `out`. */
loci_status lc_content_init(lc_content *out, loci_str text, int64_t tokens, lc_arena *arena,
                            loci_error *err);
/* Stores the text unless the user has it already. */
loci_status lc_content_store(lc_tx *tx, const lc_content *content, loci_error *err);
/* The text with this hash, in the arena. */
loci_status lc_content_load(lc_tx *tx, loci_str hash, lc_arena *arena, loci_str *out,
                            loci_error *err);

#endif /* LC_FRAME_CONTENT_H */
