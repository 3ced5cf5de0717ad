/* window_forget.c - resources that are forgotten (recall/forget.h).
 *
 * A resource goes with its inline text, its summaries, its annotations, and the payloads of all
 * events that wrote one of them. Links of other resources to it are removed. The sums of the window
 * are in the refs of its events, so a replay of the tombstones gives the same window.
 */
#include "window/window_row.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

static const lc_sql events_sql = {
    "select seq, refs from events where tenant_id = $1 and user_id = $2 and seq > $3"
    " and type in ('resource.changed', 'resource.noted', 'resource.linked') and is_erased = 0"
    " order by seq",
    "tti", "it"};

/* Adds the events after its discovery that changed it. */
static loci_status add_events(lc_forgetting *f, const lc_resource *resource, loci_error *err)
{
    lc_arena *scratch = &f->tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    lc_rows rows;
    loci_status status = lc_tx_query(
        f->tx, &events_sql,
        (lc_arg[]){LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_I(resource->seq)}, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        const lc_json *refs;

        status = lc_json_parse(scratch, lc_rows_str(&rows, 1), 0, &refs, err);
        if (status == LOCI_OK && lc_str_eq(lc_event_str(refs, "id"), resource->id))
            status = lc_forget_add_event(f, lc_rows_i64(&rows, 0), err);
        lc_arena_rewind(scratch, mark);
    }
    lc_rows_end(&rows);
    return status;
}

/* The links of a resource without those to `id`. */
static loci_status drop_links(lc_arena *arena, loci_str *links, loci_str id, loci_error *err)
{
    const lc_json *list;
    lc_json_writer w;
    lc_buf out;
    loci_status status = lc_json_parse(arena, *links, 0, &list, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_init(&out, arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &out);
    lc_jw_array(&w);
    for (const lc_json *link = lc_json_first(list); link != NULL; link = lc_json_next(link))
        if (!lc_str_eq(lc_event_str(link, "to"), id))
            lc_jw_value(&w, link);
    lc_jw_end(&w);
    status = lc_buf_status(&out, err);
    if (status == LOCI_OK) {
        *links = lc_arena_copy(arena, lc_buf_str(&out));
        if (links->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&out);
    return status;
}

typedef struct linking {
    lc_arena *arena;
    lc_resource_oblivion *to;
    size_t room;
} linking;

static loci_status add_linking(void *ctx, const lc_resource *resource, loci_error *err)
{
    linking *l = ctx;
    lc_resource_list *list = &l->to->linking;
    loci_str id = l->to->resource.id;

    if (lc_str_eq(resource->id, id) ||
        memmem(resource->links.ptr, resource->links.len, id.ptr, id.len) == NULL)
        return LOCI_OK;
    if (list->count == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 16;
        lc_resource *items = lc_arena_zalloc_array(l->arena, room, sizeof *items);

        if (items == NULL)
            return lc_fail_memory(err);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        l->room = room;
    }
    list->items[list->count] = *resource;
    if (!lc_row_keep(&lc_resource_row, l->arena, &list->items[list->count]))
        return lc_fail_memory(err);
    return drop_links(l->arena, &list->items[list->count++].links, id, err);
}

loci_status lc_resource_decide_forget(loci_str persona_id, loci_str id, lc_forgetting *f,
                                      lc_resource_oblivion *out, loci_error *err)
{
    const lc_resource_page all = {.limit = LC_RESOURCES_MAX};
    linking l = {f->arena, out, 0};
    loci_status status;

    *out = (lc_resource_oblivion){.linking = {NULL, 0}};
    status = lc_window_load(f->tx, persona_id, f->arena, &out->window, err);
    if (status == LOCI_OK)
        status = lc_resource_load(f->tx, &out->window, id, f->arena, &out->resource, err);
    if (status == LOCI_OK)
        status = lc_forget_add(
            f,
            &(lc_forget_item){.kind = "resource", .id = out->resource.id, .seq = out->resource.seq},
            err);
    if (status == LOCI_OK)
        status = add_events(f, &out->resource, err);
    return status == LOCI_OK ? lc_resource_each(f->tx, &out->window, &all, add_linking, &l, err)
                             : status;
}

loci_status lc_resource_commit_forget(lc_tx *tx, lc_resource_oblivion *oblivion, loci_error *err)
{
    lc_window *window = &oblivion->window;
    const lc_resource *resource = &oblivion->resource;
    lc_event_draft draft;
    int64_t at;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < oblivion->linking.count && status == LOCI_OK; i++)
        status = lc_resource_set_links(tx, &oblivion->linking.items[i], err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &at, err);
    if (status != LOCI_OK)
        return status;
    window->resource_count--;
    window->active_count -= resource->was_active;
    window->active_tokens -= resource->counted_tokens;
    lc_window_judge(window, at);
    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.refs, "id", resource->id);
    lc_window_put_state(window, &draft.refs);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_resource_forgotten_event},
                                 NULL, err);
}
