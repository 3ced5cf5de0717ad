/* hash.h - fast, stable, non-cryptographic hashes: for tables, comparing streams, marks in ids.
 * Their values are stored, so they may never change. */
#ifndef LC_BASE_HASH_H
#define LC_BASE_HASH_H

#include "loci.h"

#include <stdbool.h>

typedef struct lc_hash128 {
    uint64_t high, low;
} lc_hash128;

uint64_t lc_hash64(loci_str bytes);
lc_hash128 lc_hash128_of(loci_str bytes);
/* The hash of a stream of pieces: start with zero, add each piece in order. Where one piece ends
 * and the next begins matters. */
lc_hash128 lc_hash128_chain(lc_hash128 before, loci_str piece);

static inline bool lc_hash128_eq(lc_hash128 a, lc_hash128 b)
{
    return a.high == b.high && a.low == b.low;
}

#define LC_HASH_TEXT_BYTES 33
/* 32 hexadecimal digits and a NUL. */
void lc_hash128_format(lc_hash128 value, char out[LC_HASH_TEXT_BYTES]);

#endif /* LC_BASE_HASH_H */
