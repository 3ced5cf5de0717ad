#include "server/http.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/server/http_fixture.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static const lc_http_options usual = {0};

/* ---- Answering ------------------------------------------------------------------------------- */

TEST(http, answers_and_keeps_the_connection)
{
    fixture fix;
    client c;

    fixture_start(&fix, usual);
    c = client_open(&fix);
    for (int i = 0; i < 3; i++) {
        reply r;

        client_send(&c, "POST /echo?a=1 HTTP/1.1\r\nHost: localhost\r\n"
                        "X-Request-Id: mine-1\r\nContent-Length: 5\r\n\r\nhello");
        r = client_reply(&c);
        CHECK_EQ(r.status, 200);
        CHECK_STR_EQ(r.body, "hello");
        CHECK_CONTAINS(r.head, "X-Request-Id: mine-1\r\n");
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

    fixture_start(&fix, usual);
    c = client_open(&fix);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\none"
                    "GET /defer?ms=30 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "3\r\nthr\r\n2\r\nee\r\n0\r\n\r\n" GET("/echo"));
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

    fixture_start(&fix, usual);
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

    fixture_start(&fix, usual);
    c = client_open(&fix);
    client_send(&c, "GET /error HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: q7\r\n\r\n");
    r = client_reply(&c);
    CHECK_EQ(r.status, 409);
    CHECK_CONTAINS(r.head, "Content-Type: application/problem+json\r\n");
    CHECK_STR_EQ(r.body, "{\"type\":\"about:blank\",\"title\":\"Conflict\",\"status\":409,"
                         "\"detail\":\"fact_1 has changed\",\"code\":\"conflict\","
                         "\"request_id\":\"q7\",\"expected\":4}");
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, packs_large_answers_for_those_who_ask)
{
    fixture fix;
    client c;
    reply r;

    fixture_start(&fix, usual);
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

    fixture_start(&fix, usual);
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

/* The worker may be stuck; the client is not. What the worker says later goes nowhere. */
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
    CHECK(*fix.held_cancel != 0);
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

    fixture_start(&fix, usual);
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

TEST(http, stops_while_a_request_is_held)
{
    fixture fix;
    client c;

    fixture_start(&fix, usual);
    c = client_open(&fix);
    client_send(&c, GET("/hold"));
    fixture_await_held(&fix);
    CHECK(!lc_http_wait_idle(fix.http, 20));
    lc_http_stop(fix.http);
    CHECK(*fix.held_cancel != 0);
    fixture_release(
        &fix); /* Into the void: it frees the request, and what is left of the server. */
    pthread_mutex_destroy(&fix.lock);
    client_close(&c);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static int status_of_body(const fixture *fix, size_t bytes, bool is_chunked)
{
    client c = client_open(fix);
    char *body = test_bytes(bytes);
    int status;

    memset(body, 'b', bytes);
    if (is_chunked)
        client_send(&c, test_format("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n",
                                    bytes, body));
    else
        client_send(&c, test_format("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                                    "Content-Length: %zu\r\n\r\n%s",
                                    bytes, body));
    status = client_reply(&c).status;
    client_close(&c);
    return status;
}

TEST(http, holds_the_limit_of_the_body)
{
    fixture fix;

    fixture_start(&fix, (lc_http_options){.limits = {.body_bytes_max = 1000}});
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        CHECK_EQ(status_of_body(&fix, 999, is_chunked), 200);
        CHECK_EQ(status_of_body(&fix, 1000, is_chunked), 200);
        CHECK_EQ(status_of_body(&fix, 1001, is_chunked), 413);
    }
    CHECK_EQ(lc_http_get_counters(fix.http).refused, 2);
    fixture_stop(&fix);
}

/* A body larger than any buffer on the way. */
TEST(http, takes_large_bodies)
{
    const size_t bytes = 300000;
    fixture fix;
    client c;
    reply r;
    char *body = test_bytes(bytes);

    for (size_t i = 0; i < bytes; i++)
        body[i] = (char)('a' + i % 23);
    fixture_start(&fix, usual);
    c = client_open(&fix);
    client_send(&c, test_format("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
                                "\r\n",
                                bytes));
    client_send_bytes(&c, body, bytes);
    r = client_reply(&c);
    CHECK_BYTES(r.body, r.body_bytes, body, bytes);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, holds_the_limit_of_the_head)
{
    const char *start = "GET /echo HTTP/1.1\r\nHost: localhost\r\nX: ";
    fixture fix;

    fixture_start(&fix, (lc_http_options){.limits = {.header_bytes_max = 4096}});
    for (size_t total = 4095; total <= 4097; total++) {
        client c = client_open(&fix);
        size_t filling = total - strlen(start) - strlen("\r\n\r\n");

        client_send(&c, start);
        client_send(&c, test_format("%0*d\r\n\r\n", (int)filling, 0));
        CHECK_EQ(client_reply(&c).status, total <= 4096 ? 200 : 431);
        CHECK_EQ(client_is_cut(&c, total <= 4096 ? 50 : 10000), total > 4096);
        client_close(&c);
    }
    fixture_stop(&fix);
}

TEST(http, refuses_endless_heads_and_targets)
{
    fixture fix;
    char *endless = test_bytes(100000);
    client c;

    memset(endless, 'a', 100000);
    fixture_start(&fix, usual);
    c = client_open(&fix);
    client_send(&c, "GET /");
    client_send_bytes(&c, endless, 100000);
    CHECK_EQ(client_reply(&c).status, 414);
    client_close(&c);
    c = client_open(&fix);
    client_send(&c, "GET / HTTP/1.1\r\nX: ");
    client_send_bytes(&c, endless, 100000);
    CHECK_EQ(client_reply(&c).status, 431);
    client_close(&c);
    CHECK_EQ(atomic_load(&fix.handled), 0);
    fixture_stop(&fix);
}

TEST(http, holds_the_limit_of_connections)
{
    fixture fix;
    client first, second, third;

    fixture_start(&fix, (lc_http_options){.limits = {.connections_max = 2}});
    first = client_open(&fix);
    second = client_open(&fix);
    client_send(&first, GET("/echo"));
    client_send(&second, GET("/echo"));
    CHECK_EQ(client_reply(&first).status, 200);
    CHECK_EQ(client_reply(&second).status, 200);
    third = client_open(&fix);
    CHECK_EQ(client_reply(&third).status, 503);
    CHECK(client_is_cut(&third, 10000));
    client_close(&first);
    client_close(&third);
    /* The place is free as soon as the loop has seen it. */
    for (int i = 0; i < 10000 && lc_http_get_counters(fix.http).connections > 1; i++)
        lc_clock_sleep_us(1000);
    third = client_open(&fix);
    client_send(&third, GET("/echo"));
    CHECK_EQ(client_reply(&third).status, 200);
    client_close(&second);
    client_close(&third);
    fixture_stop(&fix);
}

TEST(http, holds_the_limit_of_a_peer)
{
    fixture fix;
    client first, second;

    fixture_start(&fix, (lc_http_options){.limits = {.connections_of_peer = 1}});
    first = client_open(&fix);
    client_send(&first, GET("/echo"));
    CHECK_EQ(client_reply(&first).status, 200);
    second = client_open(&fix);
    CHECK(client_is_cut(&second, 10000));
    client_close(&first);
    client_close(&second);
    fixture_stop(&fix);
}

/* ---- Framing --------------------------------------------------------------------------------- */

/* Every one of these is answered with 400 (or as said) and the end of the connection: the request
 * that follows it on the wire is not heard. */
#define A(text, status)                                                                            \
    {                                                                                              \
        "" text, sizeof text - 1, status                                                           \
    }
static const struct {
    const char *text;
    size_t bytes;
    int status; /* 0 = none, only the end. */
} attacks[] = {
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 5\r\n"
      "\r\nabcde",
      400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 3\r\n"
      "\r\nabc",
      400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: +3\r\n\r\nabc", 400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length : 3\r\n\r\nabc", 400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3,3\r\n\r\nabc", 400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n", 400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
      "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:\r\n chunked\r\n\r\n"
      "0\r\n\r\n",
      400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0x3\r\nabc\r\n0\r\n\r\n",
      400),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "-1\r\nabc\r\n0\r\n\r\n",
      400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nX: a\r\n folded\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tfolded\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\n folded\r\nHost: localhost\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\n: nameless\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\nHost: localhost\n\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nX\0Y: b\r\n\r\n", 400),
    A("GET /ec\0ho HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\n\r\n", 400),
    A("GET /echo HTTP/1.0\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    A("GET  /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GET http://localhost/echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GET /query?a=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GET /query?a=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GET /query?a=\303\266 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GE(T /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    A("GET /echo HTTP/1.1\r\nHost: evil.com\r\n\r\n", 421),
    A("GET /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.com\r\n\r\n", 403),
    A("GET /echo HTTP/3.7\r\nHost: localhost\r\n\r\n", 505),
    A("\x16\x03\x01\x02\x01\x01\xfc\x03\x03 TLS\r\n\r\n", 400),
    A("nonsense\r\n\r\n", 0),
};
#undef A

TEST(http, refuses_framing_attacks)
{
    fixture fix;

    fixture_start(&fix, usual);
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        client c = client_open(&fix);
        int status;

        client_send_bytes(&c, attacks[i].text, attacks[i].bytes);
        client_send(&c, GET("/echo"));
        status = client_reply(&c).status;
        if (status != attacks[i].status || !client_is_cut(&c, 10000))
            test_fail(__FILE__, __LINE__, "expected %d and the end, got %d: %s", attacks[i].status,
                      status, attacks[i].text);
        client_close(&c);
    }
    CHECK_EQ(atomic_load(&fix.handled), 0);
    fixture_stop(&fix);
}

/* ---- Slow clients ---------------------------------------------------------------------------- */

/* One byte at a time keeps a connection alive for other servers. */
TEST(http, cuts_slow_heads)
{
    fixture fix;
    client c;
    reply r = {0};
    char byte;

    fixture_start(&fix, (lc_http_options){.limits = {.header_timeout_ms = 300}});
    c = client_open(&fix);
    client_send(&c, GET("/echo"));
    CHECK_EQ(client_reply(&c).status, 200);
    for (int i = 0; i < 300 && r.status == 0; i++) {
        lc_clock_sleep_us(20000);
        client_send(&c, i == 0 ? "GET /echo HTTP/1.1\r\nX: " : "x");
        if (recv(c.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
            r = client_reply(&c);
    }
    CHECK_EQ(r.status, 408);
    CHECK_CONTAINS(r.body, "\"code\":\"deadline_exceeded\"");
    CHECK(client_is_cut(&c, 10000));
    CHECK_EQ(lc_http_get_counters(fix.http).cut, 1);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, cuts_slow_bodies)
{
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.limits = {.body_timeout_ms = 150}});
    c = client_open(&fix);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
    CHECK_EQ(client_reply(&c).status, 408);
    CHECK(client_is_cut(&c, 10000));
    CHECK_EQ(atomic_load(&fix.handled), 0);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, closes_idle_connections_without_a_word)
{
    fixture fix;
    client fresh, used;

    fixture_start(&fix, (lc_http_options){.limits = {.idle_timeout_ms = 150}});
    fresh = client_open(&fix);
    used = client_open(&fix);
    client_send(&used, GET("/echo"));
    CHECK_EQ(client_reply(&used).status, 200);
    CHECK_EQ(client_reply(&fresh).status, 0);
    CHECK_EQ(client_reply(&used).status, 0);
    CHECK(client_is_cut(&fresh, 10000));
    CHECK(client_is_cut(&used, 10000));
    CHECK_EQ(lc_http_get_counters(fix.http).cut, 0);
    client_close(&fresh);
    client_close(&used);
    fixture_stop(&fix);
}

/* Whoever does not read would otherwise keep the answer in memory forever. */
TEST(http, cuts_readers_that_do_not_read)
{
    fixture fix;
    client answer, stream;

    fixture_start(&fix, (lc_http_options){.limits = {.idle_timeout_ms = 200}});
    answer = client_open(&fix);
    stream = client_open(&fix);
    client_send(&answer, GET("/big?bytes=16000000"));
    client_send(&stream, GET("/flood"));
    for (int i = 0; i < 10000 && lc_http_get_counters(fix.http).cut < 2; i++)
        lc_clock_sleep_us(1000);
    CHECK_EQ(lc_http_get_counters(fix.http).cut, 2);
    fixture_await(&fix.closed, 1);
    client_close(&answer);
    client_close(&stream);
    fixture_stop(&fix);
}

/* ---- Streams --------------------------------------------------------------------------------- */

TEST(http, streams_what_is_said)
{
    enum { CLIENTS = 200 };
    fixture fix;
    client clients[CLIENTS];

    fixture_start(&fix, usual);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fix);
        client_send(&clients[i], GET("/stream"));
    }
    fixture_await(&fix.handled, CLIENTS);
    fixture_say(&fix, "one");
    for (int i = 0; i < CLIENTS; i++)
        CHECK(client_hears(&clients[i], "<one>"));
    CHECK_EQ(lc_http_get_counters(fix.http).streams, CLIENTS);
    for (int word = 0; word < 20; word++)
        fixture_say(&fix, test_format("%d", word));
    for (int i = 0; i < CLIENTS; i++)
        CHECK(client_hears(&clients[i], "<19>"));
    fixture_say(&fix, "end");
    for (int i = 0; i < CLIENTS; i++)
        CHECK(client_hears(&clients[i], "\r\n0\r\n\r\n"));
    fixture_await(&fix.closed, CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    fixture_stop(&fix);
}

