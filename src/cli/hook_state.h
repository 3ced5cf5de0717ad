/* hook_state.h - the files of hooks in the user's state directory: a log, and the read position in
 * each transcript.
 *
 * XDG_STATE_HOME/loci, or ~/.local/state/loci; files have mode 0600. Everything is best effort: a
 * hook without a state directory works, reads transcripts from the beginning, and logs nothing.
 */
#ifndef LC_CLI_HOOK_STATE_H
#define LC_CLI_HOOK_STATE_H

#include "cli/cli.h"

/* Creates the directories and chooses the paths. */
void lc_hook_state_open(void);

/* Appends a line {"time":…,"event":…,"error":…} to hook.log. At 256 KB the file becomes
 * hook.log.1, which replaces the one before. */
void lc_hook_log(lc_cli *cli, const char *event, const char *text);

/* Ends the process with exit code 0 and a line in the log after `timeout_ms`, in any state; 0
 * disarms. */
void lc_hook_set_alarm(lc_cli *cli, const char *event, int64_t timeout_ms);

/* How far a transcript was read. `key` names it and its destination. */
typedef struct lc_hook_position {
    int64_t offset; /* Bytes. */
    uint64_t head;  /* Hash of the beginning of the file: another file begins at 0. */
} lc_hook_position;

/* Zeroed if it is not known. */
lc_hook_position lc_hook_position_load(loci_str key);
void lc_hook_position_store(loci_str key, lc_hook_position position);
/* Removes positions that were not stored for 60 days. */
void lc_hook_position_prune(void);

#endif /* LC_CLI_HOOK_STATE_H */
