/* link.h - runs operations through the daemon of the store if one is running, else on the store
 * itself.
 *
 * A daemon has the models and the user's indexes in memory, so a short-lived process answers sooner
 * through it. Both ways have one deadline, and neither prints anything.
 */
#ifndef LC_CLI_LINK_H
#define LC_CLI_LINK_H

#include "cli/cli.h"

typedef struct lc_link {
    lc_cli *cli;
    const char *url;     /* "unix:PATH" of the daemon; NULL = `engine`. */
    loci_engine *engine; /* NULL = the daemon. */
    int64_t deadline_us; /* Monotonic, of everything. */
} lc_link;

typedef struct lc_link_call {
    const char *operation;
    loci_str args; /* A JSON object. */
} lc_link_call;

/* Connects, or opens the store, which must exist: LOCI_ENOTFOUND otherwise. `out` is zeroed before;
 * lc_link_close() in any case. With --tenant, --set or --config the daemon is not used: it has its
 * own. */
loci_status lc_link_open(lc_link *out, lc_cli *cli, int64_t deadline_us, loci_error *err);
void lc_link_close(lc_link *link);

/* Runs 1 to 100 calls of one user, all or nothing, and appends a JSON array of their answers.
 * `client` is loci_call_options.client. On failure of one of
 * several, err->data has `index`. */
loci_status lc_link_run(lc_link *link, const lc_link_call *calls, size_t count, const char *client,
                        lc_buf *out, loci_error *err);

#endif /* LC_CLI_LINK_H */
