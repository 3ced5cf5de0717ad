/* session_arg.c - see session_arg.h. */
#include "ops/session_arg.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/settings.h"

#define MINUTE_US INT64_C(60000000)
#define FRAME_BYTES_MAX 8192 /* Of an event beside the one value that may be long. */

lc_session_ref lc_call_session_ref(const lc_call *call)
{
    return (lc_session_ref){
        .session_id = lc_call_str(call, "session_id"),
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

    *found = status == LOCI_OK && *found && out->is_open;
    return status;
}

loci_status lc_call_choose_session(lc_call *call, lc_tx *tx, lc_session_use *out, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);

    return lc_session_choose(tx, &ref, call->arena, out, err);
}

loci_status lc_call_begin_session(lc_tx *tx, lc_session_use *use, bool has_event, loci_error *err)
{
    if (!has_event && use->is_new && use->session.external_id.len == 0)
        return LOCI_OK;
    return lc_session_begin(tx, use, has_event, err);
}

loci_status lc_call_canonical(lc_call *call, const char *name, loci_str *out, loci_error *err)
{
    const lc_json *json = lc_call_value(call, name)->json;
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    status = lc_json_canonical(call->arena, json, &text, err);
    if (status == LOCI_OK && text.len > LC_EVENT_BYTES_MAX - FRAME_BYTES_MAX)
        status = lc_fail(err, LOCI_ELIMIT, "%s: %zu bytes; at most %u are kept", name, text.len,
                         LC_EVENT_BYTES_MAX - FRAME_BYTES_MAX);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(call->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
