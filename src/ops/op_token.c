/* op_token.c - token.create, token.list, token.revoke, token.rotate.
 *
 * For administrators of a tenant, about the tokens of that tenant. Nobody can hand out more than it
 * has: who is narrowed to a user or persona, or capped, makes tokens that are so too, and sees only
 * those; the others are not found, exactly like those of another tenant and those that do not
 * exist. `admin` includes the other scopes, because who can make tokens has them in effect.
 *
 * The secret is made before the transaction and is in the first answer only: a repeat of the
 * request gets the answer without it. All times are the system's, see store/token.h.
 */
#include "ops/op.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "engine/engine.h"
#include "ops/check.h"
#include "ops/token_grant.h"
#include "ops/token_make.h"
#include "ops/token_view.h"

#define SECOND_US INT64_C(1000000)
#define TTL_S_MAX (INT64_C(86400) * 3660)               /* Ten years. */
#define OVERLAP_S_MAX (INT64_C(86400) * 30)             /* A forgotten one must end some day. */
#define KEEP_ENDED_US (INT64_C(86400) * SECOND_US * 90) /* Shown in the list for a quarter. */

/* ---- token.create ---------------------------------------------------------------------------- */

/* Room for one more; what ended long ago makes it. */
static loci_status check_room(const lc_call *call, lc_tx *tx, int64_t ended_us, loci_error *err)
{
    int64_t count = 0;
    loci_status status = lc_token_count(tx, call->tenant_id, ended_us, &count, err);

    if (status == LOCI_OK && count >= LC_TOKENS_MAX)
        status = lc_fail(err, LOCI_ELIMIT,
                         "the tenant has %d tokens, which is as many as it may have; those that "
                         "ended make room after 90 days",
                         LC_TOKENS_MAX);
    return status;
}

static loci_status insert(const lc_call *call, lc_tx *tx, const lc_token *token, loci_error *err)
{
    int64_t ended_us = token->created_at - KEEP_ENDED_US;
    loci_status status = check_room(call, tx, ended_us, err);

    if (status == LOCI_OK)
        status = lc_token_purge(tx, call->tenant_id, ended_us, err);
    if (status == LOCI_OK)
        status = lc_token_insert(tx, token, err);
    return status;
}

static loci_status run_create(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_token_making *m = call->input;
    loci_status status = insert(call, tx, &m->token, err);

    return status == LOCI_OK ? lc_token_answer_made(call, &m->token, m->made.text, NULL, err)
                             : status;
}

/* ---- token.list ------------------------------------------------------------------------------ */

typedef struct page {
    lc_json_writer *out;
    int64_t limit;
    int64_t count;
    lc_id last; /* Of those that were written. */
} page;

/* One row more than asked for tells whether to go on. */
static loci_status list_one(void *ctx, const lc_token *token, loci_error *err)
{
    page *p = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (p->count++ == p->limit)
        return LOCI_OK;
    lc_jw_object(p->out);
    lc_token_write_members(p->out, token);
    lc_jw_end(p->out);
    p->last = token->id;
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    page p = {.out = &call->out, .limit = lc_call_i64(call, "limit", 0)};
    lc_token_range range = {.tenant_id = call->tenant_id,
                            .user_id = call->user_id,
                            .persona_id = call->persona_id,
                            .before = lc_call_str(call, "before"),
                            .limit = p.limit + 1};
    loci_status status;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "tokens");
    lc_jw_array(&call->out);
    status = lc_token_each(tx, &range, list_one, &p, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_end(&call->out);
    lc_jw_member_text(&call->out, "next", p.count > p.limit ? p.last.text : NULL);
    lc_jw_end(&call->out);
    return lc_buf_status(call->out.buf, err);
}

/* ---- token.revoke and token.rotate ----------------------------------------------------------- */

static loci_status load_own(const lc_call *call, lc_tx *tx, lc_token *out, loci_error *err)
{
    loci_str id = lc_call_str(call, "id");
    bool found = false;
    loci_status status = lc_token_find(tx, id, out, &found, err);

    if (status == LOCI_OK && (!found || !lc_token_is_visible(call, out)))
        status = lc_fail(err, LOCI_ENOTFOUND, "token %.*s not found", LC_STR_ARG(id));
    return status;
}

