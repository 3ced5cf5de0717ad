/* fact_event.h - the event `fact.written`, between C and JSON. Only fact/ includes this. */
#ifndef LC_FACT_FACT_EVENT_H
#define LC_FACT_FACT_EVENT_H

#include "fact/fact.h"

/* refs: {id, supersedes?}. payload: {key, value, source?, persona_id?, observed_at}. */
void lc_fact_event_encode(const lc_fact *fact, lc_buf *refs, lc_buf *payload);
/* Reads it back; text lives in `arena` or in the event. Anything unexpected is LOCI_ECORRUPT. An
 * erased event has no payload: key and value are then empty and `null`. */
loci_status lc_fact_event_decode(const lc_event *event, lc_arena *arena, lc_fact *out,
                                 loci_error *err);

extern const lc_event_type lc_fact_written_event;

#endif /* LC_FACT_FACT_EVENT_H */
