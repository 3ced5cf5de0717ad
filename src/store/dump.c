/* dump.c - reads the projections with statements made from the catalogue, three per table:
 *
 *     first      select … where tenant_id = $1 and user_id = $2 order by key limit $3
 *     after      … and (key behind the user) > ($3, …) …
 *     next_user  select tenant_id, user_id … where (tenant_id, user_id) > ($1, $2) … limit 1
 *
 * Pages instead of one long answer, because an open snapshot keeps the WAL from shrinking; one seek
 * per user instead of `select distinct`, which would read every row.
 *
 * A comparison merges two sorted answers, a page of each at a time. A page ends where the shorter
 * of the two ends, unless that was the last page of its copy: rows of the other copy behind that
 * key are read again with the next page.
 */
#include "store/dump.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/str.h"
#include "store/upkeep.h"

#define SQL_BYTES_MAX 16384
#define PAGE_ROWS 1000
#define KEY_BYTES_MAX                                                                              \
    ((size_t)64 << 20) /* No key comes near; a damaged one must not take all memory. */

/* ---- Plans ----------------------------------------------------------------------------------- */

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

/* Moves the content of `buf` into the plan; false if out of memory. */
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

static bool plan_writes(lc_arena *arena, lc_buf *buf, lc_dump_table *dump)
{
    const lc_column *columns = dump->table->columns;

    lc_buf_append_format(buf, "insert into %s (", dump->table->name);
    for (int i = 0; columns[i].kind != 0; i++)
        lc_buf_append_format(buf, "%s%s", i == 0 ? "" : ", ", columns[i].name);
    lc_buf_append(buf, LC_STR(") values ("));
    for (int i = 0; columns[i].kind != 0; i++)
        lc_buf_append_format(buf, "%s$%d", i == 0 ? "" : ", ", i + 1);
    lc_buf_append(buf, LC_STR(")"));
    dump->insert.params = dump->first.columns; /* The kinds of all columns. */
    if (!keep(arena, buf, &dump->insert.text))
        return false;
    lc_buf_append_format(buf, "delete from %s where tenant_id = $1 and user_id = $2",
                         dump->table->name);
    dump->remove.params = "tt";
    return keep(arena, buf, &dump->remove.text);
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
                   plan_writes(&plan->arena, &buf, &plan->tables[i]) &&
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

/* ---- Rows ------------------------------------------------------------------------------------ */

/* <0, 0, >0 as `a` comes before, with or after `b`; NULL comes first. */
static int compare_cells(const lc_cell *a, const lc_cell *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case 0:
        return 0;
    case 'i':
        return (a->as.i64 > b->as.i64) - (a->as.i64 < b->as.i64);
    case 'f':
        return (a->as.f64 > b->as.f64) - (a->as.f64 < b->as.f64);
    default:
        return lc_str_compare(a->as.str, b->as.str);
    }
}

static bool is_text(const lc_cell *cell)
{
    return cell->kind == 't' || cell->kind == 'b';
}

/* Moves to the current row of `rows`. */
static loci_status move_key(lc_dump_key *key, const lc_dump_table *table, const lc_rows *rows,
                            loci_error *err)
{
    size_t at = 0;
    loci_status status;

    lc_buf_reset(&key->text);
    for (int i = 0; i < table->key_count; i++) {
        key->args[i] = *lc_rows_cell(rows, table->key_columns[i]);
        if (is_text(&key->args[i]))
            lc_buf_append(&key->text, key->args[i].as.str);
    }
    lc_buf_append_byte(&key->text, '\0'); /* So that an empty text has an address, too. */
    status = lc_buf_status(&key->text, err);
    for (int i = 0; i < table->key_count && status == LOCI_OK; i++) {
        if (!is_text(&key->args[i]))
            continue;
        key->args[i].as.str.ptr = key->text.ptr + at;
        at += key->args[i].as.str.len;
    }
    key->is_set = status == LOCI_OK;
    return status;
}

