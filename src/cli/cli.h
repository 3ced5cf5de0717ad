/* cli.h - one run of the program: global options, output, errors and signals.
 *
 * Commands append to `out`; main() writes it at the end. Output that must appear earlier (an answer
 * of batch, an event) is written by lc_cli_flush(). A command returns the exit code: 0, 1 for a
 * failure, 2 for wrong usage.
 */
#ifndef LC_CLI_CLI_H
#define LC_CLI_CLI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "cli/arguments.h"
#include "cli/terminal.h"

#define LC_EXIT_OK 0
#define LC_EXIT_FAILED 1
#define LC_EXIT_USAGE 2
#define LC_EXIT_INTERRUPTED 130 /* As shells do: 128 + SIGINT. */

#define LC_CLI_SETS_MAX 64 /* --set, repeated. */
#define LC_CLI_CLIENT_BYTES 1032
#define LC_CLI_CLOCK INT64_MIN
#define LC_CLI_OUT_BYTES_MAX (4 * (size_t)LC_ANSWER_BYTES_MAX) /* Rendering enlarges answers. */

/* Options of every command. */
typedef struct lc_globals {
    const char *store; /* As given; NULL = see lc_store_path_find(). */
    const char *url;   /* As given; NULL = see lc_remote_url(). */
    const char *token_file;
    const char *tenant;
    const char *user;
    const char *persona; /* "" = the person's own; NULL = see lc_whose_find(). */
    const char *config_file;
    const char *sets[LC_CLI_SETS_MAX]; /* "name=value" */
    size_t set_count;
    bool creates;        /* --create */
    const char *output;  /* table, csv or tsv; json is wants_json. NULL = not given. */
    const char *columns; /* "a,b", after lc_answer_check() "a b"; NULL = not given. */
    bool wants_ids;
    bool wants_json;
    bool wants_help;
    bool wants_version;
    bool is_quiet;
    bool is_verbose;
    bool no_color;
} lc_globals;

typedef struct lc_link lc_link;

typedef struct lc_cli {
    lc_heap *heap;
    lc_arena *arena; /* Freed when the program ends. */
    lc_globals globals;
    lc_terminal out_terminal;
    lc_terminal err_terminal;
    lc_buf out;             /* Written by lc_cli_flush(). */
    bool write_failed;      /* Stdout cannot be written to any more. */
    bool has_json_errors;   /* For call, batch and --json. */
    bool has_printed_lines; /* The last answer streamed lines to stdout already. */
    const char *help_name;  /* Topic of `loci help` to suggest after wrong usage, or NULL. */
    int write_errno;        /* Why. */
    int64_t fixed_now_us;   /* LOCI_NOW; LC_CLI_CLOCK = the system's clock. */
    char client[LC_CLI_CLIENT_BYTES]; /* For loci_call_options.client. */
    lc_link *kept;           /* In `loci shell`: the open store or connection; else NULL. */
    lc_globals kept_globals; /* The options it was opened with. */
} lc_cli;

/* --store, --tenant, … */
const lc_option *lc_cli_global_options(void);
/* Reads the global options in `arguments`, then inspects the terminals. LOCI_ELIMIT for too many
 * --set, LOCI_EINVAL for an unknown format or --url together with --store. */
loci_status lc_cli_take_globals(lc_cli *cli, const lc_arguments *arguments, loci_error *err);
/* Fills options that were not given from LOCI_TENANT, LOCI_USER, LOCI_PERSONA and LOCI_CONFIG, the
 * client from LOCI_CLIENT (default: loci-cli and its version), and the time from LOCI_NOW.
 * LOCI_EINVAL if that is not a time. */
loci_status lc_cli_take_environment(lc_cli *cli, loci_error *err);
/* The time of this command: LOCI_NOW, else the system's. */
int64_t lc_cli_now_us(const lc_cli *cli);
/* The persona that was given, by option or variable; NULL = none. */
const char *lc_cli_persona(const lc_cli *cli);
/* A variable of the environment; NULL if it is not set or empty. */
const char *lc_cli_variable(const char *name);

/* Writes and empties `out`. False once stdout cannot be written to. */
bool lc_cli_flush(lc_cli *cli);
/* At the end: writes the rest of `out`, and says on stderr if stdout could not be written to; a
 * reader that has closed its pipe is not an error. Returns `code`, or LC_EXIT_FAILED instead of
 * 0. */
int lc_cli_finish(lc_cli *cli, int code);
/* Writes all of `text`; false if that fails. */
bool lc_cli_write(int descriptor, loci_str text);

/* Appends formatted text to `out`. */
void lc_cli_print(lc_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lc_cli_print_styled(lc_cli *cli, lc_style style, const char *text);
/* Writes a line to stderr, unless --quiet. */
void lc_cli_note(lc_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the error to stderr, as JSON or as text, and returns the exit code. */
int lc_cli_report(lc_cli *cli, const loci_error *err);
/* The same for a lack of memory. */
int lc_cli_report_memory(lc_cli *cli);
/* The same for wrong usage, with a hint at `loci help`; returns LC_EXIT_USAGE. */
int lc_cli_report_usage(lc_cli *cli, const loci_error *err);
/* lc_fail() and lc_cli_report_usage() in one. */
int lc_cli_usage(lc_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What to do about LOCI_ECORRUPT. */
const char *lc_cli_damage_advice(lc_cli *cli, const loci_error *err);

/* Appends {"error":{"code":…,"message":…,…data}}. */
void lc_cli_append_error(lc_cli *cli, lc_buf *out, const loci_error *err);

/* ---- Signals --------------------------------------------------------------------------------- */

/* The first SIGINT or SIGTERM sets a flag that running work checks, the second ends the process.
 * SIGPIPE is ignored: the write fails instead. */
void lc_interrupt_install(void);
/* For loci_call_options.cancel. */
const volatile int *lc_interrupt_flag(void);
bool lc_interrupt_is_set(void);
/* For the next command of `loci shell`. */
void lc_interrupt_clear(void);
/* A descriptor that becomes readable when the flag is set, for poll(); -1 if none can be opened. Do
 * not read or close it. */
int lc_interrupt_fd(void);

#endif /* LC_CLI_CLI_H */
