/* checking.h - an operation with a parameter of every kind, and a call to check arguments for. */
#ifndef TEST_UNIT_OPS_CHECKING_H
#define TEST_UNIT_OPS_CHECKING_H

#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "ops/check.h"

typedef struct note_input {
    loci_str key;
    const lc_json *value;
    int64_t limit;
    double weight;
    double share;
    bool wait;
    lc_tristate is_final;
    int64_t observed_at;
    lc_str_list types;
    lc_str_list tags;
    lc_str_list links;
    loci_str scope;
    const lc_json *meta;
    loci_str quote;
    int64_t since;
    const lc_json *any;
    loci_str body;
} note_input;

static const lc_param note_params[] = {
    {LC_ARG_STR("key", note_input, key), .flags = LC_PARAM_REQUIRED, .min = 1, .max = 8,
     .help = "The slot of the note"},
    {LC_ARG_ANY("value", note_input, value), .help = "What it says"},
    {LC_ARG_INT("limit", note_input, limit), .default_text = "10", .min = 1, .max = 1000,
     .help = "How many"},
    {LC_ARG_REAL("weight", note_input, weight), .default_text = "0.5", .max = 1,
     .help = "How much"},
    {LC_ARG_REAL("share", note_input, share), .help = "Of all"},
    {LC_ARG_BOOL("wait", note_input, wait, "true"), .help = "Whether to wait"},
    {LC_ARG_TRISTATE("is_final", note_input, is_final), .help = "Whether it is final"},
    {LC_ARG_TIME("observed_at", note_input, observed_at), .help = "When it was seen"},
    {LC_ARG_STRINGS("types", note_input, types), .min = 1, .max = 3, .choices = "user|system|tool",
     .help = "Which ones"},
    {LC_ARG_STRINGS("tags", note_input, tags), .default_text = "[\"a\",\"b\"]", .help = "Labels"},
    {LC_ARG_STRINGS("links", note_input, links), .flags = LC_PARAM_ONE_OR_MANY, .max = 2,
     .item_max = 4, .help = "Other notes"},
    {LC_ARG_STR("scope", note_input, scope), .default_text = "\"global\"",
     .choices = "global|task|draft", .help = "Where it holds"},
    {LC_ARG_OBJECT("meta", note_input, meta), .help = "Anything else"},
    {LC_ARG_STR("quote", note_input, quote), .default_text = "\"\\\"\"",
     .help = "A default with an escape"},
    {LC_ARG_TIME("since", note_input, since), .default_text = "\"1970-01-01T00:00:01Z\"",
     .help = "A default moment"},
    {LC_ARG_ANY("any", note_input, any), .default_text = "{\"a\":1}",
     .help = "A default of any kind"},
    {LC_ARG_JSON("body", note_input, body), .max = 8, .alias = "content",
     .help = "A value to keep"},
    {.name = NULL},
};
static const lc_op note_write = {
    .name = "note.write",
    .params = note_params,
    .input_bytes = sizeof(note_input),
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
