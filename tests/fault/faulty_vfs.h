/* faulty_vfs.h - the file system under SQLite, failing on demand: below the driver, so that what
 * SQLite and we make of a failed write, sync or lock is tested together.
 *
 * test_vfs_install() makes it the default of this process; call it before anything is opened.
 * Shared memory and locks pass through uncounted, because they do not reach the disk.
 */
#ifndef LC_TESTS_FAULT_FAULTY_VFS_H
#define LC_TESTS_FAULT_FAULTY_VFS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum test_vfs_fault {
    TEST_VFS_IO,  /* Reads, writes, syncs, truncations, openings: an error of the device. */
    TEST_VFS_FULL /* Writes and truncations: no space is left. */
} test_vfs_fault;

void test_vfs_install(void);

/* Fails the nth access from now that such a fault can hit, counting from 1. `is_lasting`: all after
 * it too. */
void test_vfs_fail_nth(uint64_t nth, test_vfs_fault fault, bool is_lasting);
/* Ends the above. True when an access was failed since it was armed. */
bool test_vfs_disarm(void);
/* How many accesses that fault can hit there were since it was armed. */
uint64_t test_vfs_calls(void);
/* What was failed last, such as "sync". */
const char *test_vfs_failed_call(void);

#endif /* LC_TESTS_FAULT_FAULTY_VFS_H */
