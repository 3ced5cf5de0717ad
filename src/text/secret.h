/* secret.h - finds keys, tokens, private keys and passwords of well-known forms in a text.
 *
 *     size_t from = 0;
 *     lc_secret secret;
 *
 *     while (lc_secret_next(text, from, &secret)) {
 *         … text.ptr + secret.start, secret.bytes, secret.kind …
 *         from = secret.start + secret.bytes;
 *     }
 *
 * Pure: no memory, no state; the time grows with the length of the text. Only the secret itself is
 * returned: the word behind the sign in "password = hunter2", the password in a URL.
 *
 * Forms are those that their makers document, and assignments to names such as `api_key`. A hash of
 * git, a UUID, an image in base64 or the words "password reset link" are not secrets; neither are
 * placeholders (`<token>`, `${PASSWORD}`, `xxxx`). A secret without any form, such as a password in
 * a sentence, is not found.
 */
#ifndef LC_TEXT_SECRET_H
#define LC_TEXT_SECRET_H

#include "loci.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct lc_secret {
    size_t start;
    size_t bytes;
    const char *kind; /* "aws_access_key": for people, static. */
} lc_secret;

/* The first secret that begins at or behind `from`; false if there is none. */
bool lc_secret_next(loci_str text, size_t from, lc_secret *out);

/* Whether `value` is a secret because of its name: {"db_password": "hunter2"}. */
bool lc_secret_is_named(loci_str name, loci_str value, const char **out_kind);

#endif /* LC_TEXT_SECRET_H */
