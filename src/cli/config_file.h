/* config_file.h - a change of another program's configuration file: read, shown, then written.
 *
 *     lc_config_change change;
 *     status = lc_config_change_open(cli, path, &change, err);
 *     change.after = …; change.exists_after = true;
 *     lc_config_change_show(cli, &change);
 *     status = lc_config_change_apply(cli, &change, err);
 *
 * The file is replaced by a rename, so that a reader sees the old or the new text, never a part.
 * Mode and owner are kept, symbolic links are followed, and the old text stays in a backup beside
 * the file. Texts are in cli->arena.
 */
#ifndef LC_CLI_CONFIG_FILE_H
#define LC_CLI_CONFIG_FILE_H

#include "cli/cli.h"

#include <sys/stat.h>

typedef struct lc_config_change {
    const char *path;   /* As it was given, for messages. */
    const char *target; /* Without symbolic links. */
    bool existed;
    struct stat info; /* If it existed. */
    loci_str before;
    loci_str after;
    bool exists_after;  /* False: the file is removed. */
    const char *backup; /* Set by apply; NULL if there was nothing to keep. */
} lc_config_change;

/* Reads the file; it may be missing. `after` is the same as `before`. LOCI_EFORBIDDEN if it cannot
 * be read, or is not a regular file. */
loci_status lc_config_change_open(lc_cli *cli, const char *path, lc_config_change *out,
                                  loci_error *err);
/* Whether there is anything to write. */
bool lc_config_change_is_any(const lc_config_change *change);
/* Appends a unified diff to `out`. */
void lc_config_change_show(lc_cli *cli, const lc_config_change *change, lc_buf *out);
/* Writes a backup and the new text. LOCI_EFORBIDDEN if the file is read-only or its directory
 * cannot be written, LOCI_ECONFLICT if another program has changed the file since it was read: then
 * nothing was changed. */
loci_status lc_config_change_apply(lc_cli *cli, lc_config_change *change, loci_error *err);

#endif /* LC_CLI_CONFIG_FILE_H */
