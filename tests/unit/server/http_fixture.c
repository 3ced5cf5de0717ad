#include "unit/server/http_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define CLIENT_BYTES_MAX (1u << 20)
#define PATIENCE_MS 10000

/* ---- The handler ----------------------------------------------------------------------------- */

static void answer(lc_http_request *request, loci_str body)
{
    lc_http_answer(request,
                   &(lc_http_reply){.status = 200, .content_type = "text/plain", .body = body});
}

typedef struct later {
    fixture *fix;
    lc_http_request *request;
    int64_t wait_ms;
} later;

static void *answer_later(void *ctx)
{
    later *work = ctx;
    fixture *fix = work->fix;

    lc_clock_sleep_us(work->wait_ms * 1000);
    answer(work->request, LC_STR("later"));
    free(work);
    atomic_fetch_sub(&fix->threads, 1);
    return NULL;
}

static void defer(fixture *fix, lc_http_request *request)
{
    later *work = malloc(sizeof *work);
    pthread_t thread;

    *work = (later){.fix = fix, .request = request};
    CHECK(lc_str_to_i64(lc_http_query(request, "ms"), &work->wait_ms));
    lc_http_defer(request);
    atomic_fetch_add(&fix->threads, 1);
    CHECK_EQ(pthread_create(&thread, NULL, answer_later, work), 0);
    pthread_detach(thread);
}

static void say(fixture_stream *stream, const char *text)
{
    CHECK_LT(strlen(stream->said) + strlen(text), sizeof stream->said);
    strncat(stream->said, text, sizeof stream->said - strlen(stream->said) - 1);
}

static bool pull(void *ctx, loci_str *out, bool is_heartbeat)
{
    fixture_stream *stream = ctx;
    fixture *fix = stream->fixture;
    bool goes_on = true;
    eventfd_t count;

    (void)eventfd_read(stream->wake_fd, &count);
    stream->said[0] = '\0';
    pthread_mutex_lock(&fix->lock);
    while (stream->heard < fix->word_count) {
        const char *word = fix->words[stream->heard++];

        if (strcmp(word, "end") == 0)
            goes_on = false;
        else {
            say(stream, "<");
            say(stream, word);
            say(stream, ">");
        }
    }
    pthread_mutex_unlock(&fix->lock);
    if (is_heartbeat)
        say(stream, ":beat\n");
    *out = loci_str_of(stream->said);
    return goes_on;
}

static bool pull_flood(void *ctx, loci_str *out, bool is_heartbeat)
{
    static char flood[16384];

    (void)ctx;
    (void)is_heartbeat;
    memset(flood, 'f', sizeof flood);
    *out = (loci_str){flood, sizeof flood};
    return true;
}

static void close_stream(void *ctx)
{
    fixture_stream *stream = ctx;
    fixture *fix = stream->fixture;

    pthread_mutex_lock(&fix->lock);
    for (size_t i = 0; i < fix->stream_count; i++) {
        if (fix->streams[i] == stream)
            fix->streams[i] = fix->streams[--fix->stream_count];
    }
    pthread_mutex_unlock(&fix->lock);
    close(stream->wake_fd);
    free(stream);
    atomic_fetch_add(&fix->closed, 1);
}

static void open_stream(fixture *fix, lc_http_request *request, const lc_http_stream *how)
{
    fixture_stream *stream = malloc(sizeof *stream);
    lc_http_stream copy = *how;

    *stream = (fixture_stream){.fixture = fix, .wake_fd = eventfd(0, EFD_NONBLOCK)};
    pthread_mutex_lock(&fix->lock);
    CHECK_LT(fix->stream_count, FIXTURE_STREAMS_MAX);
    fix->streams[fix->stream_count++] = stream;
    pthread_mutex_unlock(&fix->lock);
    copy.content_type = "text/event-stream";
    copy.close = close_stream;
    copy.ctx = stream;
    copy.wake_fd = stream->wake_fd;
    lc_http_answer_stream(request, &copy);
}

static void hold(fixture *fix, lc_http_request *request)
{
    lc_http_defer(request);
    pthread_mutex_lock(&fix->lock);
    fix->held = request;
    fix->held_cancel = lc_http_cancel(request);
    pthread_mutex_unlock(&fix->lock);
}

