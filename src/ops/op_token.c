/* op_token.c - token.create, token.list, token.revoke, token.rotate.
 *
 * For administrators of a tenant, about the tokens of that tenant. A caller cannot hand out more
 * rights than it has: one that is narrowed to a user or persona, or capped, makes tokens with the
 * same limits and sees only those; all others are not found, exactly like tokens of another tenant
 * and tokens that do not exist. `admin` includes the other scopes, because a caller that can make
 * tokens has them in effect.
 *
 * The secret is made before the transaction, so that a repeated body inserts the same token. It is
 * in the first answer only: a repeat of the request gets the answer without it. All times are the
 * system's, see store/token.h.
 */
#include "ops/op.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "engine/engine.h"
#include "fact/fact.h"
#include "ops/page.h"
#include "store/token.h"

#define SECOND_US INT64_C(1000000)
#define TTL_S_MAX (INT64_C(86400) * 3660)               /* Ten years. */
#define OVERLAP_S_MAX (INT64_C(86400) * 30)             /* A forgotten one must end some day. */
#define KEEP_ENDED_US (INT64_C(86400) * SECOND_US * 90) /* Shown in the list for a quarter. */

/* Both from most to least. */
#define PERMISSIONS_MAX 64
#define DETACHED_HELP                                                                              \
    "Keep it when the token of the caller is revoked; it still does not outlive that token"
#define AUTHORITY_CHOICES "policy|executive|admin|manager|employee|intern|guest"
#define TRUST_CHOICES "user|system|tool|web|model"

/* ---- Rights ---------------------------------------------------------------------------------- */

static void set_text(char *out, size_t bytes, loci_str text)
{
    LC_ASSERT(text.len < bytes); /* Parameters and principals have ceilings. */
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

/* The place of `word` in "highest|…|lowest"; unknown words are as low as the lowest. */
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

/* Permissions that an identity set with this token may claim; none = any. */
static loci_str token_permissions(const lc_token *token)
{
    if (token->permissions[0] != '\0')
        return loci_str_of(token->permissions);
    return token->authority_max[0] != '\0' || token->trust_max[0] != '\0' ? LC_STR("[]")
                                                                          : LC_STR_NONE;
}

/* The one rule about tokens: no caller sees, ends, replaces or makes one above itself. Returns
 * the name of a right that the token has and the caller does not, or NULL. */
static const char *right_above(const lc_call *call, const lc_token *token)
{
    loci_str permissions = token_permissions(token);

    if (!lc_str_is(call->tenant_id, token->tenant_id))
        return "tenant_id";
    if (call->user_id.len > 0 && !lc_str_is(call->user_id, token->user_id))
        return "user_id";
    if (call->persona_id.len > 0 && !lc_str_is(call->persona_id, token->persona_id))
        return "persona_id";
    if (!is_below(AUTHORITY_CHOICES, loci_str_of(token->authority_max), call->authority_max))
        return "authority";
    if (!is_below(TRUST_CHOICES, loci_str_of(token->trust_max), call->trust_max))
        return "trust";
    if (call->permissions_max.ptr != NULL &&
        (permissions.ptr == NULL || !lc_permissions_within(permissions, call->permissions_max)))
        return "permissions";
    if ((token->scopes & LC_SCOPE_METRICS) != 0 && !call->is_admin)
        return "scopes";
    return NULL;
}

/* LOCI_EFORBIDDEN when the token would be above the caller that gets its secret. */
static loci_status check_grant(const lc_call *call, const lc_token *token, loci_error *err)
{
    const char *right = right_above(call, token);
    loci_str own = call->permissions_max;

    if (right == NULL)
        return LOCI_OK;
    if (right[0] == 's')
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "scopes: metrics show the figures of all tenants; only an administrator of "
                       "the store can grant them");
    if (right[0] == 'a')
        own = call->authority_max;
    else if (right[0] == 't')
        own = call->trust_max;
    return lc_fail(err, LOCI_EFORBIDDEN, "%s: the maximum is the caller's own, \"%.*s\"", right,
                   LC_STR_ARG(own));
}

static loci_status load_visible(const lc_call *call, lc_tx *tx, loci_str id, lc_token *out,
                                loci_error *err)
{
    bool found = false;
    loci_status status = lc_token_find(tx, id, out, &found, err);

    if (status == LOCI_OK && (!found || right_above(call, out) != NULL))
        status = lc_fail(err, LOCI_ENOTFOUND, "token %.*s not found", LC_STR_ARG(id));
    return status;
}

