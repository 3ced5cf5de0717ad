/* import.c - imports an export in three passes over it: check that the file is complete, check that
 * the store agrees, write.
 *
 * A complete export has its lines in this order, with settings and users in strictly ascending
 * order and no gap in the seqs of a user:
 *
 *     header  setting*  (event* head)*  end
 *
 * Lines are collected in batches; the second pass runs each batch in a snapshot, the third in a
 * write transaction, with the same code. An event that the store already has must be equal; any
 * other must be the next of its user, and the third pass writes it. So the store may be in use
 * meanwhile, and each commit leaves heads, log and projections in agreement. The events keep their
 * seq, their time and the version they were written in.
 *
 * An event that the store itself appends to an imported user, such as the end of an idle session,
 * would fork the log, and the import could be neither finished nor repeated. So the import records
 * in the store that nothing may be appended without a caller, before it compares. The record stays
 * for a week if the import is interrupted, so that it can be resumed, and for an hour after its
 * end: `loci migrate` still compares the two stores then.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/publish.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/transfer.h"
#include "store/transfer_line.h"

/* A batch of lines: other writers wait for it, all of them in a file, those of the same user on a
 * server. Between two batches they get the lock: the gap is longer than they sleep while they wait.
 */
#define LINES_MAX 200
#define GAP_US 4000

typedef struct line_order {
    bool has_header;
    bool has_end;
    bool has_open_user; /* Its head was not read yet. */
    bool has_user;      /* tenant_id and user_id are set. */
    lc_buf tenant_id;   /* The last user. */
    lc_buf user_id;
    int64_t seq; /* Of its last event, */
    int64_t recorded_at;
    int64_t part; /* The last part of its snapshot; 1 = none yet. */
    int64_t base; /* The snapshot's. */
    int64_t kept; /* The last event that was kept until there. */
    bool has_setting;
    lc_buf setting_tenant_id; /* The last setting. */
    lc_buf setting_name;
    lc_transfer_counts counts;
    lc_hash128 hash;
} line_order;

/* ---- First pass: the order of the lines ------------------------------------------------------ */

static void init_order(line_order *order, lc_heap *heap)
{
    *order = (line_order){0};
    lc_buf_init(&order->tenant_id, heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX);
    lc_buf_init(&order->user_id, heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX);
    lc_buf_init(&order->setting_tenant_id, heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX);
    lc_buf_init(&order->setting_name, heap, LOCI_MEM_REQUESTS, LC_KEY_BYTES_MAX);
}

static void clear_order(line_order *order)
{
    lc_buf_clear(&order->tenant_id);
    lc_buf_clear(&order->user_id);
    lc_buf_clear(&order->setting_tenant_id);
    lc_buf_clear(&order->setting_name);
}

static int compare_pair(const lc_buf *first, const lc_buf *second, loci_str a, loci_str b)
{
    int by_first = lc_str_compare(lc_buf_str(first), a);

    return by_first != 0 ? by_first : lc_str_compare(lc_buf_str(second), b);
}

static loci_status set_pair(lc_buf *first, lc_buf *second, const loci_str to[2], loci_error *err)
{
    loci_status status;

    lc_buf_reset(first);
    lc_buf_reset(second);
    lc_buf_append(first, to[0]);
    lc_buf_append(second, to[1]);
    status = lc_buf_status(first, err);
    return status != LOCI_OK ? status : lc_buf_status(second, err);
}

static loci_status order_header(line_order *order, const lc_line *line, loci_error *err)
{
    if (order->has_header)
        return lc_fail(err, LOCI_EINVAL, "a second header");
    if (line->schema_version > LC_SCHEMA_VERSION)
        return lc_fail(
            err, LOCI_EUNSUPPORTED,
            "the store had schema version %lld, this loci knows up to %d: use a newer one",
            (long long)line->schema_version, LC_SCHEMA_VERSION);
    order->has_header = true;
    return LOCI_OK;
}

