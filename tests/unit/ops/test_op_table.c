/* The table is what every surface is made from, so each entry is held to its form here: a name that
 * does not fit a route, or an example that does not work, would appear in five places at once. */
#include "lib/test.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "ops/check.h"
#include "ops/schema.h"

#define HELP_BYTES_MAX 80

static bool is_word(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!islower((unsigned char)text.ptr[i]) && !(i > 0 && text.ptr[i] == '_') &&
            !(i > 0 && isdigit((unsigned char)text.ptr[i])))
            return false;
    }
    return text.len > 0;
}

/* Fails, naming the entry, unless `is_right`. */
static void demand(bool is_right, const lc_op *op, const char *rule, const char *detail)
{
    if (!is_right)
        test_fail(__FILE__, __LINE__, "%s: %s: %s", op->name, rule, detail);
}

static void check_help(const lc_op *op, const char *help)
{
    demand(help != NULL && help[0] != '\0', op, "help", "there is none");
    demand(help[strlen(help) - 1] != '.', op, "help ends with a full stop", help);
    demand(strchr(help, '\n') == NULL, op, "help is one line", help);
}

TEST(op_table, names_are_noun_dot_verb_and_unique)
{
    lc_op_cursor at = {0};

    CHECK_LT(1, lc_op_count());
    CHECK(lc_op_at(lc_op_count()) == NULL);
    for (size_t i = 0; i <= lc_op_count(); i++)
        CHECK(lc_op_next(&at) == lc_op_at(i));
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str verb;
        loci_str noun = lc_str_split(loci_str_of(op->name), '.', &verb);

        demand(is_word(noun) && is_word(verb), op, "name", "not noun.verb in lower case");
        demand(lc_op_find(loci_str_of(op->name)) == op, op, "name", "found twice");
    }
}

TEST(op_table, help_is_one_short_line)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        check_help(op, op->help);
        demand(strlen(op->help) <= HELP_BYTES_MAX, op, "help is too long", op->help);
    }
}

/* Handlers and the engine rely on these combinations instead of checking them at every call. */
TEST(op_table, flags_cost_and_handlers_agree)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        bool is_alone = (op->flags & LC_OP_ALONE) != 0;
        bool mutates = (op->flags & LC_OP_MUTATES) != 0;

        demand(is_alone == (op->run_alone != NULL), op, "flags", "ALONE and run_alone differ");
        demand(is_alone != (op->run != NULL), op, "flags", "one of run and run_alone");
        demand(!mutates || is_alone || op->cost == LC_COST_WRITE, op, "cost",
               "MUTATES needs LC_COST_WRITE or ALONE");
        demand(mutates || op->cost != LC_COST_WRITE, op, "cost", "writes but is not MUTATES");
        demand(!is_alone || op->cost != LC_COST_POINT, op, "cost", "ALONE is no look-up");
        demand((op->flags & LC_OP_JOB) == 0 || (mutates && is_alone), op, "flags",
               "JOB needs MUTATES and ALONE");
        /* Stored answers are made without the secret by the transaction that makes it. */
        demand((op->flags & LC_OP_SECRET) == 0 || (mutates && !is_alone), op, "flags",
               "SECRET needs MUTATES and a transaction");
    }
}

static bool is_json(const char *text)
{
    lc_heap heap;
    lc_arena arena;
    const lc_json *json;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_json_parse(&arena, loci_str_of(text), 0, &json, NULL);
    lc_arena_clear(&arena);
    return status == LOCI_OK;
}

static void check_param(const lc_op *op, const lc_param *param)
{
    bool is_required = (param->flags & LC_PARAM_REQUIRED) != 0;
    bool takes_choices = param->kind == LC_PARAM_STRING || param->kind == LC_PARAM_STRINGS;
    size_t index;

    demand(is_word(loci_str_of(param->name)), op, "parameter is not snake_case", param->name);
    demand(lc_op_find_param(op, loci_str_of(param->name), &index) == param, op,
           "parameter appears twice or is an implied one", param->name);
    check_help(op, param->help);
    demand(!lc_op_owns(op, param) || param->offset < op->input_bytes, op,
           "parameter has no place in the input", param->name);
    demand(!is_required || param->default_text == NULL, op, "required with a default", param->name);
    demand(param->default_text == NULL || is_json(param->default_text), op, "default is not JSON",
           param->name);
    demand(param->choices == NULL || takes_choices, op, "choices of no strings", param->name);
}

