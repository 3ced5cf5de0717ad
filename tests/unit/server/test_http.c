#include "server/http.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/server/http_fixture.h"

/* ---- Answering ------------------------------------------------------------------------------- */

TEST(http, answers_and_keeps_the_connection)
{
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    for (int i = 0; i < 3; i++) {
        reply r;

        client_send(&c, "POST /echo?a=1 HTTP/1.1\r\nHost: localhost\r\n"
                        "X-Request-Id: mine-1\r\nContent-Length: 5\r\n\r\nhello");
        r = client_reply(&c);
        CHECK_EQ(r.status, 200);
        CHECK_STR_EQ(r.body, "hello");
        CHECK_CONTAINS(r.head, "Trace-Id: mine-1\r\n");
        CHECK_CONTAINS(r.head, "Cache-Control: no-store\r\n");
        CHECK_CONTAINS(r.head, "Content-Type: text/plain\r\n");
    }
    CHECK_EQ(lc_http_get_counters(fix.http).requests, 3);
    CHECK_EQ(lc_http_get_counters(fix.http).connections, 1);
    CHECK_EQ(atomic_load(&fix.answered), 3);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, answers_pipelined_requests_in_order)
{
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\none"
                    "GET /defer?ms=30 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nthree" GET(
                        "/echo"));
    CHECK_STR_EQ(client_reply(&c).body, "one");
    CHECK_STR_EQ(client_reply(&c).body, "later");
    CHECK_STR_EQ(client_reply(&c).body, "three");
    CHECK_EQ(client_reply(&c).status, 200);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, decodes_the_query)
{
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, GET("/query?a=%41%20b+c&empty=&bare&%3d=x"));
    CHECK_STR_EQ(client_reply(&c).body, "a=A b c;empty=;bare=;==x;");
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, writes_errors_as_problems)
{
    fixture fix;
    client c;
    reply r;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, "GET /error HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: q7\r\n\r\n");
    r = client_reply(&c);
    CHECK_EQ(r.status, 409);
    CHECK_CONTAINS(r.head, "Content-Type: application/problem+json\r\n");
    CHECK_STR_EQ(r.body, "{\"type\":\"about:blank\",\"title\":\"Conflict\",\"status\":409,"
                         "\"detail\":\"fact_1 has changed\",\"code\":\"conflict\","
                         "\"trace_id\":\"q7\",\"expected\":4}");
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, packs_large_answers_for_those_who_ask)
{
    fixture fix;
    client c;
    reply r;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, "GET /big?bytes=5000 HTTP/1.1\r\nHost: localhost\r\n"
                    "Accept-Encoding: gzip\r\n\r\n" GET("/big?bytes=5000"));
    r = client_reply(&c);
    CHECK_CONTAINS(r.head, "Content-Encoding: gzip\r\n");
    CHECK_LT(r.body_bytes, 200);
    CHECK_EQ(client_reply(&c).body_bytes, 5000);
    client_close(&c);
    fixture_stop(&fix);
}

/* ---- Deferring ------------------------------------------------------------------------------- */

TEST(http, answers_from_other_threads)
{
    enum { CLIENTS = 32, ROUNDS = 10 };
    fixture fix;
    client clients[CLIENTS];

    fixture_start(&fix, FIXTURE_USUAL);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = client_open(&fix);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++)
            client_send(&clients[i], i % 2 == 0 ? GET("/defer?ms=0") : GET("/defer?ms=3"));
        for (int i = 0; i < CLIENTS; i++)
            CHECK_STR_EQ(client_reply(&clients[i]).body, "later");
    }
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    fixture_stop(&fix);
}

/* Answers that wait for a flush are all sent by it, though it resumes one connection only. */
TEST(http, one_flush_sends_all_answers)
{
    enum { CLIENTS = 32 };
    fixture fix;
    client clients[CLIENTS];
    int early = 0;

    fixture_start(&fix, (lc_http_options){.wakes_on_flush = true});
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fix);
        client_send(&clients[i], GET("/defer?ms=100"));
    }
    fixture_await(&fix.answered, CLIENTS);
    fixture_await(&fix.threads, 0);
    for (int i = 0; i < CLIENTS; i++)
        early += poll(&(struct pollfd){.fd = clients[i].fd, .events = POLLIN}, 1, 0);
    CHECK_LT(early, CLIENTS / 2); /* On a slow machine some are answered before they wait. */
    lc_http_flush(fix.http);
    for (int i = 0; i < CLIENTS; i++) {
        CHECK_STR_EQ(client_reply(&clients[i]).body, "later");
        client_close(&clients[i]);
    }
    lc_http_flush(fix.http); /* With nothing to send. */
    fixture_stop(&fix);
}

