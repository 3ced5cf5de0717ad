/* mcp_streams.h - shared by the files of server/mcp.h; no other file includes it. */
#ifndef LC_SERVER_MCP_STREAMS_H
#define LC_SERVER_MCP_STREAMS_H

#include "server/mcp.h"

#include <pthread.h>

struct lc_mcp_http {
    lc_env *env;
    loci_engine *engine; /* Or NULL, with the threads. */
    lc_store_thread *event_thread, *token_thread;
    const _Atomic bool *is_draining;
    pthread_mutex_t lock; /* Of the dispatcher. */
    lc_mcp_server *server;
    lc_mcp_provider *provider;
    void (*free_provider)(lc_mcp_provider *provider);
    _Atomic int64_t users; /* The daemon, and every call. */
};

/* A comment, which clients ignore: a sign of life. */
#define lc_mcp_heartbeat LC_STR(":\n\n")

bool lc_mcp_identity_keep(lc_arena *arena, const lc_identity *who, lc_identity *out);

/* A request that becomes a stream of notices. */
typedef struct lc_mcp_notices {
    lc_mcp_http *mcp;
    lc_http_request *request; /* Deferred. */
    const lc_identity *who;
    lc_mcp_listener *listener; /* Of the newer generation, which the stream frees; or NULL. */
    lc_mcp_session *session;   /* Of the older generation, which the stream releases; or NULL. */
    loci_str first;            /* The message that the stream begins with; none = none. */
} lc_mcp_notices;

/* Answers the request with the stream, or with an error. Everything but the listener and the
 * session is borrowed for the call. */
void lc_mcp_notices_open(const lc_mcp_notices *notices);

#endif /* LC_SERVER_MCP_STREAMS_H */
