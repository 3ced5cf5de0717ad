/* db_upkeep.h - the part of a driver that works on a whole store: schema, rebuild, verify, backup
 * and scrub. Rooms do not need it; store/ and the jobs of the store do. */
#ifndef LC_STORE_DB_UPKEEP_H
#define LC_STORE_DB_UPKEEP_H

#include "store/db.h"

/* Members that may be NULL say so. */
typedef struct lc_db_upkeep {
    /* A private store with no schema yet, for verify: a file without a name. */
    loci_status (*open_scratch)(lc_env *env, const lc_catalogue *catalogue, lc_db **out,
                                loci_error *err);
    /* Runs one or several statements without parameters: DDL made from the catalogue. */
    loci_status (*run_script)(lc_tx *tx, const char *text, loci_error *err);
    loci_status (*has_table)(lc_tx *tx, const char *name, bool *out, loci_error *err);
    /* Creates the driver's own tables in a new store. NULL: it has none. */
    loci_status (*set_up_store)(lc_tx *tx, loci_error *err);
    /* Prepares the log of an older store for `grown`; may run again. NULL: not needed. */
    loci_status (*add_growth)(lc_tx *tx, loci_error *err);
    /* For a migration: the rest of this write may take `us`, whatever its deadline. NULL: a write
     * that has begun may take any time. */
    void (*extend_write)(lc_tx *tx, int64_t us);
    /* Outside a transaction: updates the statistics of a rebuild's shadows. NULL: not needed. */
    loci_status (*analyze_shadows)(lc_db *db, loci_error *err);
    /* Deletes at most `limit` rows of a table that nothing reads any more; how many in `out`. NULL:
     * dropping a table takes the same time whatever it holds. */
    loci_status (*delete_some)(lc_tx *tx, const char *table, int64_t limit, int64_t *out,
                               loci_error *err);
    /* Until the transaction ends no other connection writes to any log (lock_log), writes to the
     * log of this user, which may be new (lock_user), or reads (lock_readers). NULL: not needed. */
    loci_status (*lock_log)(lc_tx *tx, loci_error *err);
    loci_status (*lock_user)(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_error *err);
    loci_status (*lock_readers)(lc_tx *tx, loci_error *err);
    /* Absolute path of the file that is the store, links resolved; lives as long as `db`. NULL: the
     * store is not a file. */
    const char *(*path)(const lc_db *db);
    /* NULL: the server has its own tools for backups. */
    loci_status (*backup)(lc_db *db, const char *path, lc_progress *progress, void *ctx,
                          loci_error *err);
    loci_status (*restore)(lc_db *db, const char *path, lc_progress *progress, void *ctx,
                           loci_error *err);
    /* Checks pages and indexes. */
    loci_status (*check)(lc_db *db, lc_problems *problems, loci_error *err);
    loci_status (*size)(lc_db *db, int64_t *out_bytes, int64_t *out_wal_bytes, loci_error *err);
    /* Removes deleted and overwritten content from the store's files. LOCI_EUNAVAILABLE names the
     * obstacle; the caller may try again. */
    loci_status (*scrub)(lc_db *db, loci_error *err);
} lc_db_upkeep;

#endif /* LC_STORE_DB_UPKEEP_H */
