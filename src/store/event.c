/* event.c - appending, applying and reading the log.
 *
 * The head of a user is read once and written once per transaction, for any number of events and
 * bodies of the same user. Invariants: seqs of a user have no gaps; recorded_at never falls; the
 * row in `heads` equals the last event whenever a transaction has committed.
 */
#include "store/event.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "store/row.h"
#include "store/snapshot.h"
#include "store/tenant.h"

#define ORDINAL_MAX 255
#define CLIENT "\"client\":" /* The member of refs; its value is an object. */
#define SOURCE "\"message_id\":"

static const lc_sql head_sql = {
    "select seq, recorded_at, objects from heads where tenant_id = $1 and user_id = $2", "tt",
    "iii"};

static const lc_sql head_write_sql = {
    "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
    " values ($1, $2, $3, $4, $5, 0) on conflict (tenant_id, user_id)"
    " do update set seq = excluded.seq, recorded_at = excluded.recorded_at,"
    " objects = excluded.objects",
    "ttiii", NULL};

static const lc_sql append_sql = {
    "insert into events (tenant_id, user_id, seq, type, v, recorded_at, refs, payload, is_erased)"
    " values ($1, $2, $3, $4, $5, $6, $7, $8, 0)",
    "ttitiitt", NULL};

static const lc_sql range_sql = {
    "select seq, type, v, recorded_at, refs, payload, is_erased from events"
    " where tenant_id = $1 and user_id = $2 and seq > $3 order by seq limit $4",
    "ttii", "itiitti"};

static const lc_sql refs_sql = {
    "select refs from events where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "t"};

static const lc_sql recorded_sql = {
    "select recorded_at from events where tenant_id = $1 and user_id = $2 and seq = $3", "tti",
    "i"};

static const lc_sql erase_sql = {"update events set payload = '', is_erased = 1"
                                 " where tenant_id = $1 and user_id = $2 and seq = $3",
                                 "tti", NULL};

static const lc_sql erase_all_sql = {"update events set payload = '', is_erased = 1"
                                     " where tenant_id = $1 and user_id = $2 and is_erased = 0",
                                     "tt", NULL};

static const lc_sql note_forgetting_sql = {
    "insert into forgettings (tenant_id, user_id, seq, type, recorded_at, scope)"
    " values ($1, $2, $3, $4, $5, $6)",
    "ttitit", NULL};

static const lc_sql forgotten_sql = {
    "select max(seq) from forgettings where tenant_id = $1 and user_id = $2 and scope in ('', $3)",
    "ttt", "i"};

static const lc_sql users_sql = {
    "select tenant_id, user_id, seq, recorded_at, objects from heads"
    " where (tenant_id, user_id) > ($1, $2) order by tenant_id, user_id limit $3",
    "tti", "ttiii"};

static loci_status load_head(lc_tx *tx, loci_error *err)
{
    int64_t head[3] = {0};
    loci_status status;

    if (tx->has_head)
        return LOCI_OK;
    status = lc_tx_find_numbers(tx, &head_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id)},
                                head, err);
    if (status != LOCI_OK)
        return status;
    tx->head = (lc_head){.seq = head[0], .recorded_at = head[1], .objects = head[2]};
    tx->has_head = true;
    tx->head_is_dirty = false;
    return LOCI_OK;
}

loci_status lc_tx_flush_head(lc_tx *tx, loci_error *err)
{
    loci_status status;

    if (!tx->has_head || !tx->head_is_dirty)
        return LOCI_OK;
    status = lc_tx_exec(tx, &head_write_sql,
                        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(tx->head.seq),
                                   LC_I(tx->head.recorded_at), LC_I(tx->head.objects)},
                        err);
    if (status == LOCI_OK)
        tx->head_is_dirty = false;
    return status;
}

loci_status lc_tx_head(lc_tx *tx, lc_head *out, loci_error *err)
{
    loci_status status = load_head(tx, err);

    if (status == LOCI_OK)
        *out = tx->head;
    return status;
}