TEST(op_table, parameters_are_well_formed)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        bool was_optional = false;
        size_t count = 0;

        demand(op->params != NULL, op, "params", "NULL; an empty list has its end too");
        for (const lc_param *own = op->params; own->name != NULL; own++)
            count++;
        demand(count + 4 <= LC_PARAMS_MAX, op, "params", "too many");
        for (const lc_param *own = op->params; own->name != NULL; own++) {
            check_param(op, own);
            /* Else the second could only be given after the first, which need not be there. */
            if ((own->flags & LC_PARAM_POSITIONAL) != 0 && (own->flags & LC_PARAM_REQUIRED) != 0)
                demand(!was_optional, op, "required after optional position", own->name);
            else if ((own->flags & LC_PARAM_POSITIONAL) != 0)
                was_optional = true;
        }
    }
}

/* Clients and schemas name types after records: one name, one type. Recursion ends since a record
 * that contains itself has a name. */
static void check_record(const lc_op *op, const lc_record *record, int level)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    demand(count > 0, op, "a record without members", record->name != NULL ? record->name : "?");
    for (size_t i = 0; i < count; i++) {
        const lc_result *m = &members[i];
        unsigned many = m->flags & (LC_RESULT_LIST | LC_RESULT_MAP);

        demand(is_word(loci_str_of(m->name)), op, "member is not snake_case", m->name);
        check_help(op, m->help);
        demand(many != (LC_RESULT_LIST | LC_RESULT_MAP), op, "both list and map", m->name);
        demand(m->record == NULL || m->choices == NULL, op, "choices of a record", m->name);
        demand(m->choices == NULL || m->kind == LC_PARAM_STRING || m->kind == LC_PARAM_STRINGS, op,
               "choices of no strings", m->name);
        for (size_t j = 0; j < i; j++)
            demand(strcmp(m->name, members[j].name) != 0, op, "member appears twice", m->name);
        if (m->record != NULL && m->record != record) {
            demand(level < 4, op, "too deep", m->name);
            check_record(op, m->record, level + 1);
        }
    }
}

TEST(op_table, answers_are_well_formed)
{
    const lc_record *records[LC_SCHEMA_RECORDS_MAX];
    size_t count = lc_schema_records(records);

    for (size_t i = 0; i < lc_op_count(); i++)
        check_record(lc_op_at(i), lc_op_at(i)->answer, 0);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(records[i]->name, records[j]->name) != 0);
    }
}

/* {name} in a path must be a parameter: it is where the argument comes from. */
static void check_path_names(const lc_op *op, const char *path)
{
    size_t index;

    for (const char *at = strchr(path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const char *end = strchr(at, '}');

        demand(end != NULL, op, "http: a brace is not closed", path);
        demand(lc_op_find_param(op, (loci_str){at + 1, (size_t)(end - at - 1)}, &index) != NULL, op,
               "http: no such parameter", at);
    }
}

TEST(op_table, routes_are_method_and_path_and_unique)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str path, method;
        bool is_method = false;

        if (op->http == NULL)
            continue;
        method = lc_str_split(loci_str_of(op->http), ' ', &path);
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++)
            is_method = is_method || lc_str_is(method, methods[m]);
        demand(is_method, op, "http: unknown method", op->http);
        demand(path.ptr != NULL && lc_str_starts(path, LC_STR("/v1/")), op, "http: not below /v1/",
               op->http);
        demand(memchr(path.ptr, ' ', path.len) == NULL, op, "http: a space", op->http);
        demand(!lc_str_is(method, "GET") || (op->flags & LC_OP_MUTATES) == 0, op,
               "http: GET changes nothing", op->http);
        check_path_names(op, path.ptr);
        for (size_t j = 0; j < i; j++) {
            const char *other = lc_op_at(j)->http;

            demand(other == NULL || strcmp(other, op->http) != 0, op, "http: taken", op->http);
        }
    }
}

