/* meaning.c - The job: for each user and each source, one page of texts is read and those without a
 * vector are kept (one snapshot), embedded (outside of any transaction) and put (one commit with
 * the checkpoint; a page that has all its vectors needs none). A crash in between costs one page.
 *
 *     checkpoint = {generation, tenant, user, source, cursor, users, texts, embedded, deleted}
 *
 * It is where the next page begins. If the settings ask for another generation than the
 * checkpoint's, the work starts from the beginning; if they change meanwhile, the attempt ends as a
 * conflict and the next one starts from the beginning.
 *
 * A job of the newest texts must not read all the older ones. It begins LOOK_BACK events before the
 * head; if the texts there are not a full page with all vectors, four times as far back, and so on.
 * Vectors are made in the order of writing, so it rarely looks twice, and an older gap that it does
 * not see is found by the next search. When enough was written behind the last page, it adds its
 * successor before it ends: a writer that found the job running has added none.
 */
#include "engine/meaning.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/pool.h"
#include "engine/rooms.h"
#include "store/upkeep.h"
#include "store/vector.h"

/* A token has at least one byte, and models that take less than 8192 tokens cut by themselves. The
 * vector is still stored under the hash of the whole text. */
#define TEXT_BYTES_MAX 8192
#define ENQUEUE_US 10000000
#define PAGE_TEXTS 64
#define WAIT_US 20000 /* Between two yield points of a job that waits for its rate. */
#define PAGE_BYTES (256u * 1024)
#define DELETE_ROWS 500
#define CHECKPOINT_BYTES_MAX 8192
#define CURSOR_BYTES_MAX 1024
#define LOOK_BACK 256    /* Events; about the texts that are written while one job runs. */
#define LOOK_BACK_STEP 4 /* Factor. */
#define GROWTH (LC_CORPUS_TAIL_MAX / 2)
#define COUNT_MASK UINT64_C(0xFFFF) /* Lower bits of a slot; the others are the hash. */

static loci_str cut_text(loci_str text)
{
    if (text.len > TEXT_BYTES_MAX) {
        text.len = TEXT_BYTES_MAX;
        while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xC0) == 0x80)
            text.len--;
    }
    return text;
}

/* ---- The query ------------------------------------------------------------------------------- */

static loci_status embed_texts(const lc_meaning *meaning, loci_str tenant_id, const loci_str *texts,
                               size_t count, float *out, loci_error *err)
{
    lc_arena arena;
    loci_str *cut;
    loci_status status;

    lc_arena_init(&arena, &lc_engine_env(meaning->engine)->heap, LOCI_MEM_REQUESTS);
    cut = lc_arena_zalloc_array(&arena, count, sizeof *cut);
    status = cut != NULL ? LOCI_OK : lc_fail_memory(err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        cut[i] = cut_text(texts[i]);
    if (status == LOCI_OK) {
        lc_model_use use = {.tenant_id = tenant_id, .arena = &arena, .deadline_us = INT64_MAX};
        lc_embed_batch batch = {
            .texts = cut, .count = count, .dimensions = meaning->embedder.dimensions, .out = out};

        status = lc_models_embed(lc_engine_models(meaning->engine), &use, &meaning->embedder,
                                 &batch, err);
    }
    lc_arena_clear(&arena);
    return status;
}

static loci_status embed(void *ctx, lc_tx *tx, const loci_str *texts, size_t count, float *out,
                         loci_error *err)
{
    return embed_texts(ctx, tx->tenant_id, texts, count, out, err);
}

loci_status lc_meaning_find(lc_meaning *out, loci_engine *engine, loci_str tenant_id,
                            loci_str query, lc_arena *arena, loci_error *err)
{
    float *vector;
    loci_status status;

    *out = (lc_meaning){0};
    if (lc_str_trim(query).len == 0)
        return LOCI_OK;
    out->engine = engine;
    status = lc_models_find_embedder(lc_engine_models(engine), arena, &out->embedder, err);
    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || out->embedder.kind != LC_EMBEDDER_BUILTIN)
        return LOCI_OK; /* model.status reports the reason. */
    vector = lc_arena_zalloc_array(arena, out->embedder.dimensions, sizeof *vector);
    if (vector == NULL)
        return lc_fail_memory(err);
    status = embed_texts(out, tenant_id, &query, 1, vector, err);
    if (status != LOCI_OK)
        return status;
    out->vector = vector;
    out->embedding = (lc_embedding){.generation = out->embedder.generation,
                                    .dimensions = out->embedder.dimensions,
                                    .embed = embed,
                                    .ctx = out};
    return LOCI_OK;
}

