/* provider.h - a local model provider whose answers a test controls, good or bad.
 *
 *     static void answer(void *ctx, const provider_request *request, provider_reply *reply) { … }
 *     provider *p = provider_start(answer, ctx);
 *     … provider_url(p) is "http://127.0.0.1:PORT/v1" …
 *     provider_stop(p);
 *
 * One thread serves all connections and keeps them open. `answer` runs in it, one request at a
 * time; texts in the reply must live until it was sent.
 */
#ifndef TEST_LIB_PROVIDER_H
#define TEST_LIB_PROVIDER_H

#include "loci.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct provider_request {
    int number;     /* From 0, in the order in which they were complete. */
    int connection; /* From 0, in the order in which they were accepted. */
    loci_str head;  /* Request line and headers. */
    loci_str body;
} provider_request;

typedef struct provider_reply {
    int status;          /* 200 */
    const char *headers; /* More lines, each ending with CRLF; or NULL. */
    loci_str body;
    int64_t claimed_bytes; /* The value of Content-Length; -1 = the true length. */
    bool is_raw;           /* `body` is the complete response. */
    bool hangs;            /* Nothing is sent, and the connection stays. */
    bool closes;           /* The connection is closed behind the reply. */
} provider_reply;

typedef void provider_fn(void *ctx, const provider_request *request, provider_reply *reply);

typedef struct provider provider;

provider *provider_start(provider_fn *answer, void *ctx);
void provider_stop(provider *p);
/* "http://127.0.0.1:PORT/v1" */
const char *provider_url(const provider *p);
/* Requests so far. */
int provider_requests(const provider *p);

/* Answers as a good provider would: for embeddings, `dimensions` numbers per text, made from the
 * text alone, in the requested encoding; for chats {"echo": the question}. A provider_fn; `ctx` is
 * a provider_good. */
typedef struct provider_good {
    int dimensions;
    char *reply; /* Made for each request; freed by provider_good_clear(). */
    int texts;   /* How many were embedded. */
} provider_good;
void provider_answer_well(void *ctx, const provider_request *request, provider_reply *reply);
void provider_good_clear(provider_good *good);
/* A chat model that answers with `content`, whatever it was asked. */
void provider_say(provider_good *good, const char *content, provider_reply *reply);
/* The numbers for a text, before they are normalized to length 1. */
void provider_numbers(loci_str text, int dimensions, float *out);

#endif /* TEST_LIB_PROVIDER_H */
