/* db.c - what is the same for every driver: checks of kinds, and short forms. */
#include "store/db.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "store/row.h"

/* A wrong kind would be stored as it is by SQLite and refused, or worse cast, by PostgreSQL. */
static void check_args(const lc_sql *sql, const lc_arg *args)
{
    char kinds[LC_SQL_KINDS_MAX + 1];
    const char *params = lc_sql_params(sql, kinds);

    for (size_t i = 0; params[i] != '\0'; i++)
        LC_ASSERT(args[i].kind == 0 || args[i].kind == params[i]);
}

loci_status lc_tx_exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, loci_error *err)
{
    LC_ASSERT(tx->is_write);
    check_args(sql, args);
    return tx->db->driver->exec(tx, sql, args, LC_CHANGES_ANY, err);
}

loci_status lc_tx_exec_one(lc_tx *tx, const lc_sql *sql, const lc_arg *args, loci_error *err)
{
    LC_ASSERT(tx->is_write);
    check_args(sql, args);
    return tx->db->driver->exec(tx, sql, args, LC_CHANGES_ONE, err);
}

loci_status lc_tx_put_rows(lc_tx *tx, const lc_bulk *bulk, loci_error *err)
{
    lc_arg args[LC_BULK_COLUMNS_MAX];
    loci_status status = LOCI_OK;

    LC_ASSERT(tx->is_write);
    LC_ASSERT(!tx->is_shadow);
    LC_ASSERT(strlen(bulk->put->params) <= LC_BULK_COLUMNS_MAX);
    if (bulk->row_count == 0)
        return LOCI_OK;
    if (tx->db->driver->put_rows != NULL)
        return tx->db->driver->put_rows(tx, bulk, err);
    for (size_t row = 0; status == LOCI_OK && row < bulk->row_count; row++) {
        bulk->row(bulk->ctx, row, args);
        status = lc_tx_exec(tx, bulk->put, args, err);
    }
    return status;
}

loci_status lc_tx_query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                        loci_error *err)
{
    loci_status status;

    LC_ASSERT(sql->columns != NULL);
    check_args(sql, args);
    out->tx = tx; /* The cells are left as they are: `next` fills them. */
    out->sql = sql;
    out->statement = NULL;
    out->kinds = NULL;
    out->column_count = out->row_columns = 0;
    status = tx->db->driver->query(tx, sql, args, out, err);
    if (status == LOCI_OK) {
        out->column_count = (int)strlen(out->kinds);
        out->row_columns = out->column_count - (int)strlen(sql->columns);
        LC_ASSERT(out->column_count <= LC_COLUMNS_MAX);
    }
    return status;
}

void **lc_tx_room_state(lc_tx *tx, const lc_room *room)
{
    const lc_room *const *rooms = tx->db->catalogue->rooms;
    size_t place = 0;

    while (rooms[place] != room) {
        LC_ASSERT(rooms[place] != NULL);
        place++;
    }
    LC_ASSERT(place < LC_ROOMS_MAX);
    return &tx->room_state[place];
}

loci_status lc_tx_carry(lc_tx *tx, loci_str members, loci_error *err)
{
    size_t before = tx->carried.len > 0 ? tx->carried.len + 1 : 0;
    char *text = lc_arena_alloc(&tx->db->tx_memory, before + members.len);

    LC_ASSERT(tx->is_write);
    LC_ASSERT(members.len > 0);
    if (text == NULL)
        return lc_fail_memory(err);
    if (before > 0) {
        memcpy(text, tx->carried.ptr, tx->carried.len);
        text[before - 1] = ',';
    }
    memcpy(text + before, members.ptr, members.len);
    tx->carried = (loci_str){text, before + members.len};
    return LOCI_OK;
}

void lc_tx_turn_to(lc_tx *tx, const lc_write *write)
{
    if (!lc_str_eq(tx->user_id, write->user_id) || !lc_str_eq(tx->tenant_id, write->tenant_id)) {
        tx->has_head = tx->head_is_dirty = false;
        memset(tx->room_state, 0, sizeof tx->room_state);
    }
    tx->tenant_id = write->tenant_id;
    tx->user_id = write->user_id;
    tx->now_us = write->now_us;
    tx->wrote = false;
    tx->ordinal = 0;
    tx->carried = LC_STR_NONE;
    tx->enqueued_job = false;
}

bool lc_rows_next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    *out_status = LOCI_OK;
    if (rows->statement == NULL)
        return false;
    return rows->tx->db->driver->next(rows, out_status, err);
}

void lc_rows_end(lc_rows *rows)
{
    if (rows->statement != NULL)
        rows->tx->db->driver->end(rows);
    rows->statement = NULL;
}

loci_status lc_tx_find(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out, bool *found,
                       loci_error *err)
{
    loci_status status = lc_tx_query(tx, sql, args, out, err);

    *found = false;
    if (status == LOCI_OK)
        *found = lc_rows_next(out, &status, err);
    if (!*found)
        lc_rows_end(out);
    return status;
}

const lc_db_driver *lc_db_driver_of(const char *store)
{
    loci_str name = loci_str_of(store);

    if (lc_str_starts(name, LC_STR("postgresql://")) || lc_str_starts(name, LC_STR("postgres://")))
        return &lc_postgres_driver;
    return &lc_sqlite_driver;
}

loci_status lc_tx_lock_log(lc_tx *tx, loci_error *err)
{
    LC_ASSERT(tx->is_write);
    return tx->db->driver->upkeep->lock_log != NULL ? tx->db->driver->upkeep->lock_log(tx, err)
                                                    : LOCI_OK;
}

loci_status lc_tx_lock_readers(lc_tx *tx, loci_error *err)
{
    LC_ASSERT(tx->is_write);
    return tx->db->driver->upkeep->lock_readers != NULL
               ? tx->db->driver->upkeep->lock_readers(tx, err)
               : LOCI_OK;
}

loci_status lc_db_read(lc_db *db, int64_t deadline_us, lc_tx_body *body, void *ctx, loci_error *err)
{
    loci_status status = db->driver->read(db, deadline_us, body, ctx, err);

    lc_arena_clear(&db->tx_memory);
    return status;
}

void lc_db_write(lc_db *db, lc_write *first)
{
    db->driver->write(db, first);
    lc_arena_clear(&db->tx_memory);
}

loci_status lc_db_write_one(lc_db *db, int64_t timeout_ms, lc_tx_body *body, void *ctx,
                            loci_error *err)
{
    lc_write write = {
        .tenant_id = {"", 0},
        .user_id = {"", 0},
        .now_us = lc_env_now_us(db->env),
        .deadline_us = lc_clock_monotonic_us() + timeout_ms * 1000,
        .body = body,
        .ctx = ctx,
    };

    while (!write.is_answered)
        lc_db_write(db, &write);
    if (write.status != LOCI_OK && err != NULL)
        *err = write.error;
    return write.status;
}

void lc_db_close(lc_db *db)
{
    if (db != NULL)
        db->driver->close(db);
}
