/* op_memory_store.c - memory.store, seed and import: take statements, return the outcome of each.
 */
#include <math.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/meaning.h"
#include "memory/import.h"
#include "memory/memory.h"
#include "memory/slug.h"
#include "ops/call_scope.h"
#include "ops/metadata.h"
#include "ops/op_memory.h"
#include "store/event.h"
#include "store/vector.h"

#define MESSAGES_MAX 100

typedef struct store_input {
    lc_memory_input memory; /* Without text, persona and session. */
    const lc_json *messages;
    const lc_json *memories; /* Of memory.seed. */
    const lc_json *subtype;
    const lc_json *metadata;
    bool wait;
    lc_vector_args vector;
    loci_str format; /* Of memory.import. */
    loci_str message_id;
    lc_memory_import import;    /* Made by prepare, as what follows. */
    lc_embedding given;         /* Of the vector that was given, */
    const float *given_numbers; /* which is NULL if there is none. */
    lc_memory_input *items;
    size_t count;
    lc_meaning *meanings; /* With `wait`: one per item. */
} store_input;

#define WAIT_PARAM                                                                                 \
    {                                                                                              \
        LC_ARG_BOOL("wait", store_input, wait, "false"),                                           \
            .help = "Whether to store vectors before answering: by default they follow within "    \
                    "about a second"                                                               \
    }

static const lc_param store_params[] = {
    {LC_ARG_STR("text", store_input, memory.text), .flags = LC_PARAM_POSITIONAL | LC_PARAM_SAID,
     .alias = "content", .min = 1, .max = LC_MEMORY_TEXT_BYTES_MAX,
     .help = "Statement to remember"},
    {LC_ARG_ANY("messages", store_input, messages), .flags = LC_PARAM_SAID,
     .help = "Instead of text: array of {role, content}, each stored as one memory"},
    {LC_ARG_STR("type", store_input, memory.type), .choices = LC_MEMORY_TYPES,
     .help = "Kind of memory (default: worked out from the text)"},
    {LC_ARG_STRINGS("entity_refs", store_input, memory.entity_refs),
     .flags = LC_PARAM_ONE_OR_MANY | LC_PARAM_SAID, .max = LC_MEMORY_REFS_MAX,
     .item_max = LC_ID_BYTES_MAX,
     .help = "Entities it is about, its subject first, such as person:john_doe (default: worked "
             "out from the text)"},
    LC_NAME_PARAM("entity_label", store_input, memory.entity_label, LC_PARAM_SAID,
                  "Name of the subject, for people"),
    {LC_ARG_OBJECT("subtype", store_input, subtype), .flags = LC_PARAM_SAID,
     .help = "entity_type and fact_type (default: worked out from the text)"},
    {LC_ARG_INT("importance", store_input, memory.importance), .min = 0,
     .max = LC_MEMORY_IMPORTANCE_MAX,
     .help = "Importance: 0 trivial, 1 normal (default), 2 significant, 3 critical"},
    {LC_ARG_BOOL("pinned", store_input, memory.pinned, "false"),
     .help = "Whether it is always part of a context"},
    LC_NAME_PARAM("attribute", store_input, memory.attribute, LC_PARAM_SAID,
                  "Attribute of which the subject has one value: another value supersedes it "
                  "(default: worked out from the text)"),
    {LC_ARG_STR("source", store_input, memory.source), .choices = LC_MEMORY_SOURCES,
     .help = "Origin of the memory (default: api)"},
    {LC_ARG_REAL("confidence", store_input, memory.confidence), .min = 0, .max = 1,
     .help = "Confidence from 0 to 1 (default: 1)"},
    {LC_ARG_TIME("observed_at", store_input, memory.observed_at),
     .help = "Time at which it was true (default: the time of the call)"},
    LC_METADATA_PARAM(store_input, metadata),
    {LC_ARG_STR("trust", store_input, memory.trust), .choices = "user|system|tool|web|model",
     .help = "Origin of the statement; tool, web and model can only claim"},
    LC_SOURCE_PARAM(store_input, message_id),
    LC_VECTOR_PARAMS(store_input, vector, "the text"),
    WAIT_PARAM,
    {.name = NULL},
};

