/* grown.c - the statements are the driver's: SQLite numbers rows in the order of its commits,
 * PostgreSQL has snapshots (sqlite.c, postgres_transaction.c). */
#include "store/grown.h"

#include "base/random.h"
#include "store/backup.h"
#include "store/schema.h"

#define MARK "grown_mark"

loci_status lc_grown_mark(lc_tx *tx, int64_t *out, loci_error *err)
{
    int64_t restored = 0, divided = 0;
    loci_status status = lc_tx_restore_mark(tx, &restored, err);

    if (status == LOCI_OK)
        status = lc_meta_get_i64(tx, MARK, 0, &divided, err);
    if (status == LOCI_OK)
        *out = restored ^ divided; /* Both are random. */
    return status;
}

loci_status lc_grown_renew_mark(lc_tx *tx, loci_error *err)
{
    return lc_meta_set_i64(tx, MARK, (int64_t)(lc_random_next(&tx->db->env->random) >> 1), err);
}

loci_status lc_grown_place(lc_tx *tx, lc_buf *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &tx->db->driver->grown->place, NULL, &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    LC_ASSERT(found); /* The statement is an aggregate, or a function. */
    lc_buf_reset(out);
    lc_buf_append(out, lc_rows_str(&rows, 0));
    lc_rows_end(&rows);
    return lc_buf_status(out, err);
}

loci_status lc_grown_each(lc_tx *tx, loci_str place, int64_t limit, lc_grown_visit *visit,
                          void *ctx, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &tx->db->driver->grown->users,
                                     (lc_arg[]){LC_T(place), LC_I(limit)}, &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_grown grown = {.tenant_id = lc_rows_str(&rows, 0),
                          .user_id = lc_rows_str(&rows, 1),
                          .first_seq = lc_rows_i64(&rows, 2),
                          .last_seq = lc_rows_i64(&rows, 3)};

        status = visit(ctx, &grown, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}
