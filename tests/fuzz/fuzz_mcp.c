/* fuzz_mcp.c - messages of clients, one per line, on both transports.
 *
 * Every line must be answered exactly once, by nothing or by one JSON object without a line break
 * that repeats the id of a request, and nothing may be left in memory. A line that begins with
 * "name: value" is a header of the HTTP request that follows. Operations fail; questions to the
 * client are never answered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "mcp/dispatch.h"

#define TEXT_BYTES_MAX (64 * 1024)
#define HEADERS_MAX 16
#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct peer {
    lc_heap heap;
    lc_mcp_server *server;
    lc_mcp_listener *listeners[LINES_MAX];
    size_t listener_count;
    size_t open_count; /* Messages without an answer. */
    loci_str headers[HEADERS_MAX][2];
    size_t header_count;
    char session_id[LC_MCP_SESSION_ID_BYTES];
} peer;

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---- The provider ---------------------------------------------------------------------------- */

static void finish_failed(void *ctx, lc_mcp_exchange *exchange, loci_status status, loci_str answer,
                          const loci_error *err)
{
    (void)ctx;
    (void)answer;
    require(status != LOCI_OK);
    lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, err->message, LC_STR_NONE);
}

static void take_reply(void *ctx, lc_mcp_exchange *exchange, const lc_json *result)
{
    (void)ctx;
    lc_mcp_finish(exchange, result != NULL ? LC_STR("{\"said\":1}") : LC_STR("{}"));
}

static void call_tool(void *ctx, lc_mcp_exchange *exchange, loci_str name, const lc_json *arguments)
{
    lc_json_writer w;
    lc_buf out;

    (void)ctx;
    if (lc_str_is(name, "run")) {
        lc_mcp_run(exchange, "fact.current", LC_STR("{}"), finish_failed, NULL);
        return;
    }
    if (lc_str_is(name, "ask")) {
        lc_mcp_ask(exchange, "roots/list", LC_STR("{}"), take_reply, NULL);
        return;
    }
    lc_mcp_progress(exchange, 1, 2);
    lc_mcp_log(exchange, "error", LC_STR("{}"));
    lc_mcp_announce(exchange, LC_MCP_TOOLS | LC_MCP_PROMPTS);
    /* The client's own text in the result, with names that the dispatcher looks for. */
    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&w, &out);
    lc_jw_value(&w, arguments);
    lc_mcp_finish(exchange, lc_buf_str(&out));
    lc_buf_clear(&out);
}

static void list_resources(void *ctx, lc_mcp_exchange *exchange, loci_str cursor)
{
    (void)ctx;
    (void)cursor;
    lc_mcp_finish(exchange, LC_STR("{\"resources\":[]}"));
}

static void read_resource(void *ctx, lc_mcp_exchange *exchange, loci_str uri)
{
    (void)ctx;
    (void)uri;
    lc_mcp_fail(exchange, LC_MCP_RESOURCE_NOT_FOUND, "no such resource", LC_STR_NONE);
}

static void get_prompt(void *ctx, lc_mcp_exchange *exchange, loci_str name,
                       const lc_json *arguments)
{
    (void)ctx;
    (void)name;
    (void)arguments;
    lc_mcp_finish(exchange, LC_STR("{\"messages\":[]}"));
}

static void complete(void *ctx, lc_mcp_exchange *exchange, const lc_json *ref,
                     const lc_json *argument)
{
    (void)ctx;
    (void)ref;
    (void)argument;
    lc_mcp_finish(exchange, LC_STR("{\"completion\":{\"values\":[]}}"));
}

static bool is_changed_by(void *ctx, loci_str uri, loci_str event_type)
{
    (void)ctx;
    return lc_str_starts(uri, event_type);
}

/* ---- The transport --------------------------------------------------------------------------- */

static void check_message(const peer *p, loci_str message)
{
    lc_arena arena;
    const lc_json *json;

    if (message.ptr == NULL)
        return;
    lc_arena_init(&arena, (lc_heap *)(uintptr_t)&p->heap, LOCI_MEM_REQUESTS);
    require(memchr(message.ptr, '\n', message.len) == NULL);
    /* A result may be deeper than what can be read. */
    if (lc_json_parse(&arena, message, LC_JSON_ALLOW_NUL, &json, NULL) == LOCI_OK)
        require(lc_json_find(json, "jsonrpc", LC_JSON_STRING) != NULL);
    lc_arena_clear(&arena);
}

static void run_operation(void *ctx, lc_mcp_exchange *exchange, const char *operation,
                          loci_str args)
{
    loci_error err = {.status = LOCI_EUNAVAILABLE, .message = "there is no store"};

    (void)ctx;
    (void)operation;
    (void)args;
    lc_mcp_resume(exchange, LOCI_EUNAVAILABLE, LC_STR_NONE, &err);
}

