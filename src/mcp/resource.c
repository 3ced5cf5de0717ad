/* resource.c - resources that clients can read, watch and complete.
 *
 * The list has the collections only: it never changes, so clients need not be told of every new
 * fact, and a store with many facts does not make the list longer. Single objects are reached by
 * templates, whose variables are completed.
 */
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "mcp/own.h"
#include "ops/tool.h"

#define SCHEME "loci://"
#define VALUES_MAX 100 /* Of completion/complete. */
#define TEXT_BYTES_MAX (200u * 1024)
#define VARIABLE_BYTES_MAX (64u * 1024)

/* A kind of resource: loci://facts and loci://facts/{key}. */
typedef struct kind {
    const char *name;    /* "facts" */
    const char *list_op; /* Of the collection. */
    const char *list_args;
    const char *list_shows;
    const char *item_op;  /* Of one; NULL = only the collection. */
    const char *variable; /* Its parameter. */
    const char *item_args;
    const char *item_shows; /* NULL = the answer as JSON. */
    const char *completes;  /* Member of the list's items that is a value of the variable. */
    const char *events;     /* Types of events that change it begin so: "fact.|…"; NULL = all. */
} kind;

static const kind kinds[] = {
    {"facts", "fact.list", "\"limit\":500",
     "facts(key value id ~observed_at trust is_constraint needs_review whose:persona_id)",
     "fact.current", "key", "", NULL, "key", "fact."},
    {"memories", "memory.list", "\"limit\":200",
     "memories(text observed_at id pinned trust whose:persona_id)", "memory.get", "id", "", NULL,
     "id", "memory.|entity."},
    {"sessions", "session.list", "\"limit\":100",
     "sessions(opened_at id state external_id last_activity)", "session.messages", "session_id",
     "\"limit\":200", "messages(at speaker role text id)", "id", "session.|message."},
    {"todos", "todo.list", "\"limit\":200", "todos(text due_at id kind status whose:persona_id)",
     NULL, NULL, NULL, NULL, NULL, "todo."},
    {"context", "context.build", "\"query\":\"\"", "text!", "context.build", "query", "", "text!",
     NULL, NULL},
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

#define BOTH "\"audience\":[\"user\",\"assistant\"]"

static const char resources[] =
    "{\"resources\":["
    "{\"uri\":\"" SCHEME "context\",\"name\":\"context\",\"title\":\"What matters now\","
    "\"description\":\"Rules, facts, memories and todos for a conversation that begins\","
    "\"mimeType\":\"text/plain\",\"annotations\":{\"audience\":[\"assistant\"],\"priority\":1}},"
    "{\"uri\":\"" SCHEME "facts\",\"name\":\"facts\",\"title\":\"Facts\",\"description\":\"Values "
    "that are true now\",\"mimeType\":\"text/plain\",\"annotations\":{" BOTH ",\"priority\":0.8}},"
    "{\"uri\":\"" SCHEME "todos\",\"name\":\"todos\",\"title\":\"Todos\",\"description\":\"Open "
    "todos\",\"mimeType\":\"text/plain\",\"annotations\":{" BOTH ",\"priority\":0.7}},"
    "{\"uri\":\"" SCHEME "memories\",\"name\":\"memories\",\"title\":\"Memories\",\"description\":"
    "\"The newest 200 memories\",\"mimeType\":\"text/plain\",\"annotations\":{" BOTH
    ",\"priority\":0.5}},"
    "{\"uri\":\"" SCHEME "sessions\",\"name\":\"sessions\",\"title\":\"Conversations\","
    "\"description\":\"The newest 100 conversations\",\"mimeType\":\"text/plain\",\"annotations\":{"
    "\"audience\":[\"user\"],\"priority\":0.3}}]}";

const char lc_mcp_templates[] =
    "[{\"uriTemplate\":\"" SCHEME "facts/{key}\",\"name\":\"fact\",\"title\":\"Fact\","
    "\"description\":\"The current value of a key, with its origin\","
    "\"mimeType\":\"application/json\"},"
    "{\"uriTemplate\":\"" SCHEME "memories/{id}\",\"name\":\"memory\",\"title\":\"Memory\","
    "\"description\":\"One memory, with its origin\",\"mimeType\":\"application/json\"},"
    "{\"uriTemplate\":\"" SCHEME "sessions/{id}\",\"name\":\"session\",\"title\":\"Conversation\","
    "\"description\":\"The first 200 messages of a conversation\",\"mimeType\":\"text/plain\"},"
    "{\"uriTemplate\":\"" SCHEME "context/{query}\",\"name\":\"context_for\",\"title\":\"Context "
    "for a question\",\"description\":\"What matters for a question\","
    "\"mimeType\":\"text/plain\"}]";

/* ---- URIs ------------------------------------------------------------------------------------ */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX into the arena; none if the result is not valid text. */
static loci_str decode(lc_arena *arena, loci_str text)
{
    loci_str copy = lc_arena_copy(arena, text);
    char *out = (char *)copy.ptr;
    size_t len = 0;

    for (size_t i = 0; out != NULL && i < text.len; i++) {
        int high, low;

        if (text.ptr[i] != '%') {
            out[len++] = text.ptr[i];
            continue;
        }
        high = i + 1 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return LC_STR_NONE;
        out[len++] = (char)(high * 16 + low);
        i += 2;
    }
    copy.len = len;
    return copy.ptr != NULL && lc_utf8_is_valid(copy) ? copy : LC_STR_NONE;
}

/* The kind of a URI, and its variable; none = the collection. NULL for other URIs. */
static const kind *find_kind(loci_str uri, loci_str *out_variable)
{
    loci_str scheme = LC_STR(SCHEME);
    loci_str name;

    *out_variable = LC_STR_NONE;
    if (!lc_str_starts(uri, scheme))
        return NULL;
    name = lc_str_split((loci_str){uri.ptr + scheme.len, uri.len - scheme.len}, '/', out_variable);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!lc_str_is(name, kinds[i].name))
            continue;
        if (out_variable->ptr != NULL && (out_variable->len == 0 || kinds[i].item_op == NULL))
            return NULL;
        return &kinds[i];
    }
    return NULL;
}

