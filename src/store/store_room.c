/* store_room.c - the store's own tables.
 *
 * events and heads are the log. The others are operational: durable, backed up, never compared. The
 * lock on the head row serialises the writers of one user; `base_seq` is the
 * seq of the last event that a snapshot replaced (store/snapshot.h), or 0.
 */
#include "store/store_room.h"

#include "base/error.h"
#include "base/str.h"
#include "store/job.h"
#include "store/recover.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/token.h"
#include "store/vector.h"
#include "store/withdrawal.h"

static const lc_column event_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),       LC_COLUMN("type", 't'),
    LC_COLUMN("v", 'i'),         LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("refs", 't'),      LC_COLUMN("payload", 't'),
    LC_COLUMN("is_erased", 'i'), {0},
};

static const lc_table events_table = {
    .name = "events",
    .table_class = LC_TABLE_LOG,
    .columns = event_columns,
    .key = "tenant_id, user_id, seq",
    .is_large = true,
};

static const lc_column head_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("objects", 'i'),
    LC_COLUMN("base_seq", 'i'),
    {0},
};

static const lc_table heads_table = {
    .name = "heads",
    .table_class = LC_TABLE_LOG,
    .columns = head_columns,
    .key = "tenant_id, user_id",
};

static const lc_column request_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("request_id", 't'),
    LC_COLUMN("args_hash", 'b'),
    LC_COLUMN("answer", 't'),
    LC_COLUMN("recorded_at", 'i'),
    {0},
};

