/* window_write.c - decisions about resources, and the events that record them. */
#include "window/window_row.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

/* ---- Pressure -------------------------------------------------------------------------------- */

void lc_window_judge(lc_window *window, int64_t at)
{
    lc_ladder ladder = {.level = window->level};

    LC_ASSERT(window->active_tokens >= 0);
    window->level = lc_ladder_judge(
        &ladder, &lc_ladder_window,
        lc_ladder_usage((uint64_t)window->active_tokens, (uint64_t)lc_window_limit(window)),
        at / 1000);
    if (window->level != LC_PRESSURE_CRITICAL)
        window->critical_since = 0;
    else if (window->critical_since == 0)
        window->critical_since = at;
}

/* ---- The window ------------------------------------------------------------------------------ */

loci_status lc_window_set(lc_tx *tx, lc_window *window, lc_arena *arena, loci_error *err)
{
    int64_t at;
    lc_id id;
    loci_status status = lc_tx_recorded_at(tx, &at, err);

    if (status == LOCI_OK && window->active_tokens > lc_window_limit(window))
        status = lc_fail(err, LOCI_EOVERBUDGET,
                         "the active resources take %lld tokens and would not fit in %lld; page "
                         "some out first",
                         (long long)window->active_tokens, (long long)lc_window_limit(window));
    if (status == LOCI_OK && window->id.len == 0) {
        status = lc_tx_make_id(tx, "win", &id, err);
        window->opened_at = at;
        if (status == LOCI_OK) {
            window->id = lc_arena_copy(arena, lc_id_str(&id));
            if (window->id.ptr == NULL)
                status = lc_fail_memory(err);
        }
    }
    if (status != LOCI_OK)
        return status;
    lc_window_judge(window, at);
    return lc_row_append(tx, &lc_window_set_event, &lc_window_row, window, NULL, err);
}

/* ---- Decisions ------------------------------------------------------------------------------- */

loci_status lc_resource_take_content(lc_resource *resource, const lc_resource_content *content,
                                     int64_t now_us, loci_error *err)
{
    bool is_same = resource->hash.len > 0 && lc_str_eq(resource->hash, content->hash);
    bool fits = is_same && resource->summary.ptr != NULL;
    lc_resource_state state = resource->state;
    loci_status status = LOCI_OK;

    if (state == LC_RESOURCE_OFFLINE)
        status = lc_resource_make_move(&state, fits ? LC_RESOURCE_RESTORE : LC_RESOURCE_RECOVER,
                                       resource->id, err);
    else if (state == LC_RESOURCE_INDEXED && !fits)
        status = lc_resource_make_move(&state, LC_RESOURCE_STALE, resource->id, err);
    if (status != LOCI_OK)
        return status;
    resource->state = state;
    resource->size_tokens = content->tokens;
    resource->is_estimated = content->is_estimated;
    resource->size_bytes = content->bytes;
    resource->hash = content->hash;
    resource->modified_at = content->modified_at;
    resource->read_at = now_us;
    resource->is_stale = false;
    resource->problem = LC_STR_NONE;
    if (!fits) { /* One that the agent wrote stays as long as the content is the same. */
        resource->summary = content->summary;
        resource->summary_tokens = content->summary_tokens;
    }
    return LOCI_OK;
}

/* Sets the state by the attention, for an active resource. */
static loci_status follow_attention(lc_resource_state *state, const lc_resource *resource,
                                    double attention, loci_error *err)
{
    if (*state == LC_RESOURCE_LOADED && attention > 1)
        return lc_resource_make_move(state, LC_RESOURCE_RAISE, resource->id, err);
    if (*state == LC_RESOURCE_HOT && attention <= 1)
        return lc_resource_make_move(state, LC_RESOURCE_LOWER, resource->id, err);
    return LOCI_OK;
}

