/* frame_material.h - everything that a pack of a frame can have in it, read from all rooms.
 *
 * A frame has handles with texts of their own and handles that refer to objects of other rooms; a
 * tool's output belongs to its call. Here they become segments: one per handle, with its text in
 * several forms, from full to one sentence. frame_pack.h chooses among them.
 *
 * Reading is bounded: full texts are kept up to the bytes that the budget could hold. A longer one
 * has only its short forms.
 */
#ifndef LC_CONTEXT_FRAME_MATERIAL_H
#define LC_CONTEXT_FRAME_MATERIAL_H

#include "frame/frame.h"
#include "pack/pack.h"

/* Forms of a text, the longest first. */
typedef enum lc_segment_form {
    LC_SEGMENT_FULL,
    LC_SEGMENT_TRIMMED,   /* Without white space that says nothing. */
    LC_SEGMENT_SHORTENED, /* Its first sentences. */
    LC_SEGMENT_GIST,      /* Its first sentence. */
    LC_SEGMENT_FORMS
} lc_segment_form;

/* A handle or result with its text. A tool's output has the call in its label, so a call and its
 * result are never separated. */
typedef struct lc_segment {
    lc_frame_handle handle;
    loci_str label;      /* Title, or the tool call; may be empty. */
    bool is_mandatory;   /* Critical, or included by the caller. */
    bool is_recent;      /* One of the last ones of the frame. */
    int64_t rank;        /* Place in the order of choosing. */
    const char *missing; /* Why it has no text (LC_UNRESOLVED_REASONS); NULL = it has one. */
    const char *dropped; /* excluded or duplicate; NULL = it can be in the pack. */
    /* Verbatim texts have one form, under all four indexes; `ptr` is NULL for a form that was not
     * kept. */
    loci_str texts[LC_SEGMENT_FORMS];
    /* For the packer: the block of each form, made when it is needed. */
    loci_str blocks[LC_SEGMENT_FORMS];
    int64_t tokens[LC_SEGMENT_FORMS];
    lc_segment_form form;
    lc_pack_item item;
} lc_segment;

typedef struct lc_frame_material {
    lc_frame frame;
    lc_frame_list above;  /* lc_frame_load_above(). */
    lc_segment *segments; /* Of the frame, oldest first; then included ones of frames above. */
    size_t count;
    lc_segment **order; /* All of them, in the order of choosing: priority, recency, id. */
    loci_str *unknown;  /* Ids to include that no frame of the stack has. */
    size_t unknown_count;
    loci_str brief; /* Goal, inputs, status and running tools, as lines. */
} lc_frame_material;

typedef struct lc_frame_material_request {
    loci_str persona_id;
    loci_str frame_id;
    lc_str_list include, exclude; /* Handle ids. */
    size_t bytes_max;             /* Of full texts that are not mandatory. */
    lc_arena *arena;              /* Everything lives in it. */
} lc_frame_material_request;

/* LOCI_ENOTFOUND; LOCI_EINVAL for a critical or included handle that is excluded; LOCI_ELIMIT if
 * mandatory texts are too long for any pack. */
loci_status lc_frame_material_read(lc_tx *tx, const lc_frame_material_request *request,
                                   lc_frame_material *out, loci_error *err);

#endif /* LC_CONTEXT_FRAME_MATERIAL_H */