/* The reference shows the examples; a reader who copies one must see it work. */
TEST(op_table, examples_pass_the_check)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        lc_heap heap;
        lc_arena arena;
        lc_call call = {.op = op, .arena = &arena, .is_admin = true};
        const lc_json *args;
        loci_error err;
        loci_status status;

        demand(op->example != NULL, op, "example", "there is none");
        lc_heap_init(&heap, test_heap());
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        status = lc_json_parse(&arena, loci_str_of(op->example), 0, &args, &err);
        if (status == LOCI_OK)
            status = lc_op_check(&call, args, &err);
        lc_arena_clear(&arena);
        demand(status == LOCI_OK, op, "example", status == LOCI_OK ? "" : err.message);
    }
}

/* Also the ones with arrays and objects, which no example may happen to leave out. */
TEST(op_table, defaults_pass_their_own_check)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        lc_heap heap;
        lc_arena arena;
        const lc_param *param;

        lc_heap_init(&heap, test_heap());
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        for (size_t p = 0; (param = lc_op_param(op, p)) != NULL; p++) {
            lc_param alone[2] = {*param, {.name = NULL}};
            lc_op taker = {.name = op->name,
                           .params = alone,
                           .input_bytes = op->input_bytes + sizeof(lc_implied_args)};
            lc_call call = {.op = &taker, .arena = &arena};
            const lc_json *args;
            loci_error err;

            if (param->default_text == NULL)
                continue;
            CHECK_OK(lc_json_parse(
                         &arena,
                         loci_str_of(test_format("{\"%s\":%s}", param->name, param->default_text)),
                         0, &args, &err),
                     err);
            CHECK_OK(lc_op_check(&call, args, &err), err);
        }
        lc_arena_clear(&arena);
    }
}

TEST(op_table, unknown_operations_are_told_the_nearest)
{
    const lc_op *op = NULL;
    loci_error err;

    CHECK_OK(lc_op_load(LC_STR("op.list"), &op, &err), err);
    CHECK_STR_EQ(op->name, "op.list");
    CHECK_STATUS(LOCI_ENOTFOUND, lc_op_load(LC_STR("op.lits"), &op, &err));
    CHECK_STR_EQ(err.message, "unknown operation \"op.lits\"; did you mean \"op.list\"?");
    CHECK_STATUS(LOCI_ENOTFOUND, lc_op_load(LC_STR("zebra"), &op, &err));
    CHECK_STR_EQ(err.message, "unknown operation \"zebra\"; op.list names them all");
    CHECK_STATUS(LOCI_ENOTFOUND, lc_op_load(LC_STR(""), &op, &err));
    CHECK_STATUS(LOCI_ENOTFOUND, lc_op_load(LC_STR("\xff\xfe"), &op, &err));
    CHECK_STR_EQ(err.message, "unknown operation \"?\"; op.list names them all");
}

/* Runs a handler of op_meta.c, which needs no store, and parses its answer. */
static loci_status ask(lc_arena *arena, const char *name, const char *args, const lc_json **out,
                       loci_error *err)
{
    lc_call call = {.op = lc_op_find(loci_str_of(name)), .arena = arena};
    const lc_json *json;
    lc_buf answer;
    loci_status status;

    lc_buf_init(&answer, arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&call.out, &answer);
    call.answer = &answer;
    status = lc_json_parse(arena, loci_str_of(args), 0, &json, err);
    if (status == LOCI_OK)
        status = lc_op_check(&call, json, err);
    if (status == LOCI_OK)
        status = call.op->run(&call, NULL, err);
    if (status == LOCI_OK)
        status = lc_json_parse(arena, lc_arena_copy(arena, lc_buf_str(&answer)), 0, out, err);
    lc_buf_clear(&answer);
    return status;
}

