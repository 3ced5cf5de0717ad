/* fact_event.h - the events of facts, between C and JSON. Only fact/ includes this. */
#ifndef LC_FACT_FACT_EVENT_H
#define LC_FACT_FACT_EVENT_H

#include "fact/fact.h"

/* fact.written: a new version, a late one, or a claim.
 *
 * refs {id, replaces?, supersedes?[], unlink?[], review?[], depends_on?[], claim?, contests?,
 * late_for?}. Version 1 had {id, supersedes?}, where supersedes was what `replaces` is now. */
typedef struct lc_fact_written {
    lc_fact fact;            /* supersedes and depends_on are made from the lists. */
    loci_str replaces;       /* The fact of its own slot whose place it takes, or none. */
    const lc_fact *replaced; /* That fact, from who has just read it; NULL = to be found. */
    lc_str_list supersedes;  /* Others that end with it. */
    lc_str_list unlink;      /* Those of both that depended on something. */
    lc_str_list review;      /* Facts that now need a review. */
    lc_str_list depends_on;
} lc_fact_written;

/* fact.retracted: refs {ids[], unlink?[], review?[]}, payload {reason?, restricted?}. */
typedef struct lc_fact_retracted {
    lc_str_list ids;
    lc_str_list unlink;
    lc_str_list review;
    loci_str reason;
    bool is_restricted; /* One of them was. */
} lc_fact_retracted;

void lc_fact_written_encode(const lc_fact_written *written, lc_buf *refs, lc_buf *payload);
void lc_fact_retracted_encode(const lc_fact_retracted *retracted, lc_buf *refs, lc_buf *payload);

/* Read them back; text lives in `arena` or in the event. Anything unexpected is LOCI_ECORRUPT. An
 * erased event has no payload: key and value are then "" and `null`. */
loci_status lc_fact_written_decode(const lc_event *event, lc_arena *arena, lc_fact_written *out,
                                   loci_error *err);
loci_status lc_fact_retracted_decode(const lc_event *event, lc_arena *arena, lc_fact_retracted *out,
                                     loci_error *err);

/* Of fact.written and fact.retracted. Errs on the side of hiding: a value with a member of such a
 * name counts too. */
bool lc_fact_event_is_restricted(const lc_event *event);

/* Fills fact.supersedes and fact.depends_on. */
loci_status lc_fact_written_complete(lc_fact_written *written, lc_arena *arena, loci_error *err);

/* user, capability or organizational, by the source of a fact. */
loci_str lc_fact_memory_type(loci_str source, bool is_constraint);

extern const lc_event_type lc_fact_written_event;
extern const lc_event_type lc_fact_retracted_event;
extern const lc_event_type lc_fact_reviewed_event; /* refs {id}: confirmed. */

extern lc_upcast *const lc_fact_written_upcasts[];

#endif /* LC_FACT_FACT_EVENT_H */
