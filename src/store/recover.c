/* recover.c - see recover.h. Three passes:
 *
 *     scan    every page of the file: a list of the places of all events, users with their heads,
 *             settings
 *     judge   sort the list by user and seq, and drop contradictory events
 *     write   the events in order into a new store, then verify it
 *
 * A row is treated as an event if it has the shape of one (the types of nine columns), a known type
 * and version, and JSON objects where an event has them. Rows of no other table look like that.
 * Damage within a row that still passes is found by its surroundings where possible: two different
 * events with the same seq, a time out of order, a single event of an unknown user, a seq far
 * behind all others. A changed letter within a text cannot be noticed.
 *
 * Payloads stay in the file until they are written: the list takes 56 bytes per event.
 */
#include "store/recover.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "base/utf8.h"
#include "store/event.h"
#include "store/publish.h"
#include "store/salvage.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/store_room.h"
#include "store/verify.h"

#define PARTS_MAX 1000000      /* More parts of a snapshot are damage. */
#define GAP_EVENTS_MAX 1000000 /* A seq farther behind the number of events is damage. */
#define REPORT_PAGES 256

static loci_status apply_lost(lc_tx *tx, const lc_event *event, loci_error *err)
{
    (void)tx;
    (void)event;
    (void)err;
    return LOCI_OK;
}

const lc_event_type lc_event_lost = {.name = "event.lost", .version = 1, .apply = apply_lost};

typedef struct owner {
    int64_t base;  /* Of its snapshot; 0 = it has none. */
    int64_t parts; /* How many that snapshot has. */
    loci_str key;  /* Tenant, NUL, user. */
    loci_str tenant_id;
    loci_str user_id;
    lc_head head;
    int64_t head_base; /* As the head says. */
    bool has_head;
} owner;

/* The place of an event in the file, and the data needed to judge it. */
typedef struct place {
    owner *user;
    int64_t seq;
    int64_t recorded_at;
    lc_hash128 content; /* Of everything else. */
    uint32_t page;
    uint16_t row;
    bool is_kept;    /* Of a type that stays behind a snapshot. */
    bool is_dropped; /* It is damaged, or depends on lost events. */
} place;

typedef struct recovery {
    const lc_recover *what;
    lc_recovery *out;
    lc_salvage *file;
    lc_arena memory; /* Users and settings. */
    lc_map users;
    place *places;
    size_t count;
    size_t capacity;
    lc_setting_row *settings;
    size_t setting_count;
    size_t setting_capacity;
    lc_arena parsing;
    lc_buf upcast;
    lc_db *db;          /* The new store. */
    bool has_no_memory; /* A text could not be parsed because of that. */
} recovery;

/* ---- Scan ------------------------------------------------------------------------------------ */

#define EVENT_KINDS "ttitiitti"
enum { TENANT, USER, SEQ, TYPE, VERSION, RECORDED_AT, REFS, PAYLOAD, IS_ERASED, EVENT_CELLS };

static bool is_name(loci_str text)
{
    return text.len > 0 && text.len <= LC_ID_BYTES_MAX && lc_utf8_is_valid(text) &&
           memchr(text.ptr, '\0', text.len) == NULL;
}

static bool is_json(recovery *r, loci_str text, bool is_object)
{
    const lc_json *json = NULL;
    loci_status status;
    bool is_it;

    if (text.len > LC_EVENT_BYTES_MAX + LC_ARGS_BYTES_MAX)
        return false;
    status = lc_json_parse(&r->parsing, text, LC_JSON_ALLOW_NUL, &json, NULL);
    /* A text that could not be parsed for want of memory says nothing about the file. */
    r->has_no_memory = r->has_no_memory || status == LOCI_ERESOURCE;
    is_it = status == LOCI_OK && (!is_object || lc_json_kind_of(json) == LC_JSON_OBJECT);
    lc_arena_clear(&r->parsing);
    return is_it;
}

static bool is_part(const lc_event *event)
{
    return lc_snapshot_base_of(event) > 0 && lc_snapshot_count_of(event) <= PARTS_MAX &&
           event->seq > -lc_snapshot_count_of(event);
}

