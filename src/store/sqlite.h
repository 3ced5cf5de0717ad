/* sqlite.h - shared between the files of the SQLite driver; no other file includes it.
 */
#ifndef LC_STORE_SQLITE_H
#define LC_STORE_SQLITE_H

#include <sqlite3.h>

#include "base/map.h"
#include "store/db.h"

/* A prepared statement, kept for the life of the connection under (sql, is_shadow). */
typedef struct lc_sqlite_statement {
    lc_statement_key key;
    sqlite3_stmt *handle;
    const char *params; /* Kinds, those of {row} included: in `row_params` or in the lc_sql. */
    const char *columns;
    char row_params[LC_SQL_KINDS_MAX + 1];
    char row_columns[LC_SQL_KINDS_MAX + 1];
    bool is_in_use;
    bool is_cached; /* If false: made for one use, since the cached one was being read. */
} lc_sqlite_statement;

/* The statements around a transaction: prepared once, because they are run for every call. */
typedef enum lc_sqlite_control {
    LC_SQLITE_BEGIN,
    LC_SQLITE_BEGIN_IMMEDIATE,
    LC_SQLITE_COMMIT,
    LC_SQLITE_ROLLBACK,
    LC_SQLITE_CONTROLS
} lc_sqlite_control;

typedef struct lc_sqlite_wal_buffer lc_sqlite_wal_buffer;

typedef struct lc_sqlite {
    lc_db db; /* First: the driver's functions get a pointer to it. */
    sqlite3 *handle;
    lc_map statements;
    sqlite3_stmt *controls[LC_SQLITE_CONTROLS];
    lc_buf scratch;           /* Rewritten SQL. */
    int64_t busy_deadline_us; /* Monotonic: how long to wait for another process's lock. */
    int64_t read_deadline_us; /* Monotonic: when the running read is given up; INT64_MAX = never. */
    bool read_timed_out;
    bool is_broken;        /* A commit failed in the file system: the state on disk is unknown. */
    bool is_relaxed;       /* Durability. */
    bool has_moved;        /* The path leads to another file, or to none. */
    int64_t moved_due_us;  /* Monotonic: when to check that again. */
    int maintained_frames; /* Size of the WAL when `wants_maintenance` was set last. */
    lc_sqlite_wal_buffer *wal_buffer; /* NULL until the first write transaction. */
    const volatile void *state; /* Memory that lc_sqlite_state() reads; NULL = state unknown. */
} lc_sqlite;

/* Turns a result code into a status and a message that says what to do. */
loci_status lc_sqlite_fail(lc_sqlite *db, int code, loci_error *err);
/* Runs one of the statements around a transaction; SQLite's result code, SQLITE_OK when it worked.
 */
int lc_sqlite_run_control(lc_sqlite *db, lc_sqlite_control control);
/* Runs text without parameters or answer. */
loci_status lc_sqlite_run(lc_sqlite *db, const char *text, loci_error *err);
/* LOCI_EUNAVAILABLE when the store's file was moved, deleted or replaced: writes would be lost, and
 * other processes would not see them. Checks the path four times per second at most. */
loci_status lc_sqlite_check_place(lc_sqlite *db, loci_error *err);
/* Rolls back the open transaction, unless SQLite has done so itself (disk full). */
void lc_sqlite_roll_back(lc_sqlite *db);

loci_status lc_sqlite_open(lc_env *env, const lc_catalogue *catalogue, const lc_db_target *target,
                           lc_db **out, loci_error *err);
loci_status lc_sqlite_open_scratch(lc_env *env, const lc_catalogue *catalogue, lc_db **out,
                                   loci_error *err);
void lc_sqlite_close(lc_db *base);
loci_status lc_sqlite_set_durability(lc_db *base, bool is_relaxed, loci_error *err);

loci_status lc_sqlite_exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                           loci_error *err);
loci_status lc_sqlite_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                            loci_error *err);
bool lc_sqlite_next(lc_rows *rows, loci_status *out_status, loci_error *err);
void lc_sqlite_end(lc_rows *rows);
loci_status lc_sqlite_run_script(lc_tx *tx, const char *text, loci_error *err);
void lc_sqlite_drop_statements(lc_sqlite *db);

loci_status lc_sqlite_read(lc_db *base, int64_t deadline_us, lc_tx_body *body, void *ctx,
                           loci_error *err);
void lc_sqlite_write(lc_db *base, lc_write *first);

/* The VFS to open a store with (sqlite_vfs.c), registered with the first call; NULL = the default.
 */
const char *lc_sqlite_vfs_name(void);
/* Before each write transaction: coalesces the writes to the WAL unless durability is relaxed. */
void lc_sqlite_coalesce_wal(lc_sqlite *db);
void lc_sqlite_free_wal_buffer(lc_sqlite *db); /* After the connection was closed. */

/* Once WAL mode is on. */
void lc_sqlite_find_state(lc_sqlite *db);
uint64_t lc_sqlite_state(const lc_db *base);
extern const struct lc_grown_sql lc_sqlite_grown_sql;

loci_status lc_sqlite_backup(lc_db *base, const char *path, lc_progress *progress, void *ctx,
                             loci_error *err);
loci_status lc_sqlite_restore(lc_db *base, const char *path, lc_progress *progress, void *ctx,
                              loci_error *err);
loci_status lc_sqlite_check(lc_db *base, lc_problems *problems, loci_error *err);
const char *lc_sqlite_path(const lc_db *base);
loci_status lc_sqlite_size(lc_db *base, int64_t *out_bytes, int64_t *out_wal_bytes,
                           loci_error *err);

loci_status lc_sqlite_scrub(lc_db *base, loci_error *err);
loci_status lc_sqlite_delete_some(lc_tx *tx, const char *table, int64_t limit, int64_t *out,
                                  loci_error *err);

#endif /* LC_STORE_SQLITE_H */
