/* postgres_partition.c - see partition.h. Which tables are divided is read from the server's
 * catalogue; `meta.partitions` says only how it should be. So a process that dies at any point
 * leaves nothing that a later one would take for something else. One that was stopped, and
 * continues when another has made a copy of its own, recognises it by its number (copy_id).
 *
 * Slices go through a table in the order of its key, as texts: keys have columns of different
 * kinds, and a job keeps its position as JSON.
 *
 * Rejected: declaring the table as the only partition of a new one, which needs no copy, because
 * a hash partition cannot be divided later; and logical replication into the copy, which needs
 * rights that a store's owner seldom has.
 */
#include "store/partition.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/discard.h"
#include "store/grown.h"
#include "store/schema.h"
#include "store/upkeep.h"

#define META_NAME "partitions"
#define NAME_BYTES 64
#define SLICE_US 100000
#define ROWS_FIRST 200
#define ROWS_MAX 20000
#define SCRIPT_BYTES_MAX (1 << 20)
#define SWAP_ATTEMPTS_MAX 20
#define ANALYZE_MS 600000

static const lc_sql count_sql = {"select count(*) from pg_catalog.pg_inherits i"
                                 " join pg_catalog.pg_class c on c.oid = i.inhparent"
                                 " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
                                 " where n.nspname = current_schema() and c.relname = $1",
                                 "t", "i"};
/* The server's own number of a table: a later table of the same name has another. */
static const lc_sql id_sql = {"select cast(c.oid as bigint) from pg_catalog.pg_class c"
                              " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
                              " where n.nspname = current_schema() and c.relname = $1",
                              "t", "i"};

static bool is_postgres(const lc_tx *tx)
{
    return tx->db->driver->dialect == LC_DIALECT_POSTGRES;
}

/* ---- State ----------------------------------------------------------------------------------- */

loci_status lc_partition_wanted(lc_tx *tx, int64_t *out, loci_error *err)
{
    *out = 1;
    return is_postgres(tx) ? lc_meta_get_i64(tx, META_NAME, 1, out, err) : LOCI_OK;
}

loci_status lc_partition_want(lc_tx *tx, int64_t partitions, loci_error *err)
{
    LC_ASSERT(is_postgres(tx));
    LC_ASSERT(partitions >= 1 && partitions <= LC_PARTITIONS_MAX);
    return lc_meta_set_i64(tx, META_NAME, partitions, err);
}

/* 1 = the table is not divided, or is not there. */
static loci_status count_partitions(lc_tx *tx, const char *name, int64_t *out, loci_error *err)
{
    loci_status status = lc_tx_find_numbers(tx, &count_sql, (lc_arg[]){LC_T(loci_str_of(name))},
                                            out, err);

    if (status == LOCI_OK && *out == 0)
        *out = 1;
    return status;
}

typedef struct look {
    lc_tx *tx;
    int64_t wanted;
    lc_partition_state state;
    const lc_table *first;
} look;

static loci_status look_at_table(void *ctx, const lc_table *table, loci_error *err)
{
    look *l = ctx;
    int64_t count;
    loci_status status;

    if (!table->is_large)
        return LOCI_OK;
    status = count_partitions(l->tx, table->name, &count, err);
    if (status != LOCI_OK || count == l->wanted)
        return status;
    if (table->table_class == LC_TABLE_PROJECTION)
        l->state.projections++;
    else if (l->state.others++ == 0)
        l->first = table;
    return LOCI_OK;
}

static loci_status look_at_all(lc_tx *tx, look *out, loci_error *err)
{
    loci_status status;

    *out = (look){.tx = tx};
    status = lc_partition_wanted(tx, &out->wanted, err);
    if (status == LOCI_OK && is_postgres(tx))
        status = lc_catalogue_each(tx->db->catalogue, look_at_table, out, err);
    return status;
}

loci_status lc_partition_look(lc_tx *tx, lc_partition_state *out, loci_error *err)
{
    look l;
    loci_status status = look_at_all(tx, &l, err);

    *out = l.state;
    return status;
}

