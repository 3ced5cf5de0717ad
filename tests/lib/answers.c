/* answers.c - see answers.h. Memory comes from the system, so that neither counted faults nor the
 * check for leaks of test_heap() see it. */
#include "lib/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time.h"
#include "lib/calls.h"

typedef struct inspection {
    char path[256]; /* Where the value is: "facts.0.id". */
    char fault[512];
} inspection;

static bool fail(inspection *at, const char *what, loci_str detail)
{
    (void)snprintf(at->fault, sizeof at->fault, "%s: %s %.*s", at->path, what,
                   (int)(detail.len < 200 ? detail.len : 200), detail.ptr);
    return false;
}

static bool is_choice(const char *choices, loci_str text)
{
    loci_str rest = loci_str_of(choices);

    while (rest.ptr != NULL) {
        if (lc_str_eq(lc_str_split(rest, '|', &rest), text))
            return true;
    }
    return choices == NULL;
}

static bool check_kind(inspection *at, const lc_result *type, lc_param_kind kind,
                       const lc_json *value)
{
    lc_json_kind is = lc_json_kind_of(value);
    loci_str text = is == LC_JSON_STRING ? lc_json_str(value) : LC_STR("");
    bool is_right = false;
    int64_t us;

    switch (kind) {
    case LC_PARAM_STRING:
        if (is == LC_JSON_STRING && !is_choice(type->choices, text))
            return fail(at, "is not one of its choices:", text);
        is_right = is == LC_JSON_STRING;
        break;
    case LC_PARAM_INT:
        is_right = is == LC_JSON_INT;
        break;
    case LC_PARAM_REAL:
        is_right = is == LC_JSON_INT || is == LC_JSON_REAL;
        break;
    case LC_PARAM_BOOL:
        is_right = is == LC_JSON_BOOL;
        break;
    case LC_PARAM_TIME:
        is_right = is == LC_JSON_STRING && lc_time_parse(text, &us);
        break;
    case LC_PARAM_OBJECT:
        is_right = is == LC_JSON_OBJECT;
        break;
    case LC_PARAM_STRINGS:
        if (is != LC_JSON_ARRAY)
            break;
        for (const lc_json *each = lc_json_first(value); each != NULL; each = lc_json_next(each)) {
            if (!check_kind(at, type, LC_PARAM_STRING, each))
                return false;
        }
        return true;
    case LC_PARAM_ANY:
    case LC_PARAM_JSON:
        return true;
    }
    if (!is_right)
        return fail(at, lc_json_kind_name(is),
                    loci_str_of(test_format("instead of %s", lc_param_kind_name(kind))));
    return true;
}

static bool check_record(inspection *at, const lc_record *record, const lc_json *value);

static bool check_value(inspection *at, const lc_result *type, const lc_json *value)
{
    return type->record != NULL ? check_record(at, type->record, value)
                                : check_kind(at, type, type->kind, value);
}

/* A member, whose name `at->path` ends with. */
static bool check_member(inspection *at, const lc_result *type, const lc_json *value)
{
    bool is_list = (type->flags & LC_RESULT_LIST) != 0;
    size_t len = strlen(at->path);
    size_t index = 0;

    if (lc_json_kind_of(value) == LC_JSON_NULL && (type->flags & LC_RESULT_NULLABLE) != 0)
        return true;
    if (!is_list && (type->flags & LC_RESULT_MAP) == 0)
        return check_value(at, type, value);
    if (lc_json_kind_of(value) != (is_list ? LC_JSON_ARRAY : LC_JSON_OBJECT))
        return fail(at, "is not", is_list ? LC_STR("an array") : LC_STR("an object"));
    for (const lc_json *each = lc_json_first(value); each != NULL; each = lc_json_next(each)) {
        (void)snprintf(at->path + len, sizeof at->path - len, ".%zu", index++);
        if (!check_value(at, type, each))
            return false;
    }
    at->path[len] = '\0';
    return true;
}

static bool check_members(inspection *at, const lc_result *members, size_t count,
                          const lc_json *value)
{
    size_t len = strlen(at->path);

    if (lc_json_kind_of(value) != LC_JSON_OBJECT)
        return fail(at, "is not", LC_STR("an object"));
    for (size_t i = 0; i < count; i++) {
        const lc_json *member = lc_json_member(value, loci_str_of(members[i].name));

        (void)snprintf(at->path + len, sizeof at->path - len, "%s%s", len > 0 ? "." : "",
                       members[i].name);
        if (member == NULL && (members[i].flags & LC_RESULT_OPTIONAL) == 0)
            return fail(at, "is missing", LC_STR(""));
        if (member != NULL && !check_member(at, &members[i], member))
            return false;
        at->path[len] = '\0';
    }
    for (const lc_json *member = lc_json_first(value); member != NULL;
         member = lc_json_next(member)) {
        bool is_known = false;

        for (size_t i = 0; i < count; i++)
            is_known |= lc_str_is(lc_json_name(member), members[i].name);
        if (!is_known)
            return fail(at, "has an undeclared member", lc_json_name(member));
    }
    return true;
}

