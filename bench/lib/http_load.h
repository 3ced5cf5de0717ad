/* http_load.h - many keep-alive connections from one thread, each with one request at a time. */
#ifndef LC_BENCH_LIB_HTTP_LOAD_H
#define LC_BENCH_LIB_HTTP_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_LOAD_CONNECTIONS_MAX 256
#define HTTP_LOAD_REQUEST_BYTES 2048

typedef struct http_load {
    int port;
    int connections;
    int requests;
    /* Writes the whole request; returns its bytes. */
    size_t (*request)(void *ctx, int number, char out[HTTP_LOAD_REQUEST_BYTES]);
    void *ctx;
    /* Never sleeps. A server's answer then wakes nobody: waking a sleeping client, which a fast
     * server does seldom and a slower one always, would count as the server's time. */
    bool is_spinning;
} http_load;

typedef struct http_loaded {
    double seconds;
    int failed;        /* Answered with anything but 2xx. */
    size_t body_bytes; /* Of the last answer. */
} http_loaded;

/* Any failure of a connection ends the process. */
http_loaded http_load_run(const http_load *load);
/* A connected socket of this machine. */
int http_load_connect(int port);

#endif /* LC_BENCH_LIB_HTTP_LOAD_H */