loci_status lc_resource_page_in(const lc_window *window, lc_resource *resource,
                                lc_resource_move move, loci_str mode, loci_error *err)
{
    bool is_full = lc_str_is(mode, "full");
    int64_t needed = is_full ? resource->size_tokens : resource->summary_tokens;
    int64_t left = lc_window_limit(window) - window->active_tokens + resource->counted_tokens;
    lc_resource_state state = resource->state;
    loci_status status = lc_resource_make_move(&state, move, resource->id, err);

    if (status == LOCI_OK)
        status = follow_attention(&state, resource, resource->attention, err);
    if (status == LOCI_OK && needed > left)
        status = lc_fail(err, LOCI_EOVERBUDGET,
                         "%.*s needs %lld tokens and %lld are free; page out other resources%s",
                         LC_STR_ARG(resource->id), (long long)needed, (long long)left,
                         is_full ? ", or use mode summary" : "");
    if (status != LOCI_OK)
        return status;
    resource->state = state;
    resource->mode = mode;
    resource->window_tokens = needed;
    return LOCI_OK;
}

loci_status lc_resource_page_out(lc_resource *resource, loci_str summary, int64_t tokens,
                                 loci_error *err)
{
    loci_status status = lc_resource_make_move(&resource->state, LC_RESOURCE_PAGE_OUT, resource->id,
                                               err);

    if (status == LOCI_OK && resource->is_stale && summary.ptr == NULL) /* Its extract is old. */
        status = lc_resource_make_move(&resource->state, LC_RESOURCE_STALE, resource->id, err);
    if (status != LOCI_OK)
        return status;
    resource->mode = LC_STR_NONE;
    resource->window_tokens = 0;
    resource->is_stale = false;
    if (summary.ptr != NULL) {
        resource->summary = summary;
        resource->summary_tokens = tokens;
    } else if (resource->state == LC_RESOURCE_COLD) {
        resource->summary = LC_STR_NONE;
        resource->summary_tokens = 0;
    }
    return LOCI_OK;
}

loci_status lc_resource_attend(lc_resource *resource, double attention, loci_error *err)
{
    loci_status status;

    if (!(attention >= 0 && attention <= LC_ATTENTION_MAX)) /* Also NaN. */
        return lc_fail(err, LOCI_EINVAL, "attention: expected a number from 0 to 10");
    status = follow_attention(&resource->state, resource, attention, err);
    if (status == LOCI_OK)
        resource->attention = attention;
    return status;
}

loci_status lc_resource_mark_stale(lc_resource *resource, loci_error *err)
{
    loci_status status = lc_resource_make_move(&resource->state, LC_RESOURCE_STALE, resource->id,
                                               err);

    if (status != LOCI_OK)
        return status;
    resource->is_stale = lc_resource_is_active(resource->state);
    if (!resource->is_stale) {
        resource->summary = LC_STR_NONE;
        resource->summary_tokens = 0;
    }
    return LOCI_OK;
}

loci_status lc_resource_mark_offline(lc_resource *resource, loci_str problem, loci_error *err)
{
    loci_status status = lc_resource_make_move(&resource->state, LC_RESOURCE_FAIL, resource->id,
                                               err);

    if (status != LOCI_OK)
        return status;
    resource->mode = LC_STR_NONE;
    resource->window_tokens = 0;
    resource->problem = problem;
    return LOCI_OK;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* The sums of the window with the resource as it is now. */
static void count_in(lc_window *window, lc_resource *resource)
{
    bool is_active = lc_resource_is_active(resource->state);

    window->active_tokens += resource->window_tokens - resource->counted_tokens;
    window->active_count += (int64_t)is_active - (int64_t)resource->was_active;
    resource->counted_tokens = resource->window_tokens;
    resource->was_active = is_active;
    lc_resource_derive(resource);
}

loci_status lc_resource_add(lc_tx *tx, lc_window *window, lc_resource *resource, loci_str text,
                            lc_id *out_id, loci_error *err)
{
    lc_event_draft draft;
    loci_status status = LOCI_OK;

    if (window->resource_count >= LC_RESOURCES_MAX)
        status = lc_fail(err, LOCI_ELIMIT, "the window has %d resources; forget some first",
                         LC_RESOURCES_MAX);
    if (status == LOCI_OK)
        status = lc_resource_make_move(&resource->state, LC_RESOURCE_DISCOVER, resource->uri, err);
    if (status == LOCI_OK)
        status = lc_tx_make_id(tx, "res", out_id, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &resource->created_at, err);
    if (status != LOCI_OK)
        return status;
    resource->id = lc_id_str(out_id);
    resource->window_id = window->id;
    resource->last_accessed = resource->created_at;
    lc_resource_derive(resource);
    window->resource_count++;
    lc_event_draft_begin(&draft, tx);
    lc_row_encode(&lc_resource_row, resource, LC_COL_REFS, &draft.refs);
    lc_window_put_state(window, &draft.refs);
    lc_row_encode(&lc_resource_row, resource, LC_COL_PAYLOAD, &draft.payload);
    if (text.ptr != NULL)
        lc_jw_member_str(&draft.payload, "text", text);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_resource_discovered_event},
                                 &resource->seq, err);
}

