#include <stdio.h>
#include <string.h>

#include "unit/mcp/mcp_client.h"

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define INITIALIZE                                                                                 \
    "'protocolVersion':'2025-11-25','capabilities':{'sampling':{}},"                               \
    "'clientInfo':{'name':'c','version':'1'}"

/* ---- Messages -------------------------------------------------------------------------------- */

typedef struct wrong {
    const char *message;
    int code;
    const char *says; /* Part of the answer. */
} wrong;

/* A client that sends nonsense must be told what is wrong, whatever it is, and never get silence or
 * a crash. */
TEST(mcp_dispatch, refuses_what_is_no_message)
{
    static const wrong cases[] = {
        {"", -32700, "error"},
        {"{", -32700, "line 1"},
        {"nope", -32700, "expected a value"},
        {"{'a':1,'a':2}", -32700, "error"},
        {"\xff", -32700, "error"},
        {"1", -32600, "an object"},
        {"null", -32600, "an object"},
        {"[]", -32600, "batches"},
        {"[{'jsonrpc':'2.0','id':1,'method':'ping'}]", -32600, "batches"},
        {"{}", -32600, "jsonrpc"},
        {"{'jsonrpc':'1.0','id':7,'method':'ping'}", -32600, "'id':7"},
        {"{'jsonrpc':2.0,'id':7,'method':'ping'}", -32600, "jsonrpc"},
        {"{'jsonrpc':'2.0','id':null,'method':'ping'}", -32600, "id:"},
        {"{'jsonrpc':'2.0','id':1.5,'method':'ping'}", -32600, "id:"},
        {"{'jsonrpc':'2.0','id':{},'method':'ping'}", -32600, "id:"},
        {"{'jsonrpc':'2.0','id':1,'method':5}", -32600, "method:"},
        {"{'jsonrpc':'2.0','id':1}", -32600, "expected a request"},
        {"{'jsonrpc':'2.0','id':1,'method':'ping','params':[]}", -32602, "params:"},
        {"{'jsonrpc':'2.0','id':1,'method':'ping','params':5}", -32602, "params:"},
    };
    mcp_client c;

    mcp_client_open(&c, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *answer = mcp_client_send(&c, test_json(cases[i].message));

        CHECK_EQ(c.answer_count, 1);
        CHECK_EQ(c.code, cases[i].code);
        CHECK_CONTAINS(answer, test_json(cases[i].says));
        CHECK_CONTAINS(answer, "\"jsonrpc\":\"2.0\"");
    }
    mcp_client_close(&c);
}

/* Depth is limited by the reader: the sender is told, not dropped. */
TEST(mcp_dispatch, refuses_deep_json)
{
    char text[400];
    mcp_client c;

    memset(text, '[', 200);
    memset(text + 200, ']', 200);
    text[399] = '\0';
    mcp_client_open(&c, false);
    (void)mcp_client_send(&c, text);
    CHECK_EQ(c.code, -32700);
    mcp_client_close(&c);
}

/* Ids come back as they were sent: a client finds its request by them. */
TEST(mcp_dispatch, echoes_ids)
{
    static const char *const ids[] = {"0",    "-5",         "9007199254740993",
                                      "\"\"", "\"a\\\"b\"", "\"\xc3\xa9\""};
    mcp_client c;

    mcp_client_open(&c, false);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const char *answer = mcp_client_send(
            &c, test_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]));

        CHECK_STR_EQ(answer, test_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", ids[i]));
    }
    mcp_client_close(&c);
}

/* ---- Methods, in both generations ------------------------------------------------------------ */

typedef struct method_case {
    const char *method;
    const char *params;
    int legacy_code, modern_code; /* 0 = a result. */
    const char *says;             /* Part of a result. */
} method_case;

