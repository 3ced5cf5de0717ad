/* op_meta.c - the table of operations in answers: op.list and op.get.
 *
 * Clients, completion and schemas for models are made from these answers, so they hold everything
 * in the table, the implied parameters included, and nothing from the store.
 */
#include "ops/op.h"

#include "base/str.h"
#include "ops/check.h"
#include "ops/page.h"

#define LEVELS_MAX 3 /* Of records inside records that are written out. */

static const char *cost_name(lc_cost cost)
{
    static const char *const names[] = {
        [LC_COST_POINT] = "point", [LC_COST_WORK] = "work", [LC_COST_WRITE] = "write"};

    return names[cost];
}

/* "a|b|c" as an array. */
static void write_words(lc_json_writer *w, const char *name, const char *words)
{
    loci_str rest = loci_str_of(words);

    lc_jw_name(w, name);
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
        write_words(w, "choices", param->choices);
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

static void write_rules(lc_json_writer *w, const lc_op *op)
{
    static const char *const names[] = {[LC_RULE_EXACTLY_ONE] = "exactly_one",
                                        [LC_RULE_AT_MOST_ONE] = "at_most_one",
                                        [LC_RULE_NEEDS] = "needs"};

    lc_jw_name(w, "rules");
    lc_jw_array(w);
    for (const lc_param_rule *rule = op->rules; rule != NULL && rule->kind != LC_RULE_END; rule++) {
        lc_jw_object(w);
        lc_jw_member_text(w, "kind", names[rule->kind]);
        write_words(w, "params", rule->params);
        lc_jw_end(w);
    }
    lc_jw_end(w);
}

static void write_members(lc_json_writer *w, const char *name, const lc_record *record, int level);

static void write_result(lc_json_writer *w, const lc_result *result, int level)
{
    lc_jw_object(w);
    lc_jw_member_text(w, "name", result->name);
    lc_jw_member_text(w, "kind",
                      result->record != NULL ? "record" : lc_param_kind_name(result->kind));
    lc_jw_member_bool(w, "required", (result->flags & LC_RESULT_OPTIONAL) == 0);
    if ((result->flags & LC_RESULT_NULLABLE) != 0)
        lc_jw_member_bool(w, "nullable", true);
    if ((result->flags & LC_RESULT_LIST) != 0)
        lc_jw_member_bool(w, "list", true);
    if ((result->flags & LC_RESULT_MAP) != 0)
        lc_jw_member_bool(w, "map", true);
    if (result->choices != NULL)
        write_words(w, "choices", result->choices);
    if (result->record != NULL && result->record->name != NULL)
        lc_jw_member_text(w, "record", result->record->name);
    if (result->record != NULL && level < LEVELS_MAX)
        write_members(w, "members", result->record, level + 1);
    lc_jw_member_text(w, "help", result->help);
    lc_jw_end(w);
}

/* Recursion over records inside records; one that has itself as a member ends it by `level`. */
static void write_members(lc_json_writer *w, const char *name, const lc_record *record, int level)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    lc_jw_name(w, name);
    lc_jw_array(w);
    for (size_t i = 0; i < count; i++)
        write_result(w, &members[i], level);
    lc_jw_end(w);
}

static void write_results(lc_json_writer *w, const lc_op *op)
{
    lc_result results[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_op_results(op, results);

    lc_jw_name(w, "results");
    lc_jw_array(w);
    for (size_t i = 0; i < count; i++)
        write_result(w, &results[i], 0);
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
        {LC_OP_PROCESS, "process"},
        {LC_OP_IDEMPOTENT, "idempotent"},
        {LC_OP_ADMIN, "admin"},
        {LC_OP_ALONE, "alone"},
        {LC_OP_STREAMS, "streams"},
        {LC_OP_LINES, "lines"},
        {LC_OP_TENANT_ADMIN, "tenant_admin"},
        {LC_OP_SECRET, "secret"},
        {LC_OP_SESSION, "session"},
        {LC_OP_WHOLE_USER, "whole_user"},
        {LC_OP_DESTROYS, "destroys"},
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
    write_rules(w, op);
    if (op->answer->name != NULL)
        lc_jw_member_text(w, "record", op->answer->name);
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

static const lc_record param_record = {
    .name = "OperationParameter",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the parameter"},
            {"kind", LC_PARAM_STRING, "Kind of its value",
             .choices = "string|integer|number|boolean|time|strings|object|any"},
            {"required", LC_PARAM_BOOL, "True if it must be given"},
            {"positional", LC_PARAM_BOOL,
             "True if it can be given without its name on the command line"},
            {"default", LC_PARAM_ANY, "Value if it is not given", LC_RESULT_OPTIONAL},
            {"min", LC_PARAM_INT,
             "Minimum: of a number, of the bytes of a string, of the elements of a list",
             LC_RESULT_OPTIONAL},
            {"max", LC_PARAM_INT, "Maximum, likewise", LC_RESULT_OPTIONAL},
            {"choices", LC_PARAM_STRINGS, "Values allowed", LC_RESULT_OPTIONAL},
            {"help", LC_PARAM_STRING, "Meaning of the parameter"},
            {NULL},
        },
};

static const lc_record rule_record = {
    .name = "OperationRule",
    .members =
        (const lc_result[]){
            {"kind", LC_PARAM_STRING,
             "exactly_one or at_most_one of the parameters; needs: the first only with the second",
             .choices = "exactly_one|at_most_one|needs"},
            {"params", LC_PARAM_STRINGS, "Names of the parameters"},
            {NULL},
        },
};

static const lc_record result_record;
static const lc_record result_record = {
    .name = "OperationResult",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the member"},
            {"kind", LC_PARAM_STRING, "Kind of its value",
             .choices = "string|integer|number|boolean|time|strings|object|any|record"},
            {"required", LC_PARAM_BOOL, "True if it is in every answer"},
            {"nullable", LC_PARAM_BOOL, "True if it may be null", LC_RESULT_OPTIONAL},
            {"list", LC_PARAM_BOOL, "True if it is an array of such values", LC_RESULT_OPTIONAL},
            {"map", LC_PARAM_BOOL, "True if it is an object of such values, whose names are data",
             LC_RESULT_OPTIONAL},
            {"choices", LC_PARAM_STRINGS, "Values that occur", LC_RESULT_OPTIONAL},
            {"record", LC_PARAM_STRING, "Name of the record, if it has one", LC_RESULT_OPTIONAL},
            {"members", 0, "Members of a record", LC_RESULT_OPTIONAL | LC_RESULT_LIST,
             .record = &result_record},
            {"help", LC_PARAM_STRING, "Meaning of the member"},
            {NULL},
        },
};

