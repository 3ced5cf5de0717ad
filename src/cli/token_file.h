/* token_file.h - a token kept in a file that only its owner may read. */
#ifndef LC_CLI_TOKEN_FILE_H
#define LC_CLI_TOKEN_FILE_H

#include "cli/cli.h"

/* Makes a token for administrators and writes it to a new file at `path`. A file that is there is
 * left alone, but its token must be good: LOCI_ECONFLICT otherwise. */
loci_status lc_token_file_make(lc_cli *cli, loci_engine *engine, const char *path, loci_error *err);

/* The token in the file, white space around it cut off; in the arena of the run. */
loci_status lc_token_file_read(lc_cli *cli, const char *path, loci_str *out, loci_error *err);

#endif /* LC_CLI_TOKEN_FILE_H */
