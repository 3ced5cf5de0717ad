/* export.c - writes the log as lines, one page at a time.
 *
 * A page is collected in memory and passed to the callback after its snapshot has ended: the
 * callback may be slow, and must not keep the snapshot open.
 */
#include "store/transfer.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/publish.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/transfer_line.h"
#include "store/upkeep.h"

#define PAGE_BYTES_MAX ((size_t)64 << 20) /* LC_UPKEEP_BYTES and one event more, by far. */

typedef struct export
{
    const lc_upkeep *upkeep;
    lc_export_line *line;
    void *ctx;
    lc_user_walk walk;
    lc_arena arena; /* For checking JSON that is exported verbatim. */
    lc_buf page;    /* Lines, each with its newline. */
    lc_hash128 hash;
    lc_transfer_counts counts;
    int64_t events_total;
    int64_t seq;    /* Last exported event of the user. */
    int64_t cursor; /* Last event that was read: the parts of a snapshot have no seq above 0. */
    int64_t base;   /* The snapshot's. */
    int64_t recorded_at;
    int64_t began_us;
    bool is_cut;
}
export;

static loci_status fail_event(const export *e, int64_t seq, const char *what, loci_error *err)
{
    char label[LC_USER_LABEL_BYTES];

    lc_user_label(label, lc_user_walk_tenant(&e->walk), lc_user_walk_user(&e->walk));
    return lc_fail(err, LOCI_ECORRUPT, "user %s: event %lld %s; run `loci verify`", label,
                   (long long)seq, what);
}

/* JSON that is exported verbatim must be one value in one line, or the file could not be read. */
static loci_status check_raw(export *e, loci_str json, bool is_object, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(&e->arena);
    loci_error cause;
    const lc_json *value;
    loci_status status = lc_json_parse(&e->arena, json, 0, &value, &cause);
    bool is_right = status == LOCI_OK && memchr(json.ptr, '\n', json.len) == NULL &&
                    (!is_object || lc_json_kind_of(value) == LC_JSON_OBJECT);

    lc_arena_rewind(&e->arena, mark);
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    return is_right ? LOCI_OK : lc_fail(err, LOCI_ECORRUPT, "it is not JSON");
}

static loci_status put_event(void *ctx, const lc_event *event, loci_error *err)
{
    export *e = ctx;
    bool is_replaced = event->seq > 0 && event->seq <= e->base; /* It may be kept. */
    loci_status status;

    if (event->seq > e->walk.head.seq) {
        e->is_cut = true;
        return LOCI_ECANCELLED;
    }
    e->cursor = event->seq;
    if (is_replaced && !event->type->is_kept)
        return LOCI_OK;
    if (event->seq > e->base && event->seq != e->seq + 1)
        return fail_event(e, e->seq + 1, "is missing", err);
    if (!is_replaced && event->recorded_at < e->recorded_at)
        return fail_event(e, event->seq, "is recorded before the one in front of it", err);
    status = check_raw(e, event->refs, true, err);
    if (status == LOCI_OK && !event->is_erased)
        status = check_raw(e, event->payload, true, err);
    if (status == LOCI_ECORRUPT)
        return fail_event(e, event->seq, "is not JSON", err);
    if (status != LOCI_OK)
        return status;
    lc_line_put_event(&e->page, event);
    lc_buf_append_byte(&e->page, '\n');
    e->seq = event->seq > e->base ? event->seq : e->base;
    e->recorded_at = is_replaced ? e->recorded_at : event->recorded_at;
    e->counts.events++;
    if (e->page.len >= LC_UPKEEP_BYTES ||
        lc_clock_monotonic_us() - e->began_us >= LC_UPKEEP_STEP_US) {
        e->is_cut = true;
        return LOCI_ECANCELLED; /* Ends the answer; read_events() knows why. */
    }
    return lc_buf_status(&e->page, err);
}

