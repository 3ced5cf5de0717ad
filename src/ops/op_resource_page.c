/* op_resource_page.c - the operations that load resources into the window and take them out.
 *
 * The content of a resource is read before the transaction of the call: `compute` loads the row,
 * reads the file or the object, counts and summarises it. `run` then loads the row again, decides
 * and writes. A file that cannot be read is an outcome of its own: `compute` records in a write of
 * its own that the resource is offline, and the call is LOCI_EUNAVAILABLE.
 *
 * In a batch everything happens in the transaction of the batch, where no file is read: only texts
 * and objects can be paged in there.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/resolve.h"
#include "engine/engine.h"
#include "ops/op_resource.h"

typedef enum reading { NOT_READ, IS_FRESH, IS_READ } reading;

typedef struct page_input {
    loci_str id, mode, summary;
    /* Made before the transaction. */
    int64_t summary_tokens;
    reading reading;
    lc_resource_content content;
    lc_source_reader reader;
} page_input;

#define ID_PARAM LC_RESOURCE_PARAM(page_input, id)

/* ---- Reading the content --------------------------------------------------------------------- */

typedef struct reading_call {
    lc_call *call;
    lc_resource resource;
    loci_str text; /* Of a text or an object. */
    loci_str problem;
    bool found;
    bool is_gone; /* The file or object, not the store, cannot be read. */
} reading_call;

/* The text of a resource that is in the store. An object that is gone is LOCI_EUNAVAILABLE. */
static loci_status read_stored(lc_tx *tx, lc_call *call, const lc_resource *resource, loci_str *out,
                               bool *is_gone, loci_error *err)
{
    loci_str id = {resource->uri.ptr + strlen(LC_OBJECT_SCHEME),
                   resource->uri.len - strlen(LC_OBJECT_SCHEME)};
    loci_error problem = {0};
    loci_status status;

    if (lc_str_is(resource->source, "text"))
        return lc_resource_read_text(tx, resource, call->arena, out, err);
    status = lc_context_resolve(tx, call->persona_id, id, call->arena, out, &problem);
    *is_gone = status == LOCI_ENOTFOUND;
    if (status == LOCI_ENOTFOUND)
        return lc_fail(err, LOCI_EUNAVAILABLE, "%s", problem.message);
    if (status != LOCI_OK && err != NULL)
        *err = problem;
    return status;
}

static loci_status read_row(lc_tx *tx, void *ctx, loci_error *err)
{
    reading_call *r = ctx;
    lc_call *call = r->call;
    const page_input *in = call->input;
    lc_window window;
    loci_status status;

    tx->tenant_id = call->tenant_id;
    tx->user_id = call->user_id;
    tx->now_us = call->now_us;
    r->found = r->is_gone = false;
    status = lc_window_find(tx, call->persona_id, call->arena, &window, &r->found, err);
    if (status == LOCI_OK && r->found)
        status = lc_resource_find(tx, &window, in->id, call->arena, &r->resource, err);
    r->found = status == LOCI_OK && r->found && r->resource.id.len > 0;
    if (status == LOCI_OK && r->found && !lc_str_is(r->resource.source, "file"))
        status = read_stored(tx, call, &r->resource, &r->text, &r->is_gone, err);
    return status;
}

/* Records that the content could not be read. */
static loci_status write_offline(lc_tx *tx, void *ctx, loci_error *err)
{
    reading_call *r = ctx;
    lc_arena *arena = &tx->db->tx_memory;
    const lc_resource_note note = {"fail", "engine", LC_STR_NONE};
    const page_input *in = r->call->input;
    lc_window window;
    lc_resource resource;
    bool found = false;
    loci_status status = lc_window_find(tx, r->call->persona_id, arena, &window, &found, err);

    if (status == LOCI_OK && found)
        status = lc_resource_find(tx, &window, in->id, arena, &resource, err);
    if (status != LOCI_OK || !found || resource.id.len == 0 ||
        resource.state == LC_RESOURCE_OFFLINE)
        return status;
    status = lc_resource_mark_offline(&resource, r->problem, err);
    return status == LOCI_OK ? lc_resource_commit(tx, &window, &resource, &note, err) : status;
}

