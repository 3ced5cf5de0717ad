/* provider.c - a loop over poll(). It must outlive a failing CHECK of the test, so nothing here
 * jumps: a missing resource ends the process. */
#include "lib/provider.h"

#include <jansson.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 32
#define REQUEST_BYTES_MAX (8u * 1024 * 1024)

typedef struct connection {
    int fd; /* -1 = free. */
    int number;
    char *bytes;
    size_t len;
    bool hangs;
} connection;

struct provider {
    pthread_t thread;
    provider_fn *answer;
    void *ctx;
    int listener;
    int wake[2];
    char url[64];
    connection connections[CONNECTIONS_MAX];
    int accepted;
    _Atomic int requests;
};

static void need(bool is_good, const char *what)
{
    if (is_good)
        return;
    perror(what);
    abort();
}

static void close_connection(connection *c)
{
    (void)close(c->fd);
    free(c->bytes);
    *c = (connection){.fd = -1};
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

static void send_reply(connection *c, const provider_reply *reply)
{
    char head[1024];
    int64_t claimed = reply->claimed_bytes >= 0 ? reply->claimed_bytes : (int64_t)reply->body.len;
    bool is_sent = true;

    if (reply->hangs) {
        c->hangs = true;
        return;
    }
    if (!reply->is_raw) {
        int len = snprintf(head, sizeof head,
                           "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
                           "Content-Length: %lld\r\n%s\r\n",
                           reply->status, (long long)claimed,
                           reply->headers != NULL ? reply->headers : "");

        is_sent = send_all(c->fd, head, (size_t)len);
    }
    if (is_sent)
        is_sent = send_all(c->fd, reply->body.ptr, reply->body.len);
    if (!is_sent || reply->closes)
        close_connection(c);
}

/* Bytes of the whole request, or 0 when it is not complete. */
static size_t request_bytes(const connection *c, size_t *out_head)
{
    const char *end = memmem(c->bytes, c->len, "\r\n\r\n", 4);
    const char *length;
    size_t head;

    if (end == NULL)
        return 0;
    head = (size_t)(end - c->bytes) + 4;
    length = memmem(c->bytes, head, "Content-Length: ", 16);
    *out_head = head;
    head += length != NULL ? strtoul(length + 16, NULL, 10) : 0;
    return head <= c->len ? head : 0;
}

static void serve_bytes(provider *p, connection *c)
{
    size_t head, whole;

    while (c->fd >= 0 && !c->hangs && (whole = request_bytes(c, &head)) > 0) {
        provider_reply reply = {.status = 200, .claimed_bytes = -1};
        provider_request request = {
            .number = atomic_load(&p->requests),
            .connection = c->number,
            .head = {c->bytes, head},
            .body = {c->bytes + head, whole - head},
        };

        p->answer(p->ctx, &request, &reply);
        atomic_fetch_add(&p->requests, 1);
        memmove(c->bytes, c->bytes + whole, c->len - whole);
        c->len -= whole;
        send_reply(c, &reply);
    }
}

static void receive(provider *p, connection *c)
{
    ssize_t got;

    if (c->bytes == NULL) {
        c->bytes = malloc(REQUEST_BYTES_MAX);
        need(c->bytes != NULL, "malloc");
    }
    got = recv(c->fd, c->bytes + c->len, REQUEST_BYTES_MAX - c->len, 0);
    if (got <= 0) {
        close_connection(c);
        return;
    }
    c->len += (size_t)got;
    serve_bytes(p, c);
}

static void accept_one(provider *p)
{
    int fd = accept(p->listener, NULL, NULL);

    if (fd < 0)
        return;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (p->connections[i].fd < 0) {
            p->connections[i] = (connection){.fd = fd, .number = p->accepted++};
            return;
        }
    }
    (void)close(fd);
}

static void *serve(void *ctx)
{
    provider *p = ctx;

    for (;;) {
        struct pollfd waiting[CONNECTIONS_MAX + 2] = {
            {.fd = p->wake[0], .events = POLLIN},
            {.fd = p->listener, .events = POLLIN},
        };

        for (int i = 0; i < CONNECTIONS_MAX; i++)
            waiting[i + 2] = (struct pollfd){.fd = p->connections[i].fd, .events = POLLIN};
        if (poll(waiting, CONNECTIONS_MAX + 2, -1) < 0)
            continue;
        if (waiting[0].revents != 0)
            return NULL;
        for (int i = 0; i < CONNECTIONS_MAX; i++) {
            if (waiting[i + 2].revents != 0)
                receive(p, &p->connections[i]);
        }
        if (waiting[1].revents != 0)
            accept_one(p);
    }
}

