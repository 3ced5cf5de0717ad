/* base64.h - bytes as text (RFC 4648, section 4), strictly: the alphabet with + and /, padded, no
 * white space, no bits left over. Used for vectors in JSON. */
#ifndef LC_BASE_BASE64_H
#define LC_BASE_BASE64_H

#include "base/buf.h"

/* Reads `text` into exactly `bytes` bytes. False if it is not base64 or of another length; the
 * content of `out` is then undefined. */
bool lc_base64_read(loci_str text, void *out, size_t bytes);
void lc_base64_append(lc_buf *out, const void *data, size_t bytes);

#endif /* LC_BASE_BASE64_H */