static loci_status run_revoke(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_token token;
    loci_status status = load_own(call, tx, &token, err);

    if (status == LOCI_OK && token.revoked_at == LC_TOKEN_NO_TIME) {
        token.revoked_at = lc_clock_system_us(NULL);
        status = lc_token_update(tx, &token, err);
    }
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_token_write_members(&call->out, &token);
    lc_jw_end(&call->out);
    return lc_buf_status(call->out.buf, err);
}

static loci_status prepare_rotate(lc_call *call, loci_error *err)
{
    lc_token_making *m;

    return lc_token_begin(call, &m, err);
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

/* The new one may do what the old one may, and lives as long from now on as the old one was to. */
static void replace(lc_token *next, const lc_token_text *made, lc_token *old, int64_t overlap_us)
{
    int64_t end_us;

    *next = *old;
    lc_token_set_secret(next, made);
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
    lc_token_making *m = call->input;
    lc_token old;
    loci_status status = load_own(call, tx, &old, err);

    if (status == LOCI_OK)
        status = check_rotatable(&old, err);
    if (status == LOCI_OK)
        status = lc_token_check_grant(call, &old, err);
    if (status != LOCI_OK)
        return status;
    replace(&m->token, &m->made, &old, lc_call_i64(call, "overlap_s", 0) * SECOND_US);
    status = insert(call, tx, &m->token, err);
    if (status == LOCI_OK)
        status = lc_token_update(tx, &old, err);
    return status == LOCI_OK ? lc_token_answer_made(call, &m->token, m->made.text, &old, err)
                             : status;
}

/* The cache knows tokens as they were: one that was revoked or replaced must be looked up again. */
static void forget_tokens(loci_engine *engine)
{
    lc_token_cache_forget(lc_engine_token_cache(engine));
}

/* ---- The table ------------------------------------------------------------------------------- */

#define TOKEN_MEMBERS(prefix)                                                                      \
    {prefix "id", LC_PARAM_STRING, "tok_…, for revoking and rotating it"},                         \
        {prefix "name", LC_PARAM_STRING, "What it is for"},                                        \
        {prefix "status", LC_PARAM_STRING, "active, expired or revoked"},                          \
        {prefix "scopes", LC_PARAM_STRINGS, "Of read, write, admin"},                              \
        {prefix "user_id", LC_PARAM_STRING, "The one user it may act for, or null"},               \
        {prefix "persona_id", LC_PARAM_STRING, "The one persona it may act for, or null"},         \
        {prefix "authority", LC_PARAM_STRING, "Highest authority of its statements, or null"},     \
        {prefix "trust", LC_PARAM_STRING, "Highest trust of its statements, or null"},             \
        {prefix "created_at", LC_PARAM_TIME, "When it was made, by the system's clock"},           \
        {prefix "expires_at", LC_PARAM_TIME, "From when on it is refused, or null"},               \
        {prefix "revoked_at", LC_PARAM_TIME, "When it was revoked, or null"},                      \
    {                                                                                              \
        prefix "replaced_by", LC_PARAM_STRING,                                                     \
            "The token that a rotation put in its place, or null"                                  \
    }

#define MADE_TOKEN                                                                                 \
    {                                                                                              \
        "token", LC_PARAM_STRING, "The token itself, loci_…: shown this once"                    \
    }
#define NOTE                                                                                       \
    {                                                                                              \
        "note", LC_PARAM_STRING, "What to do now"                                                  \
    }
#define ID_PARAM                                                                                   \
    {                                                                                              \
        .name = "id", .kind = LC_PARAM_STRING,                                                     \
        .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,                  \
        .max = LC_ID_BYTES_MAX, .help = "The token's id, tok_…"                                  \
    }
#define EXAMPLE_ID "tok_01K9Z5W8G0000000005W0BSTYX"

static const lc_param create_params[] = {
    {"name", LC_PARAM_STRING, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, NULL, 1,
     LC_TOKEN_NAME_BYTES_MAX, NULL, "What it is for, so that it can be told from others"},
    {"scopes", LC_PARAM_STRINGS, 0, "[\"read\",\"write\"]", 1, 3, LC_SCOPE_CHOICES,
     "What it may do; admin includes the others and managing the tenant's tokens"},
    {"user_id", LC_PARAM_STRING, LC_PARAM_ID, NULL, 1, LC_ID_BYTES_MAX, NULL,
     "The one user it may act for; without it all of the tenant"},
    {"persona_id", LC_PARAM_STRING, LC_PARAM_ID, NULL, 1, LC_ID_BYTES_MAX, NULL,
     "The one persona it may act for"},
    {"authority", LC_PARAM_STRING, 0, NULL, 0, 0, LC_AUTHORITY_CHOICES,
     "Highest authority that its statements can have"},
    {"trust", LC_PARAM_STRING, 0, NULL, 0, 0, LC_TRUST_CHOICES,
     "Highest trust that its statements can have"},
    {"expires_at", LC_PARAM_TIME, 0, NULL, 0, 0, NULL, "From when on it is refused"},
    {"ttl_s", LC_PARAM_INT, 0, NULL, 1, TTL_S_MAX, NULL,
     "The same as seconds from now; with neither it does not expire"},
    {.name = NULL},
};

static const lc_op op_create = {
    .name = "token.create",
    .help = "Make a token with which others may call, over HTTP, for the caller's tenant",
    .params = create_params,
    .results = (const lc_result[]){MADE_TOKEN, TOKEN_MEMBERS(""), NOTE, {NULL, 0, NULL}},
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MUTATES | LC_OP_TENANT_ADMIN | LC_OP_SECRET,
    .http = "POST /v1/tokens",
    .example = "{\"name\":\"ci\",\"scopes\":[\"read\",\"write\"],\"ttl_s\":2592000}",
    .prepare = lc_token_from_args,
    .run = run_create,
    .committed = forget_tokens,
};

static const lc_op op_list = {
    .name = "token.list",
    .help = "List the tenant's tokens, newest first, without their secrets",
    .params =
        (const lc_param[]){
            {"limit", LC_PARAM_INT, 0, "50", 1, LC_PAGE_ROWS_MAX, NULL, "At most so many"},
            {"before", LC_PARAM_STRING, LC_PARAM_ID, NULL, 1, LC_ID_BYTES_MAX, NULL,
             "Only tokens older than this one: the `next` of the page before"},
            {.name = NULL},
        },
    .results =
        (const lc_result[]){
            TOKEN_MEMBERS("tokens[]."),
            {"next", LC_PARAM_STRING, "What `before` must be for the next page; null at the end"},
            {NULL, 0, NULL},
        },
    .cost = LC_COST_POINT,
    .flags = LC_OP_TENANT_ADMIN,
    .http = "GET /v1/tokens",
    .example = "{}",
    .run = run_list,
};

static const lc_op op_revoke = {
    .name = "token.revoke",
    .help = "End a token: here at once, in other processes within a second",
    .params = (const lc_param[]){ID_PARAM, {.name = NULL}},
    .results = (const lc_result[]){TOKEN_MEMBERS(""), {NULL, 0, NULL}},
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_TENANT_ADMIN,
    .http = "POST /v1/tokens/{id}/revoke",
    .example = "{\"id\":\"" EXAMPLE_ID "\"}",
    .run = run_revoke,
    .committed = forget_tokens,
};

static const lc_op op_rotate = {
    .name = "token.rotate",
    .help = "Make a token that replaces another, which stays good for a while",
    .params =
        (const lc_param[]){
            ID_PARAM,
            {"overlap_s", LC_PARAM_INT, 0, "3600", 0, OVERLAP_S_MAX, NULL,
             "How many seconds the old one stays good; 0 ends it at once"},
            {.name = NULL},
        },
    .results =
        (const lc_result[]){
            MADE_TOKEN,
            TOKEN_MEMBERS(""),
            {"replaces", LC_PARAM_STRING, "The id of the old one"},
            {"replaced_expires_at", LC_PARAM_TIME, "From when on the old one is refused"},
            NOTE,
            {NULL, 0, NULL},
        },
    .cost = LC_COST_WRITE,
    .flags = LC_OP_MUTATES | LC_OP_TENANT_ADMIN | LC_OP_SECRET,
    .http = "POST /v1/tokens/{id}/rotate",
    .example = "{\"id\":\"" EXAMPLE_ID "\",\"overlap_s\":600}",
    .prepare = prepare_rotate,
    .run = run_rotate,
    .committed = forget_tokens,
};

extern const lc_op *const lc_ops_token[];
const lc_op *const lc_ops_token[] = {&op_create, &op_list, &op_revoke, &op_rotate, NULL};
