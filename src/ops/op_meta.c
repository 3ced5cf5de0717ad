/* op_meta.c - the table of operations, told by itself: op.list and op.get.
 *
 * Clients, completion and schemas for models are made from these answers, so they hold everything
 * that the table says, the implied parameters included, and nothing of what the store holds.
 */
#include "ops/op.h"

#include "base/str.h"
#include "ops/check.h"
#include "ops/page.h"

static const char *cost_name(lc_cost cost)
{
    static const char *const names[] = {
        [LC_COST_POINT] = "point", [LC_COST_WORK] = "work", [LC_COST_WRITE] = "write"};

    return names[cost];
}

static void write_choices(lc_json_writer *w, const char *choices)
{
    loci_str rest = loci_str_of(choices);

    lc_jw_name(w, "choices");
    lc_jw_array(w);
    while (rest.ptr != NULL)
        lc_jw_str(w, lc_str_split(rest, '|', &rest));
    lc_jw_end(w);
}

static void write_param(lc_json_writer *w, const lc_param *param)
{
    lc_bounds bounds = lc_param_bounds(param);

    lc_jw_object(w);
    lc_jw_member_text(w, "name", param->name);
    lc_jw_member_text(w, "kind", lc_param_kind_name(param->kind));
    lc_jw_member_bool(w, "required", (param->flags & LC_PARAM_REQUIRED) != 0);
    lc_jw_member_bool(w, "positional", (param->flags & LC_PARAM_POSITIONAL) != 0);
    if (param->default_text != NULL)
        lc_jw_member_raw(w, "default", loci_str_of(param->default_text));
    if (bounds.has_min)
        lc_jw_member_int(w, "min", bounds.min);
    if (bounds.has_max)
        lc_jw_member_int(w, "max", bounds.max);
    if (param->choices != NULL)
        write_choices(w, param->choices);
    lc_jw_member_text(w, "help", param->help);
    lc_jw_end(w);
}

static void write_params(lc_json_writer *w, const lc_op *op)
{
    const lc_param *params[LC_PARAMS_MAX];
    size_t count = lc_op_params(op, params);

    lc_jw_name(w, "params");
    lc_jw_array(w);
    for (size_t i = 0; i < count; i++)
        write_param(w, params[i]);
    lc_jw_end(w);
}

static void write_results(lc_json_writer *w, const lc_op *op)
{
    lc_jw_name(w, "results");
    lc_jw_array(w);
    for (const lc_result *result = op->results; result != NULL && result->name != NULL; result++) {
        lc_jw_object(w);
        lc_jw_member_text(w, "name", result->name);
        lc_jw_member_text(w, "kind", lc_param_kind_name(result->kind));
        lc_jw_member_text(w, "help", result->help);
        lc_jw_end(w);
    }
    lc_jw_end(w);
}

static void write_flags(lc_json_writer *w, const lc_op *op)
{
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {
        {LC_OP_USER, "user"},
        {LC_OP_MUTATES, "mutates"},
        {LC_OP_IDEMPOTENT, "idempotent"},
        {LC_OP_ADMIN, "admin"},
        {LC_OP_ALONE, "alone"},
        {LC_OP_STREAMS, "streams"},
        {LC_OP_TENANT_ADMIN, "tenant_admin"},
        {LC_OP_SECRET, "secret"},
    };

    lc_jw_name(w, "flags");
    lc_jw_array(w);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((op->flags & names[i].flag) != 0)
            lc_jw_text(w, names[i].name);
    }
    lc_jw_end(w);
}

static void write_op(lc_json_writer *w, const lc_op *op)
{
    lc_jw_object(w);
    lc_jw_member_text(w, "name", op->name);
    lc_jw_member_text(w, "help", op->help);
    write_params(w, op);
    write_results(w, op);
    lc_jw_member_text(w, "cost", cost_name(op->cost));
    write_flags(w, op);
    lc_jw_member_text(w, "http", op->http);
    lc_jw_member_text(w, "mcp", op->mcp);
    if (op->example != NULL)
        lc_jw_member_raw(w, "example", loci_str_of(op->example));
    lc_jw_end(w);
}

