/* test_abuse.c - clients that do not play by the rules: what is read in two ways is refused, what
 * is too much or too slow is cut, and the daemon goes on as if nothing had been. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/daemon.h"

#define HOST "Host: 127.0.0.1\r\n"
#define LITERAL(text) ((loci_str){text, sizeof text - 1})

/* A smuggled request. The daemon must never run it, so no client may ever see this key. */
#define SMUGGLED                                                                                   \
    "POST /v1/facts HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"                   \
    "Content-Length: 28\r\n\r\n{\"key\":\"smuggled\",\"value\":1}"

static void send_and_close(const test_daemon *daemon, loci_str bytes)
{
    int fd = test_connect(daemon);

    (void)test_send(fd, bytes);
    close(fd);
}

/* Sends bytes, and an end; every answer is a refusal, and then the connection ends. */
static int refusal_of(const test_daemon *daemon, loci_str bytes)
{
    int fd = test_connect(daemon);
    test_answer answers[4];
    loci_str rest;
    size_t count;

    (void)test_send(fd, bytes);
    (void)shutdown(fd, SHUT_WR);
    count = test_split_answers(test_receive_all(fd), answers, 4, &rest);
    close(fd);
    if (count == 0)
        return 0; /* Cut without a word. */
    CHECK_EQ(count, 1);
    /* libmicrohttpd 0.9.75 says the head of its own refusals twice; it closes behind them. */
    if (rest.len != 0)
        CHECK_CONTAINS(answers[0].head, "Connection: close\r\n");
    return answers[0].status;
}

typedef struct framing {
    const char *what;
    loci_str head; /* Between the request line and what is smuggled. */
} framing;

#define FRAMING(what_, head_)                                                                      \
    {                                                                                              \
        what_, LITERAL(head_)                                                                      \
    }

