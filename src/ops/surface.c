/* surface.c - see surface.h; also the public functions that are about the engine itself.
 *
 * Tokens: cache, then store. Expiry is judged at every use and by the system's clock: the engine's
 * own clock may be injected, stop or go back, and an expired token would then become valid again.
 */
#include "ops/surface.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/route.h"
#include "engine/settings.h"
#include "engine/store_jobs.h"
#include "store/schema.h"

#define LOOK_UP_US 1000000 /* A caller is told that the store is busy rather than kept waiting. */

/* ---- The engine ------------------------------------------------------------------------------ */

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *loci_version(void)
{
    return VERSION_TEXT(LOCI_VERSION_MAJOR, LOCI_VERSION_MINOR, LOCI_VERSION_PATCH);
}

/* A caller built against another header: members it did not know keep their defaults. */
static loci_status check_size(uint32_t size, loci_error *err)
{
    if (size == sizeof(loci_open_options))
        return LOCI_OK;
    return lc_fail(err, LOCI_EINVAL, "loci_open_options has %u bytes, this libloci expects %zu",
                   size, sizeof(loci_open_options));
}

loci_status loci_open(const loci_open_options *options, loci_engine **out, loci_error *err)
{
    loci_status status;

    if (options == NULL || out == NULL)
        return lc_fail(err, LOCI_EINVAL, "loci_open needs options and a place for the engine");
    status = check_size(options->size, err);
    return status == LOCI_OK ? lc_engine_open(options, NULL, out, err) : status;
}

void lc_engine_shut_down(loci_engine *engine)
{
    lc_routed_database at;

    if (engine == NULL)
        return;
    lc_engine_sweep_at_shutdown(engine);
    for (size_t i = 0; lc_engine_database_at(engine, i, &at); i++) {
        if (at.engine != NULL)
            lc_engine_sweep_at_shutdown(at.engine);
    }
}