static const lc_index request_indexes[] = {
    {"age", "recorded_at", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_table requests_table = {
    .name = "requests",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = request_columns,
    .key = "tenant_id, user_id, request_id",
    .indexes = request_indexes,
};

static const lc_column request_usage_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
    LC_COLUMN("since", 'i'), /* Begin of the slice. */
    LC_COLUMN("bytes", 'i'),     {0},
};

static const lc_index request_usage_indexes[] = {
    {"age", "since", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_table request_usage_table = {
    .name = "request_usage",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = request_usage_columns,
    .key = "tenant_id, user_id, since",
    .indexes = request_usage_indexes,
};

static const lc_column meta_columns[] = {
    LC_COLUMN("name", 't'),
    LC_COLUMN("value", 't'),
    {0},
};

static const lc_table meta_table = {
    .name = "meta",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = meta_columns,
    .key = "name",
    .is_store_wide = true,
};

static const lc_column rebuild_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    {0},
};

/* How far a rebuild in progress has replayed each user. */
static const lc_table rebuild_heads_table = {
    .name = "rebuild_heads",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = rebuild_columns,
    .key = "tenant_id, user_id",
};

static const lc_column setting_columns[] = {
    LC_STRING_COLUMN(lc_setting_row, tenant_id, "tenant_id", 0, .absent = ""),
    LC_STRING_COLUMN(lc_setting_row, name, "name", 0),
    LC_STRING_COLUMN(lc_setting_row, value, "value", 0),
    LC_COLUMN("updated_at", 'i'), /* Domain time; for people, nothing depends on it. */
    {0},
};

/* The empty tenant, which no caller can have, stands for the whole store: a key cannot be NULL. */
static const lc_table settings_table = {
    .name = "settings",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = setting_columns,
    .key = "tenant_id, name",
    .is_store_wide = true,
};

static const lc_column forgetting_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("type", 't'),
    LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("scope", 't'),
    {0},
};

/* One row per event that forgot something (lc_event_type.forgets), or took back something that
 * states in memory do not notice (revives, which is then the scope). */
static const lc_table forgettings_table = {
    .name = "forgettings",
    .table_class = LC_TABLE_PROJECTION,
    .columns = forgetting_columns,
    .key = "tenant_id, user_id, seq",
};

/* ---- Forgetting a user ----------------------------------------------------------------------- */

typedef struct emptying {
    lc_tx *tx;
    lc_table_class table_class;
} emptying;

static loci_status empty_table(void *ctx, const lc_table *table, loci_error *err)
{
    const emptying *e = ctx;

    if (table->table_class != e->table_class || table->forget == NULL)
        return LOCI_OK;
    return lc_tx_exec(e->tx, table->forget,
                      (lc_arg[]){LC_T(e->tx->tenant_id), LC_T(e->tx->user_id)}, err);
}

static loci_status apply_user_forgotten(lc_tx *tx, const lc_event *event, loci_error *err)
{
    loci_str tenant_id = tx->tenant_id, user_id = tx->user_id;
    loci_status status;

    tx->tenant_id = event->tenant_id; /* A replay may be of another user. */
    tx->user_id = event->user_id;
    status = lc_catalogue_each(tx->db->catalogue, empty_table, &(emptying){tx, LC_TABLE_PROJECTION},
                               err);
    tx->tenant_id = tenant_id;
    tx->user_id = user_id;
    return status;
}

const lc_event_type lc_user_forgotten_event = {
    .name = "user.forgotten", .version = 1, .apply = apply_user_forgotten, .forgets = true};

loci_status lc_forget_operational(lc_tx *tx, loci_error *err)
{
    return lc_catalogue_each(tx->db->catalogue, empty_table, &(emptying){tx, LC_TABLE_OPERATIONAL},
                             err);
}

typedef struct removing {
    lc_tx *tx;
    loci_str id;
} removing;

static loci_status remove_named(void *ctx, const lc_table *table, loci_error *err)
{
    const removing *r = ctx;

    if (table->forget_id == NULL)
        return LOCI_OK;
    return lc_tx_exec(r->tx, table->forget_id,
                      (lc_arg[]){LC_T(r->tx->tenant_id), LC_T(r->tx->user_id), LC_T(r->id)}, err);
}

loci_status lc_forget_named(lc_tx *tx, loci_str id, loci_error *err)
{
    return lc_catalogue_each(tx->db->catalogue, remove_named, &(removing){tx, id}, err);
}

static const lc_table *const tables[] = {
    &meta_table,
    &events_table,
    &heads_table,
    &requests_table,
    &request_usage_table,
    &lc_jobs_table,
    &settings_table,
    &lc_tokens_table,
    &lc_vectors_table,
    &forgettings_table,
    &rebuild_heads_table,
    &lc_withdrawals_table,
    NULL,
};

static const lc_event_type *const events[] = {&lc_user_forgotten_event, &lc_event_lost,
                                              &lc_snapshot_event, NULL};

const lc_room lc_store_room = {.name = "store", .tables = tables, .events = events};

/* ---- Requests -------------------------------------------------------------------------------- */

/* One row, with or without a request. */
static const lc_sql find_sql = {
    "select r.args_hash, r.answer, r.recorded_at, u.total from"
    " (select cast(coalesce(sum(bytes), 0) as bigint) as total from request_usage"
    " where tenant_id = $1 and user_id = $2 and since > $4) u left join requests r"
    " on r.tenant_id = $1 and r.user_id = $2 and r.request_id = $3",
    "ttti", "btii"};

static const lc_sql use_sql = {
    "insert into request_usage (tenant_id, user_id, since, bytes) values ($1, $2, $3, $4)"
    " on conflict (tenant_id, user_id, since)"
    " do update set bytes = request_usage.bytes + excluded.bytes",
    "ttii", NULL};

static const lc_sql store_sql = {
    "insert into requests (tenant_id, user_id, request_id, args_hash, answer, recorded_at)"
    " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, user_id, request_id)"
    " do update set args_hash = excluded.args_hash, answer = excluded.answer,"
    " recorded_at = excluded.recorded_at",
    "tttbti", NULL};

static loci_str hash_bytes(const lc_request *request)
{
    return (loci_str){(const char *)&request->args_hash, sizeof request->args_hash};
}

static loci_status fail_quota(const lc_request *request, int64_t used_bytes, loci_error *err)
{
    return lc_fail(
        err, LOCI_ELIMIT,
        "request_id %.*s: the stored answers of this user take %lld bytes, the maximum is"
        " %lld; call without request_id, or raise the setting request.user_bytes_max",
        LC_STR_ARG(request->request_id), (long long)used_bytes, (long long)request->bytes_max);
}

loci_status lc_request_find(lc_tx *tx, const lc_request *request, lc_arena *arena, loci_str *out,
                            bool *found, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(tx, &find_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(request->key),
                                               LC_I(tx->now_us - request->keep_us)},
                                    &rows, found, err);

    if (status != LOCI_OK || !*found)
        return status;
    /* The domain clock may have gone back: an answer from the future has not expired. */
    if (lc_rows_str(&rows, 1).ptr == NULL ||
        tx->now_us - lc_rows_i64(&rows, 2) >= request->keep_us) {
        *found = false;
        if (lc_rows_i64(&rows, 3) >= request->bytes_max)
            status = fail_quota(request, lc_rows_i64(&rows, 3), err);
    } else if (lc_rows_str(&rows, 1).len == 0) {
        status = lc_fail(err, LOCI_ECONFLICT,
                         "request_id %.*s was used for a call whose answer was forgotten; it is not"
                         " run again: use a new one",
                         LC_STR_ARG(request->request_id));
    } else if (!lc_str_eq(lc_rows_str(&rows, 0), hash_bytes(request))) {
        status = lc_fail(err, LOCI_ECONFLICT,
                         "request_id %.*s was used for another call; use a new one",
                         LC_STR_ARG(request->request_id));
    } else {
        *out = lc_arena_copy(arena, lc_rows_str(&rows, 1));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_request_store(lc_tx *tx, const lc_request *request, loci_str answer, loci_error *err)
{
    int64_t slice_us = request->keep_us / LC_REQUEST_SLICES;
    int64_t since = tx->now_us - tx->now_us % slice_us;
    int64_t bytes = (int64_t)(answer.len + request->key.len) + LC_REQUEST_OVERHEAD_BYTES;
    loci_status status = lc_tx_exec(tx, &store_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(request->key), LC_B(hash_bytes(request)),
                                               LC_T(answer), LC_I(tx->now_us)},
                                    err);

    if (status == LOCI_OK)
        status = lc_tx_exec(
            tx, &use_sql,
            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(since), LC_I(bytes)}, err);
    return status;
}

