/* bare_store.h - what loci is measured against: the statements of `fact.write`, or of
 * `session.append` with a user's message, in a plain SQLite loop.
 *
 * The same file layout (made by loci), the same pragmas, the same statements in the same order, the
 * same number of writes per commit; but one thread, values that are ready to bind, and nothing in
 * between. The difference to loci is the cost of everything else that loci does. A second loop
 * writes the rows alone, without the look-ups.
 */
#ifndef LC_BENCH_LIB_BARE_STORE_H
#define LC_BENCH_LIB_BARE_STORE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bare_plan {
    const char *store; /* An empty store, made by loci and closed. */
    int writes;
    double writes_per_commit; /* The average that loci had. */
    bool rows_only;           /* Only the rows that stay: no look-ups, no superseding. */
    bool with_request;        /* Each write has a request_id. */
    bool is_append;           /* Messages instead of facts; rows_only leaves out their counts. */
} bare_plan;

/* Seconds that the loop took. Any failure ends the process. */
double bare_store_run(const bare_plan *plan);

/* How many fsync and fdatasync calls this process has made so far. */
int64_t bare_store_syncs(void);

/* What every write is about, here and in loci: key and value of the nth. */
#define BENCH_SLOTS 1000
#define BENCH_KEY_FORMAT "slot-%04d"
#define BENCH_VALUE_FORMAT                                                                         \
    "\"%08d: the meeting with the architects was moved to Thursday, room 4; Ann brings the new "   \
    "drawings and wants the answer about the stairs before noon, by mail or phone\""

#endif /* LC_BENCH_LIB_BARE_STORE_H */