loci_status lc_tx_expect_seq(lc_tx *tx, int64_t expected_seq, loci_error *err)
{
    loci_status status = load_head(tx, err);
    char data[64];

    if (status != LOCI_OK || tx->head.seq == expected_seq)
        return status;
    status = lc_fail(
        err, LOCI_ECONFLICT,
        "expected_seq is %lld, but the user's last event is %lld; read again and retry",
        (long long)expected_seq, (long long)tx->head.seq);
    (void)snprintf(data, sizeof data, "{\"head_seq\":%lld}", (long long)tx->head.seq);
    lc_error_set_data(err, loci_str_of(data));
    return status;
}

/* 32 bits that differ between stores and users, so that ids of different users do not collide. */
static uint32_t mark_of(const lc_tx *tx)
{
    lc_hash128 hash = lc_hash128_of(loci_str_of(tx->db->store_id));

    hash = lc_hash128_chain(hash, tx->tenant_id);
    hash = lc_hash128_chain(hash, tx->user_id);
    return (uint32_t)hash.low;
}

loci_status lc_tx_recorded_at(lc_tx *tx, int64_t *out, loci_error *err)
{
    loci_status status = load_head(tx, err);

    if (status != LOCI_OK)
        return status;
    /* The first event may be before 1970: a head without events sets no lower bound. */
    *out = tx->head.seq == 0 || tx->now_us > tx->head.recorded_at ? tx->now_us
                                                                  : tx->head.recorded_at;
    return LOCI_OK;
}

loci_status lc_tx_make_id(lc_tx *tx, const char *prefix, lc_id *out, loci_error *err)
{
    int64_t recorded_at = 0;
    loci_status status = lc_tx_recorded_at(tx, &recorded_at, err);

    if (status != LOCI_OK)
        return status;
    if (tx->head.seq >= LC_ID_SEQ_MAX || tx->ordinal > ORDINAL_MAX)
        return lc_fail(err, LOCI_ELIMIT, "one event can make at most %d ids", ORDINAL_MAX + 1);
    *out = lc_id_make(prefix, &(lc_id_parts){.ms = recorded_at / 1000,
                                             .seq = tx->head.seq + 1,
                                             .ordinal = tx->ordinal++,
                                             .mark = mark_of(tx)});
    return LOCI_OK;
}

loci_status lc_tx_make_object_id(lc_tx *tx, const char *prefix, lc_id *out, loci_error *err)
{
    loci_status status = load_head(tx, err);

    if (status != LOCI_OK)
        return status;
    if (tx->head.objects >= LC_ID_SEQ_MAX)
        return lc_fail(err, LOCI_ELIMIT, "no ids are left for this user");
    tx->head.objects++;
    tx->head_is_dirty = true;
    tx->wrote = true;
    *out = lc_id_make(
        prefix,
        &(lc_id_parts){.ms = tx->now_us / 1000, .seq = tx->head.objects, .mark = mark_of(tx)});
    return LOCI_OK;
}

static loci_str or_empty_object(loci_str json)
{
    return json.len == 0 ? LC_STR("{}") : json;
}

/* Applies the event to the tables: first the changes carried in its refs, then its own. */
static loci_status apply(lc_tx *tx, const lc_event *event, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_room *const *room = tx->db->catalogue->rooms; status == LOCI_OK && *room != NULL;
         room++) {
        if ((*room)->follow != NULL)
            status = (*room)->follow(tx, event, err);
    }
    if (status == LOCI_OK)
        status = event->type->apply != NULL ? event->type->apply(tx, event, err)
                                            : lc_row_apply(tx, event, err);
    if (status == LOCI_OK && (event->type->forgets || event->type->revives != NULL))
        status = lc_tx_exec(
            tx, &note_forgetting_sql,
            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(event->seq),
                       LC_T(loci_str_of(event->type->name)), LC_I(event->recorded_at),
                       LC_T(event->type->revives != NULL ? loci_str_of(event->type->revives)
                                                         : LC_STR(""))},
            err);
    return status;
}

