/* test.c - the registry of tests, the memory of the running test, and the runner.
 *
 * A failing CHECK in the thread of the runner jumps back to it; elsewhere, and in a forked child,
 * there is nowhere to jump to: a thread notes the failure and goes on, a child prints it and ends.
 */
#include "lib/test.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_SECONDS 120
#define SLOW_FACTOR 4
#define OOM_RUNS_MAX 1000000
#define TESTS_MAX 65536

typedef struct kept {
    struct kept *next;
    char text[];
} kept;

static test_case *registered;

static struct {
    pthread_mutex_t lock; /* Over `has_failed`, `texts` and printing. */
    const test_case *test;
    pthread_t thread;
    pid_t pid;
    jmp_buf end;
    bool has_failed;
    bool was_skipped;
    kept *texts;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned passed_count;
static unsigned failed_count;

void test_register(test_case *test)
{
    if (test->stores == (test_is_postgres() ? TEST_FILES : TEST_SERVERS))
        return;
    test->next = registered;
    registered = test;
}

/* ---- Functions for tests --------------------------------------------------------------------- */

bool test_is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

void test_timeout(unsigned seconds)
{
    bool is_slow = test_is_sanitized() || getenv("LOCI_TEST_SLOW") != NULL;

    alarm(is_slow ? seconds * SLOW_FACTOR : seconds);
}

uint64_t test_count(uint64_t quick, uint64_t full)
{
    const char *asked = getenv("LOCI_TEST_FULL");

    return asked != NULL && strcmp(asked, "1") == 0 ? full : quick;
}

char *test_bytes(size_t bytes)
{
    kept *text = calloc(1, sizeof *text + bytes + 1);

    if (text == NULL)
        abort();
    pthread_mutex_lock(&running.lock);
    text->next = running.texts;
    running.texts = text;
    pthread_mutex_unlock(&running.lock);
    return text->text;
}

char *test_format(const char *format, ...)
{
    va_list list;
    int bytes;
    char *text;

    va_start(list, format);
    bytes = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (bytes < 0)
        abort();
    text = test_bytes((size_t)bytes);
    va_start(list, format);
    vsnprintf(text, (size_t)bytes + 1, format, list);
    va_end(list);
    return text;
}

static void forget_texts(void)
{
    while (running.texts != NULL) {
        kept *next = running.texts->next;

        free(running.texts);
        running.texts = next;
    }
}

/* ---- Failing --------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 0))) static void note_failure(const char *file, int line,
                                                               const char *format, va_list list)
{
    uint64_t seed;

    pthread_mutex_lock(&running.lock);
    if (!running.has_failed && running.test != NULL)
        printf("FAIL %s.%s\n", running.test->suite, running.test->name);
    running.has_failed = true;
    printf("  %s:%d: ", file, line);
    vprintf(format, list);
    printf("\n");
    if (test_random_was_used(&seed))
        printf("    seed:  LOCI_TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    pthread_mutex_unlock(&running.lock);
}

void test_note_failure(const char *file, int line, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    note_failure(file, line, format, list);
    va_end(list);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    note_failure(file, line, format, list);
    va_end(list);
    if (getpid() != running.pid)
        _exit(1);
    if (pthread_equal(pthread_self(), running.thread))
        longjmp(running.end, 1);
}

void test_skip(const char *reason)
{
    printf("skip %s.%s: %s\n", running.test->suite, running.test->name, reason);
    running.was_skipped = true;
    longjmp(running.end, 1);
}

void test_oom_sweep(test_body *body, void *ctx)
{
    size_t live_before = test_heap_live_blocks();

    for (uint32_t nth = 1; nth <= OOM_RUNS_MAX; nth++) {
        test_heap_fail_nth(nth);
        loci_status status = body(ctx);
        bool was_injected = test_heap_disarm();
        loci_status expected = was_injected ? LOCI_ERESOURCE : LOCI_OK;

        if (test_heap_live_blocks() != live_before || status != expected)
            test_fail(__FILE__, __LINE__,
                      "out of memory at request %u: expected %s, got %s; %zu blocks alive, not %zu",
                      nth, loci_status_name(expected), loci_status_name(status),
                      test_heap_live_blocks(), live_before);
        if (!was_injected)
            return;
    }
    test_fail(__FILE__, __LINE__, "sweep did not end: is an allocation retried in a loop?");
}

/* The last words of a run that cannot go on: out of time, or crashed. Only calls that are safe in a
 * signal handler; snprintf of plain numbers and text is, in the C libraries we run on. */
static void say_last_words(const char *what)
{
    char words[512];
    int bytes = snprintf(words, sizeof words, "\nFAIL %s.%s\n  %s\n%u passed, %u failed\n",
                         running.test == NULL ? "?" : running.test->suite,
                         running.test == NULL ? "?" : running.test->name, what, passed_count,
                         failed_count + 1);

    if (write(STDOUT_FILENO, words, (size_t)bytes) < 0)
        _exit(2);
}

static void on_alarm(int number)
{
    (void)number;
    say_last_words("took too long; test_timeout() gives it more");
    _exit(1);
}

static void on_crash(int number)
{
    say_last_words(number == SIGABRT ? "aborted" : "crashed");
    /* SA_RESETHAND: this time the process dies of it. */
    raise(number);
}

static void catch_signals(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = on_alarm};

    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (test_is_sanitized())
        return;
    action = (struct sigaction){.sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i], &action, NULL);
}

