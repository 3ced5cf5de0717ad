/* op_entity.c - the operations on entities: aliases, merges and near spellings. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/review.h"
#include "memory/entity.h"
#include "memory/slug.h"
#include "ops/op_memory.h"
#include "ops/page.h"

static const lc_record entity_record = {.name = "Entity", .row = &lc_entity_row};

/* The ref of a name that a caller gave; ids stay as they are. */
static loci_status make_ref(lc_call *call, loci_str name, loci_str *out, loci_error *err)
{
    *out = name;
    return lc_id_is(name, "ent") ? LOCI_OK : lc_ref_make(call->arena, name, out, err);
}

static loci_status load(lc_call *call, lc_tx *tx, loci_str name, lc_entity *out, loci_error *err)
{
    loci_str ref;
    loci_status status = make_ref(call, name, &ref, err);

    return status == LOCI_OK ? lc_entity_load(tx, call->persona_id, ref, call->arena, out, err)
                             : status;
}

static loci_status put_entity(lc_call *call, lc_tx *tx, lc_entity *entity, loci_error *err)
{
    loci_status status = lc_entity_describe(tx, call->persona_id, entity, call->arena, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_row_put(&lc_entity_row, entity, &call->out);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

/* ---- entity.get and list --------------------------------------------------------------------- */

typedef struct entity_input {
    loci_str entity, other;
    lc_page_args page;
} entity_input;

#define ENTITY_PARAM(flags_, help_)                                                                \
    LC_NAME_PARAM("entity", entity_input, entity,                                                  \
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | (flags_), help_)

static const lc_param get_params[] = {
    ENTITY_PARAM(0, "Ref, such as person:john_doe, an alias of it, or ent_…"),
    {.name = NULL},
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const entity_input *in = call->input;
    lc_entity entity;
    loci_status status = load(call, tx, in->entity, &entity, err);

    return status == LOCI_OK ? put_entity(call, tx, &entity, err) : status;
}

static const lc_op entity_get = {
    .name = "entity.get",
    .help = "Return one entity with its aliases",
    .params = get_params,
    .input_bytes = sizeof(entity_input),
    .answer = &entity_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/entities/{entity}",
    .example = "{\"entity\":\"person:john_doe\"}",
    .run = run_get,
};

static const lc_param list_params[] = {
    LC_NAME_PARAM("type", entity_input, other, LC_PARAM_POSITIONAL,
                  "Only entities of this type, such as person"),
    LC_PAGE_PARAMS(entity_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"entities", 0, "Entities in the order in which they were first named", LC_RESULT_LIST,
             .record = &entity_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

/* Entities are collected first: what is computed for each is read when the walk is over. */
typedef struct collection {
    lc_page page;
    lc_arena *arena;
    lc_entity *items;
    size_t count;
} collection;

static loci_status collect(void *ctx, const lc_entity *entity, loci_error *err)
{
    collection *c = ctx;

    if (!lc_page_takes(&c->page))
        return LOCI_OK;
    c->items[c->count] = *entity;
    return lc_row_keep(&lc_entity_row, c->arena, &c->items[c->count++]) ? LOCI_OK
                                                                        : lc_fail_memory(err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const entity_input *in = call->input;
    lc_seq_position last = {0};
    collection c = {
        .page = {call, &lc_position_by_seq, &last},
        .arena = call->arena,
        .items = lc_arena_zalloc_array(call->arena, (size_t)in->page.limit, sizeof *c.items)};
    lc_entity_page page = {
        .persona_id = call->persona_id, .type = in->other, .limit = in->page.limit + 1};
    loci_status status = c.items != NULL ? lc_page_begin(&c.page, &in->page, err)
                                         : lc_fail_memory(err);

    if (status != LOCI_OK)
        return status;
    page.after_seq = last.seq;
    status = lc_entity_each(tx, &page, collect, &c, err);
    lc_page_open(&c.page, "entities");
    for (size_t i = 0; i < c.count && status == LOCI_OK; i++) {
        last.seq = c.items[i].seq;
        status = put_entity(call, tx, &c.items[i], err);
    }
    lc_page_close(&c.page);
    return status;
}

static const lc_op entity_list = {
    .name = "entity.list",
    .help = "List the entities that memories are about",
    .params = list_params,
    .input_bytes = sizeof(entity_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/entities",
    .look = {.columns = "ref label memories aliases created_at", .id = "ref"},
    .example = "{\"type\":\"person\"}",
    .run = run_list,
};

/* ---- entity.alias, merge, split -------------------------------------------------------------- */

static loci_status prepare_change(lc_call *call, loci_error *err)
{
    return lc_memory_check_trusted(call, LC_STR_NONE, call->op->name, err);
}

static const lc_param alias_params[] = {
    ENTITY_PARAM(0, "Ref or id of the entity"),
    LC_NAME_PARAM("alias", entity_input, other,
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID,
                  "Ref that leads to it, such as person:johnny"),
    {.name = NULL},
};

static const lc_record alias_answer = {
    .base = &entity_record,
    .members = (const lc_result[]){LC_WARNINGS_RESULT, {NULL}},
};

static loci_status run_alias(lc_call *call, lc_tx *tx, loci_error *err)
{
    const entity_input *in = call->input;
    lc_entity entity, alias;
    loci_str ref;
    loci_status status = load(call, tx, in->entity, &entity, err);

    if (status == LOCI_OK)
        status = lc_ref_make(call->arena, in->other, &ref, err);
    if (status == LOCI_OK && lc_str_eq(ref, entity.ref))
        return lc_fail(err, LOCI_EINVAL, "alias: it is the entity's own ref");
    if (status == LOCI_OK)
        status = lc_entity_ensure(tx, entity.persona_id, ref, LC_STR_NONE, err);
    if (status == LOCI_OK)
        status = lc_entity_find(tx, entity.persona_id, ref, call->arena, &alias, err);
    if (status == LOCI_OK && !lc_str_eq(alias.merged_into, entity.id))
        status = lc_entity_merge(tx, &alias, &entity, err);
    return status == LOCI_OK ? put_entity(call, tx, &entity, err) : status;
}

static const lc_op entity_alias = {
    .name = "entity.alias",
    .help = "Let another ref lead to an entity",
    .params = alias_params,
    .input_bytes = sizeof(entity_input),
    .answer = &alias_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/entities/{entity}/aliases",
    .look = {.sentence = "{ref} has the aliases {aliases}  ({id})"},
    .example = "{\"entity\":\"person:john_doe\",\"alias\":\"person:johnny\"}",
    .prepare = prepare_change,
    .run = run_alias,
};

static const lc_param merge_params[] = {
    ENTITY_PARAM(0, "Ref or id of the entity that becomes an alias"),
    LC_NAME_PARAM("into", entity_input, other, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
                  "Ref or id of the entity that it is merged into"),
    {.name = NULL},
};

static loci_status run_merge(lc_call *call, lc_tx *tx, loci_error *err)
{
    const entity_input *in = call->input;
    lc_entity from, into;
    loci_status status = load(call, tx, in->entity, &from, err);

    if (status == LOCI_OK)
        status = load(call, tx, in->other, &into, err);
    if (status == LOCI_OK && !lc_str_eq(from.id, into.id)) /* Else it was merged before. */
        status = lc_entity_merge(tx, &from, &into, err);
    return status == LOCI_OK ? put_entity(call, tx, &into, err) : status;
}

static const lc_op entity_merge = {
    .name = "entity.merge",
    .help = "Merge an entity into another one; entity.split undoes it",
    .params = merge_params,
    .input_bytes = sizeof(entity_input),
    .answer = &entity_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/entities/{entity}/merge",
    .look = {.sentence = "merged into {ref}[, also known as {aliases}]  ({id})"},
    .example = "{\"entity\":\"person:makesh\",\"into\":\"person:mukesh\"}",
    .prepare = prepare_change,
    .run = run_merge,
};

static const lc_param split_params[] = {
    ENTITY_PARAM(0, "Ref or id of the alias"),
    {.name = NULL},
};

static loci_status run_split(lc_call *call, lc_tx *tx, loci_error *err)
{
    const entity_input *in = call->input;
    lc_entity alias;
    lc_str_list refs = {0};
    loci_str ref;
    loci_status status = make_ref(call, in->entity, &ref, err);

    if (status == LOCI_OK)
        status = lc_entity_find(tx, call->persona_id, ref, call->arena, &alias, err);
    if (status == LOCI_OK && alias.id.len == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no entity %.*s", LC_STR_ARG(in->entity));
    if (status == LOCI_OK && alias.merged_into.len > 0)
        status = lc_entity_merge(tx, &alias, &(lc_entity){0}, err);
    else if (status == LOCI_OK) /* It was split before, or is the other side of a merge. */
        status = lc_entity_refs(tx, &alias, call->arena, &refs, err);
    if (status == LOCI_OK && refs.count > 1)
        status = lc_fail(err, LOCI_EINVAL,
                         "entity: %.*s is no alias; split one of its aliases, "
                         "such as %.*s",
                         LC_STR_ARG(ref), LC_STR_ARG(refs.items[refs.count - 1]));
    alias.merged_into = LC_STR_NONE;
    return status == LOCI_OK ? put_entity(call, tx, &alias, err) : status;
}

static const lc_op entity_split = {
    .name = "entity.split",
    .help = "Make an alias an entity of its own again",
    .params = split_params,
    .input_bytes = sizeof(entity_input),
    .answer = &entity_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/entities/{entity}/split",
    .look = {.sentence = "{ref} is an entity of its own again  ({id})"},
    .example = "{\"entity\":\"person:makesh\"}",
    .prepare = prepare_change,
    .run = run_split,
};

/* ---- entity.suggestions ---------------------------------------------------------------------- */

#define SUGGESTIONS_MAX 50

static const lc_param no_params[] = {{.name = NULL}};

static const lc_record suggestion_record = {
    .members =
        (const lc_result[]){
            {"entity", LC_PARAM_STRING, "Ref of the one that was named later"},
            {"into", LC_PARAM_STRING, "Ref of the one that was named first"},
            {NULL},
        },
};

static const lc_record suggestions_answer = {
    .members =
        (const lc_result[]){
            {"suggestions", 0, "Pairs for entity.merge, at most 50", LC_RESULT_LIST,
             .record = &suggestion_record},
            {NULL},
        },
};

typedef struct suggesting {
    lc_call *call;
    lc_tx *tx;
    size_t found;
} suggesting;

static loci_status suggest(void *ctx, const lc_entity_pair *pair, loci_error *err)
{
    suggesting *s = ctx;
    lc_json_writer *out = &s->call->out;
    bool is_judged = false;
    loci_status status;

    if (s->found == SUGGESTIONS_MAX)
        return LOCI_OK;
    status = lc_review_merge_is_judged(s->tx, pair, s->call->arena, &is_judged, err);
    if (status != LOCI_OK || is_judged)
        return status;
    lc_jw_object(out);
    lc_jw_member_str(out, "entity", pair->entity->ref);
    lc_jw_member_str(out, "into", pair->into->ref);
    lc_jw_end(out);
    s->found++;
    return LOCI_OK;
}

static loci_status run_suggestions(lc_call *call, lc_tx *tx, loci_error *err)
{
    suggesting s = {call, tx, 0};
    loci_status status;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "suggestions");
    lc_jw_array(&call->out);
    status = lc_entity_each_near(tx, call->persona_id, call->arena, suggest, &s, err);
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op entity_suggestions = {
    .name = "entity.suggestions",
    .help = "List pairs of entities whose names may be spellings of one",
    .params = no_params,
    .answer = &suggestions_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/entities/suggestions",
    .look = {.columns = "entity into"},
    .example = "{}",
    .run = run_suggestions,
};

extern const lc_op *const lc_ops_entity[];
const lc_op *const lc_ops_entity[] = {
    &entity_get,   &entity_list, &entity_suggestions, &entity_alias, &entity_merge,
    &entity_split, NULL,
};
