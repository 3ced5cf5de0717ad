/* utf8.h - UTF-8, strictly: shortest forms only, no surrogates, nothing above U+10FFFF.
 *
 * Text is checked once, where it enters (JSON, command line, files); inside loci it is valid, and
 * the functions that say "valid text" rely on it.
 */
#ifndef LC_BASE_UTF8_H
#define LC_BASE_UTF8_H

#include "loci.h"

#include <stdbool.h>

bool lc_utf8_is_valid(loci_str text);
/* Code points of valid text. */
size_t lc_utf8_count(loci_str text);
/* The largest prefix of valid text that ends at a character and has at most `bytes_max` bytes. */
size_t lc_utf8_cut(loci_str text, size_t bytes_max);
/* Writes one code point, not a surrogate and at most U+10FFFF; returns its bytes, 1 to 4. */
size_t lc_utf8_encode(uint32_t code_point, char out[4]);
/* Bytes of the valid character that starts at `at`, 1 to 4, or 0 when there is none. `at` < `end`.
 */
size_t lc_utf8_char_bytes(const char *at, const char *end);

#endif /* LC_BASE_UTF8_H */
