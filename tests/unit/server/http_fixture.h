/* http_fixture.h - a server with a toy handler, and a client that says exactly what it is told.
 *
 *     /echo          the body of the request
 *     /uid           who is at the other end of the Unix socket
 *     /query         the parameters, name=value; one a line
 *     /big?bytes=n   n times 'x'
 *     /error         an error of loci's with particulars
 *     /defer?ms=n    "later", from another thread
 *     /hold          nothing, until fixture_release()
 *     /stream        what fixture_say() says; ends when it says "end"
 *     /beat          ":\n\n" every 50 ms
 *     /flood         a stream that always has something to say
 *
 * The header "X-Admit" decides before the body is read: "no" is answered with 401, "later" admitted
 * and "not later" answered with 401 by another thread after 50 ms.
 */
#ifndef TEST_UNIT_SERVER_HTTP_FIXTURE_H
#define TEST_UNIT_SERVER_HTTP_FIXTURE_H

#include "base/str.h"
#include "lib/test.h"
#include "server/http.h"

#include <pthread.h>
#include <stdatomic.h>

#define FIXTURE_STREAMS_MAX 256

typedef struct fixture_stream {
    struct fixture *fixture;
    int wake_fd;
    size_t heard;    /* Words of the fixture that were said already. */
    char said[1024]; /* By the last pull. */
} fixture_stream;

typedef struct fixture {
    lc_env env;
    lc_http *http;
    int port;
    _Atomic int handled;
    _Atomic int answered;
    _Atomic int closed;  /* Streams. */
    _Atomic int threads; /* Of /defer and X-Admit, still running. */
    pthread_mutex_t lock;
    lc_http_request *held; /* The last /hold. */
    const volatile int *held_cancel;
    fixture_stream *streams[FIXTURE_STREAMS_MAX];
    size_t stream_count;
    char words[64][32];
    size_t word_count;
} fixture;

/* Starts it on 127.0.0.1, any port, unless `options` say otherwise. */
#define FIXTURE_USUAL ((lc_http_options){0})
void fixture_start(fixture *fix, lc_http_options options);
/* Stops it and waits for its threads. */
void fixture_stop(fixture *fix);
/* Answers the deferred requests with "released". */
void fixture_release(fixture *fix);
/* Says a word on all streams. */
void fixture_say(fixture *fix, const char *word);
/* Waits until *value is `wanted`; fails the test after 10 s. */
void fixture_await(const _Atomic int *value, int wanted);
void fixture_await_held(fixture *fix);

typedef struct client {
    int fd;
    char *bytes; /* Received and not yet taken. */
    size_t len;
    bool is_closed;
} client;

typedef struct reply {
    int status; /* 0 = none. */
    const char *head;
    const char *body;
    size_t body_bytes;
} reply;

/* A whole request. */
#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

/* A socket, or -1 if no server listens; any thread. */
int client_connect(const fixture *fix);
client client_open(const fixture *fix);
client client_open_unix(const char *path);
void client_close(client *c);
void client_send(client *c, const char *text);
void client_send_bytes(client *c, const char *bytes, size_t count);
/* The next reply, by its Content-Length. */
reply client_reply(client *c);
/* Reads until `part` was seen; false when the connection ends or 10 s pass without it. */
bool client_hears(client *c, const char *part);
/* Whether the other side closes within `ms`; reads and forgets what comes before. */
bool client_is_cut(client *c, int64_t ms);

#endif /* TEST_UNIT_SERVER_HTTP_FIXTURE_H */