/* A page of rows of the user behind compare->after. */
static loci_status query_page(const lc_compare *compare, lc_tx *tx, lc_rows *out, loci_error *err)
{
    const lc_dump_table *table = &compare->plan->tables[compare->table_index];
    lc_arg args[LC_DUMP_KEY_MAX + 3] = {LC_T(compare->tenant_id), LC_T(compare->user_id)};
    int count = 2;

    *out = (lc_rows){.tx = tx};
    if (compare->after.is_set && table->after.text == NULL)
        return LOCI_OK; /* One row per user: there is nothing behind it. */
    for (int i = 0; compare->after.is_set && i < table->key_count; i++)
        args[count++] = compare->after.args[i];
    args[count] = LC_I(PAGE_ROWS);
    return lc_tx_query(tx, compare->after.is_set ? &table->after : &table->first, args, out, err);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

void lc_compare_init(lc_compare *compare, lc_heap *heap)
{
    *compare = (lc_compare){0};
    lc_buf_init(&compare->after.text, heap, LOCI_MEM_REQUESTS, KEY_BYTES_MAX);
    lc_buf_init(&compare->next.text, heap, LOCI_MEM_REQUESTS, KEY_BYTES_MAX);
}

void lc_compare_clear(lc_compare *compare)
{
    lc_buf_clear(&compare->after.text);
    lc_buf_clear(&compare->next.text);
    lc_compare_restart(compare);
}

void lc_compare_restart(lc_compare *compare)
{
    compare->table_index = 0;
    compare->after.is_set = false;
    compare->next.is_set = false;
    compare->is_done = false;
}

/* One copy of the page. */
typedef struct side {
    lc_rows rows;
    bool has_row;
    int64_t count;
} side;

/* Whether `text` is an id made by loci, with any prefix: those may be shown. */
static bool is_id(loci_str text)
{
    char prefix[16];
    size_t len;

    if (text.len <= LC_ID_DIGITS + 1 || text.len - LC_ID_DIGITS - 1 >= sizeof prefix)
        return false;
    len = text.len - LC_ID_DIGITS - 1;
    memcpy(prefix, text.ptr, len);
    prefix[len] = '\0';
    return lc_id_is(text, prefix);
}

/* Appends to a text of LC_DIFFERENCE_BYTES, which may be cut. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t *len,
                                                         const char *format, ...)
{
    va_list list;
    int bytes;

    va_start(list, format);
    bytes = vsnprintf(text + *len, LC_DIFFERENCE_BYTES - *len, format, list);
    va_end(list);
    *len += (size_t)bytes;
    if (*len >= LC_DIFFERENCE_BYTES)
        *len = LC_DIFFERENCE_BYTES - 1;
}

static void report(const lc_compare *compare, const lc_rows *row, const char *what)
{
    const lc_dump_table *table = &compare->plan->tables[compare->table_index];
    char text[LC_DIFFERENCE_BYTES];
    size_t len = 0;

    append(text, &len, "%s", table->table->name);
    for (int i = 0; i < table->key_count; i++) {
        const lc_cell *cell = lc_rows_cell(row, table->key_columns[i]);
        const char *name = table->table->columns[table->key_columns[i]].name;

        if (cell->kind == 'i')
            append(text, &len, " %s=%lld", name, (long long)cell->as.i64);
        else if (cell->kind == 't' && is_id(cell->as.str))
            append(text, &len, " %s=%.*s", name, LC_STR_ARG(cell->as.str));
        else
            append(text, &len, " %s=*", name);
    }
    append(text, &len, ": %s", what);
    compare->differs(compare->ctx, table->table, text);
}

static void compare_rows(const lc_compare *compare, const lc_rows *stored, const lc_rows *replayed)
{
    const lc_column *columns = compare->plan->tables[compare->table_index].table->columns;
    char what[64];

    for (int i = 0; i < stored->column_count; i++) {
        if (compare_cells(&stored->cells[i], &replayed->cells[i]) == 0)
            continue;
        (void)snprintf(what, sizeof what, "%s differs", columns[i].name); /* Short names. */
        report(compare, stored, what);
        return;
    }
}

static loci_status advance(side *s, loci_error *err)
{
    loci_status status;

    s->has_row = lc_rows_next(&s->rows, &status, err);
    s->count += s->has_row;
    return status;
}

/* Consumes the row with the smaller key, or one row of both sides if the keys are equal. */
static loci_status merge_one(lc_compare *compare, side *stored, side *replayed, loci_error *err)
{
    const lc_dump_table *table = &compare->plan->tables[compare->table_index];
    int order = !stored->has_row ? 1 : !replayed->has_row ? -1 : 0;
    loci_status status;

    for (int i = 0; i < table->key_count && stored->has_row && replayed->has_row && order == 0; i++)
        order = compare_cells(lc_rows_cell(&stored->rows, table->key_columns[i]),
                              lc_rows_cell(&replayed->rows, table->key_columns[i]));
    status = move_key(&compare->next, table, order > 0 ? &replayed->rows : &stored->rows, err);
    if (status != LOCI_OK)
        return status;
    if (order < 0)
        report(compare, &stored->rows, "no event makes this row");
    else if (order > 0)
        report(compare, &replayed->rows, "row is missing");
    else
        compare_rows(compare, &stored->rows, &replayed->rows);
    if (order <= 0)
        status = advance(stored, err);
    if (status == LOCI_OK && order >= 0)
        status = advance(replayed, err);
    return status;
}

/* There may be more rows behind this page. */
static bool is_cut(const side *s)
{
    return !s->has_row && s->count == PAGE_ROWS;
}

static loci_status merge_page(lc_compare *compare, side *stored, side *replayed, loci_error *err)
{
    loci_status status = advance(stored, err);

    if (status == LOCI_OK)
        status = advance(replayed, err);
    while (status == LOCI_OK && (stored->has_row || replayed->has_row)) {
        if (is_cut(stored) || is_cut(replayed))
            return LOCI_OK;
        status = merge_one(compare, stored, replayed, err);
    }
    if (status == LOCI_OK && !is_cut(stored) && !is_cut(replayed))
        compare->next.is_set = false;
    return status;
}

static loci_status compare_page(lc_compare *compare, lc_tx *stored, lc_tx *replayed,
                                loci_error *err)
{
    lc_dump_key swap;
    side a = {0};
    side b = {0};
    loci_status status = query_page(compare, stored, &a.rows, err);

    if (status == LOCI_OK) {
        replayed->is_shadow = stored == replayed;
        status = query_page(compare, replayed, &b.rows, err);
        replayed->is_shadow = false;
    }
    if (status == LOCI_OK)
        status = merge_page(compare, &a, &b, err);
    lc_rows_end(&a.rows);
    lc_rows_end(&b.rows);
    swap = compare->after;
    compare->after = compare->next;
    compare->next = swap;
    if (!compare->after.is_set)
        compare->table_index++;
    return status;
}

loci_status lc_compare_step(lc_compare *compare, lc_tx *stored, lc_tx *replayed, loci_error *err)
{
    int64_t began_us = lc_clock_monotonic_us();
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && compare->table_index < compare->plan->table_count &&
           lc_clock_monotonic_us() - began_us < LC_UPKEEP_STEP_US)
        status = compare_page(compare, stored, replayed, err);
    if (status == LOCI_OK && compare->table_index == compare->plan->table_count)
        compare->is_done = true;
    return status;
}
