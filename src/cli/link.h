/* link.h - where the calls of a command run: in the store, or in a daemon. The one place that
 * decides.
 *
 *     --url, LOCI_URL             that daemon (remote.h)
 *     lc_link_options.prefers...  the daemon of the store, if one is running: it has the models and
 *                                 the user's indexes in memory, so a short-lived process answers
 *                                 sooner through it
 *     else                        the store
 *
 * `loci shell` keeps one link open for all of its commands: lc_cli.kept. Nothing here prints.
 */
#ifndef LC_CLI_LINK_H
#define LC_CLI_LINK_H

#include "cli/cli.h"
#include "cli/opening.h"
#include "cli/remote.h"

typedef struct lc_link {
    lc_cli *cli;
    loci_engine *engine; /* NULL = the daemon. */
    lc_remote *remote;   /* NULL = `engine`. */
    lc_remote own;       /* The target of `remote`, unless that is borrowed. */
    bool is_borrowed;    /* From lc_cli.kept: not closed with this link. */
    int64_t deadline_us; /* Of all calls, monotonic; 0 = see lc_link_terms. */
} lc_link;

typedef struct lc_link_options {
    lc_opening opening;        /* How to open the store. */
    bool prefers_local_daemon; /* Not with --tenant, --set or --config: it has its own. */
    int64_t deadline_us;       /* As lc_link.deadline_us. */
} lc_link_options;

/* Connects, or opens the store. `out` is zeroed before; lc_link_close() in any case. A daemon at a
 * URL is met with the first call. */
loci_status lc_link_open(lc_link *out, lc_cli *cli, const lc_link_options *options,
                         loci_error *err);
/* The store, opened by the caller, who closes it. */
lc_link lc_link_to(lc_cli *cli, loci_engine *engine);
void lc_link_close(lc_link *link);

/* How a call is made. */
typedef struct lc_link_terms {
    const char *client; /* loci_call_options.client; NULL = that of the command. */
    int64_t timeout_ms; /* 0 = the default of the store or the daemon. */
    loci_sink_fn *sink; /* As in loci_call_stream(); or NULL. A daemon reports no progress. */
    void *sink_ctx;
    int (*lines)(void *ctx, loci_str text); /* See lc_remote_terms. */
    void *lines_ctx;
} lc_link_terms;

/* Runs one call and appends its answer. */
loci_status lc_link_call(lc_link *link, const loci_request *request, const lc_link_terms *terms,
                         lc_buf *out, loci_error *err);
/* Runs 1 to 100 calls of one user, all or nothing, and appends a JSON array of their answers. On
 * failure of one of several, err->data has `index`. */
loci_status lc_link_call_many(lc_link *link, const loci_request *requests, size_t count,
                              const lc_link_terms *terms, lc_buf *out, loci_error *err);

#endif /* LC_CLI_LINK_H */
