/* digest.h - SHA-256, for telling whether a file is what it was when it was made. */
#ifndef LC_STORE_DIGEST_H
#define LC_STORE_DIGEST_H

#include <stddef.h>

#define LC_SHA256_BYTES 32

void lc_sha256(const void *data, size_t bytes, unsigned char out[LC_SHA256_BYTES]);

#endif /* LC_STORE_DIGEST_H */