static loci_status order_setting(line_order *order, const lc_line *line, loci_error *err)
{
    const lc_setting_row *row = &line->setting;

    if (order->has_user)
        return lc_fail(err, LOCI_EINVAL, "a setting behind the users");
    if (order->has_setting && compare_pair(&order->setting_tenant_id, &order->setting_name,
                                           row->tenant_id, row->name) >= 0)
        return lc_fail(err, LOCI_EINVAL, "a setting out of order");
    order->has_setting = true;
    order->counts.settings++;
    return set_pair(&order->setting_tenant_id, &order->setting_name,
                    (loci_str[]){row->tenant_id, row->name}, err);
}

/* Makes the user of the line the current one. */
static loci_status order_user(line_order *order, const lc_event *owner, loci_error *err)
{
    int turn = order->has_user ? compare_pair(&order->tenant_id, &order->user_id, owner->tenant_id,
                                              owner->user_id)
                               : -1;

    if (turn == 0 && order->has_open_user)
        return LOCI_OK;
    if (order->has_open_user)
        return lc_fail(err, LOCI_EINVAL, "the user before it has no head");
    if (turn >= 0)
        return lc_fail(err, LOCI_EINVAL, "a user out of order");
    order->has_user = order->has_open_user = true;
    order->seq = order->base = order->kept = 0;
    order->part = 1;
    order->recorded_at = INT64_MIN;
    order->counts.users++;
    return set_pair(&order->tenant_id, &order->user_id,
                    (loci_str[]){owner->tenant_id, owner->user_id}, err);
}

/* Parts of a snapshot: the last one has seq 0. */
static loci_status order_part(line_order *order, const lc_event *event, loci_error *err)
{
    int64_t base = lc_snapshot_base_of(event);
    int64_t next = order->part == 1 ? 1 - lc_snapshot_count_of(event) : order->part + 1;

    if (event->type != &lc_snapshot_event || event->is_erased || base <= 0 || order->seq > 0 ||
        event->seq != next || (order->part < 1 && base != order->base))
        return lc_fail(err, LOCI_EINVAL, "event %lld is not the next part of a snapshot",
                       (long long)event->seq);
    order->part = event->seq;
    order->base = base;
    order->recorded_at = event->recorded_at;
    if (event->seq == 0)
        order->seq = base;
    return LOCI_OK;
}

static loci_status order_event(line_order *order, const lc_event *event, loci_error *err)
{
    loci_status status = order_user(order, event, err);

    if (status != LOCI_OK)
        return status;
    order->counts.events++;
    if (event->seq <= 0)
        return order_part(order, event, err);
    if (event->seq <= order->base && event->type->is_kept && event->seq > order->kept &&
        order->part == 0) {
        order->kept = event->seq;
        return LOCI_OK;
    }
    if (event->seq != order->seq + 1 || event->type == &lc_snapshot_event)
        return lc_fail(err, LOCI_EINVAL, "expected event %lld, found %lld",
                       (long long)order->seq + 1, (long long)event->seq);
    if (event->recorded_at < order->recorded_at)
        return lc_fail(err, LOCI_EINVAL, "event %lld is recorded before the one in front of it",
                       (long long)event->seq);
    order->seq = event->seq;
    order->recorded_at = event->recorded_at;
    return LOCI_OK;
}

static loci_status order_head(line_order *order, const lc_line *line, loci_error *err)
{
    loci_status status = order_user(order, &line->event, err);

    if (status != LOCI_OK)
        return status;
    if (line->head.seq != order->seq ||
        (order->seq > 0 && line->head.recorded_at != order->recorded_at))
        return lc_fail(err, LOCI_EINVAL, "the head is not that of event %lld",
                       (long long)order->seq);
    order->has_open_user = false;
    return LOCI_OK;
}

