/* backup.h - a copy of a live store in one file, and a store from such a copy.
 *
 * A backup is a complete store: it can be opened as it is. The file appears only when it is
 * complete and synced. A restore checks the copy first: a file that is not a loci store, is damaged
 * or is too new leaves the store unchanged.
 */
#ifndef LC_STORE_BACKUP_H
#define LC_STORE_BACKUP_H

#include "store/upkeep.h"

#define LC_BACKUP_AT "backup_at"     /* In meta: domain time of the last backup, in µs. */
#define LC_BACKUP_JOB "store.backup" /* Kind of the jobs that make backups. */

/* Copies the store to `path`. A file that exists there is LOCI_ECONFLICT unless `replace`. */
loci_status lc_backup(const lc_upkeep *upkeep, const char *path, bool replace, int64_t *out_bytes,
                      loci_error *err);

typedef struct lc_backup_facts {
    int64_t schema_version;
    char store_id[33];
} lc_backup_facts;

/* Whether `path` is an undamaged store that this loci can read; `out` may be NULL. */
loci_status lc_backup_check(const lc_upkeep *upkeep, const char *path, lc_backup_facts *out,
                            loci_error *err);

/* Checks `path`, then replaces the content of the store with it, at one moment for all processes
 * that use the store, and brings its schema and its projections up to date. Connections opened
 * before must be reopened. */
loci_status lc_restore(const lc_upkeep *upkeep, const char *path, lc_backup_facts *out,
                       loci_error *err);

/* A number that every restore, by any process, changes; 0 = none yet. Copies of the log that are
 * kept elsewhere are invalid once this number differs. */
loci_status lc_tx_restore_mark(lc_tx *tx, int64_t *out, loci_error *err);

#endif /* LC_STORE_BACKUP_H */