/* The failure of the read is what the caller learns, even if it cannot be recorded. */
static void note_offline(reading_call *r, const loci_error *why)
{
    lc_write write = {.tenant_id = r->call->tenant_id,
                      .user_id = r->call->user_id,
                      .now_us = r->call->now_us,
                      .deadline_us = r->call->deadline_us,
                      .body = write_offline,
                      .ctx = r};

    r->problem = loci_str_of(why->message);
    if (!lc_engine_is_read_only(r->call->engine))
        (void)lc_engine_write(r->call->engine, &write);
}

/* Whether the summary is enough, and still that of the file. */
static loci_status is_summary_fresh(const page_input *in, const reading_call *r, bool *out,
                                    loci_error *err)
{
    lc_source_stamp stamp;
    loci_status status = LOCI_OK;

    *out = lc_str_is(in->mode, "summary") && r->resource.summary.ptr != NULL &&
           r->resource.state != LC_RESOURCE_OFFLINE &&
           !lc_resource_is_outdated(&r->resource, r->call->now_us);
    if (*out && lc_str_is(r->resource.source, "file")) {
        status = lc_source_stamp_file(&in->reader, r->resource.uri, &stamp, err);
        *out = status == LOCI_OK && stamp.bytes == r->resource.size_bytes &&
               stamp.modified_at == r->resource.modified_at;
    }
    return status;
}

static loci_status read_content(reading_call *r, loci_error *err)
{
    page_input *in = r->call->input;
    bool is_fresh;
    loci_status status = is_summary_fresh(in, r, &is_fresh, err);

    if (status != LOCI_OK || is_fresh) {
        in->reading = IS_FRESH;
        return status;
    }
    in->reader.wants_text = lc_str_is(in->mode, "full");
    status = lc_str_is(r->resource.source, "file")
                 ? lc_source_read_file(&in->reader, r->resource.uri, &in->content, err)
                 : lc_source_read_text(&in->reader, r->text, &in->content, err);
    in->reading = IS_READ;
    return status;
}

static loci_status compute_content(lc_call *call, loci_error *err)
{
    page_input *in = call->input;
    reading_call r = {.call = call};
    loci_error problem = {0};
    loci_status status = lc_call_source_reader(call, &in->reader, err);

    if (status != LOCI_OK || call->is_batched)
        return status;
    status = lc_engine_read(call->engine,
                            &(lc_read){.tenant_id = call->tenant_id,
                                       .user_id = call->user_id,
                                       .deadline_us = call->deadline_us,
                                       .body = read_row,
                                       .ctx = &r},
                            &problem);
    if (status == LOCI_OK && !r.found)
        return LOCI_OK; /* `run` says so, unless the answer of the request is stored. */
    if (status == LOCI_OK) {
        status = read_content(&r, &problem);
        r.is_gone = status == LOCI_EUNAVAILABLE && lc_str_is(r.resource.source, "file");
    }
    if (r.is_gone)
        note_offline(&r, &problem);
    if (status != LOCI_OK && err != NULL)
        *err = problem;
    return status;
}

/* In a batch, where `compute` did not read. */
static loci_status read_in_batch(lc_call *call, lc_tx *tx, const lc_resource *resource,
                                 loci_error *err)
{
    page_input *in = call->input;
    loci_str text;
    bool is_gone;
    loci_status status;

    if (!call->is_batched)
        return lc_fail(err, LOCI_ECONFLICT, "%.*s has just been discovered; call again",
                       LC_STR_ARG(resource->id));
    if (lc_str_is(resource->source, "file"))
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "%s of a file cannot be part of a batch; call it alone", call->op->name);
    status = read_stored(tx, call, resource, &text, &is_gone, err);
    in->reader.wants_text = lc_str_is(in->mode, "full");
    return status == LOCI_OK ? lc_source_read_text(&in->reader, text, &in->content, err) : status;
}