/* A token that the caller makes does not outlive the caller's own. */
static loci_status limit_life(const lc_call *call, lc_tx *tx, lc_token *token, loci_error *err)
{
    lc_token own;
    bool found = false;
    loci_status status;

    if (call->token_id.len == 0)
        return LOCI_OK;
    status = lc_token_find(tx, call->token_id, &own, &found, err);
    if (status != LOCI_OK)
        return status;
    if (!found || !lc_token_is_good(&own, lc_clock_system_us(NULL)))
        return lc_fail(err, LOCI_EAUTH, "the caller's token was revoked or has expired");
    if (token->expires_at > own.expires_at)
        token->expires_at = own.expires_at;
    return LOCI_OK;
}

/* Unless it is `detached`, it is also revoked with it: the caller has seen its secret. */
static loci_status set_parent(const lc_call *call, lc_tx *tx, bool detached, lc_token *token,
                              loci_error *err)
{
    loci_status status = limit_life(call, tx, token, err);

    if (status != LOCI_OK || call->token_id.len == 0)
        return status;
    token->parent_id = (lc_id){""};
    if (!detached)
        set_text(token->parent_id.text, sizeof token->parent_id.text, call->token_id);
    return LOCI_OK;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned mask; /* Scopes that it includes. */
} scopes[] = {
    {"read", LC_SCOPE_READ},
    {"write", LC_SCOPE_WRITE},
    {"admin", LC_SCOPE_READ | LC_SCOPE_WRITE | LC_SCOPE_ADMIN},
    {"metrics", LC_SCOPE_METRICS},
};

#define SCOPE_CHOICES "read|write|admin|metrics"
#define SCOPE_COUNT (sizeof scopes / sizeof scopes[0])

#define SCOPE_LIST_BYTES sizeof "[\"read\",\"write\",\"admin\",\"metrics\"]"

/* The names of the granted scopes as a JSON array. */
static loci_str scope_list(unsigned granted, char out[SCOPE_LIST_BYTES])
{
    size_t len = 0;

    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        if ((granted & scopes[i].mask) == scopes[i].mask)
            len += (size_t)snprintf(out + len, SCOPE_LIST_BYTES - len, "%c\"%s\"",
                                    len == 0 ? '[' : ',', scopes[i].name);
    }
    if (len == 0)
        out[len++] = '[';
    out[len++] = ']';
    return (loci_str){out, len};
}

/* The members of a token: never the hash. */
static void put_members(lc_json_writer *w, const lc_token *token)
{
    bool is_good = lc_token_is_good(token, lc_clock_system_us(NULL));
    char names[SCOPE_LIST_BYTES];
    lc_token_shown shown = {
        .token = *token,
        .status = token->revoked_at != LC_TOKEN_NO_TIME ? LC_STR("revoked")
                  : is_good                             ? LC_STR("active")
                                                        : LC_STR("expired"),
        .scope_names = scope_list(token->scopes, names),
        .permission_names = token_permissions(token),
    };

    lc_row_put(&lc_token_row, &shown, w);
}

static void put_token(lc_json_writer *w, const lc_token *token)
{
    lc_jw_object(w);
    put_members(w, token);
    lc_jw_end(w);
}

/* A token that was just made, and the one it replaces, if any; `text` NULL: for a repeat. */
static void put_made(lc_json_writer *w, const lc_token *token, const char *text,
                     const lc_token *replaced)
{
    lc_jw_object(w);
    lc_jw_member_text(w, "token", text);
    put_members(w, token);
    if (replaced != NULL) {
        lc_jw_member_text(w, "replaces", replaced->id.text);
        if (replaced->expires_at != LC_TOKEN_NO_TIME)
            lc_jw_member_time(w, "replaced_expires_at", replaced->expires_at);
        else
            lc_jw_member_null(w, "replaced_expires_at");
    }
    lc_jw_member_text(w, "note",
                      text != NULL ? "Save the token now: it is not stored and not shown again"
                                   : "The secret was shown once; token.rotate makes another");
    lc_jw_end(w);
}

/* Writes the answer with the token's text, and the answer without it that is stored for a repeat.
 */
