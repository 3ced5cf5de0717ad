/* schema.h - creates the tables of a store and migrates older stores.
 *
 * `meta.schema_version` counts changes of log and operational tables, each a migration that runs in
 * one transaction. Projections have no migrations: when the hash of their shape differs from
 * `meta.projection_shape` they are rebuilt from the log. A store with a newer version is refused
 * and left alone, unless `meta.schema_compatible` says that the changes since only added things: so
 * daemons of two versions can serve one database while they are replaced one by one (expand first,
 * contract in a later release). Then nothing is migrated, and a projection of another shape is a
 * reason to refuse. `meta.feature_level` is reserved for rolling upgrades.
 */
#ifndef LC_STORE_SCHEMA_H
#define LC_STORE_SCHEMA_H

#include "store/db.h"

#define LC_SCHEMA_VERSION 10

typedef struct lc_migration {
    int version;      /* Version after it; 2, 3 … without gaps. */
    const char *what; /* For the log. */
    loci_status (*run)(lc_tx *tx, loci_error *err);
    bool keeps_older; /* It only adds: a loci of the previous version can still use the store. */
} lc_migration;

typedef struct lc_schema_state {
    int64_t version_before; /* 0 = the store was empty. */
    int64_t version;
    bool needs_rebuild; /* The projections have another shape than this loci's. */
} lc_schema_state;

/* Creates the tables of an empty store, or migrates an older one, or refuses a newer one with
 * LOCI_EUNSUPPORTED and a database that is not a loci store with LOCI_ECORRUPT; sets db->store_id.
 * Several processes may do so at once. `migrations` ends with version 0; NULL = loci's own. */
loci_status lc_schema_open(lc_db *db, const lc_migration *migrations, lc_schema_state *out,
                           loci_error *err);

/* Creates every table of the catalogue whose class is in the mask of 1 << lc_table_class. The
 * dialect is that of the transaction's database. */
loci_status lc_schema_create_tables(lc_tx *tx, unsigned class_mask, const lc_ddl *ddl,
                                    loci_error *err);

#define LC_PROJECTION_LIST_BYTES 4096
/* Writes the names of the projections into `meta.projection_tables`, so that a later loci without
 * one of them knows which table to drop. */
loci_status lc_schema_note_projections(lc_tx *tx, loci_error *err);

/* A value of `meta`; `absent` if it is not stored. */
loci_status lc_meta_get_i64(lc_tx *tx, const char *name, int64_t absent, int64_t *out,
                            loci_error *err);
loci_status lc_meta_set_i64(lc_tx *tx, const char *name, int64_t value, loci_error *err);
/* Copies at most `bytes` - 1; absent is "". */
loci_status lc_meta_get_text(lc_tx *tx, const char *name, char *out, size_t bytes, loci_error *err);
loci_status lc_meta_set_text(lc_tx *tx, const char *name, loci_str value, loci_error *err);

#endif /* LC_STORE_SCHEMA_H */
