/* project.h - the project that a directory belongs to, which decides the persona of a command.
 *
 * A project is a persona. Inside a git repository it is named after the remote, so that all clones,
 * worktrees and machines share it: "project:github.com/acme/app". A repository without a remote is
 * named after its path. Outside of a repository there is no project: data is written for the person
 * and shared by all personas.
 *
 * Git itself is not run, and GIT_DIR and the like are not read: the answer depends on the directory
 * alone. Files are read up to a maximum, and broken ones count as missing.
 */
#ifndef LC_CLI_PROJECT_H
#define LC_CLI_PROJECT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

typedef struct lc_cli lc_cli;

/* Texts are in the arena; NULL = none. */
typedef struct lc_project {
    const char *persona_id; /* "project:github.com/acme/app", "project:/src/app" */
    const char *root;       /* Top-level directory of the work tree. */
    const char *remote;     /* Name of the remote that it is named after, such as "origin". */
} lc_project;

/* Finds the project of `directory` (NULL = the current one). `*out` is zeroed if there is none. The
 * only error is a lack of memory. */
loci_status lc_project_find(lc_arena *arena, const char *directory, lc_project *out,
                            loci_error *err);

/* Appends the name of a remote without its scheme, credentials and ".git": "github.com/acme/app".
 * `root` resolves relative paths. False, appending nothing, if the URL has no usable path. */
bool lc_project_append_remote(lc_buf *out, loci_str url, const char *root);

/* ---- The persona of a command ---------------------------------------------------------------- */

typedef struct lc_whose {
    const char *persona_id; /* NULL = the person's own. */
    /* Where it comes from: "--persona", "LOCI_PERSONA", "git remote origin", "git repository
     * without a remote", "LOCI_PROJECT=off" or "no git repository". */
    const char *origin;
    lc_project project;
} lc_whose;

/* --persona ("" = the person's own), else LOCI_PERSONA, else the project of `directory` unless
 * LOCI_PROJECT is "off". The only error is a lack of memory. */
loci_status lc_whose_find(lc_cli *cli, const char *directory, lc_whose *out, loci_error *err);

#endif /* LC_CLI_PROJECT_H */
