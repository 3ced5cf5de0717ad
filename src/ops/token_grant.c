#include "ops/token_grant.h"

#include "base/error.h"
#include "base/str.h"

/* How far down `word` stands in "highest|…|lowest"; unknown words are as low as the lowest. */
static int place_of(const char *words, loci_str word)
{
    loci_str rest = loci_str_of(words);
    int place = 0;

    for (;; place++) {
        loci_str each = lc_str_split(rest, '|', &rest);

        if (lc_str_eq(each, word) || rest.ptr == NULL)
            return place;
    }
}

/* Whether a ceiling is not above the caller's own; none is above all. */
static bool is_below(const char *words, loci_str ceiling, loci_str own)
{
    if (own.len == 0)
        return true;
    return ceiling.len > 0 && place_of(words, ceiling) >= place_of(words, own);
}

bool lc_token_is_visible(const lc_call *call, const lc_token *token)
{
    return lc_str_is(call->tenant_id, token->tenant_id) &&
           (call->user_id.len == 0 || lc_str_is(call->user_id, token->user_id)) &&
           (call->persona_id.len == 0 || lc_str_is(call->persona_id, token->persona_id));
}

loci_status lc_token_check_grant(const lc_call *call, const lc_token *token, loci_error *err)
{
    if (!is_below(LC_AUTHORITY_CHOICES, loci_str_of(token->authority_max), call->authority_max))
        return lc_fail(err, LOCI_EFORBIDDEN, "authority: at most \"%.*s\", which is the caller's",
                       LC_STR_ARG(call->authority_max));
    if (!is_below(LC_TRUST_CHOICES, loci_str_of(token->trust_max), call->trust_max))
        return lc_fail(err, LOCI_EFORBIDDEN, "trust: at most \"%.*s\", which is the caller's",
                       LC_STR_ARG(call->trust_max));
    return LOCI_OK;
}
