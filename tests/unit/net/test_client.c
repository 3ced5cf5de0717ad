/* The HTTP client against a provider that misbehaves in every way we could think of. */
#include "lib/provider.h"
#include "lib/test.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "net/client.h"

#define KEY "sk-canary-4f1d"

/* The script of the provider: the replies to the first requests; the last one is repeated. */
typedef struct script {
    provider_reply replies[8];
    int count;
    char seen[4096]; /* Head and body of the last request. */
    int connections; /* Highest number seen, + 1. */
} script;

static void play(void *ctx, const provider_request *request, provider_reply *reply)
{
    script *s = ctx;
    int at = request->number < s->count ? request->number : s->count - 1;
    size_t bytes = request->head.len + request->body.len;

    *reply = s->replies[at];
    if (bytes < sizeof s->seen) {
        memcpy(s->seen, request->head.ptr, bytes); /* The body follows the head. */
        s->seen[bytes] = '\0';
    }
    if (request->connection >= s->connections)
        s->connections = request->connection + 1;
}

static provider_reply good(const char *body)
{
    return (provider_reply){.status = 200, .body = loci_str_of(body), .claimed_bytes = -1};
}

static provider_reply refusal(int status, const char *headers)
{
    return (provider_reply){.status = status,
                            .headers = headers,
                            .body = LC_STR("{\"error\":\"" KEY "\"}"),
                            .claimed_bytes = -1};
}

typedef struct talk {
    lc_env env;
    lc_net_client *client;
    lc_net_terms terms;
    lc_buf reply;
    loci_error err;
} talk;

static int64_t frozen_clock(void *ctx)
{
    (void)ctx;
    return INT64_C(1763251200000000); /* Sun, 16 Nov 2025 00:00:00 GMT */
}

static void open_talk(talk *t, const provider *p)
{
    *t = (talk){.env.clock = frozen_clock};
    lc_heap_init(&t->env.heap, test_heap());
    lc_random_init(&t->env.random, 7);
    lc_buf_init(&t->reply, &t->env.heap, LOCI_MEM_REQUESTS, 1000);
    CHECK_OK(lc_net_client_open(&t->env, &t->client, &t->err), t->err);
    t->terms = (lc_net_terms){
        .url = p != NULL ? provider_url(p) : "http://127.0.0.1:9/",
        .key = LC_STR(KEY),
        .allow_private = true,
        .timeout_ms = 20000,
        .deadline_us = INT64_MAX,
    };
}

static void close_talk(talk *t)
{
    lc_net_client_close(t->client);
    lc_buf_clear(&t->reply);
}

static loci_status post(talk *t)
{
    lc_net_post one = {.body = LC_STR("{\"x\":1}"), .reply = &t->reply};
    loci_status status = lc_net_post_all(t->client, &t->terms, &one, 1, &t->err);

    if (status != LOCI_OK && strstr(t->err.message, "canary") != NULL)
        test_fail(__FILE__, __LINE__, "the message shows the key: %s", t->err.message);
    return status;
}

/* Sends one request; returns its status, with the message in `out`. */
static loci_status run_script(script *s, loci_error *out)
{
    provider *p = provider_start(play, s);
    loci_status status;
    talk t;

    open_talk(&t, p);
    status = post(&t);
    *out = t.err;
    close_talk(&t);
    provider_stop(p);
    return status;
}

TEST(net_client, posts_json_and_gets_the_answer)
{
    script s = {.replies = {good("{\"y\":2}")}, .count = 1};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    CHECK_OK(post(&t), t.err);
    CHECK_STR_EQ(lc_buf_str(&t.reply), "{\"y\":2}");
    close_talk(&t);
    provider_stop(p);
    CHECK_CONTAINS(s.seen, "POST /v1 HTTP/1.1\r\n");
    CHECK_CONTAINS(s.seen, "Content-Type: application/json\r\n");
    CHECK_CONTAINS(s.seen, "Authorization: Bearer " KEY "\r\n");
    CHECK_CONTAINS(s.seen, "\r\n\r\n{\"x\":1}");
    CHECK(strstr(s.seen, "Expect") == NULL);
    CHECK(strstr(s.seen, "Accept-Encoding") == NULL);
}