/* ---- The run --------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_one(const test_case *test)
{
    running.test = test;
    running.has_failed = false;
    running.was_skipped = false;
    test_heap_reset();
    test_random_reset();
    test_timeout(TIMEOUT_SECONDS);

    if (setjmp(running.end) == 0) {
        test->run();
        test_heap_check_empty();
    }

    alarm(0);
    test_heap_disarm();
    test_files_end(running.has_failed);
    forget_texts();
    if (running.has_failed)
        failed_count++;
    else if (!running.was_skipped)
        passed_count++;
    running.test = NULL;
}

/* LOCI_TEST_PART=2/3: the suites are dealt out in three parts, and this is the second. */
static bool is_of_part(const char *suite)
{
    const char *asked = getenv("LOCI_TEST_PART");
    unsigned part, parts, sum = 0;

    if (asked == NULL || sscanf(asked, "%u/%u", &part, &parts) != 2 || parts == 0)
        return true;
    for (; *suite != '\0'; suite++)
        sum = sum * 31 + (unsigned char)*suite;
    return sum % parts + 1 == part;
}

/* By suite, then in the order of the file: constructors ran in that order, the list is reversed. */
static size_t collect(const test_case **tests, char **prefixes, int prefix_count)
{
    static char name[1024];
    size_t count = 0;

    for (const test_case *test = registered; test != NULL; test = test->next) {
        bool is_wanted = prefix_count == 0 && is_of_part(test->suite);

        snprintf(name, sizeof name, "%s.%s", test->suite, test->name);
        for (int i = 0; i < prefix_count && !is_wanted; i++)
            is_wanted = strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
        if (is_wanted && count < TESTS_MAX)
            tests[count++] = test;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const test_case *other = tests[i];

        tests[i] = tests[count - 1 - i];
        tests[count - 1 - i] = other;
    }
    return count;
}

static void sort_by_suite(const test_case **tests, size_t count)
{
    /* Insertion: stable, and the input is nearly sorted because a suite is usually one file. */
    for (size_t i = 1; i < count; i++) {
        const test_case *test = tests[i];
        size_t at = i;

        for (; at > 0 && strcmp(tests[at - 1]->suite, test->suite) > 0; at--)
            tests[at] = tests[at - 1];
        tests[at] = test;
    }
}

static void run_all(const test_case **tests, size_t count)
{
    for (size_t i = 0; i < count;) {
        const char *suite = tests[i]->suite;
        unsigned failed_before = failed_count;
        double start_s = now_s();
        size_t first = i;

        for (; i < count && strcmp(tests[i]->suite, suite) == 0; i++)
            run_one(tests[i]);
        printf("%-4s %-32s %4zu tests %8.2f s\n", failed_count == failed_before ? "ok" : "FAIL",
               suite, i - first, now_s() - start_s);
        fflush(stdout);
    }
}

int test_main(int argc, char **argv)
{
    static const test_case *tests[TESTS_MAX];
    bool is_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    int skipped_args = is_list ? 2 : 1;
    size_t count = collect(tests, argv + skipped_args, argc - skipped_args);

    sort_by_suite(tests, count);
    if (is_list) {
        for (size_t i = 0; i < count; i++)
            printf("%s.%s\n", tests[i]->suite, tests[i]->name);
        return 0;
    }

    running.pid = getpid();
    running.thread = pthread_self();
    catch_signals();
    run_all(tests, count);
    if (count == 0)
        printf("no test has such a name; --list shows them all\n");
    printf("%u passed, %u failed\n", passed_count, failed_count);
    return failed_count > 0 || count == 0;
}
