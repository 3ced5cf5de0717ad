/* schema.h - which tables a store has, and how an older store gets there.
 *
 * `meta.schema_version` counts changes of log and operational tables, each a migration that runs in
 * one transaction. Projections have no migrations: when the hash of their shape differs from
 * `meta.projection_shape` they are rebuilt from the log. A store with a newer version is refused
 * and left alone, unless `meta.schema_compatible` says that what came since was only added: so
 * daemons of two versions can serve one database while they are replaced one by one (expand first,
 * contract in a later release). Then nothing is migrated, and a projection of another shape is a
 * reason to refuse. `meta.feature_level` is reserved for rolling upgrades.
 */
#ifndef LC_STORE_SCHEMA_H
#define LC_STORE_SCHEMA_H

#include "store/db.h"

#define LC_SCHEMA_VERSION 6

typedef struct lc_migration {
    int version;      /* That it leads to; 2, 3 … without gaps. */
    const char *what; /* For the log. */
    loci_status (*run)(lc_tx *tx, loci_error *err);
    bool keeps_older; /* It only adds: a loci of the version before can go on beside a newer one. */
} lc_migration;

typedef struct lc_schema_state {
    int64_t version_before; /* 0 = the store was empty. */
    int64_t version;
    bool needs_rebuild; /* The projections have another shape than this loci's. */
} lc_schema_state;

/* Creates the tables of an empty store, or migrates an older one, or refuses a newer one with
 * LOCI_EUNSUPPORTED and one that is not loci's with LOCI_ECORRUPT; sets db->store_id. Several
 * processes may do so at once. `migrations` ends with version 0; NULL = loci's own. */
loci_status lc_schema_open(lc_db *db, const lc_migration *migrations, lc_schema_state *out,
                           loci_error *err);

/* Creates every table of the catalogue whose class is in the mask of 1 << lc_table_class. */
loci_status lc_schema_create_tables(lc_tx *tx, unsigned class_mask, const char *suffix,
                                    int64_t generation, loci_error *err);

#define LC_PROJECTION_LIST_BYTES 4096
/* Writes the names of the projections into `meta.projection_tables`, so that a later loci that has
 * one less knows which table to drop. */
loci_status lc_schema_note_projections(lc_tx *tx, loci_error *err);

/* A value of `meta`; absent is LOCI_ENOTFOUND with `out` untouched, or 0 for the number. */
loci_status lc_meta_get_i64(lc_tx *tx, const char *name, int64_t absent, int64_t *out,
                            loci_error *err);
loci_status lc_meta_set_i64(lc_tx *tx, const char *name, int64_t value, loci_error *err);
/* Copies at most `bytes` - 1; absent is "". */
loci_status lc_meta_get_text(lc_tx *tx, const char *name, char *out, size_t bytes, loci_error *err);
loci_status lc_meta_set_text(lc_tx *tx, const char *name, loci_str value, loci_error *err);

#endif /* LC_STORE_SCHEMA_H */