TEST(net_client, keeps_its_connection)
{
    script s = {.replies = {good("{}")}, .count = 1};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    for (int i = 0; i < 3; i++)
        CHECK_OK(post(&t), t.err);
    /* Other rules: what was opened under the old ones is not used. */
    t.terms.key = LC_STR_NONE;
    CHECK_OK(post(&t), t.err);
    close_talk(&t);
    provider_stop(p);
    CHECK_EQ(s.connections, 2);
    CHECK(strstr(s.seen, "Authorization") == NULL);
}

/* More posts than connections; each gets its own answer. */
static void echo(void *ctx, const provider_request *request, provider_reply *reply)
{
    char(*copies)[16] = ctx;

    memcpy(copies[request->number], request->body.ptr, request->body.len);
    reply->body = (loci_str){copies[request->number], request->body.len};
}

TEST(net_client, many_posts_at_once)
{
    static char copies[20][16];
    provider *p = provider_start(echo, copies);
    lc_net_post posts[20];
    lc_buf replies[20];
    talk t;

    open_talk(&t, p);
    for (int i = 0; i < 20; i++) {
        lc_buf_init(&replies[i], &t.env.heap, LOCI_MEM_REQUESTS, 100);
        posts[i] = (lc_net_post){.body = loci_str_of(test_format("[%d]", i)), .reply = &replies[i]};
    }
    CHECK_OK(lc_net_post_all(t.client, &t.terms, posts, 20, &t.err), t.err);
    for (int i = 0; i < 20; i++) {
        CHECK_STR_EQ(lc_buf_str(&replies[i]), posts[i].body);
        lc_buf_clear(&replies[i]);
    }
    CHECK_EQ(provider_requests(p), 20);
    close_talk(&t);
    provider_stop(p);
}

TEST(net_client, what_passes_is_tried_again)
{
    script s = {
        .replies = {refusal(429, "Retry-After: 0\r\n"),
                    refusal(503, "Retry-After: Sat, 15 Nov 2025 23:00:00 GMT\r\n"),
                    {.status = 200, .body = LC_STR("{\"z\""), .claimed_bytes = 50, .closes = true},
                    good("{\"y\":2}")},
        .count = 4};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    CHECK_OK(post(&t), t.err);
    CHECK_STR_EQ(lc_buf_str(&t.reply), "{\"y\":2}"); /* Nothing of the attempt that broke off. */
    CHECK_EQ(provider_requests(p), 4);
    close_talk(&t);
    provider_stop(p);
}

TEST(net_client, attempts_are_counted)
{
    script s = {.replies = {refusal(500, NULL)}, .count = 1};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    CHECK_STATUS(LOCI_EUNAVAILABLE, post(&t));
    CHECK_CONTAINS(t.err.message, "answered 500");
    CHECK_EQ(provider_requests(p), LC_NET_ATTEMPTS_MAX);
    close_talk(&t);
    provider_stop(p);
}

TEST(net_client, refusals_are_final)
{
    static const int refusals[] = {301, 302, 307, 400, 401, 403, 404, 422};

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        script s = {.replies = {refusal(refusals[i], "Location: http://127.0.0.1:9/\r\n")},
                    .count = 1};
        provider *p = provider_start(play, &s);
        talk t;

        open_talk(&t, p);
        CHECK_STATUS(LOCI_EUNSUPPORTED, post(&t));
        CHECK_CONTAINS(t.err.message, test_format("%d", refusals[i]));
        CHECK_EQ(provider_requests(p), 1);
        close_talk(&t);
        provider_stop(p);
    }
}

