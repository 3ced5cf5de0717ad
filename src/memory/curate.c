/* curate.c - see curate.h. */
#include "memory/curate.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "store/event.h"
#include "text/word.h"

#define PAGE_ROWS 500

const lc_setting lc_setting_memory_stale_days = {
    .name = "memory.stale_days",
    .kind = LC_SETTING_INT,
    .default_text = "90",
    .min = 1,
    .max = 36500,
    .help = "Days after which the curator archives memories of importance 0 that were stored once",
    .is_live = true,
    .is_per_tenant = true,
};

/* ---- Reading --------------------------------------------------------------------------------- */

loci_status lc_curator_init(lc_curator *curator, lc_arena *arena, int64_t stale_us, loci_error *err)
{
    *curator = (lc_curator){.arena = arena, .stale_us = stale_us};
    lc_map_init(&curator->folds, arena->heap, LOCI_MEM_REQUESTS);
    return lc_stemmer_init(&curator->stemmer, LC_STEM_ENGLISH, err);
}

void lc_curator_clear(lc_curator *curator)
{
    lc_map_clear(&curator->folds);
    lc_stemmer_clear(&curator->stemmer);
}

/* NULL when out of memory. */
static lc_curation *add_action(lc_curator *c, lc_curation_kind kind, const lc_memory *memory)
{
    lc_curation *action = lc_arena_zalloc_array(c->arena, 1, sizeof *action);

    if (action == NULL)
        return NULL;
    action->kind = kind;
    action->first = (lc_curation_part){memory->seq, lc_arena_copy(c->arena, memory->id), NULL};
    if (action->first.id.ptr == NULL)
        return NULL;
    action->last = &action->first;
    if (c->last != NULL)
        c->last->next = action;
    else
        c->first = action;
    c->last = action;
    return action;
}

/* Words that do not change what a sentence says. */
static bool is_filler(loci_str word)
{
    static const char *const fillers[] = {"a", "an", "the", "really", "very", "just", "please"};

    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
        if (lc_str_is(word, fillers[i]))
            return true;
    return false;
}

/* The properties that two near-duplicates share: persona, key, trust, and the stems of their words
 * in order. */
static loci_status sign(lc_curator *c, const lc_memory *memory, lc_arena *scratch, lc_hash128 *out,
                        loci_error *err)
{
    lc_words words;
    loci_status status = lc_words_split(scratch, memory->text, &words, err);

    *out = lc_hash128_chain((lc_hash128){0}, memory->persona_id);
    *out = lc_hash128_chain(*out, memory->memory_key);
    *out = lc_hash128_chain(*out, memory->trust);
    for (size_t i = 0; status == LOCI_OK && i < words.count; i++) {
        loci_str stem;

        if (is_filler(words.items[i]))
            continue;
        status = lc_stemmer_stem(&c->stemmer, words.items[i], &stem, err);
        if (status == LOCI_OK)
            *out = lc_hash128_chain(*out, stem);
    }
    return status;
}

static loci_status add_to_fold(lc_curator *c, const lc_memory *memory, lc_hash128 hash,
                               loci_error *err)
{
    loci_str key = lc_arena_copy(c->arena, (loci_str){(const char *)&hash, sizeof hash});
    lc_curation *fold = key.ptr != NULL ? lc_map_find(&c->folds, key) : NULL;
    lc_curation_part *part;

    if (key.ptr == NULL)
        return lc_fail_memory(err);
    if (fold == NULL) {
        fold = add_action(c, LC_CURATE_FOLD, memory);
        return fold != NULL && lc_map_put(&c->folds, key, fold) ? LOCI_OK : lc_fail_memory(err);
    }
    part = lc_arena_zalloc_array(c->arena, 1, sizeof *part);
    if (part == NULL)
        return lc_fail_memory(err);
    *part = (lc_curation_part){memory->seq, lc_arena_copy(c->arena, memory->id), NULL};
    if (part->id.ptr == NULL)
        return lc_fail_memory(err);
    fold->last->next = part;
    fold->last = part;
    return LOCI_OK;
}

/* The same three rules decide here and when an action is applied. */
static bool is_stale(const lc_memory *memory, int64_t stale_us, int64_t now_us)
{
    return memory->importance == 0 && memory->mentions == 1 && memory->confirmed_at == 0 &&
           memory->observed_at < now_us - stale_us;
}

