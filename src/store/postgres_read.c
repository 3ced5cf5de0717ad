/* postgres_read.c - reads on one snapshot, in one round trip when they ask once.
 *
 *     begin, gate, query ---> answer ... commit, sync ---> (looked at by the next transaction)
 *
 * The gate is a lock on `rebuild_heads` that keeps nobody out but the swap at the end of a rebuild,
 * and makes it wait. Without it a read whose snapshot is older than the swap would find the new
 * tables under the old names, and in them only the rows that its snapshot knows: the server looks
 * up names in the present and rows in the past. LOCK takes no snapshot, so a read that had to wait
 * sees everything the swap has done.
 */
#include "store/postgres.h"

#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"

static const lc_sql begin_sql = {"begin isolation level repeatable read read only", "", NULL};
static const lc_sql gate_sql = {"lock table rebuild_heads in access share mode", "", NULL};
static const lc_sql commit_sql = {"commit", "", NULL};
static const lc_sql rollback_sql = {"rollback", "", NULL};
static const lc_sql close_gate_sql = {"lock table rebuild_heads in access exclusive mode", "",
                                      NULL};

#define ROLL_BACK_US 2000000

void lc_pg_roll_back(lc_pg *db)
{
    loci_error failure = db->failure;
    lc_pg_remedy remedy = db->remedy;
    bool had_failed = db->has_failed;

    if (db->conn == NULL)
        return;
    if (db->deadline_us < lc_clock_monotonic_us() + ROLL_BACK_US)
        db->deadline_us = lc_clock_monotonic_us() + ROLL_BACK_US;
    /* A failure is over for the server behind a sync; a lost connection has rolled back by itself.
     */
    if (lc_pg_send_sync(db, NULL) == LOCI_OK)
        (void)lc_pg_drain(db, NULL);
    if (db->conn != NULL) {
        db->has_failed = false;
        if (lc_pg_send(db, &rollback_sql, false, NULL, LC_PG_CHANGES_ANY, NULL) == LOCI_OK &&
            lc_pg_send_sync(db, NULL) == LOCI_OK)
            (void)lc_pg_drain(db, NULL);
        else
            lc_pg_drop_connection(db); /* No memory: the server then rolls back by itself. */
    }
    if (had_failed) {
        db->failure = failure;
        db->remedy = db->conn == NULL ? LC_PG_LOST : remedy;
        db->has_failed = true;
    }
}

loci_status lc_pg_send_nothing(lc_pg *db, loci_error *err)
{
    loci_status status = lc_pg_send(db, &begin_sql, false, NULL, LC_PG_CHANGES_ANY, err);

    return status == LOCI_OK ? lc_pg_send(db, &rollback_sql, false, NULL, LC_PG_CHANGES_ANY, err)
                             : status;
}

static loci_status begin(lc_pg *db, loci_error *err)
{
    loci_status status = lc_pg_send(db, &begin_sql, false, NULL, LC_PG_CHANGES_ANY, err);

    /* Before the schema is known there may be no such table. */
    if (status == LOCI_OK && db->db.store_id[0] != '\0')
        status = lc_pg_send(db, &gate_sql, false, NULL, LC_PG_CHANGES_ANY, err);
    return status;
}

/* The answers are left for the next transaction, unless they cannot be asked for yet. */
static void end(lc_pg *db)
{
    if (db->has_failed) {
        lc_pg_roll_back(db);
        return;
    }
    if (lc_pg_send(db, &commit_sql, false, NULL, LC_PG_CHANGES_ANY, NULL) != LOCI_OK ||
        lc_pg_send_sync(db, NULL) != LOCI_OK)
        lc_pg_drop_connection(db);
    else if (db->pq.flush(db->conn) != 0)
        (void)lc_pg_drain(db, NULL);
}

loci_status lc_pg_read(lc_db *base, int64_t deadline_us, lc_tx_body *body, void *ctx,
                       loci_error *err)
{
    lc_pg *db = (lc_pg *)base;
    lc_tx tx = {.db = base, .now_us = lc_env_now_us(base->env)};
    int64_t longest_us = lc_clock_monotonic_us() + LC_READ_TX_MS_MAX * 1000;
    eventfd_t ignored;
    loci_status status;

    status = db->conn != NULL ? LOCI_OK : lc_pg_connect(db, longest_us, err);
    if (status != LOCI_OK)
        return status;
    (void)eventfd_read(db->wake_fd, &ignored); /* Of an interrupt that came too late. */
    db->has_failed = false;
    db->deadline_us = deadline_us < longest_us ? deadline_us : longest_us;
    db->is_executing = true;
    status = begin(db, err);
    if (status == LOCI_OK)
        status = body(&tx, ctx, err);
    db->is_executing = false;
    end(db);
    return status;
}

loci_status lc_pg_lock_readers(lc_tx *tx, loci_error *err)
{
    return lc_pg_send((lc_pg *)tx->db, &close_gate_sql, false, NULL, LC_PG_CHANGES_ANY, err);
}
