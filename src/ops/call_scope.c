/* call_scope.c - see call_scope.h. */
#include "ops/call_scope.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/settings.h"
#include "session/summary.h"

#define MINUTE_US INT64_C(60000000)

lc_session_ref lc_call_session_ref(const lc_call *call)
{
    return (lc_session_ref){
        .session_id = call->implied.session_id,
        .persona_id = call->persona_id,
        .idle_us = MINUTE_US * lc_settings_i64(lc_engine_settings(call->engine),
                                               &lc_setting_session_idle_minutes, call->tenant_id),
    };
}

loci_status lc_call_find_session(lc_call *call, lc_tx *tx, lc_session *out, bool *found,
                                 loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    loci_status status = lc_session_find(tx, &ref, call->arena, out, found, err);

    *found = status == LOCI_OK && *found && lc_session_state_is_open(out->state);
    return status;
}

/* The events that a known client writes in a session name both. */
static loci_status name_session(lc_call *call, lc_tx *tx, loci_str session_id, loci_error *err)
{
    const loci_str parts[] = {{call->client.ptr, call->client.len > 0 ? call->client.len - 1 : 0},
                              LC_STR(",\"session_id\":\""),
                              session_id,
                              LC_STR("\"}")};
    size_t bytes = 0;
    char *text;

    if (call->client.len == 0)
        return LOCI_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        bytes += parts[i].len;
    text = lc_arena_alloc(call->arena, bytes);
    if (text == NULL)
        return lc_fail_memory(err);
    tx->client = (loci_str){text, bytes};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        memcpy(text, parts[i].ptr, parts[i].len);
        text += parts[i].len;
    }
    return LOCI_OK;
}

loci_status lc_call_choose_session(lc_call *call, lc_tx *tx, lc_session_use *out, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    loci_status status = lc_session_choose(tx, &ref, call->arena, out, err);

    return status == LOCI_OK ? name_session(call, tx, out->session.id, err) : status;
}

loci_status lc_call_set_source(lc_call *call, lc_tx *tx, loci_str message_id, loci_error *err)
{
    bool found = false;
    loci_status status = LOCI_OK;

    if (message_id.len == 0)
        return LOCI_OK;
    if (lc_id_is(message_id, "msg"))
        status = lc_session_has_message(tx, call->persona_id, message_id, &found, err);
    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "message_id: no message %.*s",
                         LC_STR_ARG(message_id));
    return status == LOCI_OK ? lc_session_carry_source(tx, message_id, err) : status;
}

#define TITLES_BYTES_MAX 4096

