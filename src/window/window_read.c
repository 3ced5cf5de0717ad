/* window_read.c - loading windows and resources, lists, and the candidates for eviction.
 *
 * Every statement has its index: none reads all resources of a window, except the counts by region
 * and kind, which read an index only.
 */
#include "window/window_row.h"

#include "base/error.h"
#include "base/str.h"

/* ---- Windows --------------------------------------------------------------------------------- */

static const lc_sql find_window_sql = {
    "select {row} from windows where tenant_id = $1 and user_id = $2 and persona_id = $3", "ttt",
    "", &lc_window_row};

loci_status lc_window_find(lc_tx *tx, loci_str persona_id, lc_arena *arena, lc_window *out,
                           bool *found, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id)};

    return lc_row_find(tx, &(lc_query){&find_window_sql, args}, arena, out, found, err);
}

loci_status lc_window_load(lc_tx *tx, loci_str persona_id, lc_arena *arena, lc_window *out,
                           loci_error *err)
{
    bool found;
    loci_status status = lc_window_find(tx, persona_id, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "there is no window; open one with window.open {\"context_max\": tokens}");
    return status;
}

/* ---- Resources ------------------------------------------------------------------------------- */

#define SELECT "select {row} from resources where tenant_id = $1 and user_id = $2"
#define FILE_SCHEME "file://"
#define OF_WINDOW SELECT " and window_id = $3"

static const lc_sql by_seq_sql = {OF_WINDOW " and seq = $4", "ttti", "", &lc_resource_row};
static const lc_sql by_uri_sql = {OF_WINDOW " and uri = $4", "tttt", "", &lc_resource_row};

/* After a row was read. */
static void note_loaded(lc_resource *resource)
{
    lc_resource_derive(resource);
    resource->counted_tokens = resource->window_tokens;
    resource->was_active = lc_resource_is_active(resource->state);
}

loci_status lc_resource_find(lc_tx *tx, const lc_window *window, loci_str id, lc_arena *arena,
                             lc_resource *out, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(window->id), LC_T(id)};
    const lc_sql *sql = &by_uri_sql;
    lc_buf uri;
    lc_id_parts parts;
    bool found = false;
    loci_status status;

    lc_buf_init(&uri, arena->heap, LOCI_MEM_REQUESTS, id.len + sizeof FILE_SCHEME);
    if (lc_id_parse(id, "res", &parts)) {
        sql = &by_seq_sql;
        args[3] = LC_I(parts.seq);
    } else if (id.len > 0 && id.ptr[0] == '/') {
        lc_buf_append(&uri, LC_STR(FILE_SCHEME));
        lc_buf_append(&uri, id);
        args[3] = LC_T(lc_buf_str(&uri));
    }
    status = lc_buf_status(&uri, err);
    if (status == LOCI_OK)
        status = lc_row_find(tx, &(lc_query){sql, args}, arena, out, &found, err);
    lc_buf_clear(&uri);
    if (status == LOCI_OK && (!found || (sql == &by_seq_sql && !lc_str_eq(out->id, id))))
        *out = (lc_resource){.id = LC_STR_NONE};
    else if (status == LOCI_OK)
        note_loaded(out);
    return status;
}

loci_status lc_resource_load(lc_tx *tx, const lc_window *window, loci_str id, lc_arena *arena,
                             lc_resource *out, loci_error *err)
{
    loci_status status = lc_resource_find(tx, window, id, arena, out, err);

    if (status == LOCI_OK && out->id.len == 0)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "no resource %.*s; resource.list shows those of the window",
                         LC_STR_ARG(id));
    return status;
}

static const lc_sql text_sql = {
    "select body from resource_texts where tenant_id = $1 and user_id = $2 and seq = $3", "tti",
    "t"};

loci_status lc_resource_read_text(lc_tx *tx, const lc_resource *resource, lc_arena *arena,
                                  loci_str *out, loci_error *err)
{
    bool found = false;
    lc_rows rows;
    loci_status status = lc_tx_find(
        tx, &text_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(resource->seq)},
        &rows, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ECORRUPT, "the text of %.*s is missing",
                         LC_STR_ARG(resource->id));
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_rows_str(&rows, 0));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

bool lc_resource_is_outdated(const lc_resource *resource, int64_t now_us)
{
    return resource->is_stale || (resource->ttl_s > 0 && resource->read_at > 0 &&
                                  now_us - resource->read_at >= resource->ttl_s * INT64_C(1000000));
}

static loci_status each(lc_tx *tx, const lc_query *query, lc_resource_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_resource resource = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    while (lc_row_next(&rows, &resource, &status, err)) {
        note_loaded(&resource);
        status = visit(ctx, &resource, err);
    }
    lc_rows_end(&rows);
    return status;
}

