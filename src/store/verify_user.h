/* verify_user.h - one user's log against its projections; the inner part of verify. */
#ifndef LC_STORE_VERIFY_USER_H
#define LC_STORE_VERIFY_USER_H

#include "store/compare.h"
#include "store/event.h"
#include "store/problems.h"
#include "store/upkeep.h"
#include "store/user_walk.h"

typedef struct lc_verify_run {
    const lc_upkeep *upkeep;
    lc_problems *problems;
    lc_db *scratch;         /* Rows replayed. */
    int64_t scratch_events; /* Replayed into it since it was emptied. */
    lc_buf emptying;        /* `delete from …` for all its tables, terminated. */
    lc_buf upcast;
    lc_compare compare;
    int64_t events_done; /* Over all users. */
    int64_t events_total;
    /* The user at hand. */
    lc_user_walk user;
    char label[LC_USER_LABEL_BYTES];
    int64_t problems_before; /* What is added behind them can be taken back. */
    int64_t seq;             /* Replayed up to here, */
    int64_t recorded_at;
    bool is_damaged; /* and no further: its log has a hole or an event that does not apply. */
} lc_verify_run;

/* Everything about the user at hand, whose head was seen. */
loci_status lc_verify_user(lc_verify_run *run, loci_error *err);

#endif /* LC_STORE_VERIFY_USER_H */