TEST(mcp_dispatch, answers_every_method_in_both_generations)
{
    static const method_case cases[] = {
        {"initialize", INITIALIZE, 0, -32601, "'protocolVersion':'2025-11-25'"},
        {"initialize", "'protocolVersion':'2024-11-05'", 0, -32601, "'2024-11-05'"},
        {"initialize", "'protocolVersion':'2099-01-01'", 0, -32601, "'2025-11-25'"},
        {"initialize", "", -32602, -32601, NULL},
        {"ping", "", 0, -32601, "{}"},
        {"logging/setLevel", "'level':'error'", 0, -32601, "{}"},
        {"logging/setLevel", "'level':'loud'", -32602, -32601, NULL},
        {"logging/setLevel", "", -32602, -32601, NULL},
        {"server/discover", "", -32601, 0, "'supportedVersions':['2026-07-28']"},
        {"tools/list", "", 0, 0, "'tools':[{'name':'echo'"},
        {"tools/list", "'cursor':''", 0, 0, "'tools'"},
        {"tools/list", "'cursor':null", 0, 0, "'tools'"},
        {"tools/list", "'cursor':'x'", -32602, -32602, NULL},
        {"tools/call", "'name':'echo','arguments':{'text':'hi'}", 0, 0, "'echo':'hi'"},
        {"tools/call", "'name':'echo'", 0, 0, "'echo':''"},
        {"tools/call", "'name':'echo','arguments':null", 0, 0, "'echo':''"},
        {"tools/call", "'name':'echo','arguments':[]", -32602, -32602, NULL},
        {"tools/call", "'name':'nope'", -32602, -32602, NULL},
        {"tools/call", "", -32602, -32602, NULL},
        {"tools/call", "'name':5", -32602, -32602, NULL},
        {"tools/call", "'name':'fail'", 0, 0, "'isError':true"},
        {"prompts/list", "", 0, 0, "'prompts':[{'name':'p'"},
        {"prompts/get", "'name':'p','arguments':{'who':'x'}", 0, 0, "'messages':[]"},
        {"prompts/get", "'name':'p'", -32602, -32602, NULL},
        {"prompts/get", "'name':'q'", -32602, -32602, NULL},
        {"resources/list", "", 0, 0, "'nextCursor':'2'"},
        {"resources/list", "'cursor':'2'", 0, 0, "t://b"},
        {"resources/list", "'cursor':'3'", -32602, -32602, NULL},
        {"resources/list", "'cursor':7", -32602, -32602, NULL},
        {"resources/templates/list", "", 0, 0, "'resourceTemplates':[{'uriTemplate'"},
        {"resources/read", "'uri':'t://a'", 0, 0, "'contents'"},
        {"resources/read", "'uri':'t://z'", -32002, -32602, NULL},
        {"resources/read", "", -32602, -32602, NULL},
        {"resources/read", "'uri':''", -32602, -32602, NULL},
        {"resources/subscribe", "'uri':'t://a'", 0, -32601, "{}"},
        {"resources/subscribe", "", -32602, -32601, NULL},
        {"resources/unsubscribe", "'uri':'t://a'", 0, -32601, "{}"},
        {"completion/complete",
         "'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':'who','value':''}", 0, 0,
         "'values':['v']"},
        {"completion/complete",
         "'ref':{'type':'ref/prompt','name':'q'},'argument':{'name':'who','value':''}", 0, 0,
         "'values':[]"},
        {"completion/complete",
         "'ref':{'type':'ref/resource','uri':'t://{id}'},'argument':{'name':'id','value':''}", 0, 0,
         "'values':['v']"},
        {"completion/complete", "'ref':{'type':'ref/x'},'argument':{'name':'a','value':''}", -32602,
         -32602, NULL},
        {"completion/complete", "'ref':{'type':'ref/prompt','name':'p'}", -32602, -32602, NULL},
        {"subscriptions/listen", "'notifications':{}", -32601, 0, "acknowledged"},
        {"subscriptions/listen", "", -32601, -32602, NULL},
        {"tasks/get", "", -32601, -32601, NULL},
        {"", "", -32601, -32601, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const method_case *at = &cases[i];
        mcp_client c;

        for (int is_modern = 0; is_modern < 2; is_modern++) {
            const char *answer;
            int code = is_modern ? at->modern_code : at->legacy_code;

            mcp_client_open(&c, false);
            answer = is_modern ? mcp_client_modern(&c, at->method, at->params)
                               : mcp_client_legacy(&c, at->method, at->params);
            if (c.answer_count != 1 || c.code != code)
                test_fail(__FILE__, __LINE__, "%s {%s} modern=%d\n    %s", at->method, at->params,
                          is_modern, answer);
            if (code == 0)
                CHECK_CONTAINS(answer, test_json(at->says));
            else
                CHECK_CONTAINS(answer, test_format("\"error\":{\"code\":%d,\"message\":", code));
            mcp_client_close(&c);
        }
    }
}

/* Members of a result that only the newer generation has; older clients validate strictly. */
TEST(mcp_dispatch, adds_members_for_the_newer_generation_only)
{
    static const char *const added[] = {"resultType", "ttlMs", "cacheScope", "serverInfo\":{\"n"};
    mcp_client c;
    const char *legacy, *modern, *called;

    mcp_client_open(&c, false);
    legacy = mcp_client_legacy(&c, "tools/list", "");
    modern = mcp_client_modern(&c, "tools/list", "");
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        CHECK(strstr(legacy, added[i]) == NULL);
        CHECK_CONTAINS(modern, added[i]);
    }
    CHECK_CONTAINS(modern, "\"ttlMs\":60000");
    CHECK_CONTAINS(mcp_client_modern(&c, "resources/read", "'uri':'t://a'"), "\"ttlMs\":0");
    called = mcp_client_modern(&c, "tools/call", "'name':'echo'");
    CHECK(strstr(called, "ttlMs") == NULL);
    CHECK_CONTAINS(called, "\"resultType\":\"complete\"");
    mcp_client_close(&c);
}