void loci_close(loci_engine *engine)
{
    lc_engine_close(engine);
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

loci_status lc_token_refuse(loci_error *err)
{
    return lc_fail(err, LOCI_EAUTH,
                   "a valid token is needed: send it as \"Authorization: Bearer loci_…\"; the "
                   "operator of this daemon makes one with `loci token create NAME`");
}

typedef struct look_up {
    lc_id id;
    lc_token_hash secret_hash;
    lc_token token;
    bool is_good;
} look_up;

static loci_status find_token(lc_tx *tx, void *ctx, loci_error *err)
{
    look_up *l = ctx;
    lc_token_hash expected = {{0}};
    bool found = false;
    loci_status status = lc_token_find(tx, lc_id_str(&l->id), &l->token, &found, err);

    if (status != LOCI_OK)
        return status;
    if (found)
        expected = l->token.secret_hash;
    /* Compared in either case, so that the time it takes reveals nothing about the id. */
    l->is_good = lc_token_hash_is_equal(&expected, &l->secret_hash) && found;
    return LOCI_OK;
}

/* Finds the good token that `bearer` is the text of in the cache. */
static loci_status recall_token(loci_engine *engine, loci_str bearer, lc_token *out,
                                bool *out_must_ask, loci_error *err)
{
    lc_token_hash secret_hash;
    lc_id id;

    *out_must_ask = false;
    if (lc_token_cache_find(lc_engine_token_cache(engine), bearer, out))
        return LOCI_OK;
    if (!lc_token_text_parse(bearer, &id, &secret_hash))
        return lc_token_refuse(err);
    *out_must_ask = true;
    return LOCI_OK;
}

/* The same in the store; revoked ones are not put into the cache. */
static loci_status load_token(loci_engine *engine, loci_str bearer, lc_token *out, loci_error *err)
{
    lc_token_cache *cache = lc_engine_token_cache(engine);
    lc_token_moment before = lc_token_cache_moment(cache);
    look_up l = {.is_good = false};
    loci_status status;

    if (!lc_token_text_parse(bearer, &l.id, &l.secret_hash))
        return lc_token_refuse(err);
    status = lc_engine_read(
        engine, &(lc_read){.deadline_us = before.us + LOOK_UP_US, .body = find_token, .ctx = &l},
        err);
    if (status != LOCI_OK)
        return status;
    if (!l.is_good || l.token.revoked_at != LC_TOKEN_NO_TIME)
        return lc_token_refuse(err);
    lc_token_cache_put(cache, bearer, before, &l.token);
    *out = l.token;
    return LOCI_OK;
}

/* Whether it speaks for the operator of this engine: for all tenants. */
static bool is_whole_store(const loci_engine *engine, const lc_token *token)
{
    bool is_whole = token->user_id[0] == '\0' && token->persona_id[0] == '\0' &&
                    token->authority_max[0] == '\0' && token->trust_max[0] == '\0' &&
                    token->permissions[0] == '\0';

    return is_whole && lc_str_is(lc_engine_tenant(engine), token->tenant_id);
}

static uint32_t admin_flags(const loci_engine *engine, const lc_token *token)
{
    if ((token->scopes & LC_SCOPE_ADMIN) == 0)
        return 0;
    if (!is_whole_store(engine, token))
        return LOCI_PRINCIPAL_TENANT_ADMIN;
    return LOCI_PRINCIPAL_TENANT_ADMIN | LOCI_PRINCIPAL_ADMIN;
}

static lc_token_identity identify(const loci_engine *engine, const lc_token *token)
{
    return (lc_token_identity){
        .principal = {.size = sizeof(loci_principal),
                      .flags = admin_flags(engine, token),
                      .tenant = token->tenant_id,
                      .user = token->user_id,
                      .persona = token->persona_id,
                      .authority = token->authority_max,
                      .trust = token->trust_max,
                      .permissions = token->permissions,
                      .token = token->id.text},
        .scopes = token->scopes,
        .token_id = token->id.text,
        .expires_at = token->expires_at,
        .sees_metrics = (token->scopes & (LC_SCOPE_ADMIN | LC_SCOPE_METRICS)) != 0 &&
                        is_whole_store(engine, token),
    };
}

loci_status lc_token_recall(loci_engine *engine, loci_str bearer, lc_arena *arena,
                            lc_token_identity *out, bool *out_must_ask, loci_error *err)
{
    lc_token *token = lc_arena_alloc(arena, sizeof *token);
    loci_status status;

    if (token == NULL)
        return lc_fail_memory(err);
    status = recall_token(engine, bearer, token, out_must_ask, err);
    if (status != LOCI_OK || *out_must_ask)
        return status;
    if (!lc_token_is_good(token, lc_clock_system_us(NULL)))
        return lc_token_refuse(err);
    *out = identify(engine, token);
    return LOCI_OK;
}

loci_status lc_token_authenticate(loci_engine *engine, loci_str bearer, lc_arena *arena,
                                  lc_token_identity *out, loci_error *err)
{
    lc_token *token = lc_arena_alloc(arena, sizeof *token);
    bool must_ask;
    loci_status status;

    if (token == NULL)
        return lc_fail_memory(err);
    status = recall_token(engine, bearer, token, &must_ask, err);
    if (status == LOCI_OK && must_ask)
        status = load_token(engine, bearer, token, err);
    if (status == LOCI_OK && !lc_token_is_good(token, lc_clock_system_us(NULL)))
        status = lc_token_refuse(err);
    if (status == LOCI_OK)
        *out = identify(engine, token);
    return status;
}

typedef struct recheck {
    lc_token_check *checks;
    size_t count;
} recheck;

static loci_status read_checks(lc_tx *tx, void *ctx, loci_error *err)
{
    recheck *r = ctx;
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < r->count; i++) {
        lc_token_check *check = &r->checks[i];
        bool found = false;
        lc_token token;

        status = lc_token_find(tx, lc_id_str(&check->id), &token, &found, err);
        check->is_revoked = !found || token.revoked_at != LC_TOKEN_NO_TIME;
        check->expires_at = found ? token.expires_at : LC_TOKEN_NO_TIME;
    }
    return status;
}

