/* The tools of models. A mistake here costs every conversation of every agent: a tool that mixes
 * effects makes hosts ask before each read, a schema that a host does not understand takes all
 * tools away, and a long list leaves less room for work. */
#include "lib/test.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "lib/heap.h"
#include "ops/check.h"
#include "ops/tool.h"

#define NAME_BYTES_MAX 32
#define DESCRIPTION_BYTES_MIN 60
#define DESCRIPTION_BYTES_MAX 400

/* tools/list of this build, in memory of the test library. */
static const char *list_text(void)
{
    static lc_heap heap;
    const char *copy;
    lc_json_writer w;
    lc_buf text;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, 1 << 20);
    lc_jw_init(&w, &text);
    lc_tools_write(&w);
    CHECK_EQ(lc_buf_status(&text, NULL), LOCI_OK);
    copy = test_format("%.*s", (int)text.len, text.ptr);
    lc_buf_clear(&text);
    return copy;
}

static void demand(bool is_right, const char *who, const char *rule, const char *detail)
{
    if (!is_right)
        test_fail(__FILE__, __LINE__, "%s: %s: %s", who, rule, detail);
}

TEST(tool, the_list_is_short)
{
    size_t count = 0;

    while (lc_tool_at(count) != NULL)
        count++;
    CHECK_LE(count, LC_TOOLS_MAX);
    CHECK_LE(strlen(list_text()), (size_t)LC_TOOLS_BYTES_MAX);
}

TEST(tool, names_titles_and_descriptions_are_there)
{
    const lc_tool *tool;

    for (size_t i = 0; (tool = lc_tool_at(i)) != NULL; i++) {
        size_t bytes = strlen(tool->name);

        for (const char *at = tool->name; *at != '\0'; at++)
            demand(islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_',
                   tool->name, "name", "not [a-z0-9_]");
        demand(bytes > 0 && bytes <= NAME_BYTES_MAX, tool->name, "name", "too long");
        demand(lc_tool_find(loci_str_of(tool->name)) == tool, tool->name, "name", "found twice");
        demand(tool->title != NULL && tool->title[0] != '\0', tool->name, "title", "missing");
        demand(tool->description != NULL && strlen(tool->description) >= DESCRIPTION_BYTES_MIN &&
                   strlen(tool->description) <= DESCRIPTION_BYTES_MAX,
               tool->name, "description", "missing, too short or too long");
        demand(lc_tool_op(tool, 0) != NULL, tool->name, "operations", "none names it");
        demand((tool->selector != NULL) == (lc_tool_op(tool, 1) != NULL), tool->name, "selector",
               "only for several operations");
    }
}

/* Hosts approve tools, not calls: one that reads and writes is either asked about at every read or
 * trusted with every write. The interface of `memory` is not ours to split, and only an agent
 * that pushes frames packs them. */
TEST(tool, each_has_the_one_effect_of_its_operations)
{
    const lc_tool *tool;
    const lc_op *op;

    for (size_t i = 0; (tool = lc_tool_at(i)) != NULL; i++) {
        demand(!tool->is_foreign || strcmp(tool->name, "memory") == 0, tool->name, "effect",
               "only memory may mix effects");
        for (size_t k = 0; (op = lc_tool_op(tool, k)) != NULL; k++) {
            bool may_mix = tool->is_foreign || strcmp(op->name, "frame.pack") == 0;

            demand(may_mix ? lc_op_effect(op) <= tool->effect : lc_op_effect(op) == tool->effect,
                   tool->name, "another effect than its operation", op->name);
        }
    }
}

TEST(tool, operations_that_take_something_away_are_marked)
{
    const char *const names[] = {"fact.retract",   "fact.forget",   "memory.forget",
                                 "memory.archive", "todo.forget",   "session.forget",
                                 "user.forget",    "working.delete"};
    const lc_op *op;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_EQ(lc_op_effect(lc_op_find(loci_str_of(names[i]))), LC_EFFECT_DESTROYS);
    CHECK_EQ(lc_op_effect(lc_op_find(LC_STR("fact.write"))), LC_EFFECT_ADDS);
    CHECK_EQ(lc_op_effect(lc_op_find(LC_STR("fact.list"))), LC_EFFECT_READS);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++)
        demand((op->flags & LC_OP_DESTROYS) == 0 || (op->flags & LC_OP_MUTATES) != 0, op->name,
               "flags", "DESTROYS needs MUTATES");
}

static void check_shows(const lc_op *op, const lc_record *record, loci_str shows)
{
    lc_shown shown;

    while (lc_shown_next(&shows, &shown)) {
        lc_result result = {.record = record};

        if (shown.source.ptr != NULL)
            demand(lc_shown_find(record, &shown, &result), op->name, "shows an unknown member",
                   test_format("%.*s", LC_STR_ARG(shown.source)));
        demand((result.record != NULL) == (shown.inner.ptr != NULL), op->name,
               "shows an object without members, or members of no object",
               test_format("%.*s", LC_STR_ARG(shown.name)));
        if (result.record != NULL)
            check_shows(op, result.record, shown.inner);
    }
}

