#include "cli/operation.h"

#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/interrupt.h"
#include "cli/opening.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "ops/op.h"

/* Work on the whole store takes as long as it takes; there is Ctrl-C. One day, in ms. */
#define LONG_TIMEOUT_MS (INT64_C(24) * 60 * 60 * 1000)

void lc_operation_add_user(lc_cli *cli, const char *name, loci_str args, lc_buf *out)
{
    const lc_op *op = lc_op_find(loci_str_of(name));
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *json = NULL;
    lc_json_writer w;

    if (cli->globals.user == NULL || op == NULL || (op->flags & LC_OP_USER) == 0 ||
        lc_json_parse(cli->arena, args.len > 0 ? args : LC_STR("{}"), 0, &json, NULL) != LOCI_OK ||
        lc_json_kind_of(json) != LC_JSON_OBJECT ||
        lc_json_member(json, LC_STR("user_id")) != NULL) {
        lc_buf_append(out, args);
        lc_arena_rewind(cli->arena, mark);
        return;
    }
    lc_jw_init(&w, out);
    lc_jw_object(&w);
    for (const lc_json *member = lc_json_first(json); member != NULL;
         member = lc_json_next(member)) {
        lc_jw_name_str(&w, lc_json_name(member));
        lc_jw_value(&w, member);
    }
    lc_jw_member_text(&w, "user_id", cli->globals.user);
    lc_jw_end(&w);
    lc_arena_rewind(cli->arena, mark);
}

static bool has_own_timeout(const lc_cli *cli)
{
    for (size_t i = 0; i < cli->globals.set_count; i++) {
        if (lc_str_starts(loci_str_of(cli->globals.sets[i]), LC_STR("call.timeout_ms=")))
            return true;
    }
    return false;
}

/* A call that shows how far it is. */
static loci_status call_stream(lc_cli *cli, loci_engine *engine, const loci_request *request,
                               loci_answer **out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    lc_progress_view view;
    loci_status status;

    options.cancel = lc_interrupt_flag();
    options.timeout_ms = has_own_timeout(cli) ? 0 : LONG_TIMEOUT_MS;
    lc_progress_init(&view, cli);
    status = loci_call_stream(engine, request->operation, request->args, &options, lc_progress_take,
                              &view, out, err);
    if (!lc_progress_end(&view) && status == LOCI_OK) {
        loci_answer_free(*out);
        *out = NULL;
        status = lc_fail(err, LOCI_ERESOURCE, "the output could not be written");
    }
    return status;
}

loci_status lc_operation_call(lc_cli *cli, loci_engine *engine, const lc_operation *operation,
                              loci_answer **out, loci_error *err)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    bool is_long = op != NULL && (op->flags & LC_OP_STREAMS) != 0;
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_request request = {.operation = operation->name};
    loci_status status;
    lc_buf args;

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_operation_add_user(cli, operation->name, operation->args, &args);
    request.args = lc_buf_str(&args);
    options.cancel = lc_interrupt_flag();
    options.timeout_ms = is_long && !has_own_timeout(cli) ? LONG_TIMEOUT_MS : 0;
    cli->has_printed_lines = false;
    status = lc_buf_status(&args, err);
    if (status == LOCI_OK && is_long && !operation->is_plain)
        status = call_stream(cli, engine, &request, out, err);
    else if (status == LOCI_OK)
        status = loci_call(engine, request.operation, request.args, &options, out, err);
    lc_buf_clear(&args);
    return status;
}

/* What people look for, where an answer has much more. */
typedef struct lc_view {
    const char *name;
    const char *columns;
    const char *hidden;
} lc_view;

static const lc_view *view_of(const char *name)
{
    static const lc_view views[] = {
        {"config.list", "name value origin help", NULL},
        {"event.list", "seq recorded_at type payload", NULL},
        {"job.list", "id kind status attempts progress error created_at", NULL},
        {"op.list", "name help", NULL},
        /* Of a process that has just begun and is about to end: they say nothing. */
        {"store.status", NULL, "counters memory"},
        {"token.list", "id name status scopes user_id authority created_at expires_at", NULL},
        {NULL, NULL, NULL},
    };
    const lc_view *view = views;

    while (view->name != NULL && strcmp(view->name, name) != 0)
        view++;
    return view;
}

static void append_answer(lc_cli *cli, const lc_operation *operation, loci_str answer, lc_buf *out)
{
    const lc_terminal *terminal = cli->has_printed_lines ? &cli->err_terminal : &cli->out_terminal;
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *json;

    if (cli->globals.wants_json ||
        lc_json_parse(cli->arena, answer, LC_JSON_ALLOW_NUL, &json, NULL) != LOCI_OK) {
        lc_buf_append(out, answer);
        lc_buf_append_byte(out, '\n');
    } else {
        lc_render(&(lc_render_target){.arena = cli->arena,
                                      .terminal = terminal,
                                      .out = out,
                                      .columns = view_of(operation->name)->columns,
                                      .hidden = view_of(operation->name)->hidden},
                  json);
    }
    lc_arena_rewind(cli->arena, mark);
}

void lc_operation_print(lc_cli *cli, const lc_operation *operation, loci_str answer)
{
    lc_buf summary;

    if (!cli->has_printed_lines) {
        append_answer(cli, operation, answer, &cli->out);
        return;
    }
    if (cli->globals.is_quiet)
        return;
    lc_buf_init(&summary, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    append_answer(cli, operation, answer, &summary);
    (void)lc_cli_write(STDERR_FILENO, lc_buf_str(&summary)); /* The lines were what matters. */
    lc_buf_clear(&summary);
}

int lc_operation_run(lc_cli *cli, const lc_operation *operation)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    bool is_long = op != NULL && (op->flags & LC_OP_STREAMS) != 0;
    /* Long work may be a job: with workers to run it, this thread can watch it and be stopped. */
    lc_opening opening = {.flags = is_long ? 0 : LOCI_OPEN_INLINE};
    loci_engine *engine = NULL;
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;
    int code = LC_EXIT_OK;

    if (operation->needs_store)
        opening.flags |= LOCI_OPEN_EXISTING;
    opening.is_silent = cli->globals.wants_json;
    status = lc_opening_run(cli, &opening, &engine, &err);
    if (status == LOCI_OK)
        status = lc_operation_call(cli, engine, operation, &answer, &err);
    if (status == LOCI_OK)
        lc_operation_print(cli, operation, loci_answer_json(answer));
    else
        code = lc_cli_report(cli, &err);
    if (status == LOCI_ECANCELLED && lc_interrupt_is_set())
        code = LC_EXIT_INTERRUPTED;

    loci_answer_free(answer);
    loci_close(engine);
    return code;
}
