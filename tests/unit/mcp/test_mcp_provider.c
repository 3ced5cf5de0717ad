/* The provider when memory runs out: through the dispatcher, with answers of operations made up. */
#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "lib/calls.h"
#include "lib/heap.h"
#include "mcp/dispatch.h"

typedef struct request {
    lc_heap *heap;
    const char *method, *params;
    const char *answer; /* Of each operation; NULL = it fails. */
    int code;           /* Of the error that it is answered with; 0 = none. */
    bool is_answered, is_failed;
} request;

static void run_operation(void *ctx, lc_mcp_exchange *exchange, const char *operation,
                          loci_str args)
{
    request *r = ctx;
    loci_error err = {.status = LOCI_ENOTFOUND, .message = "no such thing"};

    (void)operation;
    (void)args;
    lc_mcp_resume(exchange, r->answer != NULL ? LOCI_OK : LOCI_ENOTFOUND, loci_str_of(r->answer),
                  &err);
}

static void send_nothing(void *ctx, const lc_mcp_exchange *exchange, loci_str message)
{
    (void)ctx;
    (void)exchange;
    (void)message;
}

static void take_answer(void *ctx, const lc_mcp_answer *answer)
{
    request *r = ctx;

    r->is_answered = true;
    r->is_failed = answer->code != r->code;
}

static const lc_mcp_transport transport = {
    .run = run_operation, .send = send_nothing, .answer = take_answer};

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static loci_status make_request(void *ctx)
{
    request *r = ctx;
    lc_mcp_defaults defaults = {LC_STR_NONE, LC_STR("project")};
    lc_mcp_incoming incoming = {.transport = &transport, .ctx = r};
    lc_mcp_provider *provider = NULL;
    lc_mcp_server *server = NULL;
    loci_status status = lc_mcp_provider_new(r->heap, &defaults, &provider, NULL);

    r->is_answered = r->is_failed = false;
    if (status == LOCI_OK)
        status = lc_mcp_server_new(r->heap, provider, (lc_mcp_lock){0}, &server, NULL);
    if (status == LOCI_OK) {
        incoming.session = lc_mcp_session_new(server);
        status = incoming.session != NULL ? LOCI_OK : LOCI_ERESOURCE;
    }
    if (status == LOCI_OK) {
        incoming.text = loci_str_of(
            test_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{" META ",%s}}",
                        r->method, test_json(r->params)));
        lc_mcp_receive(server, &incoming);
        if (!r->is_answered)
            test_note_failure(__FILE__, __LINE__, "%s: no answer", r->method);
        status = r->is_failed ? LOCI_ERESOURCE : LOCI_OK;
        lc_mcp_session_end(incoming.session);
    }
    lc_mcp_session_release(incoming.session);
    lc_mcp_server_free(server);
    lc_mcp_provider_free(provider);
    return status;
}

/* Requests that fail anyway: one error instead of another is fine, silence and leaks are not. */
static void sweep_error(request *r)
{
    size_t live = test_heap_live_blocks();
    bool was_injected = true;

    for (uint64_t nth = 1; was_injected; nth++) {
        test_heap_fail_nth(nth);
        (void)make_request(r);
        was_injected = test_heap_disarm();
        CHECK_EQ(test_heap_live_blocks(), live);
    }
    CHECK(r->is_answered && !r->is_failed);
}

TEST(mcp_provider, every_request_is_answered_when_memory_runs_out)
{
    static const request requests[] = {
        {.method = "tools/call",
         .params = "'name':'recall','arguments':{'query':'tea','limit':3}",
         .answer = "{'results':[{'id':'mem_1','text':'Likes tea','observed_at':"
                   "'2026-03-01T09:30:00Z','trust':'web','score':0.5}],'next_cursor':'x'}"},
        {.method = "tools/call",
         .params = "'name':'set_fact','arguments':{'key':'a','value':{'b':[1]},'whose':'person'}",
         .answer = "{'id':'fact_1','outcome':'created','seq':1}"},
        {.method = "tools/call",
         .params = "'name':'read_facts','arguments':{'action':'current','key':'a'}"},
        {.method = "tools/call", .params = "'name':'read_facts','arguments':{'action':'none'}"},
        {.method = "tools/call", .params = "'name':'recall','arguments':{'what':'none'}"},
        {.method = "resources/read",
         .params = "'uri':'loci://facts'",
         .answer = "{'facts':[{'key':'a','value':1,'id':'fact_1'}],'next_cursor':null}"},
        {.method = "resources/read",
         .params = "'uri':'loci://facts/a%20b'",
         .answer = "{'id':'x'}"},
        {.method = "resources/read",
         .params = "'uri':'loci://facts/none'",
         .code = LC_MCP_INVALID_PARAMS},
        {.method = "resources/read",
         .params = "'uri':'loci://none'",
         .code = LC_MCP_INVALID_PARAMS},
        {.method = "completion/complete",
         .params = "'ref':{'type':'ref/resource','uri':'loci://facts/{key}'},"
                   "'argument':{'name':'key','value':'a'}",
         .answer = "{'facts':[{'key':'a'},{'key':'b'}],'next_cursor':null}"},
        /* All steps get the same answer; each takes from it what it shows. */
        {.method = "prompts/get",
         .params = "'name':'technical','arguments':{'task':'Ship it'}",
         .answer = "{'text':'Known','results':[{'id':'mem_1','text':'Likes tea'}],'todos':[]}"},
    };

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        request r = requests[i];
        lc_heap heap;

        lc_heap_init(&heap, test_heap());
        r.heap = &heap;
        r.answer = r.answer != NULL ? test_json(r.answer) : NULL;
        if (r.answer != NULL)
            test_oom_sweep(make_request, &r);
        else
            sweep_error(&r);
    }
}
