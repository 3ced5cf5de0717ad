/* window_room.c - the room: its tables, events, settings, the sweep and the check of its rows. */
#include "window/window_row.h"

#include "base/error.h"
#include "base/str.h"
#include "store/upkeep.h"

/* ---- The sweep: windows that stayed critical --------------------------------------------------
 */

static const lc_sql users_sql = {
    "select tenant_id, user_id from windows where critical_since is not null"
    " and (tenant_id, user_id) > ($1, $2) order by tenant_id, user_id limit 1",
    "tt", "tt"};

static const lc_sql critical_sql = {
    "select {row} from windows where tenant_id = $1 and user_id = $2 and critical_since <= $3"
    " order by id",
    "tti", "", &lc_window_row};

static loci_status is_due(lc_tx *tx, int64_t evict_after_ms, bool *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                           LC_I(tx->now_us - evict_after_ms * 1000)};
    lc_rows rows;
    loci_status status;

    *out = false;
    if (evict_after_ms == 0)
        return LOCI_OK;
    status = lc_tx_find(tx, &critical_sql, args, &rows, out, err);
    lc_rows_end(&rows);
    return status;
}

#define WINDOWS_PER_SWEEP 256

static loci_status relieve(lc_tx *tx, int64_t evict_after_ms, int64_t *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                           LC_I(tx->now_us - evict_after_ms * 1000)};
    lc_arena *arena = &tx->db->tx_memory;
    lc_window *windows = lc_arena_zalloc_array(arena, WINDOWS_PER_SWEEP, sizeof *windows);
    lc_resource_list evicted;
    size_t count = 0;
    lc_rows rows = {0};
    loci_status status = windows != NULL ? LOCI_OK : lc_fail_memory(err);

    *out = 0;
    if (status == LOCI_OK && evict_after_ms > 0)
        status = lc_tx_query(tx, &critical_sql, args, &rows, err);
    while (status == LOCI_OK && evict_after_ms > 0 && count < WINDOWS_PER_SWEEP &&
           lc_row_next(&rows, &windows[count], &status, err)) {
        if (!lc_row_keep(&lc_window_row, arena, &windows[count++]))
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    for (size_t i = 0; i < count && status == LOCI_OK; i++) {
        status = lc_window_relieve(tx, &windows[i], evict_after_ms, arena, &evicted, err);
        *out += (int64_t)evicted.count;
    }
    return status;
}

static const lc_sweep sweep = {
    .name = "evictions",
    .users = &users_sql,
    .setting = &lc_setting_window_evict_after_ms,
    .is_due = is_due,
    .run = relieve,
};

/* ---- Checking -------------------------------------------------------------------------------- */

static const lc_sql sums_sql = {
    "select w.id from windows w left join (select window_id, count(*) as n,"
    " cast(sum(is_active) as bigint) as a, cast(sum(window_tokens) as bigint) as s"
    " from resources where tenant_id = $1 and user_id = $2"
    " group by window_id) r on r.window_id = w.id where w.tenant_id = $1 and w.user_id = $2"
    " and (w.resource_count <> coalesce(r.n, 0) or w.active_count <> coalesce(r.a, 0)"
    " or w.active_tokens <> coalesce(r.s, 0)) order by w.id limit 20",
    "tt", "t"};

static const lc_sql tokens_sql = {
    "select id from resources where tenant_id = $1 and user_id = $2 and is_active = 0"
    " and window_tokens <> 0 order by id limit 20",
    "tt", "t"};

static const lc_sql lost_sql = {
    "select r.id from resources r left join windows w on w.tenant_id = r.tenant_id"
    " and w.user_id = r.user_id and w.id = r.window_id where r.tenant_id = $1 and r.user_id = $2"
    " and w.id is null order by r.id limit 20",
    "tt", "t"};

static loci_status report(lc_tx *tx, const lc_sql *sql, const lc_arg *args, const char *what,
                          lc_problems *problems, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "%.*s %s", LC_STR_ARG(lc_rows_str(&rows, 0)), what);
    lc_rows_end(&rows);
    return status;
}

static loci_status check(lc_tx *tx, loci_str tenant_id, loci_str user_id, lc_problems *problems,
                         loci_error *err)
{
    const lc_arg args[] = {LC_T(tenant_id), LC_T(user_id)};
    loci_status status = report(tx, &sums_sql, args, "does not have the sums of its resources",
                                problems, err);

    if (status == LOCI_OK)
        status = report(tx, &tokens_sql, args, "is not active and takes tokens", problems, err);
    if (status == LOCI_OK)
        status = report(tx, &lost_sql, args, "is a resource of no window", problems, err);
    return status;
}

/* ---- The room -------------------------------------------------------------------------------- */

static const lc_table *const tables[] = {
    &lc_windows_table,
    &lc_resources_table,
    &lc_resource_texts_table,
    NULL,
};

static const lc_event_type *const events[] = {
    &lc_window_set_event,
    &lc_resource_discovered_event,
    &lc_resource_changed_event,
    &lc_resource_noted_event,
    &lc_resource_linked_event,
    &lc_resource_forgotten_event,
    NULL,
};

const lc_setting lc_setting_window_evict_after_ms = {
    .name = "window.evict_after_ms",
    .kind = LC_SETTING_INT,
    .default_text = "30000",
    .min = 0,
    .max = 86400000,
    .help = "Milliseconds after which resources of a window with critical pressure are paged out"
            " by its policy, unless the agent pages out some itself; 0 = never",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_window_roots = {
    .name = "window.roots",
    .kind = LC_SETTING_TEXT,
    .default_text = "\"\"",
    .min = 0,
    .max = 4096,
    .help = "Folders whose files may be resources of a window: absolute paths, separated by colons"
            " (default: none); it cannot be set over HTTP",
    .is_live = true,
    .is_per_tenant = true,
    .is_admins = true,
};

static const lc_setting *const settings[] = {&lc_setting_window_evict_after_ms,
                                             &lc_setting_window_roots, NULL};

const lc_room lc_window_room = {
    .name = "window",
    .settings = settings,
    .tables = tables,
    .events = events,
    .check = check,
    .sweep = &sweep,
};