static loci_status order_end(line_order *order, const lc_line *line, loci_error *err)
{
    char hash[LC_HASH_TEXT_BYTES];

    if (order->has_open_user)
        return lc_fail(err, LOCI_EINVAL, "the user before it has no head");
    if (line->counts.events != order->counts.events || line->counts.users != order->counts.users ||
        line->counts.settings != order->counts.settings)
        return lc_fail(err, LOCI_EINVAL,
                       "lines are missing or too many: it counts %lld events, %lld "
                       "users and %lld settings, but there are %lld, %lld and %lld",
                       (long long)line->counts.events, (long long)line->counts.users,
                       (long long)line->counts.settings, (long long)order->counts.events,
                       (long long)order->counts.users, (long long)order->counts.settings);
    lc_hash128_format(order->hash, hash);
    if (strcmp(hash, line->hash) != 0)
        return lc_fail(err, LOCI_EINVAL, "the file was changed: its hash is not what it says");
    order->has_end = true;
    return LOCI_OK;
}

/* Checks the next line, whose text is `text`. LOCI_EINVAL: it cannot come here. */
static loci_status order_line(line_order *order, const lc_line *line, loci_str text,
                              loci_error *err)
{
    if (order->has_end)
        return lc_fail(err, LOCI_EINVAL, "there is something behind the end");
    if (!order->has_header && line->kind != LC_LINE_HEADER)
        return lc_fail(err, LOCI_EINVAL, "it does not begin with a header, so it is no export");
    if (line->kind == LC_LINE_HEADER)
        return order_header(order, line, err);
    if (line->kind == LC_LINE_END)
        return order_end(order, line, err);
    order->hash = lc_hash128_chain(order->hash, text);
    switch (line->kind) {
    case LC_LINE_SETTING:
        return order_setting(order, line, err);
    case LC_LINE_EVENT:
        return order_event(order, &line->event, err);
    default:
        return order_head(order, line, err);
    }
}

typedef struct check {
    const lc_catalogue *catalogue;
    line_order order;
    lc_arena arena;
    lc_buf line;
    int64_t number;
} check;

static loci_status check_line(check *c, loci_error *err)
{
    loci_str text = {c->line.ptr != NULL ? c->line.ptr : "", c->line.len};
    loci_error cause;
    lc_line line;
    loci_status status = lc_line_read(c->catalogue, &c->arena, text, &line, &cause);

    c->number++;
    if (status == LOCI_OK)
        status = order_line(&c->order, &line, text, &cause);
    lc_arena_clear(&c->arena);
    if (status == LOCI_OK)
        return LOCI_OK;
    return lc_fail(err, status, "line %lld: %s", (long long)c->number,
                   lc_json_reason_in_line(cause.message));
}

static loci_status check_lines(check *c, const lc_import_source *source, loci_error *err)
{
    loci_status status = LOCI_OK;
    bool found = true;

    while (status == LOCI_OK) {
        status = source->next(source->ctx, &c->line, &found, err);
        if (status != LOCI_OK || !found)
            break;
        status = check_line(c, err);
    }
    if (status == LOCI_OK && !c->order.has_end)
        status = lc_fail(err, LOCI_EINVAL, "line %lld: the file is cut off, its end is missing",
                         (long long)c->number + 1);
    if (status == LOCI_OK)
        status = source->rewind(source->ctx, err);
    return status;
}

loci_status lc_import_check(const lc_catalogue *catalogue, lc_heap *heap,
                            const lc_import_source *source, lc_transfer_counts *out,
                            loci_error *err)
{
    check c = {.catalogue = catalogue};
    loci_status status;

    init_order(&c.order, heap);
    lc_arena_init(&c.arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&c.line, heap, LOCI_MEM_REQUESTS, LC_TRANSFER_LINE_BYTES_MAX);
    status = check_lines(&c, source, err);
    if (status == LOCI_OK)
        *out = c.order.counts;
    lc_buf_clear(&c.line);
    lc_arena_clear(&c.arena);
    clear_order(&c.order);
    return status;
}

/* ---- Second and third pass: the store -------------------------------------------------------- */

static const lc_sql head_sql = {
    "select seq, recorded_at, objects, base_seq from heads where tenant_id = $1 and user_id = $2",
    "tt", "iiii"};

static const lc_sql put_head_sql = {
    "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
    " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, user_id) do update set"
    " seq = excluded.seq, recorded_at = excluded.recorded_at, objects = excluded.objects,"
    " base_seq = excluded.base_seq",
    "ttiiii", NULL};