/* An answer that was given and not flushed keeps no server from stopping, and is freed. */
TEST(http, stops_with_an_unflushed_answer)
{
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.wakes_on_flush = true});
    c = client_open(&fix);
    client_send(&c, GET("/defer?ms=50"));
    fixture_await(&fix.answered, 1);
    fixture_stop(&fix);
    CHECK(client_is_cut(&c, 10000));
    client_close(&c);
}

/* The client is answered although the worker is stuck; the worker's late answer is dropped. */
TEST(http, answers_504_when_the_deadline_passes)
{
    fixture fix;
    client c;
    reply r;

    fixture_start(&fix, (lc_http_options){.limits = {.answer_timeout_ms = 100}});
    c = client_open(&fix);
    client_send(&c, GET("/hold"));
    r = client_reply(&c);
    CHECK_EQ(r.status, 504);
    CHECK_CONTAINS(r.body, "\"code\":\"deadline_exceeded\"");
    CHECK(__atomic_load_n(fix.held_cancel, __ATOMIC_RELAXED) != 0);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nok");
    CHECK_STR_EQ(client_reply(&c).body, "ok");
    fixture_release(&fix);
    CHECK_EQ(atomic_load(&fix.answered), 2);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, cancels_what_nobody_waits_for)
{
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, GET("/hold"));
    fixture_await_held(&fix);
    CHECK_EQ(__atomic_load_n(fix.held_cancel, __ATOMIC_RELAXED), 0);
    client_close(&c);
    for (int i = 0; i < 10000 && __atomic_load_n(fix.held_cancel, __ATOMIC_RELAXED) == 0; i++)
        lc_clock_sleep_us(1000);
    CHECK(__atomic_load_n(fix.held_cancel, __ATOMIC_RELAXED) != 0);
    fixture_release(&fix);
    fixture_stop(&fix);
}

static void *stop_server(void *ctx)
{
    fixture *fix = ctx;

    lc_http_stop(fix->http);
    atomic_fetch_sub(&fix->threads, 1);
    return NULL;
}

/* The client is not kept waiting, but what the callbacks use must not be freed before the thread
 * that has the request has answered: a daemon would crash when it ends. */
TEST(http, stops_only_when_a_held_request_is_answered)
{
    fixture fix;
    pthread_t stopping;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, GET("/hold"));
    fixture_await_held(&fix);
    CHECK(!lc_http_wait_idle(fix.http, 20));
    atomic_fetch_add(&fix.threads, 1);
    CHECK_EQ(pthread_create(&stopping, NULL, stop_server, &fix), 0);
    CHECK(client_is_cut(&c, 10000));
    CHECK(__atomic_load_n(fix.held_cancel, __ATOMIC_RELAXED) != 0);
    lc_clock_sleep_us(20000);
    CHECK_EQ(atomic_load(&fix.threads), 1);
    fixture_release(&fix);
    pthread_join(stopping, NULL);
    pthread_mutex_destroy(&fix.lock);
    client_close(&c);
}

/* Between two requests of a busy client the server is idle for a moment. A request that comes after
 * that moment must not be begun and then ended with 504. */
TEST(http, begins_no_request_once_it_was_idle)
{
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, GET("/echo"));
    CHECK_EQ(client_reply(&c).status, 200);
    CHECK(lc_http_wait_idle(fix.http, 10000));
    client_send(&c, GET("/echo"));
    CHECK(client_is_cut(&c, 10000));
    CHECK_EQ(atomic_load(&fix.handled), 1);
    client_close(&c);
    fixture_stop(&fix);
}

/* ---- Draining -------------------------------------------------------------------------------- */

TEST(http, drains)
{
    fixture fix;
    client idle, busy, stream;
    reply r;

    fixture_start(&fix, FIXTURE_USUAL);
    idle = client_open(&fix);
    busy = client_open(&fix);
    stream = client_open(&fix);
    client_send(&idle, GET("/echo"));
    CHECK_EQ(client_reply(&idle).status, 200);
    client_send(&stream, GET("/stream"));
    client_send(&busy, GET("/defer?ms=200"));
    fixture_await(&fix.handled, 3);
    lc_http_drain(fix.http);
    /* An open connection gets its next reply, and that is its last. */
    client_send(&idle, GET("/echo"));
    r = client_reply(&idle);
    CHECK_EQ(r.status, 200);
    CHECK_CONTAINS(r.head, "Connection: close\r\n");
    CHECK(client_is_cut(&idle, 10000));
    CHECK(lc_http_wait_idle(fix.http, 10000));
    CHECK_STR_EQ(client_reply(&busy).body, "later");
    CHECK(client_hears(&stream, "\r\n0\r\n\r\n"));
    CHECK_EQ(atomic_load(&fix.closed), 1);
    client_close(&idle);
    client_close(&busy);
    client_close(&stream);
    fixture_stop(&fix);
}