/* The event in the cells, if it is one; its texts are those of the cells. */
static bool read_event(recovery *r, const lc_cell *cells, lc_event *out)
{
    int64_t version = cells[VERSION].as.i64;

    *out = (lc_event){.tenant_id = cells[TENANT].as.str,
                      .user_id = cells[USER].as.str,
                      .seq = cells[SEQ].as.i64,
                      .type = lc_catalogue_find_event(r->what->catalogue, cells[TYPE].as.str),
                      .recorded_at = cells[RECORDED_AT].as.i64,
                      .refs = cells[REFS].as.str,
                      .payload = cells[PAYLOAD].as.str,
                      .is_erased = cells[IS_ERASED].as.i64 == 1};
    if (out->type == NULL || version < 1 || version > out->type->version ||
        (out->seq < 1) != (out->type == &lc_snapshot_event) || out->seq > LC_ID_SEQ_MAX ||
        (out->seq < 1 && !is_part(out)) || (cells[IS_ERASED].as.i64 & ~INT64_C(1)) != 0)
        return false;
    out->version = (int)version;
    if (!is_name(out->tenant_id) || !is_name(out->user_id) || !is_json(r, out->refs, true))
        return false;
    return out->is_erased ? out->payload.len == 0 : is_json(r, out->payload, true);
}

static owner *find_owner(recovery *r, loci_str tenant_id, loci_str user_id)
{
    char key[2 * LC_ID_BYTES_MAX + 1];
    size_t key_len = tenant_id.len + 1 + user_id.len;
    owner *found;

    memcpy(key, tenant_id.ptr, tenant_id.len);
    key[tenant_id.len] = '\0';
    memcpy(key + tenant_id.len + 1, user_id.ptr, user_id.len);
    found = lc_map_find(&r->users, (loci_str){key, key_len});
    if (found != NULL)
        return found;
    found = lc_arena_zalloc_array(&r->memory, 1, sizeof *found);
    if (found == NULL)
        return NULL;
    found->key = lc_arena_copy(&r->memory, (loci_str){key, key_len});
    if (found->key.ptr == NULL)
        return NULL;
    found->tenant_id = (loci_str){found->key.ptr, tenant_id.len};
    found->user_id = (loci_str){found->key.ptr + tenant_id.len + 1, user_id.len};
    return lc_map_put(&r->users, found->key, found) ? found : NULL;
}

/* A pointer to one more member of an array, which grows when it is full. */
static void *add_one(lc_heap *heap, void **array, size_t *count, size_t *capacity, size_t bytes)
{
    size_t wanted = *capacity == 0 ? 256 : *capacity * 2;

    if (*count == *capacity) {
        void *larger = lc_heap_zalloc(heap, wanted * bytes, LOCI_MEM_REQUESTS);

        if (larger == NULL)
            return NULL;
        if (*count > 0)
            memcpy(larger, *array, *count * bytes);
        if (*array != NULL)
            lc_heap_free(heap, *array, *capacity * bytes, LOCI_MEM_REQUESTS);
        *array = larger;
        *capacity = wanted;
    }
    return (char *)*array + (*count)++ * bytes;
}

static lc_hash128 hash_content(const lc_event *event)
{
    lc_hash128 hash = lc_hash128_of(loci_str_of(event->type->name));

    hash = lc_hash128_chain(hash, event->refs);
    return lc_hash128_chain(hash, event->payload);
}

static loci_status note_event(recovery *r, const lc_event *event, uint32_t page, int row,
                              loci_error *err)
{
    owner *user = find_owner(r, event->tenant_id, event->user_id);
    place *added = user == NULL ? NULL
                                : add_one(&r->what->env->heap, (void **)&r->places, &r->count,
                                          &r->capacity, sizeof *added);

    if (added == NULL)
        return lc_fail_memory(err);
    if (event->seq < 1) {
        user->base = lc_snapshot_base_of(event);
        user->parts = lc_snapshot_count_of(event);
    }
    *added = (place){.user = user,
                     .seq = event->seq,
                     .recorded_at = event->recorded_at,
                     .content = hash_content(event),
                     .page = page,
                     .row = (uint16_t)row,
                     .is_kept = event->type->is_kept};
    return LOCI_OK;
}

