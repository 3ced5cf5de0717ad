/* tls.h - a TLS connection of libcurl, as a pipe of bytes.
 *
 * libcurl connects, checks the certificate and the host name, and then only moves bytes
 * (CURLOPT_CONNECT_ONLY): fetch.c interprets them. libcurl is loaded with the first connection.
 */
#ifndef LC_NET_TLS_H
#define LC_NET_TLS_H

#include "base/buf.h"

#include <sys/types.h>

typedef struct lc_tls lc_tls;

typedef struct lc_tls_options {
    const char *url;            /* https://host:port */
    const char *ca_file;        /* Certificates to trust, PEM; NULL = the system's. */
    int64_t timeout_ms;         /* To connect. */
    const volatile int *cancel; /* Becomes non-zero when waiting should end; or NULL. */
} lc_tls_options;

/* LOCI_EUNAVAILABLE: no connection, no TLS, or a certificate that is not trusted; the message says
 * which. LOCI_EUNSUPPORTED: libcurl is not installed. */
loci_status lc_tls_open(lc_heap *heap, const lc_tls_options *options, lc_tls **out,
                        loci_error *err);
void lc_tls_close(lc_tls *tls); /* NULL is fine. */

/* The socket, for poll(). */
int lc_tls_fd(const lc_tls *tls);
/* As send(2) and recv(2) on a non-blocking socket. */
ssize_t lc_tls_send(lc_tls *tls, const char *bytes, size_t count);
ssize_t lc_tls_receive(lc_tls *tls, char *out, size_t count);

#endif /* LC_NET_TLS_H */
