/* mcp_fixture.h - a client of loci's own provider, through the dispatcher, on a real store.
 *
 *     mcp_peer p;
 *
 *     mcp_open(&p, MCP_OLDER, "project");
 *     result = mcp_tool(&p, "recall", "{'query':'Oslo'}");
 *     mcp_close(&p);
 *
 * Each result of a tool is compared with the schema that tools/list declares for it, and must have
 * a text.
 */
#ifndef LC_TESTS_CONTRACT_MCP_FIXTURE_H
#define LC_TESTS_CONTRACT_MCP_FIXTURE_H

#include "contract/fact_fixture.h"
#include "mcp/dispatch.h"

typedef enum mcp_generation { MCP_OLDER, MCP_NEWER, MCP_GENERATIONS } mcp_generation;

typedef struct mcp_peer {
    facts f;
    lc_heap heap;
    mcp_generation generation;
    lc_mcp_provider *provider;
    lc_mcp_server *server;
    lc_mcp_session *session;
    int64_t last_id;
    const char *message; /* The last answer. */
} mcp_peer;

/* `persona`: the client's project, or NULL. */
void mcp_open(mcp_peer *p, mcp_generation generation, const char *persona);
void mcp_close(mcp_peer *p);

/* The whole answer; `params` as in test_json(), without _meta. */
loci_str mcp_request(mcp_peer *p, const char *method, const char *params);
/* Its result; an error fails the test. */
loci_str mcp_result(mcp_peer *p, const char *method, const char *params);

/* The result of a tool that did what it was asked; `structuredContent` fits its schema. */
loci_str mcp_tool(mcp_peer *p, const char *tool, const char *args);
/* Its text. */
const char *mcp_text(mcp_peer *p, const char *tool, const char *args);
/* The text of a call that must fail. */
const char *mcp_tool_error(mcp_peer *p, const char *tool, const char *args);

/* What is wrong with `value` by `schema`, or NULL. Both are JSON. */
const char *mcp_schema_fault(loci_str schema, loci_str value);

#endif /* LC_TESTS_CONTRACT_MCP_FIXTURE_H */
