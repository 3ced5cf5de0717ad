/* opening.h - the engine as the command line opens it: which store, whose settings, where logs go.
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
    lc_log_queue *log_queue; /* Where records go; NULL = to standard error, at once. */
    bool logs_all;           /* Records are wanted, not only warnings: a daemon's. */
    bool ends_on_fault;      /* A bug found ends the process: somebody starts it again. */
    bool is_silent; /* Warnings stay unsaid unless --verbose: standard error is for programs. */
} lc_opening;

/* Opens the store that the options mean. A missing one is created unless LOCI_OPEN_EXISTING, and
 * then LOCI_ENOTFOUND says how to make it. */
loci_status lc_opening_run(lc_cli *cli, const lc_opening *opening, loci_engine **out,
                           loci_error *err);

/* Writes one record as a line of JSON to the lc_log_queue `ctx`, or to standard error when that is
 * NULL; a loci_log_fn. */
void lc_opening_log(void *ctx, loci_log_level level, const char *event, loci_str fields);
/* The same of warnings and errors only. */
void lc_opening_log_warnings(void *ctx, loci_log_level level, const char *event, loci_str fields);
/* The record that stands for those that a log queue lost; a lc_log_lost_line. */
size_t lc_opening_lost_line(int64_t count, char *out, size_t bytes_max);

/* ---- Which store ----------------------------------------------------------------------------- */

/* which store is meant: --store, else LOCI_STORE, else loci/loci.db in the user's
 * data directory (XDG_DATA_HOME, or ~/.local/share). */

typedef struct lc_store_path {
    const char *text;   /* Lives in the arena of the run. */
    const char *label;  /* The same to be shown: without a password. */
    const char *origin; /* "--store", "LOCI_STORE" or "default". */
    bool is_file;       /* Not a URL. */
    bool is_default;    /* Its directory is ours to make. */
} lc_store_path;

/* LOCI_EINVAL when nothing says where home is. */
loci_status lc_store_path_find(lc_cli *cli, lc_store_path *out, loci_error *err);
/* Whether there is something at that path. */
bool lc_store_path_exists(const lc_store_path *path);
/* Makes the directories above the default path, for its owner only. */
loci_status lc_store_path_prepare(const lc_store_path *path, loci_error *err);
/* The directory of a file, "." for a bare name; in the arena. */
const char *lc_store_path_directory(lc_cli *cli, const char *file);

/* ---- The socket of its daemon ---------------------------------------------------------------- */

/* where the daemon of a store listens for its own user's programs: LOCI_SOCKET,
 * else loci/<hash of the store>.sock in the user's runtime directory. */

/* The path in `*out`, in the arena of the run; NULL there when there is no runtime directory. The
 * store need not exist. LOCI_ELIMIT when the path is longer than a socket's may be. */
loci_status lc_socket_path_find(lc_cli *cli, const char *store, const char **out, loci_error *err);
/* Makes its directory, for its owner only; LOCI_EFORBIDDEN when it is somebody else's. */
loci_status lc_socket_path_prepare(lc_cli *cli, const char *path, loci_error *err);

/* ---- Settings from outside the store --------------------------------------------------------- */

/* settings given from outside the store, as the JSON objects loci_open() takes.
 *
 * The variable of call.timeout_ms is LOCI_CALL_TIMEOUT_MS; the flag is --set call.timeout_ms=5000.
 */

#define LC_SETTING_VARIABLE_BYTES 96

/* Writes the variable's name, terminated. */
void lc_setting_variable(const char *setting, char out[LC_SETTING_VARIABLE_BYTES]);

typedef struct lc_cli_settings {
    const char *environment; /* JSON object; lives in the arena of the run. */
    const char *flags;
    bool has_log_level; /* Somebody asked for a level: all records are wanted. */
} lc_cli_settings;

/* LOCI_EINVAL for a --set without '='. Names and values are checked by loci_open(). */
loci_status lc_cli_settings_find(lc_cli *cli, lc_cli_settings *out, loci_error *err);

#endif /* LC_CLI_OPENING_H */
