/* snapshot.c - taking, writing and applying snapshots.
 *
 * The payload of a part:
 *
 *     {"tables": [{"table": "memories", "columns": ["id", …], "rows": [["mem_…", …], …]}, …]}
 *
 * Columns are those behind tenant_id and user_id. Bytes are base64 text, doubles JSON numbers that
 * are read back exactly. A part ends before the row that would make it longer than PART_BYTES; a
 * single row may be longer, up to ROW_BYTES_MAX: JSON in a column is escaped once more than in its
 * event, which can double it.
 *
 * The statements are made from the catalogue (store/dump.h). They must outlive the connection, so
 * each connection has its own plan, made at the first use.
 */
#include "store/snapshot.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "store/dump.h"

#define PART_BYTES (LC_EVENT_BYTES_MAX / 2)
#define ROW_BYTES_MAX (LC_SNAPSHOT_PART_BYTES_MAX - 65536) /* The rest is for names of columns. */
#define ALL_ROWS INT64_C(1000000000000)
#define KEPT_TYPES 4
#define PARTS_AT_ONCE 8 /* A server sends all that was asked for, and the caller may stop. */

static const lc_sql base_sql = {"select base_seq from heads where tenant_id = $1 and user_id = $2",
                                "tt", "i"};
static const lc_sql set_base_sql = {
    "update heads set base_seq = $3 where tenant_id = $1 and user_id = $2", "tti", NULL};
/* The parts of an earlier snapshot make room for the new ones, and go when these are there: the
 * last row of the log must not be deleted before another follows it (store/grown.h). */
#define ASIDE "1000000000"
static const lc_sql set_aside_sql = {"update events set seq = seq - " ASIDE
                                     " where tenant_id = $1 and user_id = $2 and seq <= 0",
                                     "tt", NULL};
static const lc_sql clear_sql = {
    "delete from events where tenant_id = $1 and user_id = $2 and seq <= -" ASIDE, "tt", NULL};
static const lc_sql put_sql = {
    "insert into events (tenant_id, user_id, seq, type, v, recorded_at, refs, payload, is_erased)"
    " values ($1, $2, $3, $4, 1, $5, $6, $7, 0)",
    "ttititt", NULL};
static const lc_sql oldest_sql = {
    "select min(seq) from events where tenant_id = $1 and user_id = $2 and seq > 0 and seq <= $3"
    " and type not in ($4, $5, $6, $7)",
    "ttitttt", "i"};
static const lc_sql trim_sql = {
    "delete from events where tenant_id = $1 and user_id = $2 and seq > 0 and seq <= $3"
    " and type not in ($4, $5, $6, $7)",
    "ttitttt", NULL};

/* ---- Plans ----------------------------------------------------------------------------------- */

static loci_status find_plan(lc_db *db, const lc_dump_plan **out, loci_error *err)
{
    lc_heap *heap = &db->env->heap;
    loci_status status = LOCI_OK;

    if (db->plan == NULL) {
        lc_dump_plan *plan = lc_heap_zalloc(heap, sizeof *plan, LOCI_MEM_ENGINE);

        if (plan == NULL)
            return lc_fail_memory(err);
        status = lc_dump_plan_init(plan, heap, db->catalogue, err);
        if (status == LOCI_OK)
            db->plan = plan;
        else
            lc_heap_free(heap, plan, sizeof *plan, LOCI_MEM_ENGINE);
    }
    *out = db->plan;
    return status;
}

static const lc_dump_table *find_table(const lc_dump_plan *plan, loci_str name)
{
    for (size_t i = 0; i < plan->table_count; i++)
        if (lc_str_is(name, plan->tables[i].table->name))
            return &plan->tables[i];
    return NULL;
}

/* ---- Taking ---------------------------------------------------------------------------------- */

void lc_snapshot_init(lc_snapshot *snapshot, lc_heap *heap)
{
    *snapshot = (lc_snapshot){0};
    lc_arena_init(&snapshot->arena, heap, LOCI_MEM_PIPELINES);
    lc_buf_init(&snapshot->part, heap, LOCI_MEM_PIPELINES, LC_SNAPSHOT_PART_BYTES_MAX);
    lc_buf_init(&snapshot->row, heap, LOCI_MEM_PIPELINES, ROW_BYTES_MAX);
}

