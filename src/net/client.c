/* client.c - one loop over curl's multi handle.
 *
 *     waiting --due, and a place free--> running --2xx--> done
 *        ^                                  |--may pass, attempts and time left--> (waiting)
 *                                           `--anything else: the call ends
 *
 * Addresses are judged in the callback that opens the socket: behind the resolver and before the
 * connection, so what was judged is what is spoken to. A connection that is used again was judged
 * when it was opened; when the rules of a call differ from those of the call before, all
 * connections are dropped first. curl takes its own memory; bodies are ours and bounded.
 */
#include "net/client.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "net/private_address.h"
#include "net/retry.h"

#define CONNECT_TIMEOUT_MS 10000
#define LOOK_MS 100 /* How often the caller is asked whether to go on. */
#define ORIGIN_BYTES 300
#define KEY_BYTES_MAX 4096

struct lc_net_client {
    lc_env *env;
    CURLM *multi;
    unsigned rules; /* RULE_... that its connections were opened under. */
};

#define RULE_PRIVATE 1u /* Private addresses are fine. */
#define RULE_KEY 2u     /* A key is sent. */
#define RULE_PLAIN 4u   /* Over HTTP. */

typedef enum transfer_state { WAITING, RUNNING, DONE } transfer_state;

typedef struct exchange exchange;

/* One post on its way. */
typedef struct transfer {
    exchange *of;
    lc_net_post *post;
    CURL *easy; /* While running. */
    transfer_state state;
    int attempts;
    int64_t due_us;
    bool hit_private; /* Addresses that were refused in this attempt. */
    bool hit_plain_key;
} transfer;

/* One call. */
struct exchange {
    lc_net_client *client;
    const lc_net_terms *terms;
    unsigned rules;
    char origin[ORIGIN_BYTES]; /* "https://host:port", for messages. */
    struct curl_slist *headers;
    transfer *transfers;
    size_t count;
    size_t done;
    size_t running;
};

loci_status lc_net_client_open(lc_env *env, lc_net_client **out, loci_error *err)
{
    lc_net_client *client = lc_heap_zalloc(&env->heap, sizeof *client, LOCI_MEM_LLM_BUFFERS);

    if (client == NULL)
        return lc_fail_memory(err);
    client->env = env;
    /* Counted, and safe from any thread in the versions we build with. */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        lc_heap_free(&env->heap, client, sizeof *client, LOCI_MEM_LLM_BUFFERS);
        return lc_fail(err, LOCI_ERESOURCE, "the HTTP client cannot be started");
    }
    *out = client;
    return LOCI_OK;
}

void lc_net_client_close(lc_net_client *client)
{
    if (client == NULL)
        return;
    if (client->multi != NULL)
        (void)curl_multi_cleanup(client->multi);
    curl_global_cleanup();
    lc_heap_free(&client->env->heap, client, sizeof *client, LOCI_MEM_LLM_BUFFERS);
}

/* ---- Before anything is sent ----------------------------------------------------------------- */

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;

    curl_free(text);
    return has;
}

/* Writes "https://host:port". */
static bool put_origin(CURLU *url, char out[ORIGIN_BYTES])
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    int bytes = -1;

    if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0))
        bytes = snprintf(out, ORIGIN_BYTES, "%s://%s:%s", scheme, host, port);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    return bytes > 0 && bytes < ORIGIN_BYTES;
}

static loci_status read_origin(const char *text, char out[ORIGIN_BYTES], loci_error *err)
{
    CURLU *url = curl_url();
    loci_status status = LOCI_OK;

    if (url == NULL)
        return lc_fail_memory(err);
    if (curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK || !put_origin(url, out))
        status = lc_fail(err, LOCI_EINVAL,
                         "not the URL of a provider; one looks like https://host/v1");
    else if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        status = lc_fail(err, LOCI_EINVAL,
                         "the URL of a provider holds no user or password; the key is a secret");
    else if (has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT))
        status = lc_fail(err, LOCI_EINVAL, "the URL of a provider has no ? and no #");
    curl_url_cleanup(url);
    return status;
}