loci_status lc_meaning_warn(const lc_meaning *meaning, lc_tx *tx, lc_arena *arena, loci_str *out,
                            loci_error *err)
{
    lc_vector_set set = {.tenant_id = tx->tenant_id, .user_id = tx->user_id};
    loci_str stale;
    loci_status status;

    *out = LC_STR_NONE;
    if (meaning->engine == NULL)
        return LOCI_OK;
    set.generation = loci_str_of(meaning->embedder.generation); /* "": the embedder is missing. */
    status = lc_vector_find_stale(tx, &set, arena, &stale, err);
    if (status == LOCI_OK && stale.ptr != NULL)
        status = lc_models_explain_stale(lc_engine_models(meaning->engine), stale, arena, out, err);
    return status;
}

/* ---- Queueing the job ------------------------------------------------------------------------ */

/* A task of the pool that adds the job. */
typedef struct wanted {
    lc_task task;
    loci_engine *engine;
    size_t bytes;
    loci_str tenant_id, user_id; /* In the same allocation. */
} wanted;

static loci_status enqueue(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_embed_enqueue_unless_newest(tx, err);
}

static loci_status write_job(loci_engine *engine, loci_str tenant_id, loci_str user_id)
{
    return lc_engine_write(engine, &(lc_write){.tenant_id = tenant_id,
                                               .user_id = user_id,
                                               .now_us = lc_env_now_us(lc_engine_env(engine)),
                                               .deadline_us = lc_clock_monotonic_us() + ENQUEUE_US,
                                               .body = enqueue});
}

loci_status lc_meaning_make_vectors(loci_engine *engine, loci_str tenant_id, loci_str user_id,
                                    int64_t deadline_us)
{
    int64_t now_us = lc_clock_monotonic_us();
    int64_t half_us = deadline_us > now_us ? (deadline_us - now_us) / 2 : 0;
    loci_status status = write_job(engine, tenant_id, user_id);

    return status == LOCI_OK ? lc_engine_run_jobs(engine, now_us + half_us, NULL) : status;
}

static loci_status add_job(void *ctx, loci_error *err)
{
    wanted *w = ctx;
    loci_status status = write_job(w->engine, w->tenant_id, w->user_id);

    (void)err;
    if (status == LOCI_OK)
        lc_engine_wake_workers(w->engine);
    return status;
}

static void run_wanted(void *ctx)
{
    wanted *w = ctx;

    /* If it fails, a later search asks for it again. */
    (void)lc_engine_guard(w->engine, add_job, w, NULL);
    lc_heap_free(&lc_engine_env(w->engine)->heap, w, w->bytes, LOCI_MEM_REQUESTS);
}

bool lc_meaning_queue_job(lc_meaning *meaning, const lc_tx *tx)
{
    loci_str tenant_id = tx->tenant_id, user_id = tx->user_id;
    size_t bytes = sizeof(wanted) + tenant_id.len + user_id.len;
    bool is_wanted = meaning->embedding.wants_job;
    lc_heap *heap;
    wanted *w;

    meaning->embedding.wants_job = false;
    if (!is_wanted)
        return false;
    if (lc_engine_is_read_only(meaning->engine))
        return false;
    if (lc_engine_is_inline(meaning->engine))
        return true;
    heap = &lc_engine_env(meaning->engine)->heap;
    w = lc_heap_zalloc(heap, bytes, LOCI_MEM_REQUESTS);
    if (w == NULL)
        return false;
    *w = (wanted){.task = {.run = run_wanted, .ctx = w},
                  .engine = meaning->engine,
                  .bytes = bytes,
                  .tenant_id = {(char *)(w + 1), tenant_id.len},
                  .user_id = {(char *)(w + 1) + tenant_id.len, user_id.len}};
    memcpy(w + 1, tenant_id.ptr, tenant_id.len);
    memcpy((char *)(w + 1) + tenant_id.len, user_id.ptr, user_id.len);
    if (lc_engine_queue_task(meaning->engine, &w->task, NULL) != LOCI_OK)
        lc_heap_free(heap, w, bytes, LOCI_MEM_REQUESTS);
    return false;
}

