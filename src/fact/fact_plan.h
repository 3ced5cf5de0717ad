/* fact_plan.h - what deciding hands to committing. Only fact/ includes this. */
#ifndef LC_FACT_FACT_PLAN_H
#define LC_FACT_FACT_PLAN_H

#include "fact/fact_event.h"
#include "fact/fact_row.h"

struct lc_fact_plan {
    lc_fact_outcome outcome;
    lc_fact_written written; /* Without an id, until it is committed. */
    lc_fact same;            /* REPEATED, or a claim that was made before: what is answered. */
    bool is_written;         /* There is something to append. */
    loci_str first;          /* The first fact that it ends, or none. */
};

struct lc_fact_ending {
    lc_fact_retracted retracted;
    lc_fact fact; /* The first of them. */
};

/* Whether who writes may end that fact. */
typedef struct lc_fact_writer {
    lc_authority authority;
    loci_str trust;
    lc_fact_access access;
    int64_t now_us;
} lc_fact_writer;
bool lc_fact_may_end(const lc_fact_writer *writer, const lc_fact *fact);

/* A set of facts that end: ids, and those among them that depended on something, or that something
 * depends on. Room for `max` is taken at once. */
typedef struct lc_fact_ended {
    loci_str *ids, *unlink, *roots;
    size_t count, unlink_count, root_count;
} lc_fact_ended;
loci_status lc_fact_ended_init(lc_fact_ended *ended, size_t max, lc_arena *arena, loci_error *err);
void lc_fact_ended_add(lc_fact_ended *ended, const lc_fact *fact);

#endif /* LC_FACT_FACT_PLAN_H */
