/* environment.c - the event `environment.set`, its table and reading it.
 *
 * A signal that is older than the current one of its key changes nothing and is not recorded: a
 * connector that delivers late must not restore an old value. The last few values of a key are
 * kept with it, so that a statement that repeats one of them can be recognised as outdated.
 */
#include "session/environment.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"

#define FORMER_BYTES_MAX 1024 /* Maximum size of one former value. */

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_signal, key, "key", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .help = "Name of the signal"),
    LC_STRING_COLUMN(lc_signal, persona_id, "persona_id",
                     LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_ANY_COLUMN(lc_signal, value, "value", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                  .help = "Value, any JSON"),
    LC_TIME_COLUMN(lc_signal, observed_at, "observed_at",
                   LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_SINCE | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time of the observation"),
    LC_TIME_COLUMN(lc_signal, recorded_at, "recorded_at",
                   LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which loci recorded it"),
    LC_ANY_COLUMN(lc_signal, former, "former", 0, .absent = "[]"),
    {0},
};

const lc_row_type lc_signal_row = {columns, 0, sizeof(lc_signal)};

static const lc_sql forget_user_sql = {
    "delete from environment where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_environment_table = {
    .name = "environment",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, key, persona_id",
    .forget = &forget_user_sql,
};

static const lc_sql put_sql = {
    "insert into environment (tenant_id, user_id, {row}) values ($1, $2, {values})"
    " on conflict (tenant_id, user_id, key, persona_id) do update set {excluded}",
    "tt", NULL, &lc_signal_row};

#define SELECT "select {row} from environment where tenant_id = $1 and user_id = $2"

static const lc_sql own_sql = {SELECT " and key = $3 and persona_id = $4", "tttt", "",
                               &lc_signal_row};

static const lc_sql find_sql = {SELECT " and key = $3 and persona_id in ('', $4)"
                                       " order by persona_id desc limit 1",
                                "tttt", "", &lc_signal_row};

static const lc_sql each_sql = {SELECT " and persona_id in ('', $3) order by key, persona_id desc",
                                "ttt", "", &lc_signal_row};

/* The array of former values with `value` in front. A long value is left out. */
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

/* Sets the former values that `next` gets when it takes the place of the current signal of its key
 * and persona. The same value again changes nothing. */
static loci_status set_former(lc_tx *tx, const lc_event *event, lc_signal *next, lc_arena *arena,
                              loci_error *err)
{
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_T(next->key),
                           LC_T(next->persona_id)};
    lc_signal current;
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&own_sql, args}, arena, &current, &found, err);

    if (status != LOCI_OK || !found)
        return status;
    if (!lc_str_eq(current.value, next->value))
        return push_former(arena, current.value, current.former, &next->former, err);
    next->former = current.former;
    return LOCI_OK;
}

static loci_status apply_signal(lc_tx *tx, const lc_event *event, lc_arena *arena, loci_error *err)
{
    lc_arg args[2 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    lc_signal next;
    loci_status status = lc_row_decode(&lc_signal_row, event, arena, &next, err);

    if (status != LOCI_OK || event->is_erased)
        return status;
    if (next.value.ptr == NULL)
        return lc_event_fail(event, err);
    status = set_former(tx, event, &next, arena, err);
    lc_row_bind(&lc_signal_row, &next, args + 2);
    return status == LOCI_OK ? lc_tx_exec(tx, &put_sql, args, err) : status;
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

loci_status lc_environment_set(lc_tx *tx, const lc_signal *signal, bool *is_late, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(signal->key),
                           LC_T_OR_EMPTY(signal->persona_id)};
    lc_signal next = *signal, current;
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&own_sql, args}, arena, &current, &found, err);

    lc_arena_rewind(arena, mark); /* Only its time is needed. */
    if (status == LOCI_OK && next.observed_at == LOCI_AT_CLOCK)
        status = lc_tx_recorded_at(tx, &next.observed_at, err);
    if (status != LOCI_OK)
        return status;
    *is_late = found && current.observed_at > next.observed_at;
    if (*is_late)
        return LOCI_OK;
    return lc_row_append(tx, &lc_environment_event, &lc_signal_row, &next, NULL, err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The time of the domain clock, for a user without a signal of that key. */
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
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key),
                           LC_T_OR_EMPTY(persona_id)};
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&find_sql, args}, arena, out, &found, err);

    return status == LOCI_OK && !found ? tell_time(tx, key, arena, out, err) : status;
}

loci_status lc_environment_each(lc_tx *tx, loci_str persona_id, lc_signal_visit *visit, void *ctx,
                                loci_error *err)
{
    lc_rows rows;
    lc_signal signal;
    loci_status status = lc_tx_query(
        tx, &each_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id)}, &rows, err);

    while (lc_row_next(&rows, &signal, &status, err))
        status = visit(ctx, &signal, err);
    lc_rows_end(&rows);
    return status;
}