loci_status lc_net_check_url(const char *url, loci_error *err)
{
    char origin[ORIGIN_BYTES];

    return read_origin(url, origin, err);
}

/* A line end in a key would begin another header. */
static loci_status check_key(loci_str key, loci_error *err)
{
    bool is_good = key.len <= KEY_BYTES_MAX;

    for (size_t i = 0; is_good && i < key.len; i++)
        is_good = key.ptr[i] > 0x20 && key.ptr[i] < 0x7F;
    if (is_good)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "the key of the provider is not one line of up to %d letters and digits",
                   KEY_BYTES_MAX);
}

static bool add_header(struct curl_slist **list, const char *header)
{
    struct curl_slist *longer = curl_slist_append(*list, header);

    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

static loci_status make_headers(exchange *e, loci_error *err)
{
    char authorization[KEY_BYTES_MAX + 32];
    loci_str key = e->terms->key;
    loci_status status = check_key(key, err);
    bool is_made;

    if (status != LOCI_OK)
        return status;
    is_made = add_header(&e->headers, "Content-Type: application/json") &&
              add_header(&e->headers, "Accept: application/json") &&
              add_header(&e->headers, "Expect:"); /* No second round trip for a large body. */
    if (is_made && key.len > 0) {
        (void)snprintf(authorization, sizeof authorization, "Authorization: Bearer %.*s",
                       (int)key.len, key.ptr); /* Bounded by check_key(). */
        is_made = add_header(&e->headers, authorization);
        explicit_bzero(authorization, sizeof authorization);
    }
    return is_made ? LOCI_OK : lc_fail_memory(err);
}

static loci_status prepare_multi(exchange *e, loci_error *err)
{
    lc_net_client *client = e->client;

    if (client->multi != NULL && client->rules != e->rules) {
        (void)curl_multi_cleanup(client->multi);
        client->multi = NULL;
    }
    client->rules = e->rules;
    if (client->multi == NULL)
        client->multi = curl_multi_init();
    if (client->multi == NULL)
        return lc_fail_memory(err);
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)LC_NET_PARALLEL_MAX);
    return LOCI_OK;
}

/* ---- What curl calls ------------------------------------------------------------------------- */

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    transfer *t = ctx;
    unsigned rules = t->of->rules;
    bool is_private = lc_net_is_private(&address->addr);

    (void)purpose; /* There is only one. */
    if (is_private && (rules & RULE_PRIVATE) == 0) {
        t->hit_private = true;
        return CURL_SOCKET_BAD;
    }
    if (!is_private && (rules & (RULE_KEY | RULE_PLAIN)) == (RULE_KEY | RULE_PLAIN)) {
        t->hit_plain_key = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Anything less than all of it ends the transfer. */
static size_t take_bytes(char *bytes, size_t one, size_t count, void *ctx)
{
    transfer *t = ctx;

    lc_buf_append(t->post->reply, (loci_str){bytes, one * count});
    return t->post->reply->failure == LOCI_OK ? one * count : 0;
}

/* ---- One attempt ----------------------------------------------------------------------------- */

/* A little behind the deadline, which run_all() then finds first. */
static long attempt_ms(const exchange *e, int64_t now_us)
{
    int64_t ms = e->terms->timeout_ms;

    if (e->terms->deadline_us != INT64_MAX && (e->terms->deadline_us - now_us) / 1000 + 2 < ms)
        ms = (e->terms->deadline_us - now_us) / 1000 + 2;
    return (long)ms;
}

/* An option that fails (out of memory, an unknown protocol) leaves a handle that is not used. */
static bool set_options(transfer *t, int64_t now_us)
{
    const exchange *e = t->of;
    CURL *easy = t->easy;
    long ms = attempt_ms(e, now_us);

    return curl_easy_setopt(easy, CURLOPT_URL, e->terms->url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, e->headers) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERAGENT, "loci") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDS, t->post->body.ptr) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->post->body.len) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                            ms < CONNECT_TIMEOUT_MS ? ms : (long)CONNECT_TIMEOUT_MS) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, ms) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, t) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PRIVATE, t) == CURLE_OK;
}

