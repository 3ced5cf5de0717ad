/* dump.c - reads the projections with statements made from the catalogue, three per table:
 *
 *     first      select … where tenant_id = $1 and user_id = $2 order by key limit $3
 *     after      … and (key behind the user) > ($3, …) …
 *     next_user  select tenant_id, user_id … where (tenant_id, user_id) > ($1, $2) … limit 1
 *
 * Pages instead of one long answer, because an open snapshot keeps the WAL from shrinking; one seek
 * per user instead of `select distinct`, which would read every row.
 */
#include "store/dump.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "store/user_walk.h"

/* ---- Plans ----------------------------------------------------------------------------------- */

#define SQL_BYTES_MAX 16384

static int place_of(const lc_table *table, loci_str name)
{
    for (int i = 0; table->columns[i].kind != 0; i++) {
        if (lc_str_is(name, table->columns[i].name))
            return i;
    }
    LC_UNREACHABLE(); /* lc_catalogue_fault() looks for this. */
}

static void find_key(lc_dump_table *dump)
{
    loci_str rest = loci_str_of(dump->table->key);

    (void)lc_str_split(rest, ',', &rest); /* tenant_id */
    (void)lc_str_split(rest, ',', &rest); /* user_id */
    while (rest.ptr != NULL) {
        loci_str name = lc_str_trim(lc_str_split(rest, ',', &rest));

        LC_ASSERT(dump->key_count < LC_DUMP_KEY_MAX);
        dump->key_columns[dump->key_count++] = place_of(dump->table, name);
    }
}

static void append_columns(lc_buf *out, const lc_table *table)
{
    for (int i = 0; table->columns[i].kind != 0; i++)
        lc_buf_append_format(out, "%s%s", i == 0 ? "select " : ", ", table->columns[i].name);
    lc_buf_append_format(out, " from %s where tenant_id = $1 and user_id = $2", table->name);
}

static void append_after(lc_buf *out, const lc_dump_table *dump)
{
    lc_buf_append(out, LC_STR(" and ("));
    for (int i = 0; i < dump->key_count; i++)
        lc_buf_append_format(out, "%s%s", i == 0 ? "" : ", ",
                             dump->table->columns[dump->key_columns[i]].name);
    lc_buf_append(out, LC_STR(") > ("));
    for (int i = 0; i < dump->key_count; i++)
        lc_buf_append_format(out, "%s$%d", i == 0 ? "" : ", ", i + 3);
    lc_buf_append(out, LC_STR(")"));
}

/* Moves what `buf` holds into the plan; false when out of memory. */
static bool keep(lc_arena *arena, lc_buf *buf, const char **out)
{
    loci_str copy = LC_STR_NONE;

    if (buf->failure == LOCI_OK)
        copy = lc_arena_copy(arena, lc_buf_str(buf));
    lc_buf_reset(buf);
    *out = copy.ptr;
    return copy.ptr != NULL;
}

static bool plan_rows(lc_arena *arena, lc_buf *buf, lc_dump_table *dump)
{
    const lc_table *table = dump->table;
    const char *kinds;

    for (int i = 0; table->columns[i].kind != 0; i++)
        lc_buf_append_byte(buf, table->columns[i].kind);
    if (!keep(arena, buf, &kinds))
        return false;

    append_columns(buf, table);
    lc_buf_append_format(buf, " order by %s limit $3", table->key);
    dump->first = (lc_sql){.params = "tti", .columns = kinds};
    if (!keep(arena, buf, &dump->first.text))
        return false;
    if (dump->key_count == 0)
        return true;

    append_columns(buf, table);
    append_after(buf, dump);
    lc_buf_append_format(buf, " order by %s limit $%d", table->key, dump->key_count + 3);
    dump->after.columns = kinds;
    if (!keep(arena, buf, &dump->after.text))
        return false;
    lc_buf_append(buf, LC_STR("tt"));
    for (int i = 0; i < dump->key_count; i++)
        lc_buf_append_byte(buf, table->columns[dump->key_columns[i]].kind);
    lc_buf_append(buf, LC_STR("i"));
    return keep(arena, buf, &dump->after.params);
}

static bool plan_users(lc_arena *arena, lc_buf *buf, lc_dump_table *dump)
{
    lc_buf_append_format(buf,
                         "select tenant_id, user_id from %s "
                         "where (tenant_id, user_id) > ($1, $2) "
                         "order by tenant_id, user_id limit 1",
                         dump->table->name);
    dump->next_user = (lc_sql){.params = "tt", .columns = "tt"};
    return keep(arena, buf, &dump->next_user.text);
}

static loci_status count_projection(void *ctx, const lc_table *table, loci_error *err)
{
    (void)err;
    *(size_t *)ctx += table->table_class == LC_TABLE_PROJECTION;
    return LOCI_OK;
}

static loci_status add_projection(void *ctx, const lc_table *table, loci_error *err)
{
    lc_dump_plan *plan = ctx;

    (void)err;
    if (table->table_class == LC_TABLE_PROJECTION)
        plan->tables[plan->table_count++].table = table;
    return LOCI_OK;
}

