/* op_recall.c - finding memories (recall, cards, the foundation) and tidying them up. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/curate_job.h"
#include "engine/engine.h"
#include "engine/meaning.h"
#include "memory/curate.h"
#include "memory/memory_recall.h"
#include "ops/op_job.h"
#include "ops/op_memory.h"
#include "ops/page.h"

#define QUERY_BYTES_MAX (64 * 1024)
#define NEAR_MISSES_MAX 5

/* ---- memory.recall --------------------------------------------------------------------------- */

typedef struct recall_input {
    loci_str text;
    int64_t limit;
    loci_str cursor;
    int64_t from, to, as_of;
    double min_score;
    bool explain;
    lc_vector_args vector;
    lc_embedding given;    /* Of the vector that was given, made by prepare. */
    lc_memory_query query; /* Completed by prepare and compute, as `meaning`. */
    lc_meaning meaning;
} recall_input;

#define QUERY_PARAM                                                                                \
    {                                                                                              \
        LC_ARG_STR("query", recall_input, text), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, \
                                                 .min = 1, .max = QUERY_BYTES_MAX,                 \
                                                 .help = "Text to search for, by its words and "   \
                                                         "by its meaning"                          \
    }
#define FILTER_PARAMS                                                                              \
    {LC_ARG_STRINGS("types", recall_input, query.types), .flags = LC_PARAM_ONE_OR_MANY,            \
     .choices = LC_MEMORY_TYPES, .help = "Only memories of these types"},                          \
        {LC_ARG_STRINGS("entities", recall_input, query.entities), .flags = LC_PARAM_ONE_OR_MANY,  \
         .max = LC_MEMORY_REFS_MAX, .item_max = LC_ID_BYTES_MAX,                                   \
         .help = "Only memories about one of these entities: refs or ids"},                        \
        {LC_ARG_OBJECT("metadata", recall_input, query.metadata),                                  \
         .help = "Only memories with these members in their metadata"},                            \
        {LC_ARG_TIME("from", recall_input, from), .help = "Only memories observed at or after "    \
                                                          "this time"},                            \
    {                                                                                              \
        LC_ARG_TIME("to", recall_input, to), .help = "Only memories observed before this time"     \
    }

static const lc_param recall_params[] = {
    QUERY_PARAM,
    {LC_ARG_INT("limit", recall_input, limit), .default_text = "10", .min = 1,
     .max = LC_MEMORY_HITS_MAX, .alias = "top_k", .help = "Maximum number of results per page"},
    FILTER_PARAMS,
    {LC_ARG_TIME("as_of", recall_input, as_of),
     .help = "Search the memories of this time, superseded ones included (default: now)"},
    {LC_ARG_REAL("min_score", recall_input, min_score), .min = 0, .max = 1,
     .help = "Minimum score of a result"},
    {LC_ARG_BOOL("explain", recall_input, explain, "false"),
     .help = "Whether to add the parts of each score, and near misses"},
    LC_VECTOR_PARAMS(recall_input, vector, "the query"),
    {LC_ARG_STR("cursor", recall_input, cursor), .min = 1, .max = LC_CURSOR_BYTES_MAX,
     .help = "next_cursor of the previous page"},
    {.name = NULL},
};

static const lc_param_rule recall_rules[] = {LC_VECTOR_RULE, {LC_RULE_END, NULL}};

