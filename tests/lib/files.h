/* files.h - directories that are removed after the test, and reading whole files.
 *
 * A directory of a test that failed is kept, and its name printed. Every error in these functions
 * fails the test.
 */
#ifndef TEST_LIB_FILES_H
#define TEST_LIB_FILES_H

#include "loci.h"

#include <stdbool.h>

/* A new, empty directory below $TMPDIR (or /tmp). */
const char *test_tmpdir(void);
/* "dir/name", until the test ends. */
const char *test_path(const char *dir, const char *name);
/* The same below the root of the repository (a name that starts with / is left alone) and below the
 * build directory of this test. */
const char *test_source_path(const char *name);
const char *test_build_path(const char *name);

/* The content, terminated, until the test ends. */
loci_str test_read_file(const char *path);
void test_write_file(const char *path, loci_str content);
bool test_file_exists(const char *path);

/* For the runner: removes the directories, or prints their names. */
void test_files_end(bool keep);

#endif /* TEST_LIB_FILES_H */
