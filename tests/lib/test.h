/* test.h - declares tests and checks.
 *
 *     #include "lib/test.h"
 *
 *     TEST(budget, reservation_hides_room_from_others)
 *     {
 *         CHECK_EQ(lc_budget_left(&budget), 50);
 *     }
 *
 * A test registers itself; its file only has to be in a folder of tests/. A failing CHECK prints
 * its operands and ends its test, not the run. In a thread other than the one that runs the test it
 * is noted and the thread goes on. A test also fails when it takes longer than its time, or leaves
 * a block of test_heap() alive.
 *
 * Texts, files and directories that the library makes for a test live until the test ends.
 */
#ifndef TEST_LIB_TEST_H
#define TEST_LIB_TEST_H

#include "lib/files.h"
#include "lib/heap.h"
#include "lib/postgres.h"
#include "lib/random.h"

#include "loci.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Declaring ------------------------------------------------------------------------------- */

/* Which stores a test is about (lib/postgres.h): in a run on others there is no such test. */
typedef enum test_stores { TEST_ALL_STORES, TEST_FILES, TEST_SERVERS } test_stores;

typedef struct test_case {
    const char *suite;
    const char *name;
    void (*run)(void);
    test_stores stores;
    struct test_case *next;
} test_case;

void test_register(test_case *test);

#define TEST(suite_, name_) TEST_ON(TEST_ALL_STORES, suite_, name_)
#define TEST_ON(stores_, suite_, name_)                                                            \
    static void test_run_##suite_##_##name_(void);                                                 \
    __attribute__((constructor)) static void test_add_##suite_##_##name_(void)                     \
    {                                                                                              \
        static test_case test = {#suite_, #name_, test_run_##suite_##_##name_, stores_, NULL};     \
        test_register(&test);                                                                      \
    }                                                                                              \
    static void test_run_##suite_##_##name_(void)

/* ---- Checking -------------------------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            test_fail(__FILE__, __LINE__, "CHECK(%s)", #condition);                                \
    } while (0)

/* Integers of any type: the values are compared, so -1 never equals UINT64_MAX. */
#define CHECK_EQ(a, b) test_check_int(TEST_SITE("EQ", a, b), TEST_INT(a), TEST_EQ, TEST_INT(b))
#define CHECK_NE(a, b) test_check_int(TEST_SITE("NE", a, b), TEST_INT(a), TEST_NE, TEST_INT(b))
#define CHECK_LT(a, b) test_check_int(TEST_SITE("LT", a, b), TEST_INT(a), TEST_LT, TEST_INT(b))
#define CHECK_LE(a, b) test_check_int(TEST_SITE("LE", a, b), TEST_INT(a), TEST_LE, TEST_INT(b))

/* Text: each side is a loci_str or a terminated char pointer. */
#define CHECK_STR_EQ(a, b) test_check_str(TEST_SITE("STR_EQ", a, b), TEST_STR(a), TEST_STR(b))
#define CHECK_CONTAINS(text, part)                                                                 \
    test_check_contains(TEST_SITE("CONTAINS", text, part), TEST_STR(text), TEST_STR(part))
#define CHECK_BYTES(a, a_bytes, b, b_bytes)                                                        \
    test_check_bytes(TEST_SITE("BYTES", a, b), (a), (a_bytes), (b), (b_bytes))

/* `err` is a loci_error or a pointer to one; its message is printed when `status` is not OK. */
#define CHECK_OK(status, err)                                                                      \
    do {                                                                                           \
        loci_status test_status_ = (status);                                                       \
        if (test_status_ != LOCI_OK)                                                               \
            test_fail(__FILE__, __LINE__, "CHECK_OK(%s)\n    status: %s\n    message: %s",         \
                      #status, loci_status_name(test_status_), TEST_MESSAGE(err));                 \
    } while (0)
#define CHECK_STATUS(expected, status)                                                             \
    test_check_status(TEST_SITE("STATUS", expected, status), (expected), (status))

/* Compares `actual` with a file named from the root of the repository, such as
 * "tests/golden/frame.txt". On a difference prints it and keeps the actual text; LOCI_TEST_BLESS=1
 * makes it the expected one. */
#define CHECK_GOLDEN(path, actual)                                                                 \
    test_check_golden(TEST_SITE("GOLDEN", path, actual), (path), TEST_STR(actual))

/* Fails the running test; in the test's own thread this does not return. */
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Notes a failure and returns: for places that must not be left by a jump. */
void test_note_failure(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the running test without a result: a resource that it needs is unavailable. */
_Noreturn void test_skip(const char *reason);

/* ---- Running --------------------------------------------------------------------------------- */

/* Gives the running test this long from now on; without it a test has 120 s. Sanitizers and
 * valgrind are slow, so there it is four times that. */
void test_timeout(unsigned seconds);
/* How often to do something random: `full` under LOCI_TEST_FULL=1, else `quick`. */
uint64_t test_count(uint64_t quick, uint64_t full);
/* Whether this was built with a sanitizer. */
bool test_is_sanitized(void);
/* A text that lives until the test ends. */
char *test_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for zeroed bytes, one more than asked for. */
char *test_bytes(size_t bytes);

typedef loci_status test_body(void *ctx);
/* Runs `body`, which allocates from test_heap(), failing its first allocation, then its second, and
 * so on until a run meets no fault: each must answer LOCI_ERESOURCE and leak nothing. */
void test_oom_sweep(test_body *body, void *ctx);

/* ---- Behind the macros ----------------------------------------------------------------------- */

typedef struct test_site {
    const char *file;
    int line;
    const char *text;
} test_site;

typedef struct test_int {
    bool is_negative;
    uint64_t bits;
} test_int;

typedef enum test_op { TEST_EQ, TEST_NE, TEST_LT, TEST_LE } test_op;

#define TEST_SITE(what, a, b) ((test_site){__FILE__, __LINE__, "CHECK_" what "(" #a ", " #b ")"})
#define TEST_INT(x)                                                                                \
    _Generic((x), bool                                                                             \
             : test_int_unsigned, unsigned char                                                    \
             : test_int_unsigned, unsigned short                                                   \
             : test_int_unsigned, unsigned int                                                     \
             : test_int_unsigned, unsigned long                                                    \
             : test_int_unsigned, unsigned long long                                               \
             : test_int_unsigned, default                                                          \
             : test_int_signed)(x)
#define TEST_STR(x) _Generic((x), loci_str : test_str_same, default : test_str_terminated)(x)
#define TEST_MESSAGE(x)                                                                            \
    _Generic((x), loci_error : test_message_of_value, default : test_message_of_pointer)(x)

test_int test_int_signed(long long value);
test_int test_int_unsigned(unsigned long long value);
loci_str test_str_same(loci_str value);
loci_str test_str_terminated(const char *value);
const char *test_message_of_value(loci_error err);
const char *test_message_of_pointer(const loci_error *err);

void test_check_int(test_site site, test_int a, test_op op, test_int b);
void test_check_str(test_site site, loci_str a, loci_str b);
void test_check_contains(test_site site, loci_str text, loci_str part);
void test_check_bytes(test_site site, const void *a, size_t a_bytes, const void *b, size_t b_bytes);
void test_check_status(test_site site, loci_status expected, loci_status actual);
void test_check_golden(test_site site, const char *path, loci_str actual);

/* The run itself, called by main(). */
int test_main(int argc, char **argv);

#endif /* TEST_LIB_TEST_H */