static const lc_param_rule store_rules[] = {
    {LC_RULE_EXACTLY_ONE, "text|messages"},
    {LC_RULE_AT_MOST_ONE, "vector|messages"},
    LC_VECTOR_RULE,
    {LC_RULE_END, NULL},
};

static const lc_record understood_record = {
    .members =
        (const lc_result[]){
            {"type", LC_PARAM_STRING, "Kind of memory", .choices = LC_MEMORY_TYPES},
            {"entity_refs", LC_PARAM_STRINGS, "Entities it is about"},
            {"entity_label", LC_PARAM_STRING, "Name of the subject", LC_RESULT_OPTIONAL},
            {"fact_type", LC_PARAM_STRING, "Kind of fact", .choices = LC_FACT_TYPES},
            {"attribute", LC_PARAM_STRING, "Attribute of which the subject has one value",
             LC_RESULT_OPTIONAL},
            {"value", LC_PARAM_STRING, "Value of the attribute", LC_RESULT_OPTIONAL},
            {"memory_key", LC_PARAM_STRING, "Key that decides which statements replace each other"},
            {NULL},
        },
};

static const lc_record stored_record = {
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the memory, or of the one that says it already"},
            {"outcome", LC_PARAM_STRING,
             "Effect; mentioned: it was there and is counted; superseded: it took the place of "
             "`old`, or is older than `superseded_by`; kept_both: there are others about the "
             "subject; claimed: it may not replace the memory it contests",
             .choices = LC_MEMORY_OUTCOMES},
            {"old", LC_PARAM_STRING, "Id of the memory that it replaced", LC_RESULT_OPTIONAL},
            {"superseded_by", LC_PARAM_STRING, "Id of the newer memory about the same attribute",
             LC_RESULT_OPTIONAL},
            {"contests", LC_PARAM_STRING, "Id of the memory that it contradicts",
             LC_RESULT_OPTIONAL},
            {"understood", 0, "How the statement was read", .record = &understood_record},
            {NULL},
        },
};