static const lc_record parts_record = {
    .name = "MemoryScoreParts",
    .members =
        (const lc_result[]){
            {"similarity", LC_PARAM_REAL, "Similarity by meaning and words, weight 0.4"},
            {"neighbours", LC_PARAM_REAL,
             "Part of the similarity from memories stored next to it in its session"},
            {"recency", LC_PARAM_REAL, "0.5 ^ (days / 14), weight 0.3 of the similarity"},
            {"frequency", LC_PARAM_REAL, "Fame of its entity, weight 0.3 of the similarity"},
            {"boost", LC_PARAM_REAL, "Factor for importance"},
            {"cosine", LC_PARAM_REAL, "Cosine of the vectors", LC_RESULT_OPTIONAL},
            {"meaning", LC_PARAM_REAL, "Part of the similarity from meaning", LC_RESULT_OPTIONAL},
            {"bm25", LC_PARAM_REAL, "BM25 score of the words", LC_RESULT_OPTIONAL},
            {"words", LC_PARAM_REAL, "Part of the similarity from words", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record hit_record = {
    .name = "MemoryHit",
    .base = &lc_memory_record,
    .members =
        (const lc_result[]){
            {"score", LC_PARAM_REAL, "Score from 0 to 1"},
            {"parts", 0, "Parts of the score, with explain", LC_RESULT_OPTIONAL,
             .record = &parts_record},
            {NULL},
        },
};

static const lc_record near_miss_record = {
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the memory"},
            {"text", LC_PARAM_STRING, "Text of the memory"},
            {"score", LC_PARAM_REAL, "Score from 0 to 1"},
            {"reason", LC_PARAM_STRING, "Why it is no result", .choices = "limit|min_score"},
            {"parts", 0, "Parts of the score", .record = &parts_record},
            {NULL},
        },
};

static const lc_record recall_answer = {
    .members =
        (const lc_result[]){
            {"results", 0, "Memories, best first", LC_RESULT_LIST, .record = &hit_record},
            {"near_misses", 0, "With explain: the best that are no results",
             LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &near_miss_record},
            {"complete", LC_PARAM_BOOL,
             "False if older memories were not searched because the index is still being built"},
            LC_SEARCH_WARNINGS_RESULT,
            LC_PAGE_RESULT,
            {NULL},
        },
};

static loci_status prepare_recall(lc_call *call, loci_error *err)
{
    recall_input *in = call->input;

    if (lc_str_trim(in->text).len == 0)
        return lc_fail(err, LOCI_EINVAL, "query: only white space; pass words to search for");
    in->query.persona_id = call->persona_id;
    in->query.limit = in->limit > 0 ? (size_t)in->limit : 0; /* memory.cards has none. */
    in->query.from_us = in->from != LC_ABSENT ? in->from : INT64_MIN;
    in->query.to_us = in->to != LC_ABSENT ? in->to : INT64_MAX;
    in->query.as_of_us = in->as_of != LC_ABSENT ? in->as_of : INT64_MAX;
    in->query.min_score = in->min_score >= 0 ? in->min_score : 0; /* NaN: not given. */
    if (in->query.from_us > in->query.to_us)
        return lc_fail(err, LOCI_EINVAL, "from: later than `to`");
    return lc_memory_read_vector(call, &in->vector, &in->given, &in->query.vector, err);
}

static loci_status prepare_and_count(lc_call *call, loci_error *err)
{
    loci_status status = prepare_recall(call, err);

    if (status == LOCI_OK)
        lc_engine_count_recall(call->engine);
    return status;
}

static loci_status compute_recall(lc_call *call, loci_error *err)
{
    recall_input *in = call->input;
    loci_status status = lc_corpus_split(call->arena, in->text, &in->query.terms, err);

    if (status != LOCI_OK || in->given.is_given)
        return status;
    status = lc_meaning_find(&in->meaning, call->engine, call->tenant_id, in->text, call->arena,
                             err);
    in->query.vector = in->meaning.vector;
    return status;
}

static loci_status find_hits(lc_call *call, lc_tx *tx, lc_memory_hits *out, loci_error *err)
{
    recall_input *in = call->input;
    loci_status status;

    tx->embedding = in->given.is_given         ? &in->given
                    : in->query.vector != NULL ? &in->meaning.embedding
                                               : NULL;
    status = lc_memory_recall(tx, &in->query, call->arena, out, err);
    tx->embedding = NULL;
    if (status == LOCI_OK && !in->given.is_given)
        call->wants_vectors = lc_meaning_queue_job(&in->meaning, tx);
    return status;
}

/* A part that the hit does not have is left out: it was found by words alone, or by meaning alone.
 */
static void put_parts(lc_json_writer *out, const lc_memory_hit *hit)
{
    lc_jw_name(out, "parts");
    lc_jw_object(out);
    lc_jw_member_real(out, "similarity", hit->similarity);
    lc_jw_member_real(out, "neighbours", hit->neighbours);
    lc_jw_member_real(out, "recency", hit->recency);
    lc_jw_member_real(out, "frequency", hit->frequency);
    lc_jw_member_real(out, "boost", hit->boost);
    if (hit->fused.has_cosine) {
        lc_jw_member_real(out, "cosine", hit->fused.cosine);
        lc_jw_member_real(out, "meaning", hit->fused.vector);
    }
    if (hit->fused.has_bm25) {
        lc_jw_member_real(out, "bm25", hit->fused.bm25);
        lc_jw_member_real(out, "words", hit->fused.lexical);
    }
    lc_jw_end(out);
}

static void put_hit(lc_json_writer *out, const lc_memory_hit *hit, bool is_explained)
{
    lc_memory shown = hit->memory;

    shown.importance = lc_memory_importance(&shown);
    lc_jw_object(out);
    lc_row_put(&lc_memory_row, &shown, out);
    lc_jw_member_real(out, "score", hit->score);
    if (is_explained)
        put_parts(out, hit);
    lc_jw_end(out);
}

static void put_near_misses(lc_json_writer *out, const lc_memory_hits *hits, size_t first)
{
    size_t all = hits->count + hits->near_misses;

    lc_jw_name(out, "near_misses");
    lc_jw_array(out);
    for (size_t i = first; i < all && i < first + NEAR_MISSES_MAX; i++) {
        const lc_memory_hit *hit = &hits->items[i];

        lc_jw_object(out);
        lc_jw_member_str(out, "id", hit->memory.id);
        lc_jw_member_str(out, "text", hit->memory.text);
        lc_jw_member_real(out, "score", hit->score);
        lc_jw_member_text(out, "reason", i < hits->count ? "limit" : "min_score");
        put_parts(out, hit);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static loci_status run_recall(lc_call *call, lc_tx *tx, loci_error *err)
{
    recall_input *in = call->input;
    lc_page_args args = {in->limit, in->cursor};
    lc_seq_position place = {0}; /* How many were shown on earlier pages. */
    lc_page page = {call, &lc_position_by_seq, &place};
    lc_memory_hits hits;
    loci_str warning = LC_STR_NONE;
    size_t first;
    loci_status status = find_hits(call, tx, &hits, err);

    if (status == LOCI_OK && !in->given.is_given)
        status = lc_meaning_warn(&in->meaning, tx, call->arena, &warning, err);
    if (status == LOCI_OK)
        status = lc_page_begin(&page, &args, err);
    if (status != LOCI_OK)
        return status;
    first = (size_t)place.seq;
    lc_page_open(&page, "results");
    for (size_t i = first; i < hits.count && lc_page_takes(&page); i++) {
        put_hit(&call->out, &hits.items[i], in->explain);
        place.seq++;
    }
    lc_page_end(&page);
    if (in->explain)
        put_near_misses(&call->out, &hits,
                        first + (size_t)in->limit < hits.count ? first + (size_t)in->limit
                                                               : hits.count);
    lc_jw_member_bool(&call->out, "complete", hits.is_complete);
    lc_call_put_warning(call, warning);
    lc_page_close(&page);
    return LOCI_OK;
}

static const lc_op memory_recall = {
    .name = "memory.recall",
    .help = "Find memories by words and by meaning, weighed by age, fame and importance",
    .params = recall_params,
    .rules = recall_rules,
    .input_bytes = sizeof(recall_input),
    .answer = &recall_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "POST /v1/memories/search",
    .mcp = "recall",
    .mcp_takes = "query limit=10 cursor",
    .mcp_shows = "results(text observed_at id trust score whose:persona_id) next_cursor",
    .look = {.columns = "score text observed_at id parts",
             .hidden = "complete warnings",
             .bar = "score",
             .is_of_texts = true},
    .example = "{\"query\":\"Where do I live?\",\"limit\":5}",
    .prepare = prepare_and_count,
    .compute = compute_recall,
    .run = run_recall,
};

/* ---- memory.cards ---------------------------------------------------------------------------- */

static const lc_param cards_params[] = {QUERY_PARAM, FILTER_PARAMS, {.name = NULL}};

static const lc_record card_record = {
    .name = "MemoryCard",
    .members =
        (const lc_result[]){
            {"ref", LC_PARAM_STRING, "Entity, such as person:john_doe"},
            {"text", LC_PARAM_STRING, "Card in one line: [ref]: fact; fact; fact"},
            {"memories", LC_PARAM_STRINGS, "Ids of the memories on it"},
            {NULL},
        },
};

static const lc_record cards_answer = {
    .members =
        (const lc_result[]){
            {"cards", 0, "Cards of the entities that the query is about, at most 5", LC_RESULT_LIST,
             .record = &card_record},
            {NULL},
        },
};

static loci_status run_cards(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_memory_cards cards = {0};
    lc_memory_hits hits;
    loci_status status;

    ((recall_input *)call->input)->query.as_of_us = INT64_MAX;
    status = find_hits(call, tx, &hits, err);
    if (status == LOCI_OK)
        status = lc_memory_make_cards(tx, call->persona_id, &hits, call->arena, &cards, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "cards");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < cards.count; i++) {
        lc_jw_object(&call->out);
        lc_jw_member_str(&call->out, "ref", cards.items[i].ref);
        lc_jw_member_str(&call->out, "text", cards.items[i].text);
        lc_jw_name(&call->out, "memories");
        lc_jw_array(&call->out);
        for (size_t k = 0; k < cards.items[i].count; k++)
            lc_jw_str(&call->out, cards.items[i].ids[k]);
        lc_jw_end(&call->out);
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op memory_cards = {
    .name = "memory.cards",
    .help = "Return cards with the important memories of the entities that a query is about",
    .params = cards_params,
    .input_bytes = sizeof(recall_input),
    .answer = &cards_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "POST /v1/memories/cards",
    .look = {.columns = "text ref", .id = "ref", .is_of_texts = true},
    .example = "{\"query\":\"What does John do?\"}",
    .prepare = prepare_recall,
    .compute = compute_recall,
    .run = run_cards,
};

/* ---- memory.foundation ----------------------------------------------------------------------- */

static const lc_param no_params[] = {{.name = NULL}};

static const lc_record foundation_answer = {
    .members =
        (const lc_result[]){
            {"memories", 0, "Pinned memories: by importance, then the newest; at most 20",
             LC_RESULT_LIST, .record = &lc_memory_record},
            {NULL},
        },
};

static loci_status put_pinned(void *ctx, const lc_memory *memory, loci_error *err)
{
    lc_call *call = ctx;

    (void)err; /* Writing to a buffer fails later. */
    lc_memory_put(&call->out, memory, LC_STR_NONE);
    return LOCI_OK;
}

static loci_status run_foundation(lc_call *call, lc_tx *tx, loci_error *err)
{
    loci_status status;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "memories");
    lc_jw_array(&call->out);
    status = lc_memory_each_pinned(tx, call->persona_id, put_pinned, call, err);
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op memory_foundation = {
    .name = "memory.foundation",
    .help = "List the pinned memories, which are part of every context",
    .params = no_params,
    .answer = &foundation_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/memories/foundation",
    .look = {.columns = "text observed_at id", .is_of_texts = true},
    .example = "{}",
    .run = run_foundation,
};

/* ---- memory.curate and unfold ---------------------------------------------------------------- */

typedef struct curate_input {
    bool dry_run, wait;
} curate_input;

static const lc_param curate_params[] = {
    {LC_ARG_BOOL("dry_run", curate_input, dry_run, "false"),
     .help = "Whether to list what would be done and change nothing"},
    LC_JOB_WAIT_PARAM(curate_input, wait),
    {.name = NULL},
};

static const lc_record action_record = {
    .members =
        (const lc_result[]){
            {"action", LC_PARAM_STRING, "Action of the curator", .choices = "fold|archive|raise"},
            {"memories", LC_PARAM_STRINGS, "Ids of the memories it is done to"},
            {NULL},
        },
};

static const lc_record curated_record = {
    .members =
        (const lc_result[]){
            {"dry_run", LC_PARAM_BOOL, "Whether nothing was changed"},
            {"memories", LC_PARAM_INT, "Number of memories read"},
            {"folded", LC_PARAM_INT, "Number of memories made from near-duplicates"},
            {"archived", LC_PARAM_INT, "Number of stale memories archived"},
            {"raised", LC_PARAM_INT, "Number of memories that became more important"},
            {"actions", 0, "Actions taken or proposed, at most 100", LC_RESULT_LIST,
             .record = &action_record},
            {NULL},
        },
};

static const lc_record curate_answer = {
    .members =
        (const lc_result[]){
            LC_JOB_RESULTS,
            {"result", 0, "Result, if done", LC_RESULT_OPTIONAL, .record = &curated_record},
            {NULL},
        },
};

/* It tidies up the memories of all personas. */
static loci_status run_curate(lc_call *call, loci_error *err)
{
    const curate_input *in = call->input;
    loci_status status = lc_memory_check_trusted(call, LC_STR_NONE, "memory.curate", err);

    if (status != LOCI_OK)
        return status;
    return lc_job_start_run(
        call,
        &(lc_job_start){.tenant_id = call->tenant_id,
                        .user_id = call->user_id,
                        .enqueue = in->dry_run ? lc_curate_enqueue_dry : lc_curate_enqueue,
                        .unit = "actions",
                        .waits = in->wait},
        err);
}

static const lc_op memory_curate = {
    .name = "memory.curate",
    .help = "Fold near-duplicates, archive stale trivia, raise confirmed memories",
    .params = curate_params,
    .input_bytes = sizeof(curate_input),
    .answer = &curate_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS | LC_OP_WHOLE_USER |
             LC_OP_BULK | LC_OP_JOB,
    .http = "POST /v1/memories/curate",
    .example = "{\"dry_run\":true}",
    .run_alone = run_curate,
};

typedef struct unfold_input {
    loci_str id;
} unfold_input;

static const lc_param unfold_params[] = {
    LC_ID_PARAM(unfold_input, id, "Id of a memory made by memory.curate, mem_…"),
    {.name = NULL},
};

static const lc_record unfold_answer = {
    .members =
        (const lc_result[]){
            {"restored", LC_PARAM_STRINGS, "Ids of the memories that took its place"},
            {NULL},
        },
};

static loci_status prepare_unfold(lc_call *call, loci_error *err)
{
    return lc_memory_check_trusted(call, LC_STR_NONE, "memory.unfold", err);
}

static loci_status run_unfold(lc_call *call, lc_tx *tx, loci_error *err)
{
    const unfold_input *in = call->input;
    lc_memory fold;
    loci_str ids = LC_STR("[]");
    loci_status status = lc_memory_load_active(call, tx, in->id, &fold, err);

    if (status == LOCI_OK)
        status = lc_memory_unfold(tx, &fold, call->arena, &ids, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_raw(&call->out, "restored", ids);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op memory_unfold = {
    .name = "memory.unfold",
    .help = "Store the memories again that memory.curate folded into one",
    .params = unfold_params,
    .input_bytes = sizeof(unfold_input),
    .answer = &unfold_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/memories/{id}/unfold",
    .example = "{\"id\":\"mem_00000000000000000000000000\"}",
    .prepare = prepare_unfold,
    .run = run_unfold,
};

extern const lc_op *const lc_ops_recall[];
const lc_op *const lc_ops_recall[] = {&memory_recall, &memory_cards,  &memory_foundation,
                                      &memory_curate, &memory_unfold, NULL};
