/* heap.h - the allocator that tests pass to the code under test.
 *
 * It counts live blocks by category; checks that sizes and categories given back are those that
 * were asked for and that nothing was written past a block; moves a block on every resize, so that
 * a stale pointer is found; and fails on demand. Thread-safe. Reset between tests.
 */
#ifndef TEST_LIB_HEAP_H
#define TEST_LIB_HEAP_H

#include "loci.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

loci_allocator test_heap(void);

size_t test_heap_live_blocks(void);
/* Bytes alive of one category; of all with LOCI_MEM_CATEGORIES. */
size_t test_heap_live_bytes(loci_category category);

/* Fails the nth request for memory from now, counting from 1; the ones after it succeed. */
void test_heap_fail_nth(uint64_t nth);
/* Fails the nth request from now and all after it: memory is gone and stays gone. */
void test_heap_fail_from(uint64_t nth);
/* Ends the above. True when a request was failed since it was armed. */
bool test_heap_disarm(void);

/* For the runner: resets the heap, and reports a failure for blocks that are still alive. */
void test_heap_check_empty(void);
void test_heap_reset(void);

#endif /* TEST_LIB_HEAP_H */
