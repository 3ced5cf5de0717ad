/* frame_pack.h - packs a frame into a text for a model, within a budget of tokens.
 *
 * The pack has the brief of the frame (goal, inputs, status, running tools), the goals of the
 * frames above it, and its handles and results. Brief, critical and included handles are mandatory.
 * If not everything fits, levels of compaction are tried in order, and the first one is used at
 * which everything that it keeps fits:
 *
 *     none         full texts
 *     light        prose without white space that says nothing
 *     moderate     prose of handles older than the last 10: its first sentences
 *     aggressive   all prose that is not mandatory: its first sentence; handles of low and
 *                  background priority are dropped; of the rest, by priority, recency and id, as
 *                  many as fit
 *     critical     mandatory parts alone; of the frames above it the root and the parent, if they
 *                  fit
 *
 * Code and JSON are never shortened (pack/excerpt.h), mandatory texts only trimmed. Handles are
 * shown in the order of time. Each handle of the frame is in exactly one of segments, dropped and
 * missing. Nothing is written; the same state and the same input give the same bytes.
 */
#ifndef LC_CONTEXT_FRAME_PACK_H
#define LC_CONTEXT_FRAME_PACK_H

#include "base/json.h"
#include "frame/frame.h"
#include "pack/pack.h"

#define LC_COMPACTION_LEVELS "none|light|moderate|aggressive|critical"
#define LC_SEGMENT_FORM_CHOICES "full|trimmed|shortened"
#define LC_DROP_REASONS "excluded|duplicate|compaction|budget"

typedef enum lc_compaction {
    LC_COMPACTION_NONE,
    LC_COMPACTION_LIGHT,
    LC_COMPACTION_MODERATE,
    LC_COMPACTION_AGGRESSIVE,
    LC_COMPACTION_CRITICAL
} lc_compaction;

/* By its name, which is one of LC_COMPACTION_LEVELS. */
lc_compaction lc_compaction_of(loci_str name);

typedef struct lc_frame_pack_input {
    loci_str persona_id;
    loci_str frame_id;
    int64_t budget;               /* At most max_context_tokens of the frame is used of it. */
    lc_str_list include, exclude; /* Ids of handles. */
    lc_compaction min_level;
    lc_counter counter;
    bool is_estimated; /* The counter's numbers are estimates. */
    lc_arena *arena;
} lc_frame_pack_input;

/* Writes the members of the answer: metadata, brief, breadcrumbs, segments, text, tokens, dropped,
 * missing. LOCI_EBUDGET as the packer, and the errors of lc_frame_material_read(). */
loci_status lc_context_pack_frame(lc_tx *tx, const lc_frame_pack_input *input, lc_json_writer *out,
                                  loci_error *err);

/* One part of a pack, for a text that has more in it than the frame. */
typedef struct lc_frame_part {
    loci_str id; /* Of the handle; none = brief or breadcrumbs. */
    loci_str block;
    bool is_mandatory;
    int64_t rank;       /* Place in the order of choosing; 0 = before all handles. */
    const char *reason; /* Why it is not shown (LC_DROP_REASONS, LC_UNRESOLVED_REASONS); NULL = it
                           is. */
} lc_frame_part;

typedef struct lc_frame_parts {
    lc_frame_part *items; /* In the order of the text. */
    size_t count;
} lc_frame_parts;

/* The parts of the pack that the budget allows. If the mandatory ones do not fit, only they are
 * shown: the packer of the whole text decides. Errors of lc_frame_material_read(). */
loci_status lc_context_pack_parts(lc_tx *tx, const lc_frame_pack_input *input, lc_frame_parts *out,
                                  loci_error *err);

#endif /* LC_CONTEXT_FRAME_PACK_H */
