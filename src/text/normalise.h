/* normalise.h - one spelling for texts that mean the same.
 *
 * lc_text_nfc() is Unicode's form NFC: composed accents, all else as it is. lc_text_nfkc() is NFKC:
 * also full-width letters and ligatures as plain ones. lc_text_fold() is for comparing and
 * searching: NFKC, full case folding (ß becomes ss), and no invisible characters, such as soft
 * hyphens. All append to `out`; text that is already ASCII is only copied or lowered. All are
 * idempotent.
 */
#ifndef LC_TEXT_NORMALISE_H
#define LC_TEXT_NORMALISE_H

#include "base/buf.h"

#include <stdbool.h>

bool lc_text_is_ascii(loci_str text);

/* LOCI_EINVAL when `text` is not valid UTF-8; the bytes appended before a failure are undefined. */
loci_status lc_text_nfc(loci_str text, lc_buf *out, loci_error *err);
loci_status lc_text_nfkc(loci_str text, lc_buf *out, loci_error *err);
loci_status lc_text_fold(loci_str text, lc_buf *out, loci_error *err);

/* An ASCII letter in lower case, any other byte as it is. */
static inline char lc_ascii_lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
}

#endif /* LC_TEXT_NORMALISE_H */