/* ---- Sockets --------------------------------------------------------------------------------- */

TEST(http, knows_who_is_at_the_unix_socket)
{
    const char *path = test_path(test_tmpdir(), "s");
    struct stat file;
    fixture fix;
    client c, tcp;

    fixture_start(&fix, (lc_http_options){.socket_path = path});
    CHECK_EQ(stat(path, &file), 0);
    CHECK_EQ(file.st_mode & 0777, 0600);
    c = client_open_unix(path);
    client_send(&c, GET("/uid"));
    CHECK_STR_EQ(client_reply(&c).body, test_format("%ld", (long)getuid()));
    tcp = client_open(&fix);
    client_send(&tcp, GET("/uid"));
    CHECK_STR_EQ(client_reply(&tcp).body, "-1");
    client_close(&c);
    client_close(&tcp);
    fixture_stop(&fix);
    CHECK_NE(stat(path, &file), 0);
}

TEST(http, serves_a_unix_socket_alone)
{
    const char *path = test_path(test_tmpdir(), "s");
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.listen = test_format("unix:%s", path)});
    CHECK_EQ(lc_http_port(fix.http), 0);
    c = client_open_unix(path);
    client_send(&c, GET("/defer?ms=1"));
    CHECK_STR_EQ(client_reply(&c).body, "later");
    client_send(&c, GET("/stream"));
    fixture_await(&fix.handled, 2);
    fixture_say(&fix, "word");
    CHECK(client_hears(&c, "<word>"));
    client_close(&c);
    fixture_await(&fix.closed, 1);
    fixture_stop(&fix);
}

static loci_status try_start(const char *listen, const char *path, loci_error *err)
{
    lc_env env = {.clock = lc_clock_system_us};
    lc_http *http;
    loci_status status;

    lc_heap_init(&env.heap, test_heap());
    lc_random_init(&env.random, 1);
    status = lc_http_start(&env, &(lc_http_options){.listen = listen, .socket_path = path}, &http,
                           err);
    if (status == LOCI_OK)
        lc_http_stop(http);
    return status;
}

