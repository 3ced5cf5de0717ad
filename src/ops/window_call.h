/* window_call.h - the window of a call: loading it, relieving it, and its pressure in answers. */
#ifndef LC_OPS_WINDOW_CALL_H
#define LC_OPS_WINDOW_CALL_H

#include "ops/op.h"
#include "window/source.h"
#include "window/window.h"

typedef struct lc_window_use {
    lc_window window;
    lc_resource_list evicted; /* By the engine, in this call. */
} lc_window_use;

/* The member `pressure` of every answer about a window, and of candidates in it. */
extern const lc_record lc_pressure_record;
extern const lc_record lc_evictable_record;
extern const lc_record lc_resource_record;
#define LC_PRESSURE_RESULT                                                                         \
    {                                                                                              \
        "pressure", 0, "Pressure of the window after the call", .record = &lc_pressure_record      \
    }

/* The window of the call's persona. In a write, first pages out by policy if the window has been
 * critical for too long. */
loci_status lc_call_load_window(lc_call *call, lc_tx *tx, lc_window_use *out, loci_error *err);
/* Writes the member `pressure`. */
loci_status lc_call_put_pressure(lc_call *call, lc_tx *tx, const lc_window_use *use,
                                 loci_error *err);
/* Writes an array of candidates with the reason of each. */
void lc_call_put_evictable(lc_json_writer *out, const char *name, const lc_window *window,
                           const lc_resource_list *list);
/* The warning and the next step under critical pressure, in the arena; none at other levels. */
loci_status lc_call_warn_of_pressure(lc_call *call, lc_tx *tx, const lc_window *window,
                                     loci_str *out, loci_error *err);

/* The tokenizer of windows. */
loci_status lc_call_tokenizer(lc_call *call, const lc_tokenizer **out, loci_error *err);
/* The reader of sources: tokenizer, roots of the tenant, deadline. */
loci_status lc_call_source_reader(lc_call *call, lc_source_reader *out, loci_error *err);

#endif /* LC_OPS_WINDOW_CALL_H */
