/* address.h - what is listened on, as text: who can reach it, and where a client finds it. */
#ifndef LC_SERVER_ADDRESS_H
#define LC_SERVER_ADDRESS_H

#include "loci.h"

#include <stdbool.h>

#define LC_ADDRESS_BYTES 320

/* Whether only this machine can reach "127.0.0.1:7077", "[::1]:0", "localhost:80" or "unix:/path".
 * Anything not understood is public. */
bool lc_address_is_local(loci_str listen);

/* Writes "http://127.0.0.1:7077", with the port it got; "unix:/path" without TCP. */
void lc_address_format(const char *listen, int port, const char *socket_path,
                       char out[LC_ADDRESS_BYTES]);

#endif /* LC_SERVER_ADDRESS_H */