static loci_status take_content(lc_call *call, lc_tx *tx, lc_resource *resource, loci_error *err)
{
    const page_input *in = call->input;
    loci_status status = LOCI_OK;

    if (in->reading == IS_FRESH && resource->summary.ptr != NULL)
        return LOCI_OK;
    if (in->reading != IS_READ)
        status = read_in_batch(call, tx, resource, err);
    return status == LOCI_OK ? lc_resource_take_content(resource, &in->content, call->now_us, err)
                             : status;
}

/* ---- resource.page_in, load, recover --------------------------------------------------------- */

static const lc_param page_in_params[] = {
    ID_PARAM,
    {LC_ARG_STR("mode", page_input, mode), .default_text = "\"full\"", .choices = LC_RESOURCE_MODES,
     .help = "Part to load: all of it, or its summary"},
    {.name = NULL},
};

static const lc_record page_in_answer = {
    .base = &lc_resource_record,
    .members =
        (const lc_result[]){
            {"content", LC_PARAM_STRING, "Content or summary, as loaded"},
            LC_PRESSURE_RESULT,
            {NULL},
        },
};

/* {needed, available, candidates[]} */
static void describe_excess(lc_call *call, lc_tx *tx, const lc_resource_change *c, loci_error *err)
{
    const page_input *in = call->input;
    bool is_full = lc_str_is(in->mode, "full");
    const lc_window *window = &c->use.window;
    lc_resource_list list;
    lc_json_writer w;
    lc_buf json;

    if (lc_window_candidates(tx, window, LC_CANDIDATES_SHOWN, call->arena, &list, NULL) != LOCI_OK)
        return;
    lc_buf_init(&json, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_object(&w);
    lc_jw_member_int(&w, "needed", is_full ? c->resource.size_tokens : c->resource.summary_tokens);
    lc_jw_member_int(&w, "available",
                     lc_window_limit(window) - window->active_tokens + c->resource.counted_tokens);
    lc_jw_name(&w, "candidates");
    lc_jw_array(&w);
    for (size_t i = 0; i < list.count; i++) {
        if (lc_str_eq(list.items[i].id, c->resource.id))
            continue;
        lc_jw_object(&w);
        lc_jw_member_str(&w, "id", list.items[i].id);
        lc_jw_member_int(&w, "tokens", list.items[i].window_tokens);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    if (lc_buf_status(&json, NULL) == LOCI_OK)
        lc_error_set_data(err, lc_buf_str(&json));
    lc_buf_clear(&json);
}

static loci_status page_in(lc_call *call, lc_tx *tx, lc_resource_move move, const char *by,
                           loci_error *err)
{
    const page_input *in = call->input;
    lc_resource_note note = {lc_resource_move_name(move), by, LC_STR_NONE};
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = take_content(call, tx, &c.resource, err);
    if (status == LOCI_OK) {
        status = lc_resource_page_in(&c.use.window, &c.resource, move, in->mode, err);
        if (status == LOCI_EOVERBUDGET)
            describe_excess(call, tx, &c, err);
    }
    if (status == LOCI_OK)
        status = lc_tx_recorded_at(tx, &c.resource.last_accessed, err);
    if (status == LOCI_OK)
        status = lc_resource_commit(tx, &c.use.window, &c.resource, &note, err);
    if (status != LOCI_OK)
        return status;
    return lc_call_put_resource(
        call, tx, &c, lc_str_is(in->mode, "full") ? in->content.text : c.resource.summary, err);
}

static loci_status run_page_in(lc_call *call, lc_tx *tx, loci_error *err)
{
    return page_in(call, tx, LC_RESOURCE_PAGE_IN, "agent", err);
}

static loci_status run_load(lc_call *call, lc_tx *tx, loci_error *err)
{
    return page_in(call, tx, LC_RESOURCE_LOAD, "engine", err);
}

#define PAGE_IN_LOOK                                                                               \
    {                                                                                              \
        .text = "content", .hidden = "pressure"                                                    \
    }

const lc_op lc_op_resource_page_in = {
    .name = "resource.page_in",
    .help = "Load a resource into the window and return its content or its summary",
    .params = page_in_params,
    .input_bytes = sizeof(page_input),
    .answer = &page_in_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/page_in",
    .mcp = "page in",
    .mcp_takes = "id mode",
    .mcp_shows = "content! ~id ~state ~window_tokens ~pressure(level warning)",
    .look = PAGE_IN_LOOK,
    .example = "{\"id\":\"text:rules\"}",
    .compute = compute_content,
    .run = run_page_in,
};

const lc_op lc_op_resource_load = {
    .name = "resource.load",
    .help = "Load a resource on behalf of the engine, as at the start of a session",
    .params = page_in_params,
    .input_bytes = sizeof(page_input),
    .answer = &page_in_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/load",
    .look = PAGE_IN_LOOK,
    .example = "{\"id\":\"text:rules\",\"mode\":\"summary\"}",
    .compute = compute_content,
    .run = run_load,
};

static loci_status prepare_recover(lc_call *call, loci_error *err)
{
    page_input *in = call->input;

    (void)err; /* Nothing can be wrong. */
    in->mode = LC_STR("summary");
    return LOCI_OK;
}

static loci_status run_recover(lc_call *call, lc_tx *tx, loci_error *err)
{
    const page_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK && c.resource.state != LC_RESOURCE_OFFLINE)
        status = lc_fail(err, LOCI_ECONFLICT, "resource %.*s is %s, not offline",
                         LC_STR_ARG(c.resource.id), lc_resource_state_name(c.resource.state));
    if (status == LOCI_OK)
        status = take_content(call, tx, &c.resource, err);
    if (status == LOCI_OK && c.resource.state == LC_RESOURCE_COLD) {
        c.resource.summary = LC_STR_NONE; /* The new content was not paged in. */
        c.resource.summary_tokens = 0;
    }
    return status == LOCI_OK ? lc_call_commit_resource(call, tx, &c, "recover", err) : status;
}

static const lc_param recover_params[] = {ID_PARAM, {.name = NULL}};

const lc_op lc_op_resource_recover = {
    .name = "resource.recover",
    .help = "Read an offline resource again and bring it back",
    .params = recover_params,
    .input_bytes = sizeof(page_input),
    .answer = &lc_resource_changed_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/recover",
    .look = {.sentence = "{uri} is {state}  ({id})"},
    .example = "{\"id\":\"text:rules\"}",
    .prepare = prepare_recover,
    .compute = compute_content,
    .run = run_recover,
};

/* ---- resource.page_out ----------------------------------------------------------------------- */

static const lc_param page_out_params[] = {
    ID_PARAM,
    {LC_ARG_STR("summary", page_input, summary), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_RESOURCE_SUMMARY_BYTES_MAX,
     .help = "Summary of your own (default: an extract of its beginning and end)"},
    {.name = NULL},
};

static loci_status prepare_page_out(lc_call *call, loci_error *err)
{
    page_input *in = call->input;
    const lc_tokenizer *tokenizer;
    lc_text_tokens count = {0};
    loci_status status = LOCI_OK;

    if (in->summary.ptr == NULL)
        return LOCI_OK;
    status = lc_call_tokenizer(call, &tokenizer, err);
    if (status == LOCI_OK)
        status = lc_tokenizer_count(tokenizer, in->summary, &count, err);
    in->summary_tokens = count.tokens;
    return status;
}

static loci_status run_page_out(lc_call *call, lc_tx *tx, loci_error *err)
{
    const page_input *in = call->input;
    lc_resource_change c;
    loci_status status = lc_call_load_resource(call, tx, in->id, &c, err);

    if (status == LOCI_OK)
        status = lc_resource_page_out(&c.resource, in->summary, in->summary_tokens, err);
    return status == LOCI_OK ? lc_call_commit_resource(call, tx, &c, "page_out", err) : status;
}

const lc_op lc_op_resource_page_out = {
    .name = "resource.page_out",
    .help = "Take a resource out of the window and keep its summary",
    .params = page_out_params,
    .input_bytes = sizeof(page_input),
    .answer = &lc_resource_said_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/resources/{id}/page_out",
    .mcp = "page out",
    .mcp_takes = "id",
    .mcp_shows = "id ~state ~summary ~pressure(level warning)",
    .look = {.sentence = "paged out {uri}  ({id})"},
    .example = "{\"id\":\"text:rules\"}",
    .prepare = prepare_page_out,
    .run = run_page_out,
};
