/* client.c - one loop over curl's multi handle.
 *
 *     waiting --due, connection free--> running --2xx--> done
 *        ^                                 |--temporary failure, attempts and time left--> waiting
 *                                          `--any other failure: the call ends
 *
 * Addresses are checked in the callback that opens the socket, after DNS and before the connection,
 * so the checked address is the one used. A reused connection was checked when it was opened; if
 * the rules of a call differ from those of the last call, all connections are closed first. curl
 * allocates its own memory; bodies are ours and bounded.
 *
 * libcurl is loaded with the first client: it brings some twenty shared libraries along (TLS,
 * Kerberos, LDAP, HTTP/2).
 */
#include "net/client.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/library.h"
#include "base/str.h"

#define CONNECT_TIMEOUT_MS 10000
#define LOOK_MS 100 /* Interval of the calls of `pause`. */
#define ORIGIN_BYTES 300
#define KEY_BYTES_MAX 4096

/* Calls through the table bypass the type checks of curl's macros: pass a `long` where an option
 * takes one. */
#define CURL_FUNCTIONS(X)                                                                          \
    X(global_init)                                                                                 \
    X(global_cleanup)                                                                              \
    X(free)                                                                                        \
    X(getdate)                                                                                     \
    X(url)                                                                                         \
    X(url_set)                                                                                     \
    X(url_get)                                                                                     \
    X(url_cleanup)                                                                                 \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_header)                                                                                 \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(multi_init)                                                                                  \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_info_read)                                                                             \
    X(multi_cleanup)

typedef struct curl_table {
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
} curl_table;

static loci_status load_curl(curl_table *out, loci_error *err)
{
#define CURL_NAME(name) "curl_" #name,
    static const char *const names[] = {CURL_FUNCTIONS(CURL_NAME) NULL};
#undef CURL_NAME
    static const lc_library library = {"libcurl.so.4", "a model provider", "libcurl4", "curl 7.85",
                                       names};

    return lc_library_load(&library, out, err);
}

struct lc_net_client {
    lc_env *env;
    curl_table curl;
    CURLM *multi;
    unsigned rules; /* RULE_... of its open connections. */
};

#define RULE_PRIVATE 1u /* Private addresses are allowed. */
#define RULE_KEY 2u     /* A key is sent. */
#define RULE_PLAIN 4u   /* Over plain HTTP. */

typedef enum transfer_state { WAITING, RUNNING, DONE } transfer_state;

typedef struct exchange exchange;

/* One post. */
typedef struct transfer {
    exchange *of;
    lc_net_post *post;
    CURL *easy; /* While running. */
    transfer_state state;
    int attempts;
    int64_t due_us;
    bool hit_private; /* An address was refused in this attempt. */
    bool hit_plain_key;
} transfer;

/* One call. */
struct exchange {
    lc_net_client *client;
    const curl_table *curl; /* The client's. */
    const lc_net_terms *terms;
    unsigned rules;
    char origin[ORIGIN_BYTES]; /* "https://host:port", for messages. */
    struct curl_slist *headers;
    transfer *transfers;
    size_t count;
    size_t done;
    size_t running;
};

/* ---- Private addresses ----------------------------------------------------------------------- */

/* The parts of IANA's registries of special-purpose addresses that are not globally reachable, and
 * multicast. */
typedef struct block4 {
    uint32_t prefix;
    int bits;
} block4;

static const block4 blocks4[] = {
    {0x00000000, 8},  /* this network */
    {0x0A000000, 8},  /* 10/8 */
    {0x64400000, 10}, /* 100.64/10: behind a carrier's translation */
    {0x7F000000, 8},  /* loopback */
    {0xA9FE0000, 16}, /* 169.254/16: link-local, metadata services */
    {0xAC100000, 12}, /* 172.16/12 */
    {0xC0000000, 24}, /* 192.0.0/24: protocols */
    {0xC0000200, 24}, /* 192.0.2/24: documentation, as the next two of 24 bits */
    {0xC0A80000, 16}, /* 192.168/16 */
    {0xC6120000, 15}, /* 198.18/15: benchmarks */
    {0xC6336400, 24}, /* 198.51.100/24 */
    {0xCB007100, 24}, /* 203.0.113/24 */
    {0xE0000000, 3},  /* multicast, reserved, broadcast */
};