static const lc_sql page_sql = {OF_WINDOW
                                " and seq > $4 and ($5 = '' or state = $5) and ($6 = '' or kind ="
                                " $6) and ($7 < 0 or place = $7) order by seq limit $8",
                                "tttittii", "", &lc_resource_row};

loci_status lc_resource_each(lc_tx *tx, const lc_window *window, const lc_resource_page *page,
                             lc_resource_visit *visit, void *ctx, loci_error *err)
{
    lc_resource_region region;
    int64_t place = lc_resource_region_find(page->region, &region) ? (int64_t)region : -1;
    const lc_arg args[] = {
        LC_T(tx->tenant_id),   LC_T(tx->user_id),          LC_T(window->id),
        LC_I(page->after_seq), LC_T_OR_EMPTY(page->state), LC_T_OR_EMPTY(page->kind),
        LC_I(place),           LC_I(page->limit)};

    return each(tx, &(lc_query){&page_sql, args}, visit, ctx, err);
}

static const lc_sql important_sql = {
    OF_WINDOW " order by attention desc, place, last_accessed desc, id limit $4", "ttti", "",
    &lc_resource_row};

loci_status lc_resource_each_important(lc_tx *tx, const lc_window *window, int64_t limit,
                                       lc_resource_visit *visit, void *ctx, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(window->id), LC_I(limit)};

    return each(tx, &(lc_query){&important_sql, args}, visit, ctx, err);
}

static const lc_sql groups_sql = {
    "select place, kind, count(*), coalesce(cast(sum(size_tokens) as bigint), 0) from resources"
    " where tenant_id = $1 and user_id = $2 and window_id = $3 group by place, kind"
    " order by place, kind",
    "ttt", "itii"};

loci_status lc_resource_count_groups(lc_tx *tx, const lc_window *window,
                                     lc_resource_group out[LC_RESOURCE_GROUPS_MAX], size_t *count,
                                     loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &groups_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(window->id)},
        &rows, err);

    *count = 0;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_resource_group *group = &out[*count];
        int64_t place = lc_rows_i64(&rows, 0);

        if (*count == LC_RESOURCE_GROUPS_MAX || place < 0 || place >= LC_REGIONS ||
            !lc_resource_kind_find(lc_rows_str(&rows, 1), &group->kind)) {
            status = lc_fail(err, LOCI_ECORRUPT, "a resource has an unknown kind or region");
            break;
        }
        group->region = (lc_resource_region)place;
        group->count = lc_rows_i64(&rows, 2);
        group->tokens = lc_rows_i64(&rows, 3);
        ++*count;
    }
    lc_rows_end(&rows);
    return status;
}

/* ---- Candidates for eviction ----------------------------------------------------------------- */

lc_evictable lc_resource_evictable(const lc_resource *resource)
{
    return (lc_evictable){.id = resource->id,
                          .kind = resource->kind,
                          .attention = resource->attention,
                          .tokens = resource->window_tokens,
                          .last_accessed = resource->last_accessed,
                          .is_protected = resource->is_protected != 0};
}

/* The order of lc_evict_compare(), one statement per policy: each has its index. */
#define EVICTABLE OF_WINDOW " and is_active = 1 and is_protected = 0"
static const lc_sql candidates_sql[LC_POLICIES] = {
    [LC_POLICY_LRU] = {EVICTABLE " order by bucket, last_accessed, id limit $4", "ttti", "",
                       &lc_resource_row},
    [LC_POLICY_SIZE_FIRST] = {EVICTABLE
                              " order by bucket, window_tokens desc, last_accessed, id limit $4",
                              "ttti", "", &lc_resource_row},
    [LC_POLICY_KEEP_RELATIONAL] =
        {EVICTABLE " and relational < 2 order by bucket, relational, last_accessed, id limit $4",
         "ttti", "", &lc_resource_row},
    [LC_POLICY_KEEP_TECHNICAL] =
        {EVICTABLE " and technical < 2 order by bucket, technical, last_accessed, id limit $4",
         "ttti", "", &lc_resource_row},
};

typedef struct collecting {
    lc_arena *arena;
    lc_resource_list *list;
} collecting;

static loci_status collect(void *ctx, const lc_resource *resource, loci_error *err)
{
    collecting *c = ctx;
    lc_resource *kept = &c->list->items[c->list->count];

    *kept = *resource;
    if (!lc_row_keep(&lc_resource_row, c->arena, kept))
        return lc_fail_memory(err);
    c->list->count++;
    return LOCI_OK;
}

loci_status lc_window_candidates(lc_tx *tx, const lc_window *window, int64_t limit, lc_arena *arena,
                                 lc_resource_list *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(window->id), LC_I(limit)};
    collecting c = {arena, out};

    *out = (lc_resource_list){lc_arena_zalloc_array(arena, (size_t)limit, sizeof *out->items), 0};
    if (out->items == NULL)
        return lc_fail_memory(err);
    return each(tx, &(lc_query){&candidates_sql[window->policy], args}, collect, &c, err);
}
