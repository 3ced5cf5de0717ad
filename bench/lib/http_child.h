/* http_child.h - servers to be measured, as processes of their own.
 *
 * Any failure ends the benchmark; a child ends with it.
 */
#ifndef LC_BENCH_LIB_HTTP_CHILD_H
#define LC_BENCH_LIB_HTTP_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/rounds.h"

typedef struct http_child {
    pid_t pid;
    int port;
    char token[96]; /* Of an administrator; "" for the echo. */
} http_child;

/* `loci serve` on DIR/served.db: $LOCI, or the one of this build. */
http_child http_child_loci(const char *dir);
/* The same on any store, one of several: its token is in DIR/token-NUMBER. */
http_child http_child_loci_on(const char *dir, const char *store, int number);
/* libmicrohttpd and nothing else: reads the body, answers `body_bytes` bytes. */
http_child http_child_echo(size_t body_bytes);
void http_child_stop(http_child *child);

double http_child_cpu_us(const http_child *child);      /* All its threads, kernel included. */
int64_t http_child_memory_kib(const http_child *child); /* Anonymous, resident. */

#endif /* LC_BENCH_LIB_HTTP_CHILD_H */