static void send_message(void *ctx, const lc_mcp_exchange *exchange, loci_str message)
{
    (void)exchange;
    check_message(ctx, message);
}

static void take_answer(void *ctx, const lc_mcp_answer *answer)
{
    peer *p = ctx;

    require(p->open_count > 0);
    p->open_count--;
    check_message(p, answer->message);
    if (answer->session != NULL)
        memcpy(p->session_id, answer->session, sizeof p->session_id);
}

static void take_listener(void *ctx, lc_mcp_listener *listener, const lc_mcp_answer *first)
{
    peer *p = ctx;

    take_answer(ctx, first);
    p->listeners[p->listener_count++] = listener;
}

static const lc_mcp_transport stdio = {
    .run = run_operation, .send = send_message, .answer = take_answer};
static const lc_mcp_transport http = {
    .run = run_operation, .send = send_message, .answer = take_answer, .listen = take_listener};

static loci_str find_header(const void *ctx, const char *name)
{
    const peer *p = ctx;

    for (size_t i = 0; i < p->header_count; i++) {
        if (lc_str_is(p->headers[i][0], name))
            return p->headers[i][1];
    }
    return lc_str_is(LC_STR("Mcp-Session-Id"), name) && p->session_id[0] != '\0'
               ? loci_str_of(p->session_id)
               : LC_STR_NONE;
}

/* ---- One input ------------------------------------------------------------------------------- */

static void drain(peer *p, lc_mcp_session *session)
{
    lc_buf out;

    lc_buf_init(&out, &p->heap, LOCI_MEM_REQUESTS, 1u << 20);
    if (session != NULL) {
        lc_mcp_session_note(session, LC_STR("t"));
        while (lc_mcp_session_next(session, &out)) {
            check_message(p, lc_buf_str(&out));
            lc_buf_reset(&out);
        }
    }
    for (size_t i = 0; i < p->listener_count; i++) {
        lc_mcp_listener_note(p->listeners[i], LC_STR_NONE);
        while (lc_mcp_listener_next(p->listeners[i], &out)) {
            check_message(p, lc_buf_str(&out));
            lc_buf_reset(&out);
        }
    }
    lc_buf_clear(&out);
}

static void play(peer *p, loci_str text, bool is_http)
{
    lc_mcp_head head = {.header = find_header, .ctx = p, .owner = "tok"};
    lc_mcp_session *session = is_http ? NULL : lc_mcp_session_new(p->server);
    size_t count = 0;

    while (text.ptr != NULL && count++ < LINES_MAX) {
        loci_str line = lc_str_split(text, '\n', &text), value;
        loci_str name = lc_str_split(line, ':', &value);
        lc_mcp_incoming incoming = {.text = line,
                                    .head = is_http ? &head : NULL,
                                    .session = session,
                                    .transport = is_http ? &http : &stdio,
                                    .ctx = p};

        if (value.ptr != NULL && name.len > 0 && name.ptr[0] >= 'A' && name.ptr[0] <= 'Z' &&
            p->header_count < HEADERS_MAX) {
            p->headers[p->header_count][0] = name;
            p->headers[p->header_count++][1] = value;
            continue;
        }
        p->open_count++;
        lc_mcp_receive(p->server, &incoming);
        p->header_count = 0;
    }
    drain(p, session);
    while (p->listener_count > 0)
        lc_mcp_listener_free(p->listeners[--p->listener_count]);
    if (session != NULL)
        lc_mcp_session_end(session);
    lc_mcp_session_release(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char tools[] =
        "[{\"name\":\"echo\",\"inputSchema\":{\"properties\":{\"a\":{\"x-mcp-header\":\"A\"}}}},"
        "{\"name\":\"run\"},{\"name\":\"ask\"}]";
    static const char prompts[] =
        "[{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"required\":true}]}]";
    static const lc_mcp_provider provider = {
        .name = "fuzz",
        .title = "Fuzz",
        .version = "1",
        .tools = {tools, sizeof tools - 1},
        .prompts = {prompts, sizeof prompts - 1},
        .call_tool = call_tool,
        .list_resources = list_resources,
        .read_resource = read_resource,
        .get_prompt = get_prompt,
        .complete = complete,
        .is_changed_by = is_changed_by,
        .lists_change = true,
    };
    peer p = {.server = NULL};

    if (bytes > TEXT_BYTES_MAX)
        return 0;
    lc_heap_init(&p.heap, (loci_allocator){0});
    require(lc_mcp_server_new(&p.heap, &provider, (lc_mcp_lock){0}, &p.server, NULL) == LOCI_OK);
    play(&p, (loci_str){(const char *)data, bytes}, false);
    play(&p, (loci_str){(const char *)data, bytes}, true);
    lc_mcp_server_free(p.server);
    require(p.open_count == 0);
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++)
        require(lc_heap_live_bytes(&p.heap, (loci_category)i) == 0);
    return 0;
}
