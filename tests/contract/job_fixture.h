/* job_fixture.h - a store of one connection with a clock that the test moves, and effects to count.
 */
#ifndef TEST_CONTRACT_JOB_FIXTURE_H
#define TEST_CONTRACT_JOB_FIXTURE_H

#include "lib/test.h"

#include "base/str.h"
#include "store/job.h"

#define LEASE_MS 30000

typedef struct fixture {
    lc_env env;
    lc_db *db;
    lc_arena arena; /* Of the jobs that were claimed. */
    loci_error err;
} fixture;

/* The database's clock of all fixtures, µs, and the domain's. */
extern int64_t fixture_database_us;
extern int64_t fixture_domain_us;

/* A new store, or with `path` (from fixture_path()) another connection to it. */
void fixture_open(fixture *f, const char *path);
void fixture_close(fixture *f);
const char *fixture_path(void);

/* A write as (tenant "t", `user`); "" is the store itself. */
loci_status fixture_write(fixture *f, const char *user, lc_tx_body *body, void *ctx);
loci_status fixture_read(fixture *f, lc_tx_body *body, void *ctx);

/* Short forms; what fails fails the test, unless a status is returned. */
lc_id fixture_enqueue(fixture *f, const char *user, const lc_job_new *job);
lc_job fixture_claim(fixture *f);     /* Its id is none when there was none. */
lc_job fixture_claim_one(fixture *f); /* There must be one. */
lc_job fixture_load(fixture *f, const char *user, lc_id id);
loci_status fixture_hold(fixture *f, const lc_job *job);
loci_status fixture_finish(fixture *f, const lc_job *job);
loci_status fixture_return(fixture *f, const lc_job *job);
loci_status fixture_fail(fixture *f, const lc_job *job, loci_status cause, bool is_final);
loci_status fixture_cancel(fixture *f, const char *user, lc_id id);
void fixture_pass_ms(int64_t ms); /* Of the database's clock. */

/* A slice of a worker: holds the job, has the effect called `name`, says how far it is. */
loci_status fixture_slice(fixture *f, const lc_job *job, const char *name, const char *checkpoint);
/* The last one: effect and completion. */
loci_status fixture_last_slice(fixture *f, const lc_job *job, const char *name);
/* How often an effect was had. */
int64_t fixture_effects(fixture *f, const char *name);

/* For tests with an engine: a room with the table of effects, and the effect as a body. */
extern const lc_room fixture_room;
loci_status fixture_add_effect(lc_tx *tx, const char *name, loci_error *err);
loci_status fixture_count_effects(lc_tx *tx, const char *name, int64_t *out, loci_error *err);

#endif /* TEST_CONTRACT_JOB_FIXTURE_H */
