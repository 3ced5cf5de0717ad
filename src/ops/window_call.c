/* window_call.c - see window_call.h. */
#include "ops/window_call.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "engine/engine.h"
#include "engine/tokenizers.h"

const lc_record lc_evictable_record = {
    .name = "EvictionCandidate",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the resource (res_...)"},
            {"uri", LC_PARAM_STRING, "URI of the resource"},
            {"tokens", LC_PARAM_INT, "Number of tokens that paging it out frees"},
            {"reason", LC_PARAM_STRING, "Reason for its place in the order"},
            {NULL},
        },
};

const lc_record lc_pressure_record = {
    .name = "WindowPressure",
    .members =
        (const lc_result[]){
            {"level", LC_PARAM_STRING, "Level of pressure", .choices = "low|medium|high|critical"},
            {"utilisation", LC_PARAM_REAL, "Active tokens divided by the limit"},
            {"active_tokens", LC_PARAM_INT, "Number of tokens of the active resources"},
            {"limit", LC_PARAM_INT, "Number of tokens that they may take"},
            {"available", LC_PARAM_INT, "Number of tokens that are free"},
            {"candidates", 0, "Next resources to page out, if the level is high or critical",
             LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &lc_evictable_record},
            {"warning", LC_PARAM_STRING, "Warning and next step, if the level is critical",
             LC_RESULT_OPTIONAL},
            {"evicts_at", LC_PARAM_TIME,
             "Time at which the engine pages out by policy, if the level is critical",
             LC_RESULT_OPTIONAL},
            {"evicted", 0, "Resources that the engine paged out in this call",
             LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &lc_evictable_record},
            {NULL},
        },
};

const lc_record lc_resource_record = {.name = "Resource", .row = &lc_resource_row};

static int64_t evict_after_ms(const lc_call *call)
{
    return lc_settings_i64(lc_engine_settings(call->engine), &lc_setting_window_evict_after_ms,
                           call->tenant_id);
}

loci_status lc_call_load_window(lc_call *call, lc_tx *tx, lc_window_use *out, loci_error *err)
{
    loci_status status;

    *out = (lc_window_use){.evicted = {NULL, 0}};
    status = lc_window_load(tx, call->persona_id, call->arena, &out->window, err);
    if (status == LOCI_OK && tx->is_write)
        status = lc_window_relieve(tx, &out->window, evict_after_ms(call), call->arena,
                                   &out->evicted, err);
    return status;
}

