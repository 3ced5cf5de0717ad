/* sqlite_write.c - reads on a snapshot, and group commit.
 *
 * A group is as many queued bodies as fit (LC_WRITES_PER_COMMIT_MAX and the limits beside it), run
 * one after the other in one transaction and made durable by one fsync. Bodies have no savepoints,
 * which cost 5 to 12 % and spill to files. Instead a body decides before it writes, so that most
 * failures have written nothing and the group continues; when one fails after its first write, the
 * whole group is rolled back and each body is run again in a transaction of its own.
 *
 *     BEGIN IMMEDIATE   body   body   body(fails, clean)   body   COMMIT -> all but one durable
 *     BEGIN IMMEDIATE   body   body(fails, dirty)   ROLLBACK -> one by one
 *
 * Invariant: a write is answered LOCI_OK only after its COMMIT returned SQLITE_OK, and refused only
 * because of committed rows.
 */
#include "store/sqlite.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/histogram.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/event.h"

#define LOCK_SLICE_US 50000 /* How long one call waits for the write lock of another process. */

static void answer(lc_write *write, loci_status status)
{
    write->status = status;
    write->is_answered = true;
}

static void answer_from(lc_write *write, const loci_error *cause)
{
    write->error = *cause;
    answer(write, cause->status);
}

