/* sqlite_upkeep.c - backs up a live store, restores it, scrubs its file, and checks its pages.
 *
 * A backup holds one snapshot for its whole length, so that writers cannot make it start over; the
 * WAL grows meanwhile and shrinks afterwards. A restore is one big write transaction on the live
 * file: other processes see either the old store or the new one.
 */
#include "store/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/upkeep.h"

#define PAGES_PER_STEP 512
#define BUSY_MS_MAX 30000
#define PATH_BYTES_MAX 4096

typedef struct copy {
    lc_sqlite *db; /* For messages. */
    sqlite3 *from;
    sqlite3 *to;
    lc_progress *progress;
    void *progress_ctx;
    const char *what;
} copy;

static loci_status run_copy(const copy *job, loci_error *err)
{
    int64_t give_up_us = lc_clock_monotonic_us() + BUSY_MS_MAX * 1000;
    sqlite3_backup *backup = sqlite3_backup_init(job->to, "main", job->from, "main");
    int code, finish_code;

    if (backup == NULL)
        return lc_sqlite_fail(job->db, sqlite3_extended_errcode(job->to), err);
    do {
        code = sqlite3_backup_step(backup, PAGES_PER_STEP);
        if (job->progress != NULL) {
            int total = sqlite3_backup_pagecount(backup);

            job->progress(job->progress_ctx, job->what, total - sqlite3_backup_remaining(backup),
                          total);
        }
        if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
            if (lc_clock_monotonic_us() >= give_up_us)
                break;
            lc_clock_sleep_us(2000);
        }
    } while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED);
    finish_code = sqlite3_backup_finish(backup);
    if (code == SQLITE_DONE)
        code = finish_code;
    return code == SQLITE_OK ? LOCI_OK : lc_sqlite_fail(job->db, code, err);
}

/* A backup's file could not be opened, although the caller has checked or created it. */
static loci_status fail_open(int code, const char *path, sqlite3 *file, loci_error *err)
{
    if ((code & 0xFF) == SQLITE_NOMEM)
        return lc_fail_memory(err);
    return lc_fail(err, LOCI_EUNAVAILABLE, "backup %s: %s", path, sqlite3_errmsg(file));
}

loci_status lc_sqlite_backup(lc_db *base, const char *path, lc_progress *progress, void *ctx,
                             loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;
    sqlite3 *target = NULL;
    copy job = {.db = db,
                .from = db->handle,
                .progress = progress,
                .progress_ctx = ctx,
                .what = "pages copied"};
    loci_status status;
    int code;

    db->busy_deadline_us = lc_clock_monotonic_us() + BUSY_MS_MAX * 1000;
    code = sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code != SQLITE_OK) {
        status = fail_open(code, path, target, err);
        goto out;
    }
    (void)sqlite3_exec(target, "pragma synchronous = full", NULL, NULL,
                       NULL); /* It is the default. */
    job.to = target;
    status = lc_sqlite_run(db, "begin; select 1 from sqlite_schema;", err);
    if (status == LOCI_OK)
        status = run_copy(&job, err);
    lc_sqlite_roll_back(db); /* Ends the snapshot; nothing was written. */
out:
    code = sqlite3_close(target);
    if (status == LOCI_OK && code != SQLITE_OK)
        status = lc_fail(err, LOCI_EUNAVAILABLE, "backup %s could not be closed (SQLite %d)", path,
                         code);
    return status;
}

loci_status lc_sqlite_restore(lc_db *base, const char *path, lc_progress *progress, void *ctx,
                              loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;
    sqlite3 *source = NULL;
    copy job = {.db = db,
                .to = db->handle,
                .progress = progress,
                .progress_ctx = ctx,
                .what = "pages restored"};
    loci_status status;
    int code = sqlite3_open_v2(path, &source, SQLITE_OPEN_READWRITE, NULL);

    if (code != SQLITE_OK) {
        status = fail_open(code, path, source, err);
        goto out;
    }
    db->busy_deadline_us = lc_clock_monotonic_us() + BUSY_MS_MAX * 1000;
    lc_sqlite_drop_statements(db); /* They would keep the old schema's tables open. */
    job.from = source;
    status = run_copy(&job, err);
out:
    (void)sqlite3_close(source); /* Only read from. */
    return status;
}

/* ---- Scrubbing ------------------------------------------------------------------------------- */

/* secure_delete overwrites deleted rows, but not copies that a page split or move leaves behind:
 * whole texts survive in the unused parts of pages. VACUUM writes all pages again; the checkpoint
 * then overwrites the old ones in the file and ends with an empty WAL, which needs every reader of
 * an older snapshot to be gone. The copy that VACUUM makes is too large for memory, so it is a file
 * without a name; it contains only current rows.
 *
 * A first checkpoint copies nearly all of the WAL while others read and write. The second one, for
 * which they have to wait, then has little to copy, and time to wait for them. */

