/* user_walk.c - the names of the last user are bound to the statement that answers the next ones,
 * so the two pairs of buffers take turns. */
#include "store/user_walk.h"

#define NAME_BYTES_MAX 65536 /* In a damaged store names may be longer than LC_ID_BYTES_MAX. */

const lc_sql lc_user_heads_sql = {
    "select tenant_id, user_id, seq, recorded_at, objects from heads"
    " where (tenant_id, user_id) > ($1, $2) order by tenant_id, user_id limit 1",
    "tt", "ttiii"};

void lc_user_walk_init(lc_user_walk *walk, lc_heap *heap)
{
    *walk = (lc_user_walk){0};
    lc_buf_init(&walk->tenant_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
    lc_buf_init(&walk->user_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
    lc_buf_init(&walk->spare_tenant_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
    lc_buf_init(&walk->spare_user_id, heap, LOCI_MEM_REQUESTS, NAME_BYTES_MAX);
}

void lc_user_walk_clear(lc_user_walk *walk)
{
    lc_buf_clear(&walk->tenant_id);
    lc_buf_clear(&walk->user_id);
    lc_buf_clear(&walk->spare_tenant_id);
    lc_buf_clear(&walk->spare_user_id);
    walk->found = false;
}

void lc_user_walk_restart(lc_user_walk *walk)
{
    lc_buf_reset(&walk->tenant_id);
    lc_buf_reset(&walk->user_id);
    walk->found = false;
}

static void swap(lc_buf *a, lc_buf *b)
{
    lc_buf c = *a;

    *a = *b;
    *b = c;
}

static loci_status take_row(lc_user_walk *walk, const lc_rows *rows, loci_error *err)
{
    loci_status status;

    lc_buf_reset(&walk->spare_tenant_id);
    lc_buf_reset(&walk->spare_user_id);
    lc_buf_append(&walk->spare_tenant_id, lc_rows_str(rows, 0));
    lc_buf_append(&walk->spare_user_id, lc_rows_str(rows, 1));
    if (rows->sql->columns[2] != '\0')
        walk->head = (lc_head){.seq = lc_rows_i64(rows, 2),
                               .recorded_at = lc_rows_i64(rows, 3),
                               .objects = lc_rows_i64(rows, 4)};
    status = lc_buf_status(&walk->spare_tenant_id, err);
    return status != LOCI_OK ? status : lc_buf_status(&walk->spare_user_id, err);
}

loci_status lc_user_walk_next(lc_tx *tx, lc_user_walk *walk, const lc_sql *next_sql,
                              loci_error *err)
{
    lc_arg args[] = {LC_T(lc_user_walk_tenant(walk)), LC_T(lc_user_walk_user(walk))};
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, next_sql, args, &rows, &found, err);

    if (status == LOCI_OK && found)
        status = take_row(walk, &rows, err);
    lc_rows_end(&rows);
    if (status != LOCI_OK)
        return status;
    walk->found = found;
    if (found) {
        swap(&walk->tenant_id, &walk->spare_tenant_id);
        swap(&walk->user_id, &walk->spare_user_id);
    }
    return LOCI_OK;
}
