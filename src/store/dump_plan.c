/* dump_plan.c - the statements that read the projections, made from the catalogue. Three a table:
 *
 *     first      select … where tenant_id = $1 and user_id = $2 order by key limit $3
 *     after      … and (key behind the user) > ($3, …) …
 *     next_user  select tenant_id, user_id … where (tenant_id, user_id) > ($1, $2) … limit 1
 *
 * Pages instead of one long answer, because an open snapshot keeps the WAL from shrinking; one seek
 * a user instead of `select distinct`, which would read every row.
 */
#include "store/dump.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

#define SQL_BYTES_MAX 16384

static int place_of(const lc_table *table, loci_str name)
{
    for (int i = 0; table->columns[i].name != NULL; i++) {
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
    for (int i = 0; table->columns[i].name != NULL; i++)
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

    for (int i = 0; table->columns[i].name != NULL; i++)
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
