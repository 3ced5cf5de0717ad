/* probe_fixture.h - a store with a room made to be probed: every kind of column, events that can be
 * told to fail, and a clock that the test moves.
 *
 * Everything goes through lc_db_driver, so another driver can be put in probe_driver() and the same
 * tests say what it has to do.
 */
#ifndef TEST_CONTRACT_PROBE_FIXTURE_H
#define TEST_CONTRACT_PROBE_FIXTURE_H

#include "lib/test.h"

#include "base/clock.h"
#include "base/str.h"
#include "store/db.h"
#include "store/event.h"
#include "store/schema.h"

typedef struct probe {
    lc_env env;
    lc_db *db;
    loci_error err;
    int64_t now_us; /* The clock of this fixture, in env too. */
} probe;

#define PROBE_NOW_US INT64_C(1700000000000000)

/* `samples` (operational) holds every kind; `sayings` (projection) one row an event. */
extern const lc_room probe_room;
extern const lc_catalogue probe_catalogue;
/* Payloads are kept as they are: {"text":…}. A text that contains "refuse" makes apply fail after
 * it has written. */
extern const lc_event_type probe_said;
/* Version 3; an upcast wraps the payload twice, so that it grows: {"was":[payload,payload]}. */
extern const lc_event_type probe_grown;

const lc_db_driver *probe_driver(void);
const char *probe_path(void);

/* Opens `path`, creating it with its schema if need be; NULL = a new one. */
void probe_open(probe *p, const char *path);
/* The same without looking at the schema. */
void probe_open_bare(probe *p, const char *path);
void probe_close(probe *p);

/* A write of (tenant "t", `user`) now, to be given to lc_db_write(). "" = the store itself. */
lc_write probe_write_of(const probe *p, const char *user, lc_tx_body *body, void *ctx);
/* One write on its own. */
loci_status probe_write(probe *p, const char *user, lc_tx_body *body, void *ctx);
loci_status probe_read(probe *p, lc_tx_body *body, void *ctx);
/* Appends one probe.said. */
loci_status probe_say(lc_tx *tx, const char *text, int64_t *out_seq, loci_error *err);
/* A body for it: `ctx` is the text. */
loci_status probe_say_body(lc_tx *tx, void *ctx, loci_error *err);

/* What a statement without parameters answers, in a read of its own. */
int64_t probe_number(probe *p, const lc_sql *sql);
void probe_script(probe *p, const char *script);
/* Checks that the log of (t, user) is 1 … head without gaps and as long as `count`, and that every
 * event has its row. */
void probe_expect_log(probe *p, const char *user, int64_t count);

#endif /* TEST_CONTRACT_PROBE_FIXTURE_H */