/* A wait that would end behind the deadline is not begun. */
TEST(net_client, a_retry_after_beyond_the_deadline_is_not_waited_for)
{
    script s = {.replies = {refusal(429, "Retry-After: 3600\r\n"), good("{}")}, .count = 2};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    t.terms.deadline_us = lc_clock_monotonic_us() + 30000000;
    CHECK_STATUS(LOCI_EUNAVAILABLE, post(&t));
    CHECK_CONTAINS(t.err.message, "answered 429");
    CHECK_EQ(provider_requests(p), 1);
    close_talk(&t);
    provider_stop(p);
}

TEST(net_client, answers_are_bounded)
{
    char *huge = test_bytes(1001);
    loci_error err;

    memset(huge, ' ', 1001);
    CHECK_STATUS(LOCI_ELIMIT, run_script(&(script){.replies = {good(huge)}, .count = 1}, &err));
    CHECK_CONTAINS(err.message, "1000 bytes");
    huge[1000] = '\0';
    CHECK_STATUS(LOCI_OK, run_script(&(script){.replies = {good(huge)}, .count = 1}, &err));
    /* One that says nothing of its size is bounded as well. */
    CHECK_STATUS(LOCI_ELIMIT,
                 run_script(&(script){.replies = {{.is_raw = true,
                                                   .closes = true,
                                                   .body = loci_str_of(test_format(
                                                       "HTTP/1.1 200 OK\r\n\r\n%s ", huge))}},
                                      .count = 1},
                            &err));
}

/* None of these is an answer: each is tried again until the attempts are used up. */
TEST(net_client, what_is_not_http_is_no_answer)
{
    static const char *const garbage[] = {
        "",
        "\x16\x03\x01\x02",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    };

    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        script s = {.replies = {{.is_raw = true, .closes = true, .body = loci_str_of(garbage[i])},
                                {.is_raw = true, .closes = true, .body = loci_str_of(garbage[i])},
                                good("{\"late\":1}")},
                    .count = 3};
        provider *p = provider_start(play, &s);
        talk t;

        open_talk(&t, p);
        CHECK_OK(post(&t), t.err);
        CHECK_STR_EQ(lc_buf_str(&t.reply), "{\"late\":1}");
        CHECK_EQ(provider_requests(p), 3);
        close_talk(&t);
        provider_stop(p);
    }
}

TEST(net_client, silence_ends_with_the_deadline)
{
    script s = {.replies = {{.hangs = true}}, .count = 1};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    t.terms.deadline_us = lc_clock_monotonic_us() + 300000;
    CHECK_STATUS(LOCI_EDEADLINE, post(&t));
    close_talk(&t);
    provider_stop(p);
}

TEST(net_client, silence_is_tried_again_after_its_time)
{
    script s = {.replies = {{.hangs = true}, good("{}")}, .count = 2};
    provider *p = provider_start(play, &s);
    talk t;

    open_talk(&t, p);
    t.terms.timeout_ms = 200;
    CHECK_OK(post(&t), t.err);
    CHECK_EQ(provider_requests(p), 2);
    close_talk(&t);
    provider_stop(p);
}

static loci_status give_up(void *ctx, loci_error *err)
{
    int *asked = ctx;

    return ++*asked < 3 ? LOCI_OK : lc_fail(err, LOCI_ECANCELLED, "enough");
}

TEST(net_client, a_caller_can_give_up)
{
    script s = {.replies = {{.hangs = true}}, .count = 1};
    provider *p = provider_start(play, &s);
    int asked = 0;
    talk t;

    open_talk(&t, p);
    t.terms.pause = give_up;
    t.terms.pause_ctx = &asked;
    CHECK_STATUS(LOCI_ECANCELLED, post(&t));
    CHECK_STR_EQ(t.err.message, "enough");
    close_talk(&t);
    provider_stop(p);
}