static bool is_private4(uint32_t address)
{
    for (size_t i = 0; i < sizeof blocks4 / sizeof *blocks4; i++) {
        if ((address ^ blocks4[i].prefix) >> (32 - blocks4[i].bits) == 0)
            return true;
    }
    return false;
}

static uint32_t read4(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is_private6(const uint8_t a[16])
{
    static const uint8_t zeros[12] = {0};
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static const uint8_t nat64[12] = {0, 0x64, 0xFF, 0x9B};

    if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0)
        return is_private4(read4(a + 12));
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return is_private4(read4(a + 2));
    /* Unspecified, loopback, and the obsolete IPv4-compatible form. */
    if (memcmp(a, zeros, 12) == 0)
        return true;
    if (a[0] == 0x20 && a[1] == 0x01)
        return a[2] < 0x02 || (a[2] == 0x0D && a[3] == 0xB8); /* Teredo and others; documentation */
    return a[0] >> 5 != 1;                                    /* Public unicast is 2000::/3. */
}

bool lc_net_is_private(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;

        memcpy(&v4, address, sizeof v4);
        return is_private4(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;

        memcpy(&v6, address, sizeof v6);
        return is_private6(v6.sin6_addr.s6_addr);
    }
    return true;
}

/* ---- Retries --------------------------------------------------------------------------------- */

bool lc_net_may_pass(int http_status)
{
    return http_status == 429 || (http_status >= 500 && http_status <= 599);
}

int64_t lc_net_backoff_ms(lc_random *random, int attempts)
{
    int64_t whole = LC_NET_BACKOFF_MS;

    for (int i = 1; i < attempts && whole < LC_NET_BACKOFF_MS_MAX; i++)
        whole *= 2;
    if (whole > LC_NET_BACKOFF_MS_MAX)
        whole = LC_NET_BACKOFF_MS_MAX;
    return lc_random_between(random, whole / 2, whole);
}

/* Digits only: no sign, no fraction. */
static bool read_seconds(loci_str text, int64_t *out)
{
    int64_t seconds = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        seconds = seconds * 10 + (text.ptr[i] - '0');
        if (seconds > LC_NET_RETRY_AFTER_MS_MAX)
            seconds = LC_NET_RETRY_AFTER_MS_MAX; /* Above the maximum already. */
    }
    *out = seconds;
    return true;
}

int64_t lc_net_retry_after_ms(const lc_net_client *client, const char *value, int64_t now_us)
{
    loci_str text = lc_str_trim(loci_str_of(value));
    int64_t seconds, wait_ms;
    time_t at;

    if (read_seconds(text, &seconds)) {
        wait_ms = seconds * 1000;
    } else {
        at = client->curl.getdate(value, NULL);
        if (at < 0)
            return -1;
        wait_ms = ((int64_t)at * 1000000 - now_us) / 1000;
    }
    if (wait_ms < 0)
        return 0;
    return wait_ms < LC_NET_RETRY_AFTER_MS_MAX ? wait_ms : LC_NET_RETRY_AFTER_MS_MAX;
}

/* ---- Clients --------------------------------------------------------------------------------- */