/* ---- Listing and reading --------------------------------------------------------------------- */

void lc_mcp_list_resources(void *ctx, lc_mcp_exchange *exchange, loci_str cursor)
{
    (void)ctx; /* The list is the same for all callers. */
    if (cursor.len > 0)
        lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS, "cursor: the list has one page", LC_STR_NONE);
    else
        lc_mcp_finish(exchange, loci_str_of(resources));
}

typedef struct reading {
    const lc_mcp_own *own;
    const kind *kind;
    loci_str uri;
    bool is_item;
} reading;

static void fail_unknown(const lc_mcp_own *own, lc_mcp_exchange *exchange, loci_str uri)
{
    lc_json_writer w;
    lc_buf data;

    lc_buf_init(&data, own->heap, LOCI_MEM_REQUESTS, VARIABLE_BYTES_MAX);
    lc_jw_init(&w, &data);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "uri", uri);
    lc_jw_end(&w);
    if (lc_buf_status(&data, NULL) == LOCI_OK)
        lc_mcp_fail(exchange, LC_MCP_RESOURCE_NOT_FOUND,
                    "Resource not found; resources/list and resources/templates/list show what "
                    "there is",
                    lc_buf_str(&data));
    else
        lc_mcp_fail_memory(exchange);
    lc_buf_clear(&data);
}

static void put_contents(const reading *r, const char *mime_type, loci_str text, lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_name(&w, "contents");
    lc_jw_array(&w);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "uri", r->uri);
    lc_jw_member_text(&w, "mimeType", mime_type);
    lc_jw_member_str(&w, "text", text);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
}