void lc_snapshot_clear(lc_snapshot *snapshot)
{
    lc_buf_clear(&snapshot->row);
    lc_buf_clear(&snapshot->part);
    if (snapshot->arena.heap != NULL)
        lc_arena_clear(&snapshot->arena);
}

/* A part being written. */
typedef struct taking {
    lc_snapshot *s;
    lc_json_writer json;        /* Of the part, */
    lc_json_writer row;         /* and of the next row in it. */
    const lc_dump_table *table; /* Its rows are open; NULL = none are. */
} taking;

static void close_table(taking *t)
{
    if (t->table == NULL)
        return;
    lc_jw_end(&t->json); /* rows */
    lc_jw_end(&t->json);
    t->table = NULL;
}

static void open_table(taking *t, const lc_dump_table *table)
{
    const lc_column *columns = table->table->columns;

    if (t->s->part.len == 0) {
        lc_jw_init(&t->json, &t->s->part);
        lc_jw_object(&t->json);
        lc_jw_name(&t->json, "tables");
        lc_jw_array(&t->json);
    }
    lc_jw_object(&t->json);
    lc_jw_member_text(&t->json, "table", table->table->name);
    lc_jw_name(&t->json, "columns");
    lc_jw_array(&t->json);
    for (int i = 2; columns[i].kind != 0; i++)
        lc_jw_text(&t->json, columns[i].name);
    lc_jw_end(&t->json);
    lc_jw_name(&t->json, "rows");
    lc_jw_array(&t->json);
    t->table = table;
}

static loci_status end_part(taking *t, loci_error *err)
{
    lc_snapshot *s = t->s;
    loci_status status;

    if (s->part.len == 0)
        return LOCI_OK;
    close_table(t);
    lc_jw_end(&t->json); /* tables */
    lc_jw_end(&t->json);
    status = lc_buf_status(&s->part, err);
    if (status != LOCI_OK)
        return status;
    if (s->count == s->room) {
        size_t room = s->room > 0 ? 2 * s->room : 16;
        loci_str *parts = lc_arena_zalloc_array(&s->arena, room, sizeof *parts);

        if (parts == NULL)
            return lc_fail_memory(err);
        if (s->count > 0)
            memcpy(parts, s->parts, s->count * sizeof *parts);
        s->parts = parts;
        s->room = room;
    }
    s->parts[s->count] = lc_arena_copy(&s->arena, lc_buf_str(&s->part));
    if (s->parts[s->count].ptr == NULL)
        return lc_fail_memory(err);
    s->bytes += (int64_t)s->part.len;
    s->count++;
    lc_buf_reset(&s->part);
    return LOCI_OK;
}

static loci_status put_bytes(taking *t, loci_str bytes, loci_error *err)
{
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, t->s->arena.heap, LOCI_MEM_PIPELINES, ROW_BYTES_MAX);
    lc_base64_append(&text, bytes.ptr, bytes.len);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK)
        lc_jw_str(&t->row, text.len > 0 ? lc_buf_str(&text) : LC_STR(""));
    lc_buf_clear(&text);
    return status;
}

static loci_status put_cell(taking *t, const lc_cell *cell, loci_error *err)
{
    switch (cell->kind) {
    case 0:
        lc_jw_null(&t->row);
        return LOCI_OK;
    case 'i':
        lc_jw_int(&t->row, cell->as.i64);
        return LOCI_OK;
    case 'f':
        lc_jw_real(&t->row, cell->as.f64);
        return LOCI_OK;
    case 'b':
        return put_bytes(t, cell->as.str, err);
    default:
        lc_jw_str(&t->row, cell->as.str);
        return LOCI_OK;
    }
}

