/* op_window.c - the operations on a window as a whole. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "context/candidate.h"
#include "ops/page.h"
#include "ops/window_call.h"
#include "window/window_map.h"

/* ---- window.open, get, policy ---------------------------------------------------------------- */

static const lc_record window_record = {
    .name = "Window",
    .row = &lc_window_row,
    .members = (const lc_result[]){LC_PRESSURE_RESULT, {NULL}},
};

static loci_status put_window(lc_call *call, lc_tx *tx, const lc_window_use *use, loci_error *err)
{
    loci_status status;

    lc_jw_object(&call->out);
    lc_row_put(&lc_window_row, &use->window, &call->out);
    status = lc_call_put_pressure(call, tx, use, err);
    lc_jw_end(&call->out);
    return status;
}

typedef struct open_input {
    int64_t context_max, reserve_output;
    loci_str policy;
} open_input;

static const lc_param open_params[] = {
    {LC_ARG_INT("context_max", open_input, context_max),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .min = 1, .max = LC_WINDOW_TOKENS_MAX,
     .help = "Number of tokens of the model's context"},
    {LC_ARG_INT("reserve_output", open_input, reserve_output), .default_text = "0", .min = 0,
     .max = LC_WINDOW_TOKENS_MAX,
     .help = "Number of tokens of it to keep free for the model's answer"},
    {LC_ARG_STR("policy", open_input, policy), .choices = LC_POLICY_CHOICES,
     .help = "Policy of eviction (default: as it is, at first lru)"},
    {.name = NULL},
};

static loci_status prepare_open(lc_call *call, loci_error *err)
{
    const open_input *in = call->input;

    if (in->reserve_output >= in->context_max)
        return lc_fail(err, LOCI_EINVAL, "reserve_output: must be less than context_max");
    return LOCI_OK;
}

static loci_status run_open(lc_call *call, lc_tx *tx, loci_error *err)
{
    const open_input *in = call->input;
    lc_window_use use = {.evicted = {NULL, 0}};
    bool found;
    loci_status status = lc_window_find(tx, call->persona_id, call->arena, &use.window, &found,
                                        err);

    if (status != LOCI_OK)
        return status;
    if (!found)
        use.window = (lc_window){.persona_id = call->persona_id.ptr != NULL ? call->persona_id
                                                                            : LC_STR("")};
    use.window.context_max = in->context_max;
    use.window.reserve_output = in->reserve_output;
    if (in->policy.ptr != NULL)
        (void)lc_window_policy_find(in->policy, &use.window.policy); /* It was checked. */
    status = lc_window_set(tx, &use.window, call->arena, err);
    return status == LOCI_OK ? put_window(call, tx, &use, err) : status;
}

static const lc_op window_open = {
    .name = "window.open",
    .help = "Open the window of a user and persona, or change its size",
    .params = open_params,
    .input_bytes = sizeof(open_input),
    .answer = &window_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "PUT /v1/window",
    .look = {.sentence = "the window {id} has {context_max} tokens, {reserve_output} of them for "
                         "answers"},
    .example = "{\"context_max\":200000,\"reserve_output\":8000}",
    .prepare = prepare_open,
    .run = run_open,
};

static const lc_param no_params[] = {{.name = NULL}};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_window_use use;
    loci_status status = lc_call_load_window(call, tx, &use, err);

    return status == LOCI_OK ? put_window(call, tx, &use, err) : status;
}

static const lc_op window_get = {
    .name = "window.get",
    .help = "Return the window: its size, policy, sums and pressure",
    .params = no_params,
    .answer = &window_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/window",
    .example = "{}",
    .run = run_get,
};

typedef struct policy_input {
    loci_str policy;
} policy_input;

static const lc_param policy_params[] = {
    {LC_ARG_STR("policy", policy_input, policy), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = LC_POLICY_CHOICES, .help = "Policy of eviction"},
    {.name = NULL},
};

static loci_status run_policy(lc_call *call, lc_tx *tx, loci_error *err)
{
    const policy_input *in = call->input;
    lc_window_use use;
    loci_status status = lc_call_load_window(call, tx, &use, err);

    if (status != LOCI_OK)
        return status;
    (void)lc_window_policy_find(in->policy, &use.window.policy); /* It was checked. */
    status = lc_window_set(tx, &use.window, call->arena, err);
    return status == LOCI_OK ? put_window(call, tx, &use, err) : status;
}

static const lc_op window_policy = {
    .name = "window.policy",
    .help = "Set the policy of eviction",
    .params = policy_params,
    .input_bytes = sizeof(policy_input),
    .answer = &window_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "PUT /v1/window/policy",
    .look = {.sentence = "resources are evicted by {policy}"},
    .example = "{\"policy\":\"keep_technical\"}",
    .run = run_policy,
};

