/* postgres_transaction.c - snapshots, commits whose outcome is known, and statistics. */
#include "store/postgres.h"

#include <stdio.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/grown.h"

/* ---- Reads ----------------------------------------------------------------------------------- */

/* Reads on one snapshot; a body with one query takes one round trip.
 *
 *     begin, gate, query ---> answer ... commit, sync ---> (read by the next transaction)
 *
 * The gate is a lock on `rebuild_heads` that conflicts only with the swap at the end of a rebuild,
 * and makes the swap wait. Without it a read whose snapshot is older than the swap would find the
 * new tables under the old names, and in them only the rows that its snapshot knows: the server
 * looks up names in the current catalogue and rows in the snapshot. LOCK takes no snapshot, so a
 * read that had to wait sees everything the swap has done.
 */

static const lc_sql begin_read_sql = {"begin isolation level repeatable read read only", "", NULL};
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
    /* Behind a Sync the server has left the failed state; a lost connection is rolled back by the
     * server. */
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
    loci_status status = lc_pg_send(db, &begin_read_sql, false, NULL, LC_PG_CHANGES_ANY, err);

    return status == LOCI_OK ? lc_pg_send(db, &rollback_sql, false, NULL, LC_PG_CHANGES_ANY, err)
                             : status;
}

static loci_status begin_read(lc_pg *db, loci_error *err)
{
    loci_status status = lc_pg_send(db, &begin_read_sql, false, NULL, LC_PG_CHANGES_ANY, err);

    /* Before the schema was opened the table may not exist. */
    if (status == LOCI_OK && db->db.store_id[0] != '\0')
        status = lc_pg_send(db, &gate_sql, false, NULL, LC_PG_CHANGES_ANY, err);
    return status;
}

/* The answers are read by the next transaction, unless they could not be requested yet. */
static void end_read(lc_pg *db)
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
    tx.until_us = deadline_us < longest_us ? deadline_us : longest_us;
    db->deadline_us = tx.until_us;
    db->is_executing = true;
    status = begin_read(db, err);
    if (status == LOCI_OK)
        status = body(&tx, ctx, err);
    db->is_executing = false;
    end_read(db);
    return status;
}

loci_status lc_pg_lock_readers(lc_tx *tx, loci_error *err)
{
    return lc_pg_send((lc_pg *)tx->db, &close_gate_sql, false, NULL, LC_PG_CHANGES_ANY, err);
}

/* ---- Commits --------------------------------------------------------------------------------- */

/* Commits whose outcome can be found out later.
 *
 * When a connection is lost between COMMIT and its answer, only the store knows whether it was
 * done. So every connection that writes has a row in `writers`, and each of its transactions begins
 * by raising `commits` there to the next number. A new connection finds out by locking that row: as
 * long as the lost transaction lives, even in a server process that was stopped and has not read
 * its COMMIT yet, it holds the lock; after the lock was granted, the number shows how it ended. The
 * row is committed before the first transaction that needs it, because another transaction cannot
 * wait for a row that is being inserted.
 *
 * The sum of these numbers shows a watcher whether a writer has committed. A commit and its number
 * become visible together, so while the sum is the same, nothing was committed that the watcher has
 * not seen. Neither a clock nor a sequence could guarantee that: both are read before the commit,
 * and commits overtake each other. The sum never decreases: a writer that ends adds its number to
 * the row '' in the statement that deletes its own, so that a writer that starts and ends between
 * two checks is noticed. One row for the numbers of all writers would be simpler still, but every
 * commit would wait for the previous one; only writers that end wait for the row ''.
 */

#define RECONNECT_US 2000000
#define RETRY_US 50000
#define MARK_US 1000000
#define GOODBYE_US 500000
#define NUMBERS_US 200000 /* The primary answers in less than a millisecond. */

#define NOW_US "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)"
#define HOUR_US "3600000000" /* Longer than the outcome of any commit is asked for. */
#define NO_ORIGIN "-"        /* No id begins with it. */

/* Behind "with gone as (delete from writers …": their numbers stay in the sum. */
#define KEEP_NUMBERS                                                                               \
    " returning commits) insert into writers (id, commits, seen_us)"                               \
    " select '', cast(sum(commits) as bigint), " NOW_US " from gone having count(*) > 0"           \
    " on conflict (id) do update set commits = writers.commits + excluded.commits,"                \
    " seen_us = excluded.seen_us returning commits"

static const lc_sql begin_write_sql = {"begin", "", NULL};
static const lc_sql add_sql = {"insert into writers (id, commits, seen_us) values ($1, 0, " NOW_US
                               ") returning commits",
                               "t", "i"};
