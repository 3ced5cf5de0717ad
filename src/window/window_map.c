/* window_map.c - see window_map.h. */
#include "window/window_map.h"

#include "base/error.h"
#include "base/str.h"
#include "store/event.h"

/* Maps of one minute are equal, as in contexts: providers cache what has not changed. */
#define MINUTE_US INT64_C(60000000)

typedef struct mapping {
    lc_arena *arena;
    lc_mind_map_resource *items;
    size_t count;
    int64_t now_us;
    lc_resource_group *groups;
    size_t group_count;
} mapping;

/* The texts of a JSON array: its strings, or the members `name` of its objects. */
static loci_status read_texts(lc_arena *arena, loci_str json, const char *name, lc_str_list *out,
                              loci_error *err)
{
    const lc_json *list;
    loci_str *items;
    loci_status status = lc_json_parse(arena, json, 0, &list, err);

    *out = (lc_str_list){NULL, 0};
    if (status != LOCI_OK || lc_json_count(list) == 0)
        return status;
    items = lc_arena_zalloc_array(arena, lc_json_count(list), sizeof *items);
    if (items == NULL)
        return lc_fail_memory(err);
    out->items = items;
    for (const lc_json *each = lc_json_first(list); each != NULL; each = lc_json_next(each)) {
        if (name != NULL)
            items[out->count++] = lc_event_str(each, name);
        else if (lc_json_kind_of(each) == LC_JSON_STRING)
            items[out->count++] = lc_json_str(each);
    }
    return LOCI_OK;
}

static loci_status read_links(lc_arena *arena, loci_str json, lc_mind_map_resource *out,
                              loci_error *err)
{
    const lc_json *list;
    lc_mind_map_link *links;
    loci_status status = lc_json_parse(arena, json, 0, &list, err);

    if (status != LOCI_OK || lc_json_count(list) == 0)
        return status;
    links = lc_arena_zalloc_array(arena, lc_json_count(list), sizeof *links);
    if (links == NULL)
        return lc_fail_memory(err);
    out->links = links;
    for (const lc_json *each = lc_json_first(list); each != NULL; each = lc_json_next(each)) {
        loci_str label = lc_event_str(each, "label");

        links[out->link_count++] = (lc_mind_map_link){lc_event_str(each, "to"),
                                                      label.ptr != NULL ? label : LC_STR("")};
    }
    return LOCI_OK;
}

/* Takes a named resource out of the numbers of the others. */
static void take_out(mapping *m, const lc_resource *resource)
{
    for (size_t i = 0; i < m->group_count; i++) {
        lc_resource_group *group = &m->groups[i];

        if ((int64_t)group->region == resource->place && group->kind == resource->kind) {
            group->count--;
            group->tokens -= resource->size_tokens;
        }
    }
}

static loci_status add_resource(void *ctx, const lc_resource *row, loci_error *err)
{
    mapping *m = ctx;
    lc_resource resource = *row;
    lc_mind_map_resource *out = &m->items[m->count];
    loci_status status;

    if (!lc_row_keep(&lc_resource_row, m->arena, &resource))
        return lc_fail_memory(err);
    *out = (lc_mind_map_resource){
        .id = resource.id,
        .uri = resource.uri,
        .kind = resource.kind,
        .state = resource.state,
        .is_stale = lc_resource_is_outdated(&resource, m->now_us),
        .is_summary = lc_str_is(resource.mode, "summary"),
        .size_tokens = resource.size_tokens,
        .attention = resource.attention,
        .last_accessed_us = resource.last_accessed,
        .summary = resource.summary.ptr != NULL ? resource.summary : LC_STR(""),
    };
    m->count++;
    take_out(m, &resource);
    status = read_texts(m->arena, resource.annotations, "text", &out->annotations, err);
    if (status == LOCI_OK)
        status = read_texts(m->arena, resource.tags, NULL, &out->tags, err);
    return status == LOCI_OK ? read_links(m->arena, resource.links, out, err) : status;
}

static int64_t named_max(int level)
{
    return level == 1   ? LC_MIND_MAP_NAMED_MAX_1
           : level == 2 ? LC_MIND_MAP_NAMED_MAX_2
                        : LC_MIND_MAP_NAMED_MAX_3;
}

loci_status lc_window_make_map(lc_tx *tx, const lc_window *window, int level, lc_arena *arena,
                               lc_mind_map *out, loci_error *err)
{
    int64_t limit = named_max(level);
    mapping m = {.arena = arena, .now_us = tx->now_us};
    lc_mind_map_group *groups;
    size_t count = 0;
    loci_status status = LOCI_OK;

    m.items = lc_arena_zalloc_array(arena, (size_t)limit, sizeof *m.items);
    m.groups = lc_arena_zalloc_array(arena, LC_RESOURCE_GROUPS_MAX, sizeof *m.groups);
    groups = lc_arena_zalloc_array(arena, LC_RESOURCE_GROUPS_MAX, sizeof *groups);
    if (m.items == NULL || m.groups == NULL || groups == NULL)
        return lc_fail_memory(err);
    if (window->resource_count > limit)
        status = lc_resource_count_groups(tx, window, m.groups, &m.group_count, err);
    if (status == LOCI_OK)
        status = lc_resource_each_important(tx, window, limit, add_resource, &m, err);
    if (status != LOCI_OK)
        return status;
    for (size_t i = 0; i < m.group_count; i++) {
        if (m.groups[i].count > 0)
            groups[count++] = (lc_mind_map_group){m.groups[i].region, m.groups[i].kind,
                                                  m.groups[i].count, m.groups[i].tokens};
    }
    *out = (lc_mind_map){.context_max = window->context_max,
                         .reserve_output = window->reserve_output,
                         .used_tokens = window->active_tokens,
                         .pressure = window->level,
                         .policy = window->policy,
                         .time_us = tx->now_us / MINUTE_US * MINUTE_US,
                         .resources = m.items,
                         .resource_count = m.count,
                         .groups = groups,
                         .group_count = count};
    return LOCI_OK;
}

loci_status lc_window_write_map(lc_tx *tx, const lc_window_map_order *order,
                                lc_window_map_text *out, loci_error *err)
{
    lc_arena *arena = order->arena;
    lc_mind_map map;
    lc_buf text;
    loci_status status;

    out->level = order->level > 0 ? order->level : lc_mind_map_level(order->window->level);
    status = lc_window_make_map(tx, order->window, out->level, arena, &map, err);
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_MIND_MAP_BYTES_MAX);
    status = lc_mind_map_write(&(lc_mind_map_order){&map, out->level, order->tokenizer, arena},
                               &text, err);
    if (status == LOCI_OK)
        status = lc_tokenizer_count(order->tokenizer, lc_buf_str(&text), &out->tokens, err);
    if (status == LOCI_OK) {
        out->text = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->text.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
