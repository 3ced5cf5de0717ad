/* salvage.h - reads the rows of a damaged SQLite file without SQLite.
 *
 * SQLite finds a row through the pages above it, and refuses the whole table when one of them is
 * damaged. This reader needs none of them: it reads every page of the file by itself, takes those
 * that look like a leaf of a table, and decodes the rows that have an expected shape. The caller
 * judges by their content whether they are rows of the expected table:
 *
 *     for (uint32_t page = 1; page <= lc_salvage_page_count(salvage); page++) {
 *         int count = lc_salvage_turn_to(salvage, page);
 *         for (int i = 0; i < count; i++)
 *             if (lc_salvage_row(salvage, i, "tti", cells)) …
 *     }
 *     status = lc_salvage_status(salvage, err);
 *
 * The file and its write-ahead log are only read: nothing is locked, written or created. For any
 * bytes, the work is bounded by the size of the file.
 */
#ifndef LC_STORE_SALVAGE_H
#define LC_STORE_SALVAGE_H

#include "store/db.h"

typedef struct lc_salvage lc_salvage;

#define LC_SALVAGE_COLUMNS_MAX 16

/* LOCI_ENOTFOUND, LOCI_EFORBIDDEN …: the file cannot be opened. Any regular file can be read. */
loci_status lc_salvage_open(lc_heap *heap, const char *path, lc_salvage **out, loci_error *err);
void lc_salvage_close(lc_salvage *salvage); /* NULL is fine. */

/* Pages are numbered from 1. */
uint32_t lc_salvage_page_count(const lc_salvage *salvage);
/* Commits of the write-ahead log that were read, and whether it has bytes behind them that
 * belong to it but are damaged. */
int64_t lc_salvage_wal_commits(const lc_salvage *salvage);
bool lc_salvage_wal_is_damaged(const lc_salvage *salvage);

/* Reads a page; the number of rows that it says it has, 0 if it is no leaf of a table. */
int lc_salvage_turn_to(lc_salvage *salvage, uint32_t page);
/* Decodes a row of that page into one cell per letter of `kinds` (i, t or b). False: it has another
 * shape or cannot be read. Texts are valid until the next call, and need not be UTF-8. */
bool lc_salvage_row(lc_salvage *salvage, int index, const char *kinds, lc_cell *out);
/* LOCI_OK, or that there was too little memory for a row. */
loci_status lc_salvage_status(const lc_salvage *salvage, loci_error *err);

#endif /* LC_STORE_SALVAGE_H */
