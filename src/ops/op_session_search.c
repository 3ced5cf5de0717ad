/* op_session_search.c - session.search: recall over all messages of a user. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/meaning.h"
#include "ops/check.h"
#include "ops/op.h"
#include "session/message_corpus.h"

#define QUERY_BYTES_MAX (64 * 1024)

typedef struct search_input {
    loci_str text;
    int64_t limit;
    int64_t from;
    int64_t to;
    bool explain;
    lc_message_query query; /* Made by prepare and compute, as `meaning`. */
    lc_meaning meaning;
} search_input;

static const lc_param params[] = {
    {LC_ARG_STR("query", search_input, text), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .min = 1, .max = QUERY_BYTES_MAX,
     .help = "Text to search for, by its words and by its meaning"},
    {LC_ARG_INT("limit", search_input, limit), .default_text = "10", .min = 1,
     .max = LC_MESSAGE_HITS_MAX, .help = "Maximum number of results"},
    LC_NAME_PARAM("session", search_input, query.session, 0,
                  "Only messages of this session: a ses_…, or an external_id (all sessions of that "
                  "name)"),
    {LC_ARG_STR("role", search_input, query.role), .choices = LC_MESSAGE_ROLES,
     .help = "Only messages of this role"},
    {LC_ARG_TIME("from", search_input, from), .help = "Only messages said at or after this time"},
    {LC_ARG_TIME("to", search_input, to), .help = "Only messages said before this time"},
    {LC_ARG_BOOL("explain", search_input, explain, "false"),
     .help = "Whether to add the parts of each score"},
    {.name = NULL},
};

static const lc_record parts_record = {
    .name = "ScoreParts",
    .members =
        (const lc_result[]){
            {"cosine", LC_PARAM_REAL, "Cosine of the vectors", LC_RESULT_OPTIONAL},
            {"meaning", LC_PARAM_REAL, "Part of the score from meaning", LC_RESULT_OPTIONAL},
            {"bm25", LC_PARAM_REAL, "BM25 score of the words", LC_RESULT_OPTIONAL},
            {"rarity", LC_PARAM_REAL, "Rarity of the words found", LC_RESULT_OPTIONAL},
            {"coverage", LC_PARAM_REAL, "Share of the words found", LC_RESULT_OPTIONAL},
            {"words", LC_PARAM_REAL, "Part of the score from words", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record hit_record = {
    .name = "MessageHit",
    .members =
        (const lc_result[]){
            {"message_id", LC_PARAM_STRING, "Id of the message (msg_...)"},
            {"session_id", LC_PARAM_STRING, "Id of its session (ses_...)"},
            {"external_id", LC_PARAM_STRING, "Name of the session given by the caller",
             LC_RESULT_OPTIONAL},
            {"role", LC_PARAM_STRING, "Role of the speaker", .choices = LC_MESSAGE_ROLES},
            {"speaker", LC_PARAM_STRING, "Name of the speaker, if given", LC_RESULT_OPTIONAL},
            {"at", LC_PARAM_TIME, "Time at which it was said"},
            {"text", LC_PARAM_STRING, "Text of the message"},
            {"score", LC_PARAM_REAL, "Score from 0 to 1"},
            {"parts", 0, "Parts of the score, with explain", LC_RESULT_OPTIONAL,
             .record = &parts_record},
            {NULL},
        },
};

static const lc_record answer = {
    .members =
        (const lc_result[]){
            {"results", 0, "Messages, best first", LC_RESULT_LIST, .record = &hit_record},
            {"complete", LC_PARAM_BOOL,
             "False if older messages were not searched because the index is still being built"},
            {NULL},
        },
};

static loci_status prepare_search(lc_call *call, loci_error *err)
{
    search_input *in = call->input;

    if (lc_str_trim(in->text).len == 0)
        return lc_fail(err, LOCI_EINVAL, "query: only white space; pass words to search for");
    in->query.persona_id = call->persona_id;
    in->query.from_us = in->from != LC_ABSENT ? in->from : INT64_MIN;
    in->query.to_us = in->to != LC_ABSENT ? in->to : INT64_MAX;
    in->query.limit = (size_t)in->limit;
    if (in->query.from_us > in->query.to_us)
        return lc_fail(err, LOCI_EINVAL, "from: later than `to`");
    return LOCI_OK;
}

static loci_status compute_search(lc_call *call, loci_error *err)
{
    search_input *in = call->input;
    loci_status status = lc_corpus_split(call->arena, in->text, &in->query.terms, err);

    if (status == LOCI_OK)
        status = lc_meaning_find(&in->meaning, call->engine, call->tenant_id, in->text, call->arena,
                                 err);
    in->query.vector = in->meaning.vector;
    return status;
}

/* A part that the hit does not have is left out: it was found by words alone, or by meaning alone.
 */
static void put_parts(lc_json_writer *out, const lc_fused *score)
{
    lc_jw_name(out, "parts");
    lc_jw_object(out);
    if (score->has_cosine) {
        lc_jw_member_real(out, "cosine", score->cosine);
        lc_jw_member_real(out, "meaning", score->vector);
    }
    if (score->has_bm25) {
        lc_jw_member_real(out, "bm25", score->bm25);
        lc_jw_member_real(out, "rarity", score->rarity);
        lc_jw_member_real(out, "coverage", score->coverage);
        lc_jw_member_real(out, "words", score->lexical);
    }
    lc_jw_end(out);
}

static void put_hit(lc_json_writer *out, const lc_message_hit *hit, bool is_explained)
{
    const lc_message *message = &hit->message;

    lc_jw_object(out);
    lc_jw_member_str(out, "message_id", message->id);
    lc_jw_member_str(out, "session_id", message->session_id);
    if (hit->external_id.len > 0)
        lc_jw_member_str(out, "external_id", hit->external_id);
    lc_jw_member_str(out, "role", message->role);
    if (message->speaker.len > 0)
        lc_jw_member_str(out, "speaker", message->speaker);
    lc_jw_member_time(out, "at", message->observed_at);
    lc_jw_member_str(out, "text", message->text);
    lc_jw_member_real(out, "score", hit->score.score);
    if (is_explained)
        put_parts(out, &hit->score);
    lc_jw_end(out);
}

static loci_status run_search(lc_call *call, lc_tx *tx, loci_error *err)
{
    search_input *in = call->input;
    lc_message_hits hits;
    loci_status status;

    tx->embedding = in->query.vector != NULL ? &in->meaning.embedding : NULL;
    status = lc_message_search(tx, &in->query, call->arena, &hits, err);
    tx->embedding = NULL;
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "results");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < hits.count; i++)
        put_hit(&call->out, &hits.items[i], in->explain);
    lc_jw_end(&call->out);
    lc_jw_member_bool(&call->out, "complete", hits.is_complete);
    lc_jw_end(&call->out);
    lc_meaning_queue_job(&in->meaning, tx);
    return LOCI_OK;
}

static const lc_op session_search = {
    .name = "session.search",
    .help = "Search all messages of a user by words and by meaning",
    .params = params,
    .input_bytes = sizeof(search_input),
    .answer = &answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/messages/search",
    .mcp = "session search",
    .example = "{\"query\":\"What did we say about the harbour?\",\"limit\":5}",
    .prepare = prepare_search,
    .compute = compute_search,
    .run = run_search,
};

extern const lc_op *const lc_ops_session_search[];
const lc_op *const lc_ops_session_search[] = {&session_search, NULL};
