/* daemon.h - a `loci serve` for a test, and raw talk with it.
 *
 *     test_daemon daemon = test_daemon_start(NULL);
 *     test_answer answer = test_ask(&daemon, "GET /livez", daemon.token, NULL);
 *     CHECK_EQ(answer.status, 200);
 *     test_daemon_stop(&daemon);
 *
 * Only one daemon runs at a time. A daemon that a failing test leaves behind is killed by its
 * process id before the next one starts. Texts live until the test ends.
 */
#ifndef TEST_SERVER_DAEMON_H
#define TEST_SERVER_DAEMON_H

#include "lib/process.h"
#include "lib/test.h"

#define TEST_TOKEN_BYTES 96

typedef struct test_daemon {
    test_process process;
    const char *store;
    int port;
    char token[TEST_TOKEN_BYTES]; /* Of an administrator. */
} test_daemon;

/* On a free port of this machine. `settings` are such as "server.header_timeout_ms=500" and end
 * with NULL; or NULL. */
test_daemon test_daemon_start(const char *const *settings);
/* The same on a store that exists. */
test_daemon test_daemon_start_on(const char *store, const char *const *settings);
/* Sends SIGTERM; the daemon must exit with 0 and no sanitizer report. Its log is in process.err. */
void test_daemon_stop(test_daemon *daemon);
/* The same for a caller that has already sent the signal. */
void test_daemon_wait(test_daemon *daemon);

int test_daemon_descriptors(const test_daemon *daemon);    /* Sockets and event descriptors. */
int64_t test_daemon_memory_kib(const test_daemon *daemon); /* Anonymous, resident. */
/* Checks that it lives and has closed its descriptors: at most `descriptors` within 5 s. */
void test_daemon_check(const test_daemon *daemon, int descriptors);

int64_t test_now_ms(void);
void test_sleep_ms(int64_t ms);

/* ---- Talk ------------------------------------------------------------------------------------ */

typedef struct test_answer {
    int status;    /* 0 = there was none. */
    loci_str head; /* Status line and headers. */
    loci_str body;
} test_answer;

/* A connected socket; sending and receiving wait at most 10 s. Fails the test. */
int test_connect(const test_daemon *daemon);
/* Any thread; -1 when it is refused. */
int test_try_connect(int port);
/* Any thread; false when the other side does not take it. */
bool test_send(int socket, loci_str bytes);
/* Everything until the other side ends, or is silent for 10 s; at most 16 MiB. */
loci_str test_receive_all(int socket);
/* The answers in `text`, one after the other, at most `max`; `*out_rest` is what follows. */
size_t test_split_answers(loci_str text, test_answer *out, size_t max, loci_str *out_rest);
/* One answer with a length into `buffer`, for keep-alive; any thread. Zero status: none came. */
test_answer test_receive_one(int socket, char *buffer, size_t bytes);
/* The body of the first answer in `text`, whose chunks are joined in place; terminated.
 * `*out_is_whole`, which may be NULL, is set to whether its last chunk came. */
loci_str test_unchunk(loci_str text, bool *out_is_whole);
/* Whether the other side ended the connection within this time, with or without an answer. */
bool test_is_cut(int socket, int64_t within_ms);

/* One request on a connection of its own. `line` is "GET /v1/facts"; token and body may be NULL. */
test_answer test_ask(const test_daemon *daemon, const char *line, const char *token,
                     const char *body);

#endif /* TEST_SERVER_DAEMON_H */