static loci_status answer_made(lc_call *call, const lc_token *token, const char *text,
                               const lc_token *replaced, loci_error *err)
{
    lc_json_writer w;
    loci_status status;
    lc_buf repeat;

    put_made(&call->out, token, text, replaced);
    lc_buf_init(&repeat, call->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&w, &repeat);
    put_made(&w, token, NULL, replaced);
    status = lc_buf_status(&repeat, err);
    if (status == LOCI_OK) {
        call->repeat_answer = lc_arena_copy(call->arena, lc_buf_str(&repeat));
        if (call->repeat_answer.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&repeat);
    return status;
}

/* The cache knows tokens as they were: one that was revoked or replaced must be looked up again. */
static void forget_tokens(loci_engine *engine)
{
    lc_token_cache_forget(lc_engine_token_cache(engine));
}

static const lc_record token_record = {.name = "Token", .row = &lc_token_row};

static const lc_record made_record = {
    .name = "NewToken",
    .base = &token_record,
    .members =
        (const lc_result[]){
            {"token", LC_PARAM_STRING,
             "Token itself (loci_...); null in the answer to a repeated request",
             LC_RESULT_NULLABLE},
            {"note", LC_PARAM_STRING, "Next step for the caller"},
            {NULL},
        },
};

#define EXAMPLE_ID "tok_01K9Z5W8G0000000005W0BSTYX"

/* ---- token.create ---------------------------------------------------------------------------- */

typedef struct create_input {
    loci_str name;
    lc_str_list scopes;
    loci_str user_id;
    loci_str persona_id;
    loci_str authority;
    loci_str trust;
    lc_str_list permissions;
    int64_t expires_at;
    int64_t ttl_s;
    bool detached;
    /* Made by prepare. */
    lc_token token;
    lc_token_text made;
} create_input;

static const lc_param create_params[] = {
    {LC_ARG_STR("name", create_input, name),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,
     .max = LC_TOKEN_NAME_BYTES_MAX, .help = "Purpose of the token, shown in lists"},
    {LC_ARG_STRINGS("scopes", create_input, scopes), .default_text = "[\"read\",\"write\"]",
     .min = 1, .max = SCOPE_COUNT, .choices = SCOPE_CHOICES,
     .help = "Scopes; admin includes the others and managing the tenant's tokens"},
    LC_NAME_PARAM("user_id", create_input, user_id, 0,
                  "The only user it may act for (default: all users of the tenant)"),
    LC_NAME_PARAM("persona_id", create_input, persona_id, 0, "The only persona it may act for"),
    {LC_ARG_STR("authority", create_input, authority), .choices = AUTHORITY_CHOICES,
     .help = "Maximum authority of its statements"},
    {LC_ARG_STR("trust", create_input, trust), .choices = TRUST_CHOICES,
     .help = "Maximum trust of its statements"},
    {LC_ARG_STRINGS("permissions", create_input, permissions), .max = PERMISSIONS_MAX,
     .item_max = LC_ID_BYTES_MAX,
     .help = "Permissions that an identity it sets can have, and that open restricted facts to it"
             " (default: none with authority or trust, else any)"},
    {LC_ARG_TIME("expires_at", create_input, expires_at),
     .help = "Time from which the token is refused (default: never)"},
    {LC_ARG_INT("ttl_s", create_input, ttl_s), .min = 1, .max = TTL_S_MAX,
     .help = "Lifetime in seconds from now, instead of expires_at"},
    {LC_ARG_BOOL("detached", create_input, detached, "false"), .help = DETACHED_HELP},
    {.name = NULL},
};

/* The id that the caller is narrowed to, or the one given; another one is not found. */
static loci_status narrow(loci_str own, const char *name, loci_str *given, loci_error *err)
{
    if (own.len > 0 && given->len > 0 && !lc_str_eq(own, *given))
        return lc_fail(err, LOCI_ENOTFOUND, "%s: not found", name);
    if (own.len > 0)
        *given = own;
    return LOCI_OK;
}

static loci_status make_secret(lc_token_text *out, loci_error *err)
{
    return lc_token_text_make(out)
               ? LOCI_OK
               : lc_fail(err, LOCI_ERESOURCE, "the system's random number generator failed");
}

/* Gives `token` the id and secret that were made; its lifetime starts now. */
static void set_secret(lc_token *token, const lc_token_text *made)
{
    token->id = made->id;
    token->secret_hash = made->secret_hash;
    token->created_at = lc_clock_system_us(NULL);
    token->revoked_at = LC_TOKEN_NO_TIME;
    token->replaced_by = (lc_id){""};
}

static loci_status set_expiry(const create_input *in, lc_token *token, loci_error *err)
{
    token->expires_at = LC_TOKEN_NO_TIME;
    if (in->expires_at != LC_ABSENT)
        token->expires_at = in->expires_at;
    else if (in->ttl_s != LC_ABSENT)
        token->expires_at = token->created_at + in->ttl_s * SECOND_US;
    if (token->expires_at <= token->created_at)
        return lc_fail(err, LOCI_EINVAL, "expires_at: expected a time in the future");
    return LOCI_OK;
}

/* Those given, which must be the caller's own; else the caller's, or none for a token with a
 * ceiling. */
static loci_status set_permissions(const lc_call *call, const create_input *in, lc_token *token,
                                   loci_error *err)
{
    bool is_capped = token->authority_max[0] != '\0' || token->trust_max[0] != '\0';
    lc_json_writer w;
    loci_status status;
    lc_buf text;

    if (in->permissions.items == NULL) {
        if (!is_capped && call->permissions_max.len > LC_TOKEN_PERMISSIONS_BYTES_MAX)
            return lc_fail(err, LOCI_ELIMIT, "the caller's permissions have more than %d bytes",
                           LC_TOKEN_PERMISSIONS_BYTES_MAX);
        set_text(token->permissions, sizeof token->permissions,
                 is_capped ? LC_STR("[]") : call->permissions_max);
        return LOCI_OK;
    }
    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_array(&w);
    for (size_t i = 0; i < in->permissions.count; i++)
        lc_jw_str(&w, in->permissions.items[i]);
    lc_jw_end(&w);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK && text.len > LC_TOKEN_PERMISSIONS_BYTES_MAX)
        status = lc_fail(err, LOCI_ELIMIT, "permissions: the maximum is %d bytes as JSON",
                         LC_TOKEN_PERMISSIONS_BYTES_MAX);
    if (status == LOCI_OK)
        set_text(token->permissions, sizeof token->permissions, lc_buf_str(&text));
    lc_buf_clear(&text);
    return status;
}