TEST(http, says_why_it_cannot_listen)
{
    const char *path = test_path(test_tmpdir(), "s");
    loci_error err;
    fixture fix;

    fixture_start(&fix, (lc_http_options){.socket_path = path});
    CHECK_STATUS(LOCI_ECONFLICT,
                 try_start(test_format("127.0.0.1:%d", lc_http_port(fix.http)), NULL, &err));
    CHECK_CONTAINS(err.message, "in use");
    CHECK_STATUS(LOCI_ECONFLICT, try_start(NULL, path, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start(NULL, NULL, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start("nowhere", NULL, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start("127.0.0.1", NULL, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start("::1:80", NULL, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start("127.0.0.1:65536", NULL, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start("unix:", NULL, &err));
    CHECK_STATUS(LOCI_EINVAL, try_start("unix:/tmp/a", "/tmp/b", &err));
    CHECK_STATUS(LOCI_OK, try_start("localhost:0", NULL, &err));
    fixture_stop(&fix);
}

/* The socket that a killed process left behind does not prevent a new start. */
TEST(http, replaces_a_stale_socket_but_nothing_else)
{
    const char *path = test_path(test_tmpdir(), "s");
    const char *file = test_path(test_tmpdir(), "file");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un {
        sa_family_t family;
        char path[108];
    } address = {.family = AF_UNIX};
    loci_error err;

    snprintf(address.path, sizeof address.path, "%s", path);
    CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    CHECK_OK(try_start(NULL, path, &err), err);
    test_write_file(file, LC_STR("precious"));
    CHECK_STATUS(LOCI_ECONFLICT, try_start(NULL, file, &err));
    CHECK_EQ(access(file, F_OK), 0);
}

/* ---- All at once ----------------------------------------------------------------------------- */

typedef struct crowd {
    fixture *fix;
    test_rng rng;
    _Atomic int *left;
} crowd;

static void *be_one_of_a_crowd(void *ctx)
{
    static const char *const sayings[] = {
        GET("/echo"),
        GET("/defer?ms=1"),
        GET("/defer?ms=0") GET("/echo") GET("/stream"),
        GET("/stream"),
        GET("/flood"),
        GET("/beat"),
        GET("/big?bytes=100000"),
        "GET /echo HTTP/1.1\r\nHost: loc",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nfull" GET("/error"),
        "\001\002\003\r\n\r\n",
    };
    crowd *one = ctx;
    char heard[4096];

    for (uint64_t i = 0; i < test_count(60, 2000); i++) {
        size_t what = test_rng_below(&one->rng, sizeof sayings / sizeof sayings[0]);
        int fd = client_connect(one->fix);

        if (fd < 0)
            break; /* The server has stopped. */
        (void)send(fd, sayings[what], strlen(sayings[what]), MSG_NOSIGNAL);
        lc_clock_sleep_us((int64_t)test_rng_below(&one->rng, 3000));
        if (test_rng_below(&one->rng, 2) == 0)
            (void)recv(fd, heard, sizeof heard, MSG_DONTWAIT);
        close(fd);
    }
    atomic_fetch_sub(one->left, 1);
    return NULL;
}

/* Without memory a request is dropped, at worst with its connection; the next one is served. */
TEST(http, survives_without_memory)
{
    fixture fix;

    fixture_start(&fix, FIXTURE_USUAL);
    for (uint64_t nth = 1; nth <= 12; nth++) {
        client c = client_open(&fix);

        test_heap_fail_nth(nth);
        client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody"
                        "GET /defer?ms=0 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                        "GET /nobody HTTP/1.1\r\nHost: evil.com\r\n\r\n");
        CHECK(client_is_cut(&c, 10000));
        test_heap_disarm();
        client_close(&c);
        c = client_open(&fix);
        client_send(&c, GET("/echo"));
        CHECK_EQ(client_reply(&c).status, 200);
        client_close(&c);
    }
    fixture_stop(&fix);
}

/* Nothing crashes, leaks or hangs, whatever clients do and whenever the server stops. */
TEST(http, survives_a_crowd)
{
    enum { THREADS = 8 };
    lc_http_limits limits = {.idle_timeout_ms = 200,
                             .header_timeout_ms = 100,
                             .body_timeout_ms = 100,
                             .answer_timeout_ms = 50};
    pthread_t threads[THREADS];
    crowd crowds[THREADS];
    _Atomic int left = THREADS;
    fixture fix;

    fixture_start(&fix, (lc_http_options){.limits = limits});
    for (int i = 0; i < THREADS; i++) {
        crowds[i] = (crowd){.fix = &fix, .rng = test_random((uint64_t)i), .left = &left};
        CHECK_EQ(pthread_create(&threads[i], NULL, be_one_of_a_crowd, &crowds[i]), 0);
    }
    for (int word = 0; atomic_load(&left) > THREADS / 2; word++) {
        if (word < 50)
            fixture_say(&fix, "word");
        lc_clock_sleep_us(2000);
    }
    lc_http_drain(fix.http);
    (void)lc_http_wait_idle(fix.http, 100);
    fixture_stop(&fix);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Before the body ------------------------------------------------------------------------- */

static reply ask_first(fixture *fix, client *c, const char *decision, const char *expect)
{
    *c = client_open(fix);
    client_send(c, test_format("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                               "X-Admit: %s\r\n%s\r\n",
                               decision, expect));
    return client_reply(c);
}

/* A client that sends no body, because it waits for "100 Continue" or wants to keep the server
 * busy, is answered from the head alone. */
TEST(http, refuses_a_request_before_its_body)
{
    static const char *const decisions[] = {"no", "not later"};
    static const char *const expects[] = {"", "Expect: 100-continue\r\n"};
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(ask_first(&fix, &c, decisions[i / 2], expects[i % 2]).status, 401);
        CHECK(client_is_cut(&c, 10000)); /* Where the next request begins is not known. */
        client_close(&c);
    }
    CHECK_EQ(atomic_load(&fix.handled), 0);
    fixture_stop(&fix);
}

TEST(http, asks_for_the_body_of_an_admitted_request)
{
    fixture fix;
    client c;
    reply r;

    fixture_start(&fix, FIXTURE_USUAL);
    r = ask_first(&fix, &c, "later", "Expect: 100-continue\r\n");
    CHECK_EQ(r.status, 100);
    client_send(&c, "abc");
    r = client_reply(&c);
    CHECK_EQ(r.status, 200);
    CHECK_BYTES(r.body, r.body_bytes, "abc", 3);
    /* The body may be on its way already. */
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                    "X-Admit: later\r\n\r\ndefGET /defer?ms=1 HTTP/1.1\r\nHost: localhost\r\n"
                    "X-Admit: later\r\n\r\n");
    r = client_reply(&c);
    CHECK_BYTES(r.body, r.body_bytes, "def", 3);
    r = client_reply(&c);
    CHECK_BYTES(r.body, r.body_bytes, "later", 5);
    client_close(&c);
    fixture_stop(&fix);
}

/* A server that stops while the decision is open, and one whose decision comes too late. */
TEST(http, ends_while_a_decision_is_open)
{
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.limits = {.answer_timeout_ms = 20}});
    CHECK_EQ(ask_first(&fix, &c, "later", "").status, 504);
    client_close(&c);
    fixture_stop(&fix);
    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                    "X-Admit: later\r\n\r\n");
    fixture_await(&fix.threads, 1);
    fixture_stop(&fix);
    client_close(&c);
}
