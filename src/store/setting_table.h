/* setting_table.h - the table of stored settings: rows in, rows out, no meaning.
 *
 * What a name means and which values it takes is known to engine/settings; a row written by a newer
 * loci is handed over like any other.
 */
#ifndef LC_STORE_SETTING_TABLE_H
#define LC_STORE_SETTING_TABLE_H

#include "store/db.h"

extern const lc_table lc_settings_table;

typedef struct lc_setting_row {
    loci_str tenant_id; /* "" = for the whole store. */
    loci_str name;
    loci_str value; /* JSON text. */
} lc_setting_row;

/* Gets every row, those of the whole store first; `row` is borrowed for the call. Non-OK stops. */
typedef loci_status lc_setting_row_visit(void *ctx, const lc_setting_row *row, loci_error *err);
loci_status lc_setting_row_each(lc_tx *tx, lc_setting_row_visit *visit, void *ctx, loci_error *err);

/* Sets or replaces. */
loci_status lc_setting_row_put(lc_tx *tx, const lc_setting_row *row, loci_error *err);
/* A row that is not there is fine. */
loci_status lc_setting_row_remove(lc_tx *tx, loci_str tenant_id, loci_str name, loci_error *err);

#endif /* LC_STORE_SETTING_TABLE_H */