loci_status lc_net_client_open(lc_env *env, lc_net_client **out, loci_error *err)
{
    lc_net_client *client = lc_heap_zalloc(&env->heap, sizeof *client, LOCI_MEM_LLM_BUFFERS);
    loci_status status;

    if (client == NULL)
        return lc_fail_memory(err);
    client->env = env;
    status = load_curl(&client->curl, err);
    /* Reference counted, and thread-safe since 7.84. */
    if (status == LOCI_OK && client->curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        status = lc_fail(err, LOCI_ERESOURCE, "libcurl cannot be initialised");
    if (status == LOCI_OK)
        *out = client;
    else
        lc_heap_free(&env->heap, client, sizeof *client, LOCI_MEM_LLM_BUFFERS);
    return status;
}

void lc_net_client_close(lc_net_client *client)
{
    if (client == NULL)
        return;
    if (client->multi != NULL)
        (void)client->curl.multi_cleanup(client->multi);
    client->curl.global_cleanup();
    lc_heap_free(&client->env->heap, client, sizeof *client, LOCI_MEM_LLM_BUFFERS);
}

/* ---- Preparing a call ------------------------------------------------------------------------ */

static bool has_part(const curl_table *curl, CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = curl->url_get(url, part, &text, 0) == CURLUE_OK;

    curl->free(text);
    return has;
}

/* Writes "https://host:port". */
static bool put_origin(const curl_table *curl, CURLU *url, char out[ORIGIN_BYTES])
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    int bytes = -1;

    if (curl->url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl->url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl->url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0))
        bytes = snprintf(out, ORIGIN_BYTES, "%s://%s:%s", scheme, host, port);
    curl->free(scheme);
    curl->free(host);
    curl->free(port);
    return bytes > 0 && bytes < ORIGIN_BYTES;
}

static loci_status read_origin(const curl_table *curl, const char *text, char out[ORIGIN_BYTES],
                               loci_error *err)
{
    CURLU *url = curl->url();
    loci_status status = LOCI_OK;

    if (url == NULL)
        return lc_fail_memory(err);
    if (curl->url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK || !put_origin(curl, url, out))
        status = lc_fail(err, LOCI_EINVAL,
                         "the provider's URL is not valid; it must look like https://host/v1");
    else if (has_part(curl, url, CURLUPART_USER) || has_part(curl, url, CURLUPART_PASSWORD))
        status = lc_fail(err, LOCI_EINVAL,
                         "the provider's URL contains a user or a password; put the key into the "
                         "key setting instead");
    else if (has_part(curl, url, CURLUPART_QUERY) || has_part(curl, url, CURLUPART_FRAGMENT))
        status = lc_fail(err, LOCI_EINVAL,
                         "the provider's URL contains ? or #; it must look like https://host/v1");
    curl->url_cleanup(url);
    return status;
}

loci_status lc_net_check_url(const char *url, loci_error *err)
{
    char origin[ORIGIN_BYTES];
    curl_table curl;
    loci_status status = load_curl(&curl, err);

    return status == LOCI_OK ? read_origin(&curl, url, origin, err) : status;
}

/* A newline in the key would start another header. */
static loci_status check_key(loci_str key, loci_error *err)
{
    bool is_good = key.len <= KEY_BYTES_MAX;

    for (size_t i = 0; is_good && i < key.len; i++)
        is_good = key.ptr[i] > 0x20 && key.ptr[i] < 0x7F;
    if (is_good)
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL,
                   "the key of the provider must be one line of at most %d printable characters",
                   KEY_BYTES_MAX);
}

static bool add_header(exchange *e, const char *header)
{
    struct curl_slist *longer = e->curl->slist_append(e->headers, header);

    if (longer != NULL)
        e->headers = longer;
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
    is_made = add_header(e, "Content-Type: application/json") &&
              add_header(e, "Accept: application/json") &&
              add_header(e, "Expect:"); /* Avoids a second round trip for a large body. */
    if (is_made && key.len > 0) {
        (void)snprintf(authorization, sizeof authorization, "Authorization: Bearer %.*s",
                       (int)key.len, key.ptr); /* Bounded by check_key(). */
        is_made = add_header(e, authorization);
        explicit_bzero(authorization, sizeof authorization);
    }
    return is_made ? LOCI_OK : lc_fail_memory(err);
}

static loci_status prepare_multi(exchange *e, loci_error *err)
{
    lc_net_client *client = e->client;

    if (client->multi != NULL && client->rules != e->rules) {
        (void)e->curl->multi_cleanup(client->multi);
        client->multi = NULL;
    }
    client->rules = e->rules;
    if (client->multi == NULL)
        client->multi = e->curl->multi_init();
    if (client->multi == NULL)
        return lc_fail_memory(err);
    (void)e->curl->multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)LC_NET_PARALLEL_MAX);
    return LOCI_OK;
}