/* tenant_id, user_id, seq, recorded_at, objects, base_seq */
static loci_status note_head(recovery *r, const lc_cell *cells, loci_error *err)
{
    lc_head head = {cells[2].as.i64, cells[3].as.i64, cells[4].as.i64};
    owner *user;

    if (!is_name(cells[0].as.str) || !is_name(cells[1].as.str) || head.seq < 0 ||
        head.seq > LC_ID_SEQ_MAX || head.objects < 0 || head.objects > LC_ID_SEQ_MAX ||
        cells[5].as.i64 < 0 || cells[5].as.i64 > head.seq)
        return LOCI_OK;
    user = find_owner(r, cells[0].as.str, cells[1].as.str);
    if (user == NULL)
        return lc_fail_memory(err);
    if (!user->has_head || head.seq > user->head.seq) {
        user->head = head;
        user->head_base = cells[5].as.i64;
    }
    user->has_head = true;
    return LOCI_OK;
}

/* Words with dots: "call.timeout_ms". The values of no other table of this shape are JSON. */
static bool is_setting_name(loci_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '.')
            return false;
    }
    return name.len > 0 && name.len <= LC_KEY_BYTES_MAX && memchr(name.ptr, '.', name.len) != NULL;
}

static loci_status note_setting(recovery *r, const lc_cell *cells, loci_error *err)
{
    loci_str tenant_id = cells[0].as.str, name = cells[1].as.str, value = cells[2].as.str;
    lc_setting_row *added;

    if ((tenant_id.len > 0 && !is_name(tenant_id)) || !is_setting_name(name) ||
        !is_json(r, value, false))
        return LOCI_OK;
    added = add_one(&r->what->env->heap, (void **)&r->settings, &r->setting_count,
                    &r->setting_capacity, sizeof *added);
    if (added == NULL)
        return lc_fail_memory(err);
    *added = (lc_setting_row){.tenant_id = lc_arena_copy(&r->memory, tenant_id),
                              .name = lc_arena_copy(&r->memory, name),
                              .value = lc_arena_copy(&r->memory, value)};
    if (added->tenant_id.ptr == NULL || added->name.ptr == NULL || added->value.ptr == NULL)
        return lc_fail_memory(err);
    return LOCI_OK;
}

static loci_status scan_row(recovery *r, uint32_t page, int row, loci_error *err)
{
    lc_cell cells[EVENT_CELLS];
    lc_event event;
    loci_status status = LOCI_OK;

    if (lc_salvage_row(r->file, row, EVENT_KINDS, cells))
        status = read_event(r, cells, &event) ? note_event(r, &event, page, row, err) : LOCI_OK;
    else if (lc_salvage_row(r->file, row, "ttiiii", cells))
        status = note_head(r, cells, err);
    else if (lc_salvage_row(r->file, row, "ttti", cells))
        status = note_setting(r, cells, err);
    return status == LOCI_OK && r->has_no_memory ? lc_fail_memory(err) : status;
}

static loci_status report(const recovery *r, const char *what, int64_t done, int64_t total,
                          loci_error *err)
{
    return r->what->progress == NULL ? LOCI_OK
                                     : r->what->progress(r->what->ctx, what, done, total, err);
}

static loci_status scan(recovery *r, loci_error *err)
{
    uint32_t page_count = lc_salvage_page_count(r->file);
    loci_status status = LOCI_OK;

    for (uint32_t page = 1; status == LOCI_OK && page <= page_count; page++) {
        int rows = lc_salvage_turn_to(r->file, page);

        for (int row = 0; status == LOCI_OK && row < rows; row++)
            status = scan_row(r, page, row, err);
        if (status == LOCI_OK && page % REPORT_PAGES == 0)
            status = report(r, "pages read", page, page_count, err);
    }
    return status == LOCI_OK ? lc_salvage_status(r->file, err) : status;
}

/* ---- Judge ----------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int by_user;

    if (x->user != y->user) {
        by_user = lc_str_compare(x->user->tenant_id, y->user->tenant_id);
        return by_user != 0 ? by_user : lc_str_compare(x->user->user_id, y->user->user_id);
    }
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    if (x->page != y->page)
        return x->page < y->page ? -1 : 1;
    return (int)x->row - (int)y->row;
}

static const place *neighbour(const place *first, const place *end, const place *at, int step)
{
    int64_t seq = at->seq;

    do
        at += step;
    while (at >= first && at < end && (at->is_dropped || at->seq == seq));
    return at >= first && at < end ? at : NULL;
}

/* Whether the time of an event is between those of its neighbours, where these agree. */
static bool is_between(const place *at, const place *before, const place *after)
{
    if (before != NULL && after != NULL && before->recorded_at > after->recorded_at)
        return at->recorded_at >= before->recorded_at || at->recorded_at <= after->recorded_at;
    return (before == NULL || at->recorded_at >= before->recorded_at) &&
           (after == NULL || at->recorded_at <= after->recorded_at);
}

