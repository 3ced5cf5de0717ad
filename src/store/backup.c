/* backup.c - the driver copies; this file checks the copy and makes a restore atomic.
 *
 * A restore works on a copy of the backup, beside the store, until the copy has the current schema,
 * projections of the current shape and a restore mark of its own. Then the driver copies it into
 * the store in one commit. No reader sees the old content with the new mark, or the other way
 * round, and a restore that is killed has changed nothing.
 */
#include "store/backup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "store/db_upkeep.h"
#include "store/publish.h"
#include "store/rebuild.h"
#include "store/schema.h"
#include "store/upkeep.h"

#define RESTORE_MARK "restore_mark"

/* A driver reports its progress but cannot be stopped, so a request to stop is kept until it
 * returns. */
typedef struct listener {
    const lc_upkeep *upkeep;
    loci_status status;
    loci_error error;
} listener;

static void hear(void *ctx, const char *what, int64_t done, int64_t total)
{
    listener *l = ctx;

    if (l->status == LOCI_OK)
        l->status = lc_upkeep_report(l->upkeep, what, done, total, &l->error);
}

static loci_status ask(const listener *l, loci_error *err)
{
    if (l->status != LOCI_OK && err != NULL)
        *err = l->error;
    return l->status;
}

static loci_status check_driver(const lc_db *db, loci_error *err)
{
    if (db->driver->upkeep->backup != NULL && db->driver->upkeep->restore != NULL)
        return LOCI_OK;
    return lc_fail(err, LOCI_EUNSUPPORTED,
                   "a %s store is backed up and restored with its server's own tools (pg_dump), or "
                   "moved as text with `loci export` and `loci import`",
                   db->driver->name);
}

loci_status lc_backup(const lc_upkeep *upkeep, const char *path, bool replace, int64_t *out_bytes,
                      loci_error *err)
{
    listener l = {.upkeep = upkeep};
    struct stat info;
    lc_publish file;
    loci_status status = check_driver(upkeep->db, err);

    if (status == LOCI_OK)
        status = lc_publish_begin(&file, path, replace, err);
    if (status != LOCI_OK)
        return status;
    lc_publish_let_go(&file);
    if (file.is_stream)
        return lc_fail(err, LOCI_EINVAL,
                       "%s is a device or FIFO; a backup is a database and needs a regular file",
                       path);
    status = upkeep->db->driver->upkeep->backup(upkeep->db, file.temporary, hear, &l, err);
    if (status == LOCI_OK)
        status = ask(&l, err);
    if (status == LOCI_OK)
        status = lc_publish_finish(&file, err);
    lc_publish_abandon(&file);
    if (status == LOCI_OK)
        *out_bytes = stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
    return status;
}

static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_backup_facts *facts = ctx;
    bool exists;
    loci_status status = tx->db->driver->upkeep->has_table(tx, "meta", &exists, err);

    if (status == LOCI_OK && exists)
        status = lc_meta_get_i64(tx, "schema_version", 0, &facts->schema_version, err);
    if (status == LOCI_OK && exists)
        status = lc_meta_get_text(tx, "store_id", facts->store_id, sizeof facts->store_id, err);
    if (status == LOCI_OK && facts->schema_version < 1)
        status = lc_fail(err, LOCI_ECORRUPT, "it has no schema version");
    if (status == LOCI_OK && facts->schema_version > LC_SCHEMA_VERSION)
        status = lc_fail(err, LOCI_EUNSUPPORTED,
                         "it has schema version %lld; this loci knows up to %d: use a newer one",
                         (long long)facts->schema_version, LC_SCHEMA_VERSION);
    return status;
}

static loci_status check_open(lc_db *db, lc_backup_facts *facts, loci_error *err)
{
    lc_problems problems = {0};
    loci_status status = lc_db_read(db, INT64_MAX, look, facts, err);

    if (status == LOCI_OK)
        status = db->driver->upkeep->check(db, &problems, err);
    return status != LOCI_OK ? status : lc_problems_status(&problems, err);
}