static const lc_sql clear_parts_sql = {
    "delete from events where tenant_id = $1 and user_id = $2 and seq <= 0", "tt", NULL};

static const lc_sql event_sql = {"select type, v, recorded_at, refs, payload, is_erased from events"
                                 " where tenant_id = $1 and user_id = $2 and seq = $3",
                                 "tti", "tiitti"};

#define EVENT_COLUMNS                                                                              \
    "events (tenant_id, user_id, seq, type, v, recorded_at, refs, payload, is_erased)"
static const lc_sql put_event_sql = {
    "insert into " EVENT_COLUMNS " values ($1, $2, $3, $4, $5, $6, $7, $8, $9)", "ttitiitti", NULL};

static const lc_sql setting_sql = {"select 1 from settings where tenant_id = $1 and name = $2",
                                   "tt", "i"};

typedef struct import {
    const lc_upkeep *upkeep;
    const lc_import_source *source;
    const char *what; /* For the progress. */
    lc_arena arena;   /* Of the batch. */
    lc_line lines[LINES_MAX];
    size_t line_count;
    const lc_event *fresh[LINES_MAX]; /* Of the batch, those that the store lacks. */
    bool is_kept[LINES_MAX];          /* Of each: its rows are in a snapshot. */
    size_t fresh_count;
    size_t bytes;
    lc_buf upcast;
    int64_t events_total;
    int64_t events_done;
    int64_t skipped;       /* By all batches that are durable, */
    int64_t batch_skipped; /* and by the last run of this one. */
} import;

/* ---- One batch against the store ------------------------------------------------------------ */

/* The current user, as the transaction sees it. */
typedef struct user {
    loci_str tenant_id;
    loci_str user_id;
    lc_head head;
    int64_t base; /* Of its snapshot; 0 = it has none. */
    bool is_loaded;
    bool is_dirty; /* The head has moved and is not written yet. */
} user;

static loci_status conflict(const user *u, int64_t seq, const char *what, loci_error *err)
{
    char label[LC_USER_LABEL_BYTES];

    lc_user_label(label, u->tenant_id, u->user_id);
    return lc_fail(err, LOCI_ECONFLICT, "user %s: event %lld %s", label, (long long)seq, what);
}

static loci_status write_head(lc_tx *tx, user *u, loci_error *err)
{
    if (!u->is_dirty)
        return LOCI_OK;
    u->is_dirty = false;
    return lc_tx_exec(tx, &put_head_sql,
                      (lc_arg[]){LC_T(u->tenant_id), LC_T(u->user_id), LC_I(u->head.seq),
                                 LC_I(u->head.recorded_at), LC_I(u->head.objects), LC_I(u->base)},
                      err);
}

static loci_status turn_to(lc_tx *tx, user *u, const lc_event *owner, loci_error *err)
{
    int64_t head[4] = {0};
    loci_status status;

    if (u->is_loaded && lc_str_eq(u->user_id, owner->user_id) &&
        lc_str_eq(u->tenant_id, owner->tenant_id))
        return LOCI_OK;
    status = write_head(tx, u, err);
    if (status != LOCI_OK)
        return status;
    *u = (user){.tenant_id = owner->tenant_id, .user_id = owner->user_id, .is_loaded = true};
    if (tx->is_write)
        status = lc_tx_lock_user(tx, u->tenant_id, u->user_id, err);
    if (status != LOCI_OK)
        return status;
    status = lc_tx_find_numbers(tx, &head_sql, (lc_arg[]){LC_T(u->tenant_id), LC_T(u->user_id)},
                                head, err);
    u->head = (lc_head){.seq = head[0], .recorded_at = head[1], .objects = head[2]};
    u->base = head[3];
    return status;
}

static bool is_same(const lc_rows *rows, const lc_event *event)
{
    return lc_str_is(lc_rows_str(rows, 0), event->type->name) &&
           lc_rows_i64(rows, 1) == event->version && lc_rows_i64(rows, 2) == event->recorded_at &&
           lc_str_eq(lc_rows_str(rows, 3), event->refs) &&
           (lc_rows_i64(rows, 5) != 0) == event->is_erased &&
           (event->is_erased || lc_str_eq(lc_rows_str(rows, 4), event->payload));
}

