/* import.c - see import.h. */
#include "memory/import.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "memory/slug.h"
#include "text/normalise.h"

typedef struct reading {
    lc_arena *arena;
    const lc_memory_input *like;
    lc_memory_import *out;
    int line; /* Or the item of a list. */
    /* The entities that the statements of the file connect: their type by name (mcp), their node by
     * UUID (zep). */
    lc_map entities;
} reading;

/* The next statement, to be filled; NULL when there are too many. */
static loci_status add(reading *r, loci_str text, lc_memory_input **out, loci_error *err)
{
    if (r->out->count == LC_IMPORT_MEMORIES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "text: more than %d statements; split the file",
                       LC_IMPORT_MEMORIES_MAX);
    if (text.len > LC_MEMORY_TEXT_BYTES_MAX)
        return lc_fail(err, LOCI_EINVAL, "line %d: a statement of %zu bytes, the maximum is %d",
                       r->line, text.len, LC_MEMORY_TEXT_BYTES_MAX);
    *out = &r->out->items[r->out->count++];
    **out = *r->like;
    (*out)->text = text;
    return LOCI_OK;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* The line without the mark of a list: "- ", "* ", "+ ", "- [x] ", "12. ". */
static loci_str strip_bullet(loci_str line)
{
    size_t at = 0;

    while (at < line.len && line.ptr[at] >= '0' && line.ptr[at] <= '9')
        at++;
    if (at > 0 && at + 1 < line.len && line.ptr[at] == '.' && line.ptr[at + 1] == ' ')
        return lc_str_trim((loci_str){line.ptr + at + 2, line.len - at - 2});
    if (line.len < 2 || strchr("-*+", line.ptr[0]) == NULL || line.ptr[1] != ' ')
        return line;
    line = lc_str_trim((loci_str){line.ptr + 2, line.len - 2});
    if (line.len > 4 && line.ptr[0] == '[' && line.ptr[2] == ']' && line.ptr[3] == ' ')
        line = lc_str_trim((loci_str){line.ptr + 4, line.len - 4});
    return line;
}

/* Headings, rules and quotes are not statements. */
static bool is_prose(loci_str line)
{
    size_t marks = 0;

    while (marks < line.len && strchr("-*=_| :", line.ptr[marks]) != NULL)
        marks++;
    return line.len > 0 && marks < line.len && strchr("#>|<", line.ptr[0]) == NULL;
}

static loci_status read_markdown(reading *r, loci_str text, loci_error *err)
{
    bool is_code = false;
    loci_status status = LOCI_OK;

    for (loci_str rest = text; rest.ptr != NULL && status == LOCI_OK; r->line++) {
        loci_str line = lc_str_trim(lc_str_split(rest, '\n', &rest));
        lc_memory_input *to;

        if (lc_str_starts(line, LC_STR("```")) || lc_str_starts(line, LC_STR("~~~")))
            is_code = !is_code;
        else if (!is_code && is_prose(line))
            status = add(r, strip_bullet(line), &to, err);
        else
            r->out->skipped += line.len > 0;
    }
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static loci_str text_of(const lc_json *object, const char *name)
{
    const lc_json *member = lc_json_find(object, name, LC_JSON_STRING);

    return member != NULL ? lc_json_str(member) : LC_STR_NONE;
}

static loci_str first_text(const lc_json *object, const char *const *names)
{
    loci_str text = LC_STR_NONE;

    for (; *names != NULL && text.len == 0; names++)
        text = text_of(object, *names);
    return text;
}

/* Copies the text of `json` to `out`. */
static loci_status keep_json(reading *r, const lc_buf *json, loci_str *out, loci_error *err)
{
    loci_status status = lc_buf_status(json, NULL);

    if (status == LOCI_ELIMIT)
        return lc_fail(err, LOCI_EINVAL, "line %d: metadata of more than %d bytes", r->line,
                       LC_METADATA_BYTES_MAX);
    if (status == LOCI_OK)
        *out = lc_arena_copy(r->arena, lc_buf_str(json));
    return status == LOCI_OK && out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status keep_metadata(reading *r, const lc_json *metadata, loci_str *out,
                                 loci_error *err)
{
    lc_json_writer w;
    lc_buf json;
    loci_status status;

    lc_buf_init(&json, r->arena->heap, LOCI_MEM_REQUESTS, LC_METADATA_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_value(&w, metadata);
    status = keep_json(r, &json, out, err);
    lc_buf_clear(&json);
    return status;
}

/* A time as programs write it: also without a zone (UTC), or a day. False for none. */
static bool read_time(loci_str text, int64_t *out)
{
    char copy[LC_TIME_BYTES_MAX + sizeof "T00:00:00Z"];
    int len;

    if (lc_time_parse(text, out))
        return true;
    len = snprintf(copy, sizeof copy, text.len == 10 ? "%.*sT00:00:00Z" : "%.*sZ",
                   text.len < LC_TIME_BYTES_MAX ? (int)text.len : 0, text.len > 0 ? text.ptr : "");
    return lc_time_parse((loci_str){copy, (size_t)len}, out);
}

/* {"name": value} */
static loci_status make_metadata(reading *r, const char *name, const lc_json *value, loci_str *out,
                                 loci_error *err)
{
    lc_json_writer w;
    lc_buf json;
    loci_status status;

    lc_buf_init(&json, r->arena->heap, LOCI_MEM_REQUESTS, LC_METADATA_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_object(&w);
    lc_jw_name(&w, name);
    lc_jw_value(&w, value);
    lc_jw_end(&w);
    status = keep_json(r, &json, out, err);
    lc_buf_clear(&json);
    return status;
}

/* One object of any format. `*out` is NULL if it has no statement. */
static loci_status read_item(reading *r, const lc_json *object, lc_memory_input **out,
                             loci_error *err)
{
    static const char *const texts[] = {"text", "memory", "content", "data", "fact", NULL};
    static const char *const times[] = {"observed_at", "valid_at",  "updated_at",
                                        "created_at",  "timestamp", NULL};
    static const char *const ends[] = {"invalid_at", "expired_at", "expiration_date", NULL};
    loci_str text = lc_json_kind_of(object) == LC_JSON_STRING ? lc_json_str(object)
                                                              : first_text(object, texts);
    const lc_json *metadata = lc_json_find(object, "metadata", LC_JSON_OBJECT);
    const lc_json *importance = lc_json_find(object, "importance", LC_JSON_INT);
    const lc_json *tags = lc_json_find(object, "tags", LC_JSON_ARRAY);
    loci_str type = text_of(object, "type");
    lc_memory_input *to;
    loci_status status;

    *out = NULL;
    if (lc_str_trim(text).len == 0) {
        r->out->skipped++;
        return LOCI_OK;
    }
    status = add(r, text, &to, err);
    if (status != LOCI_OK)
        return status;
    *out = to;
    (void)read_time(first_text(object, times), &to->observed_at); /* Else as `like` has it. */
    (void)read_time(first_text(object, ends), &to->ended_at);
    if (lc_str_is(type, "profile") || lc_str_is(type, "people") || lc_str_is(type, "project"))
        to->type = type;
    if (importance != NULL && lc_json_int(importance) >= 0 &&
        lc_json_int(importance) <= LC_MEMORY_IMPORTANCE_MAX)
        to->importance = lc_json_int(importance);
    if (metadata != NULL && lc_json_count(metadata) > 0)
        return keep_metadata(r, metadata, &to->metadata, err);
    return tags != NULL && lc_json_count(tags) > 0
               ? make_metadata(r, "tags", tags, &to->metadata, err)
               : LOCI_OK;
}

static loci_status read_object(reading *r, const lc_json *object, loci_error *err)
{
    lc_memory_input *to;

    return read_item(r, object, &to, err);
}

typedef loci_status read_value(reading *r, const lc_json *json, loci_error *err);

/* Each item of a list; NULL has none. */
static loci_status read_list(reading *r, const lc_json *list, read_value *read, loci_error *err)
{
    loci_status status = LOCI_OK;

    r->line = 1;
    for (const lc_json *item = list != NULL ? lc_json_first(list) : NULL;
         item != NULL && status == LOCI_OK; item = lc_json_next(item), r->line++)
        status = read(r, item, err);
    return status;
}

static const lc_json *list_of(const lc_json *object, const char *name)
{
    return lc_json_find(object, name, LC_JSON_ARRAY);
}

/* The array itself, or the first array of these members. */
static const lc_json *find_list(const lc_json *json, const char *const *names)
{
    const lc_json *list = lc_json_kind_of(json) == LC_JSON_ARRAY ? json : NULL;

    for (; *names != NULL && list == NULL; names++)
        list = list_of(json, *names);
    return list;
}

static const char *const mem0_lists[] = {"results", "memories", "data", NULL};
static const char *const zep_lists[] = {"edges", "items", "facts", "results", NULL};

static loci_status read_mem0(reading *r, const lc_json *json, loci_error *err)
{
    const lc_json *list = find_list(json, mem0_lists);

    if (list == NULL)
        return lc_fail(err, LOCI_EINVAL, "text: expected an array, or an object with `results`");
    return read_list(r, list, read_object, err);
}

/* ---- The file of the MCP server -------------------------------------------------------------- */

/* "type:name" in the arena; the type of a name that no entity line had is `thing`. */
static loci_status make_ref(reading *r, loci_str type, loci_str name, loci_str *out,
                            loci_error *err)
{
    size_t bytes = type.len + name.len + sizeof "thing:";
    char *ref = lc_arena_alloc(r->arena, bytes + 1);
    size_t len = 0;

    if (ref == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < type.len && len < LC_REF_TYPE_BYTES_MAX; i++) {
        char byte = lc_ascii_lower(type.ptr[i]);

        if ((byte >= 'a' && byte <= 'z') || byte == '_' || byte == ' ' || byte == '-')
            ref[len++] = byte >= 'a' && byte <= 'z' ? byte : '_';
    }
    if (len == 0) {
        memcpy(ref, "thing", 5);
        len = 5;
    }
    ref[len++] = ':';
    memcpy(ref + len, name.ptr, name.len);
    return lc_ref_make(r->arena, (loci_str){ref, len + name.len}, out, err);
}

static loci_status set_refs(reading *r, lc_memory_input *to, loci_str first, loci_str second,
                            loci_error *err)
{
    loci_str *refs = lc_arena_zalloc_array(r->arena, 2, sizeof *refs);

    if (refs == NULL)
        return lc_fail_memory(err);
    refs[0] = first;
    refs[1] = second;
    to->entity_refs = (lc_str_list){refs, second.len > 0 ? 2 : 1};
    return LOCI_OK;
}

static loci_status read_entity(reading *r, const lc_json *entity, loci_error *err)
{
    const lc_json *observations = lc_json_find(entity, "observations", LC_JSON_ARRAY);
    loci_str name = text_of(entity, "name"), ref;
    loci_status status = LOCI_OK;

    if (lc_str_trim(name).len == 0 || observations == NULL) {
        r->out->skipped++;
        return LOCI_OK;
    }
    if (!lc_map_put(&r->entities, name, (void *)entity))
        return lc_fail_memory(err);
    status = make_ref(r, text_of(entity, "entityType"), name, &ref, err);
    for (const lc_json *item = lc_json_first(observations); item != NULL && status == LOCI_OK;
         item = lc_json_next(item)) {
        lc_memory_input *to;

        if (lc_json_kind_of(item) != LC_JSON_STRING || lc_str_trim(lc_json_str(item)).len == 0)
            continue;
        status = add(r, lc_json_str(item), &to, err);
        if (status == LOCI_OK)
            status = set_refs(r, to, ref, LC_STR_NONE, err);
        if (status == LOCI_OK)
            to->entity_label = name;
    }
    return status;
}

/* The type that an earlier line gave it. */
static loci_str type_of(const reading *r, loci_str name)
{
    const lc_json *entity = lc_map_find(&r->entities, name);

    return entity != NULL ? text_of(entity, "entityType") : LC_STR_NONE;
}

/* "John works at Acme" of works_at */
static loci_status read_relation(reading *r, const lc_json *relation, loci_error *err)
{
    loci_str from = text_of(relation, "from"), to = text_of(relation, "to");
    loci_str verb = text_of(relation, "relationType"), refs[2];
    char *text = lc_arena_alloc(r->arena, from.len + verb.len + to.len + 3);
    lc_memory_input *item;
    loci_status status;

    if (from.len == 0 || to.len == 0 || verb.len == 0) {
        r->out->skipped++;
        return LOCI_OK;
    }
    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, from.ptr, from.len);
    text[from.len] = ' ';
    for (size_t i = 0; i < verb.len; i++)
        text[from.len + 1 + i] = (char)(verb.ptr[i] == '_' ? ' ' : verb.ptr[i]);
    text[from.len + 1 + verb.len] = ' ';
    memcpy(text + from.len + verb.len + 2, to.ptr, to.len);
    status = add(r, (loci_str){text, from.len + verb.len + to.len + 2}, &item, err);
    if (status == LOCI_OK)
        status = make_ref(r, type_of(r, from), from, &refs[0], err);
    if (status == LOCI_OK)
        status = make_ref(r, type_of(r, to), to, &refs[1], err);
    if (status != LOCI_OK)
        return status;
    item->fact_type = LC_STR("relationship");
    item->entity_label = from;
    return set_refs(r, item, refs[0], refs[1], err);
}

/* ---- Zep ------------------------------------------------------------------------------------- */

/* The first label that says more than that it is an entity; none = unknown. */
static loci_str label_of(const lc_json *labels)
{
    for (const lc_json *item = labels != NULL ? lc_json_first(labels) : NULL; item != NULL;
         item = lc_json_next(item))
        if (lc_json_kind_of(item) == LC_JSON_STRING && !lc_str_is(lc_json_str(item), "Entity"))
            return lc_str_is(lc_json_str(item), "User") ? LC_STR("person") : lc_json_str(item);
    return LC_STR_NONE;
}

/* The ref of an end of an edge, "source" or "target", and its name: as the edge itself gives them,
 * or its node. Without a label `*out` is empty, and the subject is read from the text. */
static loci_status find_end(reading *r, const lc_json *edge, const char *end, loci_str *out_name,
                            loci_str *out, loci_error *err)
{
    char names[3][32];
    const lc_json *node;
    loci_str label;

    (void)snprintf(names[0], sizeof names[0], "%s_node_uuid", end);
    (void)snprintf(names[1], sizeof names[1], "%s_node_name", end);
    (void)snprintf(names[2], sizeof names[2], "%s_node_labels", end);
    node = lc_map_find(&r->entities, text_of(edge, names[0]));
    *out = LC_STR_NONE;
    *out_name = text_of(edge, names[1]);
    label = label_of(list_of(edge, names[2]));
    if (out_name->len == 0 && node != NULL)
        *out_name = text_of(node, "name");
    if (label.len == 0 && node != NULL)
        label = label_of(list_of(node, "labels"));
    return out_name->len > 0 && label.len > 0 ? make_ref(r, label, *out_name, out, err) : LOCI_OK;
}

static loci_status read_edge(reading *r, const lc_json *edge, loci_error *err)
{
    loci_str from, to, from_name, to_name;
    lc_memory_input *item;
    loci_status status = read_item(r, edge, &item, err);

    if (status != LOCI_OK || item == NULL)
        return status;
    status = find_end(r, edge, "source", &from_name, &from, err);
    if (status == LOCI_OK)
        status = find_end(r, edge, "target", &to_name, &to, err);
    if (status != LOCI_OK || from.len == 0)
        return status;
    item->entity_label = from_name;
    return set_refs(r, item, from, to, err);
}

static loci_status keep_node(reading *r, const lc_json *node, loci_error *err)
{
    loci_str uuid = text_of(node, "uuid");

    return uuid.len == 0 || lc_map_put(&r->entities, uuid, (void *)node) ? LOCI_OK
                                                                         : lc_fail_memory(err);
}

/* As memory.store takes messages: statements of an assistant are not confirmed by a person. */
static loci_status read_message(reading *r, const lc_json *message, loci_error *err)
{
    loci_str role = text_of(message, "role_type");
    lc_memory_input *item;
    loci_status status;

    if (role.len == 0)
        role = text_of(message, "role");
    if (!lc_str_is(role, "user") && !lc_str_is(role, "assistant")) {
        r->out->skipped++;
        return LOCI_OK;
    }
    status = read_item(r, message, &item, err);
    if (status == LOCI_OK && item != NULL && lc_str_is(role, "assistant"))
        item->trust = LC_STR("model");
    return status;
}

static loci_status read_zep(reading *r, const lc_json *json, loci_error *err)
{
    const lc_json *edges = find_list(json, zep_lists), *messages = list_of(json, "messages");
    loci_status status;

    if (edges == NULL && messages == NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "text: expected an array of edges, or an object with `edges` or `messages`");
    status = read_list(r, list_of(json, "nodes"), keep_node, err);
    if (status == LOCI_OK)
        status = read_list(r, edges, read_edge, err);
    return status == LOCI_OK ? read_list(r, messages, read_message, err) : status;
}

/* ---- Letta ----------------------------------------------------------------------------------- */

/* A block of the core memory: each of its lines. The block about the agent itself is skipped. */
static loci_status read_block(reading *r, const lc_json *block, loci_error *err)
{
    const lc_json *label = lc_json_find(block, "label", LC_JSON_STRING);
    size_t first = r->out->count;
    int line = r->line;
    loci_status status;

    if (label == NULL || lc_str_is(lc_json_str(label), "persona")) {
        r->out->skipped++;
        return LOCI_OK;
    }
    status = read_markdown(r, text_of(block, "value"), err);
    r->line = line;
    for (size_t i = first; i < r->out->count && status == LOCI_OK; i++)
        status = make_metadata(r, "block", label, &r->out->items[i].metadata, err);
    return status;
}

static loci_status read_block_or_passage(reading *r, const lc_json *json, loci_error *err)
{
    return lc_json_find(json, "label", LC_JSON_STRING) != NULL ? read_block(r, json, err)
                                                               : read_object(r, json, err);
}

/* The file, or one of its agents. Messages of a conversation are not memories. */
static loci_status read_agent(reading *r, const lc_json *agent, loci_error *err)
{
    static const char *const lists[] = {"blocks",   "core_memory",     "memory_blocks",
                                        "passages", "archival_memory", "results"};
    const lc_json *messages = list_of(agent, "messages");
    const lc_json *memory = lc_json_find(agent, "memory", LC_JSON_OBJECT);
    loci_status status = LOCI_OK;

    r->out->skipped += messages != NULL ? (int64_t)lc_json_count(messages) : 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == LOCI_OK; i++)
        status = read_list(r, list_of(agent, lists[i]), read_block_or_passage, err);
    if (status == LOCI_OK && memory != NULL)
        status = read_list(r, list_of(memory, "blocks"), read_block_or_passage, err);
    return status;
}

static loci_status read_letta(reading *r, const lc_json *json, loci_error *err)
{
    loci_status status;

    if (lc_json_kind_of(json) == LC_JSON_ARRAY)
        return read_list(r, json, read_block_or_passage, err);
    if (lc_json_kind_of(json) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL,
                       "text: expected an agent file, or an array of blocks or passages");
    status = read_agent(r, json, err);
    return status == LOCI_OK ? read_list(r, list_of(json, "agents"), read_agent, err) : status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static loci_status read_mcp_line(reading *r, const lc_json *json, loci_error *err)
{
    return lc_str_is(text_of(json, "type"), "relation") ? read_relation(r, json, err)
                                                        : read_entity(r, json, err);
}

static loci_status read_lines(reading *r, loci_str text, read_value *read, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (loci_str rest = text; rest.ptr != NULL && status == LOCI_OK; r->line++) {
        loci_str line = lc_str_trim(lc_str_split(rest, '\n', &rest));
        const lc_json *json;

        if (line.len == 0)
            continue;
        status = lc_json_parse(r->arena, line, 0, &json, err);
        if (status == LOCI_OK)
            status = read(r, json, err);
        else if (status != LOCI_ERESOURCE)
            status = lc_fail(err, LOCI_EINVAL, "line %d: expected one JSON value per line",
                             r->line);
    }
    return status;
}

static bool has(const lc_json *object, const char *name)
{
    return lc_json_kind_of(object) == LC_JSON_OBJECT &&
           lc_json_member(object, loci_str_of(name)) != NULL;
}

/* Of a file that is one JSON array or object. */
static read_value *detect_json(const lc_json *json)
{
    const lc_json *list = find_list(json, zep_lists);
    const lc_json *first = list != NULL ? lc_json_first(list) : NULL;

    if (has(json, "agents") || has(json, "core_memory") || has(json, "blocks") ||
        has(json, "passages"))
        return read_letta;
    if (has(json, "edges") || (first != NULL && has(first, "fact")) || has(json, "messages"))
        return read_zep;
    if (first != NULL && (lc_str_starts(text_of(first, "id"), LC_STR("passage-")) ||
                          (has(first, "label") && has(first, "value"))))
        return read_letta;
    return read_mem0;
}

static loci_status read_json(reading *r, loci_str text, loci_str format, loci_error *err)
{
    const lc_json *json;
    read_value *read = lc_str_is(format, "mem0")    ? read_mem0
                       : lc_str_is(format, "zep")   ? read_zep
                       : lc_str_is(format, "letta") ? read_letta
                                                    : NULL;
    loci_error why = {0};
    loci_status status = lc_json_parse(r->arena, text, 0, &json, &why);

    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    if (status != LOCI_OK)
        return lc_fail(err, LOCI_EINVAL, "text: not valid JSON: %s", why.message);
    return (read != NULL ? read : detect_json(json))(r, json, err);
}

/* By the beginning of the file: "json" = one array or object, over several lines or with a list. */
static const char *detect(reading *r, loci_str text)
{
    loci_str rest, trimmed = lc_str_trim(text);
    loci_str line = lc_str_split(trimmed, '\n', &rest);
    const lc_json *json;

    if (trimmed.len == 0 || strchr("[{\"", trimmed.ptr[0]) == NULL)
        return "markdown";
    if (trimmed.ptr[0] == '[' || lc_json_parse(r->arena, line, 0, &json, NULL) != LOCI_OK)
        return "json";
    if (has(json, "entityType") || has(json, "relationType"))
        return "mcp";
    for (const lc_json *member = lc_json_kind_of(json) == LC_JSON_OBJECT && rest.ptr == NULL
                                     ? lc_json_first(json)
                                     : NULL;
         member != NULL; member = lc_json_next(member))
        if (lc_json_kind_of(member) == LC_JSON_ARRAY)
            return "json";
    return "jsonl";
}

/* Puts statements that ended behind the others, which keep their order. */
static loci_status put_ended_last(reading *r, loci_error *err)
{
    lc_memory_input *items = r->out->items;
    lc_memory_input *ended = lc_arena_zalloc_array(r->arena, r->out->count + 1, sizeof *ended);
    size_t kept = 0, ended_count = 0;

    if (ended == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < r->out->count; i++) {
        if (items[i].ended_at > 0)
            ended[ended_count++] = items[i];
        else
            items[kept++] = items[i];
    }
    memcpy(items + kept, ended, ended_count * sizeof *ended);
    return LOCI_OK;
}

loci_status lc_memory_import_read(lc_arena *arena, loci_str text, loci_str format,
                                  const lc_memory_input *like, lc_memory_import *out,
                                  loci_error *err)
{
    reading r = {.arena = arena, .like = like, .out = out, .line = 1};
    loci_status status;

    *out = (lc_memory_import){
        .items = lc_arena_zalloc_array(arena, LC_IMPORT_MEMORIES_MAX, sizeof *out->items)};
    if (out->items == NULL)
        return lc_fail_memory(err);
    if (format.len == 0 || lc_str_is(format, "auto"))
        format = loci_str_of(detect(&r, text));
    lc_map_init(&r.entities, arena->heap, LOCI_MEM_REQUESTS);
    if (lc_str_is(format, "markdown"))
        status = read_markdown(&r, text, err);
    else if (lc_str_is(format, "jsonl") || lc_str_is(format, "mcp"))
        status = read_lines(&r, text, lc_str_is(format, "mcp") ? read_mcp_line : read_object, err);
    else
        status = read_json(&r, text, format, err);
    lc_map_clear(&r.entities);
    return status == LOCI_OK ? put_ended_last(&r, err) : status;
}
