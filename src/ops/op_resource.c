/* op_resource.c - the operations on the resources of a window, except those that load and unload
 * them (op_resource_page.c). No content is read here, except that of a text when it is discovered.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/resolve.h"
#include "engine/engine.h"
#include "ops/op_resource.h"
#include "ops/page.h"
#include "store/event.h"

#define TEXT_SCHEME "text:"

typedef struct resource_input {
    loci_str id, path, text, name, object, kind, problem, note, to, label;
    int64_t ttl_s;
    double attention;
    lc_str_list tags;
    bool replace, remove;
    /* Made before the transaction. */
    loci_str uri;
    loci_str tags_json;
    lc_resource_content content;
    lc_source_reader reader;
} resource_input;

#define ID_PARAM LC_RESOURCE_PARAM(resource_input, id)

const lc_record lc_resource_changed_record = {
    .base = &lc_resource_record,
    .members = (const lc_result[]){LC_PRESSURE_RESULT, {NULL}},
};

const lc_record lc_resource_said_record = {
    .base = &lc_resource_record,
    .members = (const lc_result[]){LC_PRESSURE_RESULT, LC_WARNINGS_RESULT, {NULL}},
};

loci_status lc_call_load_resource(lc_call *call, lc_tx *tx, loci_str id, lc_resource_change *out,
                                  loci_error *err)
{
    loci_status status = lc_call_load_window(call, tx, &out->use, err);

    return status == LOCI_OK
               ? lc_resource_load(tx, &out->use.window, id, call->arena, &out->resource, err)
               : status;
}

loci_status lc_call_put_resource(lc_call *call, lc_tx *tx, const lc_resource_change *change,
                                 loci_str content, loci_error *err)
{
    loci_status status;

    lc_jw_object(&call->out);
    lc_row_put(&lc_resource_row, &change->resource, &call->out);
    if (content.ptr != NULL)
        lc_jw_member_str(&call->out, "content", content);
    status = lc_call_put_pressure(call, tx, &change->use, err);
    lc_jw_end(&call->out);
    return status;
}

loci_status lc_call_commit_resource(lc_call *call, lc_tx *tx, lc_resource_change *change,
                                    const char *move, loci_error *err)
{
    lc_resource_note note = {move, "agent", LC_STR_NONE};
    loci_status status = lc_resource_commit(tx, &change->use.window, &change->resource, &note, err);

    return status == LOCI_OK ? lc_call_put_resource(call, tx, change, LC_STR_NONE, err) : status;
}