/* A provider's own _meta is joined with ours, its resultType stays, and nothing is there twice. */
TEST(mcp_dispatch, joins_the_members_of_a_provider)
{
    mcp_client c;

    mcp_client_open(&c, false);
    CHECK_STR_EQ(mcp_client_modern(&c, "tools/call", "'name':'meta'"),
                 test_json("{'jsonrpc':'2.0','id':1,'result':{'_meta':{"
                           "'io.modelcontextprotocol/serverInfo':{'name':'test','title':'Test',"
                           "'version':'1'},'own':2},'a' : {'_meta':1},"
                           "'resultType':'input_required', 'b':'}'}}"));
    CHECK_STR_EQ(mcp_client_legacy(&c, "tools/call", "'name':'meta'"),
                 test_json("{'jsonrpc':'2.0','id':1,'result':{'_meta':{'own':2},"
                           "'a' : {'_meta':1},'resultType':'input_required', 'b':'}'}}"));
    mcp_client_close(&c);
}

TEST(mcp_dispatch, says_what_it_offers)
{
    mcp_client c;
    const char *answer;

    mcp_client_open(&c, false);
    answer = mcp_client_legacy(&c, "initialize", INITIALIZE);
    CHECK_CONTAINS(answer, test_json("'capabilities':{'logging':{},'tools':{'listChanged':true},"
                                     "'prompts':{'listChanged':true},"
                                     "'resources':{'subscribe':true,'listChanged':true},"
                                     "'completions':{}}"));
    CHECK_CONTAINS(answer, "\"instructions\":\"Be kind.\"");
    answer = mcp_client_modern(&c, "server/discover", "");
    CHECK_CONTAINS(answer, test_json("'capabilities':{'tools':{'listChanged':true}"));
    CHECK_CONTAINS(answer, "\"instructions\":\"Be kind.\"");
    mcp_client_close(&c);
}

/* A server without tools, prompts or resources does not pretend to have them. */
TEST(mcp_dispatch, hides_what_a_provider_lacks)
{
    static const char *const methods[] = {"tools/list",
                                          "tools/call",
                                          "prompts/list",
                                          "prompts/get",
                                          "resources/list",
                                          "resources/read",
                                          "resources/templates/list",
                                          "completion/complete",
                                          "resources/subscribe"};
    mcp_client c;
    lc_mcp_provider nothing = {.name = "n", .title = "n", .version = "1"};
    loci_error err;

    mcp_client_open(&c, false);
    lc_mcp_session_end(c.session);
    lc_mcp_session_release(c.session);
    lc_mcp_server_free(c.server);
    CHECK_OK(lc_mcp_server_new(&c.heap, &nothing, (lc_mcp_lock){0}, &c.server, &err), err);
    c.session = lc_mcp_session_new(c.server);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        (void)mcp_client_legacy(&c, methods[i], "'uri':'x','name':'x'");
        CHECK_EQ(c.code, -32601);
    }
    CHECK_CONTAINS(mcp_client_modern(&c, "server/discover", ""), "\"capabilities\":{}");
    mcp_client_close(&c);
}

TEST(mcp_dispatch, refuses_lists_that_are_wrong)
{
    static const char *const lists[] = {"{}", "[{}]", "[{'name':'a'},{'name':'a'}]", "[", "[5]"};
    lc_mcp_provider provider = {.name = "n", .title = "n", .version = "1"};
    lc_mcp_server *server;
    loci_error err;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        provider.tools = loci_str_of(test_json(lists[i]));
        CHECK(lc_mcp_server_new(&heap, &provider, (lc_mcp_lock){0}, &server, &err) != LOCI_OK);
    }
}

/* ---- The envelope of the newer generation ---------------------------------------------------- */

#define META(version, rest)                                                                        \
    "'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':" version rest "}}"
#define CAPS ",'io.modelcontextprotocol/clientCapabilities':{}"

TEST(mcp_dispatch, checks_the_envelope)
{
    static const struct {
        const char *params;
        int code;
        const char *says;
    } cases[] = {
        {META("'2026-07-28'", CAPS), 0, "result"},
        {META("'2026-07-28'", ""), -32602, "clientCapabilities"},
        {META("'2026-07-28'", ",'io.modelcontextprotocol/clientCapabilities':[]"), -32602,
         "clientCapabilities"},
        {META("5", CAPS), -32602, "protocolVersion"},
        {META("'1900-01-01'", CAPS), -32022,
         "'data':{'supported':['2026-07-28'],'requested':"
         "'1900-01-01'}"},
        {META("'2025-11-25'", CAPS), -32022, "'requested':'2025-11-25'"},
        {META("'2026-07-28'", CAPS ",'io.modelcontextprotocol/logLevel':'info'"), 0, "result"},
        {META("'2026-07-28'", CAPS ",'io.modelcontextprotocol/logLevel':'loud'"), -32602,
         "logLevel"},
        {META("'2026-07-28'", CAPS ",'io.modelcontextprotocol/logLevel':5"), -32602, "logLevel"},
    };
    mcp_client c;

    mcp_client_open(&c, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *answer = mcp_client_send(
            &c, test_json(test_format("{'jsonrpc':'2.0','id':1,'method':'tools/list',%s}",
                                      cases[i].params)));

        CHECK_EQ(c.code, cases[i].code);
        CHECK_CONTAINS(answer, test_json(cases[i].says));
    }
    mcp_client_close(&c);
}