static bool is_same_event(const place *a, const place *b)
{
    return a->recorded_at == b->recorded_at && lc_hash128_eq(a->content, b->content);
}

/* If several different events have the same seq, at most one of them is right: the only one whose
 * time fits. The same event may exist twice, in a copy of its page. */
static void drop_doubles(place *first, place *end)
{
    for (place *at = first, *next; at < end; at = next) {
        const place *before = neighbour(first, end, at, -1), *after, *fitting = NULL;
        int fit_count = 0;

        for (next = at + 1; next < end && next->seq == at->seq;)
            next++;
        if (next - at == 1)
            continue;
        after = neighbour(first, end, next - 1, 1);
        for (place *p = at; p < next; p++) {
            if ((fitting != NULL && is_same_event(p, fitting)) || !is_between(p, before, after))
                continue;
            fitting = p;
            fit_count++;
        }
        for (place *p = at; p < next; p++)
            p->is_dropped = fit_count != 1 || p != fitting;
    }
}

static void drop_disorder(place *first, place *end)
{
    int64_t recorded_at = INT64_MIN;

    /* First drops events that disagree with both neighbours, then the later one of the others. */
    for (place *at = first; at < end; at++) {
        if (!at->is_dropped)
            at->is_dropped = !is_between(at, neighbour(first, end, at, -1),
                                         neighbour(first, end, at, 1));
    }
    for (place *at = first; at < end; at++) {
        if (!at->is_dropped && at->recorded_at < recorded_at)
            at->is_dropped = true;
        if (!at->is_dropped)
            recorded_at = at->recorded_at;
    }
}

/* If all parts of the snapshot are lost, the head still says where the log begins, unless events
 * say that it is wrong. */
static void find_base(owner *user, const place *first, const place *end)
{
    if (user->base > 0 || user->head_base == 0)
        return;
    for (const place *at = first; at < end && at->seq <= user->head_base; at++)
        if (!at->is_kept)
            return;
    user->base = user->head_base;
    user->parts = 1;
}

static void judge_user(place *first, place *end)
{
    int64_t count = end - first;

    find_base(first->user, first, end);
    /* One damaged letter in a name makes another user, with this one event. */
    if (count == 1 && !first->user->has_head && first->seq > 1)
        first->is_dropped = true;
    for (place *at = first; at < end; at++)
        at->is_dropped = at->is_dropped || at->seq > first->user->base + count + GAP_EVENTS_MAX;
    drop_doubles(first, end);
    while (first < end && first->seq <= first->user->base)
        first++; /* Parts of a snapshot, and kept events, which are older. */
    drop_disorder(first, end);
}

static place *end_of_user(const recovery *r, place *first)
{
    place *end = first;

    while (end < r->places + r->count && end->user == first->user)
        end++;
    return end;
}

static void judge(recovery *r)
{
    size_t kept = 0;

    if (r->count == 0)
        return;
    qsort(r->places, r->count, sizeof *r->places, compare_places);
    for (place *at = r->places; at < r->places + r->count; at = end_of_user(r, at))
        judge_user(at, end_of_user(r, at));
    for (size_t i = 0; i < r->count; i++) {
        if (!r->places[i].is_dropped)
            r->places[kept++] = r->places[i];
    }
    r->count = kept;
}

/* ---- Write ----------------------------------------------------------------------------------- */