/* `refs` with the members `lead` + `carried` before its own, in the connection's scratch memory. */
static loci_status carry(lc_tx *tx, loci_str lead, loci_str carried, loci_str *refs,
                         loci_error *err)
{
    size_t before = 1 + lead.len + carried.len;
    size_t bytes = refs->len + before;
    char *text = lc_arena_alloc(&tx->db->scratch, bytes);

    if (text == NULL)
        return lc_fail_memory(err);
    text[0] = '{';
    memcpy(text + 1, lead.ptr, lead.len);
    memcpy(text + 1 + lead.len, carried.ptr, carried.len);
    text[before] = ',';
    memcpy(text + before + 1, refs->ptr + 1, refs->len - 1);
    if (refs->len == 2) { /* {}: no comma. */
        text[before] = '}';
        bytes--;
    }
    *refs = (loci_str){text, bytes};
    return LOCI_OK;
}

static loci_status append_event(lc_tx *tx, const lc_append *append, int64_t *out_seq,
                                loci_error *err)
{
    lc_event event = {
        .tenant_id = tx->tenant_id,
        .user_id = tx->user_id,
        .type = append->type,
        .version = append->type->version,
        .refs = or_empty_object(append->refs),
        .payload = or_empty_object(append->payload),
        .decoded = append->decoded,
    };
    loci_status status = LOCI_OK;

    LC_ASSERT(tx->user_id.len > 0); /* The store itself has no events. */
    if (tx->client.len > 0)
        status = carry(tx, LC_STR(CLIENT), tx->client, &event.refs, err);
    if (status == LOCI_OK && tx->source.len > 0)
        status = carry(tx, LC_STR(SOURCE), tx->source, &event.refs, err);
    if (status == LOCI_OK && tx->carried.len > 0)
        status = carry(tx, LC_STR(""), tx->carried, &event.refs, err);
    tx->carried = LC_STR_NONE;
    if (status != LOCI_OK)
        return status;
    if (event.refs.len + event.payload.len > LC_EVENT_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "%s of %zu bytes: an event holds at most %u",
                       event.type->name, event.refs.len + event.payload.len, LC_EVENT_BYTES_MAX);
    status = lc_tx_recorded_at(tx, &event.recorded_at, err);
    if (status != LOCI_OK)
        return status;
    if (tx->head.seq >= LC_ID_SEQ_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the log of this user is full");
    event.seq = tx->head.seq + 1;

    status = lc_tx_exec(tx, &append_sql,
                        (lc_arg[]){LC_T(event.tenant_id), LC_T(event.user_id), LC_I(event.seq),
                                   LC_T(loci_str_of(event.type->name)), LC_I(event.version),
                                   LC_I(event.recorded_at), LC_T(event.refs), LC_T(event.payload)},
                        err);
    if (status != LOCI_OK)
        return status;
    tx->head.seq = event.seq;
    tx->head.recorded_at = event.recorded_at;
    tx->head_is_dirty = true;
    tx->ordinal = 0;
    status = apply(tx, &event, err);
    if (status == LOCI_OK && out_seq != NULL)
        *out_seq = event.seq;
    return status;
}

loci_status lc_event_append(lc_tx *tx, const lc_append *append, int64_t *out_seq, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(&tx->db->scratch);
    loci_status status = lc_tenant_check_open(tx, err);

    if (status == LOCI_OK)
        status = append_event(tx, append, out_seq, err);
    lc_arena_rewind(&tx->db->scratch, mark);
    return status;
}

bool lc_event_names(const lc_event *event, loci_str id)
{
    loci_str rest = event->refs;
    const char *at;

    /* Refs hold no text of users, so an id between quotation marks is a whole value. */
    while ((at = memmem(rest.ptr, rest.len, id.ptr, id.len)) != NULL) {
        const char *end = at + id.len;

        if (at > event->refs.ptr && at[-1] == '"' && end < rest.ptr + rest.len && *end == '"')
            return true;
        rest = (loci_str){end, (size_t)(rest.ptr + rest.len - end)};
    }
    return false;
}

loci_status lc_event_client_of(loci_str refs, lc_arena *arena, loci_str *out, loci_error *err)
{
    const lc_json *json;
    loci_status status;

    *out = LC_STR_NONE;
    if (refs.len == 0 || memmem(refs.ptr, refs.len, CLIENT "{", sizeof CLIENT) == NULL)
        return LOCI_OK; /* Events of unknown clients need no parsing. */
    status = lc_json_parse(arena, refs, 0, &json, err);
    if (status == LOCI_EINVAL)
        return lc_fail(err, LOCI_ECORRUPT, "the refs of an event are not JSON");
    return status == LOCI_OK ? lc_event_raw(json, "client", arena, out, err) : status;
}

loci_status lc_event_find_client(lc_tx *tx, int64_t seq, lc_arena *arena, loci_str *out,
                                 loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &refs_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(seq)},
                                    &rows, &found, err);

    *out = LC_STR_NONE;
    if (status == LOCI_OK && found)
        status = lc_event_client_of(lc_rows_str(&rows, 0), arena, out, err);
    lc_rows_end(&rows);
    return status;
}

