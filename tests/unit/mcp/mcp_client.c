#include "unit/mcp/mcp_client.h"

#include <string.h>
#include <strings.h>

/* ---- The provider ---------------------------------------------------------------------------- */

static const char tools[] =
    "[{'name':'echo','description':'Echo','inputSchema':{'type':'object'}},"
    "{'name':'run','description':'Run','inputSchema':{'type':'object'}},"
    "{'name':'fail','description':'Fail','inputSchema':{'type':'object'}},"
    "{'name':'report','description':'Report','inputSchema':{'type':'object'}},"
    "{'name':'ask','description':'Ask','inputSchema':{'type':'object'}},"
    "{'name':'meta','description':'Meta','inputSchema':{'type':'object'}},"
    "{'name':'region','description':'Region','inputSchema':{'type':'object','properties':"
    "{'region':{'type':'string','x-mcp-header':'Region'},'n':{'type':'integer',"
    "'x-mcp-header':'N'}}}}]";

static void finish_text(lc_mcp_exchange *exchange, loci_str text)
{
    lc_json_writer w;
    lc_buf out;

    lc_buf_init(&out, lc_mcp_arena(exchange)->heap, LOCI_MEM_REQUESTS, 1u << 20);
    lc_jw_init(&w, &out);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "echo", text);
    lc_jw_end(&w);
    if (lc_buf_status(&out, NULL) == LOCI_OK)
        lc_mcp_finish(exchange, lc_buf_str(&out));
    else
        lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, "out of memory", LC_STR_NONE);
    lc_buf_clear(&out);
}

static void finish_operation(void *ctx, lc_mcp_exchange *exchange, loci_status status,
                             loci_str answer, const loci_error *err)
{
    (void)ctx;
    if (status == LOCI_OK)
        lc_mcp_finish(exchange, answer);
    else
        lc_mcp_fail(exchange, LC_MCP_INTERNAL_ERROR, err->message, LC_STR_NONE);
}

static void take_reply(void *ctx, lc_mcp_exchange *exchange, const lc_json *result)
{
    const lc_json *said = result != NULL ? lc_json_find(result, "said", LC_JSON_STRING) : NULL;

    (void)ctx;
    finish_text(exchange, said != NULL ? lc_json_str(said) : LC_STR("no answer"));
}

static void call_tool(void *ctx, lc_mcp_exchange *exchange, loci_str name, const lc_json *arguments)
{
    const lc_json *text = lc_json_find(arguments, "text", LC_JSON_STRING);

    (void)ctx;
    if (lc_str_is(name, "run")) {
        lc_mcp_run(exchange, "fact.current", LC_STR("{}"), finish_operation, NULL);
    } else if (lc_str_is(name, "fail")) {
        lc_mcp_finish(exchange, LC_STR("{\"content\":[],\"isError\":true}"));
    } else if (lc_str_is(name, "meta")) {
        lc_mcp_finish(exchange, LC_STR(" { \"a\" : {\"_meta\":1} , \"_meta\" : {\"own\":2} , "
                                       "\"resultType\":\"input_required\", \"b\":\"}\" } "));
    } else if (lc_str_is(name, "report")) {
        lc_mcp_progress(exchange, 1, 2);
        lc_mcp_log(exchange, "warning", LC_STR("\"careful\""));
        lc_mcp_log(exchange, "debug", LC_STR("\"detail\""));
        lc_mcp_announce(exchange, LC_MCP_TOOLS);
        lc_mcp_finish(exchange, LC_STR("{}"));
    } else if (lc_str_is(name, "ask")) {
        lc_mcp_ask(exchange, "elicitation/create", LC_STR("{\"message\":\"?\"}"), take_reply, NULL);
    } else {
        finish_text(exchange, text != NULL ? lc_json_str(text) : LC_STR(""));
    }
}

static void list_resources(void *ctx, lc_mcp_exchange *exchange, loci_str cursor)
{
    (void)ctx;
    if (lc_str_is(cursor, "2"))
        lc_mcp_finish(exchange, LC_STR("{\"resources\":[{\"uri\":\"t://b\",\"name\":\"b\"}]}"));
    else if (cursor.len > 0)
        lc_mcp_fail(exchange, LC_MCP_INVALID_PARAMS, "unknown cursor", LC_STR_NONE);
    else
        lc_mcp_finish(exchange, LC_STR("{\"resources\":[{\"uri\":\"t://a\",\"name\":\"a\"}],"
                                       "\"nextCursor\":\"2\"}"));
}

static void read_resource(void *ctx, lc_mcp_exchange *exchange, loci_str uri)
{
    (void)ctx;
    if (lc_str_is(uri, "t://a"))
        lc_mcp_finish(exchange, LC_STR("{\"contents\":[{\"uri\":\"t://a\",\"text\":\"A\"}]}"));
    else
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
    lc_mcp_finish(exchange, LC_STR("{\"completion\":{\"values\":[\"v\"]}}"));
}

/* "t://x" changes with events of the type "x.…", the list with "list.…". */
static bool is_changed_by(void *ctx, loci_str uri, loci_str event_type)
{
    loci_str name = uri.len > 4 ? (loci_str){uri.ptr + 4, uri.len - 4} : LC_STR("list");

    (void)ctx;
    return lc_str_starts(event_type, name);
}

/* ---- The transport --------------------------------------------------------------------------- */

static const char *keep(loci_str text)
{
    return test_format("%.*s", (int)text.len, text.ptr != NULL ? text.ptr : "");
}