static const lc_sql put_event_sql = {
    "insert into events (tenant_id, user_id, seq, type, v, recorded_at, refs, payload, is_erased)"
    " values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    "ttitiitti", NULL};

static const lc_sql put_head_sql = {
    "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
    " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, user_id) do update set"
    " seq = excluded.seq, recorded_at = excluded.recorded_at, objects = excluded.objects,"
    " base_seq = excluded.base_seq",
    "ttiiii", NULL};

/* A part of the log of one user, written in one transaction: from `seq` on, `limit` events. */
typedef struct piece {
    recovery *r;
    const owner *user;
    place *next; /* The first event that is not written yet; `end` = none. */
    const place *end;
    int64_t seq;         /* Of the next event to write. */
    int64_t recorded_at; /* Of the last one written. */
    int64_t limit;
} piece;

static loci_status put_event(lc_tx *tx, const lc_event *event, loci_error *err)
{
    loci_status status = lc_tx_exec(
        tx, &put_event_sql,
        (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(event->seq),
                   LC_T(loci_str_of(event->type->name)), LC_I(event->version),
                   LC_I(event->recorded_at), LC_T(event->refs), LC_T(event->payload),
                   LC_I(event->is_erased)},
        err);

    return status;
}

/* Reads the event again. It was read before, so a failure means that the disk has failed since. */
static loci_status load_event(recovery *r, const place *at, lc_event *out, loci_error *err)
{
    lc_cell cells[EVENT_CELLS];

    (void)lc_salvage_turn_to(r->file, at->page);
    if (lc_salvage_row(r->file, at->row, EVENT_KINDS, cells) && read_event(r, cells, out) &&
        out->seq == at->seq && lc_str_eq(out->user_id, at->user->user_id))
        return LOCI_OK;
    if (r->has_no_memory || lc_salvage_status(r->file, NULL) != LOCI_OK)
        return lc_fail_memory(err);
    return lc_fail(err, LOCI_EUNAVAILABLE,
                   "%s: page %lu changed while it was read; end all programs that use the file",
                   r->what->from, (unsigned long)at->page);
}

/* Parts of a snapshot may be missing behind the last event, too. */
static bool is_done(const piece *p)
{
    return p->next == p->end && p->seq > 0;
}

/* Behind the parts of a snapshot only kept events come until its base: others are not lost. */
static bool skip_replaced(piece *p)
{
    if (p->seq > 0 && p->seq <= p->user->base)
        p->seq = p->next->seq <= p->user->base ? p->next->seq : p->user->base + 1;
    return p->seq > 0 && p->seq <= p->user->base;
}

/* Takes the place of an event that was lost. A part of a snapshot is replaced by one without rows.
 */
static lc_event lost_event(const piece *p, char refs[LC_SNAPSHOT_REFS_BYTES])
{
    bool is_part = p->seq <= 0;

    return (lc_event){
        .tenant_id = p->user->tenant_id,
        .user_id = p->user->user_id,
        .seq = p->seq,
        .type = is_part ? &lc_snapshot_event : &lc_event_lost,
        .version = 1,
        .recorded_at = p->recorded_at != INT64_MIN ? p->recorded_at : p->next->recorded_at,
        .refs = is_part ? lc_snapshot_refs(refs, p->user->base, p->seq, p->user->parts)
                        : LC_STR("{}"),
        .payload = LC_STR("{}")};
}

static loci_status put_next(lc_tx *tx, piece *p, loci_error *err)
{
    char refs[LC_SNAPSHOT_REFS_BYTES];
    bool is_kept = skip_replaced(p);
    lc_event event = lost_event(p, refs);
    bool is_there = p->next < p->end && p->next->seq == p->seq;
    loci_status status = is_there && !p->next->is_dropped ? load_event(p->r, p->next, &event, err)
                                                          : LOCI_OK;

    if (status == LOCI_OK)
        status = put_event(tx, &event, err);
    if (status == LOCI_OK && !is_kept)
        status = lc_event_apply(tx, &event, &p->r->upcast, err);
    p->next += is_there;
    p->seq++;
    p->recorded_at = event.recorded_at;
    return status;
}

static loci_status put_piece(lc_tx *tx, void *ctx, loci_error *err)
{
    piece *given = ctx, p = *given; /* The body may be run again. */
    loci_status status = LOCI_OK;

    for (int64_t i = 0; status == LOCI_OK && i < p.limit && !is_done(&p); i++)
        status = put_next(tx, &p, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &put_head_sql,
                            (lc_arg[]){LC_T(p.user->tenant_id), LC_T(p.user->user_id),
                                       LC_I(p.seq > p.user->base ? p.seq - 1 : p.user->base),
                                       LC_I(p.recorded_at), LC_I(p.user->head.objects),
                                       LC_I(p.user->base)},
                            err);
    if (status == LOCI_OK)
        *given = p;
    return status;
}

static loci_status note_lost(recovery *r, const owner *user, int64_t first, int64_t last,
                             loci_error *err)
{
    lc_lost_range **at = &r->out->lost, *range;

    r->out->events_lost += last - first + 1;
    while (*at != NULL && (*at)->next != NULL)
        at = &(*at)->next;
    if (*at != NULL && (*at)->last_seq == first - 1 && lc_str_eq((*at)->user_id, user->user_id) &&
        lc_str_eq((*at)->tenant_id, user->tenant_id)) {
        (*at)->last_seq = last;
        return LOCI_OK;
    }
    if (++r->out->ranges_lost > LC_RECOVERY_RANGES_MAX)
        return LOCI_OK;
    range = lc_arena_zalloc_array(r->what->arena, 1, sizeof *range);
    if (range == NULL)
        return lc_fail_memory(err);
    *range = (lc_lost_range){.tenant_id = lc_arena_copy(r->what->arena, user->tenant_id),
                             .user_id = lc_arena_copy(r->what->arena, user->user_id),
                             .first_seq = first,
                             .last_seq = last};
    if (*at == NULL)
        *at = range;
    else
        (*at)->next = range;
    return range->tenant_id.ptr != NULL && range->user_id.ptr != NULL ? LOCI_OK
                                                                      : lc_fail_memory(err);
}

/* Writes the next events: all in one transaction, or, when one of them does not apply, each in its
 * own. The one that does not apply depends on lost ones and is lost, too. */
static loci_status write_piece(piece *p, loci_error *err)
{
    lc_db *db = p->r->db;
    loci_status status;

    p->limit = LC_UPKEEP_EVENTS;
    status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, put_piece, p, err);
    if (status == LOCI_OK || !lc_status_is_about_data(status))
        return status;
    p->limit = 1;
    for (int i = 0; i < LC_UPKEEP_EVENTS && !is_done(p); i++) {
        status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, put_piece, p, err);
        if (status != LOCI_OK &&
            (!lc_status_is_about_data(status) || p->next == p->end || p->next->is_dropped))
            return status;
        if (status != LOCI_OK) {
            p->next->is_dropped = true;
            p->r->out->events_unusable++;
        }
    }
    return LOCI_OK;
}

