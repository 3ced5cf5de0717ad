#include "contract/mcp_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lib/heap.h"

/* ---- The transport --------------------------------------------------------------------------- */

static void run_operation(void *ctx, lc_mcp_exchange *exchange, const char *operation,
                          loci_str args)
{
    mcp_peer *p = ctx;
    loci_str answer = LC_STR_NONE;
    loci_status status = facts_try(&p->f, operation, &answer,
                                   test_format("%.*s", (int)args.len, args.ptr));

    lc_mcp_resume(exchange, status, answer, &p->f.err);
}

static void send_nothing(void *ctx, const lc_mcp_exchange *exchange, loci_str message)
{
    (void)ctx;
    (void)exchange;
    test_note_failure(__FILE__, __LINE__, "unexpected message: %.*s", LC_STR_ARG(message));
}

static void take_answer(void *ctx, const lc_mcp_answer *answer)
{
    mcp_peer *p = ctx;

    p->message = test_format("%.*s", (int)answer->message.len, answer->message.ptr);
}

static const lc_mcp_transport transport = {
    .run = run_operation, .send = send_nothing, .answer = take_answer};

/* ---- Requests -------------------------------------------------------------------------------- */

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{},"                                           \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}"

loci_str mcp_request(mcp_peer *p, const char *method, const char *params)
{
    const char *json = strchr(params, '"') == NULL ? test_json(params) : params;
    const char *meta = p->generation == MCP_NEWER ? META : "";
    const char *comma = meta[0] != '\0' && strcmp(json, "{}") != 0 ? "," : "";
    lc_mcp_incoming incoming = {.session = p->session, .transport = &transport, .ctx = p};

    p->message = NULL;
    incoming.text = loci_str_of(
        test_format("{\"jsonrpc\":\"2.0\",\"id\":%lld,\"method\":\"%s\",\"params\":{%s%s%s}",
                    (long long)++p->last_id, method, meta, comma, json + 1));
    lc_mcp_receive(p->server, &incoming);
    if (p->message == NULL)
        test_fail(__FILE__, __LINE__, "%s was not answered", method);
    return loci_str_of(p->message);
}

loci_str mcp_result(mcp_peer *p, const char *method, const char *params)
{
    loci_str message = mcp_request(p, method, params);
    loci_str result = test_member(message, "result");

    if (result.len == 0)
        test_fail(__FILE__, __LINE__, "%s %s\n    %s", method, params, message.ptr);
    if (p->generation == MCP_NEWER)
        CHECK_STR_EQ(test_member_text(result, "resultType"), "complete");
    return result;
}

void mcp_open(mcp_peer *p, mcp_generation generation, const char *persona)
{
    lc_mcp_defaults defaults = {.persona_id = loci_str_of(persona)};
    loci_error err;

    *p = (mcp_peer){.generation = generation};
    facts_open(&p->f);
    lc_heap_init(&p->heap, test_heap());
    CHECK_OK(lc_mcp_provider_new(&p->heap, &defaults, &p->provider, &err), err);
    CHECK_OK(lc_mcp_server_new(&p->heap, p->provider, (lc_mcp_lock){0}, &p->server, &err), err);
    p->session = lc_mcp_session_new(p->server);
    CHECK(p->session != NULL);
    if (generation == MCP_OLDER)
        (void)mcp_result(p, "initialize",
                         "{'protocolVersion':'2025-11-25','capabilities':{},"
                         "'clientInfo':{'name':'test','version':'1'}}");
}

void mcp_close(mcp_peer *p)
{
    lc_mcp_session_end(p->session);
    lc_mcp_session_release(p->session);
    lc_mcp_server_free(p->server);
    lc_mcp_provider_free(p->provider);
    facts_close(&p->f);
}

/* ---- Schemas --------------------------------------------------------------------------------- */

static bool has_type(const lc_json *value, loci_str type)
{
    lc_json_kind kind = lc_json_kind_of(value);

    if (lc_str_is(type, "number"))
        return kind == LC_JSON_INT || kind == LC_JSON_REAL;
    return lc_str_is(type, lc_json_kind_name(kind));
}