static loci_status compare_event(lc_tx *tx, const user *u, const lc_event *event, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(
        tx, &event_sql, (lc_arg[]){LC_T(u->tenant_id), LC_T(u->user_id), LC_I(event->seq)}, &rows,
        &found, err);

    if (status == LOCI_OK && (!found || !is_same(&rows, event)))
        status = conflict(u, event->seq, "is another one in the store", err);
    lc_rows_end(&rows);
    return status;
}

static void event_row(void *ctx, size_t row, lc_arg *out)
{
    const lc_event *event = ((const import *)ctx)->fresh[row];
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id),
                           LC_I(event->seq),       LC_T(loci_str_of(event->type->name)),
                           LC_I(event->version),   LC_I(event->recorded_at),
                           LC_T(event->refs),      LC_T(event->payload),
                           LC_I(event->is_erased)};

    memcpy(out, args, sizeof args);
}

static loci_status apply_event(lc_tx *tx, import *i, const lc_event *event, loci_error *err)
{
    loci_error cause;
    loci_status status = lc_event_apply(tx, event, &i->upcast, &cause);

    if (status != LOCI_OK && lc_status_is_about_data(status)) {
        char label[LC_USER_LABEL_BYTES];

        lc_user_label(label, event->tenant_id, event->user_id);
        return lc_fail(err, LOCI_EINVAL, "user %s: event %lld does not apply: %s", label,
                       (long long)event->seq, cause.message);
    }
    if (status != LOCI_OK && err != NULL)
        *err = cause;
    return status;
}

/* Inserts all events at once, then applies each. */
static loci_status write_events(lc_tx *tx, import *i, loci_error *err)
{
    lc_bulk bulk = {.put = &put_event_sql,
                    .into = EVENT_COLUMNS,
                    .row_count = i->fresh_count,
                    .row = event_row,
                    .ctx = i};
    loci_status status = lc_tx_put_rows(tx, &bulk, err);

    for (size_t at = 0; status == LOCI_OK && at < i->fresh_count; at++)
        status = i->is_kept[at] ? LOCI_OK : apply_event(tx, i, i->fresh[at], err);
    return status;
}

static void add_fresh(import *i, const lc_event *event, bool is_kept)
{
    i->is_kept[i->fresh_count] = is_kept;
    i->fresh[i->fresh_count++] = event;
}

/* A part of a snapshot. All of them are written again if an import was interrupted among them. */
static loci_status take_part(lc_tx *tx, import *i, user *u, const lc_event *event, loci_error *err)
{
    const lc_arg owner[] = {LC_T(u->tenant_id), LC_T(u->user_id)};
    int64_t base = lc_snapshot_base_of(event);
    loci_status status = LOCI_OK;

    if (u->head.seq > 0) {
        i->batch_skipped++;
        return u->base == base ? compare_event(tx, u, event, err)
                               : conflict(u, base, "is in the store, but not its snapshot", err);
    }
    if (!tx->is_write)
        return LOCI_OK;
    if (lc_snapshot_is_first(event))
        status = lc_tx_exec(tx, &clear_parts_sql, owner, err);
    add_fresh(i, event, false);
    if (event->seq == 0) {
        u->head.seq = u->base = base;
        u->head.recorded_at = event->recorded_at;
        u->is_dirty = true;
    }
    return status;
}

/* An event before the base of the snapshot. */
static loci_status take_kept(lc_tx *tx, import *i, const user *u, const lc_event *event,
                             loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(
        tx, &event_sql, (lc_arg[]){LC_T(u->tenant_id), LC_T(u->user_id), LC_I(event->seq)}, &rows,
        &found, err);

    lc_rows_end(&rows);
    if (status != LOCI_OK)
        return status;
    if (found || !event->type->is_kept) {
        i->batch_skipped++;
        return compare_event(tx, u, event, err);
    }
    if (tx->is_write)
        add_fresh(i, event, true);
    return LOCI_OK;
}