TEST(http, beats_when_a_stream_is_silent)
{
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.limits = {.idle_timeout_ms = 100}});
    c = client_open(&fix);
    client_send(&c, GET("/beat"));
    for (int i = 0; i < 5; i++) {
        CHECK(client_hears(&c, ":beat\n"));
        c.len = 0;
    }
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, notices_the_end_of_a_silent_streams_reader)
{
    fixture fix;
    client c;

    fixture_start(&fix, usual);
    c = client_open(&fix);
    client_send(&c, GET("/stream"));
    CHECK(client_hears(&c, "\r\n\r\n"));
    fixture_await(&fix.handled, 1);
    client_close(&c);
    fixture_await(&fix.closed, 1);
    fixture_stop(&fix);
}

TEST(http, cuts_streams_that_say_too_much_at_once)
{
    fixture fix;
    client c;

    fixture_start(&fix, (lc_http_options){.limits = {.stream_buffer_bytes = 16383}});
    c = client_open(&fix);
    client_send(&c, GET("/gush"));
    CHECK(client_is_cut(&c, 10000));
    CHECK_EQ(lc_http_get_counters(fix.http).cut, 1);
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http, stops_with_open_streams)
{
    enum { CLIENTS = 20 };
    fixture fix;
    client clients[CLIENTS];

    fixture_start(&fix, usual);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fix);
        client_send(&clients[i], i % 3 == 0 ? GET("/flood") : GET("/stream"));
    }
    fixture_await(&fix.handled, CLIENTS);
    fixture_stop(&fix);
    CHECK_EQ(atomic_load(&fix.closed), CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
}

/* ---- Draining -------------------------------------------------------------------------------- */

TEST(http, drains)
{
    fixture fix;
    client idle, busy, stream;
    reply r;

    fixture_start(&fix, usual);
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

/* What a process that was killed has left is in nobody's way. */
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