TEST(net_client, private_addresses_are_refused)
{
    static const char *const origins[] = {"http://127.0.0.1", "http://localhost",
                                          "http://[::ffff:127.0.0.1]", "http://0x7f000001",
                                          "https://127.0.0.1"};
    script s = {.replies = {good("{}")}, .count = 1};
    provider *p = provider_start(play, &s);
    int port = 0;
    talk t;

    CHECK_EQ(sscanf(provider_url(p), "http://127.0.0.1:%d/", &port), 1);
    open_talk(&t, p);
    CHECK_OK(post(&t), t.err); /* Allowed: a connection is open now, and must not be used below. */
    t.terms.allow_private = false;
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        t.terms.url = test_format("%s:%d/", origins[i], port);
        CHECK_STATUS(LOCI_EFORBIDDEN, post(&t));
        CHECK_CONTAINS(t.err.message, "private address");
    }
    CHECK_EQ(provider_requests(p), 1);
    close_talk(&t);
    provider_stop(p);
}

/* Judged by the address alone, so nothing is sent, whatever network the test runs in. */
TEST(net_client, a_key_is_not_sent_in_the_open)
{
    talk t;

    open_talk(&t, NULL);
    t.terms.url = "http://1.1.1.1:9/";
    CHECK_STATUS(LOCI_EFORBIDDEN, post(&t));
    CHECK_CONTAINS(t.err.message, "https");
    close_talk(&t);
}

TEST(net_client, urls_and_keys_that_cannot_be_used)
{
    static const char *const urls[] = {
        "",
        "host",
        "ftp://host/",
        "file:///etc/passwd",
        "http://",
        "http://u:p@host/",
        ("http://host/?key=" KEY),
        "http://host/#x",
        "http://ho st/",
    };
    talk t;

    open_talk(&t, NULL);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        t.terms.url = urls[i];
        if (post(&t) != LOCI_EINVAL)
            test_fail(__FILE__, __LINE__, "\"%s\" is taken for a URL", urls[i]);
    }
    t.terms.url = "http://127.0.0.1:9/";
    t.terms.key = LC_STR("a\r\nX-Evil: 1");
    CHECK_STATUS(LOCI_EINVAL, post(&t));
    CHECK_CONTAINS(t.err.message, "key");
    CHECK(strstr(t.err.message, "Evil") == NULL);
    CHECK_OK(lc_net_check_url("https://api.example.com/v1", &t.err), t.err);
    CHECK_STATUS(LOCI_EINVAL, lc_net_check_url("api.example.com?", &t.err));
    close_talk(&t);
}

TEST(net_client, nobody_listens)
{
    script s = {.count = 1};
    provider *p = provider_start(play, &s);
    const char *url = test_format("%s", provider_url(p));
    talk t;

    provider_stop(p);
    open_talk(&t, NULL);
    t.terms.url = url;
    CHECK_STATUS(LOCI_EUNAVAILABLE, post(&t));
    CHECK_CONTAINS(t.err.message, "127.0.0.1");
    close_talk(&t);
}

static loci_status post_once(void *ctx)
{
    provider *p = ctx;
    lc_env env = {.clock = frozen_clock};
    lc_net_client *client = NULL;
    lc_net_terms terms = {.url = provider_url(p),
                          .allow_private = true,
                          .timeout_ms = 20000,
                          .deadline_us = INT64_MAX};
    lc_buf reply;
    lc_net_post one = {.body = LC_STR("{}"), .reply = &reply};
    loci_error err;
    loci_status status;

    lc_heap_init(&env.heap, test_heap());
    lc_buf_init(&reply, &env.heap, LOCI_MEM_REQUESTS, 1000);
    status = lc_net_client_open(&env, &client, &err);
    if (status == LOCI_OK)
        status = lc_net_post_all(client, &terms, &one, 1, &err);
    lc_net_client_close(client);
    lc_buf_clear(&reply);
    return status;
}

TEST(net_client, memory_running_out)
{
    script s = {.replies = {good("{\"y\":2}")}, .count = 1};
    provider *p = provider_start(play, &s);

    test_oom_sweep(post_once, p);
    provider_stop(p);
}