/* A token with the rights that the arguments ask for; what is not given is the caller's own. */
static loci_status prepare_create(lc_call *call, loci_error *err)
{
    create_input *in = call->input;
    lc_token *token = &in->token;
    loci_status status = narrow(call->user_id, "user_id", &in->user_id, err);

    if (status == LOCI_OK)
        status = narrow(call->persona_id, "persona_id", &in->persona_id, err);
    if (status == LOCI_OK && (call->authority_max.len > LC_TOKEN_CEILING_BYTES_MAX ||
                              call->trust_max.len > LC_TOKEN_CEILING_BYTES_MAX))
        status = lc_fail(err, LOCI_ELIMIT, "the caller's ceilings have more than %d bytes",
                         LC_TOKEN_CEILING_BYTES_MAX);
    if (status == LOCI_OK)
        status = make_secret(&in->made, err);
    if (status != LOCI_OK)
        return status;
    set_secret(token, &in->made);
    set_text(token->tenant_id, sizeof token->tenant_id, call->tenant_id);
    set_text(token->name, sizeof token->name, in->name);
    set_text(token->user_id, sizeof token->user_id, in->user_id);
    set_text(token->persona_id, sizeof token->persona_id, in->persona_id);
    set_text(token->authority_max, sizeof token->authority_max,
             in->authority.ptr != NULL ? in->authority : call->authority_max);
    set_text(token->trust_max, sizeof token->trust_max,
             in->trust.ptr != NULL ? in->trust : call->trust_max);
    for (size_t i = 0; i < in->scopes.count; i++) {
        for (size_t j = 0; j < SCOPE_COUNT; j++) {
            if (lc_str_is(in->scopes.items[i], scopes[j].name))
                token->scopes |= scopes[j].mask;
        }
    }
    status = set_expiry(in, token, err);
    if (status == LOCI_OK)
        status = set_permissions(call, in, token, err);
    return status == LOCI_OK ? check_grant(call, token, err) : status;
}

/* Tokens that ended long ago are deleted and make room for new ones. */
static loci_status insert(const lc_call *call, lc_tx *tx, const lc_token *token, loci_error *err)
{
    int64_t ended_us = token->created_at - KEEP_ENDED_US;
    int64_t count = 0;
    loci_status status = lc_token_count(tx, call->tenant_id, ended_us, &count, err);

    if (status == LOCI_OK && count >= LC_TOKENS_MAX)
        status = lc_fail(err, LOCI_ELIMIT,
                         "the tenant has %d tokens, the maximum; tokens that ended are deleted "
                         "after 90 days",
                         LC_TOKENS_MAX);
    if (status == LOCI_OK)
        status = lc_token_purge(tx, call->tenant_id, ended_us, err);
    if (status == LOCI_OK)
        status = lc_token_insert(tx, token, err);
    return status;
}