static const lc_record op_record = {
    .name = "Operation",
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name, such as fact.write"},
            {"help", LC_PARAM_STRING, "Purpose in one line"},
            {"params", 0, "Parameters", LC_RESULT_LIST, .record = &param_record},
            {"rules", 0, "Rules about several parameters", LC_RESULT_LIST, .record = &rule_record},
            {"record", LC_PARAM_STRING, "Name of the record that the answer is, if it has one",
             LC_RESULT_OPTIONAL},
            {"results", 0, "Members of the answer", LC_RESULT_LIST, .record = &result_record},
            {"cost", LC_PARAM_STRING, "Kind of work: a look-up, a longer read or a write",
             .choices = "point|work|write"},
            {"flags", LC_PARAM_STRINGS, "Properties",
             .choices =
                 "user|mutates|process|idempotent|admin|alone|streams|lines|tenant_admin|secret|"
                 "session|whole_user|destroys"},
            {"http", LC_PARAM_STRING, "Method and path beside POST /v1/call/{op}, or null",
             LC_RESULT_NULLABLE},
            {"mcp", LC_PARAM_STRING, "Tool and action offered to models, or null",
             LC_RESULT_NULLABLE},
            {"example", LC_PARAM_OBJECT, "Arguments of an example", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

typedef struct list_input {
    lc_page_args page;
} list_input;

/* `seq` is the number of operations on the pages before. */
static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_seq_position at = {0};
    lc_page page = {call, &lc_position_by_seq, &at};
    const lc_op *op;
    loci_status status = lc_page_begin(&page, &((const list_input *)call->input)->page, err);

    (void)tx; /* The table is in the program, not in the store. */
    if (status != LOCI_OK)
        return status;
    lc_page_open(&page, "operations");
    for (; at.seq >= 0 && (op = lc_op_at((size_t)at.seq)) != NULL && lc_page_takes(&page); at.seq++)
        write_op(&call->out, op);
    lc_page_close(&page);
    return lc_buf_status(call->out.buf, err);
}

static const lc_op op_list = {
    .name = "op.list",
    .help = "List all operations with their parameters and answers",
    .params = (const lc_param[]){LC_PAGE_PARAMS_DEFAULT(list_input, page, "1000"), {.name = NULL}},
    .input_bytes = sizeof(list_input),
    .answer =
        &(const lc_record){
            .members =
                (const lc_result[]){
                    {"operations", 0, "Operations in the order of the reference", LC_RESULT_LIST,
                     .record = &op_record},
                    LC_PAGE_RESULT,
                    {NULL},
                },
        },
    .cost = LC_COST_POINT,
    .flags = LC_OP_IDEMPOTENT | LC_OP_NO_STORE,
    .http = "GET /v1/operations",
    .look = {.columns = "name help", .id = "name"},
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
    .help = "Return one operation with its parameters and answer",
    .params =
        (const lc_param[]){
            {LC_ARG_STR("name", get_input, name), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
             .min = 1, .max = NAME_BYTES_MAX, .help = "Name of the operation, such as fact.write"},
            {.name = NULL},
        },
    .input_bytes = sizeof(get_input),
    .answer = &op_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_IDEMPOTENT | LC_OP_NO_STORE,
    .http = "GET /v1/operations/{name}",
    .example = "{\"name\":\"op.list\"}",
    .run = run_get,
};

extern const lc_op *const lc_ops_meta[];
const lc_op *const lc_ops_meta[] = {&op_list, &op_get, NULL};
