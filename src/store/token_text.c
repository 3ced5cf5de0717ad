/* token_text.c - libsodium for tokens. The functions used here need no sodium_init(),
 * which would only choose faster ones: two hashes a request take below a microsecond. */
#include "store/token_text.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/str.h"

#define HEAD "loci_"
#define HEAD_LEN (sizeof HEAD - 1)
#define SECRET_AT (HEAD_LEN + LC_ID_DIGITS + 1)
#define SECRET_LEN (LC_TOKEN_LEN - SECRET_AT)
#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(LC_TOKEN_SECRET_BYTES * 8 <= SECRET_LEN * 6, "the secret fits its letters");
_Static_assert(LC_TOKEN_HASH_BYTES >= crypto_generichash_BYTES_MIN, "a hash libsodium can make");
_Static_assert(LC_TOKEN_HASH_BYTES <= crypto_generichash_KEYBYTES_MAX, "a hash can be a key");

static void hash_secret(const unsigned char secret[LC_TOKEN_SECRET_BYTES], lc_token_hash *out)
{
    /* Fails only for lengths it does not take, which are fixed above. */
    (void)crypto_generichash(out->bytes, sizeof out->bytes, secret, LC_TOKEN_SECRET_BYTES, NULL, 0);
}

/* 48 bits of time, so that ids sort by age, and 80 that nobody can foresee. */
static bool make_id(lc_id *out)
{
    lc_id_parts parts = {.ms = lc_clock_system_us(NULL) / 1000};
    uint64_t seq;
    uint8_t ordinal;

    if (!lc_random_secret(&seq, sizeof seq) || !lc_random_secret(&ordinal, sizeof ordinal) ||
        !lc_random_secret(&parts.mark, sizeof parts.mark))
        return false;
    parts.seq = (int64_t)(seq & (uint64_t)LC_ID_SEQ_MAX);
    parts.ordinal = ordinal;
    *out = lc_id_make("tok", &parts);
    return true;
}

bool lc_token_text_make(lc_token_text *out)
{
    unsigned char secret[LC_TOKEN_SECRET_BYTES];

    if (!make_id(&out->id) || !lc_random_secret(secret, sizeof secret))
        return false;
    hash_secret(secret, &out->secret_hash);
    memcpy(out->text, HEAD, HEAD_LEN);
    memcpy(out->text + HEAD_LEN, out->id.text + strlen("tok_"), LC_ID_DIGITS);
    out->text[SECRET_AT - 1] = '_';
    (void)sodium_bin2base64(out->text + SECRET_AT, SECRET_LEN + 1, secret, sizeof secret, VARIANT);
    lc_token_wipe(secret, sizeof secret);
    LC_ASSERT(strlen(out->text) == LC_TOKEN_LEN);
    return true;
}

/* Whether the id's part of a token, with the '_' behind it, stands at `at`. */
static bool read_id(const char *at, lc_id *out)
{
    if (memcmp(at, HEAD, HEAD_LEN) != 0 || at[SECRET_AT - 1] != '_')
        return false;
    *out = (lc_id){"tok_"};
    memcpy(out->text + strlen("tok_"), at + HEAD_LEN, LC_ID_DIGITS);
    return lc_id_is((loci_str){out->text, strlen("tok_") + LC_ID_DIGITS}, "tok");
}

bool lc_token_text_parse(loci_str text, lc_id *out_id, lc_token_hash *out_hash)
{
    unsigned char secret[LC_TOKEN_SECRET_BYTES];
    size_t len = 0;
    const char *end = NULL;
    lc_id id;
    bool is_good;

    if (text.len != LC_TOKEN_LEN || !read_id(text.ptr, &id))
        return false;
    /* libsodium takes some bytes above 127 for the last letter of its alphabet. */
    for (size_t i = SECRET_AT; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] > 127)
            return false;
    }
    /* It refuses padding, other letters and stray bits behind the last byte. */
    is_good = sodium_base642bin(secret, sizeof secret, text.ptr + SECRET_AT, SECRET_LEN, NULL, &len,
                                &end, VARIANT) == 0 &&
              len == sizeof secret && end == text.ptr + text.len;
    if (is_good) {
        hash_secret(secret, out_hash);
        *out_id = id;
    }
    lc_token_wipe(secret, sizeof secret);
    return is_good;
}

bool lc_token_text_is_in(loci_str text)
{
    lc_id id;

    for (size_t i = 0; i + SECRET_AT <= text.len; i++) {
        if (text.ptr[i] == HEAD[0] && read_id(text.ptr + i, &id))
            return true;
    }
    return false;
}

bool lc_token_hash_is_equal(const lc_token_hash *a, const lc_token_hash *b)
{
    return sodium_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

_Static_assert(LC_TOKEN_PRINT_BYTES == crypto_shorthash_siphashx24_BYTES &&
                   LC_TOKEN_PRINT_BYTES == crypto_shorthash_siphashx24_KEYBYTES,
               "key and print have SipHash's sizes");

void lc_token_print_make(const lc_token_print *key, loci_str text, lc_token_print *out)
{
    /* Cannot fail. */
    (void)crypto_shorthash_siphashx24(out->bytes, (const unsigned char *)text.ptr, text.len,
                                      key->bytes);
}

bool lc_token_print_is_equal(const lc_token_print *a, const lc_token_print *b)
{
    return sodium_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void lc_token_wipe(void *secret, size_t bytes)
{
    sodium_memzero(secret, bytes);
}