/* Before the first page: where the log begins. */
static loci_status find_base(lc_tx *tx, export *e, loci_error *err)
{
    int64_t base;
    loci_status status = lc_snapshot_base(tx, lc_user_walk_tenant(&e->walk),
                                          lc_user_walk_user(&e->walk), &base, err);

    if (status == LOCI_OK && e->cursor == INT64_MIN) {
        e->base = base;
        e->cursor = base > 0 ? -LC_ID_SEQ_MAX : 0;
    }
    return status == LOCI_OK && (base != e->base || base > e->walk.head.seq)
               ? lc_fail(err, LOCI_EUNAVAILABLE,
                         "the log was compacted during the export; export it again")
               : status;
}

static loci_status read_events(lc_tx *tx, void *ctx, loci_error *err)
{
    export *e = ctx;
    int64_t left = e->walk.head.seq - e->seq;
    lc_event_range range = {.tenant_id = lc_user_walk_tenant(&e->walk),
                            .user_id = lc_user_walk_user(&e->walk),
                            .limit = left < LC_UPKEEP_EVENTS ? left : LC_UPKEEP_EVENTS};
    int64_t before = e->cursor;
    loci_status status = find_base(tx, e, err);

    if (status != LOCI_OK)
        return status;
    if (e->base > 0) /* Parts and kept events come before those that `left` counts. */
        range.limit = LC_UPKEEP_EVENTS;
    range.after_seq = e->cursor;
    e->is_cut = false;
    e->began_us = lc_clock_monotonic_us();
    status = lc_event_each(tx, &range, put_event, e, err);
    if (e->is_cut)
        status = lc_buf_status(&e->page, err);
    if (status == LOCI_OK && e->cursor == before && e->seq == e->walk.head.seq)
        e->cursor = e->seq; /* A snapshot was all. */
    else if (status == LOCI_OK && e->cursor == before)
        status = fail_event(e, e->seq + 1, "is missing", err);
    return status;
}

static loci_status next_user(lc_tx *tx, void *ctx, loci_error *err)
{
    export *e = ctx;

    return lc_user_walk_next(tx, &e->walk, &lc_user_heads_sql, err);
}

static loci_status put_setting(void *ctx, const lc_setting_row *row, loci_error *err)
{
    export *e = ctx;
    loci_status status = check_raw(e, row->value, false, err);

    if (status == LOCI_ECORRUPT)
        return lc_fail(err, status, "the stored setting %.*s is not JSON", LC_STR_ARG(row->name));
    lc_line_put_setting(&e->page, row);
    lc_buf_append_byte(&e->page, '\n');
    e->counts.settings++;
    return status != LOCI_OK ? status : lc_buf_status(&e->page, err);
}

static loci_status read_settings(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_setting_row_each(tx, put_setting, ctx, err);
}

/* Passes the lines of the page to the callback, and adds them to the hash. */
static loci_status give_page(export *e, loci_error *err)
{
    loci_status status = lc_buf_status(&e->page, err);
    loci_str rest = lc_buf_str(&e->page);

    while (status == LOCI_OK && rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        e->hash = lc_hash128_chain(e->hash, line);
        status = e->line(e->ctx, line, err);
    }
    lc_buf_reset(&e->page);
    if (status == LOCI_OK)
        status = lc_upkeep_report(e->upkeep, "events exported", e->counts.events, e->events_total,
                                  err);
    return status;
}

static loci_status export_user(export *e, loci_error *err)
{
    loci_status status = LOCI_OK;

    e->seq = 0;
    e->cursor = INT64_MIN;
    e->base = 0;
    e->recorded_at = INT64_MIN;
    while (status == LOCI_OK && e->cursor < e->walk.head.seq) {
        status = lc_db_read(e->upkeep->db, INT64_MAX, read_events, e, err);
        if (status == LOCI_OK)
            status = give_page(e, err);
    }
    if (status == LOCI_OK && e->seq > 0 && e->recorded_at != e->walk.head.recorded_at)
        status = fail_event(e, e->seq, "has another time than the head", err);
    if (status != LOCI_OK)
        return status;
    lc_line_put_head(&e->page, lc_user_walk_tenant(&e->walk), lc_user_walk_user(&e->walk),
                     &e->walk.head);
    lc_buf_append_byte(&e->page, '\n');
    e->counts.users++;
    return give_page(e, err);
}

