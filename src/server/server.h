/* server.h - the daemon: `loci serve` without the command line. */
#ifndef LC_SERVER_SERVER_H
#define LC_SERVER_SERVER_H

#include "base/env.h"

typedef struct lc_server_options {
    loci_engine *engine; /* Open, with threads; owned by the caller. */
    /* Filled in by lc_server_run(), and used until the engine is closed: by then all calls that did
     * not end within drain_ms_max have been answered, too late. */
    lc_env *env;
    loci_log_fn *log; /* Where request records go. */
    void *log_ctx;
    struct lc_log_queue *log_queue; /* Behind `log`, to count what it lost; or NULL. */
    const char *listen;             /* "127.0.0.1:7077"; NULL = no TCP. */
    const char *socket_path;        /* NULL = none. */
    const char *const *hosts;       /* Further names it is reached by; ends with NULL; or NULL. */
    int64_t drain_ms_max;           /* How long accepted requests may take after `stop`. */
    /* Called when it listens, with the address, such as "http://127.0.0.1:7077". */
    void (*ready)(void *ctx, const char *address);
    /* Called when it begins to drain; or NULL. */
    void (*stopping)(void *ctx);
    void *ready_ctx; /* Of both. */
    int stop_fd;     /* Becomes readable when it should drain and end. */
} lc_server_options;

/* Serves until stop_fd is readable, drains, and returns. A public address while the store has no
 * token is LOCI_EFORBIDDEN. */
loci_status lc_server_run(const lc_server_options *options, loci_error *err);

#endif /* LC_SERVER_SERVER_H */