/* Tags as a JSON array. */
static loci_status make_tags(lc_call *call, loci_error *err)
{
    resource_input *in = call->input;
    lc_json_writer w;
    lc_buf json;
    loci_status status;

    if (in->tags.items == NULL)
        return LOCI_OK;
    lc_buf_init(&json, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_array(&w);
    for (size_t i = 0; i < in->tags.count; i++)
        lc_jw_str(&w, in->tags.items[i]);
    lc_jw_end(&w);
    status = lc_buf_status(&json, err);
    if (status == LOCI_OK) {
        in->tags_json = lc_arena_copy(call->arena, lc_buf_str(&json));
        if (in->tags_json.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&json);
    return status;
}

#define TAGS_PARAM(help_)                                                                          \
    {                                                                                              \
        LC_ARG_STRINGS("tags", resource_input, tags),                                              \
            .flags = LC_PARAM_ONE_OR_MANY | LC_PARAM_SAID, .max = LC_RESOURCE_TAGS_MAX,            \
            .item_max = LC_ID_BYTES_MAX, .help = help_                                             \
    }

/* ---- resource.discover ----------------------------------------------------------------------- */

static const lc_param discover_params[] = {
    {LC_ARG_STR("path", resource_input, path), .flags = LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,
     .max = LC_RESOURCE_NAME_BYTES_MAX,
     .help = "File below one of the folders of window.roots: its absolute path, or relative to "
             "one of them"},
    {LC_ARG_STR("text", resource_input, text), .flags = LC_PARAM_SAID, .alias = "content",
     .max = LC_RESOURCE_TEXT_BYTES_MAX, .help = "Text that is kept in the store"},
    {LC_ARG_STR("name", resource_input, name), .flags = LC_PARAM_ID, .min = 1,
     .max = LC_RESOURCE_NAME_BYTES_MAX,
     .help = "Name of the text: its URI is text:NAME (default: the hash of the text)"},
    LC_NAME_PARAM("object", resource_input, object, 0,
                  "Id of a memory, message, fact, summary, todo, or of a session for its summary"),
    {LC_ARG_STR("kind", resource_input, kind), .choices = LC_KIND_CHOICES,
     .help = "Kind of resource (default: by its name, such as code for main.c)"},
    {LC_ARG_REAL("attention", resource_input, attention), .default_text = "1",
     .help = "Attention, from 0 to 10; more than 1 is hot"},
    TAGS_PARAM("Tags; `protected` keeps it from being evicted"),
    {LC_ARG_INT("ttl_s", resource_input, ttl_s), .min = 1, .max = 315360000,
     .help = "Seconds after which its content has to be read again"},
    {.name = NULL},
};

static const lc_param_rule discover_rules[] = {
    {LC_RULE_AT_MOST_ONE, "path|text"},
    {LC_RULE_AT_MOST_ONE, "path|object"},
    {LC_RULE_AT_MOST_ONE, "text|object"},
    {LC_RULE_END, NULL},
};

static const lc_record discover_answer = {
    .base = &lc_resource_record,
    .members =
        (const lc_result[]){
            {"known", LC_PARAM_BOOL, "True if the window had it already: nothing was changed"},
            LC_PRESSURE_RESULT,
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status join(lc_arena *arena, loci_str scheme, loci_str rest, loci_str *out,
                        loci_error *err)
{
    char *text = lc_arena_alloc(arena, scheme.len + rest.len);

    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, scheme.ptr, scheme.len);
    memcpy(text + scheme.len, rest.ptr, rest.len);
    *out = (loci_str){text, scheme.len + rest.len};
    return LOCI_OK;
}

static loci_status prepare_discover(lc_call *call, loci_error *err)
{
    resource_input *in = call->input;
    lc_resource unknown = {.state = LC_RESOURCE_COLD};
    loci_status status = lc_resource_attend(&unknown, in->attention, err);

    if (status == LOCI_OK && in->path.ptr == NULL && in->text.ptr == NULL && in->object.ptr == NULL)
        status = lc_fail(err, LOCI_EINVAL,
                         "pass the path of a file, a text, or the id of an object");
    if (status == LOCI_OK && in->name.ptr != NULL && in->text.ptr == NULL)
        status = lc_fail(err, LOCI_EINVAL, "name: only a text has one; pass the text as well");
    return status == LOCI_OK ? make_tags(call, err) : status;
}

static loci_status compute_discover(lc_call *call, loci_error *err)
{
    resource_input *in = call->input;
    loci_status status = lc_call_source_reader(call, &in->reader, err);

    if (status != LOCI_OK)
        return status;
    if (in->object.ptr != NULL)
        return join(call->arena, LC_STR(LC_OBJECT_SCHEME), in->object, &in->uri, err);
    if (in->path.ptr != NULL)
        return lc_source_find_file(&in->reader, in->path, &in->uri, err);
    status = lc_source_read_text(&in->reader, in->text, &in->content, err);
    return status == LOCI_OK
               ? join(call->arena, LC_STR(TEXT_SCHEME),
                      in->name.ptr != NULL ? in->name : in->content.hash, &in->uri, err)
               : status;
}

/* A text of the same name must be the same text. */
static loci_status check_known(const resource_input *in, const lc_resource *known, loci_error *err)
{
    if (in->text.ptr == NULL || lc_str_eq(known->hash, in->content.hash))
        return LOCI_OK;
    return lc_fail(err, LOCI_ECONFLICT,
                   "%.*s is another text; choose another name, or forget that one first",
                   LC_STR_ARG(known->id));
}

static loci_status add_resource(lc_call *call, lc_tx *tx, lc_resource_change *c, lc_id *id,
                                loci_error *err)
{
    const resource_input *in = call->input;
    loci_str ignored;
    loci_status status = LOCI_OK;

    if (in->object.ptr != NULL)
        status = lc_context_resolve(tx, call->persona_id, in->object, call->arena, &ignored, err);
    if (status != LOCI_OK)
        return status;
    c->resource = (lc_resource){
        .uri = in->uri,
        .source = in->path.ptr != NULL   ? LC_STR("file")
                  : in->text.ptr != NULL ? LC_STR("text")
                                         : LC_STR("object"),
        .attention = in->attention,
        .size_tokens = in->content.tokens,
        .is_estimated = in->content.is_estimated,
        .size_bytes = in->content.bytes,
        .hash = in->content.hash,
        .ttl_s = in->ttl_s != LC_ABSENT ? in->ttl_s : 0,
        .annotations = LC_STR("[]"),
        .tags = in->tags_json.ptr != NULL ? in->tags_json : LC_STR("[]"),
        .links = LC_STR("[]"),
    };
    c->resource.kind = lc_resource_kind_guess(in->uri);
    if (in->kind.ptr != NULL)
        (void)lc_resource_kind_find(in->kind, &c->resource.kind); /* It was checked. */
    return lc_resource_add(tx, &c->use.window, &c->resource, in->text, id, err);
}

static loci_status run_discover(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource_change c;
    bool is_known;
    lc_id id;
    loci_status status = lc_call_load_window(call, tx, &c.use, err);

    if (status == LOCI_OK)
        status = lc_resource_find(tx, &c.use.window, in->uri, call->arena, &c.resource, err);
    is_known = status == LOCI_OK && c.resource.id.len > 0;
    if (status == LOCI_OK)
        status = is_known ? check_known(in, &c.resource, err)
                          : add_resource(call, tx, &c, &id, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_row_put(&lc_resource_row, &c.resource, &call->out);
    lc_jw_member_bool(&call->out, "known", is_known);
    status = lc_call_put_pressure(call, tx, &c.use, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op resource_discover = {
    .name = "resource.discover",
    .help = "Add a file, a text or an object to the window, without loading it",
    .params = discover_params,
    .rules = discover_rules,
    .input_bytes = sizeof(resource_input),
    .answer = &discover_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/resources",
    .look = {.sentence = "{known yes=known already:,no=discovered} {uri}  ({id})"},
    .example = "{\"text\":\"Deploy on Tuesdays only.\",\"name\":\"rules\",\"kind\":\"config\"}",
    .prepare = prepare_discover,
    .compute = compute_discover,
    .run = run_discover,
};

/* ---- resource.list, get ---------------------------------------------------------------------- */

typedef struct list_input {
    loci_str state, kind, region;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    {LC_ARG_STR("state", list_input, state), .choices = LC_RESOURCE_STATE_CHOICES,
     .help = "Only resources in this state"},
    {LC_ARG_STR("kind", list_input, kind), .choices = LC_KIND_CHOICES,
     .help = "Only resources of this kind"},
    {LC_ARG_STR("region", list_input, region), .choices = LC_REGION_CHOICES,
     .help = "Only resources of this region"},
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"resources", 0, "Resources in the order of discovery", LC_RESULT_LIST,
             .record = &lc_resource_record},
            LC_PRESSURE_RESULT,
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
} listing;

static loci_status put_listed(void *ctx, const lc_resource *resource, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = resource->seq;
    lc_jw_object(&l->page.call->out);
    lc_row_put(&lc_resource_row, resource, &l->page.call->out);
    lc_jw_end(&l->page.call->out);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}};
    lc_resource_page page = {
        .state = in->state, .kind = in->kind, .region = in->region, .limit = in->page.limit + 1};
    lc_window_use use;
    loci_status status = lc_call_load_window(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_page_begin(&l.page, &in->page, err);
    if (status != LOCI_OK)
        return status;
    page.after_seq = l.last.seq;
    status = lc_call_put_pressure(call, tx, &use, err);
    lc_page_open(&l.page, "resources");
    if (status == LOCI_OK)
        status = lc_resource_each(tx, &use.window, &page, put_listed, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op resource_list = {
    .name = "resource.list",
    .help = "List the resources of the window in the order of discovery",
    .params = list_params,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/resources",
    .look = {.columns = "state kind uri size_tokens attention id", .hidden = "pressure"},
    .example = "{\"region\":\"active\"}",
    .run = run_list,
};

static const lc_param id_params[] = {ID_PARAM, {.name = NULL}};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    return status == LOCI_OK ? lc_call_put_resource(call, tx, &c, LC_STR_NONE, err) : status;
}

static const lc_op resource_get = {
    .name = "resource.get",
    .help = "Return one resource without loading it",
    .params = id_params,
    .input_bytes = sizeof(resource_input),
    .answer = &lc_resource_changed_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/resources/{id}",
    .look = {.hidden = "pressure hash"},
    .example = "{\"id\":\"text:rules\"}",
    .run = run_get,
};

/* ---- resource.attention, stale, offline ------------------------------------------------------ */

static const lc_param attention_params[] = {
    ID_PARAM,
    {LC_ARG_REAL("attention", resource_input, attention),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .help = "Attention, from 0 to 10; more than 1 is hot"},
    {.name = NULL},
};

static loci_status prepare_attention(lc_call *call, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource unknown = {.state = LC_RESOURCE_COLD};

    return lc_resource_attend(&unknown, in->attention, err);
}

static loci_status run_attention(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = lc_resource_attend(&c.resource, in->attention, err);
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &c.resource.last_accessed, err);
    return status == LOCI_OK ? lc_call_commit_resource(call, tx, &c, "attention", err) : status;
}

static const lc_op resource_attention = {
    .name = "resource.attention",
    .help = "Set the attention of a resource: its weight against eviction",
    .params = attention_params,
    .input_bytes = sizeof(resource_input),
    .answer = &lc_resource_changed_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "PUT /v1/resources/{id}/attention",
    .mcp = "page attention",
    .mcp_takes = "id attention",
    .mcp_shows = "id ~state ~attention ~pressure(level warning)",
    .look = {.sentence = "{uri} has the attention {attention} and is {state}  ({id})"},
    .example = "{\"id\":\"text:rules\",\"attention\":3}",
    .prepare = prepare_attention,
    .run = run_attention,
};

static loci_status run_stale(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = lc_resource_mark_stale(&c.resource, err);
    return status == LOCI_OK ? lc_call_commit_resource(call, tx, &c, "stale", err) : status;
}

static const lc_op resource_stale = {
    .name = "resource.stale",
    .help = "Mark the content of a resource as outdated",
    .params = id_params,
    .input_bytes = sizeof(resource_input),
    .answer = &lc_resource_changed_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/stale",
    .look = {.sentence = "{uri} is outdated and {state}  ({id})"},
    .example = "{\"id\":\"text:rules\"}",
    .run = run_stale,
};

static const lc_param offline_params[] = {
    ID_PARAM,
    {LC_ARG_STR("problem", resource_input, problem), .flags = LC_PARAM_SAID,
     .default_text = "\"reported by the caller\"", .min = 1, .max = 500,
     .help = "Reason why it cannot be read"},
    {.name = NULL},
};

static loci_status run_offline(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = lc_resource_mark_offline(&c.resource, in->problem, err);
    return status == LOCI_OK ? lc_call_commit_resource(call, tx, &c, "offline", err) : status;
}

static const lc_op resource_offline = {
    .name = "resource.offline",
    .help = "Mark a resource as one that cannot be read",
    .params = offline_params,
    .input_bytes = sizeof(resource_input),
    .answer = &lc_resource_said_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/offline",
    .look = {.sentence = "{uri} is offline: {problem}  ({id})"},
    .example = "{\"id\":\"text:rules\"}",
    .run = run_offline,
};

/* ---- resource.annotate, link ----------------------------------------------------------------- */

static const lc_param annotate_params[] = {
    ID_PARAM,
    {LC_ARG_STR("text", resource_input, note), .flags = LC_PARAM_POSITIONAL | LC_PARAM_SAID,
     .alias = "content", .min = 1, .max = LC_RESOURCE_NOTE_BYTES_MAX, .help = "Note to add"},
    TAGS_PARAM("Tags, in the place of the present ones; `protected` keeps it from being evicted"),
    {LC_ARG_BOOL("replace", resource_input, replace, "false"),
     .help = "Whether to remove the present annotations first"},
    {.name = NULL},
};

static loci_status prepare_annotate(lc_call *call, loci_error *err)
{
    const resource_input *in = call->input;

    if (in->note.ptr == NULL && in->tags.items == NULL && !in->replace)
        return lc_fail(err, LOCI_EINVAL, "text: pass a text, tags or replace");
    return make_tags(call, err);
}

/* A JSON list of objects that gets one more. */
typedef struct list_edit {
    lc_buf json;
    lc_json_writer w;
    size_t count;
} list_edit;

static void begin_edit(list_edit *e, lc_call *call)
{
    lc_buf_init(&e->json, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&e->w, &e->json);
    lc_jw_array(&e->w);
    e->count = 0;
}

static loci_status end_edit(list_edit *e, lc_call *call, loci_str *out, loci_error *err)
{
    loci_status status;

    lc_jw_end(&e->w);
    status = lc_buf_status(&e->json, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(call->arena, lc_buf_str(&e->json));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&e->json);
    return status;
}

static loci_status add_note(lc_call *call, lc_tx *tx, lc_resource *resource, loci_error *err)
{
    const resource_input *in = call->input;
    const lc_json *list;
    int64_t at;
    list_edit e;
    loci_status status = lc_json_parse(call->arena, resource->annotations, 0, &list, err);

    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &at, err);
    if (status != LOCI_OK)
        return status;
    if (!in->replace && in->note.ptr != NULL && lc_json_count(list) >= LC_RESOURCE_NOTES_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "%.*s has %d annotations; write one in their place with replace",
                       LC_STR_ARG(resource->id), LC_RESOURCE_NOTES_MAX);
    begin_edit(&e, call);
    for (const lc_json *each = in->replace ? NULL : lc_json_first(list); each != NULL;
         each = lc_json_next(each))
        lc_jw_value(&e.w, each);
    if (in->note.ptr != NULL) {
        lc_jw_object(&e.w);
        lc_jw_member_time(&e.w, "at", at);
        lc_jw_member_str(&e.w, "text", in->note);
        lc_jw_end(&e.w);
    }
    return end_edit(&e, call, &resource->annotations, err);
}

static loci_status run_annotate(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = add_note(call, tx, &c.resource, err);
    if (status == LOCI_OK && in->tags_json.ptr != NULL)
        c.resource.tags = in->tags_json;
    if (status == LOCI_OK)
        status = lc_resource_set_notes(tx, &c.resource, err);
    return status == LOCI_OK ? lc_call_put_resource(call, tx, &c, LC_STR_NONE, err) : status;
}

static const lc_op resource_annotate = {
    .name = "resource.annotate",
    .help = "Add an annotation to a resource, or set its tags",
    .params = annotate_params,
    .input_bytes = sizeof(resource_input),
    .answer = &lc_resource_said_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/annotations",
    .mcp = "page annotate",
    .mcp_takes = "id text",
    .mcp_shows = "id ~annotations ~pressure(level warning)",
    .look = {.sentence = "annotated {uri}  ({id})"},
    .example = "{\"id\":\"text:rules\",\"text\":\"Read this before a deployment\"}",
    .prepare = prepare_annotate,
    .run = run_annotate,
};

static const lc_param link_params[] = {
    ID_PARAM,
    {LC_ARG_STR("to", resource_input, to),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,
     .max = LC_RESOURCE_NAME_BYTES_MAX + 8, .help = "Id (res_...) or URI of the other resource"},
    {LC_ARG_STR("label", resource_input, label), .flags = LC_PARAM_ID | LC_PARAM_SAID, .min = 1,
     .max = 64, .help = "Meaning of the link, such as uses"},
    {LC_ARG_BOOL("remove", resource_input, remove, "false"),
     .help = "Whether to remove the link instead"},
    {.name = NULL},
};

/* One link per pair: a new label takes the place of the old one. */
static loci_status edit_links(lc_call *call, lc_resource *resource, loci_str to, loci_error *err)
{
    const resource_input *in = call->input;
    const lc_json *list;
    list_edit e;
    loci_status status = lc_json_parse(call->arena, resource->links, 0, &list, err);

    if (status != LOCI_OK)
        return status;
    begin_edit(&e, call);
    for (const lc_json *each = lc_json_first(list); each != NULL; each = lc_json_next(each)) {
        if (lc_str_eq(lc_event_str(each, "to"), to))
            continue;
        lc_jw_value(&e.w, each);
        e.count++;
    }
    if (!in->remove) {
        lc_jw_object(&e.w);
        lc_jw_member_str(&e.w, "to", to);
        if (in->label.ptr != NULL)
            lc_jw_member_str(&e.w, "label", in->label);
        lc_jw_end(&e.w);
    }
    status = end_edit(&e, call, &resource->links, err);
    if (status == LOCI_OK && !in->remove && e.count >= LC_RESOURCE_LINKS_MAX)
        status = lc_fail(err, LOCI_ELIMIT, "%.*s has %d links; remove one first",
                         LC_STR_ARG(resource->id), LC_RESOURCE_LINKS_MAX);
    return status;
}

static loci_status run_link(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resource_input *in = call->input;
    lc_resource target;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = lc_resource_load(tx, &c.use.window, in->to, call->arena, &target, err);
    if (status == LOCI_OK && lc_str_eq(target.id, c.resource.id))
        status = lc_fail(err, LOCI_EINVAL, "to: a resource cannot be linked to itself");
    if (status == LOCI_OK)
        status = edit_links(call, &c.resource, target.id, err);
    if (status == LOCI_OK)
        status = lc_resource_set_links(tx, &c.resource, err);
    return status == LOCI_OK ? lc_call_put_resource(call, tx, &c, LC_STR_NONE, err) : status;
}

static const lc_op resource_link = {
    .name = "resource.link",
    .help = "Link a resource to another one, or remove the link",
    .params = link_params,
    .input_bytes = sizeof(resource_input),
    .answer = &lc_resource_said_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/resources/{id}/links",
    .look = {.sentence = "{remove yes=unlinked,no=linked} {uri}  ({id})"},
    .example = "{\"id\":\"text:rules\",\"to\":\"text:plan\",\"label\":\"uses\"}",
    .run = run_link,
};

extern const lc_op lc_op_resource_forget; /* op_forget.c */
extern const lc_op *const lc_ops_resource[];
const lc_op *const lc_ops_resource[] = {
    &resource_discover,     &resource_list,
    &resource_get,          &lc_op_resource_page_in,
    &lc_op_resource_load,   &lc_op_resource_page_out,
    &resource_attention,    &resource_annotate,
    &resource_link,         &resource_stale,
    &resource_offline,      &lc_op_resource_recover,
    &lc_op_resource_forget, NULL,
};
