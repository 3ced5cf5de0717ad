/* rewind.c - see rewind.h.
 *
 * lc_rewind_collect() reads only the refs of events, and parses only the refs that name the session
 * or a source message. In the log, a message comes before the events that were derived from it, so
 * one pass finds all of them.
 */
#include "recall/rewind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "store/snapshot.h"
#include "store/withdrawal.h"

#define PAGE_ROWS 1000
#define SHOWN_BYTES_MAX 200 /* Bytes of each text that a dry run shows. */
#define MESSAGE_TYPE "session.message"

struct lc_rewind_node {
    lc_rewind_item item;
    lc_rewind_node *next;
};

void lc_rewind_begin(lc_rewind *r, lc_tx *tx, lc_arena *arena)
{
    *r = (lc_rewind){.tx = tx, .arena = arena};
    r->end = &r->first;
    lc_map_init(&r->messages, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    lc_map_init(&r->before, &tx->db->env->heap, LOCI_MEM_REQUESTS);
}

void lc_rewind_end(lc_rewind *r)
{
    if (r->tx == NULL)
        return;
    lc_map_clear(&r->messages);
    lc_map_clear(&r->before);
}

bool lc_rewind_has_message(const lc_rewind *r, loci_str id)
{
    return lc_map_find(&r->messages, id) != NULL;
}

/* ---- Collecting ------------------------------------------------------------------------------ */

static loci_str seq_key(int64_t seq, char out[24])
{
    return (loci_str){out, (size_t)snprintf(out, 24, "%" PRId64, seq)};
}

loci_status lc_rewind_keep(lc_rewind *r, int64_t seq, loci_error *err)
{
    char text[24];
    loci_str key = lc_arena_copy(r->arena, seq_key(seq, text));

    return key.ptr != NULL && lc_map_put(&r->before, key, r) ? LOCI_OK : lc_fail_memory(err);
}

static loci_status keep_withdrawn(void *ctx, const lc_withdrawal *withdrawal, loci_error *err)
{
    return lc_rewind_keep(ctx, withdrawal->seq, err);
}

static loci_status add_event(lc_rewind *r, const lc_rewind_event *event, loci_error *err)
{
    if (r->event_count == r->event_room) {
        size_t room = r->event_room > 0 ? 2 * r->event_room : 64;
        lc_rewind_event *events = lc_arena_zalloc_array(r->arena, room, sizeof *events);

        if (events == NULL)
            return lc_fail_memory(err);
        if (r->event_count > 0)
            memcpy(events, r->events, r->event_count * sizeof *events);
        r->events = events;
        r->event_room = room;
    }
    r->events[r->event_count++] = *event;
    return LOCI_OK;
}

static const lc_sql refs_sql = {
    "select seq, type, refs from events where tenant_id = $1 and user_id = $2 and seq > $3"
    " order by seq limit $4",
    "ttii", "itt"};

static bool has(loci_str text, loci_str part)
{
    return memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

static loci_status take_message(lc_rewind *r, const lc_json *refs, loci_error *err)
{
    loci_str id = lc_event_str(refs, "id");

    if (!lc_str_eq(lc_event_str(refs, "session_id"), r->session_id))
        return LOCI_OK;
    id = lc_arena_copy(r->arena, id);
    return id.ptr != NULL && lc_map_put(&r->messages, id, r) ? LOCI_OK : lc_fail_memory(err);
}

static loci_status take_derived(lc_rewind *r, const lc_rows *rows, const lc_json *refs,
                                loci_error *err)
{
    lc_rewind_event event = {.seq = lc_rows_i64(rows, 0)};

    if (!lc_rewind_has_message(r, lc_event_str(refs, "message_id")))
        return LOCI_OK;
    event.type = lc_catalogue_find_event(r->tx->db->catalogue, lc_rows_str(rows, 1));
    event.id = lc_arena_copy(r->arena, lc_event_str(refs, "id"));
    if (event.id.ptr == NULL)
        return lc_fail_memory(err);
    return event.type != NULL ? add_event(r, &event, err) : LOCI_OK;
}

static loci_status take_row(lc_rewind *r, const lc_rows *rows, loci_error *err)
{
    lc_arena *scratch = &r->tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    bool is_message = lc_str_is(lc_rows_str(rows, 1), MESSAGE_TYPE);
    loci_str refs = lc_rows_str(rows, 2);
    const lc_json *json;
    char text[24];
    loci_status status;

    if (!has(refs, is_message ? r->session_id : LC_STR("\"message_id\":")) ||
        lc_map_find(&r->before, seq_key(lc_rows_i64(rows, 0), text)) != NULL)
        return LOCI_OK;
    status = lc_json_parse(scratch, refs, 0, &json, err);
    if (status == LOCI_EINVAL)
        status = lc_fail(err, LOCI_ECORRUPT, "the refs of an event are not JSON");
    if (status == LOCI_OK)
        status = is_message ? take_message(r, json, err) : take_derived(r, rows, json, err);
    lc_arena_rewind(scratch, mark);
    return status;
}

loci_status lc_rewind_collect(lc_rewind *r, loci_error *err)
{
    int64_t seq = r->after_seq, count;
    loci_status status = lc_withdrawal_each(
        r->tx, &(lc_withdrawal_filter){.after_seq = r->after_seq}, keep_withdrawn, r, err);

    if (status == LOCI_OK)
        status = lc_snapshot_refuse(r->tx, r->after_seq, LOCI_ECONFLICT,
                                    "the messages cannot be taken back", err);
    do {
        lc_rows rows;

        count = 0;
        if (status == LOCI_OK)
            status = lc_tx_query(r->tx, &refs_sql,
                                 (lc_arg[]){LC_T(r->tx->tenant_id), LC_T(r->tx->user_id), LC_I(seq),
                                            LC_I(PAGE_ROWS)},
                                 &rows, err);
        if (status != LOCI_OK)
            return status;
        while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
            seq = lc_rows_i64(&rows, 0);
            count++;
            status = take_row(r, &rows, err);
        }
        lc_rows_end(&rows);
    } while (status == LOCI_OK && count == PAGE_ROWS);
    return status;
}

typedef struct loading {
    lc_rewind *r;
    lc_event *out;
} loading;

static loci_status load_event(void *ctx, const lc_event *event, loci_error *err)
{
    const loading *l = ctx;
    loci_str *texts[] = {&l->out->refs, &l->out->payload};

    *l->out = *event;
    for (size_t i = 0; i < 2; i++) {
        *texts[i] = lc_arena_copy(l->r->arena, *texts[i]);
        if (texts[i]->ptr == NULL)
            return lc_fail_memory(err);
    }
    l->out->tenant_id = l->r->tx->tenant_id;
    l->out->user_id = l->r->tx->user_id;
    return LOCI_OK;
}

loci_status lc_rewind_load(lc_rewind *r, int64_t seq, lc_event *out, loci_error *err)
{
    lc_event_range range = {
        .tenant_id = r->tx->tenant_id, .user_id = r->tx->user_id, .after_seq = seq - 1, .limit = 1};

    return lc_event_each(r->tx, &range, load_event, &(loading){r, out}, err);
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* The beginning of a text, enough to recognise it; never ends inside a character. */
static loci_str beginning_of(loci_str text)
{
    if (text.len > SHOWN_BYTES_MAX) {
        text.len = SHOWN_BYTES_MAX;
        while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xC0) == 0x80)
            text.len--;
    }
    return text;
}