static void answer_small(fixture *fix, lc_http_request *request, loci_str path)
{
    lc_buf text;
    loci_str name, value;
    loci_error err;
    int64_t bytes = 0;
    uid_t uid;

    lc_buf_init(&text, &fix->env.heap, LOCI_MEM_REQUESTS, 64u << 20);
    if (lc_str_is(path, "/uid")) {
        lc_buf_append_format(&text, "%ld", lc_http_peer_uid(request, &uid) ? (long)uid : -1L);
    } else if (lc_str_is(path, "/query")) {
        for (size_t i = 0; lc_http_query_at(request, i, &name, &value); i++)
            lc_buf_append_format(&text, "%.*s=%.*s;", (int)name.len, name.ptr, (int)value.len,
                                 value.ptr);
    } else if (lc_str_is(path, "/big")) {
        CHECK(lc_str_to_i64(lc_http_query(request, "bytes"), &bytes));
        memset(lc_buf_reserve(&text, (size_t)bytes), 'x', (size_t)bytes);
        lc_buf_grew(&text, (size_t)bytes);
    } else if (lc_str_is(path, "/error")) {
        (void)lc_fail(&err, LOCI_ECONFLICT, "fact_1 has changed");
        lc_error_set_data(&err, LC_STR("{\"expected\":4,\"status\":1}"));
        lc_http_answer_error(request, &err);
        return;
    } else {
        lc_buf_append(&text, lc_http_body(request));
    }
    answer(request, lc_buf_str(&text));
    lc_buf_clear(&text);
}

static void refuse(lc_http_request *request)
{
    lc_http_answer(request, &(lc_http_reply){.status = 401, .body = LC_STR("who are you?")});
}

static void *decide_later(void *ctx)
{
    later *work = ctx;
    fixture *fix = work->fix;

    lc_clock_sleep_us(work->wait_ms * 1000);
    if (lc_str_is(lc_http_header(work->request, "X-Admit"), "later"))
        lc_http_admit(work->request);
    else
        refuse(work->request);
    free(work);
    atomic_fetch_sub(&fix->threads, 1);
    return NULL;
}

static void admit(void *ctx, lc_http_request *request)
{
    fixture *fix = ctx;
    loci_str how = lc_http_header(request, "X-Admit");
    later *work;
    pthread_t thread;

    if (how.ptr == NULL) {
        lc_http_admit(request);
    } else if (lc_str_is(how, "no")) {
        refuse(request);
    } else {
        work = malloc(sizeof *work);
        *work = (later){.fix = fix, .request = request, .wait_ms = 50};
        lc_http_defer(request);
        atomic_fetch_add(&fix->threads, 1);
        CHECK_EQ(pthread_create(&thread, NULL, decide_later, work), 0);
        pthread_detach(thread);
    }
}

static void handle(void *ctx, lc_http_request *request)
{
    fixture *fix = ctx;
    loci_str path = lc_http_path(request);

    atomic_fetch_add(&fix->handled, 1);
    if (lc_str_is(path, "/defer"))
        defer(fix, request);
    else if (lc_str_is(path, "/hold"))
        hold(fix, request);
    else if (lc_str_is(path, "/stream"))
        open_stream(fix, request, &(lc_http_stream){.pull = pull});
    else if (lc_str_is(path, "/beat"))
        open_stream(fix, request, &(lc_http_stream){.pull = pull, .heartbeat_ms = 50});
    else if (lc_str_is(path, "/flood"))
        open_stream(fix, request, &(lc_http_stream){.pull = pull_flood});
    else
        answer_small(fix, request, path);
}

static void note_answered(void *ctx, const lc_http_request *request, int status, size_t bytes)
{
    fixture *fix = ctx;

    (void)request;
    (void)status;
    (void)bytes;
    atomic_fetch_add(&fix->answered, 1);
}

/* ---- The server ------------------------------------------------------------------------------ */

void fixture_start(fixture *fix, lc_http_options options)
{
    loci_error err = {0};

    memset(fix, 0, sizeof *fix);
    lc_heap_init(&fix->env.heap, test_heap());
    lc_random_init(&fix->env.random, 1);
    fix->env.clock = lc_clock_system_us;
    pthread_mutex_init(&fix->lock, NULL);
    if (options.listen == NULL)
        options.listen = "127.0.0.1:0";
    options.admit = admit;
    options.handle = handle;
    options.answered = note_answered;
    options.ctx = fix;
    CHECK_OK(lc_http_start(&fix->env, &options, &fix->http, &err), err);
    fix->port = lc_http_port(fix->http);
}

void fixture_stop(fixture *fix)
{
    lc_http_stop(fix->http);
    fixture_await(&fix->threads, 0);
    pthread_mutex_destroy(&fix->lock);
}

