/* http_reply.h - bodies of replies: gzip for clients that accept it, and errors as problem
 * documents (RFC 9457). Only the files of http.h and their tests include this. */
#ifndef LC_SERVER_HTTP_REPLY_H
#define LC_SERVER_HTTP_REPLY_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

/* A smaller body fits into one packet anyway. */
#define LC_GZIP_BYTES_MIN 1024

/* Whether an Accept-Encoding header allows gzip: it is named, or "*" is, and not with q=0. */
bool lc_gzip_is_accepted(loci_str accept_encoding);

/* Writes `body` as gzip to `arena`. False when it is small, does not shrink or memory is short: it
 * is then sent unchanged. */
bool lc_gzip_pack(lc_arena *arena, loci_str body, loci_str *out);

/* Writes the text of `bytes` that `packed` was made of to `arena`. False when memory is short, or
 * it is not gzip of that size. */
bool lc_gzip_unpack(lc_arena *arena, loci_str packed, size_t bytes, loci_str *out);

const char *lc_http_title(int http_status); /* "Not Found" */

#define LC_PROBLEM_TYPE "application/problem+json"
#define LC_PROBLEM_BYTES_MAX (64u * 1024)

typedef struct lc_problem {
    int http_status;
    loci_status code;
    const char *detail;
    const char *trace_id; /* Or NULL. */
    const char *data;     /* A JSON object with more members, or NULL. */
} lc_problem;

/* Appends it as application/problem+json; loci's code and the particulars of the error are members.
 * `scratch` is needed for `data` only. */
void lc_problem_write(const lc_problem *problem, lc_arena *scratch, lc_buf *out);

#endif /* LC_SERVER_HTTP_REPLY_H */
