/* socket_path.h - where the daemon of a store listens for its own user's programs: LOCI_SOCKET,
 * else loci/<hash of the store>.sock in the user's runtime directory. */
#ifndef LC_CLI_SOCKET_PATH_H
#define LC_CLI_SOCKET_PATH_H

#include "cli/cli.h"

/* The path in `*out`, in the arena of the run; NULL there when there is no runtime directory. The
 * store need not exist. LOCI_ELIMIT when the path is longer than a socket's may be. */
loci_status lc_socket_path_find(lc_cli *cli, const char *store, const char **out, loci_error *err);
/* Makes its directory, for its owner only; LOCI_EFORBIDDEN when it is somebody else's. */
loci_status lc_socket_path_prepare(lc_cli *cli, const char *path, loci_error *err);

#endif /* LC_CLI_SOCKET_PATH_H */
