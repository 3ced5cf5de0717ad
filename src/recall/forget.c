/* forget.c - see forget.h.
 *
 * A vector is found by the hash of its text, so two rows with the same text share it. It is deleted
 * only if no row has the text any more: one pass over the user's texts, and only if one of the
 * forgotten texts has a vector at all. Deleting it anyway would leave a gap, and searches by
 * meaning stop at the first gap until the job model.reembed has run.
 */
#include "recall/forget.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "recall/recall.h"
#include "store/event.h"
#include "store/snapshot.h"
#include "store/store_room.h"

#define SHOWN_BYTES_MAX 200 /* Bytes of each text that a dry run shows. */

struct lc_forget_node {
    lc_forget_item item;
    lc_forget_node *next;
};

void lc_forget_begin(lc_forgetting *f, lc_tx *tx, lc_arena *arena)
{
    *f = (lc_forgetting){.tx = tx, .arena = arena};
    f->end = &f->first;
    lc_map_init(&f->ids, &tx->db->env->heap, LOCI_MEM_REQUESTS);
}

void lc_forget_end(lc_forgetting *f)
{
    if (f->tx != NULL)
        lc_map_clear(&f->ids);
}

/* ---- Collecting ------------------------------------------------------------------------------ */

static void count_item(lc_forgetting *f, const char *kind)
{
    size_t at = 0;

    while (at < f->kind_count && strcmp(f->kinds[at].kind, kind) != 0)
        at++;
    LC_ASSERT(at < LC_FORGET_KINDS_MAX);
    if (at == f->kind_count)
        f->kinds[f->kind_count++].kind = kind;
    f->kinds[at].count++;
}

static loci_status add_node(lc_forgetting *f, const lc_forget_item *item, loci_error *err)
{
    lc_forget_node *node = lc_arena_alloc(f->arena, sizeof *node);

    if (node == NULL)
        return lc_fail_memory(err);
    *node = (lc_forget_node){.item = *item};
    if (item->id.len > 0) {
        node->item.id = lc_arena_copy(f->arena, item->id);
        if (node->item.id.ptr == NULL || !lc_map_put(&f->ids, node->item.id, node))
            return lc_fail_memory(err);
        count_item(f, item->kind);
        f->item_count++;
    }
    if (item->text.len > 0) {
        node->item.text = lc_arena_copy(f->arena, item->text);
        if (node->item.text.ptr == NULL)
            return lc_fail_memory(err);
    }
    f->events += item->seq > 0;
    if (item->seq > 0 && (f->first_seq == 0 || item->seq < f->first_seq))
        f->first_seq = item->seq;
    *f->end = node;
    f->end = &node->next;
    return LOCI_OK;
}

loci_status lc_forget_each(const lc_forgetting *f, const char *kind, lc_forget_visit *visit,
                           void *ctx, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_forget_node *at = f->first; at != NULL && status == LOCI_OK; at = at->next)
        if (at->item.kind != NULL && strcmp(at->item.kind, kind) == 0)
            status = visit(ctx, &at->item, err);
    return status;
}

loci_status lc_forget_add(lc_forgetting *f, const lc_forget_item *item, loci_error *err)
{
    return lc_map_find(&f->ids, item->id) != NULL ? LOCI_OK : add_node(f, item, err);
}

static loci_status add_event(lc_forgetting *f, const lc_forget_item *item, loci_error *err)
{
    if (item->seq == f->last_event_seq)
        return LOCI_OK;
    f->last_event_seq = item->seq;
    return add_node(f, item, err);
}

loci_status lc_forget_add_event(lc_forgetting *f, int64_t seq, loci_error *err)
{
    return add_event(f, &(lc_forget_item){.kind = "event", .seq = seq}, err);
}

/* ---- Events that a rewind took back ---------------------------------------------------------- */

typedef struct withdrawn_seq {
    int64_t seq;
    struct withdrawn_seq *next;
} withdrawn_seq;

typedef struct matching {
    lc_forgetting *f;
    lc_forget_match *match;
    void *ctx;
    int64_t seq; /* Of the event to match. */
    withdrawn_seq *first, **end;
} matching;

static loci_status keep_seq(void *ctx, const lc_withdrawal *withdrawal, loci_error *err)
{
    matching *m = ctx;
    withdrawn_seq *node = lc_arena_alloc(m->f->arena, sizeof *node);

    if (node == NULL)
        return lc_fail_memory(err);
    *node = (withdrawn_seq){withdrawal->seq, NULL};
    *m->end = node;
    m->end = &node->next;
    return LOCI_OK;
}