/* Counts texts of the user of `tx`; returns true and restarts at 0 at GROWTH texts. Users that
 * share a slot overwrite each other's count, and a new process starts at 0: then a search adds the
 * job. */
static bool count_texts(loci_engine *engine, const lc_tx *tx, size_t texts)
{
    uint64_t user = lc_hash128_of(tx->user_id).low ^ lc_hash128_of(tx->tenant_id).high;
    _Atomic uint64_t *slot = &engine->new_texts[user % LC_NEW_TEXTS_SLOTS];
    uint64_t before = atomic_load_explicit(slot, memory_order_relaxed), mark = user & ~COUNT_MASK;
    uint64_t count = texts + ((before & ~COUNT_MASK) == mark ? before & COUNT_MASK : 0);

    atomic_store_explicit(slot, mark | (count < GROWTH ? count : 0), memory_order_relaxed);
    return count >= GROWTH;
}

loci_status lc_meaning_follow_writes(loci_engine *engine, lc_tx *tx, size_t texts, loci_error *err)
{
    if (lc_engine_is_inline(engine) || !count_texts(engine, tx, texts))
        return LOCI_OK;
    return lc_embed_enqueue_newest(tx, err);
}

/* ---- The job --------------------------------------------------------------------------------- */

typedef struct counts {
    int64_t users, texts, embedded, deleted;
} counts;

/* The texts of one round, in its arena. */
typedef struct page {
    loci_str texts[PAGE_TEXTS];
    lc_vector vectors[PAGE_TEXTS];
    size_t count;
    size_t bytes;
    size_t seen; /* Texts read, those that need no vector included. */
    bool is_full;
    int64_t forgotten_seq; /* lc_tx_forgotten_seq() when the texts were read. */
    int64_t head_seq;      /* Of the user's head at that time. */
    bool is_first;         /* The start was searched for, and is the first text. */
} page;

typedef struct work {
    lc_job_run *run;
    lc_models *models;
    lc_embedder embedder;
    lc_arena arena; /* Of one round. */
    lc_arena embedder_arena;
    bool is_of_store;
    bool is_newest;       /* Only the newest texts of one user. */
    bool is_looking_back; /* Searching for the place where they begin. */
    int64_t look_back;
    int64_t seen_seq;  /* Head of the user when the last page of a source was read. */
    lc_user_walk walk; /* At the current user. */
    size_t source;
    lc_buf cursor;
    lc_buf next_cursor; /* Behind the current page. */
    counts done;
    int64_t deleted_now;
    page *page;
    lc_buf checkpoint;
} work;

static const lc_recall_source *source_of(const work *w)
{
    return lc_engine_texts_at(w->source);
}

