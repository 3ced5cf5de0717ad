/* compare.h - finds where two copies of one user's projections differ.
 *
 * Both are read in the order of the key, side by side: verify compares the stored rows with rows
 * replayed into another database, rebuild compares them with their shadows in the same one. In
 * steps, so that no snapshot is long; the caller makes sure that neither copy changes between the
 * steps of one comparison.
 */
#ifndef LC_STORE_COMPARE_H
#define LC_STORE_COMPARE_H

#include "store/dump.h"

#define LC_DIFFERENCE_BYTES 100

/* `what` says which row and how: "facts id=fact_01K…: value differs". No text of users. */
typedef void lc_difference(void *ctx, const lc_table *table, const char *what);

typedef struct lc_compare {
    const lc_dump_plan *plan;
    loci_str tenant_id; /* Borrowed until it is done. */
    loci_str user_id;
    lc_difference *differs;
    void *ctx;
    /* Where it stands. */
    size_t table_index;
    lc_dump_key after; /* Bound to the answers being read, so it stands still meanwhile. */
    lc_dump_key next;  /* The last row that was compared. */
    bool is_done;
    lc_buf stored_row;
    lc_buf replayed_row;
} lc_compare;

/* The caller sets plan, tenant_id, user_id, differs and ctx afterwards. */
void lc_compare_init(lc_compare *compare, lc_heap *heap);
void lc_compare_clear(lc_compare *compare);
/* Back to the first row. */
void lc_compare_restart(lc_compare *compare);

/* Compares some rows. `replayed` is another database's transaction, or the same as `stored`: then
 * its shadows are meant. */
loci_status lc_compare_step(lc_compare *compare, lc_tx *stored, lc_tx *replayed, loci_error *err);

#endif /* LC_STORE_COMPARE_H */