/* ---- Callbacks of curl ----------------------------------------------------------------------- */

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    transfer *t = ctx;
    unsigned rules = t->of->rules;
    bool is_private = lc_net_is_private(&address->addr);

    (void)purpose;
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

/* Returning less than the size ends the transfer. */
static size_t take_bytes(char *bytes, size_t one, size_t count, void *ctx)
{
    transfer *t = ctx;

    lc_buf_append(t->post->reply, (loci_str){bytes, one * count});
    return t->post->reply->failure == LOCI_OK ? one * count : 0;
}

/* ---- One attempt ----------------------------------------------------------------------------- */

/* Slightly after the deadline, so that run_all() detects the deadline first. */
static long attempt_ms(const exchange *e, int64_t now_us)
{
    int64_t ms = e->terms->timeout_ms;

    if (e->terms->deadline_us != INT64_MAX && (e->terms->deadline_us - now_us) / 1000 + 2 < ms)
        ms = (e->terms->deadline_us - now_us) / 1000 + 2;
    return (long)ms;
}

/* False if an option cannot be set (out of memory, unsupported protocol). */
static bool set_options(transfer *t, int64_t now_us)
{
    const exchange *e = t->of;
    const curl_table *curl = e->curl;
    CURL *easy = t->easy;
    long ms = attempt_ms(e, now_us);

    return curl->easy_setopt(easy, CURLOPT_URL, e->terms->url) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HTTPHEADER, e->headers) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_USERAGENT, "loci") == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_POSTFIELDS, t->post->body.ptr) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->post->body.len) ==
               CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                             ms < CONNECT_TIMEOUT_MS ? ms : (long)CONNECT_TIMEOUT_MS) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, ms) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_WRITEDATA, t) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_PRIVATE, t) == CURLE_OK;
}

static void drop_attempt(transfer *t)
{
    if (t->easy == NULL)
        return;
    if (t->state == RUNNING) {
        (void)t->of->curl->multi_remove_handle(t->of->client->multi, t->easy);
        t->of->running--;
    }
    t->of->curl->easy_cleanup(t->easy);
    t->easy = NULL;
}

static loci_status start_attempt(transfer *t, int64_t now_us, loci_error *err)
{
    lc_buf_reset(t->post->reply);
    t->hit_private = false;
    t->hit_plain_key = false;
    t->easy = t->of->curl->easy_init();
    if (t->easy == NULL || !set_options(t, now_us) ||
        t->of->curl->multi_add_handle(t->of->client->multi, t->easy) != CURLM_OK) {
        drop_attempt(t);
        return lc_fail_memory(err);
    }
    t->state = RUNNING;
    t->attempts++;
    t->of->running++;
    return LOCI_OK;
}

/* ---- End of an attempt ----------------------------------------------------------------------- */

/* Whether another attempt would fail in the same way. */
static bool is_final(CURLcode code)
{
    return code == CURLE_URL_MALFORMAT || code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_SSL_CACERT_BADFILE;
}

static loci_status fail_refused(const exchange *e, int http_status, loci_error *err)
{
    if (http_status >= 300 && http_status < 400)
        return lc_fail(
            err, LOCI_EUNSUPPORTED,
            "%s answered %d, a redirect, which is not followed: set the URL that it leads to",
            e->origin, http_status);
    if (http_status == 401 || http_status == 403)
        return lc_fail(err, LOCI_EUNSUPPORTED, "%s answered %d: it does not accept %s", e->origin,
                       http_status, e->terms->key.len > 0 ? "the key" : "requests without a key");
    if (http_status == 404 || http_status == 405)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s answered %d: the URL or the name of the model is wrong", e->origin,
                       http_status);
    return lc_fail(err, LOCI_EUNSUPPORTED, "%s answered %d: it refused the request", e->origin,
                   http_status);
}