static bool is_cared_for(const lc_memory *memory)
{
    size_t sessions = 0;

    for (size_t i = 0; i < memory->sessions.len; i++)
        sessions += memory->sessions.ptr[i] == '"';
    return memory->importance < 2 && !memory->raised &&
           (memory->confirmed_at != 0 || sessions / 2 >= LC_MEMORY_SESSIONS_MAX);
}

static bool may_touch(const lc_memory *memory)
{
    return memory->status == LC_MEMORY_ACTIVE && !memory->pinned;
}

static loci_status judge(lc_curator *c, lc_tx *tx, const lc_memory *memory, loci_error *err)
{
    lc_arena *scratch = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    lc_hash128 hash;
    loci_status status = LOCI_OK;

    c->seen_seq = memory->seq;
    c->seen_count++;
    if (!may_touch(memory))
        return LOCI_OK;
    if (is_stale(memory, c->stale_us, tx->now_us))
        return add_action(c, LC_CURATE_ARCHIVE, memory) != NULL ? LOCI_OK : lc_fail_memory(err);
    if (is_cared_for(memory) && add_action(c, LC_CURATE_RAISE, memory) == NULL)
        return lc_fail_memory(err);
    if (memory->attribute.len == 0) {
        status = sign(c, memory, scratch, &hash, err);
        if (status == LOCI_OK)
            status = add_to_fold(c, memory, hash, err);
    }
    lc_arena_rewind(scratch, mark);
    return status;
}

static const lc_sql page_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and seq > $3"
    " and status = 'active' order by seq limit $4",
    "ttii", "", &lc_memory_row};

loci_status lc_curator_read(lc_curator *curator, lc_tx *tx, bool *out_is_done, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(curator->seen_seq),
                           LC_I(PAGE_ROWS)};
    int64_t before = curator->seen_count;
    lc_memory memory = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &page_sql, args, &rows, err);

    while (lc_row_next(&rows, &memory, &status, err))
        status = judge(curator, tx, &memory, err);
    lc_rows_end(&rows);
    *out_is_done = curator->seen_count - before < PAGE_ROWS;
    return status;
}

/* A fold of one memory folds nothing. */
static const lc_curation *skip_single(const lc_curation *at)
{
    while (at != NULL && at->kind == LC_CURATE_FOLD && at->first.next == NULL)
        at = at->next;
    return at;
}

const lc_curation *lc_curator_first(const lc_curator *curator)
{
    return skip_single(curator->first);
}

const lc_curation *lc_curation_next(const lc_curation *curation)
{
    return skip_single(curation->next);
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql by_seq_sql = {
    "select {row} from memories where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "",
    &lc_memory_row};

/* Without an id in `out` it is gone. */
static loci_status load(lc_tx *tx, int64_t seq, lc_arena *arena, lc_memory *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(seq)};
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&by_seq_sql, args}, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        *out = (lc_memory){0};
    return status;
}

/* A fold in the making. */
typedef struct folding {
    lc_memory fold; /* The newest, with the merged values of all. */
    lc_json_writer ids;
    size_t count;
} folding;

static void add_source(folding *f, const lc_memory *source)
{
    lc_memory all = f->fold;
    bool is_newer = f->count == 0 || source->observed_at >= all.observed_at;

    lc_jw_str(&f->ids, source->id);
    if (f->count++ == 0) {
        f->fold = *source;
        return;
    }
    if (is_newer)
        f->fold = *source;
    f->fold.mentions = all.mentions + source->mentions;
    f->fold.importance = all.importance > source->importance ? all.importance : source->importance;
    f->fold.confidence = all.confidence > source->confidence ? all.confidence : source->confidence;
    f->fold.raised = all.raised || source->raised;
    if (f->fold.confirmed_at < all.confirmed_at)
        f->fold.confirmed_at = all.confirmed_at;
}

