/* memory_recall.c - see memory_recall.h.
 *
 * Two indexes (recall/recall.h): one of the active memories, and one of all there ever were, which
 * exists only once a caller asks for an earlier time. Filters that the index has no column for
 * (entities, metadata, the time of as_of) are lists of seqs, read from the store and intersected
 * before the search.
 */
#include "memory/memory_recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "memory/entity.h"
#include "memory/slug.h"
#include "recall/recall.h"
#include "store/event.h"

/* ---- The indexes ----------------------------------------------------------------------------- */

/* Neighbours are memories of one conversation: the first session that mentioned one never changes.
 */
#define TEXTS                                                                                      \
    "select seq, observed_at, body, persona_id, substr(mentioned_in, 3, 30), type from memories"   \
    " where tenant_id = $1 and user_id = $2 and seq > $3"

static const lc_sql active_sql = {TEXTS " and status = 'active' order by seq limit $4", "ttii",
                                  "iitttt"};
static const lc_sql all_sql = {TEXTS " and status <> 'claimed' order by seq limit $4", "ttii",
                               "iitttt"};
static const lc_sql ended_sql = {"select seq from memories where tenant_id = $1 and user_id = $2"
                                 " and changed_seq > $3 and status <> 'active'",
                                 "tti", "i"};

/* Vectors are made of history, too: as_of searches it by meaning. */
const lc_recall_source lc_memory_source = {.name = "memory", .rows = &all_sql};
static const lc_recall_source active_source = {
    .name = "memory.active", .rows = &active_sql, .ended = &ended_sql};
static const lc_user_kind active_kind = LC_RECALL_INDEX("memory.corpus", &active_source);
static const lc_user_kind all_kind = LC_RECALL_INDEX("memory.past", &lc_memory_source);

static const lc_sql hits_sql = {"select {row}, seq from memories where tenant_id = $1"
                                " and user_id = $2 and seq in " LC_RECALL_SEQS,
                                LC_RECALL_SEQ_PARAMS, "i", &lc_memory_row};

/* ---- Lists of seqs --------------------------------------------------------------------------- */

typedef struct seq_list {
    int64_t *items; /* In the arena. NULL = no limit. */
    size_t count, room;
} seq_list;

static loci_status add_seq(seq_list *list, lc_arena *arena, int64_t seq, loci_error *err)
{
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 64;
        int64_t *items = lc_arena_zalloc_array(arena, room, sizeof *items);

        if (items == NULL)
            return lc_fail_memory(err);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = seq;
    return LOCI_OK;
}

static loci_status read_seqs(lc_tx *tx, const lc_query *query, lc_arena *arena, seq_list *out,
                             loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        status = add_seq(out, arena, lc_rows_i64(&rows, 0), err);
    lc_rows_end(&rows);
    return status;
}