/* The keywords that tools use; another one is a fault, too. Recursion over our own schemas. */
static const char *find_fault(const lc_json *schema, const lc_json *value)
{
    const char *fault = NULL;

    for (const lc_json *at = lc_json_first(schema); at != NULL && fault == NULL;
         at = lc_json_next(at)) {
        loci_str keyword = lc_json_name(at);
        const lc_json *each;

        if (lc_str_is(keyword, "type")) {
            if (!has_type(value, lc_json_str(at)))
                fault = test_format("is no %.*s", LC_STR_ARG(lc_json_str(at)));
        } else if (lc_str_is(keyword, "properties")) {
            for (each = lc_json_first(at); each != NULL && fault == NULL;
                 each = lc_json_next(each)) {
                const lc_json *member = lc_json_member(value, lc_json_name(each));

                fault = member != NULL ? find_fault(each, member) : NULL;
                if (fault != NULL)
                    fault = test_format("%.*s: %s", LC_STR_ARG(lc_json_name(each)), fault);
            }
        } else if (lc_str_is(keyword, "required")) {
            for (each = lc_json_first(at); each != NULL && fault == NULL;
                 each = lc_json_next(each)) {
                if (lc_json_member(value, lc_json_str(each)) == NULL)
                    fault = test_format("lacks %.*s", LC_STR_ARG(lc_json_str(each)));
            }
        } else if (lc_str_is(keyword, "items")) {
            for (each = lc_json_first(value); each != NULL && fault == NULL;
                 each = lc_json_next(each))
                fault = find_fault(at, each);
        } else {
            fault = test_format("unknown keyword %.*s", LC_STR_ARG(keyword));
        }
    }
    return fault;
}

const char *mcp_schema_fault(loci_str schema, loci_str value)
{
    const lc_json *schema_json, *value_json;
    const char *fault;
    lc_arena arena;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    if (lc_json_parse(&arena, schema, 0, &schema_json, NULL) != LOCI_OK ||
        lc_json_parse(&arena, value, 0, &value_json, NULL) != LOCI_OK)
        fault = "no JSON";
    else
        fault = find_fault(schema_json, value_json);
    lc_arena_clear(&arena);
    return fault;
}

/* ---- Tools ----------------------------------------------------------------------------------- */

/* The declared schema of a tool's results. */
static loci_str output_schema(mcp_peer *p, const char *tool)
{
    loci_str list = test_member(mcp_result(p, "tools/list", "{}"), "tools");

    for (int i = 0;; i++) {
        loci_str entry = test_member(list, test_format("%d", i));

        if (entry.len == 0)
            test_fail(__FILE__, __LINE__, "tools/list has no %s", tool);
        if (lc_str_is(test_member_text(entry, "name"), tool))
            return test_member(entry, "outputSchema");
    }
}

static loci_str call(mcp_peer *p, const char *tool, const char *args)
{
    const char *json = strchr(args, '"') == NULL ? test_json(args) : args;

    return mcp_result(p, "tools/call",
                      test_format("{\"name\":\"%s\",\"arguments\":%s}", tool, json));
}

loci_str mcp_tool(mcp_peer *p, const char *tool, const char *args)
{
    loci_str result = call(p, tool, args);
    loci_str data = test_member(result, "structuredContent");
    const char *fault;

    if (test_member(result, "isError").len > 0 || data.len == 0)
        test_fail(__FILE__, __LINE__, "%s %s\n    %.*s", tool, args, (int)result.len, result.ptr);
    fault = mcp_schema_fault(output_schema(p, tool), data);
    if (fault != NULL)
        test_fail(__FILE__, __LINE__, "%s %s: structuredContent %s\n    %.*s", tool, args, fault,
                  (int)data.len, data.ptr);
    CHECK_STR_EQ(test_member_text(result, "content.0.type"), "text");
    CHECK_LT(0, test_member_text(result, "content.0.text").len);
    return result;
}

/* With its escapes resolved. */
static const char *text_of(loci_str result)
{
    loci_str json = test_member(result, "content.0.text");
    const lc_json *text;
    const char *copy;
    lc_arena arena;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_EQ(lc_json_parse(&arena, json, 0, &text, NULL), LOCI_OK);
    copy = test_format("%.*s", (int)lc_json_str(text).len, lc_json_str(text).ptr);
    lc_arena_clear(&arena);
    return copy;
}

const char *mcp_text(mcp_peer *p, const char *tool, const char *args)
{
    return text_of(mcp_tool(p, tool, args));
}

const char *mcp_tool_error(mcp_peer *p, const char *tool, const char *args)
{
    loci_str result = call(p, tool, args);

    CHECK_STR_EQ(test_member(result, "isError"), "true");
    CHECK_EQ(test_member(result, "structuredContent").len, 0);
    return text_of(result);
}
