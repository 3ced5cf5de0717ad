/* mcp_client.h - a client of the dispatcher without a transport: what it sends is kept as text.
 *
 * The provider has the tools `echo` (its argument `text`), `run` (an operation, which the test
 * answers with lc_mcp_resume), `fail` (isError), `report` (progress, a log message and a list that
 * has changed), `ask` (a question to the client) and `region` (an argument that is a header).
 */
#ifndef LC_TESTS_UNIT_MCP_CLIENT_H
#define LC_TESTS_UNIT_MCP_CLIENT_H

#include "base/str.h"
#include "lib/calls.h"
#include "lib/test.h"
#include "mcp/dispatch.h"

#define MCP_CLIENT_HEADERS_MAX 8

typedef struct mcp_client {
    lc_heap heap;
    lc_mcp_provider provider;
    lc_mcp_server *server;
    lc_mcp_session *session;
    bool is_http;
    const char *owner;
    const char *headers[MCP_CLIENT_HEADERS_MAX][2]; /* Ends with a NULL name. */
    const char *answer;                             /* The last one; NULL = none was sent. */
    size_t answer_count;                            /* Calls of transport.answer or listen. */
    const char *sent;                               /* The last message before an answer. */
    size_t sent_count;
    int http_status, code;
    const char *method, *tool, *session_id, *trace;
    bool is_tool_error;
    lc_mcp_exchange *running; /* Waits for the test. */
    const char *operation;
    lc_mcp_listener *listener; /* Of a stream. */
} mcp_client;

void mcp_client_open(mcp_client *c, bool is_http);
void mcp_client_close(mcp_client *c);
/* Sends one message; returns the answer, or "" when there is none. */
const char *mcp_client_send(mcp_client *c, const char *message);
/* A request of the newer generation; `params` are members in single quotes, "" = none. */
const char *mcp_client_modern(mcp_client *c, const char *method, const char *params);
/* The same of the older one. */
const char *mcp_client_legacy(mcp_client *c, const char *method, const char *params);
void mcp_client_set_header(mcp_client *c, const char *name, const char *value);
/* The headers that a request of the newer generation has. */
void mcp_client_set_modern_headers(mcp_client *c, const char *method, const char *name);

#endif /* LC_TESTS_UNIT_MCP_CLIENT_H */
