/* op_window_context.c - window.get_context: what the window has of one sort, in one call.
 *
 * Resources are returned as they are kept: an inline text in full, anything else by its summary. A
 * file is read by resource.page_in alone, because reading it changes the window.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/window_call.h"
#include "window/window_map.h"

#define ITEMS_MAX 50
#define SCAN_MAX 10000 /* Resources that a search compares. */

typedef struct context_input {
    loci_str type, query, level, date;
    int64_t limit;
    const lc_tokenizer *tokenizer; /* Made before the snapshot. */
} context_input;

static const lc_param params[] = {
    {LC_ARG_STR("type", context_input, type), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = "soul|user|memory|impressions|daily|search|mindmap",
     .help = "Sort of context: resources of a kind, those that match a query, or the mind map"},
    {LC_ARG_STR("query", context_input, query), .flags = LC_PARAM_POSITIONAL, .min = 1, .max = 1000,
     .help = "Words for type search"},
    {LC_ARG_STR("level", context_input, level), .default_text = "\"auto\"", .choices = "auto|1|2|3",
     .help = "Level of the map for type mindmap"},
    {LC_ARG_STR("date", context_input, date), .min = 1, .max = 10,
     .help = "Date for type daily, such as 2026-01-06: only resources with it in their URI"},
    {LC_ARG_INT("limit", context_input, limit), .default_text = "10", .min = 1, .max = ITEMS_MAX,
     .help = "Maximum number of resources"},
    {.name = NULL},
};

static const lc_record item_record = {
    .name = "WindowItem",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the resource (res_...)"},
            {"uri", LC_PARAM_STRING, "URI of the resource"},
            {"state", LC_PARAM_STRING, "State", .choices = LC_RESOURCE_STATE_CHOICES},
            {"text", LC_PARAM_STRING,
             "Its text, or its summary; absent if there is none: page it in", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record answer = {
    .members =
        (const lc_result[]){
            {"type", LC_PARAM_STRING, "Sort of context"},
            {"text", LC_PARAM_STRING, "The map, for type mindmap", LC_RESULT_OPTIONAL},
            {"items", 0, "Resources, the most important first", LC_RESULT_LIST,
             .record = &item_record},
            LC_PRESSURE_RESULT,
            {NULL},
        },
};

static loci_status prepare(lc_call *call, loci_error *err)
{
    const context_input *in = call->input;

    if (lc_str_is(in->type, "search") && (in->query.ptr == NULL || lc_str_trim(in->query).len == 0))
        return lc_fail(err, LOCI_EINVAL, "query: type search needs words to search for");
    return LOCI_OK;
}

static loci_status compute(lc_call *call, loci_error *err)
{
    context_input *in = call->input;

    return lc_call_tokenizer(call, &in->tokenizer, err);
}

typedef struct choosing {
    lc_call *call;
    lc_resource *items;
    size_t count;
} choosing;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Without regard to the case of ASCII letters. */
static bool has_word(loci_str text, loci_str word)
{
    for (size_t at = 0; at + word.len <= text.len; at++) {
        size_t i = 0;

        while (i < word.len && lower(text.ptr[at + i]) == lower(word.ptr[i]))
            i++;
        if (i == word.len)
            return true;
    }
    return false;
}

/* Whether each word of the query is in its URI, summary, annotations or tags. */
static bool matches(const lc_resource *resource, loci_str query)
{
    for (loci_str rest = lc_str_trim(query); rest.ptr != NULL;) {
        loci_str word = lc_str_split(rest, ' ', &rest);

        if (word.len > 0 && !has_word(resource->uri, word) && !has_word(resource->summary, word) &&
            !has_word(resource->annotations, word) && !has_word(resource->tags, word))
            return false;
    }
    return true;
}

static loci_status choose(void *ctx, const lc_resource *resource, loci_error *err)
{
    choosing *c = ctx;
    const context_input *in = c->call->input;
    bool is_wanted = lc_str_is(in->type, "search")
                         ? matches(resource, in->query)
                         : lc_str_is(in->type, lc_resource_kind_name(resource->kind)) &&
                               (in->date.ptr == NULL || has_word(resource->uri, in->date));

    if (!is_wanted || (int64_t)c->count >= in->limit)
        return LOCI_OK;
    c->items[c->count] = *resource;
    return lc_row_keep(&lc_resource_row, c->call->arena, &c->items[c->count++])
               ? LOCI_OK
               : lc_fail_memory(err);
}

static loci_status put_items(lc_call *call, lc_tx *tx, const choosing *c, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < c->count && status == LOCI_OK; i++) {
        const lc_resource *resource = &c->items[i];
        loci_str text = resource->summary;

        if (lc_str_is(resource->source, "text"))
            status = lc_resource_read_text(tx, resource, call->arena, &text, err);
        lc_jw_object(&call->out);
        lc_jw_member_str(&call->out, "id", resource->id);
        lc_jw_member_str(&call->out, "uri", resource->uri);
        lc_jw_member_text(&call->out, "state", lc_resource_state_name(resource->state));
        if (text.ptr != NULL)
            lc_jw_member_str(&call->out, "text", text);
        lc_jw_end(&call->out);
    }
    return status;
}

static loci_status run(lc_call *call, lc_tx *tx, loci_error *err)
{
    const context_input *in = call->input;
    bool is_map = lc_str_is(in->type, "mindmap");
    int level = in->level.ptr[0] >= '1' && in->level.ptr[0] <= '3' ? in->level.ptr[0] - '0' : 0;
    lc_window_map_text map = {.text = LC_STR_NONE};
    choosing c = {.call = call};
    lc_window_use use;
    const lc_window_map_order order = {&use.window, level, in->tokenizer, call->arena};
    loci_status status = lc_call_load_window(call, tx, &use, err);

    c.items = lc_arena_zalloc_array(call->arena, ITEMS_MAX, sizeof *c.items);
    if (status == LOCI_OK && c.items == NULL)
        status = lc_fail_memory(err);
    if (status == LOCI_OK)
        status = is_map ? lc_window_write_map(tx, &order, &map, err)
                        : lc_resource_each_important(tx, &use.window, SCAN_MAX, choose, &c, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "type", in->type);
    if (is_map)
        lc_jw_member_str(&call->out, "text", map.text);
    lc_jw_name(&call->out, "items");
    lc_jw_array(&call->out);
    status = put_items(call, tx, &c, err);
    lc_jw_end(&call->out);
    if (status == LOCI_OK)
        status = lc_call_put_pressure(call, tx, &use, err);
    lc_jw_end(&call->out);
    return status;
}

extern const lc_op lc_op_window_get_context;
const lc_op lc_op_window_get_context = {
    .name = "window.get_context",
    .help = "Return the resources of one sort, a search among them, or the mind map",
    .params = params,
    .input_bytes = sizeof(context_input),
    .answer = &answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/window/context",
    .look = {.columns = "state uri text id", .hidden = "type pressure text"},
    .example = "{\"type\":\"search\",\"query\":\"deploy\"}",
    .prepare = prepare,
    .compute = compute,
    .run = run,
};
