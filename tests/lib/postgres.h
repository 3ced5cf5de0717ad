/* postgres.h - stores of tests: a file or, with LOCI_TEST_STORE=postgresql, a schema of a
 * PostgreSQL server that this process starts when it needs one (tests/lib/postgres.sh) and that
 * ends with it.
 *
 *     const char *store = test_store(test_tmpdir(), "store.db");
 */
#ifndef TEST_LIB_POSTGRES_H
#define TEST_LIB_POSTGRES_H

#include "loci.h"

#include <stdbool.h>
#include <stdint.h>

/* The name of a store that does not exist yet; the same directory and name give the same store. */
const char *test_store(const char *dir, const char *name);

/* Everything it holds, to be searched: its file, or the values of all rows of all tables. */
loci_str test_store_content(const char *store);

/* Whether stores are PostgreSQL's in this run. */
bool test_is_postgres(void);

/* The directory of the server's socket, starting it if need be. */
const char *test_postgres_dir(void);
/* "kill", "stop" or "start": returns when it is done. */
void test_postgres_command(const char *command);

/* A statement as SQLite's tests write it, in the words of the store: x'00' is a literal of bytes.
 */
const char *test_sql(const char *sql);
/* Fails unless the server takes the statement: kinds as in lc_sql. */
void test_postgres_prepare(const char *url, const char *text, const char *params,
                           const char *columns);
/* The plan that the server would keep for the statement. */
const char *test_postgres_plan(const char *url, const char *text, const char *params);

/* Statements from outside loci, in the schema of the store `url`; the first number it answers. */
int64_t test_postgres_run(const char *url, const char *sql);
/* How many rows the server has sent for an answer that the driver reads (lc_rows.statement). */
int64_t test_postgres_rows(const void *statement);
/* How many columns and indexes of the store `a` are not so in `b`. */
int64_t test_postgres_differences(const char *a, const char *b);
/* The sum of the hashes of all rows of the store's tables, but those in `except`. */
uint64_t test_postgres_hash(const char *url, const char *except);

#endif /* TEST_LIB_POSTGRES_H */
