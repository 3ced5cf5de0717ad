/* postgres_commit.c - commits that can be asked for.
 *
 * When a connection is lost between COMMIT and its answer, only the store knows whether it was
 * done. So every connection that writes has a row in `writers`, and each of its transactions begins
 * by raising `commits` there to the next number. To ask is to lock that row: as long as the lost
 * transaction lives, even in a server process that was stopped and has not read its COMMIT yet, it
 * holds the lock; once the lock is had, the number says how it ended. The row is made, durably,
 * before the first transaction that needs it: a row that is being inserted cannot be waited for.
 *
 * The same numbers tell who watches that somebody has written: a commit and its number become
 * visible together, so whoever sees all numbers as they were has missed nothing. No clock and no
 * sequence could promise that: both are taken before the commit, and commits overtake each other.
 */
#include "store/postgres.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/str.h"

#define RECONNECT_US 2000000
#define RETRY_US 50000
#define MARK_US 5000000
#define GOODBYE_US 500000

#define NOW_US "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)"
#define WEEK_US "604800000000"

static const lc_sql begin_sql = {"begin", "", NULL};
static const lc_sql commit_sql = {"commit", "", NULL};
static const lc_sql add_sql = {"insert into writers (id, commits, seen_us) values ($1, 0, " NOW_US
                               ") returning commits",
                               "t", "i"};
/* Of processes that went away without a word. */
static const lc_sql purge_sql = {
    "delete from writers where seen_us < " NOW_US " - " WEEK_US " returning commits", "", "i"};
static const lc_sql count_sql = {"update writers set commits = $2, seen_us = " NOW_US
                                 " where id = $1 returning commits",
                                 "ti", "i"};
static const lc_sql ask_sql = {"select commits from writers where id = $1 for update", "t", "i"};
static const lc_sql remove_sql = {"delete from writers where id = $1", "t", NULL};
static const lc_sql mark_sql = {"select id, commits from writers order by id", "", "ti"};

loci_status lc_pg_set_up_store(lc_tx *tx, loci_error *err)
{
    return lc_pg_run_script(tx,
                            "create table writers (id text collate \"C\" primary key,"
                            " commits bigint not null, seen_us bigint not null)"
                            " with (fillfactor = 50)",
                            err);
}

static lc_arg own_id(const lc_pg *db)
{
    return LC_T(loci_str_of(db->writer_id));
}

/* One statement in a transaction of its own; how many rows it answered, and the first number. */
static loci_status run_single(lc_pg *db, const lc_sql *sql, const lc_arg *args, int *out_rows,
                              int64_t *out_value, loci_error *err)
{
    PGresult *result = NULL;
    loci_status status = lc_pg_ask(db, sql, args, &result, err);

    if (status == LOCI_OK) {
        *out_rows = db->pq.ntuples(result);
        *out_value = *out_rows > 0 ? lc_pg_value_i64(db, result, 0, 0) : 0;
    }
    db->pq.clear(result);
    if (db->conn != NULL && lc_pg_send_sync(db, NULL) == LOCI_OK) {
        loci_status ended = lc_pg_drain(db, status == LOCI_OK ? err : NULL);

        status = status == LOCI_OK ? ended : status;
    }
    return status;
}

static loci_status add_writer(lc_pg *db, loci_error *err)
{
    uint64_t id[2];
    int rows;
    int64_t value;
    loci_status status;

    if (!lc_random_secret(id, sizeof id))
        return lc_fail(err, LOCI_ERESOURCE, "the system has no randomness to give");
    if (db->db.told_as != 0)
        id[0] = db->db.told_as;
    (void)snprintf(db->writer_id, sizeof db->writer_id, "%016llx%016llx", (unsigned long long)id[0],
                   (unsigned long long)id[1]);
    status = run_single(db, &purge_sql, NULL, &rows, &value, err);
    if (status == LOCI_OK)
        status = run_single(db, &add_sql, (lc_arg[]){own_id(db)}, &rows, &value, err);
    if (status != LOCI_OK)
        db->writer_id[0] = '\0';
    db->commit_count = 0;
    return status;
}

/* Before that the tables may not be there. */
static bool is_counted(const lc_pg *db)
{
    return db->db.store_id[0] != '\0';
}

loci_status lc_pg_send_begin(lc_pg *db, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (is_counted(db) && db->writer_id[0] == '\0')
        status = add_writer(db, err);
    if (status == LOCI_OK)
        status = lc_pg_send(db, &begin_sql, false, NULL, LC_PG_CHANGES_ANY, err);
    if (status == LOCI_OK && is_counted(db))
        status = lc_pg_send(db, &count_sql, false,
                            (lc_arg[]){own_id(db), LC_I(db->commit_count + 1)}, LC_PG_ROWS, err);
    return status;
}

loci_status lc_pg_take_begin(lc_pg *db, loci_error *err)
{
    PGresult *result = NULL;
    loci_error cause;
    loci_status status = LOCI_OK;

    if (!is_counted(db))
        return LOCI_OK;
    status = lc_pg_take(db, &result, err);
    if (status == LOCI_OK && db->pq.ntuples(result) != 1) {
        db->writer_id[0] = '\0'; /* Somebody took it for dead: begin again with another. */
        (void)lc_fail(&cause, LOCI_EUNAVAILABLE, "the row of this writer is gone");
        (void)lc_pg_note(db, LC_PG_AGAIN, &cause);
        status = lc_pg_tell_failure(db, err);
    }
    db->pq.clear(result);
    return status;
}