static void drop_attempt(transfer *t)
{
    if (t->easy == NULL)
        return;
    if (t->state == RUNNING) {
        (void)curl_multi_remove_handle(t->of->client->multi, t->easy);
        t->of->running--;
    }
    curl_easy_cleanup(t->easy);
    t->easy = NULL;
}

static loci_status start_attempt(transfer *t, int64_t now_us, loci_error *err)
{
    lc_buf_reset(t->post->reply);
    t->hit_private = false;
    t->hit_plain_key = false;
    t->easy = curl_easy_init();
    if (t->easy == NULL || !set_options(t, now_us) ||
        curl_multi_add_handle(t->of->client->multi, t->easy) != CURLM_OK) {
        drop_attempt(t);
        return lc_fail_memory(err);
    }
    t->state = RUNNING;
    t->attempts++;
    t->of->running++;
    return LOCI_OK;
}

/* ---- How an attempt ended -------------------------------------------------------------------- */

/* What another attempt would not change. */
static bool is_final(CURLcode code)
{
    return code == CURLE_URL_MALFORMAT || code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_SSL_CACERT_BADFILE;
}

static loci_status fail_refused(const exchange *e, int http_status, loci_error *err)
{
    if (http_status >= 300 && http_status < 400)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s answers %d, a redirect, which is not followed: set the URL it leads to",
                       e->origin, http_status);
    if (http_status == 401 || http_status == 403)
        return lc_fail(err, LOCI_EUNSUPPORTED, "%s answers %d: it does not accept %s", e->origin,
                       http_status, e->terms->key.len > 0 ? "the key" : "requests without a key");
    if (http_status == 404 || http_status == 405)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s answers %d: the URL or the name of the model is not right", e->origin,
                       http_status);
    return lc_fail(err, LOCI_EUNSUPPORTED, "%s answers %d: it refuses the request", e->origin,
                   http_status);
}

/* A failure that may pass, and did not in time. */
static loci_status fail_passing(const transfer *t, CURLcode code, int http_status, loci_error *err)
{
    const exchange *e = t->of;

    if (lc_clock_monotonic_us() >= e->terms->deadline_us)
        return lc_fail(err, LOCI_EDEADLINE, "%s did not answer in time", e->origin);
    if (code != CURLE_OK)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s (attempts: %d)", e->origin,
                       curl_easy_strerror(code), t->attempts);
    return lc_fail(err, LOCI_EUNAVAILABLE, "%s answers %d (attempts: %d)", e->origin, http_status,
                   t->attempts);
}

static int64_t pause_us(const transfer *t, CURLcode code)
{
    lc_env *env = t->of->client->env;
    int64_t wait_ms = lc_net_backoff_ms(&env->random, t->attempts);
    int64_t asked_ms = -1;
    struct curl_header *header;

    if (code == CURLE_OK &&
        curl_easy_header(t->easy, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        asked_ms = lc_net_retry_after_ms(header->value, lc_env_now_us(env));
    return (asked_ms > wait_ms ? asked_ms : wait_ms) * 1000;
}

/* Back to waiting, if there is an attempt and time left for it. */
static loci_status try_again(transfer *t, CURLcode code, int http_status, loci_error *err)
{
    int64_t due_us = lc_clock_monotonic_us() + pause_us(t, code);

    drop_attempt(t);
    if (t->attempts >= LC_NET_ATTEMPTS_MAX || due_us >= t->of->terms->deadline_us)
        return fail_passing(t, code, http_status, err);
    t->state = WAITING;
    t->due_us = due_us;
    return LOCI_OK;
}

static loci_status settle(transfer *t, CURLcode code, loci_error *err)
{
    const exchange *e = t->of;
    const lc_buf *reply = t->post->reply;
    long http_status = 0;

    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &http_status); /* Cannot fail. */
    if (reply->failure == LOCI_ELIMIT)
        return lc_fail(err, LOCI_ELIMIT, "%s answers more than %zu bytes", e->origin,
                       reply->bytes_max);
    if (reply->failure != LOCI_OK)
        return lc_buf_status(reply, err);
    if (code == CURLE_OUT_OF_MEMORY)
        return lc_fail_memory(err);
    if (code != CURLE_OK && t->hit_private)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "%s is a private address; the setting model.allow_private allows those",
                       e->origin);
    if (code != CURLE_OK && t->hit_plain_key)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "%s: a key is not sent to another network without TLS; use https",
                       e->origin);
    if (is_final(code))
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s", e->origin, curl_easy_strerror(code));
    if (code != CURLE_OK || lc_net_may_pass((int)http_status))
        return try_again(t, code, (int)http_status, err);
    if (http_status < 200 || http_status > 299)
        return fail_refused(e, (int)http_status, err);
    drop_attempt(t);
    t->state = DONE;
    t->of->done++;
    return LOCI_OK;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Starts what is due; `*out_wait_ms` gets how long nothing else will be. */
