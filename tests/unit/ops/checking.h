/* checking.h - an operation with a parameter of every kind, and a call to check arguments for. */
#ifndef TEST_UNIT_OPS_CHECKING_H
#define TEST_UNIT_OPS_CHECKING_H

#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "ops/check.h"

static const lc_param note_params[] = {
    {"key", LC_PARAM_STRING, LC_PARAM_REQUIRED, NULL, 1, 8, NULL, "The slot of the note"},
    {"value", LC_PARAM_ANY, 0, NULL, 0, 0, NULL, "What it says"},
    {"limit", LC_PARAM_INT, 0, "10", 1, 1000, NULL, "How many"},
    {"weight", LC_PARAM_REAL, 0, "0.5", 0, 1, NULL, "How much"},
    {"wait", LC_PARAM_BOOL, 0, "true", 0, 0, NULL, "Whether to wait"},
    {"observed_at", LC_PARAM_TIME, 0, NULL, 0, 0, NULL, "When it was seen"},
    {"types", LC_PARAM_STRINGS, 0, NULL, 1, 3, "user|system|tool", "Which ones"},
    {"tags", LC_PARAM_STRINGS, 0, "[\"a\",\"b\"]", 0, 0, NULL, "Labels"},
    {"scope", LC_PARAM_STRING, 0, "\"global\"", 0, 0, "global|task|draft", "Where it holds"},
    {"meta", LC_PARAM_OBJECT, 0, NULL, 0, 0, NULL, "Anything else"},
    {"quote", LC_PARAM_STRING, 0, "\"\\\"\"", 0, 0, NULL, "A default with an escape"},
    {"since", LC_PARAM_TIME, 0, "\"1970-01-01T00:00:01Z\"", 0, 0, NULL, "A default moment"},
    {"any", LC_PARAM_ANY, 0, "{\"a\":1}", 0, 0, NULL, "A default of any kind"},
    {.name = NULL},
};
static const lc_op note_write = {
    .name = "note.write",
    .params = note_params,
    .flags = LC_OP_USER | LC_OP_MUTATES,
};

typedef struct checking {
    lc_heap heap;
    lc_arena arena;
    lc_call call;
    loci_error err;
} checking;

static inline void begin(checking *c, const lc_op *op)
{
    memset(c, 0, sizeof *c);
    lc_heap_init(&c->heap, test_heap());
    lc_arena_init(&c->arena, &c->heap, LOCI_MEM_REQUESTS);
    c->call.op = op;
    c->call.arena = &c->arena;
}

static inline loci_status run(checking *c, const char *args)
{
    const lc_json *json;

    CHECK_OK(lc_json_parse(&c->arena, loci_str_of(args), 0, &json, &c->err), c->err);
    return lc_op_check(&c->call, json, &c->err);
}

/* Checks `args` of note.write, which must be wrong in these words and about this parameter. */
static inline void expect_wrong(const char *args, const char *message, const char *parameter)
{
    checking c;

    begin(&c, &note_write);
    CHECK_STATUS(LOCI_EINVAL, run(&c, args));
    CHECK_STR_EQ(c.err.message, message);
    CHECK_STR_EQ(c.err.data, test_format("{\"parameter\":\"%s\"}", parameter));
    lc_arena_clear(&c.arena);
}

static inline void expect_right(const char *args)
{
    checking c;

    begin(&c, &note_write);
    CHECK_OK(run(&c, args), c.err);
    lc_arena_clear(&c.arena);
}

#endif /* TEST_UNIT_OPS_CHECKING_H */
