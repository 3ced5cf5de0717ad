/* faulty_store.c - Connections are SQLite's own with the driver's table exchanged, so that
 * everything that goes through `db->driver` passes here first. */
#include "lib/faulty_store.h"

#include <pthread.h>

#include "base/error.h"
#include "store/db_upkeep.h"
#include "store/sqlite.h"

static struct {
    pthread_mutex_t lock;
    uint64_t calls;
    uint64_t fail_at; /* 0 = never. */
    loci_status status;
    bool was_injected;
    const char *failed_call;
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER, .failed_call = ""};

static const lc_db_driver faulty_driver;

/* LOCI_OK when the call is to be made. */
static loci_status meet(const char *call, loci_error *err)
{
    loci_status status = LOCI_OK;

    pthread_mutex_lock(&faults.lock);
    if (faults.fail_at != 0 && ++faults.calls == faults.fail_at) {
        status = faults.status;
        faults.was_injected = true;
        faults.failed_call = call;
    }
    pthread_mutex_unlock(&faults.lock);
    return status == LOCI_OK ? LOCI_OK : lc_fail(err, status, "injected into %s", call);
}

void test_store_fail_nth(uint64_t nth, loci_status status)
{
    pthread_mutex_lock(&faults.lock);
    faults.calls = 0;
    faults.fail_at = nth;
    faults.status = status;
    faults.was_injected = false;
    faults.failed_call = "";
    pthread_mutex_unlock(&faults.lock);
}

bool test_store_disarm(void)
{
    bool was_injected;

    pthread_mutex_lock(&faults.lock);
    faults.fail_at = 0;
    was_injected = faults.was_injected;
    faults.was_injected = false;
    pthread_mutex_unlock(&faults.lock);
    return was_injected;
}

const char *test_store_failed_call(void)
{
    const char *call;

    pthread_mutex_lock(&faults.lock);
    call = faults.failed_call;
    pthread_mutex_unlock(&faults.lock);
    return call;
}

static loci_status open_store(lc_env *env, const lc_catalogue *catalogue,
                              const lc_db_target *target, lc_db **out, loci_error *err)
{
    loci_status status = meet("open", err);

    if (status == LOCI_OK)
        status = lc_sqlite_driver.open(env, catalogue, target, out, err);
    if (status == LOCI_OK)
        (*out)->driver = &faulty_driver;
    return status;
}

static loci_status open_scratch(lc_env *env, const lc_catalogue *catalogue, lc_db **out,
                                loci_error *err)
{
    loci_status status = meet("open_scratch", err);

    if (status == LOCI_OK)
        status = lc_sqlite_driver.upkeep->open_scratch(env, catalogue, out, err);
    if (status == LOCI_OK)
        (*out)->driver = &faulty_driver;
    return status;
}

static void close_store(lc_db *db)
{
    lc_sqlite_driver.close(db);
}

static loci_status set_durability(lc_db *db, bool is_relaxed, loci_error *err)
{
    loci_status status = meet("set_durability", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.set_durability(db, is_relaxed, err);
}

static loci_status exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                        loci_error *err)
{
    loci_status status = meet("exec", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.exec(tx, sql, args, expect, err);
}

static loci_status query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                         loci_error *err)
{
    loci_status status = meet("query", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.query(tx, sql, args, out, err);
}

/* As the real one does, a failure ends the answer. */
static bool next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    loci_status status = meet("next", err);

    if (status == LOCI_OK)
        return lc_sqlite_driver.next(rows, out_status, err);
    *out_status = status;
    lc_sqlite_driver.end(rows);
    return false;
}

static void end(lc_rows *rows)
{
    lc_sqlite_driver.end(rows);
}

static loci_status run_script(lc_tx *tx, const char *text, loci_error *err)
{
    loci_status status = meet("run_script", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.upkeep->run_script(tx, text, err);
}

static loci_status read_snapshot(lc_db *db, int64_t deadline_us, lc_tx_body *body, void *ctx,
                                 loci_error *err)
{
    loci_status status = meet("read", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.read(db, deadline_us, body, ctx, err);
}

/* A write that cannot begin answers all that wait, as a locked or full store does. */
static void write_group(lc_db *db, lc_write *first)
{
    loci_error err;
    loci_status status = meet("write", &err);

    if (status == LOCI_OK) {
        lc_sqlite_driver.write(db, first);
        return;
    }
    for (lc_write *write = first; write != NULL; write = write->next) {
        if (write->is_answered)
            continue;
        write->status = status;
        write->error = err;
        write->is_answered = true;
    }
}

static bool is_broken(const lc_db *db)
{
    return lc_sqlite_driver.is_broken(db);
}

static loci_status now_us(lc_tx *tx, int64_t *out, loci_error *err)
{
    loci_status status = meet("now_us", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.now_us(tx, out, err);
}

static uint64_t change_mark(lc_db *db)
{
    return lc_sqlite_driver.change_mark(db);
}

static void interrupt(lc_db *db)
{
    lc_sqlite_driver.interrupt(db);
}

static loci_status backup(lc_db *db, const char *path, lc_progress *progress, void *ctx,
                          loci_error *err)
{
    loci_status status = meet("backup", err);

    return status != LOCI_OK ? status
                             : lc_sqlite_driver.upkeep->backup(db, path, progress, ctx, err);
}

static loci_status restore(lc_db *db, const char *path, lc_progress *progress, void *ctx,
                           loci_error *err)
{
    loci_status status = meet("restore", err);

    return status != LOCI_OK ? status
                             : lc_sqlite_driver.upkeep->restore(db, path, progress, ctx, err);
}

static loci_status check(lc_db *db, lc_problems *problems, loci_error *err)
{
    loci_status status = meet("check", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.upkeep->check(db, problems, err);
}

static loci_status size(lc_db *db, int64_t *out_bytes, int64_t *out_wal_bytes, loci_error *err)
{
    loci_status status = meet("size", err);

    return status != LOCI_OK ? status
                             : lc_sqlite_driver.upkeep->size(db, out_bytes, out_wal_bytes, err);
}

static loci_status scrub(lc_db *db, loci_error *err)
{
    loci_status status = meet("scrub", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.upkeep->scrub(db, err);
}

static loci_status has_table(lc_tx *tx, const char *name, bool *out, loci_error *err)
{
    loci_status status = meet("has_table", err);

    return status != LOCI_OK ? status : lc_sqlite_driver.upkeep->has_table(tx, name, out, err);
}

static const char *path_of(const lc_db *db)
{
    return lc_sqlite_driver.upkeep->path(db);
}

static const lc_db_upkeep upkeep = {
    .open_scratch = open_scratch,
    .run_script = run_script,
    .has_table = has_table,
    .path = path_of,
    .backup = backup,
    .restore = restore,
    .check = check,
    .size = size,
    .scrub = scrub,
};

static const lc_db_driver faulty_driver = {
    .name = "sqlite",
    .slice_events = 10000,
    .dialect = LC_DIALECT_SQLITE,
    .upkeep = &upkeep,
    .grown = &lc_sqlite_grown_sql,
    .open = open_store,
    .close = close_store,
    .set_durability = set_durability,
    .exec = exec,
    .query = query,
    .next = next,
    .end = end,
    .read = read_snapshot,
    .write = write_group,
    .is_broken = is_broken,
    .now_us = now_us,
    .change_mark = change_mark,
    .interrupt = interrupt,
};

const lc_db_driver *test_faulty_driver(void)
{
    return &faulty_driver;
}
