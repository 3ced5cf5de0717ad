#include "ops/token_make.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "ops/token_grant.h"
#include "ops/token_view.h"

#define SECOND_US INT64_C(1000000)

static void set_text(char *out, size_t bytes, loci_str text)
{
    LC_ASSERT(text.len < bytes); /* Parameters and principals have ceilings. */
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

/* The id that the caller is narrowed to, or the one given; another one is not found. */
static loci_status narrow(const lc_call *call, const char *name, loci_str own, loci_str *out,
                          loci_error *err)
{
    loci_str given = lc_call_str(call, name);

    if (own.len > 0 && given.len > 0 && !lc_str_eq(own, given))
        return lc_fail(err, LOCI_ENOTFOUND, "%s: not found", name);
    *out = own.len > 0 ? own : given;
    return LOCI_OK;
}

loci_status lc_token_begin(lc_call *call, lc_token_making **out, loci_error *err)
{
    lc_token_making *m = lc_arena_zalloc_array(call->arena, 1, sizeof *m);

    if (m == NULL)
        return lc_fail_memory(err);
    if (!lc_token_text_make(&m->made))
        return lc_fail(err, LOCI_ERESOURCE, "the system has no randomness to give");
    call->input = m;
    *out = m;
    return LOCI_OK;
}

void lc_token_set_secret(lc_token *token, const lc_token_text *made)
{
    token->id = made->id;
    token->secret_hash = made->secret_hash;
    token->created_at = lc_clock_system_us(NULL);
    token->revoked_at = LC_TOKEN_NO_TIME;
    token->replaced_by = (lc_id){""};
}

static unsigned read_scopes(const lc_call *call)
{
    const lc_json *given = lc_call_value(call, "scopes")->json;
    unsigned scopes = 0;

    for (const lc_json *each = lc_json_first(given); each != NULL; each = lc_json_next(each))
        scopes |= lc_scope_find(lc_json_str(each));
    return scopes;
}

static loci_status read_expiry(const lc_call *call, lc_token *token, loci_error *err)
{
    bool has_time = lc_call_has(call, "expires_at");

    token->expires_at = LC_TOKEN_NO_TIME;
    if (has_time && lc_call_has(call, "ttl_s"))
        return lc_fail(err, LOCI_EINVAL, "give expires_at or ttl_s, not both");
    if (has_time)
        token->expires_at = lc_call_i64(call, "expires_at", 0);
    else if (lc_call_has(call, "ttl_s"))
        token->expires_at = token->created_at + lc_call_i64(call, "ttl_s", 0) * SECOND_US;
    if (token->expires_at <= token->created_at)
        return lc_fail(err, LOCI_EINVAL, "expires_at: expected a moment that is still to come");
    return LOCI_OK;
}

/* A ceiling as given, else the caller's own. */
static void set_ceiling(const lc_call *call, const char *name, loci_str own, char *out)
{
    set_text(out, LC_TOKEN_CEILING_BYTES_MAX + 1,
             lc_call_has(call, name) ? lc_call_str(call, name) : own);
}

loci_status lc_token_from_args(lc_call *call, loci_error *err)
{
    loci_str user_id = LC_STR_NONE, persona_id = LC_STR_NONE;
    lc_token_making *m;
    loci_status status = narrow(call, "user_id", call->user_id, &user_id, err);

    if (status == LOCI_OK)
        status = narrow(call, "persona_id", call->persona_id, &persona_id, err);
    if (status == LOCI_OK && (call->authority_max.len > LC_TOKEN_CEILING_BYTES_MAX ||
                              call->trust_max.len > LC_TOKEN_CEILING_BYTES_MAX))
        status = lc_fail(err, LOCI_ELIMIT, "the caller's ceilings have more than %d bytes",
                         LC_TOKEN_CEILING_BYTES_MAX);
    if (status == LOCI_OK)
        status = lc_token_begin(call, &m, err);
    if (status != LOCI_OK)
        return status;
    lc_token_set_secret(&m->token, &m->made);
    set_text(m->token.tenant_id, sizeof m->token.tenant_id, call->tenant_id);
    set_text(m->token.name, sizeof m->token.name, lc_call_str(call, "name"));
    set_text(m->token.user_id, sizeof m->token.user_id, user_id);
    set_text(m->token.persona_id, sizeof m->token.persona_id, persona_id);
    set_ceiling(call, "authority", call->authority_max, m->token.authority_max);
    set_ceiling(call, "trust", call->trust_max, m->token.trust_max);
    m->token.scopes = read_scopes(call);
    status = read_expiry(call, &m->token, err);
    return status == LOCI_OK ? lc_token_check_grant(call, &m->token, err) : status;
}
