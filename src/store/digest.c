/* digest.c - libsodium's; it needs no sodium_init(). */
#include "store/digest.h"

#include <sodium.h>

_Static_assert(LC_SHA256_BYTES == crypto_hash_sha256_BYTES, "as long as libsodium's");

void lc_sha256(const void *data, size_t bytes, unsigned char out[LC_SHA256_BYTES])
{
    (void)crypto_hash_sha256(out, data, bytes); /* Does not fail. */
}
