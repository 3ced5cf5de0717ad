/* http_listen.h - sockets to listen on. */
#ifndef LC_SERVER_HTTP_LISTEN_H
#define LC_SERVER_HTTP_LISTEN_H

#include "loci.h"

#include <sys/types.h>

typedef struct lc_http_listener {
    int fd; /* -1 = none. */
    int port;
    char address[64]; /* "127.0.0.1" or "::1", without brackets. */
} lc_http_listener;

typedef struct lc_http_unix {
    int fd; /* -1 = none. */
    char path[108];
    dev_t device; /* So that only our own file is removed. */
    ino_t inode;
} lc_http_unix;

/* "127.0.0.1:7077", "[::1]:0" or "localhost:7077". LOCI_EINVAL: not an address; LOCI_ECONFLICT: in
 * use; LOCI_EFORBIDDEN; LOCI_EUNAVAILABLE for the rest. */
loci_status lc_http_listen_tcp(const char *where, lc_http_listener *out, loci_error *err);
/* Makes the socket with mode 0600. A file left by a process that is gone is replaced; one that
 * somebody listens on is LOCI_ECONFLICT. */
loci_status lc_http_listen_unix(const char *path, lc_http_unix *out, loci_error *err);
/* Closes, and removes the file. Twice is fine. */
void lc_http_unlisten_unix(lc_http_unix *unix_socket);

#endif /* LC_SERVER_HTTP_LISTEN_H */