/* The order of the checks is part of the protocol. */
TEST(mcp_dispatch, checks_headers_in_their_order)
{
    static const struct {
        const char *version, *method, *name; /* Headers; NULL = absent. */
        int http_status, code;
    } cases[] = {
        {"2026-07-28", "tools/call", "echo", 200, 0},
        {"2026-07-28", "tools/call", " echo ", 200, 0},
        {"2026-07-28", "tools/call", "=?base64?ZWNobw==?=", 200, 0},
        {"2026-07-28", "tools/call", "=?base64?ZWNobw=?=", 400, -32020},
        {"2026-07-28", "tools/call", "=?base64?!!!!?=", 400, -32020},
        {NULL, "tools/call", "echo", 400, -32020},
        {"2025-11-25", "tools/call", "echo", 400, -32020},
        {"2026-07-28", NULL, "echo", 400, -32020},
        {"2026-07-28", "tools/list", "echo", 400, -32020},
        {"2026-07-28", "Tools/Call", "echo", 400, -32020},
        {"2026-07-28", "tools/call", NULL, 400, -32020},
        {"2026-07-28", "tools/call", "Echo", 400, -32020},
    };
    mcp_client c;

    mcp_client_open(&c, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(c.headers, 0, sizeof c.headers);
        if (cases[i].version != NULL)
            mcp_client_set_header(&c, "MCP-Protocol-Version", cases[i].version);
        if (cases[i].method != NULL)
            mcp_client_set_header(&c, "Mcp-Method", cases[i].method);
        if (cases[i].name != NULL)
            mcp_client_set_header(&c, "Mcp-Name", cases[i].name);
        (void)mcp_client_modern(&c, "tools/call", "'name':'echo'");
        CHECK_EQ(c.code, cases[i].code);
        CHECK_EQ(c.http_status, cases[i].http_status);
    }
    mcp_client_close(&c);
}

TEST(mcp_dispatch, answers_http_with_the_status_of_the_error)
{
    mcp_client c;

    mcp_client_open(&c, true);
    mcp_client_set_modern_headers(&c, "nope", NULL);
    (void)mcp_client_modern(&c, "nope", "");
    CHECK_EQ(c.http_status, 404);
    CHECK_EQ(c.code, -32601);
    mcp_client_set_modern_headers(&c, "initialize", NULL);
    (void)mcp_client_modern(&c, "initialize", INITIALIZE);
    CHECK_EQ(c.http_status, 404);
    mcp_client_set_modern_headers(&c, "tools/call", "nope");
    (void)mcp_client_modern(&c, "tools/call", "'name':'nope'");
    CHECK_EQ(c.http_status, 200);
    CHECK_EQ(c.code, -32602);
    (void)mcp_client_send(&c, "{");
    CHECK_EQ(c.http_status, 400);
    mcp_client_set_modern_headers(&c, "notifications/x", NULL);
    CHECK_STR_EQ(mcp_client_send(&c, test_json("{'jsonrpc':'2.0','method':'notifications/x'}")),
                 "");
    CHECK_EQ(c.http_status, 202);
    /* A version that is no older one, and no _meta: the newer generation, whose envelope is
     * missing. */
    mcp_client_set_modern_headers(&c, "tools/list", NULL);
    (void)mcp_client_legacy(&c, "tools/list", "");
    CHECK_EQ(c.http_status, 400);
    CHECK_EQ(c.code, -32602);
    mcp_client_close(&c);
}

/* Arguments that a tool declares as headers must be in both places, and equal. */
TEST(mcp_dispatch, compares_arguments_with_their_headers)
{
    static const struct {
        const char *arguments, *header, *value;
        int code;
    } cases[] = {
        {"'region':'eu'", "Mcp-Param-Region", "eu", 0},
        {"'region':'eu'", "mcp-param-region", "us", -32020},
        {"'region':'eu'", NULL, NULL, -32020},
        {"", "Mcp-Param-Region", "eu", -32020},
        {"'region':null", NULL, NULL, 0},
        {"'n':7", "Mcp-Param-N", "7", 0},
        {"'n':7", "Mcp-Param-N", "07", -32020},
        {"'n':true", "Mcp-Param-N", "true", 0},
        {"'region':'\xc3\xa9'", "Mcp-Param-Region", "=?base64?w6k=?=", 0},
        {"'region':'x'", "Mcp-Param-Region", "=?base64?w6?=", -32020},
    };
    mcp_client c;

    mcp_client_open(&c, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mcp_client_set_modern_headers(&c, "tools/call", "region");
        if (cases[i].header != NULL)
            mcp_client_set_header(&c, cases[i].header, cases[i].value);
        (void)mcp_client_modern(
            &c, "tools/call", test_format("'name':'region','arguments':{%s}", cases[i].arguments));
        if (c.code != cases[i].code)
            test_fail(__FILE__, __LINE__, "case %zu: %d", i, c.code);
    }
    mcp_client_close(&c);
}

/* ---- Trace context --------------------------------------------------------------------------- */

