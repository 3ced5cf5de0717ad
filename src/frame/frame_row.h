/* frame_row.h - the events of frames, for the files of this room. */
#ifndef LC_FRAME_FRAME_ROW_H
#define LC_FRAME_FRAME_ROW_H

#include "frame/frame.h"

extern const lc_event_type lc_frame_pushed_event;
extern const lc_event_type lc_frame_updated_event;
extern const lc_event_type lc_frame_popped_event;
extern const lc_event_type lc_frame_handle_added_event;
extern const lc_event_type lc_frame_handle_removed_event;
extern const lc_event_type lc_frame_result_added_event;
extern const lc_event_type lc_frame_compacted_event;
extern const lc_event_type lc_frame_tool_begun_event;
extern const lc_event_type lc_frame_tool_ended_event;
extern const lc_event_type lc_frame_budget_reserved_event;
extern const lc_event_type lc_frame_budget_consumed_event;
extern const lc_event_type lc_frame_budget_released_event;
extern const lc_event_type lc_frame_budget_used_event;
extern const lc_event_type lc_frame_suspended_event;
extern const lc_event_type lc_frame_resumed_event;
extern const lc_event_type lc_frame_forgotten_event; /* frame_forget.c */
extern const lc_event_type lc_actor_resumed_event;   /* frame_resume.c */

/* One change: what it is, and the state of the frames afterwards. */
typedef struct lc_frame_change {
    const lc_event_type *type;
    lc_frame *frame;  /* Its touched_seq and updated_at are set. */
    lc_frame *parent; /* Changed together with it; NULL = none. */
    const lc_row_type *type_of_row;
    const void *row;                /* The record that is added or changed; NULL = none. */
    bool is_new;                    /* It is added. */
    loci_str id;                    /* Of a record that is changed; none = it has none. */
    int64_t call_seq;               /* Of a tool call that is changed; 0 = none. */
    int64_t suspension_seq;         /* Of a suspension that ends; 0 = none. */
    const lc_frame_handle *removed; /* Handles that are removed together; NULL = none. */
    size_t removed_count;
    loci_str strategy; /* By which they were chosen. */
} lc_frame_change;

/* Appends the event. `out_seq` may be NULL. */
loci_status lc_frame_append(lc_tx *tx, const lc_frame_change *change, int64_t *out_seq,
                            loci_error *err);

/* LOCI_ECONFLICT if the frame has ended. */
loci_status lc_frame_check_open(const lc_frame *frame, loci_error *err);
/* Changes the struct of a frame that loses a handle. */
loci_status lc_frame_take_out(lc_frame *frame, const lc_frame_handle *handle, lc_arena *arena,
                              loci_error *err);

#endif /* LC_FRAME_FRAME_ROW_H */
