/* fake_rows.h - a database that holds nothing but a few rows of settings, in memory.
 *
 * Rows as a store can contain them, including damaged rows and rows of a newer loci, without a
 * store.
 */
#ifndef TEST_UNIT_ENGINE_FAKE_ROWS_H
#define TEST_UNIT_ENGINE_FAKE_ROWS_H

#include "store/store_room.h"

#define FAKE_ROWS_MAX 64

typedef struct fake_rows {
    lc_db db;
    lc_tx tx;
    lc_setting_row rows[FAKE_ROWS_MAX];
    size_t count;
    size_t at; /* Rows handed out of the query in progress. */
    /* Called once, when a query has handed out its last row, or NULL. */
    void (*at_end)(void *ctx);
    void *ctx;
} fake_rows;

/* `fake` is the caller's storage; a write transaction is open in fake->tx. */
void fake_rows_init(fake_rows *fake);
/* Adds a row; the texts are borrowed. */
void fake_rows_add(fake_rows *fake, const char *tenant_id, const char *name, const char *value);
/* The value stored there, or none. */
loci_str fake_rows_find(const fake_rows *fake, const char *tenant_id, const char *name);

#endif /* TEST_UNIT_ENGINE_FAKE_ROWS_H */