loci_status lc_partition_find(lc_tx *tx, const lc_table **out, loci_error *err)
{
    look l;
    loci_status status = look_at_all(tx, &l, err);

    *out = l.first;
    return status;
}

/* ---- The statement of a slice ---------------------------------------------------------------- */

typedef struct key_column {
    loci_str name;
    char kind;
} key_column;

static size_t read_key(const lc_table *table, key_column out[LC_PARTITION_KEY_MAX])
{
    loci_str rest = loci_str_of(table->key);
    size_t count = 0;

    while (rest.ptr != NULL) {
        const lc_column *column = table->columns;

        LC_ASSERT(count < LC_PARTITION_KEY_MAX);
        out[count].name = lc_str_trim(lc_str_split(rest, ',', &rest));
        while (!lc_str_is(out[count].name, column->name))
            column++; /* The catalogue was checked: it is there. */
        out[count++].kind = column->kind;
    }
    return count;
}

/* A parameter, which is a text, as a value of the column; and back. */
static void put_param(lc_buf *out, const key_column *column, size_t number)
{
    lc_buf_append_format(out,
                         column->kind == 't'   ? "$%zu"
                         : column->kind == 'b' ? "decode($%zu, 'hex')"
                                               : "cast($%zu as bigint)",
                         number);
}

static void put_text(lc_buf *out, const key_column *column)
{
    lc_buf_append_format(out,
                         column->kind == 't'   ? "%.*s"
                         : column->kind == 'b' ? "encode(%.*s, 'hex')"
                                               : "cast(%.*s as text)",
                         LC_STR_ARG(column->name));
}

static void put_copy_sql(lc_buf *out, const lc_table *table)
{
    key_column key[LC_PARTITION_KEY_MAX];
    size_t count = read_key(table, key);

    lc_buf_append_format(out, "with page as (select * from %s where (%s) > (", table->name,
                         table->key);
    for (size_t i = 0; i < count; i++) {
        lc_buf_append(out, i > 0 ? LC_STR(", ") : LC_STR(""));
        put_param(out, &key[i], i + 1);
    }
    lc_buf_append_format(out,
                         ") order by %s limit $%zu for share), copied as (insert into %s__copy"
                         " select * from page on conflict do nothing) select ",
                         table->key, count + 1, table->name);
    for (size_t i = 0; i < count; i++) {
        put_text(out, &key[i]);
        lc_buf_append(out, LC_STR(", "));
    }
    lc_buf_append(out, LC_STR("(select count(*) from page) from page order by "));
    for (size_t i = 0; i < count; i++)
        lc_buf_append_format(out, "%spage.%.*s desc", i > 0 ? ", " : "", LC_STR_ARG(key[i].name));
    lc_buf_append(out, LC_STR(" limit 1"));
}

void lc_partition_init(lc_partition *p, lc_heap *heap, const lc_table *table)
{
    key_column key[LC_PARTITION_KEY_MAX];
    const char *text;
    lc_buf out;

    *p = (lc_partition){.table = table, .limit = ROWS_FIRST, .key_count = read_key(table, key)};
    lc_arena_init(&p->arena[0], heap, LOCI_MEM_PIPELINES);
    lc_arena_init(&p->arena[1], heap, LOCI_MEM_PIPELINES);
    for (size_t i = 0; i < p->key_count; i++) {
        p->after[i] = key[i].kind == 'i' ? LC_STR("-9223372036854775808") : LC_STR("");
        p->params[i] = p->columns[i] = 't';
    }
    p->params[p->key_count] = p->columns[p->key_count] = 'i';
    lc_buf_init(&out, heap, LOCI_MEM_PIPELINES, sizeof p->text - 1);
    put_copy_sql(&out, table);
    text = lc_buf_terminate(&out);
    if (text != NULL) /* Else lc_partition_begin() reports it. */
        (void)snprintf(p->text, sizeof p->text, "%s", text);
    lc_buf_clear(&out);
    p->copy_sql = (lc_sql){.text = p->text, .params = p->params, .columns = p->columns};
}

void lc_partition_clear(lc_partition *p)
{
    lc_arena_clear(&p->arena[0]);
    lc_arena_clear(&p->arena[1]);
}

