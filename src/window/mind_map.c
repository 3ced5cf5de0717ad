/* mind_map.c - Arranging: which resources a map lists by name, under which names, in which order.
 *
 * The resources are sorted by importance once. A map that names the first n of them is arranged,
 * printed and counted; n is the largest number found by bisection whose text is within the tokens
 * of the level. Counting the finished text is the only way to keep the promise for any names, and
 * the first attempt, which names all, nearly always fits.
 *
 * Level 3 counts the other resources by region and kind as long as that leaves room for a few
 * names, else by region.
 */
#include "window/mind_map_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/utf8.h"

#define MERGED_BELOW                                                                               \
    8 /* Level 3 counts by region if fewer names than this would fit otherwise.                    \
       */

/* Maxima of one level; texts are cut to their bytes. */
typedef struct level_limits {
    size_t named_max;
    int64_t tokens_max;
    size_t name_bytes, summary_bytes, annotation_bytes, tag_bytes;
    size_t annotations_max, links_max, tags_max; /* Of one resource. */
} level_limits;

static const level_limits limits[] = {
    {LC_MIND_MAP_NAMED_MAX_1, LC_MIND_MAP_TOKENS_MAX_1, 0, 600, 400, 100,
     LC_MIND_MAP_ANNOTATIONS_MAX, LC_MIND_MAP_LINKS_MAX, LC_MIND_MAP_TAGS_MAX},
    {LC_MIND_MAP_NAMED_MAX_2, LC_MIND_MAP_TOKENS_MAX_2, 48, 72, 120, 0, 3, 5, 0},
    {LC_MIND_MAP_NAMED_MAX_3, LC_MIND_MAP_TOKENS_MAX_3, 32, 0, 0, 0, 0, 2, 0},
};

/* Which regions have one group for all kinds. */
typedef enum merging {
    MERGE_NONE,
    MERGE_SMALLER, /* All but the one with the most resources to count. */
    MERGE_ALL
} merging;

typedef struct arranging {
    const lc_mind_map_order *order;
    const level_limits *limits;
    const lc_mind_map_resource **by_importance;
    size_t named_count;
    merging merging;
    lc_mind_map_resource *named;
    lc_mind_map out;
} arranging;