/* Event types come in runs; looking up the last one again is the common case. */
static loci_status find_type(lc_tx *tx, lc_event *event, loci_str name, loci_error *err)
{
    if (event->type != NULL && lc_str_is(name, event->type->name))
        return LOCI_OK;
    event->type = lc_catalogue_find_event(tx->db->catalogue, name);
    if (event->type == NULL)
        return lc_fail(
            err, LOCI_EUNSUPPORTED,
            "event %lld has the type %.*s, which this loci does not know; use a newer one",
            (long long)event->seq, LC_STR_ARG(name));
    return LOCI_OK;
}

static loci_status read_event(lc_tx *tx, const lc_rows *rows, lc_event *event, loci_error *err)
{
    loci_status status;

    event->seq = lc_rows_i64(rows, 0);
    status = find_type(tx, event, lc_rows_str(rows, 1), err);
    if (status != LOCI_OK)
        return status;
    event->version = (int)lc_rows_i64(rows, 2);
    event->recorded_at = lc_rows_i64(rows, 3);
    event->refs = lc_rows_str(rows, 4);
    event->payload = lc_rows_str(rows, 5);
    event->is_erased = lc_rows_i64(rows, 6) != 0;
    if (event->version > event->type->version)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "event %lld is %s version %d; this loci knows up to %d: use a newer one",
                       (long long)event->seq, event->type->name, event->version,
                       event->type->version);
    if (event->version < 1)
        return lc_fail(err, LOCI_ECORRUPT, "event %lld has version %d", (long long)event->seq,
                       event->version);
    return LOCI_OK;
}