static loci_status start_due(exchange *e, int *out_wait_ms, loci_error *err)
{
    int64_t now_us = lc_clock_monotonic_us();
    int64_t wait_us = LOOK_MS * 1000;
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < e->count; i++) {
        transfer *t = &e->transfers[i];

        if (t->state != WAITING || e->running == LC_NET_PARALLEL_MAX)
            continue;
        if (t->due_us <= now_us)
            status = start_attempt(t, now_us, err);
        else if (t->due_us - now_us < wait_us)
            wait_us = t->due_us - now_us;
    }
    *out_wait_ms = (int)((wait_us + 999) / 1000);
    return status;
}

static loci_status settle_ended(exchange *e, loci_error *err)
{
    loci_status status = LOCI_OK;
    CURLMsg *message;
    int left;

    while (status == LOCI_OK && (message = curl_multi_info_read(e->client->multi, &left)) != NULL) {
        transfer *t = NULL;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t); /* We set it. */
        LC_ASSERT(t != NULL);
        status = settle(t, code, err);
    }
    return status;
}

static loci_status check_end(const exchange *e, loci_error *err)
{
    if (lc_clock_monotonic_us() >= e->terms->deadline_us)
        return lc_fail(err, LOCI_EDEADLINE, "%s did not answer in time", e->origin);
    return e->terms->pause != NULL ? e->terms->pause(e->terms->pause_ctx, err) : LOCI_OK;
}

static loci_status run_all(exchange *e, loci_error *err)
{
    loci_status status = LOCI_OK;
    int running, wait_ms;

    while (e->done < e->count) {
        status = check_end(e, err);
        if (status == LOCI_OK)
            status = start_due(e, &wait_ms, err);
        if (status == LOCI_OK && curl_multi_perform(e->client->multi, &running) != CURLM_OK)
            status = lc_fail_memory(err);
        if (status == LOCI_OK)
            status = settle_ended(e, err);
        if (status != LOCI_OK)
            break;
        if (e->done < e->count)
            (void)curl_multi_poll(e->client->multi, NULL, 0, wait_ms, NULL);
    }
    return status;
}

loci_status lc_net_post_all(lc_net_client *client, const lc_net_terms *terms, lc_net_post *posts,
                            size_t count, loci_error *err)
{
    lc_heap *heap = &client->env->heap;
    exchange e = {.client = client, .terms = terms, .count = count};
    loci_status status = read_origin(terms->url, e.origin, err);

    if (status != LOCI_OK || count == 0)
        return status;
    e.rules = (terms->allow_private ? RULE_PRIVATE : 0) | (terms->key.len > 0 ? RULE_KEY : 0) |
              (lc_str_starts(loci_str_of(e.origin), LC_STR("http:")) ? RULE_PLAIN : 0);
    e.transfers = lc_heap_zalloc(heap, count * sizeof *e.transfers, LOCI_MEM_LLM_BUFFERS);
    if (e.transfers == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        e.transfers[i] = (transfer){.of = &e, .post = &posts[i]};
    status = make_headers(&e, err);
    if (status == LOCI_OK)
        status = prepare_multi(&e, err);
    if (status == LOCI_OK)
        status = run_all(&e, err);
    for (size_t i = 0; i < count; i++)
        drop_attempt(&e.transfers[i]);
    curl_slist_free_all(e.headers);
    lc_heap_free(heap, e.transfers, count * sizeof *e.transfers, LOCI_MEM_LLM_BUFFERS);
    return status;
}
