/* rooms.c - the only file of the engine that includes rooms: a new room, kind of job or setting
 * outside a room is one line here. */
#include "engine/rooms.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/str.h"

#include "context/kept.h"
#include "engine/compact_job.h"
#include "engine/curate_job.h"
#include "engine/extraction.h"
#include "engine/file_jobs.h"
#include "engine/internal.h"
#include "engine/meaning.h"
#include "engine/partition_job.h"
#include "engine/secrets.h"
#include "engine/store_jobs.h"
#include "engine/summary_job.h"
#include "engine/verify_job.h"
#include "fact/fact.h"
#include "frame/frame.h"
#include "memory/memory.h"
#include "review/review.h"
#include "session/session.h"
#include "window/window.h"

const lc_room *const lc_engine_rooms[] = {
    &lc_store_room,  &lc_fact_room,    &lc_session_room,
    &lc_memory_room, &lc_review_room,  &lc_window_room,
    &lc_frame_room,  &lc_context_room, NULL,
};

const lc_job_kind *const lc_engine_job_kinds[] = {
    &lc_job_purge,       &lc_job_rebuild,     &lc_job_discard,
    &lc_job_reembed,     &lc_job_extract,     &lc_job_curate,
    &lc_job_compact,     &lc_job_scrub,       &lc_job_summary_make,
    &lc_job_partition,   &lc_job_verify,      &lc_file_backup.job,
    &lc_file_export.job, &lc_file_import.job, NULL,
};

const lc_recall_source *lc_engine_texts_at(size_t index)
{
    for (const lc_room *const *room = lc_engine_rooms; *room != NULL; room++)
        if ((*room)->texts != NULL && index-- == 0)
            return (*room)->texts;
    return NULL;
}

const lc_sweep *lc_engine_shutdown_sweep(loci_engine *engine)
{
    return lc_settings_bool(lc_engine_settings(engine), &lc_setting_session_close_on_shutdown,
                            LC_STR_NONE)
               ? &lc_session_shutdown
               : NULL;
}

/* Settings that belong to no room. */
static const lc_setting *const own_settings[] = {
    &lc_setting_cache_user_bytes_max,
    &lc_setting_call_timeout_ms,
    &lc_setting_data_dir,
    &lc_setting_extract_enabled,
    &lc_setting_guard_agents_bytes_max,
    &lc_setting_guard_enabled,
    &lc_setting_guard_limit_bytes,
    &lc_setting_guard_machine_percent,
    &lc_setting_hook_prompt_tokens,
    &lc_setting_hook_start_tokens,
    &lc_setting_hook_tool_bytes,
    &lc_setting_job_keep_hours,
    &lc_setting_job_lease_ms,
    &lc_setting_job_workers,
    &lc_setting_judge_enabled,
    &lc_setting_log_level,
    &lc_setting_model_allow_private,
    &lc_setting_model_chat_key,
    &lc_setting_model_chat_model,
    &lc_setting_model_chat_prompt_bytes_max,
    &lc_setting_model_chat_tokens_max,
    &lc_setting_model_chat_url,
    &lc_setting_model_embedder,
    &lc_setting_model_embed_dimensions,
    &lc_setting_model_embed_encoding,
    &lc_setting_model_embed_key,
    &lc_setting_model_embed_model,
    &lc_setting_model_embed_rate,
    &lc_setting_model_embed_url,
    &lc_setting_model_timeout_ms,
    &lc_setting_quota_events_per_day,
    &lc_setting_quota_log_bytes_max,
    &lc_setting_quota_requests_per_second,
    &lc_setting_quota_users_max,
    &lc_setting_request_keep_hours,
    &lc_setting_request_user_bytes_max,
    &lc_setting_secrets_policy,
    &lc_setting_server_body_bytes_max,
    &lc_setting_server_body_timeout_ms,
    &lc_setting_server_client_bytes_max,
    &lc_setting_server_client_connections_max,
    &lc_setting_server_connections_max,
    &lc_setting_server_drain_ms,
    &lc_setting_server_header_timeout_ms,
    &lc_setting_server_idle_timeout_ms,
    &lc_setting_server_inflight_bytes_max,
    &lc_setting_store_databases,
    &lc_setting_store_durability,
    &lc_setting_store_readers,
    &lc_setting_store_replicas,
    &lc_setting_store_routes,
    &lc_setting_store_transfer_dir,
    &lc_setting_summary_use_model,
    &lc_setting_watch_interval_ms,
    NULL,
};

/* By name; there are few. */
static void insert(lc_setting_list *list, const lc_setting *setting)
{
    size_t at = list->count;

    LC_ASSERT(list->count < LC_SETTINGS_MAX);
    while (at > 0 &&
           lc_str_compare(loci_str_of(setting->name), loci_str_of(list->items[at - 1]->name)) < 0) {
        list->items[at] = list->items[at - 1];
        at--;
    }
    list->items[at] = setting;
    list->count++;
}

lc_setting_list lc_setting_list_own(void)
{
    lc_setting_list list = {.count = 0};

    for (const lc_setting *const *at = own_settings; *at != NULL; at++)
        insert(&list, *at);
    for (const lc_room *const *room = lc_engine_rooms; *room != NULL; room++) {
        for (const lc_setting *const *at = (*room)->settings; at != NULL && *at != NULL; at++)
            insert(&list, *at);
    }
    return list;
}