/* ---- op.list --------------------------------------------------------------------------------- */

#define OP_MEMBERS(prefix)                                                                         \
    {prefix "name", LC_PARAM_STRING, "Such as fact.write"},                                        \
        {prefix "help", LC_PARAM_STRING, "What it does, in one line"},                             \
        {prefix "params", LC_PARAM_ANY,                                                            \
         "Objects {name, kind, required, positional, default?, min?, max?, choices?, help}"},      \
        {prefix "results", LC_PARAM_ANY, "Members of the answer, objects {name, kind, help}"},     \
        {prefix "cost", LC_PARAM_STRING, "point, work or write"},                                  \
        {prefix "flags", LC_PARAM_STRINGS,                                                         \
         "Of user, mutates, idempotent, admin, alone, streams, tenant_admin, secret"},             \
        {prefix "http", LC_PARAM_STRING, "Method and path beside POST /v1/call/{op}, or null"},    \
        {prefix "mcp", LC_PARAM_STRING, "Tool and action offered to models, or null"},             \
    {                                                                                              \
        prefix "example", LC_PARAM_OBJECT, "Arguments that work"                                   \
    }

typedef struct list_input {
    lc_page_args page;
} list_input;

/* `seq` is the number of operations on the pages before. */
static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_page_args *page = &((const list_input *)call->input)->page;
    lc_seq_position at = {0};
    const lc_op *op;
    loci_status status = lc_page_begin(call, page, &lc_position_by_seq, &at, err);

    (void)tx; /* The table is in the program, not in the store. */
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "operations");
    lc_jw_array(&call->out);
    for (int64_t left = page->limit;
         left > 0 && at.seq >= 0 && (op = lc_op_at((size_t)at.seq)) != NULL; left--) {
        write_op(&call->out, op);
        at.seq++;
    }
    lc_jw_end(&call->out);
    lc_page_end(call, &lc_position_by_seq, at.seq < (int64_t)lc_op_count() ? &at : NULL);
    lc_jw_end(&call->out);
    return lc_buf_status(call->out.buf, err);
}

static const lc_op op_list = {
    .name = "op.list",
    .help = "List all operations with their parameters and answers",
    .params = (const lc_param[]){LC_PAGE_PARAMS_DEFAULT(list_input, page, "1000"), {.name = NULL}},
    .input_bytes = sizeof(list_input),
    .results =
        (const lc_result[]){
            OP_MEMBERS("operations[]."),
            LC_PAGE_RESULT,
            {NULL, 0, NULL},
        },
    .cost = LC_COST_POINT,
    .flags = LC_OP_IDEMPOTENT,
    .http = "GET /v1/operations",
    .example = "{}",
    .run = run_list,
};

/* ---- op.get ---------------------------------------------------------------------------------- */

#define NAME_BYTES_MAX 64

typedef struct get_input {
    loci_str name;
} get_input;

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const get_input *in = call->input;
    const lc_op *op;
    loci_status status = lc_op_load(in->name, &op, err);

    (void)tx; /* As above. */
    if (status != LOCI_OK)
        return status;
    write_op(&call->out, op);
    return lc_buf_status(call->out.buf, err);
}

static const lc_op op_get = {
    .name = "op.get",
    .help = "Show one operation with its parameters and answer",
    .params =
        (const lc_param[]){
            {LC_ARG_STR("name", get_input, name), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
             .min = 1, .max = NAME_BYTES_MAX, .help = "Name of the operation, such as fact.write"},
            {.name = NULL},
        },
    .input_bytes = sizeof(get_input),
    .results =
        (const lc_result[]){
            OP_MEMBERS(""),
            {NULL, 0, NULL},
        },
    .cost = LC_COST_POINT,
    .flags = LC_OP_IDEMPOTENT,
    .http = "GET /v1/operations/{name}",
    .example = "{\"name\":\"op.list\"}",
    .run = run_get,
};

extern const lc_op *const lc_ops_meta[];
const lc_op *const lc_ops_meta[] = {&op_list, &op_get, NULL};