#define SCRUB_BUSY_MS 10000
#define CHECKPOINT_BUSY_MS 1500 /* Writers wait meanwhile. loci's own reads end after a second. */

static loci_status empty_wal(lc_sqlite *db, loci_error *err)
{
    int64_t give_up_us;
    int code;

    /* Does not wait, and may be made by another connection at the same time. */
    (void)sqlite3_wal_checkpoint(db->handle, "main");
    give_up_us = lc_clock_monotonic_us() + CHECKPOINT_BUSY_MS * 1000;
    db->busy_deadline_us = give_up_us;
    /* SQLite does not wait for a checkpoint of another connection, only for readers and writers. */
    for (;;) {
        code = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                         NULL);
        if (code != SQLITE_BUSY || lc_clock_monotonic_us() >= give_up_us)
            break;
        lc_clock_sleep_us(1000);
    }
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "a process is reading from the store, so its write-ahead log cannot be"
                       " emptied; end that read");
    return code == SQLITE_OK ? LOCI_OK : lc_sqlite_fail(db, code, err);
}

loci_status lc_sqlite_scrub(lc_db *base, loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;
    loci_status status = lc_sqlite_check_place(db, err);

    if (status != LOCI_OK)
        return status;
    db->busy_deadline_us = lc_clock_monotonic_us() + SCRUB_BUSY_MS * 1000;
    db->read_deadline_us = INT64_MAX;
    lc_sqlite_drop_statements(db);
    status = lc_sqlite_run(db, "pragma temp_store = file", err);
    if (status == LOCI_OK)
        status = lc_sqlite_run(db, "vacuum", err);
    if (status == LOCI_OK)
        status = empty_wal(db, err);
    (void)lc_sqlite_run(db, "pragma temp_store = memory", NULL); /* Cannot fail. */
    return status;
}

/* ---- Discarding ------------------------------------------------------------------------------ */

loci_status lc_sqlite_delete_some(lc_tx *tx, const char *table, int64_t limit, int64_t *out,
                                  loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)tx->db;
    char statement[256];
    loci_status status;

    (void)snprintf(statement, sizeof statement,
                   "delete from %s where rowid in (select rowid from %s limit %lld)", table, table,
                   (long long)limit); /* Names of tables are short. */
    status = lc_sqlite_run_script(tx, statement, err);
    if (status == LOCI_OK)
        *out = sqlite3_changes64(db->handle);
    return status;
}

/* ---- Looking at it --------------------------------------------------------------------------- */

/* Interprets one line of integrity_check: SQLITE_OK after a problem was added, or the code of a
 * failure that stopped the check, which SQLite reports only in the text. */
static int read_finding(const char *text, lc_problems *problems)
{
    const char *mention = text == NULL ? NULL : strstr(text, "error code=");
    long code = mention == NULL ? 0 : strtol(mention + strlen("error code="), NULL, 10);

    if (text == NULL || (code & 0xFF) == SQLITE_NOMEM)
        return SQLITE_NOMEM;
    if ((code & 0xFF) == SQLITE_IOERR)
        return (int)code;
    if (sqlite3_stricmp(text, "ok") != 0)
        lc_problems_add(problems, "pages: %s", text);
    return SQLITE_OK;
}

loci_status lc_sqlite_check(lc_db *base, lc_problems *problems, loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, "pragma integrity_check(20)", -1, &statement, NULL);

    while (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW)
            code = read_finding((const char *)sqlite3_column_text(statement, 0), problems);
    }
    (void)sqlite3_finalize(statement); /* Repeats the error of step. */
    if ((code & 0xFF) == SQLITE_CORRUPT || (code & 0xFF) == SQLITE_NOTADB) {
        lc_problems_add(problems, "pages: %s", sqlite3_errstr(code));
        return LOCI_OK;
    }
    return code == SQLITE_DONE ? LOCI_OK : lc_sqlite_fail(db, code, err);
}

const char *lc_sqlite_path(const lc_db *base)
{
    return sqlite3_db_filename(((const lc_sqlite *)base)->handle, "main");
}

static int64_t file_bytes(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

loci_status lc_sqlite_size(lc_db *base, int64_t *out_bytes, int64_t *out_wal_bytes, loci_error *err)
{
    lc_sqlite *db = (lc_sqlite *)base;
    const char *path = sqlite3_db_filename(db->handle, "main");
    char wal[PATH_BYTES_MAX + 8];

    (void)err;
    *out_bytes = path == NULL ? 0 : file_bytes(path);
    (void)snprintf(wal, sizeof wal, "%s-wal", path == NULL ? "" : path);
    *out_wal_bytes = path == NULL || path[0] == '\0' ? 0 : file_bytes(wal);
    return LOCI_OK;
}
