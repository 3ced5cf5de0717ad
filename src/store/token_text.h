/* token_text.h - the text of a token: what a caller shows to prove who it is.
 *
 *     loci_01K9Z5W8G0000000005W0BSTYX_q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k
 *          26 digits of its id         43 of base64url: 256 bits from the kernel
 *
 * The first part finds the row, the second is compared, hashed, in constant time. There is one
 * spelling of each token: everything else is not a token. The hash is BLAKE2b-256 without salt or
 * stretching, which are for secrets that can be guessed.
 */
#ifndef LC_STORE_TOKEN_TEXT_H
#define LC_STORE_TOKEN_TEXT_H

#include "base/id.h"

#include <stdbool.h>

#define LC_TOKEN_SECRET_BYTES 32
#define LC_TOKEN_HASH_BYTES 32
#define LC_TOKEN_LEN (5 + LC_ID_DIGITS + 1 + 43)

typedef struct lc_token_hash {
    unsigned char bytes[LC_TOKEN_HASH_BYTES];
} lc_token_hash;

/* A token as it is made: the only time that anybody sees its text. */
typedef struct lc_token_text {
    lc_id id; /* tok_… */
    lc_token_hash secret_hash;
    char text[LC_TOKEN_LEN + 1]; /* Terminated. To be wiped, see lc_token_wipe(). */
} lc_token_text;

/* A new token; time and randomness are the system's, never injected. False when the kernel has no
 * randomness to give. */
bool lc_token_text_make(lc_token_text *out);
/* The id and the hash of what `text` shows; false when it is not a token. */
bool lc_token_text_parse(loci_str text, lc_id *out_id, lc_token_hash *out_hash);
/* Whether a token begins anywhere in `text`: for finding them where they must not be. */
bool lc_token_text_is_in(loci_str text);

/* Finds a token in a cache; means nothing without its key. */
#define LC_TOKEN_PRINT_BYTES 16
typedef struct lc_token_print {
    unsigned char bytes[LC_TOKEN_PRINT_BYTES];
} lc_token_print;

/* In constant time. */
bool lc_token_hash_is_equal(const lc_token_hash *a, const lc_token_hash *b);
/* SipHash-2-4 of 128 bits with a secret key: nobody can make a text that is taken for another's,
 * and it is a tenth of the work of BLAKE2b. */
void lc_token_print_make(const lc_token_print *key, loci_str text, lc_token_print *out);
bool lc_token_print_is_equal(const lc_token_print *a, const lc_token_print *b);
/* Overwrites a secret so that the compiler cannot leave it out. */
void lc_token_wipe(void *secret, size_t bytes);

#endif /* LC_STORE_TOKEN_TEXT_H */
