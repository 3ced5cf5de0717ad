/* environment.c - the event `environment.set`, its table and reading it.
 *
 * A signal that is older than the one that stands changes nothing and is not recorded: a connector
 * that delivers late must not turn the clock back. The last few values a key had stay with it: who
 * repeats one of them repeats what is no longer so.
 */
#include "session/environment.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "store/event_json.h"

#define FORMER_BYTES_MAX 1024 /* Of one former value. */

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),   LC_COLUMN("user_id", 't'), LC_COLUMN("key", 't'),
    LC_COLUMN("persona_id", 't'),  LC_COLUMN("value", 't'),   LC_COLUMN("observed_at", 'i'),
    LC_COLUMN("recorded_at", 'i'), LC_COLUMN("former", 't'),  {0},
};

const lc_table lc_environment_table = {
    .name = "environment",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, key, persona_id",
};

static const lc_sql put_sql = {
    "insert into environment (tenant_id, user_id, key, persona_id, value, observed_at, recorded_at,"
    " former) values ($1, $2, $3, $4, $5, $6, $7, $8)"
    " on conflict (tenant_id, user_id, key, persona_id)"
    " do update set value = excluded.value, observed_at = excluded.observed_at,"
    " recorded_at = excluded.recorded_at, former = excluded.former",
    "tttttiit", NULL};

static const lc_sql values_sql = {"select value, former from environment where tenant_id = $1"
                                  " and user_id = $2 and key = $3 and persona_id = $4",
                                  "tttt", "tt"};

static const lc_sql own_sql = {"select observed_at from environment where tenant_id = $1"
                               " and user_id = $2 and key = $3 and persona_id = $4",
                               "tttt", "i"};

#define COLUMNS "key, value, persona_id, observed_at, recorded_at, former"

static const lc_sql find_sql = {"select " COLUMNS " from environment where tenant_id = $1"
                                " and user_id = $2 and key = $3 and persona_id in ('', $4)"
                                " order by persona_id desc limit 1",
                                "tttt", "tttiit"};

static const lc_sql each_sql = {"select " COLUMNS " from environment where tenant_id = $1"
                                " and user_id = $2 and persona_id in ('', $3)"
                                " order by key, persona_id desc",
                                "ttt", "tttiit"};

static loci_str or_empty(loci_str text)
{
    return text.ptr == NULL ? LC_STR("") : text;
}

/* The array of former values with `value` in front. Long ones are not worth knowing again. */
static loci_status push_former(lc_arena *arena, loci_str value, loci_str former, loci_str *out,
                               loci_error *err)
{
    const lc_json *list;
    size_t count = 1;
    lc_json_writer writer;
    lc_buf buf;
    loci_status status = lc_json_parse(arena, former, 0, &list, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_init(&buf, arena->heap, LOCI_MEM_WAL, LC_EVENT_BYTES_MAX);
    lc_jw_init(&writer, &buf);
    lc_jw_array(&writer);
    if (value.len <= FORMER_BYTES_MAX)
        lc_jw_raw(&writer, value);
    for (const lc_json *item = lc_json_first(list); item != NULL && count < LC_SIGNAL_FORMER_MAX;
         item = lc_json_next(item), count++)
        lc_jw_value(&writer, item);
    lc_jw_end(&writer);
    status = lc_buf_status(&buf, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&buf));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&buf);
    return status;
}

/* What the row's `former` becomes when `value` takes its place: the same value again changes
 * nothing. */
static loci_status former_after(lc_tx *tx, const lc_event *event, const lc_signal *next,
                                lc_arena *arena, loci_str *out, loci_error *err)
{
    lc_rows rows = {0};
    loci_str value = {0}, former = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &values_sql,
                                    (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                               LC_T(next->key), LC_T(next->persona_id)},
                                    &rows, &found, err);

    *out = LC_STR("[]");
    if (status != LOCI_OK || !found)
        return status;
    value = lc_arena_copy(arena, lc_rows_str(&rows, 0));
    former = lc_arena_copy(arena, lc_rows_str(&rows, 1));
    lc_rows_end(&rows);
    if (value.ptr == NULL || former.ptr == NULL)
        return lc_fail_memory(err);
    if (lc_str_eq(value, next->value)) {
        *out = former;
        return LOCI_OK;
    }
    return push_former(arena, value, former, out, err);
}

static loci_status apply_signal(lc_tx *tx, const lc_event *event, lc_arena *arena, loci_error *err)
{
    lc_event_json json;
    lc_signal next = {0};
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = lc_event_raw(json.payload, "value", arena, &next.value, err);
    if (status != LOCI_OK || event->is_erased)
        return status;
    if (next.value.ptr == NULL)
        return lc_event_fail(event, err);
    next.key = or_empty(lc_event_str(json.payload, "key"));
    next.persona_id = or_empty(lc_event_str(json.payload, "persona_id"));
    next.observed_at = lc_event_time(json.payload, "observed_at", event->recorded_at);
    status = former_after(tx, event, &next, arena, &next.former, err);
    if (status != LOCI_OK)
        return status;
    return lc_tx_exec(tx, &put_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(next.key),
                                 LC_T(next.persona_id), LC_T(next.value), LC_I(next.observed_at),
                                 LC_I(event->recorded_at), LC_T(next.former)},
                      err);
}

