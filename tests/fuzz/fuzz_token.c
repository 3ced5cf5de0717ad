/* fuzz_token.c - any bytes as a token: read or refused, and what is read has one spelling. */
#include <stdlib.h>
#include <string.h>

#include "store/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loci_str text = {(const char *)data, bytes};
    lc_id id;
    lc_token_hash hash, again;
    bool is_in = lc_token_text_is_in(text);

    if (!lc_token_text_parse(text, &id, &hash))
        return 0;
    demand(is_in && bytes == LC_TOKEN_LEN);
    demand(lc_id_is(lc_id_str(&id), "tok"));
    demand(memcmp(text.ptr + 5, id.text + 4, LC_ID_DIGITS) == 0);
    demand(lc_token_text_parse(text, &id, &again) && lc_token_hash_is_equal(&hash, &again));
    /* The check digits have one spelling. */
    for (int letter = 'A'; letter <= 'z'; letter++) {
        char other[LC_TOKEN_LEN];

        memcpy(other, text.ptr, sizeof other);
        other[sizeof other - 1] = (char)letter;
        demand(letter == text.ptr[bytes - 1] ||
               !lc_token_text_parse((loci_str){other, sizeof other}, &id, &again));
    }
    return 0;
}
