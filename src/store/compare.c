/* compare.c - a merge of two sorted answers, a page of each at a time. A page ends where the
 * shorter of the two ends, unless that was its copy's last: what the other has behind that key is
 * read again. */
#include "store/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/str.h"
#include "store/upkeep.h"

#define PAGE_ROWS 1000
#define ROW_BYTES_MAX ((size_t)64 << 20)

void lc_compare_init(lc_compare *compare, lc_heap *heap)
{
    *compare = (lc_compare){0};
    lc_dump_key_init(&compare->after, heap);
    lc_dump_key_init(&compare->next, heap);
    lc_buf_init(&compare->stored_row, heap, LOCI_MEM_REQUESTS, ROW_BYTES_MAX);
    lc_buf_init(&compare->replayed_row, heap, LOCI_MEM_REQUESTS, ROW_BYTES_MAX);
}

void lc_compare_clear(lc_compare *compare)
{
    lc_dump_key_clear(&compare->after);
    lc_dump_key_clear(&compare->next);
    lc_buf_clear(&compare->stored_row);
    lc_buf_clear(&compare->replayed_row);
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

/* Whether `text` is one of our ids, whatever its prefix: those may be shown. */
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

static void append_key(lc_buf *out, const lc_dump_table *table, const lc_rows *row)
{
    for (int i = 0; i < table->key_count; i++) {
        int place = table->key_columns[i];
        const lc_column *column = &table->table->columns[place];

        lc_buf_append_format(out, " %s=", column->name);
        if (column->kind == 'i')
            lc_buf_append_format(out, "%lld", (long long)lc_rows_i64(row, place));
        else if (column->kind == 't' && is_id(lc_rows_str(row, place)))
            lc_buf_append(out, lc_rows_str(row, place));
        else
            lc_buf_append(out, LC_STR("*"));
    }
}

static void report(lc_compare *compare, const lc_rows *row, const char *what)
{
    const lc_dump_table *table = &compare->plan->tables[compare->table_index];
    char text[LC_DIFFERENCE_BYTES];
    lc_buf *out = &compare->stored_row; /* Read already. */

    lc_buf_reset(out);
    lc_buf_append(out, loci_str_of(table->table->name));
    append_key(out, table, row);
    lc_buf_append_format(out, ": %s", what);
    (void)snprintf(text, sizeof text, "%.*s", LC_STR_ARG(lc_buf_str(out))); /* May be cut. */
    compare->differs(compare->ctx, table->table, text);
}

static bool column_differs(const lc_rows *a, const lc_rows *b, int column)
{
    char kind = a->sql->columns[column];

    if (lc_rows_is_null(a, column) || lc_rows_is_null(b, column))
        return lc_rows_is_null(a, column) != lc_rows_is_null(b, column);
    if (kind == 'i')
        return lc_rows_i64(a, column) != lc_rows_i64(b, column);
    if (kind == 'f')
        return lc_rows_f64(a, column) != lc_rows_f64(b, column);
    return !lc_str_eq(lc_rows_str(a, column), lc_rows_str(b, column));
}

static loci_status compare_rows(lc_compare *compare, const lc_rows *stored, const lc_rows *replayed,
                                loci_error *err)
{
    const lc_table *table = compare->plan->tables[compare->table_index].table;
    char what[64];
    loci_status status;

    lc_buf_reset(&compare->stored_row);
    lc_buf_reset(&compare->replayed_row);
    lc_dump_row(&compare->stored_row, stored);
    lc_dump_row(&compare->replayed_row, replayed);
    status = lc_buf_status(&compare->stored_row, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&compare->replayed_row, err);
    if (status != LOCI_OK ||
        lc_str_eq(lc_buf_str(&compare->stored_row), lc_buf_str(&compare->replayed_row)))
        return status;

    for (int i = 0; table->columns[i].kind != 0; i++) {
        if (!column_differs(stored, replayed, i))
            continue;
        (void)snprintf(what, sizeof what, "%s differs", table->columns[i].name); /* Short names. */
        report(compare, stored, what);
        break;
    }
    return LOCI_OK;
}

static loci_status advance(side *s, loci_error *err)
{
    loci_status status;

    s->has_row = lc_rows_next(&s->rows, &status, err);
    s->count += s->has_row;
    return status;
}

/* Takes the row with the smaller key off its side, or the row of both. */
static loci_status merge_one(lc_compare *compare, side *stored, side *replayed, loci_error *err)
{
    const lc_dump_table *table = &compare->plan->tables[compare->table_index];
    loci_status status;
    int order;

    if (!stored->has_row)
        order = 1;
    else if (!replayed->has_row)
        order = -1;
    else
        order = lc_dump_compare_keys(table, &stored->rows, &replayed->rows);

    status = lc_dump_key_move(&compare->next, table, order > 0 ? &replayed->rows : &stored->rows,
                              err);
    if (status != LOCI_OK)
        return status;
    if (order < 0)
        report(compare, &stored->rows, "no event makes this row");
    else if (order > 0)
        report(compare, &replayed->rows, "row is missing");
    else
        status = compare_rows(compare, &stored->rows, &replayed->rows, err);
    if (status == LOCI_OK && order <= 0)
        status = advance(stored, err);
    if (status == LOCI_OK && order >= 0)
        status = advance(replayed, err);
    return status;
}

/* Behind it there may be more rows than this page has. */
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
    lc_dump_range range = {.table = &compare->plan->tables[compare->table_index],
                           .tenant_id = compare->tenant_id,
                           .user_id = compare->user_id,
                           .after = &compare->after,
                           .limit = PAGE_ROWS};
    lc_dump_key swap;
    side a = {0};
    side b = {0};
    loci_status status = lc_dump_query(stored, &range, &a.rows, err);

    if (status == LOCI_OK) {
        replayed->is_shadow = stored == replayed;
        status = lc_dump_query(replayed, &range, &b.rows, err);
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
