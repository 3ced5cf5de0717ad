/* sweep.h - everything the public API can do, with one thing going wrong at a time.
 *
 * For every operation of the table, with its example's arguments on a small store: the first access
 * fails, then the second, and so on until a run meets no fault. Each must answer a status that such
 * a fault may cause, with a message, and have changed nothing; or succeed all the same. Afterwards
 * the log equals the projections, the engine goes on working, and nothing is leaked. The same for
 * opening and for batches.
 */
#ifndef LC_TESTS_FAULT_SWEEP_H
#define LC_TESTS_FAULT_SWEEP_H

#include "engine/engine.h"
#include "lib/test.h"

typedef struct sweep {
    const char *what; /* For messages: "allocation". */
    void (*arm)(uint64_t nth);
    bool (*disarm)(void); /* Whether something was failed. */
    bool (*is_fair)(loci_status status);
    const lc_db_driver *driver; /* NULL = the usual. */
    uint64_t dense_until;       /* Beyond it only some are tried; 0 = all are. */
} sweep;

void sweep_operations(const sweep *s);
void sweep_batches(const sweep *s);
void sweep_opening(const sweep *s);

#endif /* LC_TESTS_FAULT_SWEEP_H */