static loci_status take_event(lc_tx *tx, import *i, user *u, const lc_event *event, loci_error *err)
{
    loci_status status = turn_to(tx, u, event, err);

    if (status != LOCI_OK)
        return status;
    if (event->seq <= 0)
        return take_part(tx, i, u, event, err);
    if (event->seq <= u->base)
        return take_kept(tx, i, u, event, err);
    if (event->seq <= u->head.seq) {
        i->batch_skipped++;
        return compare_event(tx, u, event, err);
    }
    if (!tx->is_write)
        return LOCI_OK; /* The first pass has checked that it is the next. */
    if (event->seq != u->head.seq + 1)
        return conflict(u, u->head.seq + 1, "is missing in the store: it was changed meanwhile",
                        err);
    add_fresh(i, event, false);
    u->head.seq = event->seq;
    u->head.recorded_at = event->recorded_at;
    u->is_dirty = true;
    return LOCI_OK;
}

static loci_status take_head(lc_tx *tx, user *u, const lc_line *line, loci_error *err)
{
    loci_status status = turn_to(tx, u, &line->event, err);

    if (status != LOCI_OK)
        return status;
    if (u->head.seq > line->head.seq)
        return conflict(u, line->head.seq + 1, "and later ones are only in the store", err);
    if (!tx->is_write)
        return LOCI_OK;
    if (u->head.seq == 0)
        u->head.recorded_at = line->head.recorded_at;
    if (line->head.objects > u->head.objects) /* An id must not be made twice. */
        u->head.objects = line->head.objects;
    u->is_dirty = true;
    return write_head(tx, u, err);
}

static loci_status take_setting(lc_tx *tx, const lc_setting_row *row, loci_error *err)
{
    int64_t found = 0;
    loci_status status;

    if (!tx->is_write)
        return LOCI_OK;
    status = lc_tx_find_numbers(tx, &setting_sql, (lc_arg[]){LC_T(row->tenant_id), LC_T(row->name)},
                                &found, err);
    return status != LOCI_OK || found != 0 ? status : lc_setting_row_put(tx, row, err);
}

/* The whole batch; in a read it only compares. May be run again. */
static loci_status take_batch(lc_tx *tx, void *ctx, loci_error *err)
{
    import *i = ctx;
    user u = {0};
    loci_status status = LOCI_OK;

    i->batch_skipped = 0;
    i->fresh_count = 0;
    for (size_t at = 0; status == LOCI_OK && at < i->line_count; at++) {
        const lc_line *line = &i->lines[at];

        if (line->kind == LC_LINE_SETTING)
            status = take_setting(tx, &line->setting, err);
        else if (line->kind == LC_LINE_EVENT)
            status = take_event(tx, i, &u, &line->event, err);
        else if (line->kind == LC_LINE_HEAD)
            status = take_head(tx, &u, line, err);
    }
    if (status == LOCI_OK)
        status = write_head(tx, &u, err);
    return status == LOCI_OK && tx->is_write ? write_events(tx, i, err) : status;
}

/* ---- The hold on sweeps -----------------------------------------------------------------------
 */

#define HOLD_UNTIL "import_hold_until"
#define HOLD_AFTER_US (INT64_C(3600) * 1000000)
#define HOLD_INTERRUPTED_US (INT64_C(7) * 24 * 3600 * 1000000) /* Since it began. */

loci_status lc_tx_is_held(lc_tx *tx, bool *out, loci_error *err)
{
    int64_t until_us = 0;
    loci_status status = lc_meta_get_i64(tx, HOLD_UNTIL, INT64_MIN, &until_us, err);

    *out = tx->now_us < until_us;
    return status;
}

typedef struct hold {
    int64_t until_us;
    int64_t before_us; /* The value before. */
} hold;

/* Under the lock of the log: a sweep that saw no hold has committed before, so the import compares
 * with its events, too. */
