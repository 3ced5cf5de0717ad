/* token_merge.h - byte pair encoding of one piece of text that is no token by itself.
 *
 * The piece starts as its bytes; of all neighbours that are a pair the one of lowest rank merges,
 * the leftmost of equals, until none is left. The time is n log n at worst, so nobody can stop a
 * service with a long word.
 */
#ifndef LC_TEXT_TOKEN_MERGE_H
#define LC_TEXT_TOKEN_MERGE_H

#include "base/heap.h"
#include "text/token_table.h"

/* The tokens of the `bytes` bytes at `at`. Writes their numbers to `out` unless it is NULL; it has
 * room for `bytes` of them. Returns how many there are, or SIZE_MAX when out of memory, which only
 * long pieces need. */
size_t lc_token_merge(const lc_token_table *table, lc_heap *heap, const uint8_t *at, size_t bytes,
                      uint32_t *out);

#endif /* LC_TEXT_TOKEN_MERGE_H */
