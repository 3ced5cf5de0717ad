/* Requests that are too large, too slow or ambiguous. */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "unit/server/http_fixture.h"

/* ---- Limits ---------------------------------------------------------------------------------- */

static int status_of_body(const fixture *fix, size_t bytes)
{
    client c = client_open(fix);
    char *body = test_bytes(bytes);
    int status;

    memset(body, 'b', bytes);
    client_send(&c, test_format("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Length: %zu\r\n\r\n%s",
                                bytes, body));
    status = client_reply(&c).status;
    client_close(&c);
    return status;
}

TEST(http_limits, holds_the_limit_of_the_body)
{
    fixture fix;

    fixture_start(&fix, (lc_http_options){.limits = {.body_bytes_max = 1000}});
    CHECK_EQ(status_of_body(&fix, 999), 200);
    CHECK_EQ(status_of_body(&fix, 1000), 200);
    CHECK_EQ(status_of_body(&fix, 1001), 413);
    CHECK_EQ(lc_http_get_counters(fix.http).refused, 1);
    fixture_stop(&fix);
}

/* A body larger than any buffer on the way. */
TEST(http_limits, takes_large_bodies)
{
    const size_t bytes = 300000;
    fixture fix;
    client c;
    reply r;
    char *body = test_bytes(bytes);

    for (size_t i = 0; i < bytes; i++)
        body[i] = (char)('a' + i % 23);
    fixture_start(&fix, FIXTURE_USUAL);
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

TEST(http_limits, holds_the_limit_of_the_head)
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

/* Whether it is one long field or many: what is allowed fits into the memory of a connection. */
TEST(http_limits, takes_a_head_as_large_as_is_allowed)
{
    const int counts[] = {1, 98}; /* Host and Content-Length are two of the 100. */
    const char *start = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n";
    const int total = 16384 - (int)strlen(start) - 2;
    fixture fix;
    client c;

    fixture_start(&fix, FIXTURE_USUAL);
    c = client_open(&fix);
    for (size_t i = 0; i < 2; i++) {
        int fields = counts[i];
        int left = total;
        reply r;

        client_send(&c, start);
        for (int field = 0; field < fields; field++) {
            int line = left / (fields - field);

            client_send(&c, test_format("F%02d: %0*d\r\n", field, line - 7, 0));
            left -= line;
        }
        client_send(&c, "\r\nabc");
        r = client_reply(&c);
        CHECK_EQ(r.status, 200);
        CHECK_BYTES(r.body, r.body_bytes, "abc", 3);
    }
    client_close(&c);
    fixture_stop(&fix);
}

TEST(http_limits, refuses_a_query_of_more_parameters_than_fit)
{
    const int counts[] = {100, 101, 500, 7000};
    fixture fix;

    fixture_start(&fix, FIXTURE_USUAL);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        client c = client_open(&fix);
        char *query = test_bytes((size_t)counts[i] * 2);

        for (int at = 0; at < counts[i] * 2; at++)
            query[at] = at % 2 == 0 ? 'a' : '&';
        client_send(&c, "GET /echo?");
        client_send_bytes(&c, query, (size_t)counts[i] * 2 - 1);
        client_send(&c, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK_EQ(client_reply(&c).status, counts[i] <= 100 ? 200 : 414);
        client_close(&c);
    }
    fixture_stop(&fix);
}

TEST(http_limits, refuses_endless_heads_and_targets)
{
    fixture fix;
    char *endless = test_bytes(100000);
    client c;

    memset(endless, 'a', 100000);
    fixture_start(&fix, FIXTURE_USUAL);
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

TEST(http_limits, holds_the_limit_of_connections)
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

TEST(http_limits, holds_the_limit_of_a_peer)
{
    fixture fix;
    client first, second;
    reply answer;

    fixture_start(&fix, (lc_http_options){.limits = {.connections_of_peer = 1}});
    first = client_open(&fix);
    client_send(&first, GET("/echo"));
    CHECK_EQ(client_reply(&first).status, 200);
    second = client_open(&fix);
    answer = client_reply(&second);
    CHECK_EQ(answer.status, 503);
    CHECK(strstr(answer.head, "Retry-After: 1\r\n") != NULL);
    CHECK(client_is_cut(&second, 10000));
    client_close(&first);
    client_close(&second);
    fixture_stop(&fix);
}

static client announce(const fixture *fix, int bytes)
{
    client c = client_open(fix);

    client_send(&c, test_format("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
                                "Expect: 100-continue\r\n\r\n",
                                bytes));
    return c;
}

static void await_inflight(const fixture *fix, int64_t bytes)
{
    for (int i = 0; i < 10000 && lc_http_get_counters(fix->http).inflight_bytes != bytes; i++)
        lc_clock_sleep_us(1000);
    CHECK_EQ(lc_http_get_counters(fix->http).inflight_bytes, bytes);
}

/* Bodies that were announced count, whether or not they are sent; those of all clients together
 * and those of one client have a ceiling. */
TEST(http_limits, bounds_the_bytes_in_flight)
{
    const lc_http_limits limits[] = {{.inflight_bytes_max = 1000},
                                     {.inflight_bytes_of_peer = 1000}};

    for (size_t i = 0; i < 2; i++) {
        fixture fix;
        client first, second;
        reply r;

        fixture_start(&fix, (lc_http_options){.limits = limits[i]});
        first = announce(&fix, 600);
        CHECK_EQ(client_reply(&first).status, 100);
        second = announce(&fix, 401);
        r = client_reply(&second);
        CHECK_EQ(r.status, 503);
        CHECK(strstr(r.head, "Retry-After: 1\r\n") != NULL);
        CHECK(client_is_cut(&second, 10000));
        client_close(&second);
        second = announce(&fix, 400);
        CHECK_EQ(client_reply(&second).status, 100);
        client_close(&first);
        await_inflight(&fix, 400);
        client_close(&second);
        await_inflight(&fix, 0);
        fixture_stop(&fix);
    }
}

/* A client that asks for large answers and reads none gets 503 from then on. */
TEST(http_limits, counts_answers_that_are_not_read)
{
    enum { CLIENTS = 8 };
    fixture fix;
    client clients[CLIENTS];
    reply r;

    fixture_start(&fix, (lc_http_options){.limits = {.inflight_bytes_max = 20 << 20}});
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(&fix);
        client_send(&clients[i], GET("/big?bytes=8000000"));
    }
    fixture_await(&fix.answered, CLIENTS);
    CHECK_LE(lc_http_get_counters(fix.http).inflight_bytes, 20 << 20);
    CHECK_LE(CLIENTS - 4, lc_http_get_counters(fix.http).refused);
    r = client_reply(&clients[CLIENTS - 1]);
    CHECK_EQ(r.status, 503);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    await_inflight(&fix, 0);
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
      411),
    A("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\n\r\n",
      411),
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

TEST(http_limits, refuses_framing_attacks)
{
    fixture fix;

    fixture_start(&fix, FIXTURE_USUAL);
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
TEST(http_limits, cuts_slow_heads)
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

TEST(http_limits, cuts_slow_bodies)
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

TEST(http_limits, closes_idle_connections_without_a_word)
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

/* A client that does not read would otherwise keep the answer in memory forever. */
TEST(http_limits, cuts_readers_that_do_not_read)
{
    fixture fix;
    client answer, stream;

    /* Long enough that a busy machine does not close a connection before its request is read. */
    fixture_start(&fix, (lc_http_options){.limits = {.idle_timeout_ms = 1500}});
    answer = client_open(&fix);
    stream = client_open(&fix);
    client_send(&answer, GET("/big?bytes=16000000"));
    client_send(&stream, GET("/flood"));
    for (int i = 0; i < 20000 && lc_http_get_counters(fix.http).cut < 2; i++)
        lc_clock_sleep_us(1000);
    CHECK_EQ(lc_http_get_counters(fix.http).cut, 2);
    fixture_await(&fix.closed, 1);
    client_close(&answer);
    client_close(&stream);
    fixture_stop(&fix);
}