/* Of the events from `*seq` on: those before `at`, and `at` itself if it was dropped. */
static loci_status note_gap(recovery *r, const place *at, int64_t *seq, loci_error *err)
{
    int64_t last = at->is_dropped ? at->seq : at->seq - 1;
    loci_status status = last >= *seq ? note_lost(r, at->user, *seq, last, err) : LOCI_OK;

    r->out->events += !at->is_dropped;
    *seq = at->seq + 1;
    return status;
}

static loci_status note_losses(recovery *r, const place *first, const place *end, loci_error *err)
{
    const owner *user = first->user;
    loci_status status = LOCI_OK;
    int64_t seq = 1 - user->parts;

    for (; status == LOCI_OK && first < end && first->seq <= 0; first++)
        status = note_gap(r, first, &seq, err);
    if (status == LOCI_OK && seq <= 0)
        status = note_lost(r, user, seq, 0, err);
    for (; first < end && first->seq <= user->base; first++)
        r->out->events += !first->is_dropped;
    seq = user->base + 1;
    for (const place *at = first; status == LOCI_OK && at < end; at++)
        status = note_gap(r, at, &seq, err);
    if (status == LOCI_OK && user->has_head && user->head.seq >= seq)
        status = note_lost(r, user, seq, user->head.seq, err);
    r->out->users++;
    r->out->users_without_head += !user->has_head;
    return status;
}

static loci_status write_users(recovery *r, loci_error *err)
{
    loci_status status = LOCI_OK;
    place *end;

    for (place *at = r->places; status == LOCI_OK && at < r->places + r->count; at = end) {
        piece p = {.r = r, .user = at->user, .next = at, .recorded_at = INT64_MIN};

        p.seq = 1 - at->user->parts;
        end = end_of_user(r, at);
        p.end = end;
        while (status == LOCI_OK && !is_done(&p)) {
            status = write_piece(&p, err);
            if (status == LOCI_OK)
                status = report(r, "events written", p.next - r->places, (int64_t)r->count, err);
        }
        if (status == LOCI_OK)
            status = note_losses(r, at, end, err);
    }
    return status;
}