static bool check_record(inspection *at, const lc_record *record, const lc_json *value)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];

    return check_members(at, members, lc_record_members(record, members), value);
}

const char *test_answer_fault(const lc_op *op, loci_str answer)
{
    inspection at = {.path = ""};
    lc_result results[LC_RECORD_MEMBERS_MAX];
    const lc_json *value = NULL;
    lc_arena arena;
    lc_heap heap;
    loci_error err;
    loci_status status;
    bool is_right;

    lc_heap_init(&heap, (loci_allocator){0});
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_json_parse(&arena, answer, LC_JSON_ALLOW_NUL, &value, &err);
    if (status == LOCI_OK)
        is_right = check_members(&at, results, lc_op_results(op, results), value);
    else /* An answer may be one level deeper than arguments may be. */
        is_right = status == LOCI_ELIMIT || fail(&at, "is not JSON:", loci_str_of(err.message));
    lc_arena_clear(&arena);
    return is_right ? NULL : test_format("%s", at.fault);
}

/* ---- Between the tests and loci.h ------------------------------------------------------------ */

/* The linker's names for the wrapped loci_call() and for the function itself. */
__typeof__(loci_call) __wrap_loci_call, __real_loci_call;
__typeof__(loci_call_many) __wrap_loci_call_many, __real_loci_call_many;
__typeof__(loci_call_stream) __wrap_loci_call_stream, __real_loci_call_stream;
__typeof__(loci_submit) __wrap_loci_submit, __real_loci_submit;

static void check_answer(const char *operation, loci_str json)
{
    const lc_op *op = lc_op_find(loci_str_of(operation));
    const char *fault = op != NULL ? test_answer_fault(op, json) : NULL;

    if (fault != NULL)
        test_fail(__FILE__, __LINE__,
                  "the answer of %s is not what the table declares\n    %s\n    %s", operation,
                  fault, json.ptr);
}

loci_status __wrap_loci_call(loci_engine *engine, const char *operation, loci_str args,
                             const loci_call_options *options, loci_answer **out, loci_error *err)
{
    loci_status status = __real_loci_call(engine, operation, args, options, out, err);

    if (status == LOCI_OK && out != NULL)
        check_answer(operation, loci_answer_json(*out));
    return status;
}

loci_status __wrap_loci_call_stream(loci_engine *engine, const char *operation, loci_str args,
                                    const loci_call_options *options, loci_sink_fn *sink, void *ctx,
                                    loci_answer **out, loci_error *err)
{
    loci_status status = __real_loci_call_stream(engine, operation, args, options, sink, ctx, out,
                                                 err);

    if (status == LOCI_OK && out != NULL)
        check_answer(operation, loci_answer_json(*out));
    return status;
}

/* The answer is an array with one answer per request. */
loci_status __wrap_loci_call_many(loci_engine *engine, const loci_request *requests, size_t count,
                                  const loci_call_options *options, loci_answer **out,
                                  loci_error *err)
{
    loci_status status = __real_loci_call_many(engine, requests, count, options, out, err);

    for (size_t i = 0; status == LOCI_OK && out != NULL && i < count; i++)
        check_answer(requests[i].operation,
                     test_member(loci_answer_json(*out), test_format("%zu", i)));
    return status;
}

typedef struct submitted {
    const char *operation;
    loci_done_fn *done;
    void *ctx;
} submitted;

static void check_done(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    submitted call = *(submitted *)ctx;

    free(ctx);
    if (status == LOCI_OK)
        check_answer(call.operation, loci_answer_json(answer));
    call.done(call.ctx, status, answer, err);
}

loci_status __wrap_loci_submit(loci_engine *engine, const char *operation, loci_str args,
                               const loci_call_options *options, loci_done_fn *done, void *ctx,
                               loci_error *err)
{
    const lc_op *op = lc_op_find(loci_str_of(operation));
    submitted *call = malloc(sizeof *call);
    loci_status status;

    if (call == NULL)
        abort();
    *call = (submitted){op != NULL ? op->name : "?", done, ctx};
    status = __real_loci_submit(engine, operation, args, options, check_done, call, err);
    if (status != LOCI_OK)
        free(call);
    return status;
}