static const framing framings[] = {
    FRAMING("both lengths",
            HOST "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    FRAMING("both lengths, turned", HOST "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n"
                                         "0\r\n\r\n"),
    FRAMING("two lengths", HOST "Content-Length: 0\r\nContent-Length: 6\r\n\r\n"),
    FRAMING("the same length twice", HOST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("a list of lengths", HOST "Content-Length: 0, 6\r\n\r\n"),
    FRAMING("a negative length", HOST "Content-Length: -1\r\n\r\n"),
    FRAMING("a signed length", HOST "Content-Length: +2\r\n\r\n{}"),
    FRAMING("a hexadecimal length", HOST "Content-Length: 0x2\r\n\r\n{}"),
    FRAMING("an empty length", HOST "Content-Length: \r\n\r\n"),
    FRAMING("a length that overflows", HOST "Content-Length: 18446744073709551618\r\n\r\n{}"),
    FRAMING("a length with a space in it", HOST "Content-Length: 1 2\r\n\r\n"),
    FRAMING("space before a colon", HOST "Content-Length : 2\r\n\r\n{}"),
    FRAMING("space before a colon of the other",
            HOST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    FRAMING("an unknown coding", HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    FRAMING("a coding too many", HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    FRAMING("two codings",
            HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
    FRAMING("identity", HOST "Transfer-Encoding: identity\r\n\r\n"),
    FRAMING("a coding with a tab", HOST "Transfer-Encoding:\x0b"
                                        "chunked\r\n\r\n0\r\n\r\n"),
    FRAMING("a folded line", HOST "X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("a folded line with a tab", HOST "X-A: b\r\n\tc\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("a folded length", HOST "Content-Length:\r\n 2\r\n\r\n{}"),
    FRAMING("NUL in a value", HOST "X-A: b\0c\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("NUL in a name", HOST "X-\0A: b\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("a bare LF", HOST "X-A: b\nContent-Length: 0\r\n\r\n"),
    FRAMING("nothing but LFs", "Host: 127.0.0.1\nContent-Length: 0\n\n"),
    FRAMING("a bare CR", HOST "X-A: b\rc\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("no colon", HOST "nonsense\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("no name", HOST ": b\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("no Host", "Content-Length: 0\r\n\r\n"),
    FRAMING("two Hosts", HOST HOST "Content-Length: 0\r\n\r\n"),
    FRAMING("two different Hosts", HOST "Host: other.example\r\nContent-Length: 0\r\n\r\n"),
    FRAMING("an upgrade to another protocol",
            HOST "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0, 1\r\n\r\n"),
};

/* A proxy that reads the length otherwise would let a stranger's bytes become a request of ours. */
TEST(abuse, what_can_be_read_in_two_ways_is_refused_and_nothing_is_smuggled)
{
    test_daemon daemon = test_daemon_start(NULL);
    loci_str smuggled = loci_str_of(test_format(SMUGGLED, daemon.token));
    int descriptors = test_daemon_descriptors(&daemon);

    for (size_t i = 0; i < sizeof framings / sizeof framings[0]; i++) {
        const framing *f = &framings[i];
        loci_str line = loci_str_of(test_format(
            "POST /v1/call/op.list HTTP/1.1\r\nAuthorization: Bearer %s\r\n", daemon.token));
        char *bytes = test_bytes(line.len + f->head.len + smuggled.len);
        int status;

        memcpy(bytes, line.ptr, line.len);
        memcpy(bytes + line.len, f->head.ptr, f->head.len);
        memcpy(bytes + line.len + f->head.len, smuggled.ptr, smuggled.len);
        status = refusal_of(&daemon, (loci_str){bytes, line.len + f->head.len + smuggled.len});
        if (status != 0 && status != 400 && status != 413 && status != 421 && status != 501)
            test_fail(__FILE__, __LINE__, "%s: answered %d", f->what, status);
    }
    CHECK_EQ(test_ask(&daemon, "GET /v1/facts/current/smuggled", daemon.token, NULL).status, 404);
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

/* Chunks as other servers read them, or do not. */
static const char *const chunks[] = {
    "2\r\n{}\r\n0\r\n\r\n",
    "2\n{}\r\n0\r\n\r\n",
    "2\r\n{}\n0\n\n",
    "2;a=\"b\rc\"\r\n{}\r\n0\r\n\r\n",
    "2;a\nb\r\n{}\r\n0\r\n\r\n",
    "2 \r\n{}\r\n0\r\n\r\n",
    " 2\r\n{}\r\n0\r\n\r\n",
    "00000000000000000000000000000002\r\n{}\r\n0\r\n\r\n",
    "10000000000000002\r\n{}\r\n0\r\n\r\n",
    "-2\r\n{}\r\n0\r\n\r\n",
    "+2\r\n{}\r\n0\r\n\r\n",
    "0x2\r\n{}\r\n0\r\n\r\n",
    "zz\r\n{}\r\n0\r\n\r\n",
    "\r\n{}\r\n0\r\n\r\n",
    "2\r\n{}xx\r\n0\r\n\r\n",
    "2\r\n{}0\r\n\r\n",
    "2\r\n{}\r\n0\r\nContent-Length: 5\r\nHost: other.example\r\n\r\n",
    "2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n",
    "2\r\n{}\r\n0\r\nX: y\n\r\n",
};

/* libmicrohttpd does not show how chunks were framed, so none are read, not even proper ones. */
TEST(abuse, chunked_bodies_are_refused_before_any_chunk_is_read)
{
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);

    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        const char *request = test_format("POST /v1/call/op.list HTTP/1.1\r\n" HOST
                                          "Authorization: Bearer %s\r\n"
                                          "Transfer-Encoding: chunked\r\n\r\n%s" SMUGGLED,
                                          daemon.token, chunks[i], daemon.token);
        int status = refusal_of(&daemon, loci_str_of(request));

        /* Bytes that are not read may reset the connection before the answer is. */
        if (status != 411 && status != 0)
            test_fail(__FILE__, __LINE__, "chunks %zu: answered %d", i, status);
    }
    CHECK_EQ(test_ask(&daemon, "GET /v1/facts/current/smuggled", daemon.token, NULL).status, 404);
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

/* Heads that libmicrohttpd refuses with a page of its own: there is a record of them all the same,
 * and of those that we refuse. */
TEST(abuse, every_refusal_is_in_the_log)
{
    static const loci_str unparsed[] = {
        LITERAL("GET /livez\r\n\r\n"),
        LITERAL("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        LITERAL("GET /livez HTTP/1.1\r\n" HOST "nonsense\r\n\r\n"),
        LITERAL("POST /v1/facts HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n"),
    };
    test_daemon daemon = test_daemon_start(NULL);
    size_t count = sizeof unparsed / sizeof unparsed[0], found = 0;
    const char *log, *refused = "\"status\":400,\"code\":\"invalid_argument\"";

    for (size_t i = 0; i < count; i++)
        (void)refusal_of(&daemon, unparsed[i]);
    CHECK_EQ(refusal_of(&daemon, LITERAL("GET /livez HTTP/1.1\r\n\r\n")), 400);
    test_daemon_stop(&daemon);
    log = daemon.process.err.ptr;
    CHECK(memmem(log, daemon.process.err.len, refused, strlen(refused)) != NULL);
    for (const char *at = log; (at = strstr(at, "\"event\":\"http.unparsed\"")) != NULL; at++)
        found++;
    CHECK_EQ(found, count);
}

static const struct line_case {
    const char *what;
    loci_str bytes;
    int status; /* 0 = a refusal of any kind, or none. */
} lines[] = {
    {"an absolute URI of another host",
     LITERAL("GET http://other.example/livez HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"a Host that is not ours", LITERAL("GET /livez HTTP/1.1\r\nHost: other.example\r\n\r\n"), 421},
    {"an Origin that is not ours",
     LITERAL("GET /livez HTTP/1.1\r\n" HOST "Origin: https://other.example\r\n\r\n"), 403},
    {"a proxy's method", LITERAL("CONNECT 127.0.0.1:80 HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"an unknown version", LITERAL("GET /livez HTTP/9.9\r\n" HOST "\r\n"), 0},
    {"HTTP/2", LITERAL("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0},
    {"HTTP/0.9", LITERAL("GET /livez\r\n\r\n"), 0},
    {"a space in the path", LITERAL("GET /li vez HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"NUL in the path", LITERAL("GET /li\0vez HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"a control character in the path", LITERAL("GET /li\x01vez HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"not UTF-8 in the path", LITERAL("GET /v1/\xff\xfe HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"an escaped NUL", LITERAL("GET /v1/facts?cursor=%00 HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"a broken escape", LITERAL("GET /v1/facts?cursor=%zz HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"an escaped slash and dots", LITERAL("GET /%2e%2e/%2e%2e/etc HTTP/1.1\r\n" HOST "\r\n"), 404},
    {"dots", LITERAL("GET /../../etc/passwd HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"TLS", LITERAL("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"), 0},
    {"nothing but ends of lines", LITERAL("\r\n\r\n\r\n\r\n\r\n\r\n"), 0},
};

TEST(abuse, a_request_line_that_is_none_of_ours_is_refused)
{
    static const char *const settings[] = {"server.header_timeout_ms=1000",
                                           "server.idle_timeout_ms=1000", NULL};
    test_daemon daemon = test_daemon_start(settings);
    int descriptors = test_daemon_descriptors(&daemon);

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        int status = refusal_of(&daemon, lines[i].bytes);

        if (lines[i].status == 0 ? status != 0 && status / 100 != 4 && status / 100 != 5
                                 : status != lines[i].status)
            test_fail(__FILE__, __LINE__, "%s: %d instead of %d", lines[i].what, status,
                      lines[i].status);
    }
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

/* ---- Too much -------------------------------------------------------------------------------- */

static char *repeat(const char *text, size_t times)
{
    size_t bytes = strlen(text);
    char *all = test_bytes(bytes * times);

    for (size_t i = 0; i < times; i++)
        memcpy(all + i * bytes, text, bytes);
    return all;
}

static int status_of_call(const test_daemon *daemon, const char *body)
{
    return test_ask(daemon, "POST /v1/facts", daemon->token, body).status;
}

TEST(abuse, too_much_of_anything_is_refused_and_costs_nothing)
{
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    int64_t memory_kib = test_daemon_memory_kib(&daemon);
    int status;

    status = refusal_of(&daemon,
                        loci_str_of(test_format("GET /livez HTTP/1.1\r\n" HOST "X: %s\r\n\r\n",
                                                repeat("a", 60000))));
    CHECK(status == 431 || status == 0);
    status = refusal_of(&daemon, loci_str_of(test_format("GET /livez HTTP/1.1\r\n" HOST "%s\r\n",
                                                         repeat("X-Y: z\r\n", 2000))));
    CHECK(status == 431 || status == 0);
    status = refusal_of(&daemon, loci_str_of(test_format("GET /livez?a=%s HTTP/1.1\r\n" HOST "\r\n",
                                                         repeat("b", 60000))));
    CHECK(status == 414 || status == 431 || status == 0);
    CHECK_EQ(
        refusal_of(&daemon, loci_str_of(test_format("GET /v1/facts?%s HTTP/1.1\r\n" HOST "\r\n",
                                                    repeat("a=b&", 500)))) /
            100,
        4);
    CHECK_EQ(refusal_of(&daemon, LITERAL("POST /v1/facts HTTP/1.1\r\n" HOST
                                         "Content-Length: 1000000000000\r\n\r\n{")),
             413);
    /* Without credentials, the daemon reads only the beginning of a body. */
    status = refusal_of(&daemon, loci_str_of(test_format(
                                     "POST /v1/facts HTTP/1.1\r\n" HOST
                                     "Transfer-Encoding: chunked\r\n\r\n500000\r\n%s\r\n0\r\n\r\n",
                                     repeat("x", 0x500000))));
    CHECK(status == 411 || status == 0);
    CHECK_EQ(status_of_call(&daemon, test_format("{\"key\":\"deep\",\"value\":%s1%s}",
                                                 repeat("[", 5000), repeat("]", 5000))) /
                 100,
             4);
    CHECK_EQ(status_of_call(&daemon, test_format("{\"key\":\"wide\",\"value\":\"%s\"}",
                                                 repeat("x", 3000000))) /
                 100,
             4);
    CHECK_EQ(status_of_call(&daemon, test_format("{\"calls\":[%s{}]}", repeat("{},", 100000))),
             400);
    CHECK_EQ(test_ask(&daemon, "POST /v1/batch", daemon.token,
                      test_format("{\"calls\":[%s{}]}", repeat("{},", 100000)))
                     .status /
                 100,
             4);
    test_daemon_check(&daemon, descriptors);
    if (!test_is_sanitized())
        CHECK_LE(test_daemon_memory_kib(&daemon), memory_kib + 32 * 1024);
    test_daemon_stop(&daemon);
}

/* A client that gets 503 repeats its write. So the answer to a commit is sent even if it exceeds
 * the limit of bytes in flight; an answer without one is not. */
TEST(abuse, a_commit_is_never_answered_with_503)
{
    enum { VALUES = 30, VALUE_BYTES = 100000 };
    static const char *const settings[] = {"server.body_bytes_max=1048576",
                                           "server.client_bytes_max=1048576",
                                           "server.inflight_bytes_max=1048576", NULL};
    const char *list = "{\"op\":\"fact.list\",\"args\":{\"limit\":100}}";
    test_daemon daemon = test_daemon_start(settings);
    test_answer answer;

    for (int i = 0; i < VALUES; i++)
        CHECK_EQ(status_of_call(&daemon, test_format("{\"key\":\"k%d\",\"value\":\"%s\"}", i,
                                                     repeat("v", VALUE_BYTES))),
                 200);
    CHECK_EQ(test_ask(&daemon, "GET /v1/facts?limit=100", daemon.token, NULL).status, 503);
    answer = test_ask(&daemon, "POST /v1/batch", daemon.token,
                      test_format("{\"calls\":[{\"op\":\"fact.write\",\"args\":{\"key\":\"kept\","
                                  "\"value\":1}},%s]}",
                                  list));
    CHECK_EQ(answer.status, 200);
    CHECK_LE(VALUES * VALUE_BYTES, answer.body.len);
    CHECK_EQ(
        test_ask(&daemon, "POST /v1/batch", daemon.token, test_format("{\"calls\":[%s]}", list))
            .status,
        503);
    CHECK_EQ(test_ask(&daemon, "GET /v1/facts/current/kept", daemon.token, NULL).status, 200);
    test_daemon_stop(&daemon);
}

/* ---- Garbage --------------------------------------------------------------------------------- */

/* Bytes that begin right and go wrong are worth more than noise. */
static size_t make_garbage(test_rng *rng, const char *token, char *out, size_t bytes_max)
{
    static const char *const parts[] = {"POST ",
                                        "GET ",
                                        "/v1/facts",
                                        " HTTP/1.1\r\n",
                                        HOST,
                                        "Content-Length: 12\r\n",
                                        "Transfer-Encoding: chunked\r\n",
                                        "\r\n",
                                        "\r\n\r\n",
                                        "5\r\n",
                                        "{\"key\":\"g\",\"value\":1}",
                                        "Expect: 100-continue\r\n",
                                        "Connection: close\r\n",
                                        "0\r\n",
                                        "Authorization: Bearer "};
    size_t len = 0;

    for (uint64_t i = test_rng_between(rng, 1, 30); i > 0 && len + 200 < bytes_max; i--) {
        if (test_rng_chance(rng, 20)) {
            size_t noise = (size_t)test_rng_between(rng, 1, 40);

            test_rng_fill(rng, out + len, noise);
            len += noise;
        } else {
            const char *part = test_rng_chance(rng, 5)
                                   ? token
                                   : parts[test_rng_below(rng, sizeof parts / sizeof parts[0])];

            memcpy(out + len, part, strlen(part));
            len += strlen(part);
        }
    }
    return len;
}

TEST(abuse, garbage_does_not_harm)
{
    static const char *const settings[] = {"server.header_timeout_ms=200",
                                           "server.body_timeout_ms=200",
                                           "server.idle_timeout_ms=300", NULL};
    test_daemon daemon = test_daemon_start(settings);
    int descriptors = test_daemon_descriptors(&daemon);
    uint64_t count = test_count(1500, 30000);
    test_rng rng = test_random(11);
    char bytes[8192];

    for (uint64_t i = 0; i < count; i++) {
        size_t len = make_garbage(&rng, daemon.token, bytes, sizeof bytes);

        if (i % 50 == 49) { /* Also wait for the answer. */
            int fd = test_connect(&daemon);

            (void)test_send(fd, (loci_str){bytes, len});
            (void)shutdown(fd, SHUT_WR);
            CHECK(test_is_cut(fd, 10000));
            close(fd);
        } else {
            send_and_close(&daemon, (loci_str){bytes, len});
        }
    }
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

/* ---- Pipelining ------------------------------------------------------------------------------ */

#define PIPELINED 1000

TEST(abuse, pipelined_requests_are_answered_in_order)
{
    static test_answer answers[PIPELINED + 1];
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    int fd = test_connect(&daemon);
    size_t room = PIPELINED * 256, len = 0, count;
    char *all = test_bytes(room);
    loci_str rest;

    for (int i = 0; i < PIPELINED; i++) { /* Point reads, errors, and calls that are deferred. */
        static const char *const targets[] = {"/livez", "/v1/facts/current/none", "/v1/facts",
                                              "/nowhere"};

        len += (size_t)snprintf(all + len, room - len,
                                "GET %s HTTP/1.1\r\n" HOST
                                "Authorization: Bearer %s\r\nX-Request-Id: pipe-%d\r\n%s\r\n",
                                targets[i % 4], daemon.token, i,
                                i == PIPELINED - 1 ? "Connection: close\r\n" : "");
    }
    CHECK(test_send(fd, (loci_str){all, len}));
    count = test_split_answers(test_receive_all(fd), answers, PIPELINED + 1, &rest);
    close(fd);
    CHECK_EQ(count, PIPELINED);
    CHECK_EQ(rest.len, 0);
    for (int i = 0; i < PIPELINED; i++) {
        CHECK_EQ(answers[i].status, i % 2 == 0 ? 200 : 404);
        CHECK_CONTAINS(answers[i].head, test_format("Trace-Id: pipe-%d\r\n", i));
    }
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

/* ---- Slow ------------------------------------------------------------------------------------ */

#define SLOW 50

/* Fifty clients that send a byte now and then would fill a server with a thread for each. */
TEST(abuse, slow_clients_are_cut_while_others_are_answered)
{
    static const char *const settings[] = {"server.header_timeout_ms=1000",
                                           "server.body_timeout_ms=1000", NULL};
    static const char head[] = "GET /livez HTTP/1.1\r\n" HOST "X-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char body[] = "POST /v1/facts HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n";
    test_daemon daemon = test_daemon_start(settings);
    int descriptors = test_daemon_descriptors(&daemon);
    int64_t began_ms, slowest_ms = 0, limit_ms = test_is_sanitized() ? 5000 : 500;
    int sockets[SLOW];

    for (int i = 0; i < SLOW; i++) {
        sockets[i] = test_connect(&daemon);
        if (i % 2 == 1) /* Half of them are slow with the body. */
            CHECK(test_send(sockets[i], LITERAL(body)));
    }
    began_ms = test_now_ms();
    for (size_t at = 0; test_now_ms() - began_ms < 2500; at++) {
        int64_t asked_ms = test_now_ms();

        for (int i = 0; i < SLOW; i++)
            (void)send(sockets[i], i % 2 == 1 ? "{" : &head[at], 1, MSG_NOSIGNAL);
        CHECK_EQ(test_ask(&daemon, "GET /livez", NULL, NULL).status, 200);
        if (test_now_ms() - asked_ms > slowest_ms)
            slowest_ms = test_now_ms() - asked_ms;
        test_sleep_ms(100);
    }
    CHECK_LT(slowest_ms, limit_ms);
    for (int i = 0; i < SLOW; i++) {
        CHECK(test_is_cut(sockets[i], 3000));
        close(sockets[i]);
    }
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

#define STUBBORN 20
#define LARGE_BYTES 100000
#define LARGE_TIMES 60 /* More in all than the kernel keeps for a connection. */

static void write_large_fact(const test_daemon *daemon, int number)
{
    CHECK_EQ(test_ask(daemon, "POST /v1/facts", daemon->token,
                      test_format("{\"key\":\"large\",\"user_id\":\"reader\",\"value\":\"%d%s\"}",
                                  number, repeat("x", LARGE_BYTES)))
                 .status,
             200);
}

/* The daemon disconnects a client that requests megabytes and reads none of them. */
TEST(abuse, clients_that_never_read_are_cut)
{
    /* A sanitizer makes the loop so slow that honest clients would seem idle. */
    const char *const settings[] = {
        test_is_sanitized() ? "server.idle_timeout_ms=5000" : "server.idle_timeout_ms=1000", NULL};
    test_daemon daemon = test_daemon_start(settings);
    int descriptors = test_daemon_descriptors(&daemon);
    const char *request = test_format("GET /v1/facts/current/large?user_id=reader HTTP/1.1\r\n" HOST
                                      "Authorization: Bearer %s\r\n\r\n",
                                      daemon.token);
    const char *stream = test_format(
        "GET /v1/events?after_seq=0&user_id=reader HTTP/1.1\r\n" HOST
        "Accept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
        daemon.token);
    int64_t until_ms;
    int sockets[STUBBORN];

    for (int i = 0; i < LARGE_TIMES; i++)
        write_large_fact(&daemon, i);
    descriptors = test_daemon_descriptors(&daemon);
    for (int i = 0; i < STUBBORN; i++) {
        int few = 4096;

        sockets[i] = test_connect(&daemon);
        setsockopt(sockets[i], SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
        if (i % 4 == 3) {
            CHECK(test_send(sockets[i], loci_str_of(stream)));
            continue;
        }
        for (int k = 0; k < LARGE_TIMES; k++)
            CHECK(test_send(sockets[i], loci_str_of(request)));
    }
    /* The daemon's ends go although the clients keep theirs: after the idle time and 16 KB/s. */
    until_ms = test_now_ms() + 60000;
    do {
        CHECK_EQ(test_ask(&daemon, "GET /livez", NULL, NULL).status, 200);
        test_sleep_ms(300);
    } while (test_daemon_descriptors(&daemon) > descriptors && test_now_ms() < until_ms);
    test_daemon_check(&daemon, descriptors);
    for (int i = 0; i < STUBBORN; i++)
        close(sockets[i]);
    test_daemon_stop(&daemon);
}

/* ---- Leaving --------------------------------------------------------------------------------- */

#define HALF_CLOSED 16
#define HALF_CLOSED_ROUNDS 20

/* A client that has sent its request and shut down its sending side is answered. Many at once: the
 * daemon sees the end of a request while it works on another. The first call of a round has the
 * token cached, since the one case that is not answered is an end during the look-up of a token. */
TEST(abuse, half_closed_clients_are_answered)
{
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    int fds[HALF_CLOSED];

    for (int round = 0; round < HALF_CLOSED_ROUNDS; round++) {
        CHECK_EQ(test_ask(&daemon, "GET /v1/facts", daemon.token, NULL).status, 200);
        for (int i = 0; i < HALF_CLOSED; i++) {
            fds[i] = test_connect(&daemon);
            CHECK(test_send(fds[i], loci_str_of(test_format(
                                        "POST /v1/facts HTTP/1.1\r\n" HOST
                                        "Authorization: Bearer %s\r\nContent-Length: 26\r\n\r\n"
                                        "{\"key\":\"half\",\"value\":%3d}",
                                        daemon.token, i))));
            CHECK_EQ(shutdown(fds[i], SHUT_WR), 0);
        }
        for (int i = 0; i < HALF_CLOSED; i++) {
            test_answer answer;
            loci_str rest;

            /* It looks as if the client had left, so the write may be cancelled. */
            CHECK_EQ(test_split_answers(test_receive_all(fds[i]), &answer, 1, &rest), 1);
            CHECK(answer.status == 200 || answer.status == 499);
            close(fds[i]);
        }
    }
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

#define LINGERING 8
#define ENDLESS_BYTES (INT64_C(1) << 40)

/* An error that comes before the body is read by clients that send all of it first; those that
 * never stop sending, or that neither send nor close, do not keep their connection. */
TEST(abuse, early_answers_linger_but_not_for_ever)
{
    static const char *const settings[] = {"server.header_timeout_ms=500",
                                           "server.body_timeout_ms=5000", NULL};
    static char block[1 << 16];
    test_daemon daemon = test_daemon_start(settings);
    int descriptors = test_daemon_descriptors(&daemon);
    const char *head = test_format("POST /v1/facts HTTP/1.1\r\n" HOST
                                   "Authorization: Bearer %s\r\nContent-Length: %lld\r\n\r\n",
                                   daemon.token, (long long)ENDLESS_BYTES);
    int64_t sent_bytes = 0;
    int silent[LINGERING], endless;
    test_answer answer;
    loci_str rest;

    /* 16 MiB more than the kernel buffers: the daemon reads on behind its answer. */
    endless = test_connect(&daemon);
    CHECK(test_send(endless, loci_str_of(head)));
    for (; sent_bytes < 32 << 20; sent_bytes += (int64_t)sizeof block)
        CHECK(test_send(endless, (loci_str){block, sizeof block}));
    while (sent_bytes < INT64_C(1) << 30 && test_send(endless, (loci_str){block, sizeof block}))
        sent_bytes += (int64_t)sizeof block;
    CHECK_LT(sent_bytes, INT64_C(1) << 30);
    close(endless);

    for (int i = 0; i < LINGERING; i++) {
        silent[i] = test_connect(&daemon);
        CHECK(test_send(silent[i], loci_str_of(head)));
    }
    test_daemon_check(&daemon, descriptors); /* Gone although the clients keep theirs. */
    for (int i = 0; i < LINGERING; i++) {
        CHECK_EQ(test_split_answers(test_receive_all(silent[i]), &answer, 1, &rest), 1);
        CHECK_EQ(answer.status, 413);
        close(silent[i]);
    }
    test_daemon_stop(&daemon);
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

/* Connections that are reset wherever they are: in the head, in the body, while the call runs,
 * while the answer is sent, in the middle of a stream. */
TEST(abuse, resets_in_the_middle_leave_nothing_behind)
{
    /* libmicrohttpd misses an end that comes with the last bytes: then the clocks cut. */
    static const char *const settings[] = {"server.header_timeout_ms=1000",
                                           "server.body_timeout_ms=1000",
                                           "server.idle_timeout_ms=1000", NULL};
    test_daemon daemon = test_daemon_start(settings);
    int descriptors;
    test_rng rng = test_random(5);
    int rounds = (int)test_count(400, 5000);

    write_large_fact(&daemon, 0);
    descriptors = test_daemon_descriptors(&daemon);
    for (int i = 0; i < rounds; i++) {
        static const char *const targets[] = {"GET /v1/facts/current/large?user_id=reader",
                                              "GET /v1/events?user_id=u", "GET /v1/facts",
                                              "POST /v1/facts", "GET /v1/events"};
        int fd = test_connect(&daemon);
        const char *text = test_format(
            "%s HTTP/1.1\r\n" HOST "Authorization: Bearer %s\r\n%s"
            "Content-Length: 26\r\n\r\n{\"key\":\"gone\",\"value\":%3d}",
            targets[test_rng_below(&rng, 5)], daemon.token,
            test_rng_chance(&rng, 50) ? "Accept: text/event-stream\r\n" : "", i % 1000);
        size_t len = strlen(text);

        if (strncmp(text, "GET", 3) == 0)
            len -= 26; /* A GET has none; what follows would be another request. */
        if (test_rng_chance(&rng, 40))
            len = test_rng_below(&rng, len) + 1;
        (void)test_send(fd, (loci_str){text, len});
        if (test_rng_chance(&rng, 30))
            test_sleep_ms((int64_t)test_rng_below(&rng, 4));
        if (test_rng_chance(&rng, 70))
            reset(fd);
        else
            close(fd);
    }
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

/* ---- Bodies of strangers --------------------------------------------------------------------- */

/* A body that was announced and not sent yet is not waited for: the head shows that the caller may
 * not send it. */
TEST(abuse, no_body_is_read_before_the_token_is_checked)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        {"POST /v1/call/fact.write HTTP/1.1\r\n" HOST, 401},
        {"POST /v1/batch HTTP/1.1\r\n" HOST "Authorization: Bearer loci_nonsense\r\n", 401},
        {"POST /v1/call/fact.write HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n", 401},
        {"GET /livez HTTP/1.1\r\n" HOST, 200},
        {"POST /nowhere HTTP/1.1\r\n" HOST, 404},
    };
    test_daemon daemon = test_daemon_start(NULL);
    char buffer[4096];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = test_connect(&daemon);
        int64_t began_ms = test_now_ms();

        CHECK(test_send(
            fd, loci_str_of(test_format("%sContent-Length: 1000000\r\n\r\n", cases[i].head))));
        CHECK_EQ(test_receive_one(fd, buffer, sizeof buffer).status, cases[i].status);
        CHECK_LT(test_now_ms() - began_ms, 5000);
        CHECK(test_is_cut(fd, 5000));
        close(fd);
    }
    test_daemon_stop(&daemon);
}

/* ---- Too many -------------------------------------------------------------------------------- */

/* A connection of another client. */
static int connect_from(const test_daemon *daemon, const char *address)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)daemon->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQ(inet_pton(AF_INET, address, &from.sin_addr), 1);
    CHECK_EQ(inet_pton(AF_INET, "127.0.0.1", &to.sin_addr), 1);
    CHECK_EQ(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

TEST(abuse, connections_beyond_the_limit_are_told_and_others_live)
{
    static const char *const settings[] = {"server.connections_max=20", NULL};
    test_daemon daemon = test_daemon_start(settings);
    int descriptors = test_daemon_descriptors(&daemon);
    int sockets[60];
    char buffer[4096];
    int refused = 0, other;

    for (int i = 0; i < 60; i++) {
        test_answer answer;

        sockets[i] = test_connect(&daemon);
        (void)test_send(sockets[i], LITERAL("GET /livez HTTP/1.1\r\n" HOST "\r\n"));
        answer = test_receive_one(sockets[i], buffer, sizeof buffer);
        CHECK(answer.status == 200 || answer.status == 503 || answer.status == 0);
        refused += answer.status != 200;
    }
    CHECK_EQ(refused, 42); /* An eighth of the places is for others. */
    other = connect_from(&daemon, "127.0.0.2");
    CHECK(test_send(other, LITERAL("GET /livez HTTP/1.1\r\n" HOST "\r\n")));
    CHECK_EQ(test_receive_one(other, buffer, sizeof buffer).status, 200);
    close(other);
    for (int i = 0; i < 60; i++)
        close(sockets[i]);
    test_sleep_ms(100);
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}