/* Deletes rows of processes that died. A process that was only idle gets a new row. */
static const lc_sql purge_sql = {
    "with gone as (delete from writers where id <> '' and seen_us < " NOW_US
    " - " HOUR_US KEEP_NUMBERS,
    "", "i"};
static const lc_sql count_sql = {"update writers set commits = $2, seen_us = " NOW_US
                                 " where id = $1 returning commits",
                                 "ti", "i"};
static const lc_sql ask_sql = {"select commits from writers where id = $1 for update", "t", "i"};
static const lc_sql remove_sql = {"with gone as (delete from writers where id = $1" KEEP_NUMBERS,
                                  "t", "i"};
static const lc_sql mark_sql = {
    "select cast(coalesce(sum(commits), 0) as bigint) from writers where substr(id, 1, 16) <> $1",
    "t", "i"};
static const lc_sql numbers_sql = {
    "select id, commits, case when pg_is_in_recovery() then 1 else 0 end from writers order by id",
    "", "tii"};

loci_status lc_pg_set_up_store(lc_tx *tx, loci_error *err)
{
    loci_status status = lc_pg_run_script(tx,
                                          "create table writers (id text collate \"C\" primary key,"
                                          " commits bigint not null, seen_us bigint not null)"
                                          " with (fillfactor = 50)",
                                          err);

    return status == LOCI_OK ? lc_pg_add_growth(tx, err) : status;
}

static lc_arg own_id(const lc_pg *db)
{
    return LC_T(loci_str_of(db->writer_id));
}

/* Runs one statement in a transaction of its own; returns the number of rows and the first
 * number. */
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
    if (db->db.origin_id != 0)
        id[0] = db->db.origin_id;
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

/* False before the schema was opened: the tables may not exist. */
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
        status = lc_pg_send(db, &begin_write_sql, false, NULL, LC_PG_CHANGES_ANY, err);
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
        db->writer_id[0] = '\0'; /* Purged by another process: start with a new row. */
        (void)lc_fail(&cause, LOCI_EUNAVAILABLE, "the row of this writer is gone");
        (void)lc_pg_note(db, LC_PG_AGAIN, &cause);
        status = lc_pg_tell_failure(db, err);
    }
    db->pq.clear(result);
    return status;
}