/* lc_mcp_then_fn. */
static void read_done(void *ctx, lc_mcp_exchange *exchange, loci_status status, loci_str answer,
                      const loci_error *err)
{
    const reading *r = ctx;
    const lc_op *op = lc_op_find(loci_str_of(r->is_item ? r->kind->item_op : r->kind->list_op));
    const char *shows = r->is_item ? r->kind->item_shows : r->kind->list_shows;
    lc_mcp_view view = {op->answer, loci_str_of(shows), TEXT_BYTES_MAX};
    const lc_json *json;
    lc_buf text, result;

    if (status == LOCI_ENOTFOUND && r->is_item) {
        fail_unknown(r->own, exchange, r->uri);
        return;
    }
    if (status != LOCI_OK) {
        lc_mcp_fail_status(exchange, status, err);
        return;
    }
    lc_buf_init(&text, r->own->heap, LOCI_MEM_REQUESTS, LC_MCP_RESULT_BYTES_MAX);
    lc_buf_init(&result, r->own->heap, LOCI_MEM_REQUESTS, 2 * (size_t)LC_MCP_RESULT_BYTES_MAX);
    if (shows == NULL) {
        put_contents(r, "application/json", answer, &result);
    } else if (lc_json_parse(lc_mcp_arena(exchange), answer, 0, &json, NULL) == LOCI_OK) {
        lc_mcp_show(&view, json, &text, NULL);
        if (lc_json_find(json, "next_cursor", LC_JSON_STRING) != NULL)
            lc_buf_append(&text, LC_STR("There are more; the tools page through all of them.\n"));
        if (lc_buf_status(&text, NULL) != LOCI_OK)
            result.failure = text.failure;
        put_contents(r, "text/plain", lc_buf_str(&text), &result);
    } else {
        result.failure = LOCI_ERESOURCE;
    }
    lc_buf_clear(&text);
    lc_mcp_finish_buf(exchange, &result);
}

