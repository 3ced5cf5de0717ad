/* http_gzip.h - smaller answers for clients that take them. */
#ifndef LC_SERVER_HTTP_GZIP_H
#define LC_SERVER_HTTP_GZIP_H

#include "base/arena.h"

#include <stdbool.h>

/* Below this a packet is a packet. */
#define LC_GZIP_BYTES_MIN 1024

/* Whether an Accept-Encoding lets us answer with gzip: named, or "*", and not with q=0. */
bool lc_gzip_is_taken(loci_str accept_encoding);

/* The body as gzip, in `arena`; false when it is small, does not shrink or memory is short: then it
 * is sent as it is. */
bool lc_gzip_pack(lc_arena *arena, loci_str body, loci_str *out);

#endif /* LC_SERVER_HTTP_GZIP_H */