loci_status lc_resource_commit(lc_tx *tx, lc_window *window, lc_resource *resource,
                               const lc_resource_note *note, loci_error *err)
{
    int64_t at;
    loci_status status = lc_tx_recorded_at(tx, &at, err);

    if (status != LOCI_OK)
        return status;
    count_in(window, resource);
    LC_ASSERT(window->active_tokens <= lc_window_limit(window));
    lc_window_judge(window, at);
    /* The agent has acted: it gets the whole time again. */
    if (window->critical_since != 0 && lc_str_is(loci_str_of(note->move), "page_out") &&
        lc_str_is(loci_str_of(note->by), "agent"))
        window->critical_since = at;
    return lc_resource_append(
        tx, &(lc_resource_event){&lc_resource_changed_event, &lc_resource_state_row, window, note},
        resource, err);
}

loci_status lc_resource_set_notes(lc_tx *tx, lc_resource *resource, loci_error *err)
{
    lc_resource_derive(resource);
    return lc_resource_append(
        tx, &(lc_resource_event){&lc_resource_noted_event, &lc_resource_notes_row, NULL, NULL},
        resource, err);
}

loci_status lc_resource_set_links(lc_tx *tx, const lc_resource *resource, loci_error *err)
{
    return lc_resource_append(
        tx, &(lc_resource_event){&lc_resource_linked_event, &lc_resource_links_row, NULL, NULL},
        resource, err);
}

/* ---- Eviction by the engine ------------------------------------------------------------------ */

int64_t lc_window_evicts_at(const lc_window *window, int64_t evict_after_ms)
{
    return window->critical_since != 0 && evict_after_ms > 0
               ? window->critical_since + evict_after_ms * 1000
               : INT64_MAX;
}

static loci_status evict(lc_tx *tx, lc_window *window, lc_resource *resource, loci_error *err)
{
    char reason[LC_EVICT_REASON_BYTES];
    lc_evictable evictable = lc_resource_evictable(resource);
    lc_resource_note note = {"page_out", "engine",
                             lc_evict_explain(window->policy, &evictable, reason)};
    loci_status status = lc_resource_page_out(resource, LC_STR_NONE, 0, err);

    return status == LOCI_OK ? lc_resource_commit(tx, window, resource, &note, err) : status;
}

/* Candidates are read in pages: few are enough for nearly every window. */
loci_status lc_window_relieve(lc_tx *tx, lc_window *window, int64_t evict_after_ms, lc_arena *arena,
                              lc_resource_list *out, loci_error *err)
{
    lc_resource_list page;
    loci_status status = LOCI_OK;

    *out = (lc_resource_list){NULL, 0};
    if (tx->now_us < lc_window_evicts_at(window, evict_after_ms))
        return LOCI_OK;
    out->items = lc_arena_zalloc_array(arena, LC_CANDIDATES_MAX, sizeof *out->items);
    if (out->items == NULL)
        return lc_fail_memory(err);
    do {
        status = lc_window_candidates(tx, window, LC_CANDIDATES_MAX, arena, &page, err);
        for (size_t i = 0; i < page.count && status == LOCI_OK; i++) {
            if (window->level != LC_PRESSURE_CRITICAL)
                break;
            if (out->count < LC_CANDIDATES_MAX) /* Answers name the first ones, as they were. */
                out->items[out->count++] = page.items[i];
            status = evict(tx, window, &page.items[i], err);
        }
    } while (status == LOCI_OK && window->level == LC_PRESSURE_CRITICAL && page.count > 0);
    return status;
}
