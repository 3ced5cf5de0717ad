/* transfer.h - standard input as a file that can be read more than once. */
#ifndef LC_CLI_TRANSFER_H
#define LC_CLI_TRANSFER_H

#include "cli/cli.h"

/* Copies standard input into a file that its user alone may read; the caller removes it. */
loci_status lc_transfer_spool(lc_cli *cli, char **out_path, loci_error *err);

#endif /* LC_CLI_TRANSFER_H */