static loci_status take_row(taking *t, const lc_dump_table *table, const lc_rows *rows,
                            loci_error *err)
{
    lc_snapshot *s = t->s;
    loci_status status = LOCI_OK;

    lc_buf_reset(&s->row);
    lc_jw_init(&t->row, &s->row);
    lc_jw_array(&t->row);
    for (int i = 2; i < rows->column_count && status == LOCI_OK; i++)
        status = put_cell(t, lc_rows_cell(rows, i), err);
    lc_jw_end(&t->row);
    if (status == LOCI_OK)
        status = lc_buf_status(&s->row, err);
    if (status == LOCI_OK && s->part.len + s->row.len > PART_BYTES)
        status = end_part(t, err);
    if (status != LOCI_OK)
        return status;
    if (t->table == NULL)
        open_table(t, table);
    lc_jw_raw(&t->json, lc_buf_str(&s->row));
    return lc_buf_status(&s->part, err);
}

static loci_status take_table(taking *t, const lc_dump_table *table, lc_tx *tx, const lc_arg *owner,
                              loci_error *err)
{
    const lc_arg args[] = {owner[0], owner[1], LC_I(ALL_ROWS)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &table->first, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        status = take_row(t, table, &rows, err);
    lc_rows_end(&rows);
    close_table(t);
    return status;
}

loci_status lc_snapshot_take(lc_snapshot *snapshot, lc_tx *tx, loci_str tenant_id, loci_str user_id,
                             loci_error *err)
{
    const lc_arg owner[] = {LC_T(tenant_id), LC_T(user_id)};
    taking t = {.s = snapshot};
    const lc_dump_plan *plan;
    loci_status status = find_plan(tx->db, &plan, err);

    for (size_t i = 0; status == LOCI_OK && i < plan->table_count; i++)
        status = take_table(&t, &plan->tables[i], tx, owner, err);
    if (status == LOCI_OK && snapshot->count == 0 && snapshot->part.len == 0) {
        lc_jw_init(&t.json, &snapshot->part); /* Without rows it has one part. */
        lc_jw_object(&t.json);
        lc_jw_name(&t.json, "tables");
        lc_jw_array(&t.json);
    }
    return status == LOCI_OK ? end_part(&t, err) : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

loci_status lc_snapshot_put(const lc_snapshot *snapshot, lc_tx *tx, int64_t seq,
                            int64_t recorded_at, loci_error *err)
{
    const lc_arg owner[] = {LC_T(tx->tenant_id), LC_T(tx->user_id)};
    loci_status status = lc_tx_flush_head(tx, err); /* The row exists from here on. */

    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &set_aside_sql, owner, err);
    for (size_t i = 0; status == LOCI_OK && i < snapshot->count; i++) {
        int64_t count = (int64_t)snapshot->count, part = (int64_t)i + 1 - count;
        char refs[LC_SNAPSHOT_REFS_BYTES];

        status = lc_tx_exec(tx, &put_sql,
                            (lc_arg[]){owner[0], owner[1], LC_I(part),
                                       LC_T(loci_str_of(lc_snapshot_event.name)), LC_I(recorded_at),
                                       LC_T(lc_snapshot_refs(refs, seq, part, count)),
                                       LC_T(snapshot->parts[i])},
                            err);
    }
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &clear_sql, owner, err);
    return status == LOCI_OK
               ? lc_tx_exec_one(tx, &set_base_sql, (lc_arg[]){owner[0], owner[1], LC_I(seq)}, err)
               : status;
}

/* The names of the types that are kept, for `type not in`; the rest of them are "". */
static void list_kept(const lc_catalogue *catalogue, lc_arg out[KEPT_TYPES])
{
    size_t count = 0;

    for (size_t i = 0; i < KEPT_TYPES; i++)
        out[i] = LC_T(LC_STR(""));
    for (const lc_room *const *room = catalogue->rooms; *room != NULL; room++)
        for (const lc_event_type *const *type = (*room)->events; type != NULL && *type != NULL;
             type++)
            if ((*type)->is_kept) {
                LC_ASSERT(count < KEPT_TYPES);
                out[count++] = LC_T(loci_str_of((*type)->name));
            }
}

static loci_status find_replaced(lc_tx *tx, lc_arg args[3 + KEPT_TYPES], int64_t *base,
                                 int64_t *out, loci_error *err)
{
    loci_status status = lc_snapshot_base(tx, tx->tenant_id, tx->user_id, base, err);

    *out = 0;
    args[0] = LC_T(tx->tenant_id);
    args[1] = LC_T(tx->user_id);
    args[2] = LC_I(*base);
    list_kept(tx->db->catalogue, args + 3);
    return status == LOCI_OK && *base > 0 ? lc_tx_find_numbers(tx, &oldest_sql, args, out, err)
                                          : status;
}

