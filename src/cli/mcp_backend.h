/* mcp_backend.h - where `loci mcp` runs operations: in a daemon of the store, or in the store.
 *
 * Nothing here waits: calls are started, poll() watches the descriptors, and lc_mcp_backend_step()
 * continues with the calls that are ready. Nothing is opened before the first call, because many
 * clients start a server only to ask what it offers.
 */
#ifndef LC_CLI_MCP_BACKEND_H
#define LC_CLI_MCP_BACKEND_H

#include "cli/cli.h"
#include "mcp/dispatch.h"

#include <poll.h>

typedef struct lc_mcp_backend lc_mcp_backend;

#define LC_MCP_BACKEND_FDS_MAX 16

loci_status lc_mcp_backend_new(lc_cli *cli, lc_mcp_backend **out, loci_error *err);
/* Waits for calls of the store that have not ended. NULL is fine. */
void lc_mcp_backend_free(lc_mcp_backend *backend);

/* Starts an operation; lc_mcp_resume() is called by this function or by a later step. */
void lc_mcp_backend_run(lc_mcp_backend *backend, lc_mcp_exchange *exchange, const char *operation,
                        loci_str args);

/* Follows the events of the user, or does not. */
void lc_mcp_backend_follow(lc_mcp_backend *backend, bool is_followed);
/* The type of the next event that has arrived, borrowed until the next call: ptr NULL for events
 * that were missed. False when there is none. */
bool lc_mcp_backend_next_event(lc_mcp_backend *backend, loci_str *out_type);

/* Writes the descriptors to wait for and returns how many; the first is there always. */
size_t lc_mcp_backend_watch(lc_mcp_backend *backend, struct pollfd out[LC_MCP_BACKEND_FDS_MAX]);
/* The longest time to wait for them; -1 = for ever. */
int lc_mcp_backend_wait_ms(const lc_mcp_backend *backend);
/* Continues with the calls that became ready; does not wait. `is_woken`: the first descriptor was
 * ready. */
void lc_mcp_backend_step(lc_mcp_backend *backend, bool is_woken);

#endif /* LC_CLI_MCP_BACKEND_H */