loci_status lc_token_recheck(loci_engine *engine, lc_token_check *checks, size_t count,
                             loci_error *err)
{
    recheck r = {.checks = checks, .count = count};

    return lc_engine_read(engine,
                          &(lc_read){.deadline_us = lc_clock_monotonic_us() + LOOK_UP_US,
                                     .body = read_checks,
                                     .ctx = &r},
                          err);
}

uint64_t lc_token_generation(loci_engine *engine)
{
    return lc_token_cache_moment(lc_engine_token_cache(engine)).generation;
}

static loci_status find_any(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_token_any(tx, lc_clock_system_us(NULL), ctx, err);
}

bool lc_token_exists_any(loci_engine *engine)
{
    int64_t deadline_us = lc_clock_monotonic_us() + LOOK_UP_US;
    bool exists = false;

    return lc_engine_read(engine,
                          &(lc_read){.deadline_us = deadline_us, .body = find_any, .ctx = &exists},
                          NULL) == LOCI_OK &&
           exists;
}

unsigned lc_op_scopes(const lc_op *op)
{
    if ((op->flags & (LC_OP_ADMIN | LC_OP_TENANT_ADMIN)) != 0)
        return LC_SCOPE_ADMIN;
    return (op->flags & LC_OP_MUTATES) != 0 ? LC_SCOPE_WRITE : LC_SCOPE_READ;
}

/* ---- Settings -------------------------------------------------------------------------------- */

size_t lc_setting_view_count(void)
{
    return lc_setting_list_own().count;
}

lc_setting_view lc_setting_view_at(size_t index)
{
    lc_setting_list list = lc_setting_list_own();
    const lc_setting *setting = list.items[index];

    LC_ASSERT(index < list.count);
    return (lc_setting_view){
        .name = setting->name,
        .choices = setting->choices,
        .help = setting->help,
        .is_text = !setting->is_secret &&
                   (setting->kind == LC_SETTING_TEXT || setting->kind == LC_SETTING_CHOICE),
    };
}

int64_t lc_setting_view_i64(loci_engine *engine, const char *name)
{
    lc_setting_list list = lc_setting_list_own();
    const lc_setting *setting = lc_setting_list_find(&list, loci_str_of(name));
    lc_settings *settings = lc_engine_settings(engine);

    LC_ASSERT(setting != NULL);
    LC_ASSERT(setting->kind == LC_SETTING_INT || setting->kind == LC_SETTING_CHOICE);
    if (setting->kind == LC_SETTING_CHOICE)
        return lc_settings_choice(settings, setting, LC_STR_NONE);
    return lc_settings_i64(settings, setting, LC_STR_NONE);
}

/* ---- Health ---------------------------------------------------------------------------------- */

typedef struct probe {
    loci_engine *engine;
    int64_t deadline_us;
} probe;

static loci_status read_version(lc_tx *tx, void *ctx, loci_error *err)
{
    int64_t version = 0;
    loci_status status = lc_meta_get_i64(tx, "schema_version", 0, &version, err);

    (void)ctx; /* Everything is in the store. */
    if (status == LOCI_OK && version < 1)
        status = lc_fail(err, LOCI_ECORRUPT, "meta.schema_version is missing");
    return status;
}

static loci_status run_probe(void *ctx, loci_error *err)
{
    probe *p = ctx;

    return lc_engine_read(p->engine,
                          &(lc_read){.deadline_us = p->deadline_us, .body = read_version}, err);
}

loci_status lc_probe_store(loci_engine *engine, int64_t timeout_ms, loci_error *err)
{
    probe p = {.engine = engine, .deadline_us = lc_clock_monotonic_us() + timeout_ms * 1000};
    loci_status status = lc_engine_check(engine, err);

    return status == LOCI_OK ? lc_engine_guard(engine, run_probe, &p, err) : status;
}

/* ---- Timings ----------------------------------------------------------------------------------
 */

const lc_engine_timings *lc_timings_view(loci_engine *engine)
{
    return lc_engine_get_timings(engine);
}
