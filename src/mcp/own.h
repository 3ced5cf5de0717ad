/* own.h - the parts of loci's own provider; only provider.c, show.c, resource.c and prompt.c
 * include it.
 *
 *     provider.c   the object, instructions, tools
 *     show.c       an answer of an operation as text for a model, and as structured content
 *     resource.c   resources, templates, completion, what an event changes
 *     prompt.c     prompts
 *
 * Everything that does not depend on a request is made once. A request in progress keeps its state
 * in the arena of its exchange.
 */
#ifndef LC_MCP_OWN_H
#define LC_MCP_OWN_H

#include "mcp/mcp.h"
#include "ops/tool.h"

/* An operation that a tool runs. */
typedef struct lc_mcp_route {
    const lc_tool *tool;
    loci_str action; /* Value of the tool's selector; none = the tool has one operation. */
    const lc_op *op;
} lc_mcp_route;

#define LC_MCP_ROUTES_MAX 64

typedef struct lc_mcp_own {
    lc_mcp_provider provider;
    lc_heap *heap;
    lc_arena arena; /* Of all texts. */
    loci_str user_id, persona_id;
    lc_mcp_route routes[LC_MCP_ROUTES_MAX];
    size_t route_count;
} lc_mcp_own;

#define LC_MCP_RESULT_BYTES_MAX (64u * 1024 * 1024)

/* ---- Arguments (provider.c) ------------------------------------------------------------------ */

/* The owner of the state that a call reads or changes. */
typedef enum lc_mcp_whose { LC_MCP_PROJECT, LC_MCP_PERSON } lc_mcp_whose;

/* Into the open object of an operation's arguments: user_id and persona_id. */
void lc_mcp_put_owner(const lc_mcp_own *own, const lc_op *op, lc_mcp_whose whose,
                      lc_json_writer *args);
/* Runs an operation with these members as its arguments ("\"limit\":50" or empty), for the project.
 */
void lc_mcp_run_op(const lc_mcp_own *own, lc_mcp_exchange *exchange, const char *operation,
                   loci_str members, lc_mcp_then_fn *then, void *ctx);
/* Finishes with the result in `text`, or with the failure of the buffer; clears it. */
void lc_mcp_finish_buf(lc_mcp_exchange *exchange, lc_buf *text);
/* Fails an exchange whose operation failed, where there is no model to correct it. */
void lc_mcp_fail_status(lc_mcp_exchange *exchange, loci_status status, const loci_error *err);
/* The error when memory for a request is out. */
void lc_mcp_fail_memory(lc_mcp_exchange *exchange);

/* ---- Answers (show.c) ------------------------------------------------------------------------ */

typedef struct lc_mcp_view {
    const lc_record *record; /* The type of the answer. */
    loci_str shows;          /* As lc_op.mcp_shows. */
    size_t bytes;            /* About how long the texts of all items together may be. */
} lc_mcp_view;

/* Appends the members of `answer` that `view` selects to `text`: one line per item, which a user's
 * text cannot break or imitate. `data`: the same as one JSON object, or NULL. */
void lc_mcp_show(const lc_mcp_view *view, const lc_json *answer, lc_buf *text,
                 lc_json_writer *data);

/* ---- Resources (resource.c) ------------------------------------------------------------------ */

extern const char lc_mcp_templates[]; /* JSON array. */
void lc_mcp_list_resources(void *ctx, lc_mcp_exchange *exchange, loci_str cursor);
void lc_mcp_read_resource(void *ctx, lc_mcp_exchange *exchange, loci_str uri);
bool lc_mcp_is_changed_by(void *ctx, loci_str uri, loci_str event_type);
/* completion/complete, also for prompts. */
void lc_mcp_complete(void *ctx, lc_mcp_exchange *exchange, const lc_json *ref,
                     const lc_json *argument);

/* ---- Prompts (prompt.c) ---------------------------------------------------------------------- */

void lc_mcp_write_prompts(lc_json_writer *out);
void lc_mcp_get_prompt(void *ctx, lc_mcp_exchange *exchange, loci_str name,
                       const lc_json *arguments);
bool lc_mcp_prompt_has(loci_str name, loci_str argument);

#endif /* LC_MCP_OWN_H */
