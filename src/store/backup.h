/* backup.h - a copy of a live store in one file, and a store from such a copy.
 *
 * A backup is a complete store: it can be opened as it is. It appears when it is whole and synced.
 * A restore looks at the copy first; what is no loci store, damaged or too new changes nothing.
 */
#ifndef LC_STORE_BACKUP_H
#define LC_STORE_BACKUP_H

#include "store/upkeep.h"

/* Copies the store to `path`. One that exists is LOCI_ECONFLICT unless `replace`. */
loci_status lc_backup(const lc_upkeep *upkeep, const char *path, bool replace, int64_t *out_bytes,
                      loci_error *err);

typedef struct lc_backup_facts {
    int64_t schema_version;
    char store_id[33];
} lc_backup_facts;

/* Whether `path` is an undamaged store that this loci can read; `out` may be NULL. */
loci_status lc_backup_check(const lc_upkeep *upkeep, const char *path, lc_backup_facts *out,
                            loci_error *err);

/* Checks `path`, then puts its content in the place of the store's, at once for everybody who uses
 * it, and brings its schema and its projections up to date. Connections opened before must be
 * renewed. */
loci_status lc_restore(const lc_upkeep *upkeep, const char *path, lc_backup_facts *out,
                       loci_error *err);

/* Changes with every restore, whoever does it; 0 = none yet. What is kept of the log elsewhere does
 * not count any more when this is another one. */
loci_status lc_tx_restore_mark(lc_tx *tx, int64_t *out, loci_error *err);

#endif /* LC_STORE_BACKUP_H */