loci_status lc_dump_plan_init(lc_dump_plan *plan, lc_heap *heap, const lc_catalogue *catalogue,
                              loci_error *err)
{
    size_t count = 0;
    bool is_whole;
    lc_buf buf;

    *plan = (lc_dump_plan){0};
    lc_arena_init(&plan->arena, heap, LOCI_MEM_ENGINE);
    lc_buf_init(&buf, heap, LOCI_MEM_ENGINE, SQL_BYTES_MAX);
    (void)lc_catalogue_each(catalogue, count_projection, &count, err); /* Cannot fail. */
    plan->tables = lc_arena_zalloc_array(&plan->arena, count, sizeof *plan->tables);
    is_whole = plan->tables != NULL;
    if (is_whole)
        (void)lc_catalogue_each(catalogue, add_projection, plan, err); /* Cannot fail. */
    for (size_t i = 0; is_whole && i < plan->table_count; i++) {
        find_key(&plan->tables[i]);
        is_whole = plan_rows(&plan->arena, &buf, &plan->tables[i]) &&
                   plan_users(&plan->arena, &buf, &plan->tables[i]);
    }
    lc_buf_clear(&buf);
    if (is_whole)
        return LOCI_OK;
    lc_dump_plan_clear(plan);
    return lc_fail_memory(err);
}

void lc_dump_plan_clear(lc_dump_plan *plan)
{
    if (plan->arena.heap != NULL)
        lc_arena_clear(&plan->arena);
    *plan = (lc_dump_plan){0};
}

#define ROW_BYTES_MAX                                                                              \
    ((size_t)64 << 20) /* No row comes near; a damaged one must not take all memory. */
#define PAGE_ROWS 2000

/* ---- Keys and rows -------------------------------------------------------------------------- */

void lc_dump_key_init(lc_dump_key *key, lc_heap *heap)
{
    *key = (lc_dump_key){0};
    lc_buf_init(&key->text, heap, LOCI_MEM_REQUESTS, ROW_BYTES_MAX);
}

void lc_dump_key_clear(lc_dump_key *key)
{
    lc_buf_clear(&key->text);
    key->is_set = false;
}

loci_status lc_dump_key_move(lc_dump_key *key, const lc_dump_table *table, const lc_rows *rows,
                             loci_error *err)
{
    size_t at = 0;
    loci_status status;

    lc_buf_reset(&key->text);
    for (int i = 0; i < table->key_count; i++) {
        int column = table->key_columns[i];
        char kind = table->table->columns[column].kind;

        key->args[i] = (lc_arg){.kind = kind};
        if (kind == 'i')
            key->args[i].as.i64 = lc_rows_i64(rows, column);
        else if (kind == 'f')
            key->args[i].as.f64 = lc_rows_f64(rows, column);
        else {
            key->args[i].as.str.len = lc_rows_str(rows, column).len;
            lc_buf_append(&key->text, lc_rows_str(rows, column));
        }
    }
    lc_buf_append_byte(&key->text, '\0'); /* So that an empty text has an address, too. */
    status = lc_buf_status(&key->text, err);
    if (status != LOCI_OK)
        return status;
    for (int i = 0; i < table->key_count; i++) {
        if (key->args[i].kind != 't' && key->args[i].kind != 'b')
            continue;
        key->args[i].as.str.ptr = key->text.ptr + at;
        at += key->args[i].as.str.len;
    }
    key->is_set = true;
    return LOCI_OK;
}

static int compare_column(const lc_rows *a, const lc_rows *b, int column, char kind)
{
    if (kind == 'i') {
        int64_t x = lc_rows_i64(a, column);
        int64_t y = lc_rows_i64(b, column);

        return (x > y) - (x < y);
    }
    if (kind == 'f') {
        double x = lc_rows_f64(a, column);
        double y = lc_rows_f64(b, column);

        return (x > y) - (x < y);
    }
    return lc_str_compare(lc_rows_str(a, column), lc_rows_str(b, column));
}

int lc_dump_compare_keys(const lc_dump_table *table, const lc_rows *a, const lc_rows *b)
{
    for (int i = 0; i < table->key_count; i++) {
        int column = table->key_columns[i];
        int order = compare_column(a, b, column, table->table->columns[column].kind);

        if (order != 0)
            return order;
    }
    return 0;
}

loci_status lc_dump_query(lc_tx *tx, const lc_dump_range *range, lc_rows *out, loci_error *err)
{
    const lc_dump_table *table = range->table;
    lc_arg args[LC_DUMP_KEY_MAX + 3] = {LC_T(range->tenant_id), LC_T(range->user_id)};
    int count = 2;

    *out = (lc_rows){.tx = tx};
    if (range->after == NULL || !range->after->is_set) {
        args[count] = LC_I(range->limit);
        return lc_tx_query(tx, &table->first, args, out, err);
    }
    if (table->after.text == NULL)
        return LOCI_OK; /* One row a user: there is nothing behind it. */
    for (int i = 0; i < table->key_count; i++)
        args[count++] = range->after->args[i];
    args[count] = LC_I(range->limit);
    return lc_tx_query(tx, &table->after, args, out, err);
}