loci_status lc_partition_continue(lc_partition *p, const loci_str *after, size_t count,
                                  loci_error *err)
{
    if (count != p->key_count)
        return LOCI_OK; /* Of another version of the table: copying a row twice does no harm. */
    for (size_t i = 0; i < count; i++) {
        p->after[i] = lc_arena_copy(&p->arena[p->arena_in_use], after[i]);
        if (p->after[i].ptr == NULL)
            return lc_fail_memory(err);
    }
    return LOCI_OK;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* 0 = there is no copy. */
static loci_status find_copy(lc_tx *tx, const lc_table *table, int64_t *out, loci_error *err)
{
    char copy[NAME_BYTES];

    *out = 0;
    (void)snprintf(copy, sizeof copy, "%s__copy", table->name);
    return lc_tx_find_numbers(tx, &id_sql, (lc_arg[]){LC_T(loci_str_of(copy))}, out, err);
}

/* Behind the name of the table, in this order. */
static void put_drop(lc_buf *out, const char *name)
{
    lc_buf_append_format(out,
                         "drop trigger if exists loci_copy on %s;"
                         " drop function if exists loci_copy_%s();"
                         " drop table if exists %s__copy;\n",
                         name, name, name);
}

static void put_key_of(lc_buf *out, const lc_table *table, const char *row)
{
    key_column key[LC_PARTITION_KEY_MAX];
    size_t count = read_key(table, key);

    for (size_t i = 0; i < count; i++)
        lc_buf_append_format(out, "%s%s%.*s", i > 0 ? ", " : "", row, LC_STR_ARG(key[i].name));
}

/* It runs in the transactions of all programs, whichever schemas they look into. */
static void put_trigger(lc_buf *out, const lc_table *table)
{
    lc_buf_append_format(out,
                         "create function loci_copy_%s() returns trigger language plpgsql"
                         " set search_path from current as $f$"
                         " begin if tg_op <> 'INSERT' then delete from %s__copy where (%s) = (",
                         table->name, table->name, table->key);
    put_key_of(out, table, "old.");
    lc_buf_append_format(out,
                         "); end if; if tg_op <> 'DELETE' then insert into %s__copy values (new.*);"
                         " end if; return null; end $f$;\n"
                         "create trigger loci_copy after insert or update or delete on %s"
                         " for each row execute function loci_copy_%s();\n",
                         table->name, table->name, table->name);
}

static void put_grants(lc_buf *out, const lc_table *table)
{
    lc_ddl_keep_grants(out, table, &(lc_ddl){.dialect = LC_DIALECT_POSTGRES, .suffix = "__copy"});
}

static void put_begin(lc_buf *out, const lc_partition *p)
{
    char parent[NAME_BYTES], name[NAME_BYTES];

    put_drop(out, p->table->name);
    (void)snprintf(parent, sizeof parent, "%s__copy", p->table->name);
    (void)snprintf(name, sizeof name, "%s__of%lld", p->table->name, (long long)p->wanted);
    lc_buf_append_format(out, "create table %s (like %s including all)%s;\n", parent,
                         p->table->name,
                         p->wanted > 1 ? " partition by hash (tenant_id, user_id)" : "");
    lc_ddl_policy(out, p->table, "__copy");
    put_grants(out, p->table); /* The trigger runs with the rights of the role that writes. */
    if (p->wanted > 1)
        lc_ddl_partitions(out, parent, name, p->wanted);
    put_trigger(out, p->table);
}

static loci_status run_text(lc_tx *tx, lc_buf *text, loci_error *err)
{
    const char *script = lc_buf_terminate(text);
    loci_status status = script == NULL    ? lc_buf_status(text, err)
                         : *script == '\0' ? LOCI_OK
                                           : tx->db->driver->upkeep->run_script(tx, script, err);

    lc_buf_clear(text);
    return status;
}

typedef struct beginning {
    lc_partition *partition;
    bool is_new;
} beginning;

static loci_status begin(lc_tx *tx, void *ctx, loci_error *err)
{
    beginning *b = ctx;
    lc_partition *p = b->partition;
    char copy[NAME_BYTES];
    int64_t count = 0;
    loci_status status = lc_partition_wanted(tx, &p->wanted, err);
    lc_buf text;

    (void)snprintf(copy, sizeof copy, "%s__copy", p->table->name);
    if (status == LOCI_OK)
        status = find_copy(tx, p->table, &p->copy_id, err);
    if (status == LOCI_OK)
        status = count_partitions(tx, copy, &count, err);
    b->is_new = p->copy_id == 0 || count != p->wanted;
    if (status != LOCI_OK || !b->is_new)
        return status;
    lc_buf_init(&text, &tx->db->env->heap, LOCI_MEM_PIPELINES, SCRIPT_BYTES_MAX);
    put_begin(&text, p);
    status = run_text(tx, &text, err);
    return status == LOCI_OK ? find_copy(tx, p->table, &p->copy_id, err) : status;
}

loci_status lc_partition_begin(lc_partition *p, lc_db *db, bool *out_is_new, loci_error *err)
{
    beginning b = {.partition = p};
    loci_status status;

    if (p->text[0] == '\0')
        return lc_fail_memory(err);
    status = lc_discard_run(db, err); /* Partitions may have the names of the new ones. */
    if (status == LOCI_OK)
        status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, begin, &b, err);
    *out_is_new = b.is_new;
    return status;
}

