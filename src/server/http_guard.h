/* http_guard.h - which requests are accepted: framing, sizes, Host and Origin.
 *
 * libmicrohttpd parses leniently: it takes the first of two lengths, joins folded lines, stops at a
 * NUL and accepts a bare LF. A proxy in front of us may read the same bytes differently, and take
 * for the body of one request what we would take for another request (request smuggling). So
 * everything ambiguous is refused before the handler sees it. Pure: no I/O, no allocation.
 */
#ifndef LC_SERVER_HTTP_GUARD_H
#define LC_SERVER_HTTP_GUARD_H

#include "loci.h"

#include <stdbool.h>

#define LC_HTTP_FIELDS_MAX 100 /* Maximum number of headers, and of query parameters. */
#define LC_HTTP_TRACE_ID_BYTES_MAX 128

typedef struct lc_http_field {
    loci_str name;
    loci_str value;
} lc_http_field;

/* Request line and headers as received. */
typedef struct lc_http_head {
    loci_str method;
    loci_str target;    /* Path and query as sent; by now their separators may be NULs. */
    bool is_target_bad; /* Result of lc_http_guard_is_target() before that. */
    bool is_http_1_0;
    const lc_http_field *fields;
    size_t field_count;
    size_t query_count;
    size_t bytes; /* From the method to the empty line. */
} lc_http_head;

typedef struct lc_http_rules {
    size_t header_bytes_max;
    size_t body_bytes_max;
    const char *address;      /* The address it listens on, such as "10.0.0.7"; NULL without TCP. */
    const char *const *hosts; /* Further names, with or without a port; ends with NULL; or NULL. */
} lc_http_rules;

typedef struct lc_http_verdict {
    int http_status;    /* 0 = accepted. */
    loci_status status; /* Otherwise the code of the answer, */
    const char *detail; /* and its detail. */
    size_t body_bytes;  /* As announced. */
} lc_http_verdict;

lc_http_verdict lc_http_guard_check(const lc_http_head *head, const lc_http_rules *rules);

/* Whether method, target, version and fields are adjacent in memory, as lines ended by CRLF are, up
 * to `end`. They point into the buffer that was read, so a gap is something that the parser
 * skipped: a folded line, a NUL, a bare LF. */
bool lc_http_guard_is_gapless(const lc_http_head *head, const char *version, const char *end);

/* Whether it is "*" or a path, with or without a query, of printable ASCII. */
bool lc_http_guard_is_target(loci_str target);
/* Whether the Host is ours: "localhost", "127.0.0.1:7077", "[::1]" or a listed name. */
bool lc_http_guard_is_our_host(loci_str host, const lc_http_rules *rules);
/* Whether pages of this origin may call: http or https, and one of our hosts. */
bool lc_http_guard_is_our_origin(loci_str origin, const lc_http_rules *rules);
/* Whether a trace id of a client is safe to repeat in headers and logs. */
bool lc_http_guard_is_trace_id(loci_str id);

/* Decodes %XX in place and ends the text with a NUL; false for a broken escape or one of NUL. */
bool lc_http_guard_decode(char *text, size_t *len);

bool lc_http_is_same_name(loci_str a, loci_str b); /* ASCII case is ignored. */

#endif /* LC_SERVER_HTTP_GUARD_H */