static lc_vector_set set_of(const work *w)
{
    return (lc_vector_set){
        .tenant_id = lc_user_walk_tenant(&w->walk),
        .user_id = lc_user_walk_user(&w->walk),
        .generation = loci_str_of(w->embedder.generation),
        .dimensions = w->embedder.dimensions,
    };
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static void put_counts(const work *w, lc_json_writer *out)
{
    lc_jw_member_text(out, "generation", w->embedder.generation);
    lc_jw_member_int(out, "users", w->done.users);
    lc_jw_member_int(out, "texts", w->done.texts);
    lc_jw_member_int(out, "embedded", w->done.embedded);
    lc_jw_member_int(out, "deleted", w->done.deleted);
}

static loci_status write_checkpoint(work *w, loci_error *err)
{
    const lc_recall_source *source = source_of(w);
    lc_json_writer out;

    lc_buf_reset(&w->checkpoint);
    lc_jw_init(&out, &w->checkpoint);
    lc_jw_object(&out);
    put_counts(w, &out);
    lc_jw_member_str(&out, "tenant", lc_user_walk_tenant(&w->walk));
    lc_jw_member_str(&out, "user", lc_user_walk_user(&w->walk));
    lc_jw_member_text(&out, "source", source != NULL ? source->name : "");
    lc_jw_member_str(&out, "cursor", lc_buf_str(&w->cursor));
    lc_jw_end(&out);
    return lc_buf_status(&w->checkpoint, err);
}

static loci_str text_of(const lc_json *json, const char *name)
{
    const lc_json *value = lc_json_find(json, name, LC_JSON_STRING);

    return value != NULL ? lc_json_str(value) : LC_STR("");
}

static int64_t number_of(const lc_json *json, const char *name)
{
    const lc_json *value = lc_json_find(json, name, LC_JSON_INT);

    return value != NULL ? lc_json_int(value) : 0;
}

static void stand_on(work *w, loci_str tenant_id, loci_str user_id)
{
    lc_user_walk_restart(&w->walk);
    lc_buf_append(&w->walk.tenant_id, tenant_id);
    lc_buf_append(&w->walk.user_id, user_id);
    w->walk.found = true;
}

/* A source that does not exist any more is treated as finished, and so are those behind it. */
static size_t find_source(loci_str name)
{
    size_t at = 0;

    while (lc_engine_texts_at(at) != NULL && !lc_str_is(name, lc_engine_texts_at(at)->name))
        at++;
    return at;
}

/* Continues at the checkpoint of the previous attempt, if it made vectors of the same generation.
 */
static void resume(work *w)
{
    loci_str checkpoint = w->run->job.checkpoint;
    const lc_json *json = NULL;

    if (checkpoint.ptr == NULL ||
        lc_json_parse(w->run->arena, checkpoint, 0, &json, NULL) != LOCI_OK ||
        !lc_str_is(text_of(json, "generation"), w->embedder.generation))
        return;
    w->done = (counts){.users = number_of(json, "users"),
                       .texts = number_of(json, "texts"),
                       .embedded = number_of(json, "embedded"),
                       .deleted = number_of(json, "deleted")};
    stand_on(w, text_of(json, "tenant"), text_of(json, "user"));
    w->source = find_source(text_of(json, "source"));
    lc_buf_append(&w->cursor, text_of(json, "cursor"));
    w->is_looking_back = w->is_newest && w->cursor.len == 0;
}

static lc_job_progress progress_of(const work *w)
{
    return (lc_job_progress){.done = w->done.texts, .checkpoint = lc_buf_str(&w->checkpoint)};
}

/* lc_model_use.pause, called while a provider is waited for. */
static loci_status keep(void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_job_progress progress = progress_of(w);

    return lc_job_run_keep(w->run, &progress, err);
}

/* ---- One page -------------------------------------------------------------------------------- */

static loci_status take_text(void *ctx, loci_str text, loci_str cursor, loci_error *err)
{
    work *w = ctx;
    page *p = w->page;
    loci_str kept = cut_text(text);

    if (p->is_full || (p->count > 0 && p->bytes + kept.len > PAGE_BYTES)) {
        p->is_full = true; /* The rest comes with the next page. */
        return LOCI_OK;
    }
    p->seen++;
    lc_buf_reset(&w->next_cursor);
    lc_buf_append(&w->next_cursor, cursor);
    if (lc_str_trim(kept).len == 0)
        return lc_buf_status(&w->next_cursor, err);
    p->texts[p->count] = lc_arena_copy(&w->arena, kept);
    if (p->texts[p->count].ptr == NULL)
        return lc_fail_memory(err);
    p->vectors[p->count] = (lc_vector){.content = lc_vector_content(text)};
    p->bytes += kept.len;
    p->count++;
    return lc_buf_status(&w->next_cursor, err);
}

/* Drops texts that have a vector, and duplicates. */
static void keep_missing(page *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->count; i++) {
        bool is_known = p->vectors[i].found;

        for (size_t j = 0; !is_known && j < kept; j++)
            is_known = lc_hash128_eq(p->vectors[j].content, p->vectors[i].content);
        if (is_known)
            continue;
        p->texts[kept] = p->texts[i];
        p->vectors[kept] = p->vectors[i];
        kept++;
    }
    p->count = kept;
}