/* Two operations of a tool that show a member by the same name must mean the same. */
static void check_same_parts(const lc_tool *tool, const lc_op *op)
{
    loci_str rest = loci_str_of(op->mcp_shows);
    lc_shown mine, other;

    while (lc_shown_next(&rest, &mine)) {
        for (size_t i = 0; lc_tool_op(tool, i) != NULL; i++) {
            loci_str others = loci_str_of(lc_tool_op(tool, i)->mcp_shows);

            while (lc_shown_next(&others, &other)) {
                if (lc_str_eq(mine.name, other.name))
                    demand(lc_str_eq(mine.inner, other.inner), op->name, "shows differ",
                           test_format("%.*s", LC_STR_ARG(mine.name)));
            }
        }
    }
}

TEST(tool, operations_name_tools_parameters_and_members_that_exist)
{
    const lc_op *op;

    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str action, tool_name = lc_str_split(loci_str_of(op->mcp), ' ', &action);
        const lc_tool *tool = lc_tool_find(tool_name);
        loci_str rest = loci_str_of(op->mcp_takes);

        if (op->mcp == NULL) {
            demand(op->mcp_takes == NULL && op->mcp_shows == NULL, op->name, "mcp", "no tool");
            continue;
        }
        demand(tool != NULL, op->name, "unknown tool", op->mcp);
        demand((action.ptr != NULL) == (tool->selector != NULL), op->name, "action", op->mcp);
        demand(lc_tool_find_op(tool, action) == op, op->name, "action is taken", op->mcp);
        demand(op->mcp_takes != NULL && op->mcp_shows != NULL, op->name, "columns", "missing");
        while (rest.len > 0) {
            loci_str value, name = lc_str_split(lc_str_split(rest, ' ', &rest), '=', &value);
            size_t index;

            demand(lc_op_find_param(op, name, &index) != NULL, op->name, "unknown parameter",
                   test_format("%.*s", LC_STR_ARG(name)));
        }
        check_shows(op, op->answer, loci_str_of(op->mcp_shows));
        check_same_parts(tool, op);
        demand((op->flags & (LC_OP_ADMIN | LC_OP_TENANT_ADMIN)) == 0, op->name, "mcp",
               "not for models");
        demand((op->flags & LC_OP_SECRET) == 0 || strcmp(op->name, "frame.suspend") == 0, op->name,
               "mcp", "a secret, and not the agent's own");
    }
}

/* ---- Schemas --------------------------------------------------------------------------------- */

/* Schemas that hosts and the Inspector's --strict refuse: a boolean for a schema, several types in
 * one, a reference, a value of no kind, an array of anything. Recursion over our own list. */
static void check_schema(const char *who, const lc_json *schema)
{
    const lc_json *type = lc_json_member(schema, LC_STR("type"));
    const lc_json *any = lc_json_member(schema, LC_STR("anyOf"));
    const lc_json *items = lc_json_member(schema, LC_STR("items"));
    const lc_json *properties = lc_json_member(schema, LC_STR("properties"));
    const lc_json *others = lc_json_member(schema, LC_STR("additionalProperties"));

    demand(lc_json_kind_of(schema) == LC_JSON_OBJECT, who, "schema", "no object");
    demand((type != NULL) != (any != NULL), who, "schema", "neither or both of type and anyOf");
    demand(type == NULL || lc_json_kind_of(type) == LC_JSON_STRING, who, "schema", "types");
    demand(lc_json_member(schema, LC_STR("$ref")) == NULL, who, "schema", "$ref");
    demand(type == NULL || !lc_str_is(lc_json_str(type), "array") || items != NULL, who, "schema",
           "array without items");
    if (items != NULL)
        check_schema(who, items);
    if (others != NULL)
        check_schema(who, others);
    for (const lc_json *at = any != NULL ? lc_json_first(any) : NULL; at != NULL;
         at = lc_json_next(at))
        check_schema(who, at);
    for (const lc_json *at = properties != NULL ? lc_json_first(properties) : NULL; at != NULL;
         at = lc_json_next(at))
        check_schema(who, at);
}