static loci_status begin(lc_sqlite *db, lc_sqlite_control control, loci_error *err)
{
    int code = lc_sqlite_run_control(db, control);

    return code == SQLITE_OK ? LOCI_OK : lc_sqlite_fail(db, code, err);
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static loci_status begin_write(lc_sqlite *db, loci_error *err)
{
    lc_sqlite_coalesce_wal(db);
    return begin(db, LC_SQLITE_BEGIN_IMMEDIATE, err);
}

static loci_status commit(lc_sqlite *db, lc_tx *tx, loci_error *err)
{
    loci_status status = lc_tx_flush_head(tx, err);
    int64_t began_us = lc_clock_monotonic_us();
    int code;

    if (status != LOCI_OK)
        return status;
    code = lc_sqlite_run_control(db, LC_SQLITE_COMMIT);
    if (db->db.commit_took != NULL)
        lc_histogram_add(db->db.commit_took, lc_clock_monotonic_us() - began_us);
    if (code == SQLITE_OK)
        return LOCI_OK;
    status = lc_sqlite_fail(db, code, err);
    /* After a failed write or sync the state of the disk is unknown: only a new connection, which
     * recovers from the WAL's checksums, may continue. */
    if ((code & 0xFF) == SQLITE_IOERR)
        db->is_broken = true;
    return status;
}

/* Points the transaction at the user of `write`. */
static loci_status turn_to(lc_tx *tx, const lc_write *write, loci_error *err)
{
    bool is_same = lc_str_eq(tx->user_id, write->user_id) &&
                   lc_str_eq(tx->tenant_id, write->tenant_id);
    loci_status status = is_same ? LOCI_OK : lc_tx_flush_head(tx, err);

    lc_tx_turn_to(tx, write);
    tx->wrote = status != LOCI_OK; /* The writes before this one need that head: run them again. */
    return status;
}

static loci_status run_body(lc_sqlite *db, lc_tx *tx, lc_write *write)
{
    loci_status status = turn_to(tx, write, &write->error);

    if (status == LOCI_OK)
        status = write->body(tx, write->ctx, &write->error);
    if (status != LOCI_OK && sqlite3_get_autocommit(db->handle) != 0)
        tx->wrote = true; /* SQLite rolled everything back by itself. */
    return status;
}

static bool is_late(const lc_write *write)
{
    return lc_clock_monotonic_us() >= write->deadline_us;
}

static void answer_late(lc_write *write)
{
    answer(write, lc_fail(&write->error, LOCI_EDEADLINE,
                          "the store was too busy to begin before the deadline"));
}

static void run_alone(lc_sqlite *db, lc_write *write)
{
    lc_tx tx = {.db = &db->db, .is_write = true};
    loci_status status;

    db->busy_deadline_us = write->deadline_us;
    status = begin_write(db, &write->error);
    if (status == LOCI_OK)
        status = run_body(db, &tx, write);
    if (status == LOCI_OK)
        status = commit(db, &tx, &write->error);
    if (status != LOCI_OK)
        lc_sqlite_roll_back(db);
    answer(write, status);
}

/* Waits for the write lock until the earliest deadline of the writes, but not so long that writes
 * queued behind this list would miss their own deadlines; writes that ran out of time are answered.
 * True when the transaction has begun. */
static bool begin_group(lc_sqlite *db, lc_write *first)
{
    loci_error err;
    loci_status status;

    db->busy_deadline_us = lc_clock_monotonic_us() + LOCK_SLICE_US;
    for (lc_write *write = first; write != NULL; write = write->next) {
        if (!write->is_answered && write->deadline_us < db->busy_deadline_us)
            db->busy_deadline_us = write->deadline_us;
    }
    status = begin_write(db, &err);
    if (status == LOCI_OK)
        return true;
    for (lc_write *write = first; write != NULL; write = write->next) {
        if (write->is_answered)
            continue;
        if (status != LOCI_EDEADLINE)
            answer_from(write, &err);
        else if (is_late(write))
            answer_late(write);
    }
    return false;
}

typedef struct group {
    size_t count;
    size_t bytes;
    int64_t began_us;
    bool is_spoilt; /* A body failed after it wrote. */
} group;

static bool is_full(const group *g, const lc_db *db)
{
    return g->count >= LC_WRITES_PER_COMMIT_MAX || g->bytes >= LC_WRITE_BYTES_PER_COMMIT_MAX ||
           lc_clock_monotonic_us() - g->began_us >= db->commit_us_max;
}

/* Runs bodies until the group is full or spoilt; the `status` of a write then says how its body
 * ended and awaits the commit: a refusal, too, may depend on rows that another body of the group
 * has written. Returns the first write that was not tried. */
static lc_write *run_bodies(lc_sqlite *db, lc_tx *tx, lc_write *first, group *g)
{
    lc_write *write = first;

    for (; write != NULL && !g->is_spoilt && (g->count == 0 || !is_full(g, &db->db));
         write = write->next) {
        if (write->is_answered)
            continue;
        if (is_late(write)) {
            answer_late(write);
            continue;
        }
        write->status = run_body(db, tx, write);
        g->count++;
        g->bytes += write->bytes;
        g->is_spoilt = write->status != LOCI_OK && tx->wrote;
    }
    return write;
}

void lc_sqlite_write(lc_db *base, lc_write *first)
{
    lc_sqlite *db = (lc_sqlite *)base;
    lc_tx tx = {.db = base, .is_write = true};
    group g = {.began_us = lc_clock_monotonic_us()};
    loci_error err;
    lc_write *end;

    err.status = LOCI_OK;
    if (db->is_broken)
        (void)lc_fail(&err, LOCI_EUNAVAILABLE,
                      "an earlier commit failed in the file system; open the store again");
    else
        (void)lc_sqlite_check_place(db, &err); /* `err` has the status. */
    if (err.status != LOCI_OK) {
        for (lc_write *write = first; write != NULL; write = write->next) {
            if (!write->is_answered)
                answer_from(write, &err);
        }
        return;
    }
    if (!begin_group(db, first))
        return;
    g.began_us = lc_clock_monotonic_us();
    end = run_bodies(db, &tx, first, &g);
    err.status = LOCI_OK;
    if (!g.is_spoilt)
        (void)commit(db, &tx, &err); /* `err` has the status. */
    if (g.is_spoilt || err.status != LOCI_OK)
        lc_sqlite_roll_back(db);
    for (lc_write *write = first; write != end; write = write->next) {
        if (write->is_answered)
            continue;
        if (g.is_spoilt)
            run_alone(db, write);
        else if (err.status != LOCI_OK)
            answer_from(write, &err);
        else
            answer(write, write->status);
    }
}

static loci_status run_read(lc_sqlite *db, int64_t deadline_us, lc_tx_body *body, void *ctx,
                            loci_error *err)
{
    lc_tx tx = {.db = &db->db, .now_us = lc_env_now_us(db->db.env)};
    int64_t longest_us = lc_clock_monotonic_us() + LC_READ_TX_MS_MAX * 1000;
    loci_status status;

    db->read_timed_out = false;
    tx.until_us = deadline_us < longest_us ? deadline_us : longest_us;
    db->read_deadline_us = tx.until_us;
    status = body(&tx, ctx, err);
    db->read_deadline_us = INT64_MAX;
    return status;
}

loci_status lc_sqlite_read(lc_db *base, int64_t deadline_us, lc_tx_body *body, void *ctx,
                           loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;
    loci_status status;

    db->busy_deadline_us = deadline_us;
    status = lc_sqlite_check_place(db, err);
    if (status == LOCI_OK)
        status = begin(db, LC_SQLITE_BEGIN, err);
    if (status != LOCI_OK)
        return status;
    status = run_read(db, deadline_us, body, ctx, err);
    /* There is nothing to commit, but a COMMIT costs half as much as a ROLLBACK. */
    if (status != LOCI_OK || lc_sqlite_run_control(db, LC_SQLITE_COMMIT) != SQLITE_OK)
        lc_sqlite_roll_back(db);
    return status;
}