TEST(mcp_dispatch, takes_over_the_trace)
{
    mcp_client c;
    const char *answer;

    mcp_client_open(&c, true);
    mcp_client_set_modern_headers(&c, "tools/list", NULL);
    mcp_client_set_header(&c, "traceparent", TRACE);
    CHECK_CONTAINS(mcp_client_modern(&c, "tools/list", ""), "\"traceparent\":\"" TRACE "\"");
    CHECK_STR_EQ(c.trace, TRACE);
    mcp_client_set_header(&c, "traceparent", "00-bad");
    answer = mcp_client_modern(&c, "tools/list", "");
    CHECK(strstr(answer, "traceparent") == NULL);
    CHECK_STR_EQ(c.trace, "");
    mcp_client_close(&c);

    mcp_client_open(&c, false);
    CHECK_CONTAINS(mcp_client_legacy(&c, "ping", "'_meta':{'traceparent':'" TRACE "'}"),
                   "\"result\":{\"_meta\":{\"traceparent\":\"" TRACE "\"}}");
    mcp_client_close(&c);
}

/* ---- On the way ------------------------------------------------------------------------------ */

TEST(mcp_dispatch, sends_progress_and_messages_only_to_clients_that_want_them)
{
    mcp_client c;

    mcp_client_open(&c, false);
    /* The newer generation asks for both in _meta. */
    (void)mcp_client_modern(&c, "tools/call", "'name':'report'");
    CHECK_EQ(c.sent_count, 0);
    (void)mcp_client_send(
        &c, test_json("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'report',"
                      "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                      "'io.modelcontextprotocol/clientCapabilities':{},'progressToken':'p',"
                      "'io.modelcontextprotocol/logLevel':'info'}}}"));
    CHECK_EQ(c.sent_count, 2);
    CHECK_STR_EQ(c.sent, test_json("{'jsonrpc':'2.0','method':'notifications/message','params':"
                                   "{'level':'warning','data':'careful'}}"));
    /* The older one sets a level for the session. */
    (void)mcp_client_legacy(&c, "logging/setLevel", "'level':'error'");
    (void)mcp_client_legacy(&c, "tools/call", "'name':'report','_meta':{'progressToken':7}");
    CHECK_EQ(c.sent_count, 1);
    CHECK_STR_EQ(c.sent, test_json("{'jsonrpc':'2.0','method':'notifications/progress','params':"
                                   "{'progressToken':7,'progress':1,'total':2}}"));
    (void)mcp_client_legacy(&c, "logging/setLevel", "'level':'debug'");
    (void)mcp_client_legacy(&c, "tools/call", "'name':'report'");
    CHECK_EQ(c.sent_count, 2);
    mcp_client_close(&c);
}

TEST(mcp_dispatch, runs_operations_and_names_them_for_the_log)
{
    mcp_client c;
    loci_error err = {.status = LOCI_ENOTFOUND, .message = "no such fact"};

    mcp_client_open(&c, false);
    (void)mcp_client_modern(&c, "tools/call", "'name':'run'");
    CHECK_EQ(c.answer_count, 0);
    CHECK_STR_EQ(c.operation, "fact.current");
    lc_mcp_resume(c.running, LOCI_OK, LC_STR("{\"value\":1}"), NULL);
    CHECK_CONTAINS(c.answer, "\"value\":1");
    CHECK_STR_EQ(c.method, "tools/call");
    CHECK_STR_EQ(c.tool, "run");
    CHECK(!c.is_tool_error);
    (void)mcp_client_legacy(&c, "tools/call", "'name':'run'");
    lc_mcp_resume(c.running, LOCI_ENOTFOUND, LC_STR_NONE, &err);
    CHECK_EQ(c.code, -32603);
    (void)mcp_client_legacy(&c, "tools/call", "'name':'fail'");
    CHECK(c.is_tool_error);
    (void)mcp_client_legacy(&c, "some/method of a user", "");
    CHECK_STR_EQ(c.method, "other");
    mcp_client_close(&c);
}

/* A client that cancels a request does not want its answer any more. */
TEST(mcp_dispatch, cancels_requests)
{
    mcp_client c;
    lc_mcp_exchange *running;

    mcp_client_open(&c, false);
    for (int is_modern = 0; is_modern < 2; is_modern++) {
        if (is_modern)
            (void)mcp_client_modern(&c, "tools/call", "'name':'run'");
        else
            (void)mcp_client_legacy(&c, "tools/call", "'name':'run'");
        running = c.running;
        CHECK_EQ(*lc_mcp_cancel(running), 0);
        /* Another id, and one of another type, change nothing. */
        (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','method':'notifications/cancelled',"
                                            "'params':{'requestId':'1'}}"));
        (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','method':'notifications/cancelled',"
                                            "'params':{'requestId':{}}}"));
        CHECK_EQ(*lc_mcp_cancel(running), 0);
        (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','method':'notifications/cancelled',"
                                            "'params':{'requestId':1,'reason':'no'}}"));
        CHECK_EQ(*lc_mcp_cancel(running), 1);
        CHECK(lc_mcp_is_cancelled(running));
        c.answer_count = 0;
        lc_mcp_resume(running, LOCI_OK, LC_STR("{}"), NULL);
        CHECK_EQ(c.answer_count, 1);
        CHECK(c.answer == NULL);
    }
    mcp_client_close(&c);
}