void fixture_release(fixture *fix)
{
    lc_http_request *request;

    pthread_mutex_lock(&fix->lock);
    request = fix->held;
    fix->held = NULL;
    pthread_mutex_unlock(&fix->lock);
    CHECK(request != NULL);
    answer(request, LC_STR("released"));
}

void fixture_say(fixture *fix, const char *word)
{
    pthread_mutex_lock(&fix->lock);
    snprintf(fix->words[fix->word_count++], sizeof fix->words[0], "%s", word);
    for (size_t i = 0; i < fix->stream_count; i++)
        (void)eventfd_write(fix->streams[i]->wake_fd, 1);
    pthread_mutex_unlock(&fix->lock);
}

void fixture_await(const _Atomic int *value, int wanted)
{
    for (int i = 0; i < PATIENCE_MS && atomic_load(value) != wanted; i++)
        lc_clock_sleep_us(1000);
    CHECK_EQ(atomic_load(value), wanted);
}

void fixture_await_held(fixture *fix)
{
    bool is_held = false;

    for (int i = 0; i < PATIENCE_MS && !is_held; i++) {
        pthread_mutex_lock(&fix->lock);
        is_held = fix->held != NULL;
        pthread_mutex_unlock(&fix->lock);
        lc_clock_sleep_us(1000);
    }
    CHECK(is_held);
}

/* ---- The client ------------------------------------------------------------------------------ */

int client_connect(const fixture *fix)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)fix->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

client client_open(const fixture *fix)
{
    client c = {.fd = client_connect(fix), .bytes = test_bytes(CLIENT_BYTES_MAX)};

    CHECK(c.fd >= 0);
    return c;
}

client client_open_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    client c = {.fd = socket(AF_UNIX, SOCK_STREAM, 0), .bytes = test_bytes(CLIENT_BYTES_MAX)};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    CHECK(c.fd >= 0);
    CHECK_EQ(connect(c.fd, (struct sockaddr *)&address, sizeof address), 0);
    return c;
}

void client_close(client *c)
{
    close(c->fd);
    c->fd = -1;
}

void client_send_bytes(client *c, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(c->fd, bytes, count, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* Refused in the middle of it: the reply says why. */
        bytes += sent;
        count -= (size_t)sent;
    }
}

void client_send(client *c, const char *text)
{
    client_send_bytes(c, text, strlen(text));
}

/* Reads something more; false when nothing comes. */
static bool hear_more(client *c, int64_t ms)
{
    struct pollfd socket = {.fd = c->fd, .events = POLLIN};
    ssize_t got;

    if (c->is_closed || c->len == CLIENT_BYTES_MAX || poll(&socket, 1, (int)ms) != 1)
        return false;
    got = recv(c->fd, c->bytes + c->len, CLIENT_BYTES_MAX - c->len, 0);
    if (got <= 0) {
        c->is_closed = true;
        return false;
    }
    c->len += (size_t)got;
    c->bytes[c->len] = '\0';
    return true;
}

reply client_reply(client *c)
{
    reply found = {0};
    size_t head_bytes, length = 0;
    char *end, *field;

    while ((end = strstr(c->bytes, "\r\n\r\n")) == NULL) {
        if (!hear_more(c, PATIENCE_MS))
            return found;
    }
    head_bytes = (size_t)(end - c->bytes) + 4;
    found.head = test_format("%.*s", (int)head_bytes, c->bytes);
    found.status = (int)strtol(found.head + strlen("HTTP/1.1 "), NULL, 10);
    field = strcasestr(found.head, "content-length: ");
    if (field != NULL)
        length = strtoul(field + strlen("content-length: "), NULL, 10);
    while (c->len < head_bytes + length) {
        if (!hear_more(c, PATIENCE_MS))
            return (reply){0};
    }
    found.body = test_bytes(length);
    memcpy((char *)(uintptr_t)found.body, c->bytes + head_bytes, length);
    found.body_bytes = length;
    c->len -= head_bytes + length;
    memmove(c->bytes, c->bytes + head_bytes + length, c->len + 1);
    return found;
}

bool client_hears(client *c, const char *part)
{
    while (memmem(c->bytes, c->len, part, strlen(part)) == NULL) {
        if (!hear_more(c, PATIENCE_MS))
            return false;
    }
    return true;
}

bool client_is_cut(client *c, int64_t ms)
{
    int64_t deadline_us = lc_clock_monotonic_us() + ms * 1000;

    while (!c->is_closed && lc_clock_monotonic_us() < deadline_us) {
        c->len = 0;
        (void)hear_more(c, 20);
    }
    return c->is_closed;
}