loci_status lc_snapshot_find_replaced(lc_tx *tx, int64_t *out, loci_error *err)
{
    lc_arg args[3 + KEPT_TYPES];
    int64_t base;

    return find_replaced(tx, args, &base, out, err);
}

loci_status lc_snapshot_trim(lc_tx *tx, int64_t limit, bool *out_any, loci_error *err)
{
    lc_arg args[3 + KEPT_TYPES];
    int64_t base, oldest;
    loci_status status = find_replaced(tx, args, &base, &oldest, err);

    *out_any = false;
    if (status != LOCI_OK || oldest == 0)
        return status;
    if (oldest + limit - 1 < base) {
        args[2] = LC_I(oldest + limit - 1);
        *out_any = true;
    }
    return lc_tx_exec(tx, &trim_sql, args, err);
}

loci_status lc_snapshot_fold(lc_tx *tx, loci_error *err)
{
    lc_arg args[3 + KEPT_TYPES];
    lc_snapshot snapshot;
    int64_t base, oldest = 0;
    lc_head head;
    loci_status status = lc_snapshot_base(tx, tx->tenant_id, tx->user_id, &base, err);

    if (status != LOCI_OK || base == 0)
        return status;
    lc_snapshot_init(&snapshot, &tx->db->env->heap);
    status = lc_tx_head(tx, &head, err);
    if (status == LOCI_OK)
        status = lc_snapshot_take(&snapshot, tx, tx->tenant_id, tx->user_id, err);
    if (status == LOCI_OK)
        status = lc_snapshot_put(&snapshot, tx, head.seq, head.recorded_at, err);
    if (status == LOCI_OK)
        status = find_replaced(tx, args, &base, &oldest, err);
    args[2] = LC_I(head.seq - 1);
    if (status == LOCI_OK && oldest > 0 && oldest < head.seq)
        status = lc_tx_exec(tx, &trim_sql, args, err);
    lc_snapshot_clear(&snapshot);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

loci_status lc_snapshot_base(lc_tx *tx, loci_str tenant_id, loci_str user_id, int64_t *out,
                             loci_error *err)
{
    *out = 0;
    return lc_tx_find_numbers(tx, &base_sql, (lc_arg[]){LC_T(tenant_id), LC_T(user_id)}, out, err);
}

typedef struct parts {
    lc_event_visit *visit;
    void *ctx;
    int64_t seq; /* Of the last one. */
    int count;   /* Visited on this page. */
    bool is_over;
} parts;

static loci_status visit_part(void *ctx, const lc_event *event, loci_error *err)
{
    parts *p = ctx;

    p->is_over = event->seq > 0;
    if (p->is_over)
        return LOCI_ECANCELLED;
    p->seq = event->seq;
    p->count++;
    return p->visit(p->ctx, event, err);
}

loci_status lc_snapshot_each(lc_tx *tx, const lc_event_range *user, int64_t after,
                             lc_event_visit *visit, void *ctx, loci_error *err)
{
    parts p = {.visit = visit, .ctx = ctx, .seq = after};
    lc_event_range range = *user;
    loci_status status;

    range.limit = PARTS_AT_ONCE;
    do {
        p.count = 0;
        range.after_seq = p.seq;
        status = lc_event_each(tx, &range, visit_part, &p, err);
    } while (status == LOCI_OK && p.count == PARTS_AT_ONCE);
    return p.is_over ? LOCI_OK : status;
}

/* The number behind `name` in the refs; 0 if there is none. */
static int64_t number_in(loci_str refs, loci_str name)
{
    const char *at = memmem(refs.ptr, refs.len, name.ptr, name.len);
    int64_t number = 0;

    if (at == NULL)
        return 0;
    for (at += name.len; at < refs.ptr + refs.len && *at >= '0' && *at <= '9'; at++) {
        number = 10 * number + (*at - '0');
        if (number > LC_ID_SEQ_MAX)
            return 0;
    }
    return number;
}

int64_t lc_snapshot_base_of(const lc_event *part)
{
    return number_in(part->refs, LC_STR("{\"base_seq\":"));
}

int64_t lc_snapshot_count_of(const lc_event *part)
{
    return number_in(part->refs, LC_STR("\"parts\":"));
}

loci_str lc_snapshot_refs(char out[LC_SNAPSHOT_REFS_BYTES], int64_t base, int64_t seq,
                          int64_t count)
{
    int len = snprintf(out, LC_SNAPSHOT_REFS_BYTES,
                       "{\"base_seq\":%lld,\"part\":%lld,\"parts\":%lld}", (long long)base,
                       (long long)(seq + count), (long long)count);

    return (loci_str){out, (size_t)len}; /* Fits. */
}

bool lc_snapshot_is_first(const lc_event *part)
{
    static const char first[] = "\"part\":1,";

    return memmem(part->refs.ptr, part->refs.len, first, sizeof first - 1) != NULL;
}

typedef struct finding {
    int64_t recorded_at;
} finding;

static loci_status note_time(void *ctx, const lc_event *event, loci_error *err)
{
    (void)err;
    ((finding *)ctx)->recorded_at = event->recorded_at;
    return LOCI_ECANCELLED;
}

loci_status lc_snapshot_refuse(lc_tx *tx, int64_t seq, loci_status refusal, const char *what,
                               loci_error *err)
{
    char text[LC_TIME_BYTES_MAX];
    finding f = {INT64_MIN};
    int64_t base;
    size_t len;
    loci_status status = lc_snapshot_base(tx, tx->tenant_id, tx->user_id, &base, err);

    if (status != LOCI_OK || seq > base || base == 0)
        return status;
    status = lc_snapshot_each(tx,
                              &(lc_event_range){.tenant_id = tx->tenant_id, .user_id = tx->user_id},
                              LC_SNAPSHOT_BEGIN, note_time, &f, err);
    if (status != LOCI_OK && status != LOCI_ECANCELLED)
        return status;
    len = lc_time_format(f.recorded_at, text);
    return lc_fail(err, refusal,
                   "%s: the log of user %.*s was compacted (store.compact) and begins at %.*s",
                   what, LC_STR_ARG(tx->user_id), (int)len, text);
}

/* ---- Applying -------------------------------------------------------------------------------- */

static loci_status read_cell(const lc_json *value, char kind, lc_arena *arena, lc_arg *out)
{
    lc_json_kind found = lc_json_kind_of(value);

    if (found == LC_JSON_NULL) {
        *out = LC_NULL;
    } else if (kind == 'i' && found == LC_JSON_INT) {
        *out = LC_I(lc_json_int(value));
    } else if (kind == 'f' && (found == LC_JSON_INT || found == LC_JSON_REAL)) {
        *out = LC_F(found == LC_JSON_INT ? (double)lc_json_int(value) : lc_json_real(value));
    } else if (kind == 't' && found == LC_JSON_STRING) {
        *out = LC_T(lc_json_str(value));
    } else if (kind == 'b' && found == LC_JSON_STRING) {
        loci_str text = lc_json_str(value);
        size_t pad = (text.len > 0 && text.ptr[text.len - 1] == '=') +
                     (text.len > 1 && text.ptr[text.len - 2] == '=');
        size_t bytes = text.len / 4 * 3 - pad;
        char *data = lc_arena_alloc(arena, bytes + 1);

        if (data == NULL)
            return LOCI_ERESOURCE;
        if (!lc_base64_read(text, data, bytes))
            return LOCI_ECORRUPT;
        *out = LC_B(((loci_str){data, bytes}));
    } else {
        return LOCI_ECORRUPT;
    }
    return LOCI_OK;
}

static lc_arg default_of(const lc_column *column)
{
    if (column->nullable)
        return LC_NULL;
    if (column->kind == 'i')
        return LC_I(0);
    if (column->kind == 'f')
        return LC_F(0);
    return column->kind == 't' ? LC_T(LC_STR("")) : LC_B(LC_STR(""));
}

typedef struct putting {
    lc_tx *tx;
    const lc_event *event;
    lc_arena *arena;
    const lc_dump_table *table;
    int places[LC_COLUMNS_MAX]; /* Of the table's columns in a row of the part; -1 = none. */
} putting;

static loci_status put_row(const putting *p, const lc_json *row, loci_error *err)
{
    const lc_column *columns = p->table->table->columns;
    const lc_json *cells[LC_COLUMNS_MAX];
    lc_arg args[LC_COLUMNS_MAX] = {LC_T(p->event->tenant_id), LC_T(p->event->user_id)};
    lc_arena_mark mark = lc_arena_get_mark(p->arena);
    loci_status status = LOCI_OK;
    int count = 0;

    if (lc_json_kind_of(row) != LC_JSON_ARRAY || lc_json_count(row) > LC_COLUMNS_MAX)
        return lc_event_fail(p->event, err);
    for (const lc_json *cell = lc_json_first(row); cell != NULL; cell = lc_json_next(cell))
        cells[count++] = cell;
    for (int i = 2; columns[i].kind != 0 && status == LOCI_OK; i++) {
        args[i] = default_of(&columns[i]);
        if (p->places[i] >= 0)
            status = p->places[i] < count
                         ? read_cell(cells[p->places[i]], columns[i].kind, p->arena, &args[i])
                         : LOCI_ECORRUPT;
    }
    if (status == LOCI_ECORRUPT)
        status = lc_event_fail(p->event, err);
    else if (status != LOCI_OK)
        status = lc_fail_memory(err);
    if (status == LOCI_OK)
        status = lc_tx_exec(p->tx, &p->table->insert, args, err);
    lc_arena_rewind(p->arena, mark);
    return status;
}

static loci_status put_table(putting *p, const lc_json *table, loci_error *err)
{
    const lc_json *names = lc_json_find(table, "columns", LC_JSON_ARRAY);
    const lc_json *rows = lc_json_find(table, "rows", LC_JSON_ARRAY);
    const lc_column *columns;
    loci_status status = LOCI_OK;

    if (names == NULL || rows == NULL)
        return lc_event_fail(p->event, err);
    columns = p->table->table->columns;
    for (int i = 2; columns[i].kind != 0; i++) {
        int place = 0;

        p->places[i] = -1;
        for (const lc_json *name = lc_json_first(names); name != NULL;
             name = lc_json_next(name), place++)
            if (lc_json_kind_of(name) == LC_JSON_STRING &&
                lc_str_is(lc_json_str(name), columns[i].name))
                p->places[i] = place;
    }
    for (const lc_json *row = lc_json_first(rows); row != NULL && status == LOCI_OK;
         row = lc_json_next(row))
        status = put_row(p, row, err);
    return status;
}

static loci_status empty_tables(const putting *p, const lc_dump_plan *plan, loci_error *err)
{
    const lc_arg owner[] = {LC_T(p->event->tenant_id), LC_T(p->event->user_id)};
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < plan->table_count; i++)
        status = lc_tx_exec(p->tx, &plan->tables[i].remove, owner, err);
    return status;
}