static loci_status apply(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    loci_status status = apply_signal(tx, event, arena, err);

    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_environment_event = {"environment.set", 1, NULL, apply, NULL};

static loci_status find_time(lc_tx *tx, const lc_signal *signal, bool *found, int64_t *out,
                             loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(tx, &own_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(signal->key),
                                               LC_T(or_empty(signal->persona_id))},
                                    &rows, found, err);

    if (status == LOCI_OK && *found)
        *out = lc_rows_i64(&rows, 0);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_environment_set(lc_tx *tx, const lc_signal *signal, bool *is_late, loci_error *err)
{
    int64_t seen_at = signal->observed_at == LOCI_AT_CLOCK ? tx->now_us : signal->observed_at;
    int64_t standing_at = 0;
    lc_json_writer out;
    lc_buf payload;
    bool found = false;
    loci_status status = find_time(tx, signal, &found, &standing_at, err);

    *is_late = found && standing_at > seen_at;
    if (status != LOCI_OK || *is_late)
        return status;
    lc_buf_init(&payload, &tx->db->env->heap, LOCI_MEM_WAL, LC_EVENT_BYTES_MAX);
    lc_jw_init(&out, &payload);
    lc_jw_object(&out);
    lc_jw_member_str(&out, "key", signal->key);
    lc_jw_member_raw(&out, "value", signal->value);
    if (signal->persona_id.len > 0)
        lc_jw_member_str(&out, "persona_id", signal->persona_id);
    lc_jw_member_time(&out, "observed_at", seen_at);
    lc_jw_end(&out);
    status = lc_buf_status(&payload, err);
    if (status == LOCI_OK)
        status = lc_event_append(
            tx, &(lc_append){.type = &lc_environment_event, .payload = lc_buf_str(&payload)}, NULL,
            err);
    lc_buf_clear(&payload);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static lc_signal from_row(const lc_rows *rows)
{
    return (lc_signal){
        .key = lc_rows_str(rows, 0),
        .value = lc_rows_str(rows, 1),
        .persona_id = lc_rows_str(rows, 2),
        .observed_at = lc_rows_i64(rows, 3),
        .recorded_at = lc_rows_i64(rows, 4),
        .former = lc_rows_str(rows, 5),
    };
}

/* What the domain clock says when no connector does. */
static loci_status tell_time(lc_tx *tx, loci_str key, lc_arena *arena, lc_signal *out,
                             loci_error *err)
{
    char text[LC_TIME_BYTES_MAX + 2];
    size_t bytes;

    if (!lc_str_is(key, "current_time") && !lc_str_is(key, "current_date"))
        return lc_fail(err, LOCI_ENOTFOUND, "no signal %.*s", LC_STR_ARG(key));
    text[0] = '"';
    bytes = 1 + lc_time_format(tx->now_us, text + 1);
    if (lc_str_is(key, "current_date"))
        bytes = 1 + sizeof "2026-11-15" - 1;
    text[bytes++] = '"';
    *out = (lc_signal){.key = lc_arena_copy(arena, key),
                       .value = lc_arena_copy(arena, (loci_str){text, bytes}),
                       .persona_id = LC_STR(""),
                       .observed_at = tx->now_us,
                       .recorded_at = tx->now_us,
                       .former = LC_STR("[]")};
    return out->key.ptr != NULL && out->value.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_environment_load(lc_tx *tx, loci_str persona_id, loci_str key, lc_arena *arena,
                                lc_signal *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(
        tx, &find_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key), LC_T(or_empty(persona_id))},
        &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found)
        return tell_time(tx, key, arena, out, err);
    *out = from_row(&rows);
    out->key = lc_arena_copy(arena, out->key);
    out->value = lc_arena_copy(arena, out->value);
    out->persona_id = lc_arena_copy(arena, out->persona_id);
    out->former = lc_arena_copy(arena, out->former);
    lc_rows_end(&rows);
    if (out->key.ptr == NULL || out->value.ptr == NULL || out->persona_id.ptr == NULL ||
        out->former.ptr == NULL)
        return lc_fail_memory(err);
    return LOCI_OK;
}

loci_status lc_environment_each(lc_tx *tx, loci_str persona_id, lc_signal_visit *visit, void *ctx,
                                loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &each_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(or_empty(persona_id))}, &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_signal signal = from_row(&rows);

        status = visit(ctx, &signal, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}