static loci_status read_page(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_vector_set set = set_of(w);
    lc_head head = {0};
    lc_recall_page where = {.tenant_id = set.tenant_id,
                            .user_id = set.user_id,
                            .cursor = {w->cursor.ptr != NULL ? w->cursor.ptr : "", w->cursor.len},
                            .limit = PAGE_TEXTS};
    char look_back[24];
    loci_status status;

    tx->tenant_id = set.tenant_id; /* For the head. */
    tx->user_id = set.user_id;
    status = lc_tx_head(tx, &head, err);
    *w->page = (page){.head_seq = head.seq};
    if (w->is_looking_back) {
        w->page->is_first = head.seq <= w->look_back;
        where.cursor = (loci_str){
            look_back, (size_t)snprintf(look_back, sizeof look_back, "%" PRId64,
                                        w->page->is_first ? 0 : head.seq - w->look_back)};
    }
    if (status == LOCI_OK)
        status = lc_tx_forgotten_seq(tx, set.tenant_id, set.user_id, LC_STR_NONE,
                                     &w->page->forgotten_seq, err);
    if (status == LOCI_OK)
        status = lc_recall_each_text(tx, source_of(w), &where, take_text, w, err);
    if (status == LOCI_OK)
        status = lc_vector_find(tx, &set, w->page->vectors, w->page->count, err);
    if (status == LOCI_OK) {
        w->page->is_full = w->page->is_full || w->page->seen == PAGE_TEXTS;
        keep_missing(w->page);
    }
    return status;
}

/* Makes way for other jobs. */
static loci_status yield_point(work *w, loci_error *err)
{
    lc_job_progress progress = progress_of(w);

    return lc_job_run_yield_point(w->run, w->checkpoint.len > 0 ? &progress : NULL, err);
}

/* Waits until `texts` texts may be embedded at the rate of the setting. The rate is charged when
 * the wait ends, so a job that makes way before has taken nothing from it. */
static loci_status wait_for_rate(work *w, size_t texts, loci_error *err)
{
    loci_engine *engine = w->run->engine;
    int64_t rate = lc_settings_i64(lc_engine_settings(engine), &lc_setting_model_embed_rate,
                                   LC_STR_NONE);
    int64_t took_us = rate > 0 ? (int64_t)texts * 1000000 / rate : 0;
    loci_status status = LOCI_OK;

    if (rate == 0 || lc_engine_is_inline(engine))
        return LOCI_OK;
    while (status == LOCI_OK) {
        int64_t free_us = atomic_load(&engine->embed_free_us);
        int64_t now_us = lc_clock_monotonic_us(), left_us = free_us - now_us;
        int64_t start_us = left_us > -WAIT_US ? free_us : now_us; /* A short delay is made up. */

        if (left_us <= 0 &&
            atomic_compare_exchange_strong(&engine->embed_free_us, &free_us, start_us + took_us))
            break;
        if (left_us <= 0) /* Another job was faster. */
            continue;
        lc_clock_sleep_us(left_us < WAIT_US ? left_us : WAIT_US);
        status = yield_point(w, err);
        if (status == LOCI_OK)
            status = keep(w, err);
    }
    return status;
}

static loci_status embed_page(work *w, loci_error *err)
{
    page *p = w->page;
    lc_embed_batch batch = {
        .texts = p->texts, .count = p->count, .dimensions = w->embedder.dimensions};
    lc_model_use use = {.tenant_id = lc_user_walk_tenant(&w->walk),
                        .arena = &w->arena,
                        .deadline_us = INT64_MAX,
                        .pause = keep,
                        .pause_ctx = w};
    loci_status status;

    if (p->count == 0)
        return LOCI_OK;
    batch.out = lc_arena_zalloc_array(&w->arena, p->count * batch.dimensions, sizeof *batch.out);
    if (batch.out == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < p->count; i++)
        p->vectors[i].numbers = batch.out + i * batch.dimensions;
    status = wait_for_rate(w, p->count, err);
    if (status != LOCI_OK)
        return status;
    return lc_models_embed(w->models, &use, &w->embedder, &batch, err);
}