static int compare_seqs(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Keeps in `list` what is in `other`, too; a list without items is everything. */
static loci_status intersect(seq_list *list, seq_list *other, lc_arena *arena, loci_error *err)
{
    size_t kept = 0, at = 0;
    loci_status status = LOCI_OK;

    if (other->items == NULL) { /* An empty list, not one without a limit. */
        status = add_seq(other, arena, -1, err);
        other->count = 0;
    }
    if (status != LOCI_OK)
        return status;
    if (other->count > 0)
        qsort(other->items, other->count, sizeof *other->items, compare_seqs);
    if (list->items == NULL) {
        *list = *other;
        return LOCI_OK;
    }
    for (size_t i = 0; i < list->count; i++) {
        while (at < other->count && other->items[at] < list->items[i])
            at++;
        if (at < other->count && other->items[at] == list->items[i])
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return LOCI_OK;
}

/* ---- Filters --------------------------------------------------------------------------------- */

static const lc_sql tag_sql = {"select seq from memory_tags where tenant_id = $1 and user_id = $2"
                               " and tag = $3 and persona_id in ('', $4)",
                               "tttt", "i"};
static const lc_sql as_of_sql = {
    "select seq from memories where tenant_id = $1 and user_id = $2 and status <> 'claimed'"
    " and seq <= $4 and (ended_at is null or ended_at > $3)",
    "ttii", "i"};

typedef struct filtering {
    lc_tx *tx;
    lc_arena *arena;
    const lc_memory_query *query;
    seq_list seqs;
} filtering;

static loci_status read_tagged(const filtering *f, loci_str tag, seq_list *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_T(tag),
                           LC_T_OR_EMPTY(f->query->persona_id)};

    return tag.ptr != NULL ? read_seqs(f->tx, &(lc_query){&tag_sql, args}, f->arena, out, err)
                           : lc_fail_memory(err);
}

/* The memories of one entity under all its refs. An unknown one has none. */
static loci_status read_entity(const filtering *f, loci_str name, seq_list *out, loci_error *err)
{
    lc_str_list refs;
    lc_entity entity;
    loci_status status = LOCI_OK;

    if (!lc_id_is(name, "ent"))
        status = lc_ref_make(f->arena, name, &name, err);
    if (status == LOCI_OK)
        status = lc_entity_load(f->tx, f->query->persona_id, name, f->arena, &entity, err);
    if (status == LOCI_ENOTFOUND)
        return LOCI_OK;
    if (status == LOCI_OK)
        status = lc_entity_refs(f->tx, &entity, f->arena, &refs, err);
    for (size_t i = 0; status == LOCI_OK && i < refs.count; i++)
        status = read_tagged(f, lc_memory_entity_tag(f->arena, refs.items[i]), out, err);
    return status;
}

static loci_status filter_entities(filtering *f, loci_error *err)
{
    seq_list any = {0};
    loci_status status = LOCI_OK;

    if (f->query->entities.items == NULL)
        return LOCI_OK;
    for (size_t i = 0; i < f->query->entities.count && status == LOCI_OK; i++)
        status = read_entity(f, f->query->entities.items[i], &any, err);
    return status == LOCI_OK ? intersect(&f->seqs, &any, f->arena, err) : status;
}

static loci_status filter_metadata(filtering *f, loci_error *err)
{
    lc_buf json;
    loci_status status = LOCI_OK;

    if (f->query->metadata == NULL)
        return LOCI_OK;
    lc_buf_init(&json, f->arena->heap, LOCI_MEM_REQUESTS, LC_METADATA_BYTES_MAX * 2);
    for (const lc_json *member = lc_json_first(f->query->metadata);
         member != NULL && status == LOCI_OK; member = lc_json_next(member)) {
        seq_list equal = {0};

        lc_buf_reset(&json);
        status = lc_json_canonical(f->arena, member, &json, err);
        if (status == LOCI_OK)
            status = lc_buf_status(&json, err);
        if (status == LOCI_OK)
            status = read_tagged(
                f, lc_memory_metadata_tag(f->arena, lc_json_name(member), lc_buf_str(&json)),
                &equal, err);
        if (status == LOCI_OK)
            status = intersect(&f->seqs, &equal, f->arena, err);
    }
    lc_buf_clear(&json);
    return status;
}

static loci_status filter_time(filtering *f, loci_error *err)
{
    lc_arg args[] = {LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_I(f->query->as_of_us),
                     LC_I(0)};
    seq_list then = {0};
    int64_t seq;
    loci_status status;

    if (f->query->as_of_us == INT64_MAX)
        return LOCI_OK;
    status = lc_event_find_seq(f->tx, f->query->as_of_us, &seq, err);
    if (status != LOCI_OK)
        return status;
    args[3] = LC_I(seq); /* The rows until then come first in the order of the key. */
    status = read_seqs(f->tx, &(lc_query){&as_of_sql, args}, f->arena, &then, err);
    return status == LOCI_OK ? intersect(&f->seqs, &then, f->arena, err) : status;
}

/* ---- Frequency ------------------------------------------------------------------------------- */

#define COUNTED_TAGS 16 /* With one statement. */

static const lc_sql frequency_sql = {
    "select tag, count(*) from memory_tags where tenant_id = $1 and user_id = $2"
    " and persona_id in ('', $3) and tag in ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
    " $16, $17, $18, $19) group by tag",
    "ttttttttttttttttttt", "ti"};

/* The tag of the subject of a hit; none without one. */
static loci_status subject_tag(const lc_memory_hit *hit, lc_arena *arena, loci_str *out,
                               loci_error *err)
{
    const lc_json *refs;
    loci_status status = lc_json_parse(arena, hit->memory.entity_refs, 0, &refs, err);

    *out = LC_STR_NONE;
    if (status != LOCI_OK || lc_json_count(refs) == 0)
        return status;
    *out = lc_memory_entity_tag(arena, lc_json_str(lc_json_first(refs)));
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Sets the frequency of all hits with one of the `count` tags; unused parameters repeat the last.
 */
static loci_status count_tags(lc_tx *tx, loci_str persona_id, lc_str_list wanted,
                              const loci_str *tags, lc_memory_hits *hits, loci_error *err)
{
    lc_arg args[3 + COUNTED_TAGS] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                                     LC_T_OR_EMPTY(persona_id)};
    lc_rows rows;
    loci_status status;

    for (size_t i = 0; i < COUNTED_TAGS; i++)
        args[3 + i] = LC_T(wanted.items[i < wanted.count ? i : wanted.count - 1]);
    status = lc_tx_query(tx, &frequency_sql, args, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        for (size_t i = 0; i < hits->count; i++)
            if (lc_str_eq(tags[i], lc_rows_str(&rows, 0)))
                hits->items[i].frequency = (double)lc_rows_i64(&rows, 1);
    lc_rows_end(&rows);
    return status;
}

/* How often the subject of each hit is named: its frequency before the blend. */
static loci_status count_subjects(lc_tx *tx, const lc_memory_query *query, lc_arena *arena,
                                  lc_memory_hits *hits, loci_error *err)
{
    loci_str tags[LC_MEMORY_HITS_MAX], wanted[LC_MEMORY_HITS_MAX];
    size_t count = 0;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < hits->count && status == LOCI_OK; i++) {
        size_t same = 0;

        status = subject_tag(&hits->items[i], arena, &tags[i], err);
        while (status == LOCI_OK && same < count && !lc_str_eq(wanted[same], tags[i]))
            same++;
        if (status == LOCI_OK && same == count && tags[i].len > 0)
            wanted[count++] = tags[i];
    }
    for (size_t first = 0; first < count && status == LOCI_OK; first += COUNTED_TAGS) {
        size_t more = count - first < COUNTED_TAGS ? count - first : COUNTED_TAGS;

        status = count_tags(tx, query->persona_id, (lc_str_list){wanted + first, more}, tags, hits,
                            err);
    }
    return status;
}

/* ---- Ranking --------------------------------------------------------------------------------- */

#define HOUR_US INT64_C(3600000000)
#define HALF_LIFE_DAYS 14.0
#define SIMILARITY_WEIGHT 0.4
#define RECENCY_WEIGHT 0.3
#define FREQUENCY_WEIGHT 0.3
#define IMPORTANCE_STEP 0.05
#define WORDS_SHARE 0.6
/* On conversations (bench/memories) any weight from 0.05 to 0.3 finds the same evidence, a little
 * more than without; from 0.5 on it finds less. */
#define NEIGHBOUR_WEIGHT 0.2

/* The best of each part among the hits. */
typedef struct best_parts {
    double bm25, cosine, fused, frequency;
} best_parts;

static double share(bool has, double part, double best)
{
    return has && part > 0 && best > 0 ? part / best : 0;
}

/* Words and meaning relative to the best hit of each, scaled by how good the best hit is at all. */
static double similarity_of(const lc_fused *fused, const best_parts *best)
{
    double words = share(fused->has_bm25, fused->bm25, best->bm25);
    double meaning = share(fused->has_cosine, fused->cosine, best->cosine);
    double relative = best->cosine <= 0 ? words
                      : best->bm25 <= 0 ? meaning
                                        : WORDS_SHARE * words + (1 - WORDS_SHARE) * meaning;

    return relative * best->fused;
}

static best_parts find_best(const lc_memory_hits *hits)
{
    best_parts best = {0};

    for (size_t i = 0; i < hits->count; i++) {
        const lc_memory_hit *hit = &hits->items[i];

        best.bm25 = fmax(best.bm25, hit->fused.has_bm25 ? hit->fused.bm25 : 0);
        best.cosine = fmax(best.cosine, hit->fused.has_cosine ? hit->fused.cosine : 0);
        best.fused = fmax(best.fused, hit->fused.score);
        best.frequency = fmax(best.frequency, hit->frequency);
    }
    return best;
}

static void blend(lc_memory_hit *hit, const best_parts *best, int64_t now_us)
{
    const lc_memory *memory = &hit->memory;
    /* In whole hours, so that a repeated query has the same answer. */
    double days = (double)((now_us - memory->observed_at) / HOUR_US) / 24;
    int64_t importance = lc_memory_importance(memory);
    bool decays = importance < LC_MEMORY_IMPORTANCE_MAX;

    hit->similarity = similarity_of(&hit->fused, best) + hit->neighbours;
    hit->recency = decays && days > 0 ? pow(0.5, days / HALF_LIFE_DAYS) : 1;
    hit->frequency = hit->frequency > 0 ? log(1 + hit->frequency) / log(1 + best->frequency) : 0.5;
    hit->boost = 1 + IMPORTANCE_STEP * (double)(importance - 1);
    hit->score = hit->similarity *
                 (SIMILARITY_WEIGHT + RECENCY_WEIGHT * hit->recency +
                  FREQUENCY_WEIGHT * hit->frequency) *
                 hit->boost;
    hit->score = hit->score > 1 ? 1 : hit->score;
}

static int compare_hits(const void *a, const void *b)
{
    const lc_memory_hit *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->memory.seq > y->memory.seq ? -1 : x->memory.seq < y->memory.seq; /* The newest. */
}

static loci_status rank(lc_tx *tx, const lc_memory_query *query, lc_arena *arena,
                        lc_memory_hits *hits, loci_error *err)
{
    int64_t now_us = query->as_of_us < tx->now_us ? query->as_of_us : tx->now_us;
    size_t kept = 0;
    best_parts best;
    loci_status status = count_subjects(tx, query, arena, hits, err);

    if (status != LOCI_OK || hits->count == 0)
        return status;
    best = find_best(hits);
    for (size_t i = 0; i < hits->count; i++)
        blend(&hits->items[i], &best, now_us);
    qsort(hits->items, hits->count, sizeof *hits->items, compare_hits);
    while (kept < hits->count && hits->items[kept].score >= query->min_score)
        kept++;
    hits->near_misses = hits->count - kept;
    hits->count = kept;
    return LOCI_OK;
}

enum { SESSION_TAG, TYPE_TAG };

loci_status lc_memory_recall(lc_tx *tx, const lc_memory_query *query, lc_arena *arena,
                             lc_memory_hits *out, loci_error *err)
{
    filtering f = {tx, arena, query, {0}};
    lc_recall_query wanted = {.terms = query->terms,
                              .vector = query->vector,
                              .persona_id = query->persona_id,
                              .from_us = query->from_us,
                              .to_us = query->to_us,
                              .limit = query->limit > LC_MEMORY_RANKED ? query->limit
                                                                       : LC_MEMORY_RANKED,
                              .neighbours = LC_NEIGHBOURS_RATED};
    lc_recall_hits hits = {0};
    lc_recall_rows rows = {.item_bytes = sizeof(lc_memory_hit)};
    loci_status status = filter_entities(&f, err);

    *out = (lc_memory_hits){0};
    if (status == LOCI_OK)
        status = filter_metadata(&f, err);
    if (status == LOCI_OK)
        status = filter_time(&f, err);
    if (status != LOCI_OK)
        return status;
    if (query->types.items != NULL)
        wanted.tags[TYPE_TAG] = &query->types;
    wanted.seqs = f.seqs.items;
    wanted.seq_count = f.seqs.count;
    status = lc_recall_search(tx, query->as_of_us == INT64_MAX ? &active_kind : &all_kind, &wanted,
                              arena, &hits, err);
    if (status == LOCI_OK)
        status = lc_recall_read(tx, &hits_sql, &hits, arena, &rows, err);
    if (status != LOCI_OK)
        return status;
    *out = (lc_memory_hits){rows.items, hits.count, 0, hits.is_complete};
    for (size_t i = 0; i < hits.count; i++) {
        out->items[i].fused = hits.items[i].score;
        out->items[i].neighbours = NEIGHBOUR_WEIGHT * hits.items[i].beside;
    }
    return rank(tx, query, arena, out, err);
}

/* ---- Cards ----------------------------------------------------------------------------------- */

#define CARD_HITS_MAX 20 /* Hits whose entities are considered. */
/* Rows that are read for a card: some of them may be pinned (at most 20), or on the other cards. */
#define CARD_ROWS "35"

/* The tag of a card is only on memories that are important enough for it. An entity also has the
 * memories of its aliases. */
static const lc_sql card_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and status = 'active'"
    " and seq in (select seq from memory_tags where tenant_id = $1 and user_id = $2"
    " and persona_id in ('', $4) and tag in (select 'c:' || ref from entities"
    " where tenant_id = $1 and user_id = $2 and id = $3 union all select 'c:' || ref from entities"
    " where tenant_id = $1 and user_id = $2 and merged_into = $3))"
    " order by pinned desc, importance desc, observed_at desc, seq desc limit " CARD_ROWS,
    "tttt", "", &lc_memory_row};

