/* window_row.h - the rows and events of the room, for its own files. */
#ifndef LC_WINDOW_WINDOW_ROW_H
#define LC_WINDOW_WINDOW_ROW_H

#include "window/window.h"

extern const lc_table lc_windows_table;
extern const lc_table lc_resources_table;
extern const lc_table lc_resource_texts_table;

extern const lc_event_type lc_window_set_event;
extern const lc_event_type lc_resource_discovered_event;
extern const lc_event_type lc_resource_changed_event;
extern const lc_event_type lc_resource_noted_event;
extern const lc_event_type lc_resource_linked_event;
extern const lc_event_type lc_resource_forgotten_event;

extern const lc_row_type lc_window_state_row;   /* lc_window: what resource events change. */
extern const lc_row_type lc_resource_state_row; /* lc_resource: what resource.changed sets, */
extern const lc_row_type lc_resource_notes_row; /* resource.noted, */
extern const lc_row_type lc_resource_links_row; /* and resource.linked. */

/* Writes the member `window` of the refs of an event: the state of the window after it. */
void lc_window_put_state(const lc_window *window, lc_json_writer *refs);
/* An event about one resource. */
typedef struct lc_resource_event {
    const lc_event_type *type;
    const lc_row_type *row;       /* The members that it has. */
    const lc_window *window;      /* Its state is part of the event; NULL = it is unchanged. */
    const lc_resource_note *note; /* NULL = none. */
} lc_resource_event;
loci_status lc_resource_append(lc_tx *tx, const lc_resource_event *event,
                               const lc_resource *resource, loci_error *err);
/* Sets the columns of indexes and the region from the others. */
void lc_resource_derive(lc_resource *resource);
/* Judges the pressure by the sums. `at` is the time of the event. */
void lc_window_judge(lc_window *window, int64_t at);

#endif /* LC_WINDOW_WINDOW_ROW_H */