loci_status lc_event_each(lc_tx *tx, const lc_event_range *range, lc_event_visit *visit, void *ctx,
                          loci_error *err)
{
    lc_event event = {.tenant_id = range->tenant_id, .user_id = range->user_id};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &range_sql,
                                     (lc_arg[]){LC_T(range->tenant_id), LC_T(range->user_id),
                                                LC_I(range->after_seq), LC_I(range->limit)},
                                     &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        status = read_event(tx, &rows, &event, err);
        if (status == LOCI_OK)
            status = visit(ctx, &event, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

/* Raises the payload version by version. The result of one step is the input of the next, and a
 * growing buffer moves: so the steps alternate between `scratch` and a spare buffer. */
static loci_status upcast(lc_event *event, lc_buf *scratch, loci_error *err)
{
    lc_buf spare = *scratch;
    loci_status status = LOCI_OK;

    spare.ptr = NULL;
    spare.len = spare.capacity_bytes = 0;
    while (status == LOCI_OK && event->version < event->type->version) {
        lc_buf swap = spare;

        lc_buf_reset(&swap);
        status = event->type->upcasts[event->version - 1](event->payload, &swap, err);
        if (status == LOCI_OK)
            status = lc_buf_status(&swap, err);
        spare = *scratch;
        *scratch = swap;
        event->payload = lc_buf_str(scratch);
        event->version++;
    }
    lc_buf_clear(&spare);
    return status;
}

loci_status lc_event_apply(lc_tx *tx, const lc_event *event, lc_buf *scratch, loci_error *err)
{
    lc_event current = *event;
    loci_status status = LOCI_OK;

    if (current.version < current.type->version && !current.is_erased)
        status = upcast(&current, scratch, err);
    if (status == LOCI_OK)
        status = apply(tx, &current, err);
    return status;
}

/* The payload without its hidden bytes (lc_event_type.hidden_bytes). */
static void write_payload(lc_json_writer *out, const lc_event *event)
{
    size_t hidden = event->type->hidden_bytes != NULL ? event->type->hidden_bytes(event) : 0;

    lc_jw_member_raw(
        out, "payload",
        (loci_str){event->payload.ptr, event->payload.len - (hidden > 0 ? hidden + 1 : 0)});
    if (hidden > 0)
        lc_buf_append(out->buf, LC_STR("}"));
}

void lc_event_write(lc_json_writer *out, const lc_event *event)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "user_id", event->user_id);
    lc_jw_member_int(out, "seq", event->seq);
    lc_jw_member_text(out, "type", event->type->name);
    lc_jw_member_int(out, "v", event->version);
    lc_jw_member_time(out, "recorded_at", event->recorded_at);
    lc_jw_member_raw(out, "refs", event->refs);
    if (!event->is_erased && event->type->is_restricted != NULL &&
        event->type->is_restricted(event))
        lc_jw_member_bool(out, "restricted", true);
    else if (!event->is_erased)
        write_payload(out, event);
    if (event->is_erased) {
        lc_jw_member_null(out, "payload");
        lc_jw_member_bool(out, "erased", true);
    }
    lc_jw_end(out);
}

loci_status lc_user_each(lc_tx *tx, loci_str after_tenant, loci_str after_user, int64_t limit,
                         lc_user_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &users_sql, (lc_arg[]){LC_T(after_tenant), LC_T(after_user), LC_I(limit)}, &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_user_head user = {
            .tenant_id = lc_rows_str(&rows, 0),
            .user_id = lc_rows_str(&rows, 1),
            .head = {.seq = lc_rows_i64(&rows, 2),
                     .recorded_at = lc_rows_i64(&rows, 3),
                     .objects = lc_rows_i64(&rows, 4)},
        };

        status = visit(ctx, &user, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

/* Where the search begins: the last event that a snapshot replaced, whose time seq 0 has. */
static loci_status find_start(lc_tx *tx, int64_t until_us, int64_t *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(0)};
    int64_t recorded_at = INT64_MIN;
    loci_status status = lc_snapshot_base(tx, tx->tenant_id, tx->user_id, out, err);

    if (status == LOCI_OK && *out > 0)
        status = lc_tx_find_numbers(tx, &recorded_sql, args, &recorded_at, err);
    return status == LOCI_OK && recorded_at > until_us
               ? lc_snapshot_refuse(tx, 0, LOCI_EINVAL, "there is no state of that time", err)
               : status;
}

/* Times never fall, so this is a search by halves. */
loci_status lc_event_find_seq(lc_tx *tx, int64_t until_us, int64_t *out, loci_error *err)
{
    int64_t low = 0, high; /* Event `low` is not later, event `high` + 1 is. */
    loci_status status = load_head(tx, err);

    if (status == LOCI_OK)
        status = find_start(tx, until_us, &low, err);
    high = status != LOCI_OK ? low : tx->head.seq;
    if (high > 0 && tx->head.recorded_at <= until_us)
        low = high;
    while (status == LOCI_OK && low < high) {
        int64_t middle = low + (high - low + 1) / 2, recorded_at = INT64_MIN;

        status = lc_tx_find_numbers(
            tx, &recorded_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(middle)},
            &recorded_at, err);
        if (recorded_at <= until_us)
            low = middle;
        else
            high = middle - 1;
    }
    if (status == LOCI_OK)
        *out = low;
    return status;
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

loci_status lc_event_erase(lc_tx *tx, int64_t seq, loci_error *err)
{
    /* A snapshot may have replaced it. */
    return lc_tx_exec(tx, &erase_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(seq)},
                      err);
}