static loci_status export_all(export *e, loci_error *err)
{
    lc_db *db = e->upkeep->db;
    int64_t users;
    loci_status status = lc_upkeep_count(db, &users, &e->events_total, err);

    lc_line_put_header(&e->page, db->store_id, LC_SCHEMA_VERSION);
    if (status == LOCI_OK)
        status = lc_buf_status(&e->page, err);
    if (status == LOCI_OK)
        status = e->line(e->ctx, lc_buf_str(&e->page), err);
    lc_buf_reset(&e->page);
    if (status == LOCI_OK && e->upkeep->tenant_id.ptr == NULL)
        status = lc_db_read(db, INT64_MAX, read_settings, e, err);
    if (status == LOCI_OK)
        status = give_page(e, err);
    while (status == LOCI_OK) {
        status = lc_db_read(db, INT64_MAX, next_user, e, err);
        if (status != LOCI_OK || !e->walk.found)
            break;
        if (e->upkeep->tenant_id.ptr == NULL ||
            lc_str_eq(e->upkeep->tenant_id, lc_user_walk_tenant(&e->walk)))
            status = export_user(e, err);
    }
    if (status != LOCI_OK)
        return status;
    lc_line_put_end(&e->page, &e->counts, e->hash);
    status = lc_buf_status(&e->page, err);
    return status != LOCI_OK ? status : e->line(e->ctx, lc_buf_str(&e->page), err);
}

loci_status lc_export(const lc_upkeep *upkeep, lc_export_line *line, void *ctx,
                      lc_transfer_counts *out, loci_error *err)
{
    lc_heap *heap = &upkeep->db->env->heap;
    export e = {.upkeep = upkeep, .line = line, .ctx = ctx};
    loci_status status;

    lc_user_walk_init(&e.walk, heap);
    lc_arena_init(&e.arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&e.page, heap, LOCI_MEM_REQUESTS, PAGE_BYTES_MAX);
    status = export_all(&e, err);
    if (status == LOCI_OK)
        *out = e.counts;
    lc_buf_clear(&e.page);
    lc_arena_clear(&e.arena);
    lc_user_walk_clear(&e.walk);
    return status;
}

/* ---- Into a file ---------------------------------------------------------------------------- */

#define FILE_BUFFER_BYTES ((size_t)1 << 18)

typedef struct output {
    lc_publish file;
    lc_buf waiting;
} output;

static loci_status flush(output *o, loci_error *err)
{
    loci_status status = lc_buf_status(&o->waiting, err);

    if (status == LOCI_OK)
        status = lc_publish_write(&o->file, lc_buf_str(&o->waiting), err);
    lc_buf_reset(&o->waiting);
    return status;
}

static loci_status write_line(void *ctx, loci_str line, loci_error *err)
{
    output *o = ctx;

    lc_buf_append(&o->waiting, line);
    lc_buf_append_byte(&o->waiting, '\n');
    return o->waiting.len < FILE_BUFFER_BYTES ? LOCI_OK : flush(o, err);
}

loci_status lc_export_file(const lc_upkeep *upkeep, const char *path, bool replace,
                           lc_transfer_counts *out, loci_error *err)
{
    output o = {0};
    loci_status status = lc_publish_begin(&o.file, path, replace, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_init(&o.waiting, &upkeep->db->env->heap, LOCI_MEM_REQUESTS,
                FILE_BUFFER_BYTES + LC_TRANSFER_LINE_BYTES_MAX);
    status = lc_export(upkeep, write_line, &o, out, err);
    if (status == LOCI_OK)
        status = flush(&o, err);
    if (status == LOCI_OK)
        status = lc_publish_finish(&o.file, err);
    lc_publish_abandon(&o.file);
    lc_buf_clear(&o.waiting);
    return status;
}
