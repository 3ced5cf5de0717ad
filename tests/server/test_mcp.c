/* /mcp of a real daemon: tokens and scopes, Host and Origin, sessions, streams, and what the log
 * says about it. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/calls.h"
#include "server/daemon.h"

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define META                                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                             \
    "'io.modelcontextprotocol/clientInfo':{'name':'tester','version':'7'},"                        \
    "'io.modelcontextprotocol/clientCapabilities':{}}"

/* A request of the newer generation; `params` are members, "" = none. */
static const char *modern(const char *method, const char *params)
{
    return test_json(test_format("{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s%s" META "}}",
                                 method, params, params[0] != '\0' ? "," : ""));
}

/* The request line with further headers, of which the last takes the rest of the line. */
static const char *with(const char *method, const char *headers)
{
    return test_format("%s /mcp HTTP/1.1\r\n%sX-Rest:", method, headers);
}

static const char *modern_headers(const char *method, const char *name)
{
    return test_format("Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                       "Mcp-Method: %s\r\n%s%s%s",
                       method, name != NULL ? "Mcp-Name: " : "", name != NULL ? name : "",
                       name != NULL ? "\r\n" : "");
}

static test_answer call(const test_daemon *daemon, const char *token, const char *tool,
                        const char *arguments)
{
    return test_ask(
        daemon, with("POST", modern_headers("tools/call", tool)), token,
        modern("tools/call", test_format("'name':'%s','arguments':{%s}", tool, arguments)));
}

static const char *text_of(loci_str text)
{
    return test_format("%.*s", (int)text.len, text.ptr);
}

static const char *make_token(const test_daemon *daemon, const char *args)
{
    test_answer made = test_ask(daemon, "POST /v1/call/token.create", daemon->token,
                                test_json(args));

    CHECK_EQ(made.status, 200);
    return text_of(test_member_text(made.body, "token"));
}

TEST(mcp_http, obeys_tokens_and_their_scopes)
{
    test_daemon daemon = test_daemon_start(NULL);
    const char *reader = make_token(&daemon, "{'name':'r','scopes':['read']}");
    const char *ada = make_token(&daemon, "{'name':'a','scopes':['read','write'],'user_id':'ada'}");
    test_answer answer = call(&daemon, NULL, "read_facts", "'action':'list'");

    CHECK_EQ(answer.status, 401);
    CHECK_CONTAINS(answer.head, "WWW-Authenticate: Bearer");
    answer = call(&daemon, "loci_wrong", "read_facts", "'action':'list'");
    CHECK_EQ(answer.status, 401);
    answer = call(&daemon, daemon.token, "set_fact", "'key':'city','value':'Oslo'");
    CHECK_EQ(answer.status, 200);
    CHECK(strstr(text_of(answer.body), "isError") == NULL);
    /* A token that may only read reads, and writes nothing. */
    answer = call(&daemon, reader, "read_facts", "'action':'current','key':'city'");
    CHECK_CONTAINS(answer.body, "Oslo");
    answer = call(&daemon, reader, "set_fact", "'key':'city','value':'Rome'");
    CHECK_EQ(answer.status, 200);
    CHECK_CONTAINS(answer.body, "\"isError\":true");
    CHECK_CONTAINS(answer.body, "write");
    answer = call(&daemon, daemon.token, "read_facts", "'action':'current','key':'city'");
    CHECK_CONTAINS(answer.body, "Oslo");
    /* A token of one user does not see another's. */
    answer = call(&daemon, ada, "read_facts", "'action':'list'");
    CHECK_EQ(answer.status, 200);
    CHECK(strstr(text_of(answer.body), "Oslo") == NULL);
    test_daemon_stop(&daemon);
}

TEST(mcp_http, refuses_other_origins_types_and_methods)
{
    test_daemon daemon = test_daemon_start(NULL);
    const char *ping = test_json("{'jsonrpc':'2.0','id':1,'method':'ping'}");
    const char *token = daemon.token;

    CHECK_EQ(test_ask(&daemon, with("POST", "Origin: http://evil.example\r\n"), token, ping).status,
             403);
    CHECK_EQ(test_ask(&daemon, "POST /mcp", token, ping).status, 415);
    CHECK_EQ(test_ask(&daemon, with("POST", "Content-Type: text/plain\r\n"), token, ping).status,
             415);
    CHECK_EQ(test_ask(&daemon, with("POST", "content-type: Application/JSON; charset=utf-8\r\n"),
                      token, "{")
                 .status,
             400);
    CHECK_EQ(test_ask(&daemon, "GET /mcp", token, NULL).status, 405);
    CHECK_EQ(test_ask(&daemon, "DELETE /mcp", token, NULL).status, 405);
    CHECK_EQ(test_ask(&daemon, "PUT /mcp", token, NULL).status, 405);
    test_daemon_stop(&daemon);
}

