/* store_path.h - which store is meant: --store, else LOCI_STORE, else loci/loci.db in the user's
 * data directory (XDG_DATA_HOME, or ~/.local/share). */
#ifndef LC_CLI_STORE_PATH_H
#define LC_CLI_STORE_PATH_H

#include "cli/cli.h"

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

#endif /* LC_CLI_STORE_PATH_H */