static loci_status add_drop(void *ctx, const lc_table *table, loci_error *err)
{
    (void)err;
    if (table->is_large && table->table_class != LC_TABLE_PROJECTION)
        put_drop(ctx, table->name);
    return LOCI_OK;
}

loci_status lc_partition_drop_copies(lc_tx *tx, loci_error *err)
{
    lc_buf text;

    lc_buf_init(&text, &tx->db->env->heap, LOCI_MEM_PIPELINES, SCRIPT_BYTES_MAX);
    (void)lc_catalogue_each(tx->db->catalogue, add_drop, &text, err); /* Cannot fail. */
    return run_text(tx, &text, err);
}

/* ---- Copy ------------------------------------------------------------------------------------ */

/* The body may run again, so it does not touch what the next slice starts from. */
typedef struct slice {
    lc_partition *partition;
    lc_arena *arena;
    loci_str after[LC_PARTITION_KEY_MAX];
    int64_t rows;
} slice;

static loci_status copy(lc_tx *tx, void *ctx, loci_error *err)
{
    slice *s = ctx;
    lc_partition *p = s->partition;
    lc_arg args[LC_PARTITION_KEY_MAX + 1];
    lc_rows rows = {0};
    bool found;
    loci_status status;

    s->rows = 0;
    lc_arena_clear(s->arena);
    for (size_t i = 0; i < p->key_count; i++)
        args[i] = LC_T(p->after[i]);
    args[p->key_count] = LC_I(p->limit);
    tx->wrote = true;
    status = lc_tx_find(tx, &p->copy_sql, args, &rows, &found, err);
    if (status != LOCI_OK || !found)
        return status;
    for (size_t i = 0; status == LOCI_OK && i < p->key_count; i++) {
        s->after[i] = lc_arena_copy(s->arena, lc_rows_str(&rows, (int)i));
        if (s->after[i].ptr == NULL)
            status = lc_fail_memory(err);
    }
    s->rows = lc_rows_i64(&rows, (int)p->key_count);
    lc_rows_end(&rows);
    return status;
}

/* No other write waits for it. */
static loci_status write_without_lock(lc_db *db, int64_t timeout_ms, lc_tx_body *body, void *ctx,
                                      loci_error *err)
{
    lc_write write = {
        .tenant_id = LC_STR(""),
        .user_id = LC_STR(""),
        .now_us = lc_env_now_us(db->env),
        .deadline_us = lc_clock_monotonic_us() + INT64_C(1000) * timeout_ms,
        .locks_nothing = true,
        .body = body,
        .ctx = ctx,
    };

    while (!write.is_answered)
        lc_db_write(db, &write);
    if (write.status != LOCI_OK && err != NULL)
        *err = write.error;
    return write.status;
}

