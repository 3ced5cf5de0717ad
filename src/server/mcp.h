/* mcp.h - the Model Context Protocol over HTTP (Streamable HTTP), at one path.
 *
 *     POST    one message; its answer is JSON, or a stream if something is sent before it
 *     GET     a stream of notices for a session of the older generation
 *     DELETE  ends such a session
 *
 * The protocol itself is in mcp/dispatch.h. The test program of the conformance suite uses this
 * with a provider of its own and without an engine.
 */
#ifndef LC_SERVER_MCP_H
#define LC_SERVER_MCP_H

#include "mcp/dispatch.h"
#include "server/parts.h"

typedef struct lc_mcp_http lc_mcp_http;

typedef struct lc_mcp_http_options {
    lc_env *env;
    lc_mcp_provider *provider;
    void (*free_provider)(lc_mcp_provider *provider); /* Called at the end; or NULL. */
    /* NULL, like the threads, if the provider runs no operations: there are no events then. */
    loci_engine *engine;
    lc_store_thread *event_thread; /* Opens streams, and reads their events. */
    lc_store_thread *token_thread; /* Watches the tokens of streams. */
    const _Atomic bool *is_draining;
} lc_mcp_http_options;

loci_status lc_mcp_http_new(const lc_mcp_http_options *options, lc_mcp_http **out, loci_error *err);
/* All streams have ended. Calls that are still running keep their memory until they end, and their
 * answers are dropped; `env` must live until then. NULL is fine. */
void lc_mcp_http_free(lc_mcp_http *mcp);

/* Answers a request that was admitted; `who` is borrowed for the call. The state of the request is
 * its lc_access_record. */
void lc_mcp_http_handle(lc_mcp_http *mcp, lc_http_request *request, const lc_identity *who);

#endif /* LC_SERVER_MCP_H */