/* ---- window.pressure, candidates ------------------------------------------------------------- */

static const lc_record pressure_answer = {
    .members = (const lc_result[]){LC_PRESSURE_RESULT, {NULL}},
};

static loci_status run_pressure(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_window_use use;
    loci_status status = lc_call_load_window(call, tx, &use, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    status = lc_call_put_pressure(call, tx, &use, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op window_pressure = {
    .name = "window.pressure",
    .help = "Return how full the window is, and what to do",
    .params = no_params,
    .answer = &pressure_answer,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/window/pressure",
    .mcp = "view_window pressure",
    .mcp_takes = "",
    .mcp_shows = "~pressure(level active_tokens limit warning)",
    .example = "{}",
    .run = run_pressure,
};

typedef struct candidates_input {
    int64_t limit;
} candidates_input;

static const lc_param candidates_params[] = {
    {LC_ARG_INT("limit", candidates_input, limit), .default_text = "5", .min = 1,
     .max = LC_CANDIDATES_MAX, .help = "Maximum number of candidates"},
    {.name = NULL},
};

static const lc_record candidates_answer = {
    .members =
        (const lc_result[]){
            {"candidates", 0, "Resources in the order in which they would be evicted",
             LC_RESULT_LIST, .record = &lc_evictable_record},
            {"policy", LC_PARAM_STRING, "Policy of eviction", .choices = LC_POLICY_CHOICES},
            LC_PRESSURE_RESULT,
            {NULL},
        },
};

static loci_status run_candidates(lc_call *call, lc_tx *tx, loci_error *err)
{
    const candidates_input *in = call->input;
    lc_resource_list list;
    lc_window_use use;
    loci_status status = lc_call_load_window(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_window_candidates(tx, &use.window, in->limit, call->arena, &list, err);
    if (status == LOCI_OK && list.count == 0 && use.window.active_count > 0)
        status = lc_fail(err, LOCI_ENOTEVICTABLE,
                         "all %lld active resources are protected by their tag or by the policy "
                         "%s; set another policy, or remove the tag `protected`",
                         (long long)use.window.active_count,
                         lc_window_policy_name(use.window.policy));
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_call_put_evictable(&call->out, "candidates", &use.window, &list);
    lc_jw_member_text(&call->out, "policy", lc_window_policy_name(use.window.policy));
    status = lc_call_put_pressure(call, tx, &use, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op window_candidates = {
    .name = "window.candidates",
    .help = "List the resources that would be paged out first, with reasons",
    .params = candidates_params,
    .input_bytes = sizeof(candidates_input),
    .answer = &candidates_answer,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/window/candidates",
    .mcp = "view_window candidates",
    .mcp_takes = "",
    .mcp_shows = "~candidates(id uri tokens reason) ~pressure(level active_tokens limit warning)",
    .look = {.columns = "tokens uri reason id", .hidden = "pressure policy"},
    .example = "{\"limit\":3}",
    .run = run_candidates,
};

/* ---- window.map, parse ----------------------------------------------------------------------- */

typedef struct map_input {
    loci_str level;
    loci_str text;
    const lc_tokenizer *tokenizer; /* Made before the snapshot. */
} map_input;

static const lc_param map_params[] = {
    {LC_ARG_STR("level", map_input, level), .flags = LC_PARAM_POSITIONAL,
     .default_text = "\"auto\"", .choices = "auto|1|2|3",
     .help = "Level: 1 verbose, 2 dense, 3 ultra-dense; auto: by the pressure"},
    {.name = NULL},
};

static const lc_record map_answer = {
    .members =
        (const lc_result[]){
            {"text", LC_PARAM_STRING, "The map"},
            {"level", LC_PARAM_INT, "Level of the map"},
            {"tokens", LC_PARAM_INT, "Number of tokens of the text"},
            {"estimated", LC_PARAM_BOOL, "True if that number is an estimate"},
            LC_PRESSURE_RESULT,
            {NULL},
        },
};

static int level_of(loci_str level)
{
    return lc_str_is(level, "1") ? 1 : lc_str_is(level, "2") ? 2 : lc_str_is(level, "3") ? 3 : 0;
}

static loci_status compute_map(lc_call *call, loci_error *err)
{
    map_input *in = call->input;

    return lc_call_tokenizer(call, &in->tokenizer, err);
}

static loci_status run_map(lc_call *call, lc_tx *tx, loci_error *err)
{
    const map_input *in = call->input;
    lc_window_map_text map;
    lc_window_use use;
    loci_status status = lc_call_load_window(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_window_write_map(
            tx,
            &(lc_window_map_order){&use.window, level_of(in->level), in->tokenizer, call->arena},
            &map, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "text", map.text);
    lc_jw_member_int(&call->out, "level", map.level);
    lc_jw_member_int(&call->out, "tokens", map.tokens.tokens);
    lc_jw_member_bool(&call->out, "estimated", map.tokens.is_estimated);
    status = lc_call_put_pressure(call, tx, &use, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op window_map = {
    .name = "window.map",
    .help = "Return the mind map: the resources of the window as a text for a model",
    .params = map_params,
    .input_bytes = sizeof(map_input),
    .answer = &map_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/window/map",
    .mcp = "view_window map",
    .mcp_takes = "level",
    .mcp_shows = "text! ~pressure(level active_tokens limit warning)",
    .look = {.text = "text", .hidden = "level tokens estimated pressure"},
    .example = "{\"level\":\"3\"}",
    .compute = compute_map,
    .run = run_map,
};

static const lc_param parse_params[] = {
    {LC_ARG_STR("text", map_input, text), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .min = 1, .max = LC_MIND_MAP_BYTES_MAX, .help = "Text of a map, of any level"},
    {.name = NULL},
};

static const lc_record parsed_link_record = {
    .members =
        (const lc_result[]){
            {"to", LC_PARAM_STRING, "Id, URI or name of the target"},
            {"label", LC_PARAM_STRING, "Meaning of the link", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record parsed_resource_record = {
    .name = "MappedResource",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id (level 1)", LC_RESULT_OPTIONAL},
            {"uri", LC_PARAM_STRING, "URI (level 1)", LC_RESULT_OPTIONAL},
            {"name", LC_PARAM_STRING, "Short name (levels 2 and 3)", LC_RESULT_OPTIONAL},
            {"kind", LC_PARAM_STRING, "Kind (levels 1 and 2; other in level 3)",
             .choices = LC_KIND_CHOICES},
            {"state", LC_PARAM_STRING, "State", .choices = LC_RESOURCE_STATE_CHOICES},
            {"stale", LC_PARAM_BOOL, "True if its content has changed since it was read"},
            {"mode", LC_PARAM_STRING, "summary if only its summary is in the window",
             LC_RESULT_OPTIONAL},
            {"size_tokens", LC_PARAM_INT, "Number of tokens (level 2: rounded)"},
            {"attention", LC_PARAM_REAL, "Attention (levels 1 and 2)"},
            {"last_accessed", LC_PARAM_TIME, "Time of the last use (level 1)", LC_RESULT_OPTIONAL},
            {"summary", LC_PARAM_STRING, "Summary (levels 1 and 2)", LC_RESULT_OPTIONAL},
            {"annotations", LC_PARAM_STRINGS, "Annotations"},
            {"tags", LC_PARAM_STRINGS, "Tags (level 1)"},
            {"links", 0, "Links", LC_RESULT_LIST, .record = &parsed_link_record},
            {NULL},
        },
};

static const lc_record parsed_group_record = {
    .members =
        (const lc_result[]){
            {"region", LC_PARAM_STRING, "Region", .choices = LC_REGION_CHOICES},
            {"kind", LC_PARAM_STRING, "Kind; absent if they are of several kinds",
             LC_RESULT_OPTIONAL, .choices = LC_KIND_CHOICES},
            {"count", LC_PARAM_INT, "Number of resources"},
            {"size_tokens", LC_PARAM_INT, "Number of their tokens"},
            {NULL},
        },
};

static const lc_record parse_answer = {
    .members =
        (const lc_result[]){
            {"level", LC_PARAM_INT, "Level of the map"},
            {"context_max", LC_PARAM_INT, "Number of tokens of the model's context"},
            {"active_tokens", LC_PARAM_INT, "Number of tokens of the active resources"},
            {"reserve_output", LC_PARAM_INT,
             "Number of tokens that are kept free for the answer; not in maps of level 3",
             LC_RESULT_OPTIONAL},
            {"pressure", LC_PARAM_STRING, "Level of pressure",
             .choices = "low|medium|high|critical"},
            {"policy", LC_PARAM_STRING, "Policy of eviction", .choices = LC_POLICY_CHOICES},
            {"time", LC_PARAM_STRING,
             "Time of the map; in levels 2 and 3 the time of day in UTC, such as 13:35"},
            {"links_left", LC_PARAM_INT, "Number of links that are not shown"},
            {"annotations_left", LC_PARAM_INT, "Number of annotations that are not shown"},
            {"resources", 0, "Resources that are named", LC_RESULT_LIST,
             .record = &parsed_resource_record},
            {"groups", 0, "Resources that are counted", LC_RESULT_LIST,
             .record = &parsed_group_record},
            {NULL},
        },
};

static void put_texts(lc_json_writer *out, const char *name, lc_str_list list)
{
    lc_jw_name(out, name);
    lc_jw_array(out);
    for (size_t i = 0; i < list.count; i++)
        lc_jw_str(out, list.items[i]);
    lc_jw_end(out);
}

static void put_text(lc_json_writer *out, const char *name, loci_str text)
{
    if (text.len > 0)
        lc_jw_member_str(out, name, text);
}

static void put_parsed(lc_json_writer *out, const lc_mind_map_resource *resource)
{
    lc_jw_object(out);
    put_text(out, "id", resource->id);
    put_text(out, "uri", resource->uri);
    put_text(out, "name", resource->name);
    lc_jw_member_text(out, "kind", lc_resource_kind_name(resource->kind));
    lc_jw_member_text(out, "state", lc_resource_state_name(resource->state));
    lc_jw_member_bool(out, "stale", resource->is_stale);
    if (resource->is_summary)
        lc_jw_member_text(out, "mode", "summary");
    lc_jw_member_int(out, "size_tokens", resource->size_tokens);
    lc_jw_member_real(out, "attention", resource->attention);
    if (resource->last_accessed_us != 0)
        lc_jw_member_time(out, "last_accessed", resource->last_accessed_us);
    put_text(out, "summary", resource->summary);
    put_texts(out, "annotations", resource->annotations);
    put_texts(out, "tags", resource->tags);
    lc_jw_name(out, "links");
    lc_jw_array(out);
    for (size_t i = 0; i < resource->link_count; i++) {
        lc_jw_object(out);
        lc_jw_member_str(out, "to", resource->links[i].target);
        put_text(out, "label", resource->links[i].label);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    lc_jw_end(out);
}

static void put_group(lc_json_writer *out, const lc_mind_map_group *group)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "region", lc_resource_region_name(group->region));
    if (group->kind < LC_KINDS)
        lc_jw_member_text(out, "kind", lc_resource_kind_name(group->kind));
    lc_jw_member_int(out, "count", group->resource_count);
    lc_jw_member_int(out, "size_tokens", group->size_tokens);
    lc_jw_end(out);
}

#define HOUR_AT 11 /* In "2026-03-01T13:35:00Z". */

static loci_status run_parse(lc_call *call, lc_tx *tx, loci_error *err)
{
    const map_input *in = call->input;
    lc_json_writer *out = &call->out;
    char time[LC_TIME_BYTES_MAX + 1];
    lc_mind_map map;
    loci_str text = in->text;
    loci_status status = LOCI_OK;

    if (text.len > 0 && text.ptr[text.len - 1] != '\n') { /* Models and shells drop the last one. */
        text = lc_context_join(call->arena, (loci_str[]){text, LC_STR("\n")}, 2);
        status = text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    if (status == LOCI_OK)
        status = lc_mind_map_parse(text, call->arena, &map, err);

    (void)tx; /* A text is all it needs. */
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_int(out, "level", map.level);
    lc_jw_member_int(out, "context_max", map.context_max);
    lc_jw_member_int(out, "active_tokens", map.used_tokens);
    if (map.level < 3)
        lc_jw_member_int(out, "reserve_output", map.reserve_output);
    lc_jw_member_text(out, "pressure", lc_ladder_window.names[map.pressure]);
    lc_jw_member_text(out, "policy", lc_window_policy_name(map.policy));
    time[lc_time_format(map.time_us, time)] = '\0';
    if (map.level > 1)
        time[HOUR_AT + 5] = '\0';
    lc_jw_member_text(out, "time", map.level > 1 ? time + HOUR_AT : time);
    lc_jw_member_int(out, "links_left", map.links_left);
    lc_jw_member_int(out, "annotations_left", map.annotations_left);
    lc_jw_name(out, "resources");
    lc_jw_array(out);
    for (size_t i = 0; i < map.resource_count; i++)
        put_parsed(out, &map.resources[i]);
    lc_jw_end(out);
    lc_jw_name(out, "groups");
    lc_jw_array(out);
    for (size_t i = 0; i < map.group_count; i++)
        put_group(out, &map.groups[i]);
    lc_jw_end(out);
    lc_jw_end(out);
    return LOCI_OK;
}

static const lc_op window_parse = {
    .name = "window.parse",
    .help = "Read the text of a mind map back",
    .params = parse_params,
    .input_bytes = sizeof(map_input),
    .answer = &parse_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_IDEMPOTENT | LC_OP_NO_STORE,
    .http = "POST /v1/window/parse",
    .look = {.columns = "state kind name size_tokens attention"},
    .example = "{\"text\":\"@MM1.0|0/8K:low|09:00|lru\"}",
    .run = run_parse,
};

extern const lc_op lc_op_window_get_context; /* op_window_context.c */
extern const lc_op *const lc_ops_window[];
const lc_op *const lc_ops_window[] = {
    &window_open,   &window_get, &window_pressure, &window_candidates,
    &window_policy, &window_map, &window_parse,    &lc_op_window_get_context,
    NULL,
};