static loci_status fail_unknown(lc_pg *db, const char *why, loci_error *err)
{
    /* It may be committed yet, and would be counted as the next one. */
    lc_pg_drop_connection(db);
    db->writer_id[0] = '\0';
    db->is_unknown = true;
    return lc_fail(err, LOCI_EUNAVAILABLE,
                   "the connection was lost during the commit, and whether it was done cannot be "
                   "found out (%s); repeat the call with the same request_id",
                   why);
}

/* True when the server has answered. */
static bool ask_for_commit(lc_pg *db, int64_t deadline_us, int *out_rows, int64_t *out_count)
{
    int64_t until_us = lc_clock_monotonic_us() + RECONNECT_US;

    if (db->conn == NULL &&
        lc_pg_connect(db, until_us < deadline_us ? until_us : deadline_us, NULL) != LOCI_OK)
        return false;
    db->has_failed = false;
    db->deadline_us = until_us;
    return run_single(db, &ask_sql, (lc_arg[]){own_id(db)}, out_rows, out_count, NULL) == LOCI_OK;
}

/* LOCI_OK: it was committed. Else the failure that stands says whether to run it again. */
static loci_status find_out(lc_pg *db, int64_t deadline_us, loci_error *err)
{
    int rows = 0;
    int64_t count = 0;
    loci_error cause;

    if (!is_counted(db))
        return fail_unknown(db, "the store is being made", err);
    while (!ask_for_commit(db, deadline_us, &rows, &count)) {
        if (lc_clock_monotonic_us() + RETRY_US >= deadline_us)
            return fail_unknown(db, "the server does not answer", err);
        lc_clock_sleep_us(RETRY_US);
    }
    if (rows == 1 && count == db->commit_count + 1)
        return LOCI_OK;
    if (rows != 1 || count != db->commit_count)
        return fail_unknown(db, "the store has been brought back from elsewhere", err);
    (void)lc_fail(&cause, LOCI_EUNAVAILABLE, "the connection to the PostgreSQL server was lost");
    db->has_failed = false;
    (void)lc_pg_note(db, LC_PG_AGAIN, &cause);
    return lc_pg_tell_failure(db, err);
}

loci_status lc_pg_end_commit(lc_pg *db, int64_t deadline_us, loci_error *err)
{
    loci_status status = LOCI_OK;

    /* The server does not know what we expect and would commit all the same: so it is looked at. */
    if (db->has_expectation)
        status = lc_pg_drain(db, err);
    if (status == LOCI_OK)
        status = lc_pg_send(db, &commit_sql, false, NULL, LC_PG_COMMIT, err);
    if (status != LOCI_OK)
        return status; /* It was not sent. */
    status = lc_pg_send_sync(db, err);
    if (status == LOCI_OK)
        status = lc_pg_drain(db, err);
    if (status != LOCI_OK && db->conn == NULL)
        status = find_out(db, deadline_us, err);
    if (status == LOCI_OK && is_counted(db))
        db->commit_count++;
    return status;
}

uint64_t lc_pg_change_mark(lc_db *base)
{
    lc_pg *db = (lc_pg *)base;
    lc_hash128 hash = {0};
    PGresult *result = NULL;

    char told[17];

    (void)snprintf(told, sizeof told, "%016llx", (unsigned long long)base->told_as);
    if (db->conn == NULL)
        return 0; /* Looks like a change: the reader then finds out. */
    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + MARK_US;
    if (lc_pg_ask(db, &mark_sql, NULL, &result, NULL) == LOCI_OK) {
        for (int i = 0; i < db->pq.ntuples(result); i++) {
            int64_t count = lc_pg_value_i64(db, result, i, 1);
            loci_str id = {db->pq.getvalue(result, i, 0), (size_t)db->pq.getlength(result, i, 0)};

            if (base->told_as != 0 && lc_str_starts(id, loci_str_of(told)))
                continue;
            hash = lc_hash128_chain(hash, id);
            hash = lc_hash128_chain(hash, (loci_str){(const char *)&count, sizeof count});
        }
    }
    db->pq.clear(result);
    if (lc_pg_send_sync(db, NULL) == LOCI_OK)
        (void)lc_pg_drain(db, NULL);
    return db->has_failed ? 0 : hash.low | 1;
}

void lc_pg_say_goodbye(lc_pg *db)
{
    /* After a bug nobody knows what the connection is in the middle of. */
    if (db->conn == NULL || db->is_executing)
        return;
    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + GOODBYE_US;
    if (db->writer_id[0] != '\0' && lc_pg_send(db, &remove_sql, false, (lc_arg[]){own_id(db)},
                                               LC_PG_CHANGES_ANY, NULL) == LOCI_OK)
        (void)lc_pg_send_sync(db, NULL);
    (void)lc_pg_drain(db, NULL);
}
