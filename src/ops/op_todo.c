/* op_todo.c - the operations on todos. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "memory/memory.h"
#include "memory/slug.h"
#include "memory/todo.h"
#include "ops/call_scope.h"
#include "ops/page.h"

static const lc_record todo_record = {.name = "Todo", .row = &lc_todo_row};

/* The answer of a call with texts. */
static const lc_record stated_answer = {
    .base = &todo_record,
    .members = (const lc_result[]){LC_WARNINGS_RESULT, {NULL}},
};

typedef struct todo_input {
    loci_str id, text, kind, status, message_id;
    int64_t due_at;
    lc_str_list entity_refs;
    lc_page_args page;
    loci_str refs; /* Made by prepare; none = not given. */
} todo_input;

#define TODO_PARAMS                                                                                \
    LC_SOURCE_PARAM(todo_input, message_id),                                                       \
        {LC_ARG_TIME("due_at", todo_input, due_at), .help = "Time at which it is due"},            \
    {                                                                                              \
        LC_ARG_STRINGS("entity_refs", todo_input, entity_refs),                                    \
            .flags = LC_PARAM_ONE_OR_MANY | LC_PARAM_SAID, .max = LC_MEMORY_REFS_MAX,              \
            .item_max = LC_ID_BYTES_MAX, .help = "Entities it is about, such as person:john_doe"   \
    }