/* Writes one line, without the characters that end a fact or a card. */
static void put_fact(lc_buf *out, loci_str fact)
{
    size_t bytes = fact.len < LC_CARD_FACT_BYTES_MAX ? fact.len : LC_CARD_FACT_BYTES_MAX;

    while (bytes < fact.len && bytes > 0 && ((unsigned char)fact.ptr[bytes] & 0xC0) == 0x80)
        bytes--; /* Not inside a character. */
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)fact.ptr[i];

        lc_buf_append_byte(out, byte == '['                   ? '('
                                : byte == ']'                 ? ')'
                                : byte == ';'                 ? ','
                                : byte < 0x20 || byte == 0x7F ? ' '
                                                              : (char)byte);
    }
    if (bytes < fact.len)
        lc_buf_append(out, LC_STR("…"));
}

bool lc_memory_is_on_card(const lc_memory_cards *cards, loci_str id)
{
    for (size_t i = 0; i < cards->count; i++)
        for (size_t k = 0; k < cards->items[i].count; k++)
            if (lc_str_eq(cards->items[i].ids[k], id))
                return true;
    return false;
}

/* Makes the card behind those that there are. */
static loci_status make_card(lc_tx *tx, loci_str persona_id, const lc_entity *entity,
                             lc_arena *arena, lc_memory_cards *cards, loci_error *err)
{
    lc_memory_card *out = &cards->items[cards->count];
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(entity->id),
                           LC_T_OR_EMPTY(persona_id)};
    lc_memory memory = {0};
    lc_rows rows;
    lc_buf text;
    loci_status status = lc_tx_query(tx, &card_sql, args, &rows, err);

    *out = (lc_memory_card){.ref = entity->ref};
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_EVENT_BYTES_MAX);
    lc_buf_append_format(&text, "[%.*s]: ", LC_STR_ARG(entity->ref));
    while (out->count < LC_CARD_FACTS_MAX && lc_row_next(&rows, &memory, &status, err)) {
        if ((cards->without_pinned && memory.pinned) ||
            (cards->is_each_once && lc_memory_is_on_card(cards, memory.id)))
            continue;
        if (out->count > 0)
            lc_buf_append(&text, LC_STR("; "));
        put_fact(&text, memory.text);
        out->ids[out->count] = lc_arena_copy(arena, memory.id);
        if (out->ids[out->count++].ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK)
        status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        out->text = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->text.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static bool has_card(const lc_memory_cards *cards, loci_str ref)
{
    for (size_t i = 0; i < cards->count; i++)
        if (lc_str_eq(cards->items[i].ref, ref))
            return true;
    return false;
}

/* Adds the card of the entity that `ref` leads to, unless it is there or has no fact. */
static loci_status add_card(lc_tx *tx, loci_str persona_id, loci_str ref, lc_arena *arena,
                            lc_memory_cards *out, loci_error *err)
{
    lc_entity entity;
    loci_status status = lc_entity_load(tx, persona_id, ref, arena, &entity, err);

    if (status == LOCI_ENOTFOUND) /* Of another persona. */
        return LOCI_OK;
    if (status != LOCI_OK || has_card(out, entity.ref))
        return status;
    status = make_card(tx, persona_id, &entity, arena, out, err);
    out->count += status == LOCI_OK && out->items[out->count].count > 0;
    return status;
}

loci_status lc_memory_make_cards(lc_tx *tx, loci_str persona_id, const lc_memory_hits *hits,
                                 lc_arena *arena, lc_memory_cards *out, loci_error *err)
{
    size_t tried = hits->count < CARD_HITS_MAX ? hits->count : CARD_HITS_MAX;
    loci_status status = LOCI_OK;

    out->count = 0;
    for (size_t i = 0; i < tried && status == LOCI_OK; i++) {
        const lc_json *refs;

        status = lc_json_parse(arena, hits->items[i].memory.entity_refs, 0, &refs, err);
        for (const lc_json *ref = status == LOCI_OK ? lc_json_first(refs) : NULL;
             ref != NULL && status == LOCI_OK && out->count < LC_CARDS_MAX; ref = lc_json_next(ref))
            status = add_card(tx, persona_id, lc_json_str(ref), arena, out, err);
    }
    return status;
}
