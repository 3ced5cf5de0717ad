/* memo.h - what a connection wrote itself and need not read again.
 *
 * A room remembers bytes under a key, both of its own choosing. They hold as long as nobody else
 * writes and nothing is undone, which the driver sees to: it forgets everything when a transaction
 * begins on another state than its own last commit left, and when one is rolled back. The room sees
 * to the rest: with every change of the rows behind a key it remembers anew, or drops the key.
 *
 * Bounded, and what is remembered may be gone at any time. A memo of NULL remembers nothing, and so
 * does one that gets no memory.
 */
#ifndef LC_STORE_MEMO_H
#define LC_STORE_MEMO_H

#include "base/heap.h"

#include <stddef.h>

#define LC_MEMO_ENTRIES 4096
#define LC_MEMO_BYTES 1024 /* Of one entry, key included; what is longer is not remembered. */

typedef struct lc_memo lc_memo;

/* NULL when there is no memory for it. */
lc_memo *lc_memo_new(lc_heap *heap);
void lc_memo_free(lc_memo *memo); /* NULL is fine for all of these. */

/* Where to write what is to be remembered, aligned for anything and fixed until it is forgotten;
 * NULL when it cannot be. Whatever was there before is forgotten either way. */
void *lc_memo_put(lc_memo *memo, loci_str key, size_t bytes);
/* NULL when nothing is remembered. */
const void *lc_memo_find(const lc_memo *memo, loci_str key);
void lc_memo_drop(lc_memo *memo, loci_str key);
void lc_memo_clear(lc_memo *memo);

#endif /* LC_STORE_MEMO_H */
