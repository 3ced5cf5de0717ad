/* frame_compact.h - makes the handles of a frame fewer or shorter, for good.
 *
 * A pack (context/frame_pack.h) shortens what it shows and leaves the frame as it is. Compacting
 * changes the frame: it removes handles, and one strategy adds a summary of them. Critical handles
 * and results always stay. The texts stay in the log until the tree is forgotten.
 */
#ifndef LC_FRAME_FRAME_COMPACT_H
#define LC_FRAME_FRAME_COMPACT_H

#include "frame/frame.h"
#include "pack/pack.h"

#define LC_COMPACT_STRATEGIES "priority|summarize_oldest|truncate_at"
#define LC_COMPACT_RECENT 10 /* Handles that summarize_oldest leaves alone. */

typedef struct lc_frame_compaction {
    loci_str strategy;     /* One of LC_COMPACT_STRATEGIES. */
    int64_t budget;        /* Tokens that handles may have; LC_FRAME_NO_LIMIT = not limited. */
    int64_t message_count; /* truncate_at: handles that stay. */
    lc_counter counter;    /* For the summary. */
} lc_frame_compaction;

typedef struct lc_frame_compacted {
    int64_t original_tokens, final_tokens; /* Of the texts of all handles. */
    lc_frame_handle *removed;              /* Oldest first. */
    size_t removed_count;
    size_t summarized_count; /* Those of them that are in the summary. */
    loci_str summary_id;     /* The new handle; none = none. */
    bool is_reached; /* The budget is kept and, for truncate_at, no more handles are left than were
                        asked for. */
} lc_frame_compacted;

/* Appends frame.compacted, and adds the summary; nothing if there is nothing to remove.
 *
 *     priority          removes the handles of the lowest priority, the oldest first, until the
 *                       budget is kept; those without a text of their own are not removed
 *     summarize_oldest  replaces prose of handles older than the last 10 by one handle with the
 *                       first sentence of each; code and references stay
 *     truncate_at       removes all but the last `message_count` handles
 *
 * LOCI_ECONFLICT if the frame has ended. */
loci_status lc_frame_compact(lc_tx *tx, lc_frame *frame, const lc_frame_compaction *compaction,
                             lc_arena *arena, lc_frame_compacted *out, loci_error *err);

#endif /* LC_FRAME_FRAME_COMPACT_H */
