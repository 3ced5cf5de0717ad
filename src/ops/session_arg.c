/* session_arg.c - see session_arg.h. */
#include "ops/session_arg.h"

#include "engine/engine.h"
#include "engine/settings.h"

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

    *found = status == LOCI_OK && *found && out->state == LC_SESSION_ACTIVE;
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
