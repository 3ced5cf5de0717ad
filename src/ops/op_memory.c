/* op_memory.c - the operations that read and change memories. Storing them is in op_memory_store.c,
 * finding them in op_recall.c. */
#include "ops/op_memory.h"
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "memory/entity.h"
#include "memory/memory.h"
#include "memory/slug.h"
#include "ops/call_scope.h"
#include "ops/metadata.h"
#include "ops/page.h"

static const lc_record subtype_record = {.row = &lc_memory_row, .group = "subtype"};

const lc_record lc_memory_record = {
    .name = "Memory",
    .row = &lc_memory_row,
    .members =
        (const lc_result[]){
            {"subtype", 0, "Kinds of its subject and of its fact", .record = &subtype_record},
            LC_CLIENT_RESULT,
            {NULL},
        },
};

loci_status lc_memory_check_trusted(const lc_call *call, loci_str trust, const char *what,
                                    loci_error *err)
{
    loci_str capped = lc_trust_capped(trust, call->trust_max);

    if (lc_trust_is_trusted(capped))
        return LOCI_OK;
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "%s: statements of trust \"%.*s\" cannot do this; a user must", what,
                   LC_STR_ARG(capped));
}

loci_status lc_memory_check_text(loci_str text, const char *where, loci_error *err)
{
    if (lc_str_trim(text).len == 0)
        return lc_fail(err, LOCI_EINVAL, "%s: empty; pass a statement to remember", where);
    if (text.len > LC_MEMORY_TEXT_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "%s: %zu bytes, the maximum is %d", where, text.len,
                       LC_MEMORY_TEXT_BYTES_MAX);
    return LOCI_OK;
}

#define VECTOR_NUMBERS_MAX 4096

/* Copies the numbers of `list`; LOCI_EINVAL unless they have a length. */
static loci_status read_numbers(const lc_json *list, float *out, loci_error *err)
{
    double sum = 0;
    size_t count = 0;

    for (const lc_json *item = lc_json_first(list); item != NULL; item = lc_json_next(item)) {
        lc_json_kind kind = lc_json_kind_of(item);

        if (kind != LC_JSON_INT && kind != LC_JSON_REAL)
            return lc_fail(err, LOCI_EINVAL, "vector: element %zu is no number", count);
        sum += lc_json_real(item) * lc_json_real(item);
        out[count++] = (float)lc_json_real(item);
    }
    if (!(sum > 1e-30 && sum < 1e30))
        return lc_fail(err, LOCI_EINVAL, "vector: its length is 0 or too large");
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(out[i] / sqrt(sum));
    return LOCI_OK;
}

loci_status lc_memory_read_vector(lc_call *call, const lc_vector_args *args, lc_embedding *out,
                                  const float **out_vector, loci_error *err)
{
    size_t count = args->vector != NULL && lc_json_kind_of(args->vector) == LC_JSON_ARRAY
                       ? lc_json_count(args->vector)
                       : 0;
    float *numbers;
    char *generation;

    *out_vector = NULL;
    if (args->vector == NULL)
        return LOCI_OK;
    if (count == 0 || count > VECTOR_NUMBERS_MAX)
        return lc_fail(err, LOCI_EINVAL, "vector: expected an array of 1 to %d numbers",
                       VECTOR_NUMBERS_MAX);
    numbers = lc_arena_zalloc_array(call->arena, count, sizeof *numbers);
    generation = lc_arena_alloc(call->arena, sizeof LC_GIVEN_GENERATION + args->model.len + 24);
    if (numbers == NULL || generation == NULL)
        return lc_fail_memory(err);
    /* Vectors of different lengths never meet. */
    (void)snprintf(generation, sizeof LC_GIVEN_GENERATION + args->model.len + 24, "%s%.*s/%zu",
                   LC_GIVEN_GENERATION, LC_STR_ARG(args->model), count);
    *out = (lc_embedding){.generation = generation, .dimensions = count, .is_given = true};
    *out_vector = numbers;
    return read_numbers(args->vector, numbers, err);
}