/* ---- Forgetting answers ---------------------------------------------------------------------- */

#define ID_LETTERS 26

static const lc_sql answers_sql = {
    "select request_id, answer from requests where tenant_id = $1 and user_id = $2"
    " and answer <> '' and request_id > $3 order by request_id limit $4",
    "ttti", "tt"};

/* The hash is deleted, too: the arguments it was made from could be guessed. */
static const lc_sql forget_answer_sql = {
    "update requests set answer = '', args_hash = $4"
    " where tenant_id = $1 and user_id = $2 and request_id = $3",
    "tttb", NULL};

static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whether `answer` has one of the ids: a prefix, an underscore and 26 letters. */
static bool names_one(loci_str answer, const lc_map *ids)
{
    for (size_t at = 0; ids != NULL && at + ID_LETTERS < answer.len; at++) {
        size_t start = at, letters = 0;

        if (answer.ptr[at] != '_')
            continue;
        while (start > 0 && is_letter(answer.ptr[start - 1]))
            start--;
        while (letters < ID_LETTERS && is_letter(answer.ptr[at + 1 + letters]))
            letters++;
        if (letters == ID_LETTERS &&
            lc_map_find(ids, (loci_str){answer.ptr + start, at + 1 + letters - start}) != NULL)
            return true;
    }
    return ids == NULL;
}

#define ANSWERS_PAGE 200

typedef struct found_answer {
    loci_str request_id;
    struct found_answer *next;
} found_answer;

/* A walk over the stored answers of a user. */
typedef struct answer_walk {
    const lc_map *ids;
    lc_arena arena;
    loci_str after;      /* Key of the last row that was read. */
    found_answer *found; /* Answers to forget. */
    bool is_over;
} answer_walk;

static loci_status read_answers(lc_tx *tx, answer_walk *w, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(w->after),
                           LC_I(ANSWERS_PAGE)};
    int count = 0;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &answers_sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        found_answer *found = lc_arena_alloc(&w->arena, sizeof *found);
        loci_str id = lc_arena_copy(&w->arena, lc_rows_str(&rows, 0));

        if (found == NULL || id.ptr == NULL) {
            status = lc_fail_memory(err);
            break;
        }
        count++;
        w->after = id;
        *found = (found_answer){id, w->found};
        if (names_one(lc_rows_str(&rows, 1), w->ids))
            w->found = found;
    }
    lc_rows_end(&rows);
    w->is_over = count < ANSWERS_PAGE;
    return status;
}

loci_status lc_request_forget(lc_tx *tx, const lc_map *ids, int64_t *out, loci_error *err)
{
    answer_walk w = {.ids = ids, .after = LC_STR("")};
    loci_status status = LOCI_OK;

    *out = 0;
    lc_arena_init(&w.arena, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    while (status == LOCI_OK && !w.is_over)
        status = read_answers(tx, &w, err);
    for (found_answer *found = w.found; status == LOCI_OK && found != NULL; found = found->next) {
        status = lc_tx_exec(tx, &forget_answer_sql,
                            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                       LC_T(found->request_id), LC_B(LC_STR(""))},
                            err);
        ++*out;
    }
    lc_arena_clear(&w.arena);
    return status;
}