provider *provider_start(provider_fn *answer, void *ctx)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    provider *p = calloc(1, sizeof *p);

    need(p != NULL, "calloc");
    p->answer = answer;
    p->ctx = ctx;
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        p->connections[i].fd = -1;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(p->listener >= 0, "socket");
    need(bind(p->listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    need(listen(p->listener, 64) == 0, "listen");
    need(getsockname(p->listener, (struct sockaddr *)&address, &bytes) == 0, "getsockname");
    need(pipe(p->wake) == 0, "pipe");
    (void)snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/v1", ntohs(address.sin_port));
    need(pthread_create(&p->thread, NULL, serve, p) == 0, "pthread_create");
    return p;
}

void provider_stop(provider *p)
{
    need(write(p->wake[1], "", 1) == 1, "write");
    need(pthread_join(p->thread, NULL) == 0, "pthread_join");
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (p->connections[i].fd >= 0)
            close_connection(&p->connections[i]);
    }
    (void)close(p->listener);
    (void)close(p->wake[0]);
    (void)close(p->wake[1]);
    free(p);
}

const char *provider_url(const provider *p)
{
    return p->url;
}

int provider_requests(const provider *p)
{
    return atomic_load(&p->requests);
}

/* ---- A good one ------------------------------------------------------------------------------ */

/* Depends on every byte of the text, and on its place a little. */
void provider_numbers(loci_str text, int dimensions, float *out)
{
    for (int i = 0; i < dimensions; i++)
        out[i] = 0.5f / (float)(i + 1);
    for (size_t i = 0; i < text.len; i++)
        out[((unsigned char)text.ptr[i] + i) % (size_t)dimensions] += 1;
}

static char *base64_of(const void *data, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = data;
    char *out = calloc(1, bytes * 4 / 3 + 8);
    char *at = out;

    need(out != NULL, "calloc");
    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        unsigned three = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                         (left > 2 ? in[i + 2] : 0);

        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[three & 63] : '=';
    }
    return out;
}

static json_t *vector_of(const json_t *text, int dimensions, bool is_base64)
{
    float *numbers = calloc((size_t)dimensions, sizeof *numbers);
    json_t *vector;

    need(numbers != NULL, "calloc");
    provider_numbers((loci_str){json_string_value(text), json_string_length(text)}, dimensions,
                     numbers);
    if (is_base64) {
        char *digits = base64_of(numbers, (size_t)dimensions * sizeof *numbers);

        vector = json_string(digits);
        free(digits);
    } else {
        vector = json_array();
        for (int i = 0; i < dimensions; i++)
            json_array_append_new(vector, json_real((double)numbers[i]));
    }
    free(numbers);
    return vector;
}

/* In reverse order: a client that assumes the order of the request is caught. */
static json_t *embed(provider_good *good, const json_t *request)
{
    const json_t *input = json_object_get(request, "input");
    const char *format = json_string_value(json_object_get(request, "encoding_format"));
    json_t *data = json_array();

    for (size_t i = json_array_size(input); i-- > 0;) {
        json_t *one = json_object();

        json_object_set_new(one, "object", json_string("embedding"));
        json_object_set_new(one, "index", json_integer((json_int_t)i));
        json_object_set_new(one, "embedding",
                            vector_of(json_array_get(input, i), good->dimensions,
                                      format != NULL && strcmp(format, "base64") == 0));
        json_array_append_new(data, one);
        good->texts++;
    }
    return json_pack("{s:s, s:o, s:O, s:{s:I, s:I}}", "object", "list", "data", data, "model",
                     json_object_get(request, "model"), "usage", "prompt_tokens",
                     (json_int_t)(json_array_size(input) * 3), "total_tokens",
                     (json_int_t)(json_array_size(input) * 3));
}

static json_t *completion(const char *text)
{
    return json_pack("{s:s, s:[{s:i, s:s, s:{s:s, s:s, s:n}}], s:{s:i, s:i}}", "object",
                     "chat.completion", "choices", "index", 0, "finish_reason", "stop", "message",
                     "role", "assistant", "content", text, "refusal", "usage", "prompt_tokens", 11,
                     "completion_tokens", 7);
}

static json_t *chat(const json_t *request)
{
    const json_t *messages = json_object_get(request, "messages");
    const json_t *last = json_array_get(messages, json_array_size(messages) - 1);
    json_t *content = json_object();
    char *text;
    json_t *reply;

    json_object_set(content, "echo", json_object_get(last, "content"));
    text = json_dumps(content, JSON_COMPACT);
    reply = completion(text);
    free(text);
    json_decref(content);
    return reply;
}

static void put_reply(provider_good *good, json_t *answer, provider_reply *reply)
{
    free(good->reply);
    good->reply = NULL;
    if (answer == NULL) {
        reply->status = 400;
    } else {
        good->reply = json_dumps(answer, JSON_COMPACT);
        reply->body = loci_str_of(good->reply);
    }
    json_decref(answer);
}

void provider_say(provider_good *good, const char *content, provider_reply *reply)
{
    put_reply(good, completion(content), reply);
}

void provider_answer_well(void *ctx, const provider_request *request, provider_reply *reply)
{
    provider_good *good = ctx;
    json_t *asked = json_loadb(request->body.ptr, request->body.len, 0, NULL);
    bool is_chat = memmem(request->head.ptr, request->head.len, "/chat/completions", 17) != NULL;

    put_reply(good, asked == NULL ? NULL : is_chat ? chat(asked) : embed(good, asked), reply);
    json_decref(asked);
}

void provider_good_clear(provider_good *good)
{
    free(good->reply);
    good->reply = NULL;
}