/* ---- memory.get, list, history --------------------------------------------------------------- */

typedef struct id_input {
    loci_str id;
    lc_page_args page;
} id_input;

#define ID_HELP "Id of the memory, mem_…"

static const lc_param get_params[] = {LC_ID_PARAM(id_input, id, ID_HELP), {.name = NULL}};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const id_input *in = call->input;
    lc_memory memory;
    loci_str client;
    loci_status status = lc_memory_load(tx, call->persona_id, in->id, call->arena, &memory, err);

    if (status == LOCI_OK)
        status = lc_event_find_client(tx, memory.seq, call->arena, &client, err);
    if (status == LOCI_OK)
        lc_memory_put(&call->out, &memory, client);
    return status;
}

static const lc_op memory_get = {
    .name = "memory.get",
    .help = "Return one memory by its id",
    .params = get_params,
    .input_bytes = sizeof(id_input),
    .answer = &lc_memory_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/memories/{id}",
    .example = "{\"id\":\"mem_00000000000000000000000000\"}",
    .run = run_get,
};

typedef struct list_input {
    loci_str status, type;
    lc_memory_filter_args filter;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    {LC_ARG_STR("status", list_input, status), .default_text = "\"active\"",
     .choices = LC_MEMORY_STATUSES "|any", .help = "Only memories with this status"},
    {LC_ARG_STR("type", list_input, type), .choices = LC_MEMORY_TYPES,
     .help = "Only memories of this type"},
    LC_NAME_PARAM("entity", list_input, filter.entity, 0,
                  "Only memories about this entity: its ref or id"),
    {LC_ARG_OBJECT("metadata", list_input, filter.metadata),
     .help = "Only memories with these members in their metadata, at most 3"},
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"memories", 0, "Memories, newest first", LC_RESULT_LIST, .record = &lc_memory_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
} listing;

static loci_status put_memory(void *ctx, const lc_memory *memory, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = memory->seq;
    lc_memory_put(&l->page.call->out, memory, LC_STR_NONE);
    return LOCI_OK;
}

