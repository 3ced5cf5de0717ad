/* base64.h - bytes as text (RFC 4648, section 4), strictly: the alphabet with + and /, padded, no
 * white space, no bits left over. Vectors travel so. */
#ifndef LC_BASE_BASE64_H
#define LC_BASE_BASE64_H

#include "base/buf.h"

/* Reads `text` into exactly `bytes` bytes. False when it is no base64 or of another length; what
 * was written then means nothing. */
bool lc_base64_read(loci_str text, void *out, size_t bytes);
void lc_base64_append(lc_buf *out, const void *data, size_t bytes);

#endif /* LC_BASE_BASE64_H */