static loci_status put_page(lc_tx *tx, void *ctx, loci_error *err)
{
    const work *w = ctx;
    lc_vector_set set = set_of(w);
    int64_t forgotten_seq = 0;
    loci_status status = lc_tx_forgotten_seq(tx, set.tenant_id, set.user_id, LC_STR_NONE,
                                             &forgotten_seq, err);

    /* One of the texts may be gone, and its vector must not come back. */
    if (status == LOCI_OK && forgotten_seq != w->page->forgotten_seq)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "something was forgotten while texts were embedded; the job begins the"
                         " page again");
    if (status != LOCI_OK)
        return status;
    return lc_vector_put(tx, &set, w->page->vectors, w->page->count, err);
}

/* The settings may have changed: vectors of two embedders must not be mixed. */
static loci_status check_embedder(work *w, loci_error *err)
{
    lc_embedder now;
    loci_status status = lc_models_find_embedder(w->models, &w->arena, &now, err);

    if (status == LOCI_OK)
        status = lc_generation_check(loci_str_of(w->embedder.generation),
                                     loci_str_of(now.generation), err);
    return status;
}

static loci_status commit(work *w, lc_tx_body *body, loci_error *err)
{
    lc_job_progress progress;
    loci_status status = write_checkpoint(w, err);

    if (status != LOCI_OK)
        return status;
    progress = progress_of(w);
    return lc_job_run_commit(w->run, body, w, &progress, err);
}

/* Moves behind the page; with the last page of a source to the next source. */
static void leave_page(work *w)
{
    w->done.texts += (int64_t)w->page->seen;
    w->done.embedded += (int64_t)w->page->count;
    w->is_looking_back = false;
    lc_buf_reset(&w->cursor);
    if (w->page->is_full) {
        lc_buf_append(&w->cursor, lc_buf_str(&w->next_cursor));
        return;
    }
    if (w->source == 0)
        w->seen_seq = w->page->head_seq;
    w->source++;
    w->is_looking_back = w->is_newest;
    w->look_back = LOOK_BACK;
}

static loci_status run_page(work *w, loci_error *err)
{
    loci_engine *engine = w->run->engine;
    lc_read read = {.tenant_id = lc_user_walk_tenant(&w->walk),
                    .user_id = lc_user_walk_user(&w->walk),
                    .deadline_us = INT64_MAX,
                    .body = read_page,
                    .ctx = w};
    loci_status status;

    lc_arena_clear(&w->arena);
    w->page = lc_arena_alloc(&w->arena, sizeof *w->page);
    status = w->page != NULL ? check_embedder(w, err) : lc_fail_memory(err);
    if (status == LOCI_OK)
        status = lc_engine_read(engine, &read, err);
    if (status == LOCI_OK && w->is_looking_back && !w->page->is_first &&
        (w->page->count > 0 || !w->page->is_full)) {
        w->look_back *= LOOK_BACK_STEP;
        return LOCI_OK;
    }
    if (status == LOCI_OK)
        status = embed_page(w, err);
    if (status != LOCI_OK)
        return status;
    leave_page(w);
    if (w->page->count > 0)
        return commit(w, put_page, err);
    status = write_checkpoint(w, err);
    return status == LOCI_OK ? keep(w, err) : status;
}

/* ---- One user, all users --------------------------------------------------------------------- */

static loci_status delete_others(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_vector_set set = set_of(w);

    return lc_vector_delete(tx, &set, DELETE_ROWS, &w->deleted_now, err);
}

static loci_status run_user(work *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && source_of(w) != NULL) {
        status = yield_point(w, err);
        if (status == LOCI_OK)
            status = run_page(w, err);
    }
    w->deleted_now = w->is_newest ? 0 : DELETE_ROWS;
    while (status == LOCI_OK && w->deleted_now == DELETE_ROWS) {
        status = commit(w, delete_others, err);
        if (status == LOCI_OK)
            w->done.deleted += w->deleted_now;
    }
    if (status == LOCI_OK)
        w->done.users++;
    return status;
}

static loci_status next_user(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;

    return lc_user_walk_next(tx, &w->walk, &lc_user_heads_sql, err);
}