/* ---- Scrubbing ------------------------------------------------------------------------------- */

#define SCRUB_WANTED "scrub_wanted"
#define SCRUB_DONE "scrub_done"
/* A reader in another process may block the scrub for days; the pause between attempts is an hour
 * at most. */
#define SCRUB_ATTEMPTS_MAX 1000000

static const lc_sql obstacle_sql = {
    "select error_message from jobs where kind = $1 and status in ('queued', 'running')"
    " and error_message is not null order by id desc limit 1",
    "t", "t"};

loci_status lc_scrub_enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(tx,
                          &(lc_job_new){.kind = LC_STR(LC_SCRUB_JOB),
                                        .attempts_max = SCRUB_ATTEMPTS_MAX,
                                        .unique = LC_STR("scrub")},
                          out, err);
}

/* A mark that no other forgetting has, rather than a count: two writers of different users could
 * both read the same count. The second to commit waits for the first at this row. */
loci_status lc_scrub_request(lc_tx *tx, lc_id *out_job, loci_error *err)
{
    lc_hash128 mark = lc_hash128_chain(lc_hash128_of(tx->tenant_id), tx->user_id);
    lc_head head;
    loci_status status = lc_tx_head(tx, &head, err);

    if (status != LOCI_OK)
        return status;
    mark = lc_hash128_chain(mark, (loci_str){(const char *)&head.seq, sizeof head.seq});
    status = lc_meta_set_i64(tx, SCRUB_WANTED, (int64_t)(mark.low >> 1 | 1), err);
    return status == LOCI_OK ? lc_scrub_enqueue(tx, out_job, err) : status;
}

loci_status lc_scrub_get(lc_tx *tx, lc_scrub_state *out, loci_error *err)
{
    loci_status status = lc_meta_get_i64(tx, SCRUB_WANTED, 0, &out->wanted, err);

    return status == LOCI_OK ? lc_meta_get_i64(tx, SCRUB_DONE, 0, &out->done, err) : status;
}

loci_status lc_scrub_set_done(lc_tx *tx, int64_t done, loci_error *err)
{
    return lc_meta_set_i64(tx, SCRUB_DONE, done, err);
}

loci_status lc_scrub_obstacle(lc_tx *tx, lc_arena *arena, loci_str *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &obstacle_sql, (lc_arg[]){LC_T(LC_STR(LC_SCRUB_JOB))},
                                    &rows, &found, err);

    *out = LC_STR_NONE;
    if (status == LOCI_OK && found) {
        *out = lc_arena_copy(arena, lc_rows_str(&rows, 0));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

/* ---- Settings -------------------------------------------------------------------------------- */

const lc_row_type lc_stored_setting_row = {setting_columns, 0};

static const lc_sql all_settings_sql = {"select {row} from settings order by tenant_id, name", "",
                                        "", &lc_stored_setting_row};

static const lc_sql put_setting_sql = {
    "insert into settings (updated_at, {row}) values ($1, {values})"
    " on conflict (tenant_id, name) do update set {excluded}, updated_at = excluded.updated_at",
    "i", NULL, &lc_stored_setting_row};

static const lc_sql delete_setting_sql = {"delete from settings where tenant_id = $1 and name = $2",
                                          "tt", NULL};

loci_status lc_setting_row_each(lc_tx *tx, lc_setting_row_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    lc_setting_row row;
    loci_status status = lc_tx_query(tx, &all_settings_sql, NULL, &rows, err);

    while (lc_row_next(&rows, &row, &status, err))
        status = visit(ctx, &row, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_setting_row_put(lc_tx *tx, const lc_setting_row *row, loci_error *err)
{
    lc_arg args[1 + LC_ROW_COLUMNS_MAX] = {LC_I(tx->now_us)};

    lc_row_bind(&lc_stored_setting_row, row, args + 1);
    return lc_tx_exec_one(tx, &put_setting_sql, args, err);
}

loci_status lc_setting_row_remove(lc_tx *tx, loci_str tenant_id, loci_str name, loci_error *err)
{
    return lc_tx_exec(tx, &delete_setting_sql, (lc_arg[]){LC_T_OR_EMPTY(tenant_id), LC_T(name)},
                      err);
}