void lc_call_put_evictable(lc_json_writer *out, const char *name, const lc_window *window,
                           const lc_resource_list *list)
{
    lc_jw_name(out, name);
    lc_jw_array(out);
    for (size_t i = 0; i < list->count; i++) {
        char reason[LC_EVICT_REASON_BYTES];
        lc_evictable evictable = lc_resource_evictable(&list->items[i]);

        lc_jw_object(out);
        lc_jw_member_str(out, "id", list->items[i].id);
        lc_jw_member_str(out, "uri", list->items[i].uri);
        lc_jw_member_int(out, "tokens", list->items[i].window_tokens);
        lc_jw_member_str(out, "reason", lc_evict_explain(window->policy, &evictable, reason));
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

/* The text of the warning, with the first candidate as an example. */
static loci_status make_warning(lc_call *call, const lc_window *window,
                                const lc_resource_list *candidates, loci_str *out, loci_error *err)
{
    int64_t at = lc_window_evicts_at(window, evict_after_ms(call));
    char when[LC_TIME_BYTES_MAX + 1] = "", text[512];
    bool is_stuck = candidates->count == 0;
    int len;

    if (at < LC_TIME_MAX_US)
        when[lc_time_format(at, when)] = '\0';
    len = snprintf(
        text, sizeof text, "The window is nearly full: %lld of %lld tokens are used. %s%.*s%s%s.",
        (long long)window->active_tokens, (long long)lc_window_limit(window),
        is_stuck ? "All active resources are protected: change the policy, remove a "
                   "tag `protected` or forget a resource"
                 : "Page out a resource that you do not need now with resource.page_out (over MCP: "
                   "the tool page, action out), for example ",
        is_stuck ? 0 : (int)candidates->items[0].id.len,
        is_stuck ? "" : candidates->items[0].id.ptr,
        is_stuck || when[0] == '\0' ? "" : "; otherwise loci pages out by policy at ",
        is_stuck ? "" : when);
    *out = lc_arena_copy(call->arena, (loci_str){text, (size_t)len});
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_call_warn_of_pressure(lc_call *call, lc_tx *tx, const lc_window *window,
                                     loci_str *out, loci_error *err)
{
    lc_resource_list candidates;
    loci_status status;

    *out = LC_STR_NONE;
    if (window->level != LC_PRESSURE_CRITICAL)
        return LOCI_OK;
    status = lc_window_candidates(tx, window, 1, call->arena, &candidates, err);
    return status == LOCI_OK ? make_warning(call, window, &candidates, out, err) : status;
}

loci_status lc_call_put_pressure(lc_call *call, lc_tx *tx, const lc_window_use *use,
                                 loci_error *err)
{
    const lc_window *window = &use->window;
    lc_json_writer *out = &call->out;
    int64_t limit = lc_window_limit(window);
    int64_t evicts_at = lc_window_evicts_at(window, evict_after_ms(call));
    lc_resource_list candidates = {NULL, 0};
    loci_str warning = LC_STR_NONE;
    loci_status status = LOCI_OK;

    if (window->level >= LC_PRESSURE_HIGH)
        status = lc_window_candidates(tx, window, LC_CANDIDATES_SHOWN, call->arena, &candidates,
                                      err);
    if (status == LOCI_OK && window->level == LC_PRESSURE_CRITICAL)
        status = make_warning(call, window, &candidates, &warning, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_name(out, "pressure");
    lc_jw_object(out);
    lc_jw_member_text(out, "level", lc_ladder_window.names[window->level]);
    lc_jw_member_real(out, "utilisation",
                      (double)lc_ladder_usage((uint64_t)window->active_tokens, (uint64_t)limit) /
                          1000);
    lc_jw_member_int(out, "active_tokens", window->active_tokens);
    lc_jw_member_int(out, "limit", limit);
    lc_jw_member_int(out, "available", limit - window->active_tokens);
    if (window->level >= LC_PRESSURE_HIGH)
        lc_call_put_evictable(out, "candidates", window, &candidates);
    if (warning.ptr != NULL)
        lc_jw_member_str(out, "warning", warning);
    if (evicts_at < LC_TIME_MAX_US)
        lc_jw_member_time(out, "evicts_at", evicts_at);
    if (use->evicted.count > 0)
        lc_call_put_evictable(out, "evicted", window, &use->evicted);
    lc_jw_end(out);
    return LOCI_OK;
}

loci_status lc_call_tokenizer(lc_call *call, const lc_tokenizer **out, loci_error *err)
{
    return lc_tokenizers_get(lc_engine_tokenizers(call->engine), LC_ENCODING_O200K_BASE, out, err);
}

static loci_status pause_reading(void *ctx, loci_error *err)
{
    return lc_call_pause_point(ctx, err);
}

loci_status lc_call_source_reader(lc_call *call, lc_source_reader *out, loci_error *err)
{
    lc_buf roots;
    loci_status status;

    *out = (lc_source_reader){.arena = call->arena, .pause = pause_reading, .pause_ctx = call};
    status = lc_call_tokenizer(call, &out->tokenizer, err);
    lc_buf_init(&roots, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    if (status == LOCI_OK)
        status = lc_settings_text(lc_engine_settings(call->engine), &lc_setting_window_roots,
                                  call->tenant_id, &roots, err);
    if (status == LOCI_OK) {
        out->roots = lc_arena_copy(call->arena, lc_buf_str(&roots));
        if (out->roots.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&roots);
    return status;
}