static loci_status set_hold(lc_tx *tx, void *ctx, loci_error *err)
{
    hold *h = ctx;
    loci_status status = lc_tx_lock_log(tx, err);

    if (status == LOCI_OK)
        status = lc_meta_get_i64(tx, HOLD_UNTIL, INT64_MIN, &h->before_us, err);
    return status == LOCI_OK ? lc_meta_set_i64(tx, HOLD_UNTIL, h->until_us, err) : status;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static loci_status end_batch(import *i, bool is_write, loci_error *err)
{
    lc_db *db = i->upkeep->db;
    loci_status status = is_write ? lc_db_write_one(db, LC_UPKEEP_WAIT_MS, take_batch, i, err)
                                  : lc_db_read(db, INT64_MAX, take_batch, i, err);

    if (status != LOCI_OK)
        return status;
    for (size_t at = 0; at < i->line_count; at++)
        i->events_done += i->lines[at].kind == LC_LINE_EVENT;
    i->skipped += i->batch_skipped;
    i->line_count = 0;
    i->bytes = 0;
    lc_arena_clear(&i->arena);
    if (is_write)
        lc_clock_sleep_us(GAP_US);
    return lc_upkeep_report(i->upkeep, i->what, i->events_done, i->events_total, err);
}

static loci_status add_line(import *i, const lc_buf *text, loci_error *err)
{
    loci_str copy = lc_arena_copy(&i->arena, lc_buf_str(text));
    loci_status status;

    if (copy.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_line_read(i->upkeep->db->catalogue, &i->arena, copy, &i->lines[i->line_count], err);
    if (status != LOCI_OK)
        return status;
    i->line_count++;
    i->bytes += copy.len;
    return LOCI_OK;
}

static loci_status read_all(import *i, bool is_write, lc_buf *text, loci_error *err)
{
    const lc_import_source *source = i->source;
    loci_status status = LOCI_OK;
    bool found = true;

    i->what = is_write ? "events imported" : "events compared";
    i->events_done = i->skipped = 0;
    while (status == LOCI_OK && found) {
        status = source->next(source->ctx, text, &found, err);
        if (status == LOCI_OK && found)
            status = add_line(i, text, err);
        if (status == LOCI_OK &&
            (!found || i->line_count == LINES_MAX || i->bytes >= LC_UPKEEP_BYTES))
            status = end_batch(i, is_write, err);
    }
    return status != LOCI_OK ? status : source->rewind(source->ctx, err);
}

/* Says what an import that was interrupted has left in the store. */
static loci_status explain_stop(const import *i, bool is_comparing, loci_status status,
                                const loci_error *cause, loci_error *err)
{
    if (status != LOCI_ECANCELLED && status != LOCI_EDEADLINE)
        return lc_fail(err, status, "%s", cause->message);
    if (is_comparing)
        return lc_fail(err, status, "%s; nothing was imported", cause->message);
    return lc_fail(
        err, status,
        "%s; %lld of %lld events are in the store: import the same file again to add the "
        "rest",
        cause->message, (long long)i->events_done, (long long)i->events_total);
}

/* An import that would fail again if repeated releases the hold. */
static loci_status read_and_write(import *i, lc_buf *text, loci_error *err)
{
    lc_db *db = i->upkeep->db;
    hold h = {.until_us = lc_env_now_us(db->env) + HOLD_INTERRUPTED_US};
    bool is_comparing = true;
    loci_error cause;
    loci_status status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, set_hold, &h, err);

    if (status != LOCI_OK)
        return status;
    status = read_all(i, false, text, &cause);
    if (status == LOCI_OK) {
        is_comparing = false;
        status = read_all(i, true, text, &cause);
    }
    if (status == LOCI_OK) {
        h.until_us = lc_env_now_us(db->env) + HOLD_AFTER_US;
        return lc_db_write_one(db, LC_UPKEEP_WAIT_MS, set_hold, &h, err);
    }
    if (is_comparing || lc_status_is_about_data(status)) {
        h.until_us = h.before_us;
        (void)lc_db_write_one(db, LC_UPKEEP_WAIT_MS, set_hold, &h, NULL); /* Sweeps can wait. */
    }
    return explain_stop(i, is_comparing, status, &cause, err);
}

loci_status lc_import(const lc_upkeep *upkeep, const lc_import_source *source,
                      lc_transfer_counts *out, loci_error *err)
{
    lc_db *db = upkeep->db;
    lc_heap *heap = &db->env->heap;
    lc_transfer_counts counts = {0};
    lc_buf text;
    import *i;
    loci_status status = lc_import_check(db->catalogue, heap, source, &counts, err);

    if (status != LOCI_OK)
        return status;
    i = lc_heap_zalloc(heap, sizeof *i, LOCI_MEM_REQUESTS);
    if (i == NULL)
        return lc_fail_memory(err);
    i->upkeep = upkeep;
    i->source = source;
    i->events_total = counts.events;
    lc_arena_init(&i->arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&i->upcast, heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_buf_init(&text, heap, LOCI_MEM_REQUESTS, LC_TRANSFER_LINE_BYTES_MAX);
    status = read_and_write(i, &text, err);
    counts.events_skipped = i->skipped;
    if (status == LOCI_OK)
        *out = counts;
    lc_buf_clear(&text);
    lc_buf_clear(&i->upcast);
    lc_arena_clear(&i->arena);
    lc_heap_free(heap, i, sizeof *i, LOCI_MEM_REQUESTS);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A file is read with a buffer of our own: a line may be long, but never longer than
 * LC_TRANSFER_LINE_BYTES_MAX. */

#define READ_BYTES 65536

typedef struct input {
    const char *path;
    int fd;
    size_t start; /* Of the bytes that were read but not returned yet. */
    size_t end;
    char bytes[READ_BYTES];
} input;

static loci_status fill(input *in, loci_error *err)
{
    ssize_t got;

    do
        got = read(in->fd, in->bytes, sizeof in->bytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return lc_fail_path(err, in->path, errno);
    in->start = 0;
    in->end = (size_t)got;
    return LOCI_OK;
}

static loci_status next_line(void *ctx, lc_buf *line, bool *found, loci_error *err)
{
    input *in = ctx;

    lc_buf_reset(line);
    *found = false;
    for (;;) {
        const char *start = in->bytes + in->start;
        const char *newline;

        if (in->start == in->end) {
            loci_status status = fill(in, err);

            if (status != LOCI_OK)
                return status;
            if (in->end == 0) /* The last line needs no newline. */
                return lc_buf_status(line, err);
            start = in->bytes;
        }
        *found = true;
        newline = memchr(start, '\n', in->end - in->start);
        if (newline != NULL) {
            lc_buf_append(line, (loci_str){start, (size_t)(newline - start)});
            in->start += (size_t)(newline - start) + 1;
            return lc_buf_status(line, err);
        }
        lc_buf_append(line, (loci_str){start, in->end - in->start});
        in->start = in->end;
        if (line->failure != LOCI_OK)
            return lc_buf_status(line, err);
    }
}

static loci_status rewind_file(void *ctx, loci_error *err)
{
    input *in = ctx;

    in->start = in->end = 0;
    return lseek(in->fd, 0, SEEK_SET) == 0 ? LOCI_OK : lc_fail_path(err, in->path, errno);
}

static loci_status open_file(const char *path, int *out, loci_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return lc_fail_path(err, path, errno);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *out = fd;
        return LOCI_OK;
    }
    (void)close(fd); /* Nothing was written to it. */
    return lc_fail(err, LOCI_EINVAL, "%s is not a file", path);
}

loci_status lc_import_file(const lc_upkeep *upkeep, const char *path, lc_transfer_counts *out,
                           loci_error *err)
{
    lc_heap *heap = &upkeep->db->env->heap;
    input *in = lc_heap_alloc(heap, sizeof *in, LOCI_MEM_REQUESTS);
    loci_status status;

    if (in == NULL)
        return lc_fail_memory(err);
    in->path = path;
    in->start = in->end = 0;
    status = open_file(path, &in->fd, err);
    if (status == LOCI_OK) {
        lc_import_source source = {.next = next_line, .rewind = rewind_file, .ctx = in};

        status = lc_import(upkeep, &source, out, err);
        (void)close(in->fd); /* Only read from. */
    }
    lc_heap_free(heap, in, sizeof *in, LOCI_MEM_REQUESTS);
    return status;
}
