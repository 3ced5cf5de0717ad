/* db.c - code shared by all drivers: checks of kinds, short forms, rewriting of SQL. */
#include "store/db.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/dump.h"
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
    if (!lc_str_eq(tx->tenant_id, write->tenant_id))
        tx->is_open_tenant = false;
    tx->tenant_id = write->tenant_id;
    tx->user_id = write->user_id;
    tx->now_us = write->now_us;
    tx->wrote = false;
    tx->ordinal = 0;
    tx->carried = LC_STR_NONE;
    tx->client = LC_STR_NONE;
    tx->source = LC_STR_NONE;
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

loci_status lc_tx_find_numbers(lc_tx *tx, const lc_sql *sql, const lc_arg *args, int64_t *out,
                               loci_error *err)
{
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_find(tx, sql, args, &rows, &found, err);

    for (int i = 0; found && i < rows.column_count; i++) {
        if (!lc_rows_is_null(&rows, i))
            out[i] = lc_rows_i64(&rows, i);
    }
    lc_rows_end(&rows);
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

loci_status lc_tx_lock_user(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_error *err)
{
    const lc_db_upkeep *upkeep = tx->db->driver->upkeep;

    LC_ASSERT(tx->is_write);
    return upkeep->lock_user != NULL ? upkeep->lock_user(tx, tenant_id, user_id, err) : LOCI_OK;
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
    lc_dump_plan *plan = db != NULL ? db->plan : NULL;
    lc_heap *heap = db != NULL ? &db->env->heap : NULL;

    if (db != NULL)
        db->driver->close(db);
    if (plan == NULL) /* Else its statements were in use until here. */
        return;
    lc_dump_plan_clear(plan);
    lc_heap_free(heap, plan, sizeof *plan, LOCI_MEM_ENGINE);
}

/* ---- Rewriting SQL --------------------------------------------------------------------------- */

/* One SQL text for two databases, and for the live tables and their shadows.
 *
 * `$2` is a position in PostgreSQL but only a name in SQLite, numbered by first appearance: used
 * before `$1` it would silently get the wrong value. `?2` is a position there. For a shadow the
 * name of each projection gets its suffix, so that a room's apply needs no second copy of its
 * statements; the catalogue check keeps columns from having such names. Quotes and comments pass
 * through untouched, except one comment: a locking clause that only PostgreSQL knows, and that
 * SQLite does not need because it has one writer at a time, is uncommented for PostgreSQL. Braces
 * stand for the columns of a record: see row.h.
 */

#define PARAMS_MAX 64

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/* Where the quoted text that starts at `at` ends; a doubled quote reads as two texts in a row. */
static const char *skip_quoted(const char *at)
{
    const char *end = strchr(at + 1, *at);

    LC_ASSERT(end != NULL);
    return end + 1;
}

static const char *skip_comment(const char *at)
{
    const char *end;

    if (at[0] == '-') {
        end = strchr(at, '\n');
        return end != NULL ? end : at + strlen(at);
    }
    end = strstr(at + 2, "*/");
    LC_ASSERT(end != NULL);
    return end + 2;
}

static bool is_comment(const char *at)
{
    return (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*');
}

#define LOCK_COMMENT "/* for update skip locked */"

static bool is_lock(const char *at)
{
    return strncmp(at, LOCK_COMMENT, strlen(LOCK_COMMENT)) == 0;
}

static const char *uncomment(lc_buf *out, const char *at)
{
    lc_buf_append(out, LC_STR("for update skip locked"));
    return at + strlen(LOCK_COMMENT);
}

/* Writes the parameter at `at` and raises `highest` to its number. */
static const char *rewrite_param(lc_buf *out, const char *at, lc_dialect dialect, size_t *highest)
{
    size_t number = 0;

    lc_buf_append_byte(out, dialect == LC_DIALECT_SQLITE ? '?' : '$');
    for (at++; is_digit(*at); at++) {
        number = number * 10 + (size_t)(*at - '0');
        LC_ASSERT(number <= PARAMS_MAX);
        lc_buf_append_byte(out, *at);
    }
    LC_ASSERT(number > 0);
    if (number > *highest)
        *highest = number;
    return at;
}

static bool is_projection(const lc_catalogue *catalogue, loci_str name)
{
    const lc_table *table = lc_catalogue_find_table(catalogue, name);

    return table != NULL && table->table_class == LC_TABLE_PROJECTION;
}

void lc_sql_rewrite(lc_buf *out, const lc_sql *sql, const lc_catalogue *catalogue,
                    lc_dialect dialect, bool is_shadow)
{
    const char *at = sql->text;
    size_t highest = 0;

    while (*at != '\0') {
        const char *start = at;

        if (*at == '\'' || *at == '"') {
            at = skip_quoted(at);
        } else if (is_lock(at) && dialect == LC_DIALECT_POSTGRES) {
            at = uncomment(out, at);
            continue;
        } else if (is_comment(at)) {
            at = skip_comment(at);
        } else if (*at == '$') {
            at = rewrite_param(out, at, dialect, &highest);
            continue;
        } else if (*at == '{') {
            at = lc_row_expand(out, sql, at, catalogue, dialect);
            continue;
        } else if (is_word(*at)) {
            while (is_word(*at))
                at++;
        } else {
            at++;
        }
        lc_buf_append(out, (loci_str){start, (size_t)(at - start)});
        if (is_shadow && is_projection(catalogue, (loci_str){start, (size_t)(at - start)}))
            lc_buf_append(out, LC_STR("__new"));
    }
    LC_ASSERT(highest == strlen(sql->params));
}