static loci_status put_settings(lc_tx *tx, void *ctx, loci_error *err)
{
    recovery *r = ctx;
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < r->setting_count; i++)
        status = lc_setting_row_put(tx, &r->settings[i], err);
    return status;
}

static loci_status verify(recovery *r, loci_error *err)
{
    lc_dump_plan plan = {0};
    lc_upkeep upkeep = {
        .db = r->db, .plan = &plan, .progress = r->what->progress, .ctx = r->what->ctx};
    loci_status status = lc_dump_plan_init(&plan, &r->what->env->heap, r->what->catalogue, err);

    if (status == LOCI_OK)
        status = lc_verify(&upkeep, &r->out->problems, err);
    lc_dump_plan_clear(&plan);
    return status;
}

static loci_status fill_store(recovery *r, const char *path, loci_error *err)
{
    lc_schema_state state;
    loci_status status = lc_sqlite_driver.open(r->what->env, r->what->catalogue,
                                               &(lc_db_target){.store = path, .is_created = true},
                                               &r->db, err);

    if (status == LOCI_OK)
        status = lc_schema_open(r->db, NULL, &state, err);
    /* The file is synced as a whole before it gets its name. */
    if (status == LOCI_OK)
        status = r->db->driver->set_durability(r->db, true, err);
    if (status == LOCI_OK)
        status = write_users(r, err);
    if (status == LOCI_OK)
        status = lc_db_write_one(r->db, LC_UPKEEP_WAIT_MS, put_settings, r, err);
    if (status == LOCI_OK)
        status = verify(r, err);
    lc_db_close(r->db);
    r->db = NULL;
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static loci_status recover(recovery *r, loci_error *err)
{
    lc_publish file = {.fd = -1};
    loci_status status = scan(r, err);

    if (status != LOCI_OK)
        return status;
    judge(r);
    if (r->count == 0)
        return lc_fail(err, LOCI_ENOTFOUND,
                       "%s: none of its %lu pages has an event of loci that can be read; nothing "
                       "was created",
                       r->what->from, (unsigned long)lc_salvage_page_count(r->file));
    status = lc_publish_begin(&file, r->what->to, r->what->replace, err);
    lc_publish_let_go(&file);
    if (status == LOCI_OK && file.is_stream)
        status = lc_fail(err, LOCI_EINVAL, "%s is a device or FIFO; name a file to create",
                         r->what->to);
    if (status == LOCI_OK)
        status = fill_store(r, file.temporary, err);
    if (status == LOCI_OK)
        status = lc_publish_finish(&file, err);
    lc_publish_abandon(&file);
    return status;
}

loci_status lc_recover_run(const lc_recover *what, lc_recovery *out, loci_error *err)
{
    lc_heap *heap = &what->env->heap;
    recovery r = {.what = what, .out = out};
    loci_status status;

    *out = (lc_recovery){0};
    status = lc_salvage_open(heap, what->from, &r.file, err);
    if (status != LOCI_OK)
        return status;
    lc_arena_init(&r.memory, heap, LOCI_MEM_REQUESTS);
    lc_arena_init(&r.parsing, heap, LOCI_MEM_REQUESTS);
    lc_map_init(&r.users, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&r.upcast, heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = recover(&r, err);
    out->settings = (int64_t)r.setting_count;
    out->wal_is_damaged = lc_salvage_wal_is_damaged(r.file);
    lc_buf_clear(&r.upcast);
    lc_map_clear(&r.users);
    lc_arena_clear(&r.parsing);
    lc_arena_clear(&r.memory);
    if (r.places != NULL)
        lc_heap_free(heap, r.places, r.capacity * sizeof *r.places, LOCI_MEM_REQUESTS);
    if (r.settings != NULL)
        lc_heap_free(heap, r.settings, r.setting_capacity * sizeof *r.settings, LOCI_MEM_REQUESTS);
    lc_salvage_close(r.file);
    return status;
}
