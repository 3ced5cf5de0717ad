/* todo.c - see todo.h. An event holds the whole todo as it is afterwards. */
#include "memory/todo.h"

#include "base/error.h"
#include "base/str.h"
#include "memory/withdraw.h"
#include "store/event.h"

/* The columns that todo.changed sets. */
#define STATE_COLUMNS                                                                              \
    LC_STRING_COLUMN(lc_todo, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,              \
                     .help = "Id of the todo (todo_...)"),                                         \
        LC_STRING_COLUMN(lc_todo, text, "body", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,   \
                         .absent = "", .json = "text", .help = "Text of the todo"),                \
        LC_STRING_COLUMN(lc_todo, kind, "kind", LC_COL_PAYLOAD | LC_COL_REQUIRED,                  \
                         .absent = "commitment", .choices = LC_TODO_KINDS,                         \
                         .help = "Kind of todo"),                                                  \
        LC_STRING_COLUMN(lc_todo, status, "status", LC_COL_PAYLOAD | LC_COL_REQUIRED,              \
                         .absent = "open", .choices = LC_TODO_STATUSES,                            \
                         .help = "Whether it is still to be done"),                                \
        LC_TIME_COLUMN(lc_todo, due_at, "due_at", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,     \
                       .help = "Time at which it is due"),                                         \
        LC_STRINGS_COLUMN(lc_todo, entity_refs, "entity_refs", LC_COL_PAYLOAD | LC_COL_REQUIRED,   \
                          .absent = "[]", .help = "Entities it is about"),                         \
        LC_TIME_COLUMN(lc_todo, done_at, "done_at",                                                \
                       LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,                  \
                       .help = "Time at which it was done")

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(lc_todo, seq, "seq", LC_COL_EVENT),
    STATE_COLUMNS,
    LC_STRING_COLUMN(lc_todo, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,
                     .absent = "", .help = "Persona it belongs to; absent if it belongs to all"),
    LC_TIME_COLUMN(lc_todo, created_at, "created_at", LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which it was added"),
    LC_STRING_COLUMN(lc_todo, message_id, "source_id",
                     LC_COL_NULL | LC_COL_REFS | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "Message that it was read in; absent if it was added by a call"),
    LC_STRING_COLUMN(lc_todo, session_id, "source_session",
                     LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "Session of that message"),
    LC_STRING_COLUMN(lc_todo, quote, "quote",
                     LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "Sentence that it came from"),
    {0},
};

const lc_row_type lc_todo_row = {columns, 0, sizeof(lc_todo)};

static const lc_column state_columns[] = {STATE_COLUMNS, {0}};

const lc_row_type lc_todo_state_row = {state_columns, 0, sizeof(lc_todo)};

static const lc_index indexes[] = {
    {"status", "tenant_id, user_id, status, persona_id, seq", NULL, false},
    {"source", "tenant_id, user_id, source_id", "source_id is not null", false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_sql = {"delete from todos where tenant_id = $1 and user_id = $2", "tt",
                                  NULL};

const lc_table lc_todos_table = {
    .name = "todos",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, seq",
    .forget = &forget_sql,
    .indexes = indexes,
};

static const lc_sql insert_sql = {
    "insert into todos (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_todo_row};

const lc_event_type lc_todo_added_event = {
    .name = "todo.added", .version = 1, .insert = &insert_sql};

static const lc_sql change_sql = {
    "update todos set {set} where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL,
    &lc_todo_state_row};

static loci_status apply_changed(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    lc_todo todo = {0};
    lc_id_parts parts;
    loci_status status = lc_row_decode(&lc_todo_state_row, event, arena, &todo, err);

    if (status == LOCI_OK && !lc_id_parse(todo.id, "todo", &parts))
        status = lc_event_fail(event, err);
    if (status == LOCI_OK && !event->is_erased) {
        args[2] = LC_I(parts.seq);
        lc_row_bind(&lc_todo_state_row, &todo, args + 3);
        status = lc_tx_exec(tx, &change_sql, args, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_todo_changed_event = {
    .name = "todo.changed", .version = 1, .apply = apply_changed};

loci_status lc_todo_add(lc_tx *tx, lc_todo *todo, lc_id *out_id, loci_error *err)
{
    loci_status status = lc_tx_make_id(tx, "todo", out_id, err);

    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &todo->created_at, err);
    todo->id = lc_id_str(out_id);
    return status == LOCI_OK
               ? lc_row_append(tx, &lc_todo_added_event, &lc_todo_row, todo, &todo->seq, err)
               : status;
}

static const lc_sql state_sql = {
    "select {row} from todos where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "",
    &lc_todo_state_row};

loci_status lc_todo_change(lc_tx *tx, const lc_todo *todo, loci_error *err)
{
    const lc_state_change change = {&lc_todo_changed_event, &state_sql, todo->seq, todo};

    return lc_state_change_append(tx, &change, NULL, err);
}

#define SELECT "select {row} from todos where tenant_id = $1 and user_id = $2"

static const lc_sql load_sql = {SELECT " and persona_id in ('', $3) and seq = $4", "ttti", "",
                                &lc_todo_row};

loci_status lc_todo_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_todo *out,
                         loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "todo", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                               LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no todo %.*s", LC_STR_ARG(id));
    return status;
}

static const lc_sql each_sql = {SELECT " and persona_id in ('', $3) and seq < $4"
                                       " and ($5 = '' or status = $5) and ($6 = '' or kind = $6)"
                                       " order by seq desc limit $7",
                                "tttitti", "", &lc_todo_row};

loci_status lc_todo_each(lc_tx *tx, const lc_todo_page *page, lc_todo_visit *visit, void *ctx,
                         loci_error *err)
{
    lc_todo todo = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &each_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T_OR_EMPTY(page->persona_id),
                                                LC_I(page->before_seq), LC_T_OR_EMPTY(page->status),
                                                LC_T_OR_EMPTY(page->kind), LC_I(page->limit)},
                                     &rows, err);

    while (lc_row_next(&rows, &todo, &status, err))
        status = visit(ctx, &todo, err);
    lc_rows_end(&rows);
    return status;
}

static const lc_sql is_open_sql = {
    "select seq from todos where tenant_id = $1 and user_id = $2 and status = 'open'"
    " and persona_id = $3 and body = $4 and coalesce(due_at, 0) = $5 limit 1",
    "tttti", "i"};

loci_status lc_todo_is_open(lc_tx *tx, const lc_todo *todo, bool *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_find(tx, &is_open_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T_OR_EMPTY(todo->persona_id), LC_T(todo->text),
                                               LC_I(todo->due_at)},
                                    &rows, out, err);

    lc_rows_end(&rows);
    return status;
}

static const lc_sql of_source_sql = {SELECT " and source_id is not null"
                                            " and ($3 = '' or source_id = $3)"
                                            " and ($4 = '' or source_session = $4) order by seq",
                                     "tttt", "", &lc_todo_row};

loci_status lc_todo_each_of_source(lc_tx *tx, const lc_todo_source *source, lc_todo_visit *visit,
                                   void *ctx, loci_error *err)
{
    lc_todo todo = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &of_source_sql,
                                     (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                LC_T_OR_EMPTY(source->message_id),
                                                LC_T_OR_EMPTY(source->session_id)},
                                     &rows, err);

    while (lc_row_next(&rows, &todo, &status, err))
        status = visit(ctx, &todo, err);
    lc_rows_end(&rows);
    return status;
}