void lc_mcp_read_resource(void *ctx, lc_mcp_exchange *exchange, loci_str uri)
{
    const lc_mcp_own *own = ctx;
    lc_arena *arena = lc_mcp_arena(exchange);
    reading *r = lc_arena_alloc(arena, sizeof *r);
    loci_str variable;
    lc_json_writer w;
    lc_buf member;

    if (r == NULL) {
        lc_mcp_fail_memory(exchange);
        return;
    }
    *r = (reading){.own = own, .kind = find_kind(uri, &variable), .uri = uri};
    r->is_item = variable.ptr != NULL;
    if (r->is_item && r->kind != NULL)
        variable = decode(arena, variable);
    if (r->kind == NULL || (r->is_item && variable.ptr == NULL)) {
        fail_unknown(own, exchange, uri);
        return;
    }
    if (!r->is_item) {
        lc_mcp_run_op(own, exchange, r->kind->list_op, loci_str_of(r->kind->list_args), read_done,
                      r);
        return;
    }
    lc_buf_init(&member, own->heap, LOCI_MEM_REQUESTS, VARIABLE_BYTES_MAX);
    lc_buf_append_format(&member, "%s%s\"%s\":", r->kind->item_args,
                         r->kind->item_args[0] != '\0' ? "," : "", r->kind->variable);
    lc_jw_init(&w, &member);
    lc_jw_str(&w, variable);
    if (lc_buf_status(&member, NULL) == LOCI_OK)
        lc_mcp_run_op(own, exchange, r->kind->item_op, lc_buf_str(&member), read_done, r);
    else
        lc_mcp_fail_memory(exchange);
    lc_buf_clear(&member);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* An event does not say which keys or ids it is about, so every resource of its kind may have
 * changed. Forgetting reaches everywhere: a session takes facts along. */
bool lc_mcp_is_changed_by(void *ctx, loci_str uri, loci_str event_type)
{
    static const loci_str forgotten = LC_STR(".forgotten");
    loci_str variable, rest;
    const kind *of = find_kind(uri, &variable);

    (void)ctx; /* The same for all callers. */
    if (of == NULL)
        return false; /* The list itself never changes. */
    if (of->events == NULL ||
        (event_type.len >= forgotten.len && memcmp(event_type.ptr + event_type.len - forgotten.len,
                                                   forgotten.ptr, forgotten.len) == 0))
        return true;
    for (rest = loci_str_of(of->events); rest.ptr != NULL;) {
        if (lc_str_starts(event_type, lc_str_split(rest, '|', &rest)))
            return true;
    }
    return false;
}

/* ---- Completion ------------------------------------------------------------------------------ */

typedef struct completing {
    const lc_mcp_own *own;
    const char *list;   /* Member of the answer with the items. */
    const char *member; /* Of each, with a value. */
    loci_str typed;     /* The beginning that the user has typed. */
} completing;

/* Letters of either case are the same. */
static bool begins(loci_str text, loci_str typed)
{
    for (size_t i = 0; i < typed.len; i++) {
        char a = i < text.len ? text.ptr[i] : '\0', b = typed.ptr[i];

        a = a >= 'A' && a <= 'Z' ? (char)(a | 0x20) : a;
        b = b >= 'A' && b <= 'Z' ? (char)(b | 0x20) : b;
        if (a != b)
            return false;
    }
    return true;
}

static void finish_values(const completing *c, lc_mcp_exchange *exchange, const lc_json *answer)
{
    const lc_json *list = lc_json_find(answer, c->list, LC_JSON_ARRAY);
    bool has_more = lc_json_find(answer, "next_cursor", LC_JSON_STRING) != NULL;
    size_t total = 0;
    lc_json_writer w;
    lc_buf result;

    lc_buf_init(&result, c->own->heap, LOCI_MEM_REQUESTS, LC_MCP_RESULT_BYTES_MAX);
    lc_jw_init(&w, &result);
    lc_jw_object(&w);
    lc_jw_name(&w, "completion");
    lc_jw_object(&w);
    lc_jw_name(&w, "values");
    lc_jw_array(&w);
    for (const lc_json *at = list != NULL ? lc_json_first(list) : NULL; at != NULL;
         at = lc_json_next(at)) {
        const lc_json *value = lc_json_find(at, c->member, LC_JSON_STRING);

        if (value == NULL || !begins(lc_json_str(value), c->typed))
            continue;
        if (total++ < VALUES_MAX)
            lc_jw_value(&w, value);
    }
    lc_jw_end(&w);
    if (!has_more)
        lc_jw_member_int(&w, "total", (int64_t)total);
    lc_jw_member_bool(&w, "hasMore", has_more || total > VALUES_MAX);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_mcp_finish_buf(exchange, &result);
}

/* lc_mcp_then_fn. */
static void complete_done(void *ctx, lc_mcp_exchange *exchange, loci_status status, loci_str answer,
                          const loci_error *err)
{
    const lc_json *json;

    if (status != LOCI_OK)
        lc_mcp_fail_status(exchange, status, err);
    else if (lc_json_parse(lc_mcp_arena(exchange), answer, 0, &json, NULL) != LOCI_OK)
        lc_mcp_fail_memory(exchange);
    else
        finish_values(ctx, exchange, json);
}

/* The kind whose template `uri` is, if `argument` is its variable. */
static const kind *find_template(loci_str uri, loci_str argument)
{
    loci_str variable;
    const kind *of = find_kind(uri, &variable);

    if (of == NULL || variable.len != argument.len + 2 || variable.ptr[0] != '{' ||
        memcmp(variable.ptr + 1, argument.ptr, argument.len) != 0)
        return NULL;
    return of;
}

void lc_mcp_complete(void *ctx, lc_mcp_exchange *exchange, const lc_json *ref,
                     const lc_json *argument)
{
    const lc_mcp_own *own = ctx;
    const lc_json *uri = lc_json_find(ref, "uri", LC_JSON_STRING);
    const lc_json *prompt = lc_json_find(ref, "name", LC_JSON_STRING);
    loci_str name = lc_json_str(lc_json_find(argument, "name", LC_JSON_STRING));
    const kind *of = uri != NULL ? find_template(lc_json_str(uri), name) : NULL;
    completing *c = lc_arena_alloc(lc_mcp_arena(exchange), sizeof *c);

    if (c == NULL) {
        lc_mcp_fail_memory(exchange);
        return;
    }
    *c = (completing){.own = own,
                      .typed = lc_json_str(lc_json_find(argument, "value", LC_JSON_STRING))};
    if (uri != NULL && of == NULL) {
        lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS,
                    "ref: there is no such template, or it has another variable", LC_STR_NONE);
    } else if (prompt != NULL && !lc_mcp_prompt_has(lc_json_str(prompt), name)) {
        lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS, "argument: the prompt has no such argument",
                    LC_STR_NONE);
    } else if (of != NULL && of->completes != NULL) {
        c->list = of->name;
        c->member = of->completes;
        lc_mcp_run_op(own, exchange, of->list_op, LC_STR("\"limit\":1000"), complete_done, c);
    } else if (prompt != NULL && lc_str_is(name, "person")) {
        c->list = "entities";
        c->member = "ref";
        lc_mcp_run_op(own, exchange, "entity.list", LC_STR("\"limit\":1000,\"type\":\"person\""),
                      complete_done, c);
    } else {
        lc_mcp_finish(exchange,
                      LC_STR("{\"completion\":{\"values\":[],\"total\":0,\"hasMore\":false}}"));
    }
}
