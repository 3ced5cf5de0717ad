/* setting_sources.h - settings given from outside the store, as the JSON objects loci_open() takes.
 *
 * The variable of call.timeout_ms is LOCI_CALL_TIMEOUT_MS; the flag is --set call.timeout_ms=5000.
 */
#ifndef LC_CLI_SETTING_SOURCES_H
#define LC_CLI_SETTING_SOURCES_H

#include "cli/cli.h"

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

#endif /* LC_CLI_SETTING_SOURCES_H */
