/* import_check.c - is a file a whole export?
 *
 *     header  setting*  (event* head)*  end
 *
 * with settings and users in strictly rising order and no gap in the seqs of a user. Pure: it looks
 * at the lines and at nothing else.
 */
#include "store/import_check.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/schema.h"

void lc_import_order_init(lc_import_order *order, lc_heap *heap)
{
    *order = (lc_import_order){0};
    lc_buf_init(&order->tenant_id, heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX);
    lc_buf_init(&order->user_id, heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX);
    lc_buf_init(&order->setting_tenant_id, heap, LOCI_MEM_REQUESTS, LC_ID_BYTES_MAX);
    lc_buf_init(&order->setting_name, heap, LOCI_MEM_REQUESTS, LC_KEY_BYTES_MAX);
}

void lc_import_order_clear(lc_import_order *order)
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

static loci_status take_header(lc_import_order *order, const lc_line *line, loci_error *err)
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

static loci_status take_setting(lc_import_order *order, const lc_line *line, loci_error *err)
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

/* Turns to the user of the line, unless it is the one at hand. */
static loci_status turn_to(lc_import_order *order, const lc_event *owner, loci_error *err)
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
    order->seq = 0;
    order->recorded_at = INT64_MIN;
    order->counts.users++;
    return set_pair(&order->tenant_id, &order->user_id,
                    (loci_str[]){owner->tenant_id, owner->user_id}, err);
}

static loci_status take_event(lc_import_order *order, const lc_event *event, loci_error *err)
{
    loci_status status = turn_to(order, event, err);

    if (status != LOCI_OK)
        return status;
    if (event->seq != order->seq + 1)
        return lc_fail(err, LOCI_EINVAL, "expected event %lld, found %lld",
                       (long long)order->seq + 1, (long long)event->seq);
    if (event->recorded_at < order->recorded_at)
        return lc_fail(err, LOCI_EINVAL, "event %lld is recorded before the one in front of it",
                       (long long)event->seq);
    order->seq = event->seq;
    order->recorded_at = event->recorded_at;
    order->counts.events++;
    return LOCI_OK;
}

static loci_status take_head(lc_import_order *order, const lc_line *line, loci_error *err)
{
    loci_status status = turn_to(order, &line->event, err);

    if (status != LOCI_OK)
        return status;
    if (line->head.seq != order->seq ||
        (order->seq > 0 && line->head.recorded_at != order->recorded_at))
        return lc_fail(err, LOCI_EINVAL, "the head is not that of event %lld",
                       (long long)order->seq);
    order->has_open_user = false;
    return LOCI_OK;
}

static loci_status take_end(lc_import_order *order, const lc_line *line, loci_error *err)
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

loci_status lc_import_order_take(lc_import_order *order, const lc_line *line, loci_str text,
                                 loci_error *err)
{
    if (order->has_end)
        return lc_fail(err, LOCI_EINVAL, "there is something behind the end");
    if (!order->has_header && line->kind != LC_LINE_HEADER)
        return lc_fail(err, LOCI_EINVAL, "it does not begin with a header, so it is no export");
    if (line->kind == LC_LINE_HEADER)
        return take_header(order, line, err);
    if (line->kind == LC_LINE_END)
        return take_end(order, line, err);
    order->hash = lc_hash128_chain(order->hash, text);
    switch (line->kind) {
    case LC_LINE_SETTING:
        return take_setting(order, line, err);
    case LC_LINE_EVENT:
        return take_event(order, &line->event, err);
    default:
        return take_head(order, line, err);
    }
}

typedef struct check {
    const lc_catalogue *catalogue;
    lc_import_order order;
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
        status = lc_import_order_take(&c->order, &line, text, &cause);
    lc_arena_clear(&c->arena);
    if (status == LOCI_OK)
        return LOCI_OK;
    return lc_fail(err, status, "line %lld: %s", (long long)c->number, cause.message);
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

    lc_import_order_init(&c.order, heap);
    lc_arena_init(&c.arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&c.line, heap, LOCI_MEM_REQUESTS, LC_TRANSFER_LINE_BYTES_MAX);
    status = check_lines(&c, source, err);
    if (status == LOCI_OK)
        *out = c.order.counts;
    lc_buf_clear(&c.line);
    lc_arena_clear(&c.arena);
    lc_import_order_clear(&c.order);
    return status;
}