static loci_status match_event(void *ctx, const lc_event *stored, loci_error *err)
{
    matching *m = ctx;
    lc_forget_item item = {.kind = "event"};
    lc_event event = *stored;
    bool is_it = false;
    loci_status status;

    if (stored->is_erased || stored->seq != m->seq) /* A snapshot may have replaced it. */
        return LOCI_OK;
    event.refs = lc_arena_copy(m->f->arena, stored->refs);
    event.payload = lc_arena_copy(m->f->arena, stored->payload);
    if (event.refs.ptr == NULL || event.payload.ptr == NULL)
        return lc_fail_memory(err);
    status = m->match(m->ctx, &event, &item, &is_it, err);
    if (status != LOCI_OK || !is_it)
        return status;
    item.seq = stored->seq;
    if (event.type->embedded != NULL)
        status = event.type->embedded(&event, m->f->arena, &item.text, err);
    if (status != LOCI_OK)
        return status;
    return item.id.len > 0 ? lc_forget_add(m->f, &item, err) : add_event(m->f, &item, err);
}

loci_status lc_forget_withdrawn(lc_forgetting *f, const lc_withdrawal_filter *filter,
                                lc_forget_match *match, void *ctx, loci_error *err)
{
    matching m = {.f = f, .match = match, .ctx = ctx};
    loci_status status;

    m.end = &m.first;
    status = lc_withdrawal_each(f->tx, filter, keep_seq, &m, err);
    for (; m.first != NULL && status == LOCI_OK; m.first = m.first->next) {
        lc_event_range range = {.tenant_id = f->tx->tenant_id,
                                .user_id = f->tx->user_id,
                                .after_seq = m.first->seq - 1,
                                .limit = 1};

        m.seq = m.first->seq;
        status = lc_event_each(f->tx, &range, match_event, &m, err);
    }
    return status;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

typedef struct text_node {
    lc_hash128 content;
    struct text_node *next;
} text_node;

static loci_str content_key(const lc_hash128 *content)
{
    return (loci_str){(const char *)content, sizeof *content};
}

static loci_status collect_texts(const lc_forgetting *f, lc_map *out, loci_error *err)
{
    for (const lc_forget_node *node = f->first; node != NULL; node = node->next) {
        text_node *text;

        if (node->item.text.len == 0)
            continue;
        text = lc_arena_alloc(f->arena, sizeof *text);
        if (text == NULL)
            return lc_fail_memory(err);
        *text = (text_node){.content = lc_vector_content(node->item.text)};
        if (!lc_map_put(out, content_key(&text->content), text))
            return lc_fail_memory(err);
    }
    return LOCI_OK;
}

/* Context of keep_text(): a text that some row still has keeps its vector. */
typedef struct keeping {
    lc_map *texts;
    lc_arena *arena;
    loci_str cursor; /* Cursor of the last text that was read. */
    int64_t count;   /* Number of texts of this page that were read. */
} keeping;

static loci_status keep_text(void *ctx, loci_str text, loci_str cursor, loci_error *err)
{
    keeping *k = ctx;
    lc_hash128 content = lc_vector_content(text);

    (void)lc_map_take(k->texts, content_key(&content));
    k->count++;
    k->cursor = lc_arena_copy(k->arena, cursor);
    return k->cursor.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

#define TEXTS_PAGE 500

static loci_status keep_texts_of(lc_tx *tx, const lc_recall_source *source, keeping *k,
                                 loci_error *err)
{
    lc_recall_page page = {.tenant_id = tx->tenant_id,
                           .user_id = tx->user_id,
                           .cursor = LC_STR(""),
                           .limit = TEXTS_PAGE};
    loci_status status;

    do {
        k->count = 0;
        status = lc_recall_each_text(tx, source, &page, keep_text, k, err);
        page.cursor = k->cursor;
    } while (status == LOCI_OK && k->count == TEXTS_PAGE && k->texts->entry_count > 0);
    return status;
}

static loci_status delete_vectors(lc_forgetting *f, const lc_map *texts, loci_error *err)
{
    loci_status status = LOCI_OK;

    /* In the order of adding, because the order of the map differs between runs. */
    for (const lc_forget_node *node = f->first; status == LOCI_OK && node != NULL;
         node = node->next) {
        lc_hash128 content = lc_vector_content(node->item.text);
        int64_t count = 0;

        if (node->item.text.len == 0 || lc_map_find(texts, content_key(&content)) == NULL)
            continue;
        status = lc_vector_forget(f->tx, content, &count, err);
        f->vectors += count;
    }
    return status;
}

static loci_status forget_vectors(lc_forgetting *f, loci_error *err)
{
    const lc_vector_set any = {
        .tenant_id = f->tx->tenant_id, .user_id = f->tx->user_id, .generation = LC_STR("")};
    lc_vector_counts counts = {0};
    lc_map texts;
    keeping k = {.texts = &texts};
    lc_arena arena;
    loci_status status = lc_vector_count(f->tx, &any, &counts, err);

    if (status != LOCI_OK || counts.all == 0)
        return status;
    lc_map_init(&texts, &f->tx->db->env->heap, LOCI_MEM_REQUESTS);
    lc_arena_init(&arena, &f->tx->db->env->heap, LOCI_MEM_REQUESTS);
    k.arena = &arena;
    status = collect_texts(f, &texts, err);
    for (const lc_room *const *room = f->tx->db->catalogue->rooms;
         status == LOCI_OK && *room != NULL && texts.entry_count > 0; room++)
        if ((*room)->texts != NULL)
            status = keep_texts_of(f->tx, (*room)->texts, &k, err);
    if (status == LOCI_OK)
        status = delete_vectors(f, &texts, err);
    lc_arena_clear(&arena);
    lc_map_clear(&texts);
    return status;
}

/* ---- Finishing ------------------------------------------------------------------------------- */

static loci_status ask_for_scrub(lc_forgetting *f, loci_error *err)
{
    f->is_finished = true;
    return lc_scrub_request(f->tx, &f->job_id, err);
}

loci_status lc_forget_finish(lc_forgetting *f, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_forget_node *node = f->first; status == LOCI_OK && node != NULL;
         node = node->next) {
        if (node->item.seq > 0)
            status = lc_event_erase(f->tx, node->item.seq, err);
        if (status == LOCI_OK && node->item.id.len > 0)
            status = lc_forget_named(f->tx, node->item.id, err);
    }
    if (status == LOCI_OK)
        status = forget_vectors(f, err);
    if (status == LOCI_OK)
        status = lc_request_forget(f->tx, &f->ids, &f->answers, err);
    if (status == LOCI_OK)
        status = lc_snapshot_fold(f->tx, err);
    return status == LOCI_OK ? ask_for_scrub(f, err) : status;
}

loci_status lc_forget_user(lc_forgetting *f, loci_error *err)
{
    const lc_vector_set any = {
        .tenant_id = f->tx->tenant_id, .user_id = f->tx->user_id, .generation = LC_STR("")};
    lc_vector_counts counts = {0};
    loci_status status = lc_vector_count(f->tx, &any, &counts, err);

    f->vectors = counts.all;
    if (status == LOCI_OK)
        status = lc_event_erase_all(f->tx, err);
    if (status == LOCI_OK)
        status = lc_forget_operational(f->tx, err);
    if (status == LOCI_OK)
        status = lc_request_forget(f->tx, NULL, &f->answers, err);
    if (status == LOCI_OK)
        status = lc_event_append(f->tx, &(lc_append){.type = &lc_user_forgotten_event}, NULL, err);
    if (status == LOCI_OK)
        status = lc_snapshot_fold(f->tx, err);
    return status == LOCI_OK ? ask_for_scrub(f, err) : status;
}

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

void lc_forget_put(const lc_forgetting *f, lc_json_writer *out)
{
    int64_t listed = 0;

    lc_jw_name(out, "removed");
    lc_jw_object(out);
    for (size_t i = 0; i < f->kind_count; i++)
        lc_jw_member_int(out, f->kinds[i].kind, f->kinds[i].count);
    lc_jw_member_int(out, "event", f->events);
    if (f->is_finished) {
        lc_jw_member_int(out, "vector", f->vectors);
        lc_jw_member_int(out, "answer", f->answers);
    }
    lc_jw_end(out);
    lc_jw_name(out, "items");
    lc_jw_array(out);
    for (const lc_forget_node *node = f->first; node != NULL && listed < LC_FORGET_LISTED_MAX;
         node = node->next) {
        if (node->item.id.len == 0)
            continue;
        listed++;
        lc_jw_object(out);
        lc_jw_member_text(out, "kind", node->item.kind);
        lc_jw_member_str(out, "id", node->item.id);
        if (!f->is_finished && node->item.text.len > 0)
            lc_jw_member_str(out, "text", beginning_of(node->item.text));
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_member_int(out, "items_left_out", f->item_count - listed);
    lc_jw_member_int(out, "needs_review", f->review_count);
}