loci_status lc_memory_set_filter(lc_call *call, lc_tx *tx, const lc_memory_filter_args *in,
                                 lc_memory_page *page, loci_error *err)
{
    size_t count = 0;
    lc_buf json;
    lc_entity entity;
    loci_str ref = in->entity;
    loci_status status = LOCI_OK;

    if (ref.len > 0 && !lc_id_is(ref, "ent"))
        status = lc_ref_make(call->arena, ref, &ref, err);
    if (status == LOCI_OK && ref.len > 0)
        status = lc_entity_load(tx, call->persona_id, ref, call->arena, &entity, err);
    if (status == LOCI_OK && ref.len > 0)
        page->entity_id = entity.id;
    if (status == LOCI_OK && in->metadata != NULL &&
        lc_json_count(in->metadata) > LC_MEMORY_TAGS_MAX)
        return lc_fail(err, LOCI_EINVAL, "metadata: at most %d members can be compared",
                       LC_MEMORY_TAGS_MAX);
    lc_buf_init(&json, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    for (const lc_json *member = in->metadata != NULL ? lc_json_first(in->metadata) : NULL;
         member != NULL && status == LOCI_OK; member = lc_json_next(member)) {
        lc_buf_reset(&json);
        status = lc_json_canonical(call->arena, member, &json, err);
        if (status == LOCI_OK)
            status = lc_buf_status(&json, err);
        page->tags[count++] = lc_memory_metadata_tag(call->arena, lc_json_name(member),
                                                     lc_buf_str(&json));
    }
    lc_buf_clear(&json);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        if (page->tags[i].ptr == NULL)
            status = lc_fail_memory(err);
    return status;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_memory_page page = {.persona_id = call->persona_id,
                           .status = lc_str_is(in->status, "any") ? LC_STR_NONE : in->status,
                           .type = in->type,
                           .limit = in->page.limit + 1};
    loci_status status = lc_memory_set_filter(call, tx, &in->filter, &page, err);

    if (status == LOCI_OK)
        status = lc_page_begin(&l.page, &in->page, err);
    if (status != LOCI_OK)
        return status;
    page.before_seq = l.last.seq;
    lc_page_open(&l.page, "memories");
    status = lc_memory_each(tx, &page, put_memory, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op memory_list = {
    .name = "memory.list",
    .help = "List memories, newest first",
    .params = list_params,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/memories",
    .look = {.columns = "text type status observed_at id", .is_of_texts = true},
    .example = "{\"type\":\"people\",\"limit\":10}",
    .run = run_list,
};

static const lc_param history_params[] = {
    LC_ID_PARAM(id_input, id, "Id of any version, mem_…"),
    LC_PAGE_PARAMS(id_input, page),
    {.name = NULL},
};

static const lc_record history_answer = {
    .members =
        (const lc_result[]){
            {"memories", 0, "Versions and claims by observed_at, oldest first", LC_RESULT_LIST,
             .record = &lc_memory_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

static loci_status run_history(lc_call *call, lc_tx *tx, loci_error *err)
{
    const id_input *in = call->input;
    lc_seq_position place = {0}; /* How many were shown on earlier pages. */
    lc_page page = {call, &lc_position_by_seq, &place};
    lc_memory memory, *versions;
    size_t count = 0;
    loci_status status = lc_memory_load(tx, call->persona_id, in->id, call->arena, &memory, err);

    if (status == LOCI_OK)
        status = lc_memory_find_versions(tx, &memory, call->arena, &versions, &count, err);
    if (status == LOCI_OK)
        status = lc_page_begin(&page, &in->page, err);
    if (status != LOCI_OK)
        return status;
    lc_page_open(&page, "memories");
    for (size_t i = (size_t)place.seq; status == LOCI_OK && i < count && lc_page_takes(&page);
         i++) {
        loci_str client;

        status = lc_event_find_client(tx, versions[i].seq, call->arena, &client, err);
        if (status == LOCI_OK)
            lc_memory_put(&call->out, &versions[i], client);
        place.seq++;
    }
    lc_page_close(&page);
    return status;
}

static const lc_op memory_history = {
    .name = "memory.history",
    .help = "List the versions of a memory and the claims against it, oldest first",
    .params = history_params,
    .input_bytes = sizeof(id_input),
    .answer = &history_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/memories/{id}/history",
    .look = {.columns = "text status observed_at id", .is_of_texts = true},
    .example = "{\"id\":\"mem_00000000000000000000000000\"}",
    .run = run_history,
};

/* ---- memory.update, confirm, pin, unpin, archive --------------------------------------------- */

typedef struct update_input {
    loci_str id, text, label;
    int64_t importance;
    lc_tristate pinned;
    const lc_json *metadata;
    loci_str kept_metadata; /* Made by prepare. */
} update_input;

static const lc_param update_params[] = {
    LC_ID_PARAM(update_input, id, ID_HELP),
    {LC_ARG_STR("text", update_input, text), .flags = LC_PARAM_POSITIONAL | LC_PARAM_SAID,
     .alias = "content", .min = 1, .max = LC_MEMORY_TEXT_BYTES_MAX,
     .help = "Other text: stored as a new memory that supersedes this one"},
    LC_NAME_PARAM("entity_label", update_input, label, LC_PARAM_SAID,
                  "Name of the subject, for people"),
    {LC_ARG_INT("importance", update_input, importance), .min = 0, .max = LC_MEMORY_IMPORTANCE_MAX,
     .help = "Importance from 0 to 3"},
    {LC_ARG_TRISTATE("pinned", update_input, pinned),
     .help = "Whether it is always part of a context"},
    LC_METADATA_PARAM(update_input, metadata),
    {.name = NULL},
};

static const lc_record update_answer = {
    .base = &lc_memory_record,
    .members = (const lc_result[]){LC_WARNINGS_RESULT, {NULL}},
};

static loci_status prepare_update(lc_call *call, loci_error *err)
{
    update_input *in = call->input;
    loci_status status = lc_call_keep_metadata(call, in->metadata, &in->kept_metadata, err);

    if (status == LOCI_OK && in->text.ptr != NULL)
        status = lc_memory_check_text(in->text, "text", err);
    if (status == LOCI_OK && in->text.ptr == NULL)
        status = lc_memory_check_trusted(call, LC_STR_NONE, "update", err);
    if (status == LOCI_OK && in->importance != LC_ABSENT && in->importance > 1)
        status = lc_memory_check_trusted(call, LC_STR_NONE, "importance", err);
    return status == LOCI_OK && in->pinned == LC_TRUE
               ? lc_memory_check_trusted(call, LC_STR_NONE, "pinned", err)
               : status;
}

loci_status lc_memory_load_active(lc_call *call, lc_tx *tx, loci_str id, lc_memory *out,
                                  loci_error *err)
{
    loci_status status = lc_memory_load(tx, call->persona_id, id, call->arena, out, err);

    if (status == LOCI_OK && out->status != LC_MEMORY_ACTIVE)
        status = lc_fail(err, LOCI_ECONFLICT,
                         "memory %.*s is not active any more; memory.history shows what followed",
                         LC_STR_ARG(id));
    return status;
}

static loci_status restate(lc_call *call, lc_tx *tx, const lc_memory *old, loci_str text,
                           lc_memory *out, loci_error *err)
{
    return lc_memory_restate(
        tx, &(lc_memory_restatement){old, text, lc_trust_capped(LC_STR_NONE, call->trust_max)},
        call->arena, out, err);
}

static loci_status run_update(lc_call *call, lc_tx *tx, loci_error *err)
{
    const update_input *in = call->input;
    lc_memory memory;
    loci_status status = lc_memory_load_active(call, tx, in->id, &memory, err);

    if (status != LOCI_OK)
        return status;
    if (in->label.ptr != NULL)
        memory.entity_label = in->label;
    if (in->importance != LC_ABSENT)
        memory.importance = in->importance;
    if (in->metadata != NULL)
        memory.metadata = in->kept_metadata;
    if (in->pinned == LC_TRUE && !memory.pinned)
        status = lc_memory_check_pins(tx, memory.persona_id, err);
    if (in->pinned != LC_UNSET)
        memory.pinned = in->pinned == LC_TRUE;
    if (status == LOCI_OK)
        status = in->text.ptr != NULL ? restate(call, tx, &memory, in->text, &memory, err)
                                      : lc_memory_change(tx, &memory, err);
    if (status == LOCI_OK)
        lc_memory_put(&call->out, &memory, LC_STR_NONE);
    return status;
}

static const lc_op memory_update = {
    .name = "memory.update",
    .help = "Change a memory; another text supersedes it",
    .params = update_params,
    .input_bytes = sizeof(update_input),
    .answer = &update_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "PATCH /v1/memories/{id}",
    .look = {.sentence = "updated: {text}  ({id})"},
    .example = "{\"id\":\"mem_00000000000000000000000000\",\"importance\":2}",
    .prepare = prepare_update,
    .run = run_update,
};

static loci_status prepare_change(lc_call *call, loci_error *err)
{
    return lc_memory_check_trusted(call, LC_STR_NONE, call->op->name, err);
}

/* A claim that the user confirms replaces the memory it contests, if that is still active. */
static loci_status confirm_claim(lc_call *call, lc_tx *tx, lc_memory *claim, loci_error *err)
{
    lc_memory contested;
    loci_status status = lc_memory_load_active(call, tx, claim->contests, &contested, err);

    if (status != LOCI_OK)
        return status;
    status = restate(call, tx, &contested, claim->text, claim, err);
    return status;
}

static loci_status run_confirm(lc_call *call, lc_tx *tx, loci_error *err)
{
    const id_input *in = call->input;
    lc_memory memory;
    loci_status status = lc_memory_load(tx, call->persona_id, in->id, call->arena, &memory, err);

    if (status == LOCI_OK && memory.status == LC_MEMORY_CLAIMED)
        status = confirm_claim(call, tx, &memory, err);
    else if (status == LOCI_OK)
        status = lc_memory_load_active(call, tx, in->id, &memory, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &memory.confirmed_at, err);
    if (status == LOCI_OK)
        status = lc_memory_change(tx, &memory, err);
    if (status == LOCI_OK)
        lc_memory_put(&call->out, &memory, LC_STR_NONE);
    return status;
}

/* pin, unpin and archive. A repeat changes nothing. */
static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    const id_input *in = call->input;
    bool pins = lc_str_is(loci_str_of(call->op->name), "memory.pin");
    bool archives = lc_str_is(loci_str_of(call->op->name), "memory.archive");
    lc_memory memory;
    loci_status status = lc_memory_load(tx, call->persona_id, in->id, call->arena, &memory, err);
    bool is_done = status == LOCI_OK &&
                   (archives ? memory.status == LC_MEMORY_ARCHIVED : memory.pinned == pins);

    if (status == LOCI_OK && !is_done) {
        status = lc_memory_load_active(call, tx, in->id, &memory, err);
        if (status == LOCI_OK && pins)
            status = lc_memory_check_pins(tx, memory.persona_id, err);
        if (status == LOCI_OK && archives && memory.pinned)
            status = lc_fail(err, LOCI_ECONFLICT,
                             "memory %.*s is pinned; unpin it first (memory.unpin)",
                             LC_STR_ARG(in->id));
        memory.pinned = pins;
        if (archives)
            memory.status = LC_MEMORY_ARCHIVED;
        if (status == LOCI_OK)
            status = lc_memory_change(tx, &memory, err);
    }
    if (status == LOCI_OK)
        lc_memory_put(&call->out, &memory, LC_STR_NONE);
    return status;
}

/* `of_done` begins the sentence that people read. */
#define CHANGE_OP(of_name, of_help, of_http, of_effect, of_run, of_done)                           \
    {                                                                                              \
        .name = (of_name), .help = (of_help), .params = get_params,                                \
        .input_bytes = sizeof(id_input), .answer = &lc_memory_record, .cost = LC_COST_WRITE,       \
        .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | (of_effect), .http = (of_http),   \
        .example = "{\"id\":\"mem_00000000000000000000000000\"}", .prepare = prepare_change,       \
        .look = {.sentence = of_done ": {text}  ({id})"}, .run = (of_run),                         \
    }

static const lc_op memory_confirm = CHANGE_OP(
    "memory.confirm", "Confirm that a memory is true; a claim replaces the memory it contests",
    "POST /v1/memories/{id}/confirm", 0, run_confirm, "confirmed");
static const lc_op memory_pin = CHANGE_OP("memory.pin",
                                          "Make a memory part of every context, at most 20",
                                          "POST /v1/memories/{id}/pin", 0, run_set, "pinned");
static const lc_op memory_unpin = CHANGE_OP("memory.unpin", "Undo memory.pin",
                                            "POST /v1/memories/{id}/unpin", 0, run_set,
                                            "no longer pinned");
static const lc_op memory_archive = CHANGE_OP(
    "memory.archive", "Hide a memory from recall for good; it stays in the history",
    "POST /v1/memories/{id}/archive", LC_OP_DESTROYS, run_set, "archived");

extern const lc_op *const lc_ops_memory[];
const lc_op *const lc_ops_memory[] = {
    &lc_memory_store_op,  &memory_get,          &memory_list,  &memory_history, &memory_update,
    &memory_confirm,      &memory_pin,          &memory_unpin, &memory_archive, &lc_memory_seed_op,
    &lc_memory_import_op, &lc_memory_forget_op, NULL,
};