loci_status lc_rewind_add(lc_rewind *r, const lc_rewind_item *item, loci_error *err)
{
    lc_rewind_node *node = lc_arena_alloc(r->arena, sizeof *node);
    bool is_listed = r->item_count < LC_REWIND_LISTED_MAX;

    if (node == NULL)
        return lc_fail_memory(err);
    *node = (lc_rewind_node){.item = *item};
    node->item.id = lc_arena_copy(r->arena, item->id);
    node->item.text = is_listed && item->text.len > 0
                          ? lc_arena_copy(r->arena, beginning_of(item->text))
                          : LC_STR_NONE;
    if (node->item.id.ptr == NULL || (is_listed && item->text.len > 0 && !node->item.text.ptr))
        return lc_fail_memory(err);
    *r->end = node;
    r->end = &node->next;
    r->item_count++;
    return LOCI_OK;
}

static void put_counts(const lc_rewind *r, const char *action, lc_json_writer *out)
{
    static const char *const kinds[] = {"message", "fact", "memory", "entity", "todo", "proposal"};

    lc_jw_name(out, action);
    lc_jw_object(out);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int64_t count = 0;

        for (const lc_rewind_node *node = r->first; node != NULL; node = node->next)
            count += strcmp(node->item.kind, kinds[i]) == 0 &&
                     strcmp(node->item.action, action) == 0;
        if (count > 0)
            lc_jw_member_int(out, kinds[i], count);
    }
    lc_jw_end(out);
}

void lc_rewind_put(const lc_rewind *r, bool with_text, lc_json_writer *out)
{
    int64_t listed = 0;

    put_counts(r, "withdrawn", out);
    put_counts(r, "restored", out);
    put_counts(r, "changed", out);
    lc_jw_name(out, "items");
    lc_jw_array(out);
    for (const lc_rewind_node *node = r->first; node != NULL && listed < LC_REWIND_LISTED_MAX;
         node = node->next, listed++) {
        lc_jw_object(out);
        lc_jw_member_text(out, "kind", node->item.kind);
        lc_jw_member_text(out, "action", node->item.action);
        lc_jw_member_str(out, "id", node->item.id);
        if (with_text && node->item.text.len > 0)
            lc_jw_member_str(out, "text", node->item.text);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_member_int(out, "items_left_out", r->item_count - listed);
}

/* ---- The outcome ----------------------------------------------------------------------------- */

#define OUTCOME_BYTES_MAX (512 * 1024) /* Of refs; the rest goes into another event. */

void lc_rewind_outcome_end(lc_rewind_outcome *to)
{
    if (!to->is_open)
        return;
    if (to->list != NULL)
        lc_jw_end(&to->draft.refs);
    to->list = NULL;
    to->is_open = false;
    if (to->status == LOCI_OK)
        to->status = lc_event_draft_append(&to->draft, to->r->tx, &(lc_append){.type = to->type},
                                           NULL, to->err);
}

bool lc_rewind_outcome_open(lc_rewind_outcome *to, const char *list, loci_str id)
{
    if (to->status == LOCI_OK && to->is_open && to->draft.refs_text.len > OUTCOME_BYTES_MAX)
        lc_rewind_outcome_end(to);
    if (to->status != LOCI_OK)
        return false;
    if (!to->is_open) {
        lc_event_draft_begin(&to->draft, to->r->tx);
        lc_jw_member_str(&to->draft.refs, "session_id", to->r->session_id);
        to->is_open = true;
    }
    if (to->list == NULL || strcmp(to->list, list) != 0) {
        if (to->list != NULL)
            lc_jw_end(&to->draft.refs);
        lc_jw_name(&to->draft.refs, list);
        lc_jw_array(&to->draft.refs);
        to->list = list;
    }
    lc_jw_object(&to->draft.refs);
    lc_jw_member_str(&to->draft.refs, "id", id);
    return true;
}