static loci_status read_titles(lc_call *call, loci_str *out, loci_error *err)
{
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, TITLES_BYTES_MAX);
    status = lc_settings_text(lc_engine_settings(call->engine), &lc_setting_authority_titles,
                              call->tenant_id, &text, err);
    *out = LC_STR("");
    if (status == LOCI_OK && text.len > 0) {
        *out = lc_arena_copy(call->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

loci_status lc_fact_caller_init(lc_fact_caller *out, lc_call *call, const lc_claim_args *claim,
                                loci_error *err)
{
    loci_status status = read_titles(call, &out->titles, err);

    if (status != LOCI_OK)
        return status;
    out->ceiling = lc_authority_of(call->authority_max, out->titles);
    out->argument = lc_authority_of(claim != NULL ? claim->authority : LC_STR_NONE, out->titles);
    out->trust_max = call->trust_max;
    out->permissions_max = call->permissions_max;
    out->trust = lc_trust_capped(claim != NULL ? claim->trust : LC_STR_NONE, call->trust_max);
    return LOCI_OK;
}

bool lc_fact_caller_is_bound(const lc_fact_caller *caller, const lc_identity *identity)
{
    int setter = lc_authority_of(identity->authority_max, caller->titles).rank;

    if (setter > 0 && (caller->ceiling.rank == 0 || caller->ceiling.rank > setter))
        return false;
    /* Capping the own maximum with the setter's changes it only if it is higher. */
    return lc_str_eq(lc_trust_capped(caller->trust_max, identity->trust_max),
                     lc_trust_capped(caller->trust_max, LC_STR_NONE));
}

/* The identity, or none when it does not bind the caller. */
static lc_identity binding(const lc_fact_caller *caller, const lc_identity *identity)
{
    return lc_fact_caller_is_bound(caller, identity) ? *identity : (lc_identity){0};
}

lc_authority lc_fact_caller_authority(const lc_fact_caller *caller, const lc_identity *identity)
{
    return lc_authority_effective(&(lc_authority_bounds){
        .ceiling = caller->ceiling,
        .identity = lc_authority_of(binding(caller, identity).authority, caller->titles),
        .argument = caller->argument,
    });
}

lc_fact_access lc_fact_caller_access(const lc_fact_caller *caller, const lc_identity *identity)
{
    lc_authority_bounds bounds = {
        .ceiling = caller->ceiling,
        .identity = lc_authority_of(binding(caller, identity).authority, caller->titles),
    };

    return (lc_fact_access){.rank = lc_authority_effective(&bounds).rank,
                            .permissions = binding(caller, identity).permissions,
                            .permissions_max = caller->permissions_max};
}

loci_status lc_fact_set_scope(const lc_scope_args *args, const lc_session *session,
                              lc_fact_view *out, loci_error *err)
{
    if (args->scope.len == 0 || lc_str_is(args->scope, "global")) {
        if (args->scope_id.len > 0)
            return lc_fail(err, LOCI_EINVAL,
                           "scope_id: the global scope has none; pass another scope");
        return LOCI_OK;
    }
    out->scope = args->scope;
    out->scope_id = args->scope_id;
    if (lc_str_is(args->scope, "session") && session != NULL &&
        (args->scope_id.len == 0 || lc_str_eq(args->scope_id, session->external_id)))
        out->scope_id = session->id;
    return LOCI_OK;
}

loci_status lc_fact_read_view(lc_call *call, lc_tx *tx, const lc_scope_args *scope,
                              lc_fact_view *out, loci_error *err)
{
    lc_session session = {0};
    lc_fact_caller caller;
    bool found = false;
    loci_status status = lc_fact_caller_init(&caller, call, NULL, err);

    *out = (lc_fact_view){.persona_id = call->persona_id};
    if (status == LOCI_OK)
        status = lc_call_find_session(call, tx, &session, &found, err);
    if (status == LOCI_OK && !found)
        session = (lc_session){0};
    if (status == LOCI_OK && scope != NULL)
        status = lc_fact_set_scope(scope, found ? &session : NULL, out, err);
    if (status != LOCI_OK)
        return status;
    out->session_id = session.id;
    out->access = lc_fact_caller_access(&caller, &session.identity);
    return LOCI_OK;
}

/* Messages that follow each other this quickly share a summary, so that an import is not summarised
 * again with every fourth line. An engine without threads runs jobs inside calls only: there
 * the job is not delayed. */
#define SUMMARY_DELAY_MS 1000

loci_status lc_call_note_turns(lc_call *call, lc_tx *tx, const lc_session *session, int64_t count,
                               loci_error *err)
{
    lc_settings *settings = lc_engine_settings(call->engine);
    lc_session_record record = {0};
    lc_summary_counts counts = {
        .session_id = session->id,
        .persona_id = call->persona_id,
        .turns_before = session->turn_count,
        .turns_after = session->turn_count + count,
        .rolling_turns = lc_settings_i64(settings, &lc_setting_summary_rolling_turns,
                                         call->tenant_id),
        .spine_messages = lc_settings_i64(settings, &lc_setting_summary_spine_messages,
                                          call->tenant_id),
        .delay_ms = lc_engine_is_inline(call->engine) ? 0 : SUMMARY_DELAY_MS,
    };
    loci_status status = LOCI_OK;

    if (count == 0)
        return LOCI_OK;
    status = lc_session_read_record(tx, call->persona_id, call->arena, &record, err);
    counts.messages_after = record.message_count;
    counts.messages_before = record.message_count - count;
    return status == LOCI_OK ? lc_summary_note_messages(tx, &counts, err) : status;
}