/* An erased part has no rows: all of the user was forgotten. */
static loci_status apply(lc_tx *tx, const lc_event *event, loci_error *err)
{
    putting p = {.tx = tx, .event = event, .arena = &tx->db->scratch};
    lc_arena_mark mark = lc_arena_get_mark(p.arena);
    const lc_dump_plan *plan;
    const lc_json *tables = NULL;
    lc_event_json json;
    loci_status status = find_plan(tx->db, &plan, err);

    if (status == LOCI_OK)
        status = lc_event_parse(event, p.arena, &json, err);
    if (status == LOCI_OK && lc_snapshot_is_first(event))
        status = empty_tables(&p, plan, err);
    if (status == LOCI_OK)
        tables = lc_json_find(json.payload, "tables", LC_JSON_ARRAY);
    for (const lc_json *table = tables != NULL ? lc_json_first(tables) : NULL;
         table != NULL && status == LOCI_OK; table = lc_json_next(table)) {
        p.table = find_table(plan, lc_event_str(table, "table"));
        if (p.table != NULL)
            status = put_table(&p, table, err);
    }
    lc_arena_rewind(p.arena, mark);
    return status;
}

/* Only user.export shows it, to callers that may read all of a user. */
const lc_event_type lc_snapshot_event = {.name = "store.snapshot", .version = 1, .apply = apply};
