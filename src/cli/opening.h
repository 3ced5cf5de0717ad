/* opening.h - opens the engine for a command: finds the store, its settings and the log output.
 *
 * Which commands create a missing store: reads never do. The default store is created by the first
 * write. A store that the user has named is created by `init`, `batch` and --create; by other
 * writes, `serve` and `mcp` only if a program runs them, which means that stdin or stderr is no
 * terminal. A person who mistypes a name learns of it; a script that makes its store does not
 * change.
 */
#ifndef LC_CLI_OPENING_H
#define LC_CLI_OPENING_H

#include "cli/cli.h"
#include "server/log_queue.h"

typedef struct lc_opening {
    unsigned flags; /* LOCI_OPEN_... */
    uint64_t seed;
    loci_clock_fn *clock; /* NULL = the system's. */
    void *clock_ctx;
    lc_log_queue *log_queue; /* For log records; NULL = write them to stderr directly. */
    bool logs_all;           /* Log all records, not only warnings: for the daemon. */
    bool ends_on_fault;      /* A failed assertion ends the process; a supervisor restarts it. */
    bool is_silent;          /* Log nothing unless --verbose: a program reads stderr. */
    /* A person runs one command: warnings are sentences, --verbose is about the answer and not
     * about the log, and a store that is created is named once. */
    bool is_for_people;
    bool creates_named;  /* Create a missing store without --create, also for a person. */
    bool notes_creation; /* Write to stderr, or to the log, that a named store was created. */
    bool lives_long;     /* Not a single command: LOCI_NOW is not used, or nothing would expire. */
} lc_opening;

/* Opens the store given by the global options. A missing store is created according to the rule
 * at the top of this file. If the rule forbids it, or with LOCI_OPEN_EXISTING, the function returns
 * LOCI_ENOTFOUND with a message that explains how to create the store. */
loci_status lc_opening_run(lc_cli *cli, const lc_opening *opening, loci_engine **out,
                           loci_error *err);

/* A loci_log_fn: writes one record as a line of JSON to the lc_log_queue `ctx`, or to stderr if it
 * is NULL. */
void lc_opening_log(void *ctx, loci_log_level level, const char *event, loci_str fields);
/* The same for warnings and errors only. */
void lc_opening_log_warnings(void *ctx, loci_log_level level, const char *event, loci_str fields);
/* A lc_log_lost_line: the record that replaces records dropped by a log queue. */
size_t lc_opening_lost_line(int64_t count, char *out, size_t bytes_max);

/* ---- Which store ----------------------------------------------------------------------------- */

/* --store, else LOCI_STORE, else loci/loci.db in the user's data directory (XDG_DATA_HOME or
 * ~/.local/share). */
typedef struct lc_store_path {
    const char *text;   /* In cli->arena. */
    const char *label;  /* For display: without the password. */
    const char *origin; /* "--store", "LOCI_STORE" or "default". */
    bool is_file;       /* Not a URL. */
    bool is_default;    /* Its directory is created if missing. */
} lc_store_path;

/* LOCI_EINVAL if no option is given and HOME is not set. */
loci_status lc_store_path_find(lc_cli *cli, lc_store_path *out, loci_error *err);
/* Whether the file exists; true for a URL. */
bool lc_store_path_exists(const lc_store_path *path);
/* The directory of a file, "." if the name has none; in cli->arena. */
const char *lc_store_path_directory(lc_cli *cli, const char *file);

/* ---- The Unix socket of its daemon ----------------------------------------------------------- */

/* LOCI_SOCKET, else loci/<hash of the store>.sock in the user's runtime directory; in cli->arena.
 * `*out` is NULL if there is no runtime directory. The store need not exist. LOCI_ELIMIT if the
 * path is too long for a socket. */
loci_status lc_socket_path_find(lc_cli *cli, const char *store, const char **out, loci_error *err);
/* Creates its directory, with mode 0700. LOCI_EFORBIDDEN if it belongs to another user. */
loci_status lc_socket_path_prepare(lc_cli *cli, const char *path, loci_error *err);

/* ---- Settings from outside the store --------------------------------------------------------- */

/* The variable of the setting call.timeout_ms is LOCI_CALL_TIMEOUT_MS; the option is
 * --set call.timeout_ms=5000. */

#define LC_SETTING_VARIABLE_BYTES 96

/* Writes the name of the variable, NUL-terminated. */
void lc_setting_variable(const char *setting, char out[LC_SETTING_VARIABLE_BYTES]);

#endif /* LC_CLI_OPENING_H */