/* The id of the session that `initialize` began. */
static const char *begin_session(const test_daemon *daemon)
{
    test_answer answer = test_ask(
        daemon, with("POST", "Content-Type: application/json\r\n"), daemon->token,
        test_json("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':"
                  "'2025-11-25','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}"));
    const char *at = strstr(text_of(answer.head), "Mcp-Session-Id: ");

    CHECK_EQ(answer.status, 200);
    CHECK(at != NULL);
    return test_format("%.32s", at + strlen("Mcp-Session-Id: "));
}

static int post(const test_daemon *daemon, const char *session, const char *token,
                const char *message)
{
    return test_ask(daemon,
                    with("POST", test_format("Content-Type: application/json\r\n"
                                             "Mcp-Session-Id: %s\r\n",
                                             session)),
                    token, test_json(message))
        .status;
}

TEST(mcp_http, keeps_sessions_of_their_owner)
{
    test_daemon daemon = test_daemon_start(NULL);
    const char *other = make_token(&daemon, "{'name':'o','scopes':['read']}");
    const char *session = begin_session(&daemon);
    const char *list = "{'jsonrpc':'2.0','id':2,'method':'tools/list'}";
    const char *line = with("DELETE", test_format("Mcp-Session-Id: %s\r\n", session));

    CHECK_EQ(post(&daemon, session, daemon.token,
                  "{'jsonrpc':'2.0','method':'notifications/initialized'}"),
             202);
    CHECK_EQ(post(&daemon, session, daemon.token, list), 200);
    CHECK_EQ(post(&daemon, session, other, list), 404);
    CHECK_EQ(test_ask(&daemon, line, other, NULL).status, 404);
    CHECK_EQ(test_ask(&daemon, line, daemon.token, NULL).status, 200);
    CHECK_EQ(post(&daemon, session, daemon.token, list), 404);
    test_daemon_stop(&daemon);
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* Sends a request that is answered by a stream. */
static int open_stream(const test_daemon *daemon, const char *head, const char *body)
{
    int fd = test_connect(daemon);

    CHECK(test_send(fd, loci_str_of(test_format(
                            "%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                            "Accept: application/json, text/event-stream\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            head, daemon->port, daemon->token, strlen(body), body))));
    return fd;
}

/* Reads until `part` has come, or for 10 s; returns everything. */
static const char *read_until(int fd, const char *part)
{
    static char buffer[65536];
    size_t len = 0;
    int64_t end_ms = test_now_ms() + 10000;

    buffer[0] = '\0';
    while (strstr(buffer, part) == NULL && test_now_ms() < end_ms) {
        ssize_t got = 0;

        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 200) > 0)
            got = read(fd, buffer + len, sizeof buffer - 1 - len);
        else
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
        buffer[len] = '\0';
    }
    return test_format("%s", buffer);
}