TEST(op_table, op_list_tells_the_whole_table)
{
    lc_heap heap;
    lc_arena arena;
    const lc_json *answer, *each;
    loci_error err;
    size_t index = 0;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(ask(&arena, "op.list", "{}", &answer, &err), err);
    each = lc_json_first(lc_json_member(answer, LC_STR("operations")));
    for (; each != NULL; each = lc_json_next(each), index++) {
        const lc_op *op = lc_op_at(index);
        size_t count = lc_json_count(lc_json_member(each, LC_STR("params")));

        CHECK_STR_EQ(lc_json_str(lc_json_member(each, LC_STR("name"))), op->name);
        CHECK(lc_op_param(op, count) == NULL);
        CHECK(count == 0 || lc_op_param(op, count - 1) != NULL);
    }
    CHECK_EQ(index, lc_op_count());
    lc_arena_clear(&arena);
}

TEST(op_table, op_get_tells_one)
{
    lc_heap heap;
    lc_arena arena;
    const lc_json *answer, *param;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(ask(&arena, "op.get", "{\"name\":\"op.get\"}", &answer, &err), err);
    CHECK_STR_EQ(lc_json_str(lc_json_member(answer, LC_STR("cost"))), "point");
    param = lc_json_first(lc_json_member(answer, LC_STR("params")));
    CHECK_STR_EQ(lc_json_str(lc_json_member(param, LC_STR("kind"))), "string");
    CHECK(lc_json_bool(lc_json_member(param, LC_STR("required"))));
    CHECK_EQ(lc_json_int(lc_json_member(param, LC_STR("max"))), 64);
    CHECK_STATUS(LOCI_ENOTFOUND, ask(&arena, "op.get", "{\"name\":\"x\"}", &answer, &err));
    lc_arena_clear(&arena);
}

/* Whether every word of `list` is a member of `record`. */
static bool are_members(const lc_record *record, const char *list)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_record_members(record, members);

    for (loci_str rest = loci_str_of(list); rest.ptr != NULL;) {
        loci_str name = lc_str_split(rest, ' ', &rest);
        bool is_known = false;

        for (size_t i = 0; i < count; i++)
            is_known = is_known || lc_str_is(name, members[i].name);
        if (!is_known)
            return false;
    }
    return true;
}

static bool is_param(const lc_op *op, loci_str name)
{
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        if (lc_str_is(name, param->name))
            return true;
    }
    return false;
}

static void check_sentence(const lc_op *op)
{
    loci_str rest = loci_str_of(op->look.sentence);
    int depth = 0;

    for (const char *byte = op->look.sentence; *byte != '\0'; byte++) {
        depth += (*byte == '[' || *byte == '{') - (*byte == ']' || *byte == '}');
        demand(depth >= 0 && depth <= 2, op, "sentence: brackets", op->look.sentence);
    }
    demand(depth == 0, op, "sentence: brackets", op->look.sentence);
    while (rest.ptr != NULL) {
        loci_str inside, words, name;

        (void)lc_str_split(rest, '{', &inside);
        if (inside.ptr == NULL)
            break;
        name = lc_str_split(lc_str_split(inside, '}', &rest), ' ', &words);
        demand(are_members(op->answer, test_format("%.*s", LC_STR_ARG(name))) || is_param(op, name),
               op, "sentence: unknown name", test_format("%.*s", LC_STR_ARG(name)));
    }
}

/* A column that does not exist would silently be an empty one. */
TEST(op_table, looks_name_members_and_every_list_has_columns)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        const lc_record *rows = lc_record_rows(op->answer, NULL);
        const lc_look *look = &op->look;

        if (are_members(op->answer, "next_cursor"))
            demand(look->columns != NULL, op, "look", "a list has no columns");
        demand(look->columns == NULL || rows != NULL, op, "look", "columns of no list");
        if (rows != NULL) {
            demand(are_members(rows, look->columns), op, "columns", look->columns);
            demand(look->id == NULL || are_members(rows, look->id), op, "id", look->id);
            demand(look->bar == NULL || are_members(rows, look->bar), op, "bar", look->bar);
        }
        demand(!look->is_of_texts || are_members(rows, "text"), op, "look", "rows have no text");
        demand(look->text == NULL || are_members(op->answer, look->text), op, "text", look->text);
        if (look->sentence != NULL)
            check_sentence(op);
    }
}