static void append_number(lc_buf *out, char kind, uint64_t value)
{
    char bytes[9] = {kind};

    for (int i = 0; i < 8; i++)
        bytes[i + 1] = (char)(value >> (8 * i) & 0xFF);
    lc_buf_append(out, (loci_str){bytes, sizeof bytes});
}

void lc_dump_row(lc_buf *out, const lc_rows *rows)
{
    for (int i = 0; rows->sql->columns[i] != '\0'; i++) {
        char kind = rows->sql->columns[i];

        if (lc_rows_is_null(rows, i)) {
            lc_buf_append_byte(out, 'n');
        } else if (kind == 'i') {
            append_number(out, kind, (uint64_t)lc_rows_i64(rows, i));
        } else if (kind == 'f') {
            double value = lc_rows_f64(rows, i);
            uint64_t bits;

            memcpy(&bits, &value, sizeof bits);
            append_number(out, kind, bits);
        } else {
            loci_str text = lc_rows_str(rows, i);

            append_number(out, kind, text.len);
            lc_buf_append(out, text);
        }
    }
}

/* ---- The whole store ------------------------------------------------------------------------ */

typedef struct hash_state {
    const lc_dump_plan *plan;
    size_t table_index;
    lc_user_walk walk;
    lc_dump_key after; /* Bound to the answer being read, so it stands still meanwhile. */
    lc_dump_key next;
    bool in_user; /* the user has rows that were not read yet. */
    bool is_done;
    lc_buf row;
    lc_hash128 hash;
} hash_state;

/* Adds the next rows of the current user; leaves it when there are no more. */
static loci_status hash_rows(lc_tx *tx, hash_state *state, loci_error *err)
{
    lc_dump_range range = {.table = &state->plan->tables[state->table_index],
                           .tenant_id = lc_user_walk_tenant(&state->walk),
                           .user_id = lc_user_walk_user(&state->walk),
                           .after = &state->after,
                           .limit = PAGE_ROWS};
    lc_dump_key swap;
    int64_t count = 0;
    lc_rows rows;
    loci_status status = lc_dump_query(tx, &range, &rows, err);
    loci_status ended = LOCI_OK;

    while (status == LOCI_OK && lc_rows_next(&rows, &ended, err)) {
        lc_buf_reset(&state->row);
        lc_dump_row(&state->row, &rows);
        status = lc_buf_status(&state->row, err);
        state->hash = lc_hash128_chain(state->hash, lc_buf_str(&state->row));
        if (status == LOCI_OK && ++count == PAGE_ROWS)
            status = lc_dump_key_move(&state->next, range.table, &rows, err);
    }
    lc_rows_end(&rows);
    swap = state->after;
    state->after = state->next;
    state->next = swap;
    state->in_user = count == PAGE_ROWS;
    return status != LOCI_OK ? status : ended;
}

/* One page of rows, or the step to the next user or table. */
static loci_status hash_step(lc_tx *tx, void *ctx, loci_error *err)
{
    hash_state *state = ctx;
    const lc_dump_table *table;
    loci_status status;

    if (state->in_user)
        return hash_rows(tx, state, err);
    if (state->table_index == state->plan->table_count) {
        state->is_done = true;
        return LOCI_OK;
    }
    table = &state->plan->tables[state->table_index];
    status = lc_user_walk_next(tx, &state->walk, &table->next_user, err);
    if (status != LOCI_OK)
        return status;
    state->after.is_set = false;
    state->in_user = state->walk.found;
    if (!state->walk.found) {
        state->hash = lc_hash128_chain(state->hash, loci_str_of(table->table->name));
        state->table_index++;
        lc_user_walk_restart(&state->walk);
    }
    return LOCI_OK;
}

loci_status lc_dump_hash(lc_db *db, const lc_dump_plan *plan, lc_hash128 *out, loci_error *err)
{
    hash_state state = {.plan = plan};
    loci_status status = LOCI_OK;

    lc_dump_key_init(&state.after, &db->env->heap);
    lc_dump_key_init(&state.next, &db->env->heap);
    lc_user_walk_init(&state.walk, &db->env->heap);
    lc_buf_init(&state.row, &db->env->heap, LOCI_MEM_REQUESTS, ROW_BYTES_MAX);
    while (status == LOCI_OK && !state.is_done)
        status = lc_db_read(db, INT64_MAX, hash_step, &state, err);
    if (status == LOCI_OK)
        *out = state.hash;
    lc_buf_clear(&state.row);
    lc_dump_key_clear(&state.after);
    lc_dump_key_clear(&state.next);
    lc_user_walk_clear(&state.walk);
    return status;
}