/* A temporary failure after the last attempt. */
static loci_status fail_passing(const transfer *t, CURLcode code, int http_status, loci_error *err)
{
    const exchange *e = t->of;

    if (lc_clock_monotonic_us() >= e->terms->deadline_us)
        return lc_fail(err, LOCI_EDEADLINE, "%s did not answer before the deadline", e->origin);
    if (code != CURLE_OK)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s (attempts: %d)", e->origin,
                       t->of->curl->easy_strerror(code), t->attempts);
    return lc_fail(err, LOCI_EUNAVAILABLE, "%s answered %d (attempts: %d)", e->origin, http_status,
                   t->attempts);
}

static int64_t pause_us(const transfer *t, CURLcode code)
{
    lc_env *env = t->of->client->env;
    int64_t wait_ms = lc_net_backoff_ms(&env->random, t->attempts);
    int64_t asked_ms = -1;
    struct curl_header *header;

    if (code == CURLE_OK &&
        t->of->curl->easy_header(t->easy, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        asked_ms = lc_net_retry_after_ms(t->of->client, header->value, lc_env_now_us(env));
    return (asked_ms > wait_ms ? asked_ms : wait_ms) * 1000;
}

/* Schedules another attempt, if attempts and time are left. */
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

static loci_status finish_attempt(transfer *t, CURLcode code, loci_error *err)
{
    const exchange *e = t->of;
    const lc_buf *reply = t->post->reply;
    long http_status = 0;

    (void)t->of->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE,
                                    &http_status); /* Cannot fail. */
    if (reply->failure == LOCI_ELIMIT)
        return lc_fail(err, LOCI_ELIMIT, "the reply of %s is larger than the maximum of %zu bytes",
                       e->origin, reply->bytes_max);
    if (reply->failure != LOCI_OK)
        return lc_buf_status(reply, err);
    if (code == CURLE_OUT_OF_MEMORY)
        return lc_fail_memory(err);
    if (code != CURLE_OK && t->hit_private)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "%s is a private address; set model.allow_private to allow it", e->origin);
    if (code != CURLE_OK && t->hit_plain_key)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "%s: keys are not sent to public addresses without TLS; use https",
                       e->origin);
    if (is_final(code))
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s: %s", e->origin, e->curl->easy_strerror(code));
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

/* Starts all due attempts; `*out_wait_ms` gets the time until the next one is due. */
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

static loci_status finish_ended(exchange *e, loci_error *err)
{
    loci_status status = LOCI_OK;
    CURLMsg *message;
    int left;

    while (status == LOCI_OK &&
           (message = e->curl->multi_info_read(e->client->multi, &left)) != NULL) {
        transfer *t = NULL;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)e->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                                    &t); /* Set by set_options(). */
        LC_ASSERT(t != NULL);
        status = finish_attempt(t, code, err);
    }
    return status;
}

static loci_status check_end(const exchange *e, loci_error *err)
{
    if (lc_clock_monotonic_us() >= e->terms->deadline_us)
        return lc_fail(err, LOCI_EDEADLINE, "%s did not answer before the deadline", e->origin);
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
        if (status == LOCI_OK && e->curl->multi_perform(e->client->multi, &running) != CURLM_OK)
            status = lc_fail_memory(err);
        if (status == LOCI_OK)
            status = finish_ended(e, err);
        if (status != LOCI_OK)
            break;
        if (e->done < e->count)
            (void)e->curl->multi_poll(e->client->multi, NULL, 0, wait_ms, NULL);
    }
    return status;
}

loci_status lc_net_post_all(lc_net_client *client, const lc_net_terms *terms, lc_net_post *posts,
                            size_t count, loci_error *err)
{
    lc_heap *heap = &client->env->heap;
    exchange e = {.client = client, .curl = &client->curl, .terms = terms, .count = count};
    loci_status status = read_origin(e.curl, terms->url, e.origin, err);

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
    e.curl->slist_free_all(e.headers);
    lc_heap_free(heap, e.transfers, count * sizeof *e.transfers, LOCI_MEM_LLM_BUFFERS);
    return status;
}
