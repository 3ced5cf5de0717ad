/* hash.c - XXH3 from libxxhash, seed 0. */
#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

uint64_t lc_hash64(loci_str bytes)
{
    return XXH3_64bits(bytes.ptr, bytes.len);
}

lc_hash128 lc_hash128_of(loci_str bytes)
{
    XXH128_hash_t hash = XXH3_128bits(bytes.ptr, bytes.len);

    return (lc_hash128){.high = hash.high64, .low = hash.low64};
}

lc_hash128 lc_hash128_chain(lc_hash128 before, loci_str piece)
{
    lc_hash128 next = lc_hash128_of(piece);
    uint64_t words[4] = {before.high, before.low, next.high, next.low};

    return lc_hash128_of((loci_str){(const char *)words, sizeof words});
}

void lc_hash128_format(lc_hash128 value, char out[LC_HASH_TEXT_BYTES])
{
    (void)snprintf(out, LC_HASH_TEXT_BYTES, "%016llx%016llx", (unsigned long long)value.high,
                   (unsigned long long)value.low); /* Always 32 digits. */
}
