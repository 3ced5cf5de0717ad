/* slug.h - a short label for a name, the same for all spellings that differ in nothing but case,
 * spaces and hyphens.
 *
 *     New York, new-york, NEW  YORK       new_york
 *     Müller                              müller
 *     C, C++, C#                          c, c_ and eight digits, c_ and eight other digits
 *     +++                                 eight digits
 *
 * Punctuation and symbols are dropped; when that loses something, eight hexadecimal digits of the
 * folded name's hash are appended, so that different names stay different. So they are when a name
 * is cut to LC_SLUG_BYTES_MAX. Slugs are stored: what a name becomes may never change. A slug is
 * its own slug.
 */
#ifndef LC_TEXT_SLUG_H
#define LC_TEXT_SLUG_H

#include "base/buf.h"

#define LC_SLUG_BYTES_MAX 96

/* Appends the slug; nothing for a name of nothing but spaces. LOCI_EINVAL when `name` is not valid
 * UTF-8. */
loci_status lc_slug_append(loci_str name, lc_buf *out, loci_error *err);

#endif /* LC_TEXT_SLUG_H */