/* Names that say enough with their type; a description would only cost tokens. */
static bool is_plain_name(loci_str name)
{
    static const char *const names[] = {
        "action", "command",     "cursor", "dry_run", "due_at",      "file_text", "from",
        "id",     "insert_text", "key",    "limit",   "new_path",    "new_str",   "old_path",
        "reason", "session_id",  "text",   "to",      "valid_until", "value",     "whose"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (lc_str_is(name, names[i]))
            return true;
    return false;
}

/* Every parameter is described by itself or, in the selector, with the action that takes it. */
static void check_input(const char *who, const lc_json *schema)
{
    const lc_tool *tool = lc_tool_find(loci_str_of(who));
    bool has_usage = tool->selector != NULL && tool->selector_help == NULL;
    const lc_json *properties = lc_json_find(schema, "properties", LC_JSON_OBJECT);
    const lc_json *required = lc_json_find(schema, "required", LC_JSON_ARRAY);

    demand(properties != NULL && lc_json_count(properties) > 0, who, "input", "no properties");
    for (const lc_json *at = lc_json_first(properties); at != NULL; at = lc_json_next(at)) {
        const lc_json *help = lc_json_find(at, "description", LC_JSON_STRING);

        demand(has_usage || is_plain_name(lc_json_name(at)) ||
                   (help != NULL && lc_json_str(help).len > 0),
               who, "property without description",
               test_format("%.*s", LC_STR_ARG(lc_json_name(at))));
    }
    demand(required != NULL && lc_json_count(required) > 0, who, "input", "nothing is required");
    for (const lc_json *at = lc_json_first(required); at != NULL; at = lc_json_next(at))
        demand(lc_json_member(properties, lc_json_str(at)) != NULL, who, "required",
               "names no property");
}

TEST(tool, schemas_are_plain_enough_for_all_hosts)
{
    const char *const hints[] = {"readOnlyHint", "destructiveHint", "openWorldHint"};
    const lc_json *list;
    lc_arena arena;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_EQ(lc_json_parse(&arena, loci_str_of(list_text()), 0, &list, NULL), LOCI_OK);
    for (const lc_json *tool = lc_json_first(list); tool != NULL; tool = lc_json_next(tool)) {
        loci_str name = lc_json_str(lc_json_find(tool, "name", LC_JSON_STRING));
        const char *who = test_format("%.*s", LC_STR_ARG(name));
        const lc_json *input = lc_json_find(tool, "inputSchema", LC_JSON_OBJECT);
        const lc_json *output = lc_json_find(tool, "outputSchema", LC_JSON_OBJECT);
        const lc_json *annotations = lc_json_find(tool, "annotations", LC_JSON_OBJECT);
        const lc_tool *entry = lc_tool_find(name);

        demand(lc_str_is(lc_json_str(lc_json_find(input, "type", LC_JSON_STRING)), "object"), who,
               "input", "no object");
        demand(lc_str_is(lc_json_str(lc_json_find(output, "type", LC_JSON_STRING)), "object"), who,
               "output", "no object");
        check_schema(who, input);
        check_schema(who, output);
        check_input(who, input);
        for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
            demand(lc_json_find(annotations, hints[i], LC_JSON_BOOL) != NULL, who, "annotation",
                   hints[i]);
        CHECK_EQ(lc_json_bool(lc_json_find(annotations, "readOnlyHint", LC_JSON_BOOL)),
                 entry->effect == LC_EFFECT_READS);
        CHECK_EQ(lc_json_bool(lc_json_find(annotations, "destructiveHint", LC_JSON_BOOL)),
                 entry->effect == LC_EFFECT_DESTROYS);
        CHECK(!lc_json_bool(lc_json_find(annotations, "openWorldHint", LC_JSON_BOOL)));
        CHECK_EQ(lc_json_member(annotations, LC_STR("idempotentHint")) != NULL,
                 entry->effect != LC_EFFECT_READS && lc_tool_is_idempotent(entry));
    }
    lc_arena_clear(&arena);
}

/* So that a change of the texts for models is seen in review. */
TEST(tool, the_list_is_the_one_that_was_reviewed)
{
    static const char *const breaks[] = {
        "{\"name\":\"", "\"inputSchema\":", "\"outputSchema\":", "\"annotations\":"};
    const char *text = list_text();
    char *lines = test_bytes(strlen(text) * 2);
    size_t len = 0;

    for (const char *at = text; *at != '\0'; at++) {
        for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
            if (strncmp(at, breaks[i], strlen(breaks[i])) == 0)
                lines[len++] = '\n';
        }
        lines[len++] = *at;
    }
    lines[len++] = '\n';
    CHECK_GOLDEN("tests/golden/mcp_tools.txt", ((loci_str){lines, len}));
}

static loci_status write_list(void *ctx)
{
    lc_heap *heap = ctx;
    lc_json_writer w;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, heap, LOCI_MEM_REQUESTS, 1 << 20);
    lc_jw_init(&w, &text);
    lc_tools_write(&w);
    status = lc_buf_status(&text, NULL);
    lc_buf_clear(&text);
    return status;
}

TEST(tool, running_out_of_memory_is_reported)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    test_oom_sweep(write_list, &heap);
}
