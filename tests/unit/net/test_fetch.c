#include "net/fetch.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/test.h"

/* A daemon played by the test: links never wait, so one thread is enough. */
typedef struct fake_daemon {
    lc_heap heap;
    lc_endpoint to;
    int listener, connection;
    lc_fetch_link *link;
    lc_fetch_answer answer;
    loci_error err;
} fake_daemon;

static void open_fake(fake_daemon *d)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    lc_heap_init(&d->heap, test_heap());
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/s", test_tmpdir());
    d->to = (lc_endpoint){.url = test_format("unix:%s", address.sun_path)};
    d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(d->listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(d->listener, 4), 0);
    CHECK_OK(lc_fetch_link_open(&d->heap, &d->to, 1000, &d->link, &d->err), d->err);
    d->connection = accept(d->listener, NULL, NULL);
    CHECK(d->connection >= 0);
}

static void close_fake(fake_daemon *d)
{
    lc_fetch_link_close(d->link);
    close(d->connection);
    close(d->listener);
}

static loci_status step(fake_daemon *d)
{
    return lc_fetch_link_step(d->link, &d->answer, &d->err);
}

static void say(const fake_daemon *d, const char *text)
{
    CHECK_EQ(send(d->connection, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static const char *hear(const fake_daemon *d)
{
    char text[4096];
    ssize_t got = recv(d->connection, text, sizeof text, 0);

    CHECK(got > 0);
    return test_format("%.*s", (int)got, text);
}

static void begin(fake_daemon *d, const char *body, const char *request_id)
{
    lc_fetch fetch = {.method = "POST", .path = "/v1/call/x", .request_id = request_id};

    fetch.body = loci_str_of(body);
    CHECK_OK(lc_fetch_link_send(d->link, &fetch, &d->err), d->err);
    CHECK_OK(step(d), d->err);
    CHECK(!d->answer.is_done);
}

TEST(fetch, keeps_a_connection_between_requests)
{
    fake_daemon d;
    const char *request;

    open_fake(&d);
    begin(&d, "{\"a\":1}", "r-1");
    request = hear(&d);
    CHECK_CONTAINS(request, "POST /v1/call/x HTTP/1.1\r\n");
    CHECK_CONTAINS(request, "Idempotency-Key: r-1\r\n");
    CHECK_CONTAINS(request, "Content-Length: 7\r\n");
    /* An answer may come in pieces, wherever they are cut. */
    say(&d, "HTTP/1.1 200 OK\r\ncontent-le");
    CHECK_OK(step(&d), d.err);
    CHECK_EQ(d.answer.status, 0);
    say(&d, "ngth: 5\r\n\r\nab");
    CHECK_OK(step(&d), d.err);
    CHECK_EQ(d.answer.status, 200);
    CHECK(!d.answer.is_done);
    CHECK(!lc_fetch_link_is_reusable(d.link));
    say(&d, "cde");
    CHECK_OK(step(&d), d.err);
    CHECK(d.answer.is_done);
    CHECK_STR_EQ(d.answer.body, "abcde");
    CHECK(lc_fetch_link_is_reusable(d.link));
    begin(&d, "{}", NULL);
    CHECK(strstr(hear(&d), "Idempotency-Key") == NULL);
    say(&d, "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    CHECK_OK(step(&d), d.err);
    CHECK(d.answer.is_done);
    CHECK_EQ(d.answer.status, 404);
    CHECK(!lc_fetch_link_is_reusable(d.link));
    close_fake(&d);
}

/* A caller must learn that it is unknown whether its request was carried out. */
TEST(fetch, reports_a_connection_that_breaks)
{
#define HALF_A_BODY "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
    static const char *const before[] = {"", "HTTP/1.1 200", HALF_A_BODY};

    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        fake_daemon d;

        open_fake(&d);
        begin(&d, "{}", NULL);
        (void)hear(&d);
        say(&d, before[i]);
        close(d.connection);
        d.connection = -1;
        CHECK_STATUS(LOCI_EUNAVAILABLE, step(&d));
        CHECK(!lc_fetch_link_is_reusable(d.link));
        close_fake(&d);
    }
}

TEST(fetch, refuses_what_is_not_http_or_too_large)
{
    static const struct {
        const char *text;
        loci_status status;
    } cases[] = {
        {"220 mail ready\r\n\r\n", LOCI_ECORRUPT},
        {"HTTP/1.1 999 X\r\n\r\n", LOCI_ECORRUPT},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", LOCI_ECORRUPT},
        {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", LOCI_ECORRUPT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_daemon d;

        open_fake(&d);
        begin(&d, "{}", NULL);
        (void)hear(&d);
        say(&d, cases[i].text);
        CHECK_STATUS(cases[i].status, step(&d));
        close_fake(&d);
    }
}

/* Events are followed this way: what has arrived is lent once. */
TEST(fetch, lends_a_stream_as_it_arrives)
{
    lc_fetch fetch = {.method = "GET", .path = "/v1/events", .is_stream = true};
    fake_daemon d;

    open_fake(&d);
    CHECK_OK(lc_fetch_link_send(d.link, &fetch, &d.err), d.err);
    CHECK_OK(step(&d), d.err);
    CHECK_CONTAINS(hear(&d), "GET /v1/events HTTP/1.1\r\n");
    say(&d, "HTTP/1.0 200 OK\r\n\r\nevent: a\n");
    CHECK_OK(step(&d), d.err);
    CHECK_STR_EQ(d.answer.body, "event: a\n");
    CHECK_OK(step(&d), d.err);
    CHECK_STR_EQ(d.answer.body, "");
    say(&d, "event: b\n");
    CHECK_OK(step(&d), d.err);
    CHECK_STR_EQ(d.answer.body, "event: b\n");
    CHECK(!d.answer.is_done);
    close(d.connection);
    d.connection = -1;
    CHECK_OK(step(&d), d.err);
    CHECK(d.answer.is_done);
    close_fake(&d);
}

TEST(fetch, finds_no_daemon)
{
    lc_endpoint to = {.url = NULL};
    lc_fetch_link *link;
    loci_error err;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    to.url = test_format("unix:%s/none", test_tmpdir());
    CHECK_STATUS(LOCI_EUNAVAILABLE, lc_fetch_link_open(&heap, &to, 100, &link, &err));
    CHECK_CONTAINS(err.message, to.url);
    to.url = "ftp://x";
    CHECK_STATUS(LOCI_EINVAL, lc_fetch_link_open(&heap, &to, 100, &link, &err));
}

/* A proxy in front of a daemon may send chunks, cut anywhere. */
TEST(fetch, decodes_chunks)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "3\r\nabc\r\n0B;x=y\r\ndefghijklmn\r\n0\r\nTrailer: 1\r\n\r\n";

    for (size_t cut = 1; cut < sizeof answer - 1; cut++) {
        fake_daemon d;

        open_fake(&d);
        begin(&d, "{}", NULL);
        (void)hear(&d);
        say(&d, test_format("%.*s", (int)cut, answer));
        CHECK_OK(step(&d), d.err);
        CHECK(!d.answer.is_done);
        say(&d, answer + cut);
        CHECK_OK(step(&d), d.err);
        CHECK(d.answer.is_done);
        CHECK_STR_EQ(d.answer.body, "abcdefghijklmn");
        CHECK(lc_fetch_link_is_reusable(d.link));
        close_fake(&d);
    }
}

TEST(fetch, refuses_chunks_that_are_none)
{
    static const char *const bodies[] = {"x\r\n", "\r\n", "123456789\r\n", "1\r\nabc\r\n",
                                         "1 \r\na"};

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        fake_daemon d;

        open_fake(&d);
        begin(&d, "{}", NULL);
        (void)hear(&d);
        say(&d, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        say(&d, bodies[i]);
        CHECK_STATUS(LOCI_ECORRUPT, step(&d));
        close_fake(&d);
    }
}

/* An export that breaks off must not look complete. */
TEST(fetch, lends_chunks_and_sees_that_they_break_off)
{
    lc_fetch fetch = {.method = "POST", .path = "/v1/call/store.export", .is_stream = true};
    fake_daemon d;

    open_fake(&d);
    CHECK_OK(lc_fetch_link_send(d.link, &fetch, &d.err), d.err);
    CHECK_OK(step(&d), d.err);
    (void)hear(&d);
    say(&d, "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"
            "Transfer-Encoding: chunked\r\n\r\n3\r\nab\n\r\n4\r\ncd");
    CHECK_OK(step(&d), d.err);
    CHECK(d.answer.is_lines);
    CHECK_STR_EQ(d.answer.body, "ab\ncd");
    say(&d, "e\n\r\n");
    CHECK_OK(step(&d), d.err);
    CHECK_STR_EQ(d.answer.body, "e\n");
    close(d.connection);
    d.connection = -1;
    CHECK_STATUS(LOCI_EUNAVAILABLE, step(&d));
    close_fake(&d);
}

/* The error that answers a request for a stream is needed whole. */
TEST(fetch, does_not_lend_json)
{
    lc_fetch fetch = {.method = "GET", .path = "/v1/events", .is_stream = true};
    fake_daemon d;

    open_fake(&d);
    CHECK_OK(lc_fetch_link_send(d.link, &fetch, &d.err), d.err);
    CHECK_OK(step(&d), d.err);
    (void)hear(&d);
    say(&d, "HTTP/1.1 401 No\r\nContent-Type: application/problem+json\r\n"
            "Content-Length: 4\r\n\r\n{\"");
    CHECK_OK(step(&d), d.err);
    CHECK(!d.answer.is_done);
    say(&d, "\":");
    CHECK_OK(step(&d), d.err);
    CHECK(d.answer.is_done);
    CHECK_STR_EQ(d.answer.body, "{\"\":");
    close_fake(&d);
}

/* What is not accepted is not repeated: it may have a password. */
TEST(fetch, checks_urls)
{
    static const char *const good[] = {"http://127.0.0.1:7077", "http://[::1]:80", "https://host",
                                       "https://host:8443/", "unix:/run/loci.sock"};
    static const char *const bad[] = {"",
                                      "127.0.0.1:7077",
                                      "http://",
                                      "http://host:0",
                                      "http://host:99999",
                                      "http://host:7077/mcp",
                                      "http://ada:secret@host",
                                      "http://ho st",
                                      "http://host?secret"};
    loci_error err;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_OK(lc_fetch_check_url(good[i], &err), err);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(LOCI_EINVAL, lc_fetch_check_url(bad[i], &err));
        CHECK(strstr(err.message, "secret") == NULL);
    }
}

/* 192.0.2.1 is an address for documentation: nobody is there, and nobody is asked. */
TEST(fetch, keeps_tokens_on_this_machine)
{
    lc_endpoint to = {.url = "http://192.0.2.1:7077", .token = LC_STR("loci_secret")};
    lc_fetch_link *link;
    loci_error err;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    CHECK_STATUS(LOCI_EFORBIDDEN, lc_fetch_link_open(&heap, &to, 100, &link, &err));
    CHECK(strstr(err.message, "secret") == NULL);
}