static loci_status run_create(lc_call *call, lc_tx *tx, loci_error *err)
{
    const create_input *in = call->input;
    lc_token token = in->token;
    loci_status status = set_parent(call, tx, in->detached, &token, err);

    if (status == LOCI_OK)
        status = insert(call, tx, &token, err);
    return status == LOCI_OK ? answer_made(call, &token, in->made.text, NULL, err) : status;
}

static const lc_op op_create = {
    .name = "token.create",
    .help = "Create a token that lets a client call loci over HTTP for this tenant",
    .params = create_params,
    .rules = (const lc_param_rule[]){{LC_RULE_AT_MOST_ONE, "expires_at|ttl_s"},
                                     {LC_RULE_END, NULL}},
    .input_bytes = sizeof(create_input),
    .answer = &made_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MAIN | LC_OP_MUTATES | LC_OP_TENANT_ADMIN | LC_OP_SECRET,
    .http = "POST /v1/tokens",
    .example = "{\"name\":\"ci\",\"scopes\":[\"read\",\"write\"],\"ttl_s\":2592000}",
    .prepare = prepare_create,
    .run = run_create,
    .committed = forget_tokens,
};

/* ---- token.list ------------------------------------------------------------------------------ */

typedef struct listing {
    lc_page page;
    lc_name_position at;
    lc_id last; /* Of those that were written; `at` refers to it. */
} listing;