static void run_operation(void *ctx, lc_mcp_exchange *exchange, const char *operation,
                          loci_str args)
{
    mcp_client *c = ctx;

    (void)args;
    c->running = exchange;
    c->operation = operation;
}

static void send_message(void *ctx, const lc_mcp_exchange *exchange, loci_str message)
{
    mcp_client *c = ctx;
    lc_mcp_answer about = lc_mcp_describe(exchange);

    c->method = about.method;
    c->sent = keep(message);
    c->sent_count++;
}

static void take_answer(void *ctx, const lc_mcp_answer *answer)
{
    mcp_client *c = ctx;

    c->answer = answer->message.ptr != NULL ? keep(answer->message) : NULL;
    c->answer_count++;
    c->http_status = answer->http_status;
    c->code = answer->code;
    c->is_tool_error = answer->is_tool_error;
    c->method = answer->method;
    c->tool = keep(answer->tool);
    c->trace = keep(answer->traceparent);
    if (answer->session != NULL)
        c->session_id = keep(loci_str_of(answer->session));
}

static void take_listener(void *ctx, lc_mcp_listener *listener, const lc_mcp_answer *first)
{
    mcp_client *c = ctx;

    take_answer(ctx, first);
    c->listener = listener;
}

static const lc_mcp_transport stdio = {
    .run = run_operation, .send = send_message, .answer = take_answer};
static const lc_mcp_transport http = {
    .run = run_operation, .send = send_message, .answer = take_answer, .listen = take_listener};

static loci_str find_header(const void *ctx, const char *name)
{
    const mcp_client *c = ctx;

    for (size_t i = 0; i < MCP_CLIENT_HEADERS_MAX && c->headers[i][0] != NULL; i++) {
        if (strcasecmp(c->headers[i][0], name) == 0)
            return loci_str_of(c->headers[i][1]);
    }
    return LC_STR_NONE;
}

/* ---- The client ------------------------------------------------------------------------------ */

void mcp_client_open(mcp_client *c, bool is_http)
{
    loci_error err;

    *c = (mcp_client){.is_http = is_http, .owner = "tok_a"};
    lc_heap_init(&c->heap, test_heap());
    c->provider = (lc_mcp_provider){
        .name = "test",
        .title = "Test",
        .version = "1",
        .instructions = LC_STR("Be kind."),
        .tools = loci_str_of(test_json(tools)),
        .prompts = loci_str_of(test_json("[{'name':'p','arguments':[{'name':'who','required':true},"
                                         "{'name':'how'}]}]")),
        .templates = loci_str_of(test_json("[{'uriTemplate':'t://{id}','name':'t'}]")),
        .call_tool = call_tool,
        .list_resources = list_resources,
        .read_resource = read_resource,
        .get_prompt = get_prompt,
        .complete = complete,
        .is_changed_by = is_changed_by,
        .lists_change = true,
    };
    CHECK_OK(lc_mcp_server_new(&c->heap, &c->provider, (lc_mcp_lock){0}, &c->server, &err), err);
    if (!is_http) {
        c->session = lc_mcp_session_new(c->server);
        CHECK(c->session != NULL);
    }
}

void mcp_client_close(mcp_client *c)
{
    lc_mcp_listener_free(c->listener);
    if (c->session != NULL)
        lc_mcp_session_end(c->session);
    lc_mcp_session_release(c->session);
    lc_mcp_server_free(c->server);
}

const char *mcp_client_send(mcp_client *c, const char *message)
{
    lc_mcp_head head = {.header = find_header, .ctx = c, .owner = c->owner};
    lc_mcp_incoming incoming = {.text = loci_str_of(message),
                                .head = c->is_http ? &head : NULL,
                                .session = c->session,
                                .transport = c->is_http ? &http : &stdio,
                                .ctx = c};

    c->answer = c->sent = c->method = NULL;
    c->answer_count = c->sent_count = 0;
    lc_mcp_receive(c->server, &incoming);
    return c->answer != NULL ? c->answer : "";
}

const char *mcp_client_modern(mcp_client *c, const char *method, const char *params)
{
    return mcp_client_send(
        c, test_json(test_format("{'jsonrpc':'2.0','id':1,'method':'%s','params':{'_meta':"
                                 "{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                                 "'io.modelcontextprotocol/clientCapabilities':{}}%s%s}}",
                                 method, params[0] != '\0' ? "," : "", params)));
}

const char *mcp_client_legacy(mcp_client *c, const char *method, const char *params)
{
    return mcp_client_send(c, test_json(test_format("{'jsonrpc':'2.0','id':1,'method':'%s',"
                                                    "'params':{%s}}",
                                                    method, params)));
}

void mcp_client_set_header(mcp_client *c, const char *name, const char *value)
{
    size_t i = 0;

    while (c->headers[i][0] != NULL && strcmp(c->headers[i][0], name) != 0)
        i++;
    CHECK(i + 1 < MCP_CLIENT_HEADERS_MAX);
    c->headers[i][0] = name;
    c->headers[i][1] = value;
}

void mcp_client_set_modern_headers(mcp_client *c, const char *method, const char *name)
{
    memset(c->headers, 0, sizeof c->headers);
    mcp_client_set_header(c, "mcp-protocol-version", " 2026-07-28 ");
    mcp_client_set_header(c, "MCP-METHOD", method);
    if (name != NULL)
        mcp_client_set_header(c, "Mcp-Name", name);
}