static const lc_record store_answer = {
    .base = &stored_record,
    .members =
        (const lc_result[]){
            {"results", 0, "With messages: one per message that was stored",
             LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &stored_record},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status read_subtype(store_input *in, loci_error *err)
{
    for (const lc_json *member = in->subtype != NULL ? lc_json_first(in->subtype) : NULL;
         member != NULL; member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);
        bool is_text = lc_json_kind_of(member) == LC_JSON_STRING;

        if (is_text && lc_str_is(name, "entity_type") &&
            lc_json_str(member).len <= LC_REF_TYPE_BYTES_MAX)
            in->memory.entity_type = lc_json_str(member);
        else if (is_text && lc_str_is(name, "fact_type") &&
                 lc_str_is_choice(lc_json_str(member), LC_FACT_TYPES))
            in->memory.fact_type = lc_json_str(member);
        else
            return lc_fail(err, LOCI_EINVAL,
                           "subtype: expected {\"entity_type\": a word, \"fact_type\": one of %s}",
                           LC_FACT_TYPES);
    }
    return LOCI_OK;
}

/* One text of `messages` or `memories`: a string, or an object with text or content. */
static loci_status add_item(store_input *in, const lc_json *from, const char *where,
                            loci_error *err)
{
    lc_memory_input *to = &in->items[in->count];
    const lc_json *text = lc_json_find(from, "content", LC_JSON_STRING);
    const lc_json *role = lc_json_find(from, "role", LC_JSON_STRING);
    loci_status status;

    *to = in->memory;
    if (text == NULL)
        text = lc_json_find(from, "text", LC_JSON_STRING);
    if (text == NULL && lc_json_kind_of(from) == LC_JSON_STRING)
        text = from;
    if (text == NULL)
        return lc_fail(err, LOCI_EINVAL, "%s: expected a text or {\"role\", \"content\"}", where);
    to->text = lc_json_str(text);
    status = lc_memory_check_text(to->text, where, err);
    /* Statements of an assistant or a tool are not confirmed by a person. */
    if (role != NULL && lc_str_is(lc_json_str(role), "assistant"))
        to->trust = LC_STR("model");
    else if (role != NULL && lc_str_is(lc_json_str(role), "tool"))
        to->trust = LC_STR("tool");
    in->count += status == LOCI_OK;
    return status;
}

static loci_status add_items(lc_call *call, const lc_json *list, const char *where, loci_error *err)
{
    store_input *in = call->input;
    loci_status status = LOCI_OK;

    if (lc_json_kind_of(list) != LC_JSON_ARRAY || lc_json_count(list) == 0 ||
        lc_json_count(list) > MESSAGES_MAX)
        return lc_fail(err, LOCI_EINVAL, "%s: expected an array of 1 to %d items", where,
                       MESSAGES_MAX);
    in->items = lc_arena_zalloc_array(call->arena, lc_json_count(list), sizeof *in->items);
    if (in->items == NULL)
        return lc_fail_memory(err);
    for (const lc_json *item = lc_json_first(list); item != NULL && status == LOCI_OK;
         item = lc_json_next(item))
        status = add_item(in, item, where, err);
    return status;
}

/* A statement that only claims cannot be pinned or important. */
static loci_status check_rights(lc_call *call, lc_memory_input *memory, loci_error *err)
{
    loci_status status = LOCI_OK;

    memory->trust = lc_trust_capped(memory->trust, call->trust_max);
    if (memory->pinned)
        status = lc_memory_check_trusted(call, memory->trust, "pinned", err);
    if (status == LOCI_OK && memory->importance > 1)
        status = lc_memory_check_trusted(call, memory->trust, "importance", err);
    return status;
}

/* With `wait`: the vectors, made before the transaction. */
static loci_status embed_items(lc_call *call, store_input *in, loci_error *err)
{
    loci_status status = LOCI_OK;

    in->meanings = lc_arena_zalloc_array(call->arena, in->count, sizeof *in->meanings);
    if (in->meanings == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < in->count && status == LOCI_OK; i++)
        status = lc_meaning_find(&in->meanings[i], call->engine, call->tenant_id, in->items[i].text,
                                 call->arena, err);
    return status;
}

static loci_status prepare_store(lc_call *call, loci_error *err)
{
    store_input *in = call->input;
    lc_memory_input *memory = &in->memory;
    loci_status status = LOCI_OK;

    memory->importance = memory->importance == LC_ABSENT ? -1 : memory->importance;
    memory->observed_at = memory->observed_at == LC_ABSENT ? LOCI_AT_CLOCK : memory->observed_at;
    memory->persona_id = call->persona_id;
    status = lc_call_keep_metadata(call, in->metadata, &memory->metadata, err);
    if (status == LOCI_OK)
        status = lc_memory_read_vector(call, &in->vector, &in->given, &in->given_numbers, err);
    if (status == LOCI_OK)
        status = read_subtype(in, err);
    if (status != LOCI_OK)
        return status;
    if (in->messages != NULL) {
        status = add_items(call, in->messages, "messages", err);
    } else if (in->memories != NULL) {
        memory->source = LC_STR("seeded_profile");
        status = add_items(call, in->memories, "memories", err);
    } else {
        status = lc_memory_check_text(memory->text, "text", err);
        in->items = memory;
        in->count = 1;
    }
    for (size_t i = 0; i < in->count && status == LOCI_OK; i++)
        status = check_rights(call, &in->items[i], err);
    return status == LOCI_OK && in->wait ? embed_items(call, in, err) : status;
}

static void put_understood(lc_json_writer *out, const lc_memory *memory)
{
    lc_jw_name(out, "understood");
    lc_jw_object(out);
    lc_jw_member_text(out, "type",
                      memory->type == LC_MEMORY_PROFILE  ? "profile"
                      : memory->type == LC_MEMORY_PEOPLE ? "people"
                                                         : "project");
    lc_jw_member_raw(out, "entity_refs", memory->entity_refs);
    if (memory->entity_label.len > 0)
        lc_jw_member_str(out, "entity_label", memory->entity_label);
    lc_jw_member_str(out, "fact_type", memory->fact_type);
    if (memory->attribute.len > 0)
        lc_jw_member_str(out, "attribute", memory->attribute);
    if (memory->value.len > 0)
        lc_jw_member_str(out, "value", memory->value);
    lc_jw_member_str(out, "memory_key", memory->memory_key);
    lc_jw_end(out);
}

static void put_stored(lc_json_writer *out, const lc_memory_result *result)
{
    const lc_memory *memory = &result->memory;

    lc_jw_member_str(out, "id", memory->id);
    lc_jw_member_text(out, "outcome", lc_memory_outcome_name(result->outcome));
    if (result->old.len > 0)
        lc_jw_member_str(out, "old", result->old);
    if (memory->superseded_by.len > 0)
        lc_jw_member_str(out, "superseded_by", memory->superseded_by);
    if (memory->contests.len > 0)
        lc_jw_member_str(out, "contests", memory->contests);
    put_understood(out, memory);
}

static loci_status put_vector(lc_tx *tx, const lc_embedding *made_by, const float *numbers,
                              loci_str text, loci_error *err)
{
    lc_vector_set set = {.tenant_id = tx->tenant_id,
                         .user_id = tx->user_id,
                         .generation = loci_str_of(made_by->generation),
                         .dimensions = made_by->dimensions};
    lc_vector vector = {.content = lc_vector_content(text), .numbers = numbers};

    return lc_vector_put(tx, &set, &vector, 1, err);
}

static loci_status store_items(lc_call *call, lc_tx *tx, lc_session_use *use,
                               lc_memory_result *results, loci_error *err)
{
    store_input *in = call->input;
    bool may_repeat = in->import.count > 0 || in->memories != NULL; /* An import or a seed. */
    bool has_begun = false;
    size_t stored = 0;
    lc_head before = {0};
    loci_status status = may_repeat ? lc_tx_head(tx, &before, err) : LOCI_OK;

    for (size_t i = 0; i < in->count && status == LOCI_OK; i++) {
        lc_memory_plan *plan;

        in->items[i].session_id = use->session.id;
        in->items[i].replayed_seq = may_repeat ? before.seq : 0;
        status = lc_memory_decide(tx, &in->items[i], call->arena, &plan, err);
        if (status == LOCI_OK && !has_begun && lc_memory_plan_writes(plan)) {
            status = lc_session_begin_lazily(tx, use, true, err);
            has_begun = true;
        }
        if (status == LOCI_OK)
            status = lc_memory_commit(tx, plan, &results[i], err);
        stored += status == LOCI_OK && results[i].outcome != LC_MEMORY_MENTIONED;
        if (status == LOCI_OK && in->wait && in->meanings[i].vector != NULL)
            status = put_vector(tx, &in->meanings[i].embedding, in->meanings[i].vector,
                                in->items[i].text, err);
        if (status == LOCI_OK && in->given_numbers != NULL)
            status = put_vector(tx, &in->given, in->given_numbers, in->items[i].text, err);
    }
    if (status == LOCI_OK && !has_begun)
        status = lc_session_begin_lazily(tx, use, false, err);
    if (status == LOCI_OK && in->given_numbers == NULL)
        status = lc_meaning_follow_writes(call->engine, tx, stored, err);
    return status;
}

static loci_status run_store(lc_call *call, lc_tx *tx, loci_error *err)
{
    const store_input *in = call->input;
    lc_memory_result *results = lc_arena_zalloc_array(call->arena, in->count, sizeof *results);
    lc_session_use use;
    loci_status status = results != NULL ? lc_call_choose_session(call, tx, &use, err)
                                         : lc_fail_memory(err);

    if (status == LOCI_OK)
        status = lc_call_set_source(call, tx, in->message_id, err);
    if (status == LOCI_OK)
        status = store_items(call, tx, &use, results, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    if (in->memories == NULL)
        put_stored(&call->out, &results[0]);
    if (in->messages != NULL || in->memories != NULL) {
        lc_jw_name(&call->out, "results");
        lc_jw_array(&call->out);
        for (size_t i = 0; i < in->count; i++) {
            lc_jw_object(&call->out);
            put_stored(&call->out, &results[i]);
            lc_jw_end(&call->out);
        }
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
    return LOCI_OK;
}

const lc_op lc_memory_store_op = {
    .name = "memory.store",
    .help = "Remember a statement; it replaces an older one about the same attribute",
    .params = store_params,
    .rules = store_rules,
    .input_bytes = sizeof(store_input),
    .answer = &store_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/memories",
    .mcp = "remember",
    .mcp_takes = "text entity_refs importance trust",
    .mcp_shows = "outcome id old superseded_by contests",
    .look = {.sentence = "{outcome created=remembered:,mentioned=known already:,"
                         "superseded=changed:,kept_both=kept both:,claimed=kept as a claim:}"
                         "[ {text}]  ({id})",
             .hidden = "results"},
    .example = "{\"text\":\"Lives in Austin\"}",
    .prepare = prepare_store,
    .run = run_store,
};

static const lc_param seed_params[] = {
    {LC_ARG_ANY("memories", store_input, memories), .flags = LC_PARAM_REQUIRED | LC_PARAM_SAID,
     .help = "Array of up to 100 statements, texts or {text}; those that are there are counted"},
    {LC_ARG_INT("importance", store_input, memory.importance), .min = 0,
     .max = LC_MEMORY_IMPORTANCE_MAX, .help = "Importance of all of them (default: 1)"},
    {LC_ARG_BOOL("pinned", store_input, memory.pinned, "false"), .help = "Whether to pin them"},
    {LC_ARG_REAL("confidence", store_input, memory.confidence), .min = 0, .max = 1,
     .help = "Confidence from 0 to 1 (default: 1)"},
    {LC_ARG_TIME("observed_at", store_input, memory.observed_at),
     .help = "Time at which they were true (default: the time of the call)"},
    LC_METADATA_PARAM(store_input, metadata),
    WAIT_PARAM,
    {.name = NULL},
};

static const lc_record seed_answer = {
    .members =
        (const lc_result[]){
            {"results", 0, "One per statement", LC_RESULT_LIST, .record = &stored_record},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

const lc_op lc_memory_seed_op = {
    .name = "memory.seed",
    .help = "Remember the statements of an initial profile",
    .params = seed_params,
    .input_bytes = sizeof(store_input),
    .answer = &seed_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/memories/seed",
    .look = {.columns = "outcome id"},
    .example = "{\"memories\":[\"My name is Alex\",\"Prefers dark mode\"]}",
    .prepare = prepare_store,
    .run = run_store,
};

/* ---- memory.import --------------------------------------------------------------------------- */

static const lc_param import_params[] = {
    {LC_ARG_STR("text", store_input, memory.text),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .alias = "content", .min = 1,
     .max = LC_ARGS_BYTES_MAX,
     .help = "Content of the file (on the command line: @FILE), at most 1,000 statements"},
    {LC_ARG_STR("format", store_input, format), .default_text = "\"auto\"",
     .choices = LC_IMPORT_FORMATS,
     .help = "markdown, jsonl, mem0 (an export), mcp (file of the MCP server memory), zep (edges "
             "of a graph), letta (agent file, blocks or passages), or auto"},
    {LC_ARG_INT("importance", store_input, memory.importance), .min = 0,
     .max = LC_MEMORY_IMPORTANCE_MAX, .help = "Importance of those without one (default: 1)"},
    {LC_ARG_TIME("observed_at", store_input, memory.observed_at),
     .help = "Time of those without one (default: the time of the call)"},
    {LC_ARG_STR("trust", store_input, memory.trust), .choices = "user|system|tool|web|model",
     .help = "Origin of the statements; tool, web and model can only claim"},
    LC_METADATA_PARAM(store_input, metadata),
    WAIT_PARAM,
    {.name = NULL},
};

static const lc_record import_answer = {
    .members =
        (const lc_result[]){
            {"created", LC_PARAM_INT, "Number of memories about subjects that were not known"},
            {"mentioned", LC_PARAM_INT, "Number of statements that were there"},
            {"superseded", LC_PARAM_INT, "Number of memories that replaced another one"},
            {"kept_both", LC_PARAM_INT, "Number of memories beside others about their subject"},
            {"claimed", LC_PARAM_INT,
             "Number of statements that may not replace the memory they contest"},
            {"ended", LC_PARAM_INT, "Number of statements that are history: not true any more"},
            {"skipped", LC_PARAM_INT, "Number of lines or objects without a statement"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_import(lc_call *call, loci_error *err)
{
    store_input *in = call->input;
    lc_memory_input *memory = &in->memory;
    loci_str text = memory->text;
    loci_status status;

    memory->importance = memory->importance == LC_ABSENT ? -1 : memory->importance;
    memory->observed_at = memory->observed_at == LC_ABSENT ? LOCI_AT_CLOCK : memory->observed_at;
    memory->persona_id = call->persona_id;
    memory->confidence = NAN;
    memory->text = LC_STR_NONE;
    status = lc_call_keep_metadata(call, in->metadata, &memory->metadata, err);
    if (status == LOCI_OK)
        status = lc_memory_import_read(call->arena, text, in->format, memory, &in->import, err);
    if (status == LOCI_OK && in->import.count == 0)
        status = lc_fail(err, LOCI_EINVAL, "text: no statements found; pass `format`");
    in->items = in->import.items;
    in->count = in->import.count;
    for (size_t i = 0; i < in->count && status == LOCI_OK; i++)
        status = check_rights(call, &in->items[i], err);
    return status == LOCI_OK && in->wait ? embed_items(call, in, err) : status;
}

static loci_status run_import(lc_call *call, lc_tx *tx, loci_error *err)
{
    const store_input *in = call->input;
    lc_memory_result *results = lc_arena_zalloc_array(call->arena, in->count, sizeof *results);
    int64_t counts[LC_MEMORY_ENDED + 1] = {0};
    lc_session_use use;
    loci_status status = results != NULL ? lc_call_choose_session(call, tx, &use, err)
                                         : lc_fail_memory(err);

    if (status == LOCI_OK)
        status = store_items(call, tx, &use, results, err);
    if (status != LOCI_OK)
        return status;
    for (size_t i = 0; i < in->count; i++)
        counts[results[i].outcome]++;
    lc_jw_object(&call->out);
    for (int i = 0; i <= LC_MEMORY_ENDED; i++)
        lc_jw_member_int(&call->out, lc_memory_outcome_name((lc_memory_outcome)i), counts[i]);
    lc_jw_member_int(&call->out, "skipped", in->import.skipped);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

const lc_op lc_memory_import_op = {
    .name = "memory.import",
    .help = "Remember the statements of a file, such as notes in Markdown",
    .params = import_params,
    .input_bytes = sizeof(store_input),
    .answer = &import_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/memories/import",
    .look = {.sentence = "remembered: {created}[; changed: {superseded}]"
                         "[; known already: {mentioned}][; kept beside others: {kept_both}]"
                         "[; kept as claims: {claimed}][; ended: {ended}][; skipped: {skipped}]"},
    .example = "{\"text\":\"* Lives in Austin\"}",
    .prepare = prepare_import,
    .run = run_import,
};
