/* faulty_store.h - a database driver that fails on demand: SQLite's, with a countdown before every
 * call.
 *
 *     lc_engine_parts parts = {.driver = test_faulty_driver()};
 *     ... open the engine ...
 *     test_store_fail_nth(7, LOCI_ERESOURCE);
 *     ... do something ...
 *     if (!test_store_disarm())
 *         ... there were fewer than 7 calls: the sweep is over ...
 *
 * Every member that can fail counts: opening, statements, each row, reads, writes, upkeep. A failed
 * call has not been made, and reports as a driver would. One countdown for all connections;
 * thread-safe.
 */
#ifndef LC_TESTS_LIB_FAULTY_STORE_H
#define LC_TESTS_LIB_FAULTY_STORE_H

#include "store/db.h"

const lc_db_driver *test_faulty_driver(void);

/* Fails the nth call from now, counting from 1, with `status`; the ones after it succeed. */
void test_store_fail_nth(uint64_t nth, loci_status status);
/* Ends the above. True when a call was failed since it was armed. */
bool test_store_disarm(void);
/* Which member was failed last, such as "exec"; "" = none. For messages. */
const char *test_store_failed_call(void);

#endif /* LC_TESTS_LIB_FAULTY_STORE_H */