/* Opens `path` and checks it. */
static loci_status open_backup(const lc_db *store, const char *path, lc_backup_facts *facts,
                               lc_db **out, loci_error *err)
{
    loci_error cause;
    struct stat info;
    lc_db *db = NULL;
    loci_status status;

    if (stat(path, &info) != 0)
        return lc_fail_path(err, path, errno);
    if (info.st_size == 0) /* A driver would create a store in it. */
        return lc_fail(err, LOCI_ECORRUPT, "%s is empty, not a loci store", path);
    status = store->driver->open(store->env, store->catalogue, &(lc_db_target){.store = path}, &db,
                                 err);
    if (status != LOCI_OK)
        return status;
    status = check_open(db, facts, &cause);
    if (status == LOCI_OK) {
        *out = db;
        return LOCI_OK;
    }
    lc_db_close(db);
    return lc_fail(err, status, "%s: %s", path, cause.message);
}

loci_status lc_backup_check(const lc_upkeep *upkeep, const char *path, lc_backup_facts *out,
                            loci_error *err)
{
    lc_backup_facts facts = {0};
    lc_db *db = NULL;
    loci_status status = open_backup(upkeep->db, path, &facts, &db, err);

    lc_db_close(db);
    if (status == LOCI_OK && out != NULL)
        *out = facts;
    return status;
}

static const lc_sql end_backups_sql = {
    "delete from jobs where kind = $1 and status in ('queued', 'running')", "t", NULL};

/* The mark is a random number, so that no earlier user of the store has seen it. A backup that was
 * made by a job has the row of this job, as running: no worker would ever end it. */
static loci_status mark_restored(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = lc_tx_exec(tx, &end_backups_sql,
                                    (lc_arg[]){LC_T(loci_str_of(LC_BACKUP_JOB))}, err);

    (void)ctx;
    return status == LOCI_OK
               ? lc_meta_set_i64(tx, RESTORE_MARK,
                                 (int64_t)(lc_random_next(&tx->db->env->random) >> 1), err)
               : status;
}

loci_status lc_tx_restore_mark(lc_tx *tx, int64_t *out, loci_error *err)
{
    return lc_meta_get_i64(tx, RESTORE_MARK, 0, out, err);
}

/* Copies the backup to `path` and brings the copy up to date: schema, projections, mark. */
static loci_status prepare(const lc_upkeep *upkeep, lc_db *backup, const char *path, listener *l,
                           loci_error *err)
{
    const lc_db *store = upkeep->db;
    lc_schema_state state;
    lc_db *db = NULL;
    loci_status status = backup->driver->upkeep->backup(backup, path, hear, l, err);

    if (status == LOCI_OK)
        status = store->driver->open(store->env, store->catalogue, &(lc_db_target){.store = path},
                                     &db, err);
    if (status == LOCI_OK)
        status = lc_schema_open(db, NULL, &state, err);
    if (status == LOCI_OK && state.needs_rebuild)
        status = lc_rebuild_run(db, hear, l, err);
    if (status == LOCI_OK)
        status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, mark_restored, NULL, err);
    lc_db_close(db);
    return status;
}

loci_status lc_restore(const lc_upkeep *upkeep, const char *path, lc_backup_facts *out,
                       loci_error *err)
{
    lc_db *db = upkeep->db, *backup = NULL;
    listener l = {.upkeep = upkeep};
    lc_backup_facts facts = {0};
    lc_publish file = {.fd = -1};
    lc_schema_state state;
    loci_status status = check_driver(db, err);

    if (status == LOCI_OK)
        status = open_backup(db, path, &facts, &backup, err);
    /* Beside the store, where there must be room for it anyway. */
    if (status == LOCI_OK)
        status = lc_publish_begin(&file, db->driver->upkeep->path(db), true, err);
    lc_publish_let_go(&file);
    if (status == LOCI_OK)
        status = prepare(upkeep, backup, file.temporary, &l, err);
    lc_db_close(backup);
    if (status == LOCI_OK)
        status = ask(&l, err);
    if (status == LOCI_OK)
        status = db->driver->upkeep->restore(db, file.temporary, hear, &l, err);
    lc_publish_abandon(&file);
    /* From here on the store is replaced: a request to stop comes too late. */
    if (status == LOCI_OK)
        status = lc_schema_open(db, NULL, &state, err); /* It still has the old store's id. */
    if (status == LOCI_OK && out != NULL)
        *out = facts;
    return status;
}
