/* tls.c - see tls.h. Calls through the table bypass the type checks of curl's macros: pass a `long`
 * where an option takes one. */
#include "net/tls.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/library.h"

#define CURL_FUNCTIONS(X)                                                                          \
    X(global_init)                                                                                 \
    X(global_cleanup)                                                                              \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_perform)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(easy_send)                                                                                   \
    X(easy_recv)                                                                                   \
    X(easy_cleanup)

typedef struct curl_table {
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
} curl_table;

struct lc_tls {
    lc_heap *heap;
    curl_table curl;
    CURL *easy;
    curl_socket_t fd;
};

static loci_status load_curl(curl_table *out, loci_error *err)
{
#define CURL_NAME(name) "curl_" #name,
    static const char *const names[] = {CURL_FUNCTIONS(CURL_NAME) NULL};
#undef CURL_NAME
    static const lc_library library = {"libcurl.so.4", "https", "libcurl4", "curl 7.85", names};

    return lc_library_load(&library, out, err);
}

/* Called about once per second while connecting; non-zero ends it. */
static int look(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const volatile int *cancel = ctx;

    (void)a, (void)b, (void)c, (void)d; /* Bytes moved. */
    return cancel != NULL && __atomic_load_n(cancel, __ATOMIC_SEQ_CST) != 0;
}

static void set_options(const lc_tls *tls, const lc_tls_options *options, char *reason)
{
    const curl_table *curl = &tls->curl;
    CURL *easy = tls->easy;

    (void)curl->easy_setopt(easy, CURLOPT_URL, options->url);
    (void)curl->easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl->easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl->easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L); /* HTTP/2 is not spoken here. */
    (void)curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)options->timeout_ms);
    (void)curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
    (void)curl->easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)curl->easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, look);
    (void)curl->easy_setopt(easy, CURLOPT_XFERINFODATA, (void *)options->cancel);
    if (options->ca_file != NULL)
        (void)curl->easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
}

static loci_status fail_open(const lc_tls_options *options, CURLcode code, const char *reason,
                             loci_error *err)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "the certificate of %s is not trusted: %s; set LOCI_CA_FILE to a file with "
                       "the certificate of its authority",
                       options->url, reason);
    case CURLE_SSL_CACERT_BADFILE:
        return lc_fail(err, LOCI_EINVAL, "LOCI_CA_FILE: %s", reason);
    case CURLE_SSL_CONNECT_ERROR:
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "%s does not speak TLS as expected: %s; if it has no TLS, use http://",
                       options->url, reason);
    default:
        return lc_fail(err, LOCI_EUNAVAILABLE, "cannot connect to %s: %s", options->url, reason);
    }
}

loci_status lc_tls_open(lc_heap *heap, const lc_tls_options *options, lc_tls **out, loci_error *err)
{
    lc_tls *tls = lc_heap_zalloc(heap, sizeof *tls, LOCI_MEM_REQUESTS);
    char reason[CURL_ERROR_SIZE] = "";
    CURLcode code;
    loci_status status;

    if (tls == NULL)
        return lc_fail_memory(err);
    tls->heap = heap;
    tls->fd = CURL_SOCKET_BAD;
    status = load_curl(&tls->curl, err);
    if (status != LOCI_OK || tls->curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        lc_heap_free(heap, tls, sizeof *tls, LOCI_MEM_REQUESTS);
        return status != LOCI_OK ? status
                                 : lc_fail(err, LOCI_ERESOURCE, "libcurl cannot be initialised");
    }
    tls->easy = tls->curl.easy_init();
    if (tls->easy == NULL) {
        lc_tls_close(tls);
        return lc_fail_memory(err);
    }
    set_options(tls, options, reason);
    code = tls->curl.easy_perform(tls->easy);
    if (code == CURLE_OK)
        code = tls->curl.easy_getinfo(tls->easy, CURLINFO_ACTIVESOCKET, &tls->fd);
    (void)tls->curl.easy_setopt(tls->easy, CURLOPT_ERRORBUFFER, NULL);
    if (code != CURLE_OK) {
        if (reason[0] == '\0')
            (void)snprintf(reason, sizeof reason, "%s", tls->curl.easy_strerror(code));
        status = fail_open(options, code, reason, err);
        lc_tls_close(tls);
        return status;
    }
    *out = tls;
    return LOCI_OK;
}

void lc_tls_close(lc_tls *tls)
{
    if (tls == NULL)
        return;
    if (tls->easy != NULL)
        tls->curl.easy_cleanup(tls->easy);
    tls->curl.global_cleanup();
    lc_heap_free(tls->heap, tls, sizeof *tls, LOCI_MEM_REQUESTS);
}

int lc_tls_fd(const lc_tls *tls)
{
    return tls->fd;
}

static ssize_t result_of(CURLcode code, size_t count)
{
    if (code == CURLE_OK)
        return (ssize_t)count;
    errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET;
    return -1;
}

ssize_t lc_tls_send(lc_tls *tls, const char *bytes, size_t count)
{
    size_t sent = 0;
    CURLcode code = tls->curl.easy_send(tls->easy, bytes, count, &sent);

    return result_of(code, sent);
}

ssize_t lc_tls_receive(lc_tls *tls, char *out, size_t count)
{
    size_t received = 0;
    CURLcode code = tls->curl.easy_recv(tls->easy, out, count, &received);

    return result_of(code, received);
}
