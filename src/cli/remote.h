/* remote.h - a daemon that answers the calls of a command over HTTP.
 *
 * It is chosen by --url or LOCI_URL; link.h decides between a daemon and the store. The connection
 * is kept between calls. Every write gets a request id, so that a call whose connection broke can
 * be sent again without being carried out twice. Messages name the URL, never the token.
 */
#ifndef LC_CLI_REMOTE_H
#define LC_CLI_REMOTE_H

#include "cli/cli.h"
#include "net/fetch.h"

/* The URL to use, or NULL = the store: --url, else LOCI_URL unless --store is given. */
const char *lc_remote_url(const lc_cli *cli);
/* "--url" or "LOCI_URL". */
const char *lc_remote_origin(const lc_cli *cli);

/* The daemon at lc_remote_url(), with the token of --token-file or LOCI_TOKEN; in cli->arena.
 * LOCI_EINVAL if the URL is not valid, or if an option conflicts with it, such as --config. */
loci_status lc_remote_find(lc_cli *cli, lc_endpoint *out, loci_error *err);

/* LOCI_EUNSUPPORTED if a daemon was chosen, with the reason that `what` ("init") needs the store
 * itself and what to do instead. */
loci_status lc_remote_refuse(const lc_cli *cli, const char *what, loci_error *err);

/* ---- Calls ----------------------------------------------------------------------------------- */

typedef struct lc_remote {
    lc_cli *cli;
    lc_endpoint to;
    lc_fetch_link *link; /* NULL = not connected. */
    uint64_t mark;       /* Of this process, in request ids. */
    uint64_t call_count;
} lc_remote;

void lc_remote_init(lc_remote *remote, lc_cli *cli, const lc_endpoint *to);
void lc_remote_close(lc_remote *remote); /* A zeroed one is fine. */

/* How a call is made. */
typedef struct lc_remote_terms {
    const char *client;  /* As loci_call_options.client. */
    int64_t deadline_us; /* Monotonic. */
    /* For answers that are lines: gets them as they arrive; non-zero ends the call. Or NULL. */
    int (*lines)(void *ctx, loci_str text);
    void *lines_ctx;
} lc_remote_terms;

/* Runs one call and appends its answer; nothing if the answer was lines. Errors are those of the
 * daemon, in its words. */
loci_status lc_remote_call(lc_remote *remote, const loci_request *request,
                           const lc_remote_terms *terms, lc_buf *out, loci_error *err);
/* Runs 1 to 100 calls of one user, all or nothing, and appends a JSON array of their answers. */
loci_status lc_remote_call_many(lc_remote *remote, const loci_request *requests, size_t count,
                                const lc_remote_terms *terms, lc_buf *out, loci_error *err);

/* The error of an answer with another status than 200: the daemon's own, if it is a problem
 * document, else that `url` is no daemon. */
loci_status lc_remote_fail(lc_arena *arena, const lc_endpoint *to, const lc_fetch_answer *answer,
                           loci_error *err);

#endif /* LC_CLI_REMOTE_H */