/* Moves to the next user; walk.found is false behind the last. */
static loci_status move_on(work *w, loci_error *err)
{
    w->source = 0;
    lc_buf_reset(&w->cursor);
    if (w->is_of_store)
        return lc_engine_read(
            w->run->engine, &(lc_read){.deadline_us = INT64_MAX, .body = next_user, .ctx = w}, err);
    w->walk.found = false;
    return LOCI_OK;
}

static loci_status run_users(work *w, loci_error *err)
{
    const lc_job *job = &w->run->job;
    loci_status status = LOCI_OK;

    if (!w->walk.found && w->is_of_store)
        status = move_on(w, err);
    else if (!w->walk.found)
        stand_on(w, job->tenant_id, job->user_id);
    while (status == LOCI_OK && w->walk.found) {
        status = run_user(w, err);
        if (status == LOCI_OK)
            status = move_on(w, err);
    }
    return status;
}

/* A job of the newest texts: lc_meaning_follow_writes() adds none while this one runs. */
static loci_status add_successor(lc_tx *tx, void *ctx, loci_error *err)
{
    const work *w = ctx;
    lc_head now;
    loci_status status = lc_tx_head(tx, &now, err);

    if (status != LOCI_OK || now.seq - w->seen_seq < GROWTH)
        return status;
    return lc_embed_enqueue_newest(tx, err);
}

static loci_status finish(work *w, bool has_run, loci_error *err)
{
    bool may_follow = w->is_newest && has_run;
    lc_json_writer out;
    loci_status status;

    lc_buf_reset(&w->checkpoint);
    lc_jw_init(&out, &w->checkpoint);
    lc_jw_object(&out);
    put_counts(w, &out);
    lc_jw_end(&out);
    status = lc_buf_status(&w->checkpoint, err);
    if (status == LOCI_OK)
        status = lc_job_run_finish(w->run, may_follow ? add_successor : NULL, w,
                                   lc_buf_str(&w->checkpoint), err);
    return status;
}

static loci_status run_reembed(lc_job_run *run, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(run->engine)->heap;
    work w = {.run = run,
              .models = lc_engine_models(run->engine),
              .is_of_store = run->job.user_id.len == 0,
              .is_newest = lc_str_is(run->job.args, LC_EMBED_NEWEST_ARGS),
              .look_back = LOOK_BACK};
    bool is_wanted = true;
    loci_status status;

    lc_arena_init(&w.arena, heap, LOCI_MEM_PIPELINES);
    lc_arena_init(&w.embedder_arena, heap, LOCI_MEM_PIPELINES);
    lc_user_walk_init(&w.walk, heap);
    lc_buf_init(&w.cursor, heap, LOCI_MEM_PIPELINES, CURSOR_BYTES_MAX);
    lc_buf_init(&w.next_cursor, heap, LOCI_MEM_PIPELINES, CURSOR_BYTES_MAX);
    lc_buf_init(&w.checkpoint, heap, LOCI_MEM_PIPELINES, CHECKPOINT_BYTES_MAX);
    w.is_looking_back = w.is_newest;
    status = lc_models_find_embedder(w.models, &w.embedder_arena, &w.embedder, err);
    if (w.is_newest && status != LOCI_ERESOURCE) {
        /* As for queries: other embedders are used only on request. */
        is_wanted = status == LOCI_OK && w.embedder.kind == LC_EMBEDDER_BUILTIN;
        status = LOCI_OK;
    }
    if (status == LOCI_OK && is_wanted) {
        resume(&w);
        status = run_users(&w, err);
    }
    if (status == LOCI_OK)
        status = finish(&w, is_wanted, err);
    lc_buf_clear(&w.checkpoint);
    lc_buf_clear(&w.next_cursor);
    lc_buf_clear(&w.cursor);
    lc_user_walk_clear(&w.walk);
    lc_arena_clear(&w.embedder_arena);
    lc_arena_clear(&w.arena);
    return status;
}

const lc_job_kind lc_job_reembed = {
    .name = LC_EMBED_JOB,
    .help =
        "Embed all texts with the configured embedder and delete the vectors of other embedders",
    .run = run_reembed,
    .asks_outside = true,
};