int lc_mind_map_level(lc_pressure pressure)
{
    return pressure == LC_PRESSURE_NONE ? 1 : pressure == LC_PRESSURE_MEDIUM ? 2 : 3;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare_text(const lc_mind_map_resource *a, const lc_mind_map_resource *b)
{
    int order = lc_str_compare(a->uri, b->uri);

    return order != 0 ? order : lc_str_compare(a->id, b->id);
}

static int by_importance(const void *a, const void *b)
{
    const lc_mind_map_resource *x = *(const lc_mind_map_resource *const *)a;
    const lc_mind_map_resource *y = *(const lc_mind_map_resource *const *)b;
    lc_resource_region x_region = lc_resource_region_of(x->state);
    lc_resource_region y_region = lc_resource_region_of(y->state);

    if (x->attention != y->attention)
        return x->attention > y->attention ? -1 : 1;
    if (x_region != y_region)
        return x_region < y_region ? -1 : 1;
    if (x->last_accessed_us != y->last_accessed_us)
        return x->last_accessed_us > y->last_accessed_us ? -1 : 1;
    return compare_text(x, y);
}

/* In the order of the text, which the lines of links and notes follow too. */
static int compare_places(const lc_mind_map_resource *x, const lc_mind_map_resource *y, int level)
{
    lc_resource_region x_section = lc_mind_map_section(level, lc_resource_region_of(x->state));
    lc_resource_region y_section = lc_mind_map_section(level, lc_resource_region_of(y->state));

    if (x_section != y_section)
        return x_section < y_section ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return compare_text(x, y);
}

static int by_place_verbose(const void *a, const void *b)
{
    return compare_places(a, b, 1);
}

static int by_place_dense(const void *a, const void *b)
{
    return compare_places(a, b, 2);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* The text, or its beginning with an ellipsis in at most `bytes_max` bytes. */
static loci_status cut(lc_arena *arena, loci_str text, size_t bytes_max, loci_str *out,
                       loci_error *err)
{
    static const char ellipsis[] = "…";
    size_t bytes;
    char *copy;

    *out = text;
    if (text.len <= bytes_max)
        return LOCI_OK;
    bytes = lc_utf8_cut(text, bytes_max - (sizeof ellipsis - 1));
    copy = lc_arena_alloc(arena, bytes + sizeof ellipsis);
    if (copy == NULL)
        return lc_fail_memory(err);
    memcpy(copy, text.ptr, bytes);
    memcpy(copy + bytes, ellipsis, sizeof ellipsis);
    *out = (loci_str){copy, bytes + sizeof ellipsis - 1};
    return LOCI_OK;
}

/* The last `count_max` texts of a list, each cut: the newest annotations are at the end. */
static loci_status cut_list(lc_arena *arena, lc_str_list *list, size_t count_max, size_t bytes_max,
                            loci_error *err)
{
    size_t count = list->count < count_max ? list->count : count_max;
    loci_str *items = lc_arena_zalloc_array(arena, count, sizeof *items);
    loci_status status = items == NULL ? lc_fail_memory(err) : LOCI_OK;

    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        status = cut(arena, list->items[list->count - count + i], bytes_max, &items[i], err);
    if (status == LOCI_OK)
        *list = (lc_str_list){items, count};
    return status;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Whether a name may begin there: at the beginning, after a slash, or after a scheme of letters. */
static bool is_boundary(loci_str uri, size_t at)
{
    size_t scheme = 0;

    while (scheme < uri.len && uri.ptr[scheme] >= 'a' && uri.ptr[scheme] <= 'z')
        scheme++;
    return at == 0 || uri.ptr[at - 1] == '/' || (at == scheme + 1 && uri.ptr[scheme] == ':');
}

static bool ends_in(loci_str uri, loci_str end)
{
    return uri.len >= end.len && memcmp(uri.ptr + uri.len - end.len, end.ptr, end.len) == 0 &&
           is_boundary(uri, uri.len - end.len);
}

/* The shortest end of a URI that is not the end of another one. */
static loci_str short_name(const arranging *a, size_t index)
{
    loci_str uri = a->named[index].uri;

    for (size_t at = uri.len; at-- > 0;) {
        loci_str end = {uri.ptr + at, uri.len - at};
        size_t k = 0;

        if (!is_boundary(uri, at))
            continue;
        while (k < a->named_count && (k == index || !ends_in(a->named[k].uri, end)))
            k++;
        if (k == a->named_count)
            return end;
    }
    return uri.len > 0 ? uri : a->named[index].id.len > 0 ? a->named[index].id : LC_STR("?");
}

/* A name without an extension of up to five letters or digits. */
static loci_str stem(loci_str name)
{
    size_t at = name.len;

    while (at > 0 && name.len - at < 6 &&
           ((name.ptr[at - 1] >= 'a' && name.ptr[at - 1] <= 'z') ||
            (name.ptr[at - 1] >= 'A' && name.ptr[at - 1] <= 'Z') ||
            (name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')))
        at--;
    if (at < 2 || at == name.len || name.ptr[at - 1] != '.' || name.ptr[at - 2] == '/')
        return name;
    return (loci_str){name.ptr, at - 1};
}

static bool is_taken(const arranging *a, loci_str name, size_t before)
{
    size_t k = 0;

    while (k < before && !lc_str_eq(a->named[k].name, name))
        k++;
    return k < before;
}

/* Adds "~2", "~3" … to a name that an earlier resource has: one URI twice, or two cut names. */
static loci_status make_unique(const arranging *a, size_t index, loci_error *err)
{
    loci_str base = a->named[index].name;

    for (size_t n = 2; is_taken(a, a->named[index].name, index); n++) {
        char *text = lc_arena_alloc(a->order->arena, base.len + 24);

        if (text == NULL)
            return lc_fail_memory(err);
        memcpy(text, base.ptr, base.len);
        a->named[index].name = (loci_str){
            text, base.len + (size_t)snprintf(text + base.len, 24, "~%zu", n)};
    }
    return LOCI_OK;
}

static loci_status give_names(const arranging *a, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < a->named_count; i++)
        a->named[i].name = short_name(a, i);
    if (a->out.level == 3) {
        loci_str *stems = lc_arena_zalloc_array(a->order->arena, a->named_count, sizeof *stems);

        if (stems == NULL)
            return lc_fail_memory(err);
        for (size_t i = 0; i < a->named_count; i++)
            stems[i] = stem(a->named[i].name);
        for (size_t i = 0; i < a->named_count; i++) {
            size_t k = 0;

            while (k < a->named_count && (k == i || !lc_str_eq(stems[k], stems[i])))
                k++;
            if (k == a->named_count)
                a->named[i].name = stems[i];
        }
    }
    for (size_t i = 0; i < a->named_count && status == LOCI_OK; i++) {
        status = cut(a->order->arena, a->named[i].name, a->limits->name_bytes, &a->named[i].name,
                     err);
        if (status == LOCI_OK)
            status = make_unique(a, i, err);
    }
    return status;
}

/* ---- Arranging ------------------------------------------------------------------------------- */

static const lc_mind_map_resource *find_target(const arranging *a, loci_str target)
{
    for (size_t i = 0; i < a->named_count; i++)
        if (lc_str_eq(a->named[i].id, target) || lc_str_eq(a->named[i].uri, target))
            return &a->named[i];
    return NULL;
}

/* The first links of a resource; level 3 lists only those to resources that it names. */
static loci_status arrange_links(arranging *a, lc_mind_map_resource *resource, loci_error *err)
{
    lc_mind_map_link *links = lc_arena_zalloc_array(a->order->arena, a->limits->links_max,
                                                    sizeof *links);
    loci_status status = links == NULL ? lc_fail_memory(err) : LOCI_OK;
    size_t count = 0;

    for (size_t i = 0; i < resource->link_count && status == LOCI_OK; i++) {
        const lc_mind_map_link *link = &resource->links[i];
        const lc_mind_map_resource *target = a->out.level == 1 ? NULL
                                                               : find_target(a, link->target);

        if (count == a->limits->links_max || (a->out.level == 3 && target == NULL)) {
            a->out.links_left++;
            continue;
        }
        links[count] = *link;
        if (a->out.level == 3)
            links[count].label = LC_STR_NONE;
        if (target != NULL)
            links[count].target = target->name;
        else if (a->out.level == 2)
            status = cut(a->order->arena, link->target.len > 0 ? link->target : LC_STR("?"),
                         a->limits->name_bytes, &links[count].target, err);
        if (status == LOCI_OK && a->out.level == 2)
            status = cut(a->order->arena, link->label, a->limits->name_bytes, &links[count].label,
                         err);
        count++;
    }
    resource->links = links;
    resource->link_count = count;
    return status;
}

static void add(int64_t *sum, int64_t amount)
{
    if (amount > 0 && __builtin_add_overflow(*sum, amount, sum))
        *sum = INT64_MAX;
}

/* Leaves in a resource what its level shows. */
static loci_status arrange_resource(arranging *a, lc_mind_map_resource *resource, loci_error *err)
{
    lc_arena *arena = a->order->arena;
    bool is_active = lc_resource_region_of(resource->state) == LC_REGION_ACTIVE;
    int64_t annotations_left = resource->annotations_left;
    loci_status status;

    /* The agent has the content of active ones before its eyes. */
    if (a->out.level == 3 || (a->out.level == 2 && is_active))
        resource->summary = LC_STR_NONE;
    status = cut(arena, resource->summary, a->limits->summary_bytes, &resource->summary, err);
    add(&annotations_left, (int64_t)resource->annotations.count);
    if (status == LOCI_OK)
        status = cut_list(arena, &resource->annotations, a->limits->annotations_max,
                          a->limits->annotation_bytes, err);
    if (status == LOCI_OK)
        status = cut_list(arena, &resource->tags, a->limits->tags_max, a->limits->tag_bytes, err);
    if (status == LOCI_OK)
        status = arrange_links(a, resource, err);
    annotations_left -= (int64_t)resource->annotations.count;
    resource->annotations_left = a->out.level == 3 ? annotations_left : 0;
    if (a->out.level < 3)
        add(&a->out.annotations_left, annotations_left);
    return status;
}

/* Counts the resources that are not named by region and kind. */
static loci_status arrange_groups(arranging *a, loci_error *err)
{
    const lc_mind_map *map = a->order->map;
    lc_mind_map_group groups[LC_REGIONS][LC_KINDS] = {{{0}}}, sums[LC_REGIONS] = {{0}}, *out;
    lc_resource_region largest = LC_REGION_ACTIVE;

    for (size_t i = 0; i < map->group_count + map->resource_count - a->named_count; i++) {
        lc_mind_map_group part, *group;

        if (i < map->group_count) {
            part = map->groups[i];
        } else {
            const lc_mind_map_resource *resource =
                a->by_importance[a->named_count + i - map->group_count];

            part = (lc_mind_map_group){.region = lc_resource_region_of(resource->state),
                                       .kind = resource->kind,
                                       .resource_count = 1,
                                       .size_tokens = resource->size_tokens};
            add(&a->out.links_left, (int64_t)resource->link_count);
            add(&a->out.annotations_left, (int64_t)resource->annotations.count);
            add(&a->out.annotations_left, resource->annotations_left);
        }
        part.region = lc_mind_map_section(a->out.level, part.region);
        group = &groups[part.region][part.kind];
        group->region = part.region;
        group->kind = part.kind;
        add(&group->resource_count, part.resource_count);
        add(&group->size_tokens, part.size_tokens);
        add(&sums[part.region].resource_count, part.resource_count);
        add(&sums[part.region].size_tokens, part.size_tokens);
        if (sums[part.region].resource_count > sums[largest].resource_count)
            largest = part.region;
    }
    out = lc_arena_zalloc_array(a->order->arena, LC_MIND_MAP_GROUPS_MAX, sizeof *out);
    if (out == NULL)
        return lc_fail_memory(err);
    a->out.groups = out;
    a->out.group_count = 0;
    for (unsigned region = 0; region < LC_REGIONS; region++) {
        bool is_merged = a->merging == MERGE_ALL ||
                         (a->merging == MERGE_SMALLER && region != (unsigned)largest);

        sums[region].region = (lc_resource_region)region;
        sums[region].kind = LC_KINDS;
        if (is_merged && sums[region].resource_count > 0)
            out[a->out.group_count++] = sums[region];
        for (unsigned kind = 0; kind < LC_KINDS && !is_merged; kind++)
            if (groups[region][kind].resource_count > 0)
                out[a->out.group_count++] = groups[region][kind];
    }
    return LOCI_OK;
}

/* Arranges the map with the first `named_count` resources by name. */
static loci_status arrange(arranging *a, loci_error *err)
{
    const lc_mind_map *map = a->order->map;
    loci_status status = LOCI_OK;

    a->named = lc_arena_zalloc_array(a->order->arena, a->named_count, sizeof *a->named);
    if (a->named == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < a->named_count; i++)
        a->named[i] = *a->by_importance[i];
    qsort(a->named, a->named_count, sizeof *a->named,
          a->order->level == 1 ? by_place_verbose : by_place_dense);

    a->out = *map;
    a->out.level = a->order->level;
    a->out.resources = a->named;
    a->out.resource_count = a->named_count;
    if (a->out.level > 1)
        status = give_names(a, err);
    for (size_t i = 0; i < a->named_count && status == LOCI_OK; i++)
        status = arrange_resource(a, &a->named[i], err);
    if (status == LOCI_OK)
        status = arrange_groups(a, err);
    return status;
}

/* Arranges and prints with `named_count` names into `text`, and says whether it fits the level. */
static loci_status attempt(arranging *a, size_t named_count, lc_buf *text, bool *fits,
                           loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(a->order->arena);
    lc_text_tokens counted = {0};
    loci_status status;

    lc_buf_reset(text);
    a->named_count = named_count;
    status = arrange(a, err);
    if (status == LOCI_OK)
        lc_mind_map_print(&a->out, text);
    *fits = text->failure != LOCI_ELIMIT; /* Too long even to be counted. */
    if (status == LOCI_OK && *fits)
        status = lc_buf_status(text, err);
    if (status == LOCI_OK && *fits)
        status = lc_tokenizer_count(a->order->tokenizer, lc_buf_str(text), &counted, err);
    *fits = *fits && counted.tokens <= a->limits->tokens_max;
    lc_arena_rewind(a->order->arena, mark);
    return status;
}

/* Leaves in `text` the map with the most names that fits. */
static loci_status search(arranging *a, lc_buf *text, loci_error *err)
{
    size_t total = a->order->map->resource_count;
    size_t high = total < a->limits->named_max ? total : a->limits->named_max, low = 0;
    bool fits = false;
    loci_status status = attempt(a, high, text, &fits, err);

    if (status != LOCI_OK || fits)
        return status;
    while (low + 1 < high && status == LOCI_OK) {
        size_t middle = low + (high - low) / 2;

        status = attempt(a, middle, text, &fits, err);
        *(fits ? &low : &high) = middle;
    }
    if (status == LOCI_OK)
        status = attempt(a, low, text, &fits, err);
    return status;
}

loci_status lc_mind_map_write(const lc_mind_map_order *order, lc_buf *out, loci_error *err)
{
    const lc_mind_map *map = order->map;
    arranging a = {.order = order};
    lc_buf text;
    loci_status status;

    if (map->level != 0) {
        lc_mind_map_print(map, out);
        return lc_buf_status(out, err);
    }
    LC_ASSERT(order->level >= 1);
    LC_ASSERT(order->level <= 3);
    a.limits = &limits[order->level - 1];
    a.by_importance = lc_arena_zalloc_array(order->arena, map->resource_count,
                                            sizeof *a.by_importance);
    if (a.by_importance == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < map->resource_count; i++)
        a.by_importance[i] = &map->resources[i];
    qsort(a.by_importance, map->resource_count, sizeof *a.by_importance, by_importance);

    lc_buf_init(&text, order->arena->heap, LOCI_MEM_REQUESTS, LC_MIND_MAP_BYTES_MAX);
    status = search(&a, &text, err);
    while (status == LOCI_OK && order->level == 3 && a.merging != MERGE_ALL &&
           a.named_count < MERGED_BELOW && a.named_count < map->resource_count) {
        a.merging++;
        status = search(&a, &text, err);
    }
    if (status == LOCI_OK) {
        lc_buf_append(out, lc_buf_str(&text));
        status = lc_buf_status(out, err);
    }
    lc_buf_clear(&text);
    return status;
}