loci_status lc_event_erase_all(lc_tx *tx, loci_error *err)
{
    return lc_tx_exec(tx, &erase_all_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id)}, err);
}

loci_status lc_tx_forgotten_seq(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_str scope,
                                int64_t *out, loci_error *err)
{
    *out = 0;
    return lc_tx_find_numbers(tx, &forgotten_sql,
                              (lc_arg[]){LC_T(tenant_id), LC_T(user_id), LC_T_OR_EMPTY(scope)}, out,
                              err);
}

/* ---- Drafts ---------------------------------------------------------------------------------- */

void lc_event_draft_begin(lc_event_draft *draft, lc_tx *tx)
{
    lc_buf_init(&draft->refs_text, &tx->db->env->heap, LOCI_MEM_WAL, LC_EVENT_BYTES_MAX);
    lc_buf_init(&draft->payload_text, &tx->db->env->heap, LOCI_MEM_WAL, LC_EVENT_BYTES_MAX);
    lc_jw_init(&draft->refs, &draft->refs_text);
    lc_jw_init(&draft->payload, &draft->payload_text);
    lc_jw_object(&draft->refs);
    lc_jw_object(&draft->payload);
}

loci_status lc_event_draft_append(lc_event_draft *draft, lc_tx *tx, const lc_append *what,
                                  int64_t *out_seq, loci_error *err)
{
    lc_append whole = *what;
    loci_status status;

    lc_jw_end(&draft->refs);
    lc_jw_end(&draft->payload);
    whole.refs = lc_buf_str(&draft->refs_text);
    whole.payload = lc_buf_str(&draft->payload_text);
    status = lc_buf_status(&draft->refs_text, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&draft->payload_text, err);
    if (status == LOCI_OK)
        status = lc_event_append(tx, &whole, out_seq, err);
    lc_buf_clear(&draft->payload_text);
    lc_buf_clear(&draft->refs_text);
    return status;
}

/* ---- The JSON of events ---------------------------------------------------------------------- */

loci_status lc_event_fail(const lc_event *event, loci_error *err)
{
    return lc_fail(err, LOCI_ECORRUPT, "event %lld (%s) cannot be read", (long long)event->seq,
                   event->type->name);
}

static loci_status parse_object(const lc_event *event, loci_str text, lc_arena *arena,
                                const lc_json **out, loci_error *err)
{
    loci_status status = lc_json_parse(arena, text, 0, out, err);

    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || lc_json_kind_of(*out) != LC_JSON_OBJECT)
        return lc_event_fail(event, err);
    return LOCI_OK;
}

loci_status lc_event_parse(const lc_event *event, lc_arena *arena, lc_event_json *out,
                           loci_error *err)
{
    loci_str payload = event->is_erased ? LC_STR("{}") : event->payload;
    loci_status status = parse_object(event, event->refs, arena, &out->refs, err);

    if (status == LOCI_OK)
        status = parse_object(event, payload, arena, &out->payload, err);
    return status;
}

loci_str lc_event_str(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_STRING);

    return member != NULL ? lc_json_str(member) : LC_STR_NONE;
}

int64_t lc_event_int(const lc_json *object, const char *name, int64_t absent)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_INT);

    return member != NULL ? lc_json_int(member) : absent;
}

bool lc_event_bool(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_BOOL);

    return member != NULL && lc_json_bool(member);
}

int64_t lc_event_time(const lc_json *object, const char *name, int64_t absent)
{
    int64_t us;

    return lc_time_parse(lc_event_str(object, name), &us) ? us : absent;
}

loci_status lc_event_raw(const lc_json *object, const char *name, lc_arena *arena, loci_str *out,
                         loci_error *err)
{
    const lc_json *member = lc_json_member(object, loci_str_of(name));
    lc_json_writer writer;
    lc_buf text;
    loci_status status;

    *out = LC_STR_NONE;
    if (member == NULL)
        return LOCI_OK;
    lc_buf_init(&text, arena->heap, arena->category, LC_EVENT_BYTES_MAX);
    lc_jw_init(&writer, &text);
    lc_jw_value(&writer, member);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}
