/* trace.h - W3C trace context: the identifier that a caller gives to one distributed operation.
 *
 *     traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *                  version-trace id-parent id-flags
 */
#ifndef LC_BASE_TRACE_H
#define LC_BASE_TRACE_H

#include "loci.h"

#include <stdbool.h>

/* Whether `text` is a valid traceparent: lower-case hexadecimal digits, neither id all zeros.
 * Versions after 00 may have more fields behind the flags; version ff is invalid. */
bool lc_trace_is_parent(loci_str text);
/* The trace id of a valid traceparent: 32 digits, borrowed. */
loci_str lc_trace_id(loci_str traceparent);

#endif /* LC_BASE_TRACE_H */
