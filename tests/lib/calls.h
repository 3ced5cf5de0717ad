/* calls.h - short forms for tests that speak to an engine through loci.h.
 *
 *     loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));
 *     loci_str answer = test_call(engine, "fact.write", "{'key':'city','value':%d}", 7);
 *     CHECK_STR_EQ(test_member(answer, "outcome"), "\"created\"");
 *     test_close(engine);
 *
 * Engines take their memory from test_heap() and have no threads unless asked for. Texts live until
 * the test ends.
 */
#ifndef LC_TESTS_LIB_CALLS_H
#define LC_TESTS_LIB_CALLS_H

#include "lib/test.h"

/* Options for an engine without threads on `store`, with a fixed seed and memory from test_heap().
 */
loci_open_options test_open_options(const char *store);
loci_engine *test_open(const char *store);
/* The same with threads. */
loci_engine *test_open_threads(const char *store);
/* Checks that log and projections agree, then closes. */
void test_close(loci_engine *engine);

/* A cursor of fact.list that begins behind `key`. */
const char *test_cursor_after(const char *key);

/* JSON as tests write it: in a text without any double quote, single quotes stand for them. The
 * arguments of all calls below, and of the fixtures, may be written so, before and after printf. */
const char *test_json(const char *text) __attribute__((format_arg(1)));

/* The answer; anything but LOCI_OK fails the test. */
loci_str test_call(loci_engine *engine, const char *operation, const char *args_format, ...)
    __attribute__((format(printf, 3, 4)));
/* Any outcome; `err` may be NULL. */
loci_status test_try(loci_engine *engine, const char *operation, loci_str args, loci_error *err);
/* LOCI_OK when the log equals the projections and nothing is damaged, else what store.verify says.
 */
loci_status test_verify(loci_engine *engine, loci_error *err);

/* A member of an object as JSON text, path in steps: "facts.0.id". "" when there is none. */
loci_str test_member(loci_str json, const char *path);
int64_t test_member_int(loci_str json, const char *path);
/* A string member without its quotes. */
loci_str test_member_text(loci_str json, const char *path);
/* What a repeat with the same request_id is answered, when this was the first answer. */
loci_str test_replayed(loci_str first);

/* A hash over every row of every table of the SQLite file, read without loci: shows whether a
 * failed call changed anything. Tables named in `except` ("jobs requests") are left out; NULL =
 * none. */
uint64_t test_store_hash(const char *store, const char *except);
/* The first column of the first row, or -1. */
int64_t test_store_number(const char *store, const char *sql);
/* Runs `sql` on the file, for damage on purpose. */
void test_store_run(const char *store, const char *sql);

#endif /* LC_TESTS_LIB_CALLS_H */