static loci_status list_one(void *ctx, const lc_token *token, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (right_above(l->page.call, token) != NULL || !lc_page_takes(&l->page))
        return LOCI_OK;
    put_token(&l->page.call->out, token);
    l->last = token->id;
    l->at.name = lc_id_str(&l->last);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_page_args *in = call->input;
    listing l = {.page = {call, &lc_position_by_name, &l.at}};
    lc_token_range range = {.tenant_id = call->tenant_id,
                            .user_id = call->user_id,
                            .persona_id = call->persona_id,
                            /* The rows of a capped caller are selected here, not by the query. */
                            .limit = call->is_whole ? in->limit + 1 : INT64_MAX};
    loci_status status = lc_page_begin(&l.page, in, err);

    if (status != LOCI_OK)
        return status;
    range.before = l.at.name;
    lc_page_open(&l.page, "tokens");
    status = lc_token_each(tx, &range, list_one, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op op_list = {
    .name = "token.list",
    .help = "List the tenant's tokens, newest first, without their secrets",
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer =
        &(const lc_record){
            .members =
                (const lc_result[]){
                    {"tokens", 0, "Tokens, newest first", LC_RESULT_LIST, .record = &token_record},
                    LC_PAGE_RESULT,
                    {NULL},
                },
        },
    .cost = LC_COST_POINT,
    .flags = LC_OP_MAIN | LC_OP_TENANT_ADMIN,
    .http = "GET /v1/tokens",
    .look = {.columns = "name status scopes user_id created_at expires_at id"},
    .example = "{}",
    .run = run_list,
};

/* ---- token.revoke ---------------------------------------------------------------------------- */

typedef struct revoke_input {
    loci_str id;
} revoke_input;

static loci_status run_revoke(lc_call *call, lc_tx *tx, loci_error *err)
{
    const revoke_input *in = call->input;
    lc_token token;
    loci_status status = load_visible(call, tx, in->id, &token, err);

    if (status == LOCI_OK && token.revoked_at == LC_TOKEN_NO_TIME) {
        token.revoked_at = lc_clock_system_us(NULL);
        status = lc_token_update(tx, &token, err);
        if (status == LOCI_OK)
            status = lc_token_revoke_children(tx, lc_id_str(&token.id), token.revoked_at, err);
    }
    if (status == LOCI_OK)
        put_token(&call->out, &token);
    return status;
}

static const lc_op op_revoke = {
    .name = "token.revoke",
    .help = "Revoke a token and those made with it; other processes follow in a second",
    .params = (const lc_param[]){LC_ID_PARAM(revoke_input, id, "Id of the token, tok_…"),
                                 {.name = NULL}},
    .input_bytes = sizeof(revoke_input),
    .answer = &token_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MAIN | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_TENANT_ADMIN | LC_OP_DESTROYS,
    .http = "POST /v1/tokens/{id}/revoke",
    .look = {.sentence = "revoked {name}  ({id})"},
    .example = "{\"id\":\"" EXAMPLE_ID "\"}",
    .run = run_revoke,
    .committed = forget_tokens,
};

/* ---- token.rotate ---------------------------------------------------------------------------- */

typedef struct rotate_input {
    loci_str id;
    int64_t overlap_s;
    bool detached;
    lc_token_text made; /* Made by prepare. */
} rotate_input;

static loci_status prepare_rotate(lc_call *call, loci_error *err)
{
    return make_secret(&((rotate_input *)call->input)->made, err);
}

/* Only a token that is in use, and not half replaced already, can be replaced. */
static loci_status check_rotatable(const lc_token *old, loci_error *err)
{
    if (old->revoked_at != LC_TOKEN_NO_TIME)
        return lc_fail(err, LOCI_ECONFLICT, "token %s was revoked; create a new one", old->id.text);
    if (old->replaced_by.text[0] != '\0')
        return lc_fail(err, LOCI_ECONFLICT, "token %s was replaced by %s; rotate that one",
                       old->id.text, old->replaced_by.text);
    if (!lc_token_is_good(old, lc_clock_system_us(NULL)))
        return lc_fail(err, LOCI_ECONFLICT, "token %s has expired; create a new one", old->id.text);
    return LOCI_OK;
}

/* The new token has the rights of the old one and the same lifetime, counted from now. */
static void replace(lc_token *next, const lc_token_text *made, lc_token *old, int64_t overlap_us)
{
    int64_t end_us;

    *next = *old;
    set_secret(next, made);
    if (old->expires_at != LC_TOKEN_NO_TIME)
        next->expires_at = next->created_at + (old->expires_at - old->created_at);
    if (next->expires_at != LC_TOKEN_NO_TIME && next->expires_at > LC_TIME_MAX_US)
        next->expires_at = LC_TIME_MAX_US;
    end_us = next->created_at + overlap_us;
    if (end_us < old->expires_at)
        old->expires_at = end_us;
    old->replaced_by = next->id;
}

static loci_status run_rotate(lc_call *call, lc_tx *tx, loci_error *err)
{
    const rotate_input *in = call->input;
    lc_token old, next;
    loci_status status = load_visible(call, tx, in->id, &old, err);

    if (status == LOCI_OK)
        status = check_rotatable(&old, err);
    if (status != LOCI_OK)
        return status;
    replace(&next, &in->made, &old, in->overlap_s * SECOND_US);
    /* One that replaces the caller's own token keeps the place of that in the family. */
    if (lc_str_eq(call->token_id, lc_id_str(&old.id)))
        status = limit_life(call, tx, &next, err);
    else
        status = set_parent(call, tx, in->detached, &next, err);
    if (status == LOCI_OK)
        status = insert(call, tx, &next, err);
    if (status == LOCI_OK)
        status = lc_token_update(tx, &old, err);
    if (status == LOCI_OK)
        status = lc_token_adopt(tx, lc_id_str(&old.id), lc_id_str(&next.id), err);
    return status == LOCI_OK ? answer_made(call, &next, in->made.text, &old, err) : status;
}

static const lc_op op_rotate = {
    .name = "token.rotate",
    .help = "Replace a token by a new one; the old one stays valid for a while",
    .params =
        (const lc_param[]){
            LC_ID_PARAM(rotate_input, id, "Id of the token, tok_…"),
            {LC_ARG_INT("overlap_s", rotate_input, overlap_s), .default_text = "3600", .min = 0,
             .max = OVERLAP_S_MAX,
             .help = "Seconds that the old token stays valid; 0 ends it at once"},
            {LC_ARG_BOOL("detached", rotate_input, detached, "false"), .help = DETACHED_HELP},
            {.name = NULL},
        },
    .input_bytes = sizeof(rotate_input),
    .answer =
        &(const lc_record){
            .base = &made_record,
            .members =
                (const lc_result[]){
                    {"replaces", LC_PARAM_STRING, "Id of the old token"},
                    {"replaced_expires_at", LC_PARAM_TIME,
                     "Time from which the old token is refused"},
                    {NULL},
                },
        },
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MAIN | LC_OP_MUTATES | LC_OP_TENANT_ADMIN | LC_OP_SECRET,
    .http = "POST /v1/tokens/{id}/rotate",
    .example = "{\"id\":\"" EXAMPLE_ID "\",\"overlap_s\":600}",
    .prepare = prepare_rotate,
    .run = run_rotate,
    .committed = forget_tokens,
};

extern const lc_op *const lc_ops_token[];
const lc_op *const lc_ops_token[] = {&op_create, &op_list, &op_revoke, &op_rotate, NULL};