static loci_status fail_unknown(lc_pg *db, const char *why, loci_error *err)
{
    /* It may still be committed, and would then have the number of the next one. */
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

/* LOCI_OK: it was committed. Otherwise db->remedy says whether to run it again. */
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

    /* The server does not know the expected number of rows and would commit anyway: so it is
     * checked here. */
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

/* ---- Growth ---------------------------------------------------------------------------------- */

/* Each event records the transaction that inserted it, in a column with a default, so that no
 * statement has to name it. A place is the text of a snapshot, `xmin:xmax:in progress, …`. An event
 * is new if the earlier snapshot does not see its transaction and this one does. That is exact in
 * whatever order transactions commit. The index is read at the transactions that were in progress
 * at the time of the earlier snapshot, and from the first one that had not begun: what committed
 * beside a transaction that takes hours is not read again and again.
 *
 * Numbers that pg_restore brought from another server mean nothing here. They are recognised by
 * `xmin`, the server's own record of the inserting transaction; an erased event has that of its
 * erasure. The index begins with the first event after the migration (`insert_no` > 0).
 *
 * Rejected: the same number in `heads`. An index on it makes every update of a head write all
 * indexes of the table (no HOT update), and a head does not show where the new events begin. */
#define GROWN_COLUMN "insert_no"

static const char grown_script[] =
    /* In two steps: a table is rewritten for a column with a default that is not constant. */
    "alter table events add column if not exists " GROWN_COLUMN " bigint not null default 0;"
    " alter table events alter column " GROWN_COLUMN " set default txid_current();"
    " create index if not exists events_insert_no on events (" GROWN_COLUMN ")"
    " where " GROWN_COLUMN " > 0";

loci_status lc_pg_add_growth(lc_tx *tx, loci_error *err)
{
    if (lc_catalogue_find_table(tx->db->catalogue, LC_STR("events")) == NULL)
        return LOCI_OK; /* A catalogue of a test's own. */
    return lc_pg_run_script(tx, grown_script, err);
}

#define NEW_EVENTS                                                                                 \
    "select tenant_id, user_id, seq from events where insert_no > 0 and seq > 0"                   \
    " and (is_erased = 1 or insert_no % 4294967296 = cast(cast(xmin as text) as bigint))"          \
    " and insert_no "

const lc_grown_sql lc_pg_grown_sql = {
    .place = {"select cast(txid_current_snapshot() as text)", "", "t"},
    .users = {"select tenant_id, user_id, min(seq), max(seq) from (" NEW_EVENTS
              ">= txid_snapshot_xmax(cast($1 as txid_snapshot))"
              " and insert_no < txid_snapshot_xmax(txid_current_snapshot())"
              " union all " NEW_EVENTS
              "= any(array(select txid_snapshot_xip(cast($1 as txid_snapshot))))) as fresh"
              " group by tenant_id, user_id limit $2",
              "ti", "ttii"}};

uint64_t lc_pg_change_mark(lc_db *base)
{
    lc_pg *db = (lc_pg *)base;
    char origin[17] = NO_ORIGIN;
    int rows = 0;
    int64_t sum = 0;

    if (db->conn == NULL)
        return 0; /* Looks like a change: the reader's next query then reports the failure. */
    if (base->origin_id != 0)
        (void)snprintf(origin, sizeof origin, "%016llx", (unsigned long long)base->origin_id);
    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + MARK_US;
    if (run_single(db, &mark_sql, (lc_arg[]){LC_T(loci_str_of(origin))}, &rows, &sum, NULL) !=
        LOCI_OK)
        return 0;
    return (uint64_t)sum + 1;
}

loci_status lc_pg_commit_numbers(lc_tx *tx, lc_commit_number *each, void *ctx, bool *out_is_replica,
                                 loci_error *err)
{
    lc_pg *db = (lc_pg *)tx->db;
    int64_t deadline_us = db->deadline_us, soon_us = lc_clock_monotonic_us() + NUMBERS_US;
    lc_rows rows = {0};
    loci_status status;

    *out_is_replica = false;
    if (soon_us < deadline_us)
        db->deadline_us = soon_us;
    status = lc_tx_query(tx, &numbers_sql, NULL, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        each(ctx, lc_rows_str(&rows, 0), lc_rows_i64(&rows, 1));
        *out_is_replica = lc_rows_i64(&rows, 2) != 0;
    }
    lc_rows_end(&rows);
    db->deadline_us = deadline_us;
    return status;
}

void lc_pg_say_goodbye(lc_pg *db)
{
    /* After a bug the state of the connection is unknown. */
    if (db->conn == NULL || db->is_executing)
        return;
    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + GOODBYE_US;
    if (db->writer_id[0] != '\0' &&
        lc_pg_send(db, &remove_sql, false, (lc_arg[]){own_id(db)}, LC_PG_ROWS, NULL) == LOCI_OK)
        (void)lc_pg_send_sync(db, NULL);
    (void)lc_pg_drain(db, NULL);
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Collects statistics (ANALYZE) while the tables are new.
 *
 * A table without statistics is taken to have 200 tenants with 200 users each; so the planner
 * expects any index that begins with the two to find one row, and may read all rows of a user to
 * find one by its id. Autovacuum analyzes new tables after a minute or so. Until then loci does, on
 * another connection: after a thousand statements that write, eight thousand, and so on, where
 * statistics are missing or outgrown; during a rebuild after 500 events, 2,000 and so on
 * (store/rebuild.c), between two slices. Later only autovacuum does.
 */

#define FIRST_EXECS 1000
#define LAST_EXECS 600000
#define GROWTH 8
#define ANALYZE_US 20000000

typedef struct script {
    lc_buf text;
    bool is_shadow;
    bool has_table;
} script;

static loci_status add_table(void *ctx, const lc_table *table, loci_error *err)
{
    script *s = ctx;

    (void)err;
    if (s->is_shadow && table->table_class != LC_TABLE_PROJECTION)
        return LOCI_OK;
    lc_buf_append_format(&s->text, "%s'%s%s'", s->has_table ? ", " : "", table->name,
                         s->is_shadow ? "__new" : "");
    s->has_table = true;
    return LOCI_OK;
}

/* Tables that were never analyzed, and those in which more rows have changed since than they had
 * then: with many processes on one store, the others find little to do. Of a divided table the
 * server counts the changes per partition. Best effort: it changes no answer. */
static void analyze(lc_pg *db, lc_tx *tx, bool is_shadow)
{
    script s = {.is_shadow = is_shadow};
    const char *text;

    lc_buf_init(&s.text, &db->db.env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    lc_buf_append(&s.text, LC_STR("do $do$ declare t name; begin for t in select c.relname"
                                  " from pg_class c left join pg_inherits i"
                                  " on i.inhparent = c.oid left join pg_stat_user_tables u"
                                  " on u.relid = coalesce(i.inhrelid, c.oid)"
                                  " where c.relnamespace = to_regnamespace(current_schema())"
                                  " and c.relname in ("));
    (void)lc_catalogue_each(db->db.catalogue, add_table, &s, NULL); /* Cannot fail. */
    lc_buf_append(&s.text, LC_STR(") group by c.relname, c.reltuples having c.reltuples <= 0"
                                  " or sum(u.n_mod_since_analyze) > c.reltuples"
                                  " loop execute format('analyze %I', t); end loop; end $do$"));
    text = lc_buf_terminate(&s.text);
    if (text != NULL && s.has_table)
        (void)lc_pg_run_script(tx, text, NULL);
    lc_buf_clear(&s.text);
}

static loci_status analyze_tables(lc_pg *db, bool is_shadow)
{
    lc_tx tx = {.db = &db->db, .is_write = true};

    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + ANALYZE_US;
    analyze(db, &tx, is_shadow);
    db->has_failed = false;
    return LOCI_OK;
}

loci_status lc_pg_analyze_shadows(lc_db *base, loci_error *err)
{
    (void)err;
    return analyze_tables((lc_pg *)base, true);
}

loci_status lc_pg_maintain(lc_db *base, loci_error *err)
{
    (void)err;
    return analyze_tables((lc_pg *)base, false);
}

/* ---- Scrubbing -------------------------------------------------------------------------------
 *
 * VACUUM FULL writes the tables again without deleted and overwritten rows. It locks each table
 * while it does, and waits for transactions that use it; but not for long, because all others would
 * wait behind it. The server's own log, its archives and replicas are not touched
 * (docs/forgetting.md).
 */

#define SCRUB_US (INT64_C(3600) * 1000000)
#define TABLE_BYTES 64

typedef struct vacuum {
    lc_tx *tx;
    lc_buf text;
} vacuum;

/* The copy of a table that is being divided (store/partition.h) has its dead rows, too. */
static loci_status add_vacuum(void *ctx, const lc_table *table, loci_error *err)
{
    vacuum *v = ctx;
    bool has_copy = false;
    loci_status status = LOCI_OK;
    char copy[TABLE_BYTES];

    if (table->is_store_wide)
        return LOCI_OK;
    (void)snprintf(copy, sizeof copy, "%s__copy", table->name);
    if (table->is_large)
        status = v->tx->db->driver->upkeep->has_table(v->tx, copy, &has_copy, err);
    lc_buf_append_format(&v->text, "%s %s", v->text.len == 0 ? "vacuum (full)" : ",", table->name);
    if (has_copy)
        lc_buf_append_format(&v->text, ", %s", copy);
    return status;
}

loci_status lc_pg_scrub(lc_db *base, loci_error *err)
{
    lc_pg *db = (lc_pg *)base;
    lc_tx tx = {.db = base, .is_write = true};
    vacuum v = {.tx = &tx};
    loci_status status;

    db->has_failed = false;
    db->deadline_us = lc_clock_monotonic_us() + SCRUB_US;
    lc_buf_init(&v.text, &base->env->heap, LOCI_MEM_ENGINE, LC_ARGS_BYTES_MAX);
    status = lc_catalogue_each(base->catalogue, add_vacuum, &v, err);
    if (status == LOCI_OK && lc_buf_terminate(&v.text) == NULL)
        status = lc_buf_status(&v.text, err);
    if (status == LOCI_OK)
        status = lc_pg_run_script(&tx, "set lock_timeout = '5s'", err);
    if (status == LOCI_OK) /* Outside a transaction, as VACUUM requires. */
        status = lc_pg_run_script(&tx, v.text.ptr, err);
    if (db->has_failed && db->remedy == LC_PG_AGAIN)
        status = lc_fail(err, LOCI_EUNAVAILABLE,
                         "a transaction is using the tables, so they cannot be rewritten; end it");
    lc_buf_clear(&v.text);
    return status;
}

void lc_pg_analyze_young(lc_pg *db)
{
    if (db->analyze_at == 0)
        db->analyze_at = FIRST_EXECS;
    if (db->exec_count < db->analyze_at || db->conn == NULL || db->db.store_id[0] == '\0')
        return;
    db->analyze_at = db->analyze_at >= LAST_EXECS ? INT64_MAX : db->analyze_at * GROWTH;
    if (db->db.is_maintained)
        db->db.wants_maintenance = true;
    else
        (void)analyze_tables(db, false);
}