/* ---- Questions to the client ----------------------------------------------------------------- */

TEST(mcp_dispatch, asks_clients_of_the_older_generation)
{
    mcp_client c;

    mcp_client_open(&c, false);
    /* No client has initialized: there is none to ask. */
    CHECK_CONTAINS(mcp_client_legacy(&c, "tools/call", "'name':'ask'"), "no answer");
    CHECK_CONTAINS(mcp_client_modern(&c, "tools/call", "'name':'ask'"), "no answer");
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    CHECK_STR_EQ(mcp_client_legacy(&c, "tools/call", "'name':'ask'"), "");
    CHECK_STR_EQ(c.sent, test_json("{'jsonrpc':'2.0','id':1,'method':'elicitation/create',"
                                   "'params':{'message':'?'}}"));
    /* Answers to something that was not asked are ignored. */
    (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','id':9,'result':{}}"));
    (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','id':'x','error':{}}"));
    CHECK(c.answer == NULL);
    (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','id':1,'result':{'said':'yes'}}"));
    CHECK_EQ(c.answer_count, 2);
    /* Twice is once too often. */
    (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','id':1,'result':{'said':'yes'}}"));
    CHECK_EQ(c.answer_count, 1);
    CHECK(c.answer == NULL);
    mcp_client_close(&c);
}

/* A request that waits for a client that has gone must end. */
TEST(mcp_dispatch, ends_questions_with_the_session)
{
    mcp_client c;

    mcp_client_open(&c, false);
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    (void)mcp_client_legacy(&c, "tools/call", "'name':'ask'");
    CHECK_EQ(c.answer_count, 0);
    lc_mcp_session_end(c.session);
    CHECK_CONTAINS(c.answer, "no answer");
    mcp_client_close(&c);
}

/* ---- Sessions over HTTP ---------------------------------------------------------------------- */

TEST(mcp_dispatch, keeps_a_session_for_the_older_generation)
{
    mcp_client c;
    lc_mcp_session *session;

    mcp_client_open(&c, true);
    (void)mcp_client_legacy(&c, "tools/list", "");
    CHECK_EQ(c.http_status, 400);
    mcp_client_set_header(&c, "Mcp-Session-Id", "00000000000000000000000000000000");
    (void)mcp_client_legacy(&c, "tools/list", "");
    CHECK_EQ(c.http_status, 404);
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    CHECK_EQ(c.http_status, 200);
    CHECK_EQ(strlen(c.session_id), 32);
    mcp_client_set_header(&c, "Mcp-Session-Id", c.session_id);
    CHECK_CONTAINS(mcp_client_legacy(&c, "tools/list", ""), "\"tools\"");
    CHECK_EQ(c.http_status, 200);
    (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
    CHECK_EQ(c.http_status, 202);
    /* A stolen id is of no use to the owner of another token. */
    c.owner = "tok_b";
    (void)mcp_client_legacy(&c, "tools/list", "");
    CHECK_EQ(c.http_status, 404);
    c.owner = "tok_a";
    session = lc_mcp_session_find(c.server, loci_str_of(c.session_id), "tok_a");
    CHECK(session != NULL);
    lc_mcp_session_end(session);
    CHECK(lc_mcp_session_has_ended(session));
    lc_mcp_session_release(session);
    (void)mcp_client_legacy(&c, "tools/list", "");
    CHECK_EQ(c.http_status, 404);
    mcp_client_close(&c);
}

/* Clients that never say goodbye must not fill the memory: the session that was used longest ago
 * makes room. */
TEST(mcp_dispatch, bounds_the_number_of_sessions)
{
    mcp_client c;
    const char *first, *second;
    size_t bytes;

    mcp_client_open(&c, true);
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    first = c.session_id;
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    second = c.session_id;
    for (int i = 2; i < LC_MCP_SESSIONS_MAX; i++)
        (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    mcp_client_set_header(&c, "Mcp-Session-Id", first); /* Used: the second is the oldest now. */
    (void)mcp_client_legacy(&c, "ping", "");
    CHECK_EQ(c.http_status, 200);
    bytes = test_heap_live_bytes(LOCI_MEM_CATEGORIES);
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    CHECK_EQ(test_heap_live_bytes(LOCI_MEM_CATEGORIES), bytes);
    (void)mcp_client_legacy(&c, "ping", "");
    CHECK_EQ(c.http_status, 200);
    mcp_client_set_header(&c, "Mcp-Session-Id", second);
    (void)mcp_client_legacy(&c, "ping", "");
    CHECK_EQ(c.http_status, 404);
    mcp_client_close(&c);
}

/* ---- Subscriptions --------------------------------------------------------------------------- */

/* The next notification of the session, or "". */
static const char *next_notice(mcp_client *c)
{
    const char *text = "";
    lc_buf out;

    lc_buf_init(&out, &c->heap, LOCI_MEM_REQUESTS, 1u << 20);
    if (lc_mcp_session_next(c->session, &out))
        text = test_format("%.*s", (int)out.len, out.ptr);
    lc_buf_clear(&out);
    return text;
}

TEST(mcp_dispatch, tells_the_older_generation_of_changes)
{
    mcp_client c;

    mcp_client_open(&c, false);
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    CHECK(!lc_mcp_session_wants_events(c.session));
    (void)mcp_client_legacy(&c, "resources/subscribe", "'uri':'t://a'");
    (void)mcp_client_legacy(&c, "resources/subscribe", "'uri':'t://a'");
    (void)mcp_client_legacy(&c, "resources/subscribe", "'uri':'t://b'");
    CHECK(lc_mcp_session_wants_events(c.session));
    lc_mcp_session_note(c.session, LC_STR("c.written"));
    CHECK_STR_EQ(next_notice(&c), "");
    /* Two changes before the first is sent are one notice. */
    lc_mcp_session_note(c.session, LC_STR("a.written"));
    lc_mcp_session_note(c.session, LC_STR("a.written"));
    CHECK_STR_EQ(next_notice(&c), test_json("{'jsonrpc':'2.0','method':"
                                            "'notifications/resources/updated','params':"
                                            "{'uri':'t://a'}}"));
    CHECK_STR_EQ(next_notice(&c), "");
    (void)mcp_client_legacy(&c, "resources/unsubscribe", "'uri':'t://a'");
    lc_mcp_session_note(c.session, LC_STR("a.written"));
    CHECK_STR_EQ(next_notice(&c), "");
    /* Events that were missed may have changed everything. */
    lc_mcp_session_note(c.session, LC_STR_NONE);
    CHECK_CONTAINS(next_notice(&c), "t://b");
    CHECK_STR_EQ(next_notice(&c), "");
    /* The list, for a client that has seen it. */
    lc_mcp_session_note(c.session, LC_STR("list.changed"));
    CHECK_STR_EQ(next_notice(&c), "");
    (void)mcp_client_legacy(&c, "resources/list", "");
    lc_mcp_session_note(c.session, LC_STR("list.changed"));
    CHECK_STR_EQ(next_notice(&c), test_json("{'jsonrpc':'2.0','method':"
                                            "'notifications/resources/list_changed'}"));
    (void)mcp_client_legacy(&c, "tools/call", "'name':'report'");
    CHECK_CONTAINS(next_notice(&c), "notifications/tools/list_changed");
    CHECK_STR_EQ(next_notice(&c), "");
    mcp_client_close(&c);
}

TEST(mcp_dispatch, tells_the_newer_generation_of_what_it_asked_for)
{
    mcp_client c;
    lc_buf out;

    mcp_client_open(&c, false);
    CHECK_STR_EQ(mcp_client_modern(&c, "subscriptions/listen",
                                   "'notifications':{'toolsListChanged':true,'promptsListChanged':"
                                   "false,'unknown':true,'resourceSubscriptions':['t://a']}"),
                 test_json("{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged',"
                           "'params':{'_meta':{'io.modelcontextprotocol/subscriptionId':1},"
                           "'notifications':{'toolsListChanged':true,'resourceSubscriptions':"
                           "['t://a']}}}"));
    CHECK(lc_mcp_session_wants_events(c.session));
    (void)mcp_client_modern(&c, "tools/call", "'name':'report'");
    CHECK_STR_EQ(next_notice(&c), test_json("{'jsonrpc':'2.0','method':"
                                            "'notifications/tools/list_changed','params':{'_meta':"
                                            "{'io.modelcontextprotocol/subscriptionId':1}}}"));
    lc_mcp_session_note(c.session, LC_STR("a.written"));
    CHECK_CONTAINS(next_notice(&c), "\"io.modelcontextprotocol/subscriptionId\":1},\"uri\":"
                                    "\"t://a\"");
    lc_mcp_session_note(c.session, LC_STR("list.changed"));
    CHECK_STR_EQ(next_notice(&c), "");
    /* It is cancelled like a request; another one ends with the connection. */
    (void)mcp_client_send(&c, test_json("{'jsonrpc':'2.0','method':'notifications/cancelled',"
                                        "'params':{'requestId':1}}"));
    lc_mcp_session_note(c.session, LC_STR("a.written"));
    CHECK_STR_EQ(next_notice(&c), "");
    CHECK(!lc_mcp_session_wants_events(c.session));
    (void)mcp_client_modern(&c, "subscriptions/listen",
                            "'notifications':{'resourcesListChanged':true}");
    lc_buf_init(&out, &c.heap, LOCI_MEM_REQUESTS, 1u << 20);
    CHECK(lc_mcp_session_close_next(c.session, &out));
    CHECK_CONTAINS(lc_buf_str(&out), "\"id\":1,\"result\":{\"resultType\":\"complete\"");
    CHECK(!lc_mcp_session_close_next(c.session, &out));
    lc_buf_clear(&out);
    mcp_client_close(&c);
}

TEST(mcp_dispatch, turns_a_request_over_http_into_a_stream)
{
    mcp_client c;
    lc_buf out;

    mcp_client_open(&c, true);
    mcp_client_set_modern_headers(&c, "subscriptions/listen", NULL);
    CHECK_CONTAINS(mcp_client_modern(&c, "subscriptions/listen",
                                     "'notifications':{'resourceSubscriptions':['t://a']}"),
                   "acknowledged");
    CHECK(c.listener != NULL);
    lc_buf_init(&out, &c.heap, LOCI_MEM_REQUESTS, 1u << 20);
    CHECK(!lc_mcp_listener_next(c.listener, &out));
    lc_mcp_listener_note(c.listener, LC_STR("a.written"));
    CHECK(lc_mcp_listener_next(c.listener, &out));
    CHECK_CONTAINS(lc_buf_str(&out), "t://a");
    lc_buf_clear(&out);
    mcp_client_close(&c);
}

TEST(mcp_dispatch, bounds_subscriptions)
{
    char uri[LC_MCP_URI_BYTES_MAX + 2];
    mcp_client c;

    mcp_client_open(&c, false);
    (void)mcp_client_legacy(&c, "initialize", INITIALIZE);
    for (int i = 0; i < LC_MCP_URIS_MAX; i++) {
        (void)mcp_client_legacy(&c, "resources/subscribe", test_format("'uri':'t://%d'", i));
        CHECK_EQ(c.code, 0);
    }
    (void)mcp_client_legacy(&c, "resources/subscribe", "'uri':'t://more'");
    CHECK_EQ(c.code, -32602);
    (void)mcp_client_legacy(&c, "resources/subscribe", "'uri':'t://7'");
    CHECK_EQ(c.code, 0);
    memset(uri, 'x', sizeof uri);
    for (size_t bytes = LC_MCP_URI_BYTES_MAX - 1; bytes <= LC_MCP_URI_BYTES_MAX + 1; bytes++) {
        (void)mcp_client_legacy(&c, "resources/unsubscribe",
                                test_format("'uri':'%.*s'", (int)bytes, uri));
        CHECK_EQ(c.code, bytes <= LC_MCP_URI_BYTES_MAX ? 0 : -32602);
    }
    for (int i = 0; i < LC_MCP_LISTENERS_MAX; i++) {
        (void)mcp_client_modern(&c, "subscriptions/listen", "'notifications':{}");
        CHECK_EQ(c.code, 0);
    }
    (void)mcp_client_modern(&c, "subscriptions/listen", "'notifications':{}");
    CHECK_EQ(c.code, -32602);
    mcp_client_close(&c);
}

/* ---- Out of memory --------------------------------------------------------------------------- */

typedef struct sweep {
    const char *method;
    const char *params;
    bool is_modern;
} sweep;

/* A lack of memory is an answer like any other. */
TEST(mcp_dispatch, survives_a_lack_of_memory)
{
    static const sweep cases[] = {
        {"initialize", INITIALIZE, false},
        {"tools/list", "", true},
        {"tools/call", "'name':'echo','arguments':{'text':'a\\u00e9'}", true},
        {"tools/call", "'name':'meta','_meta':{'progressToken':'p'}", false},
        {"resources/read", "'uri':'t://z'", false},
        {"resources/subscribe", "'uri':'t://z'", false},
        {"subscriptions/listen", "'notifications':{'resourceSubscriptions':['t://a','t://b']}",
         true},
        {"completion/complete",
         "'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':'who','value':''}", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint64_t nth = 1;; nth++) {
            size_t live = test_heap_live_blocks();
            bool was_injected;
            mcp_client c;

            mcp_client_open(&c, false);
            test_heap_fail_nth(nth);
            if (cases[i].is_modern)
                (void)mcp_client_modern(&c, cases[i].method, cases[i].params);
            else
                (void)mcp_client_legacy(&c, cases[i].method, cases[i].params);
            was_injected = test_heap_disarm();
            CHECK_EQ(c.answer_count, 1);
            /* An error may lose its particulars. */
            if (was_injected && c.code != -32002) {
                CHECK_EQ(c.code, -32603);
                CHECK_CONTAINS(c.answer, "memory");
            }
            mcp_client_close(&c);
            CHECK_EQ(test_heap_live_blocks(), live);
            if (!was_injected)
                break;
            CHECK(nth < 1000);
        }
    }
}

TEST(mcp_dispatch, opens_without_memory_or_not_at_all)
{
    mcp_client c;

    mcp_client_open(&c, false);
    for (uint64_t nth = 1;; nth++) {
        size_t live = test_heap_live_blocks();
        lc_mcp_server *server = NULL;
        loci_error err;
        loci_status status;
        bool was_injected;

        test_heap_fail_nth(nth);
        status = lc_mcp_server_new(&c.heap, &c.provider, (lc_mcp_lock){0}, &server, &err);
        was_injected = test_heap_disarm();
        CHECK_STATUS(was_injected ? LOCI_ERESOURCE : LOCI_OK, status);
        lc_mcp_server_free(server);
        CHECK_EQ(test_heap_live_blocks(), live);
        if (!was_injected)
            break;
    }
    mcp_client_close(&c);
}