static loci_status apply_fold(lc_tx *tx, const lc_curation *curation, lc_arena *arena,
                              bool *out_is_done, loci_error *err)
{
    folding f = {.count = 0};
    lc_buf ids;
    loci_status status = LOCI_OK;

    lc_buf_init(&ids, arena->heap, LOCI_MEM_REQUESTS, LC_EVENT_BYTES_MAX / 2);
    lc_jw_init(&f.ids, &ids);
    lc_jw_array(&f.ids);
    for (const lc_curation_part *part = &curation->first; part != NULL && status == LOCI_OK;
         part = part->next) {
        lc_memory source;

        status = load(tx, part->seq, arena, &source, err);
        if (status == LOCI_OK && source.id.len > 0 && may_touch(&source))
            add_source(&f, &source);
    }
    lc_jw_end(&f.ids);
    if (status == LOCI_OK)
        status = lc_buf_status(&ids, err);
    if (status == LOCI_OK && f.count > 1) {
        f.fold.source = LC_STR("curated_fold");
        f.fold.supersedes = lc_buf_str(&ids);
        status = lc_memory_append(tx, &f.fold, arena, err);
        *out_is_done = true;
    }
    lc_buf_clear(&ids);
    return status;
}

loci_status lc_curation_apply(lc_tx *tx, const lc_curation *curation, lc_arena *arena,
                              bool *out_is_done, loci_error *err)
{
    lc_memory memory;
    loci_status status;

    *out_is_done = false;
    if (curation->kind == LC_CURATE_FOLD)
        return apply_fold(tx, curation, arena, out_is_done, err);
    status = load(tx, curation->first.seq, arena, &memory, err);
    if (status != LOCI_OK || memory.id.len == 0 || !may_touch(&memory))
        return status;
    if (curation->kind == LC_CURATE_ARCHIVE) {
        *out_is_done = is_stale(&memory, 0, tx->now_us);
        memory.status = LC_MEMORY_ARCHIVED;
    } else {
        *out_is_done = is_cared_for(&memory);
        memory.importance++;
        memory.raised = true;
    }
    return *out_is_done ? lc_memory_change(tx, &memory, err) : LOCI_OK;
}

/* ---- Undoing --------------------------------------------------------------------------------- */

/* Stores one source again, in the place of the fold. */
static loci_status restore(lc_tx *tx, const lc_memory *fold, loci_str id, lc_arena *arena,
                           lc_json_writer *out, loci_error *err)
{
    lc_memory source;
    loci_status status = lc_memory_load(tx, fold->persona_id, id, arena, &source, err);
    char *supersedes = lc_arena_alloc(arena, fold->id.len + 5);

    if (status == LOCI_ENOTFOUND) /* Forgotten since. */
        return LOCI_OK;
    if (status == LOCI_OK && supersedes == NULL)
        status = lc_fail_memory(err);
    if (status != LOCI_OK)
        return status;
    memcpy(supersedes, "[\"", 2);
    memcpy(supersedes + 2, fold->id.ptr, fold->id.len);
    memcpy(supersedes + 2 + fold->id.len, "\"]", 3);
    source.status = LC_MEMORY_ACTIVE;
    source.ended_at = 0;
    source.superseded_by = LC_STR_NONE;
    source.supersedes = (loci_str){supersedes, fold->id.len + 4};
    status = lc_memory_append(tx, &source, arena, err);
    lc_jw_str(out, source.id);
    return status;
}

loci_status lc_memory_unfold(lc_tx *tx, const lc_memory *fold, lc_arena *arena, loci_str *out,
                             loci_error *err)
{
    const lc_json *sources = NULL;
    lc_json_writer ids;
    lc_buf json;
    loci_status status = lc_json_parse(arena, fold->supersedes, 0, &sources, err);

    if (status == LOCI_OK && !lc_str_is(fold->source, "curated_fold"))
        status = lc_fail(err, LOCI_EINVAL, "memory %.*s was not made by folding others",
                         LC_STR_ARG(fold->id));
    if (status != LOCI_OK)
        return status;
    lc_buf_init(&json, arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&ids, &json);
    lc_jw_array(&ids);
    for (const lc_json *id = lc_json_first(sources); id != NULL && status == LOCI_OK;
         id = lc_json_next(id))
        status = restore(tx, fold, lc_json_str(id), arena, &ids, err);
    lc_jw_end(&ids);
    if (status == LOCI_OK)
        status = lc_buf_status(&json, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&json));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&json);
    return status;
}