TEST(mcp_http, streams_notices_to_the_newer_generation)
{
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    int fd = open_stream(&daemon,
                         test_format("POST /mcp HTTP/1.1\r\n%sX-Rest:",
                                     modern_headers("subscriptions/listen", NULL)),
                         modern("subscriptions/listen",
                                "'notifications':{'resourceSubscriptions':['loci://facts']}"));
    const char *text = read_until(fd, "acknowledged");

    CHECK_CONTAINS(text, "Content-Type: text/event-stream");
    CHECK_CONTAINS(text, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                         "\"notifications/subscriptions/acknowledged\"");
    (void)call(&daemon, daemon.token, "set_fact", "'key':'city','value':'Oslo'");
    CHECK_CONTAINS(read_until(fd, "resources/updated"), "\"uri\":\"loci://facts\"");
    close(fd);
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

TEST(mcp_http, streams_notices_to_a_session)
{
    test_daemon daemon = test_daemon_start(NULL);
    const char *session = begin_session(&daemon);
    const char *line = test_format("GET /mcp HTTP/1.1\r\nMcp-Session-Id: %s\r\nX-Rest:", session);
    int old = open_stream(&daemon, line, "");
    int fd;

    (void)read_until(old, "\n:\n");
    fd = open_stream(&daemon, line, "");
    (void)read_until(fd, "\n:\n");
    CHECK_EQ(post(&daemon, session, daemon.token,
                  "{'jsonrpc':'2.0','id':3,'method':'resources/subscribe','params':"
                  "{'uri':'loci://facts'}}"),
             200);
    (void)call(&daemon, daemon.token, "set_fact", "'key':'city','value':'Oslo'");
    CHECK_CONTAINS(read_until(fd, "resources/updated"), "loci://facts");
    /* One message goes to one stream only. */
    CHECK(poll(&(struct pollfd){.fd = old, .events = POLLIN}, 1, 300) == 0);
    /* The stream ends with the session. */
    CHECK_EQ(test_ask(&daemon, with("DELETE", test_format("Mcp-Session-Id: %s\r\n", session)),
                      daemon.token, NULL)
                 .status,
             200);
    CHECK_CONTAINS(read_until(fd, "\n0\r\n\r\n"), "0\r\n\r\n"); /* The last chunk. */
    close(old);
    close(fd);
    test_daemon_stop(&daemon);
}

/* A stream must not outlive the token it was opened with. */
TEST(mcp_http, ends_a_stream_with_its_token)
{
    test_daemon daemon = test_daemon_start(NULL);
    test_answer made = test_ask(&daemon, "POST /v1/call/token.create", daemon.token,
                                test_json("{'name':'s','scopes':['read']}"));
    test_daemon as_reader = daemon;
    int fd;

    (void)strncpy(as_reader.token, text_of(test_member_text(made.body, "token")),
                  sizeof as_reader.token - 1);
    fd = open_stream(&as_reader,
                     test_format("POST /mcp HTTP/1.1\r\n%sX-Rest:",
                                 modern_headers("subscriptions/listen", NULL)),
                     modern("subscriptions/listen",
                            "'notifications':{'resourceSubscriptions':['loci://facts']}"));
    (void)read_until(fd, "acknowledged");
    (void)test_ask(&daemon, "POST /v1/call/token.revoke", daemon.token,
                   test_format("{\"id\":\"%s\"}", text_of(test_member_text(made.body, "id"))));
    CHECK_CONTAINS(read_until(fd, "\"resultType\":\"complete\""), "\"id\":1,\"result\"");
    close(fd);
    test_daemon_stop(&daemon);
}

/* ---- Log records ----------------------------------------------------------------------------- */

TEST(mcp_http, logs_names_and_traces_but_no_arguments)
{
    test_daemon daemon = test_daemon_start(NULL);
    test_answer answer = test_ask(
        &daemon,
        with("POST",
             test_format("%straceparent: " TRACE "\r\n", modern_headers("tools/call", "set_fact"))),
        daemon.token,
        modern("tools/call",
               "'name':'set_fact','arguments':{'key':'CANARY-key','value':'CANARY-value'}"));
    const char *log;

    CHECK_EQ(answer.status, 200);
    CHECK_CONTAINS(answer.head, "traceparent: " TRACE);
    CHECK_CONTAINS(answer.body, "\"traceparent\":\"" TRACE "\"");
    answer = test_ask(&daemon, "GET /v1/events", daemon.token, NULL);
    CHECK_CONTAINS(answer.body, "\"client\":{\"name\":\"tester\",\"version\":\"7\"");
    answer = test_ask(&daemon, "GET /livez HTTP/1.1\r\ntraceparent: " TRACE "\r\nX-Rest:", NULL,
                      NULL);
    CHECK_CONTAINS(answer.head, "traceparent: " TRACE);
    answer = test_ask(&daemon, "GET /livez HTTP/1.1\r\ntraceparent: 00-bad\r\nX-Rest:", NULL, NULL);
    CHECK(strstr(text_of(answer.head), "traceparent") == NULL);
    answer = test_ask(&daemon, "GET /metrics", daemon.token, NULL);
    CHECK_CONTAINS(answer.body, "loci_http_requests_total{operation=\"/mcp\",code=\"200\"} 1");
    test_daemon_stop(&daemon);
    log = daemon.process.err.ptr;
    CHECK_CONTAINS(log, "\"route\":\"/mcp\"");
    CHECK_CONTAINS(log, "\"mcp_method\":\"tools/call\",\"mcp_tool\":\"set_fact\"");
    CHECK_CONTAINS(log, "\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\"");
    CHECK(strstr(log, "CANARY") == NULL);
    CHECK(strstr(log, "00-bad") == NULL);
}
