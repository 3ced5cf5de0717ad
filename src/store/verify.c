/* verify.c - the pages, then each user, then what belongs to nobody. */
#include "store/verify.h"

#include "base/limits.h"
#include "base/str.h"
#include "store/schema.h"
#include "store/verify_user.h"

#define USERS_PER_STEP 500

static const lc_sql log_users_sql = {
    "select tenant_id, user_id from events where (tenant_id, user_id) > ($1, $2)"
    " order by tenant_id, user_id limit 1",
    "tt", "tt"};

static const lc_sql has_head_sql = {"select 1 from heads where tenant_id = $1 and user_id = $2",
                                    "tt", "i"};

/* ---- Users ---------------------------------------------------------------------------------- */

static loci_status next_user(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_verify_run *run = ctx;

    return lc_user_walk_next(tx, &run->user, &lc_user_heads_sql, err);
}

static loci_status verify_users(lc_verify_run *run, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK) {
        status = lc_db_read(run->upkeep->db, INT64_MAX, next_user, run, err);
        if (status != LOCI_OK || !run->user.found)
            break;
        status = lc_verify_user(run, err);
    }
    return status;
}

/* ---- Orphans -------------------------------------------------------------------------------- */

typedef struct orphan_search {
    lc_problems *problems;
    const lc_sql *next_user;
    const char *table;
    lc_user_walk user;
    bool is_done;
} orphan_search;

static loci_status check_owner(lc_tx *tx, orphan_search *search, loci_error *err)
{
    loci_str tenant_id = lc_user_walk_tenant(&search->user);
    loci_str user_id = lc_user_walk_user(&search->user);
    char label[LC_USER_LABEL_BYTES];
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &has_head_sql, (lc_arg[]){LC_T(tenant_id), LC_T(user_id)},
                                    &rows, &found, err);

    lc_rows_end(&rows);
    if (status != LOCI_OK || found)
        return status;
    lc_user_label(label, tenant_id, user_id);
    lc_problems_add(search->problems, "user %s: %s has rows, but there is no head", label,
                    search->table);
    return LOCI_OK;
}

static loci_status search_some(lc_tx *tx, void *ctx, loci_error *err)
{
    orphan_search *search = ctx;
    loci_status status = LOCI_OK;

    for (int i = 0; status == LOCI_OK && i < USERS_PER_STEP && !search->is_done; i++) {
        status = lc_user_walk_next(tx, &search->user, search->next_user, err);
        if (status != LOCI_OK)
            break;
        search->is_done = !search->user.found;
        if (search->user.found)
            status = check_owner(tx, search, err);
    }
    return status;
}

static loci_status find_orphans(const lc_verify_run *run, const char *table,
                                const lc_sql *table_users_sql, loci_error *err)
{
    orphan_search search = {
        .problems = run->problems, .next_user = table_users_sql, .table = table};
    loci_status status = LOCI_OK;

    lc_user_walk_init(&search.user, &run->upkeep->db->env->heap);
    while (status == LOCI_OK && !search.is_done)
        status = lc_db_read(run->upkeep->db, INT64_MAX, search_some, &search, err);
    lc_user_walk_clear(&search.user);
    return status;
}

static loci_status find_all_orphans(const lc_verify_run *run, loci_error *err)
{
    const lc_dump_plan *plan = run->upkeep->plan;
    loci_status status = find_orphans(run, "events", &log_users_sql, err);

    for (size_t i = 0; status == LOCI_OK && i < plan->table_count; i++)
        status = find_orphans(run, plan->tables[i].table->name, &plan->tables[i].next_user, err);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static loci_status create_scratch(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    /* Operational tables stay empty: rooms look at them when they check. */
    return lc_schema_create_tables(tx, 1u << LC_TABLE_PROJECTION | 1u << LC_TABLE_OPERATIONAL, "",
                                   0, err);
}

static loci_status open_scratch(lc_verify_run *run, loci_error *err)
{
    lc_db *db = run->upkeep->db;
    const lc_dump_plan *plan = run->upkeep->plan;
    loci_status status;

    for (size_t i = 0; i < plan->table_count; i++)
        lc_buf_append_format(&run->emptying, "delete from %s;\n", plan->tables[i].table->name);
    if (lc_buf_terminate(&run->emptying) == NULL)
        return lc_buf_status(&run->emptying, err);
    status = db->driver->open_scratch(db->env, db->catalogue, &run->scratch, err);
    if (status == LOCI_OK)
        status = lc_db_write_one(run->scratch, LC_UPKEEP_WAIT_MS, create_scratch, NULL, err);
    return status;
}

static void init_run(lc_verify_run *run, const lc_upkeep *upkeep, lc_problems *problems)
{
    lc_heap *heap = &upkeep->db->env->heap;

    *run = (lc_verify_run){.upkeep = upkeep, .problems = problems};
    lc_compare_init(&run->compare, heap);
    lc_buf_init(&run->emptying, heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_buf_init(&run->upcast, heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_user_walk_init(&run->user, heap);
}

static void clear_run(lc_verify_run *run)
{
    lc_db_close(run->scratch);
    lc_compare_clear(&run->compare);
    lc_buf_clear(&run->emptying);
    lc_buf_clear(&run->upcast);
    lc_user_walk_clear(&run->user);
}

loci_status lc_verify(const lc_upkeep *upkeep, lc_problems *problems, loci_error *err)
{
    int64_t pages_before = problems->count;
    lc_verify_run run;
    int64_t users;
    loci_status status;

    init_run(&run, upkeep, problems);
    status = lc_upkeep_report(upkeep, "pages", 0, 0, err);
    if (status == LOCI_OK)
        status = upkeep->db->driver->check(upkeep->db, problems, err);
    /* What is read from damaged pages would only add noise, or fail. */
    if (status != LOCI_OK || problems->count > pages_before)
        goto out;
    status = lc_upkeep_count(upkeep->db, &users, &run.events_total, err);
    if (status == LOCI_OK)
        status = open_scratch(&run, err);
    if (status == LOCI_OK)
        status = verify_users(&run, err);
    if (status == LOCI_OK)
        status = find_all_orphans(&run, err);
out:
    clear_run(&run);
    return status;
}