/* Checks the text and makes the array of refs. */
static loci_status prepare_todo(lc_call *call, loci_error *err)
{
    todo_input *in = call->input;
    lc_json_writer w;
    lc_buf json;
    loci_status status = LOCI_OK;

    if (in->text.ptr != NULL && lc_str_trim(in->text).len == 0)
        return lc_fail(err, LOCI_EINVAL, "text: only white space; say what is to be done");
    if (in->entity_refs.items == NULL)
        return LOCI_OK;
    lc_buf_init(&json, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_array(&w);
    for (size_t i = 0; i < in->entity_refs.count && status == LOCI_OK; i++) {
        loci_str ref;

        status = lc_ref_make(call->arena, in->entity_refs.items[i], &ref, err);
        if (status == LOCI_OK)
            lc_jw_str(&w, ref);
    }
    lc_jw_end(&w);
    if (status == LOCI_OK)
        status = lc_buf_status(&json, err);
    if (status == LOCI_OK) {
        in->refs = lc_arena_copy(call->arena, lc_buf_str(&json));
        if (in->refs.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&json);
    return status;
}

static void put_todo(lc_call *call, const lc_todo *todo)
{
    lc_jw_object(&call->out);
    lc_row_put(&lc_todo_row, todo, &call->out);
    lc_jw_end(&call->out);
}

/* ---- todo.add -------------------------------------------------------------------------------- */

static const lc_param add_params[] = {
    {LC_ARG_STR("text", todo_input, text),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .alias = "content", .min = 1,
     .max = LC_TODO_TEXT_BYTES_MAX, .help = "Text of the todo"},
    {LC_ARG_STR("kind", todo_input, kind), .default_text = "\"commitment\"",
     .choices = LC_TODO_KINDS, .help = "Kind of todo"},
    TODO_PARAMS,
    {.name = NULL},
};

static loci_status run_add(lc_call *call, lc_tx *tx, loci_error *err)
{
    const todo_input *in = call->input;
    lc_todo todo = {.text = in->text,
                    .kind = in->kind,
                    .status = LC_STR("open"),
                    .due_at = in->due_at != LC_ABSENT ? in->due_at : 0,
                    .entity_refs = in->refs.ptr != NULL ? in->refs : LC_STR("[]"),
                    .persona_id = call->persona_id.ptr != NULL ? call->persona_id : LC_STR("")};
    lc_id id;
    loci_status status = lc_call_set_source(call, tx, in->message_id, err);

    if (status == LOCI_OK)
        status = lc_todo_add(tx, &todo, &id, err);
    if (status == LOCI_OK)
        put_todo(call, &todo);
    return status;
}

static const lc_op todo_add = {
    .name = "todo.add",
    .help = "Add a todo",
    .params = add_params,
    .input_bytes = sizeof(todo_input),
    .answer = &stated_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/todos",
    .mcp = "todo add",
    .mcp_takes = "text due_at",
    .mcp_shows = "id ~text due_at status",
    .look = {.sentence = "added: {text}[, due {due_at}]  ({id})"},
    .example = "{\"text\":\"Send the report to Anna\",\"due_at\":\"2026-12-01T09:00:00Z\"}",
    .prepare = prepare_todo,
    .run = run_add,
};

/* ---- todo.list ------------------------------------------------------------------------------- */

static const lc_param list_params[] = {
    {LC_ARG_STR("status", todo_input, status), .default_text = "\"open\"",
     .choices = LC_TODO_STATUSES "|any", .help = "Only todos with this status"},
    {LC_ARG_STR("kind", todo_input, kind), .choices = LC_TODO_KINDS,
     .help = "Only todos of this kind"},
    LC_PAGE_PARAMS(todo_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"todos", 0, "Todos, newest first", LC_RESULT_LIST, .record = &todo_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
} listing;

static loci_status put_listed(void *ctx, const lc_todo *todo, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = todo->seq;
    put_todo(l->page.call, todo);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const todo_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_todo_page page = {.persona_id = call->persona_id,
                         .status = lc_str_is(in->status, "any") ? LC_STR_NONE : in->status,
                         .kind = in->kind,
                         .limit = in->page.limit + 1};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status != LOCI_OK)
        return status;
    page.before_seq = l.last.seq;
    lc_page_open(&l.page, "todos");
    status = lc_todo_each(tx, &page, put_listed, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op todo_list = {
    .name = "todo.list",
    .help = "List todos, newest first (default: open ones)",
    .params = list_params,
    .input_bytes = sizeof(todo_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/todos",
    .mcp = "read_facts todos",
    .mcp_takes = "limit=20 cursor",
    .mcp_shows = "todos(text due_at id status kind whose:persona_id) next_cursor",
    .look = {.columns = "text kind due_at id", .is_of_texts = true},
    .example = "{\"kind\":\"commitment\"}",
    .run = run_list,
};

/* ---- todo.update and done -------------------------------------------------------------------- */

static const lc_param update_params[] = {
    LC_ID_PARAM(todo_input, id, "Id of the todo, todo_…"),
    {LC_ARG_STR("text", todo_input, text), .flags = LC_PARAM_SAID, .alias = "content", .min = 1,
     .max = LC_TODO_TEXT_BYTES_MAX, .help = "Text of the todo"},
    {LC_ARG_STR("kind", todo_input, kind), .choices = LC_TODO_KINDS, .help = "Kind of todo"},
    {LC_ARG_STR("status", todo_input, status), .choices = LC_TODO_STATUSES,
     .help = "Whether it is still to be done"},
    TODO_PARAMS,
    {.name = NULL},
};

static loci_status run_update(lc_call *call, lc_tx *tx, loci_error *err)
{
    const todo_input *in = call->input;
    bool is_done = lc_str_is(loci_str_of(call->op->name), "todo.done");
    loci_str next = is_done ? LC_STR("done") : in->status;
    lc_todo todo;
    loci_status status = lc_todo_load(tx, call->persona_id, in->id, call->arena, &todo, err);

    if (status != LOCI_OK)
        return status;
    if (in->text.ptr != NULL)
        todo.text = in->text;
    if (in->kind.ptr != NULL)
        todo.kind = in->kind;
    if (!is_done && in->due_at != LC_ABSENT)
        todo.due_at = in->due_at;
    if (in->refs.ptr != NULL)
        todo.entity_refs = in->refs;
    if (next.ptr != NULL && !lc_str_eq(next, todo.status)) {
        todo.status = next;
        todo.done_at = 0;
        if (lc_str_is(next, "done"))
            status = lc_tx_recorded_at(tx, &todo.done_at, err);
    }
    if (status == LOCI_OK)
        status = lc_call_set_source(call, tx, in->message_id, err);
    if (status == LOCI_OK)
        status = lc_todo_change(tx, &todo, err);
    if (status == LOCI_OK)
        put_todo(call, &todo);
    return status;
}

static const lc_op todo_update = {
    .name = "todo.update",
    .help = "Change a todo",
    .params = update_params,
    .input_bytes = sizeof(todo_input),
    .answer = &stated_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "PATCH /v1/todos/{id}",
    .mcp = "todo update",
    .mcp_takes = "id text status due_at",
    .mcp_shows = "id ~text due_at status",
    .look = {.sentence = "updated: {text}[, due {due_at}]  ({id})"},
    .example = "{\"id\":\"todo_00000000000000000000000000\",\"kind\":\"habit\"}",
    .prepare = prepare_todo,
    .run = run_update,
};

static const lc_param done_params[] = {
    LC_ID_PARAM(todo_input, id, "Id of the todo, todo_…"),
    LC_SOURCE_PARAM(todo_input, message_id),
    {.name = NULL},
};

static const lc_op todo_done = {
    .name = "todo.done",
    .help = "Mark a todo as done",
    .params = done_params,
    .input_bytes = sizeof(todo_input),
    .answer = &todo_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/todos/{id}/done",
    .mcp = "todo done",
    .mcp_takes = "id",
    .mcp_shows = "id ~text due_at status",
    .look = {.sentence = "done: {text}  ({id})"},
    .example = "{\"id\":\"todo_00000000000000000000000000\"}",
    .run = run_update,
};

extern const lc_op lc_op_todo_forget; /* op_forget.c */

extern const lc_op *const lc_ops_todo[];
const lc_op *const lc_ops_todo[] = {
    &todo_add, &todo_list, &todo_update, &todo_done, &lc_op_todo_forget, NULL,
};