loci_status lc_partition_copy(lc_partition *p, lc_db *db, loci_error *err)
{
    int64_t began_us = lc_clock_monotonic_us(), took_us;
    slice s = {.partition = p, .arena = &p->arena[1 - p->arena_in_use]};
    loci_status status = write_without_lock(db, LC_UPKEEP_WAIT_MS, copy, &s, err);

    if (status != LOCI_OK)
        return status;
    p->is_over = s.rows == 0;
    p->rows += s.rows;
    if (p->is_over)
        return LOCI_OK;
    memcpy(p->after, s.after, sizeof p->after);
    p->arena_in_use = 1 - p->arena_in_use;
    took_us = lc_clock_monotonic_us() - began_us;
    if (took_us < SLICE_US / 2 && p->limit < ROWS_MAX)
        p->limit *= 2;
    else if (took_us > SLICE_US && p->limit > 1)
        p->limit /= 2;
    return LOCI_OK;
}

/* ---- Swap ------------------------------------------------------------------------------------ */

/* Behind the drop of the trigger, whose lock keeps other processes from making another copy. */
static loci_status check_copy(lc_tx *tx, const lc_partition *p, loci_error *err)
{
    int64_t id = 0;
    loci_status status = find_copy(tx, p->table, &id, err);

    if (status == LOCI_OK && id != p->copy_id)
        status = lc_fail(err, LOCI_EFENCED, "another process has begun the copy of %s again",
                         p->table->name);
    return status;
}

static loci_status put_in_place(lc_tx *tx, const lc_partition *p, loci_error *err)
{
    const lc_table *table = p->table;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, &tx->db->env->heap, LOCI_MEM_PIPELINES, SCRIPT_BYTES_MAX);
    lc_buf_append_format(&text, "drop trigger loci_copy on %s; drop function loci_copy_%s();\n",
                         table->name, table->name);
    put_grants(&text, table); /* There may be new ones since the begin. */
    status = run_text(tx, &text, err);
    if (status == LOCI_OK)
        status = check_copy(tx, p, err);
    if (status == LOCI_OK)
        status = lc_discard_put_table_aside(tx, table, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&text, &tx->db->env->heap, LOCI_MEM_PIPELINES, SCRIPT_BYTES_MAX);
    lc_buf_append_format(&text, "alter table %s__copy rename to %s;\n", table->name, table->name);
    return run_text(tx, &text, err);
}

/* The planner knows nothing about the new table, and the server analyzes partitions only. This
 * reads a sample of each of them, which may take longer than another write can wait. Best effort:
 * it changes no answer. */
static loci_status analyze(lc_tx *tx, void *ctx, loci_error *err)
{
    char text[2 * NAME_BYTES];

    (void)snprintf(text, sizeof text, "analyze %s__copy", ((const lc_partition *)ctx)->table->name);
    return tx->db->driver->upkeep->run_script(tx, text, err);
}

static loci_status swap(lc_tx *tx, void *ctx, loci_error *err)
{
    int64_t left = 0;
    loci_status status = lc_tx_lock_log(tx, err);

    if (status == LOCI_OK)
        status = lc_tx_lock_readers(tx, err);
    if (status == LOCI_OK)
        status = lc_discard_count(tx, &left, err);
    if (status == LOCI_OK && left > 0) /* Of a rebuild that has just ended. */
        status = lc_fail(err, LOCI_ECONFLICT, "tables of an earlier swap are left");
    if (status == LOCI_OK)
        status = put_in_place(tx, ctx, err);
    if (status == LOCI_OK)
        status = lc_grown_renew_mark(tx, err);
    return status == LOCI_OK ? lc_discard_enqueue(tx, err) : status;
}

loci_status lc_partition_swap(lc_partition *p, lc_db *db, loci_error *err)
{
    loci_status status = LOCI_OK;

    (void)write_without_lock(db, ANALYZE_MS, analyze, p, NULL);
    for (int i = 0; i < SWAP_ATTEMPTS_MAX; i++) {
        if (status == LOCI_OK)
            status = lc_discard_run(db, err);
        if (status == LOCI_OK)
            status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, swap, p, err);
        if (status != LOCI_ECONFLICT)
            break;
        status = LOCI_OK;
    }
    return status;
}
