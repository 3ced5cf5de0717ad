/* import.c - see import.h. */
#include "memory/import.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "memory/slug.h"
#include "text/normalise.h"

typedef struct reading {
    lc_arena *arena;
    const lc_memory_input *like;
    lc_memory_import *out;
    int line;
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

/* Headings, rules and quotes are no statements. */
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

static loci_status keep_metadata(reading *r, const lc_json *metadata, loci_str *out,
                                 loci_error *err)
{
    lc_json_writer w;
    lc_buf json;
    loci_status status;

    lc_buf_init(&json, r->arena->heap, LOCI_MEM_REQUESTS, LC_MEMORY_METADATA_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_value(&w, metadata);
    status = lc_buf_status(&json, NULL);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(r->arena, lc_buf_str(&json));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    } else {
        status = status == LOCI_ELIMIT
                     ? lc_fail(err, LOCI_EINVAL, "line %d: metadata of more than %d bytes", r->line,
                               LC_MEMORY_METADATA_BYTES_MAX)
                     : lc_fail_memory(err);
    }
    lc_buf_clear(&json);
    return status;
}

/* One object of jsonl or mem0. */
static loci_status read_object(reading *r, const lc_json *object, loci_error *err)
{
    static const char *const texts[] = {"text", "memory", "content", "data", NULL};
    static const char *const times[] = {"observed_at", "updated_at", "created_at", NULL};
    loci_str text = lc_json_kind_of(object) == LC_JSON_STRING ? lc_json_str(object)
                                                              : first_text(object, texts);
    const lc_json *metadata = lc_json_find(object, "metadata", LC_JSON_OBJECT);
    const lc_json *importance = lc_json_find(object, "importance", LC_JSON_INT);
    loci_str type = text_of(object, "type");
    lc_memory_input *to;
    loci_status status;

    if (lc_str_trim(text).len == 0) {
        r->out->skipped++;
        return LOCI_OK;
    }
    status = add(r, text, &to, err);
    if (status != LOCI_OK)
        return status;
    (void)lc_time_parse(first_text(object, times), &to->observed_at); /* Else as `like` has it. */
    if (lc_str_is(type, "profile") || lc_str_is(type, "people") || lc_str_is(type, "project"))
        to->type = type;
    if (importance != NULL && lc_json_int(importance) >= 0 &&
        lc_json_int(importance) <= LC_MEMORY_IMPORTANCE_MAX)
        to->importance = lc_json_int(importance);
    return metadata != NULL ? keep_metadata(r, metadata, &to->metadata, err) : LOCI_OK;
}

static loci_status read_mem0(reading *r, loci_str text, loci_error *err)
{
    static const char *const lists[] = {"results", "memories", "data", NULL};
    const lc_json *json, *list = NULL;
    loci_status status = lc_json_parse(r->arena, text, 0, &json, err);

    if (status != LOCI_OK)
        return status;
    if (lc_json_kind_of(json) == LC_JSON_ARRAY)
        list = json;
    for (size_t i = 0; lists[i] != NULL && list == NULL; i++)
        list = lc_json_find(json, lists[i], LC_JSON_ARRAY);
    if (list == NULL)
        return lc_fail(err, LOCI_EINVAL, "text: expected an array, or an object with `results`");
    for (const lc_json *item = lc_json_first(list); item != NULL && status == LOCI_OK;
         item = lc_json_next(item))
        status = read_object(r, item, err);
    return status;
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

/* "John works_at Acme" */
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
    memcpy(text + from.len + 1, verb.ptr, verb.len);
    text[from.len + 1 + verb.len] = ' ';
    memcpy(text + from.len + verb.len + 2, to.ptr, to.len);
    status = add(r, (loci_str){text, from.len + verb.len + to.len + 2}, &item, err);
    if (status == LOCI_OK)
        status = make_ref(r, LC_STR_NONE, from, &refs[0], err);
    if (status == LOCI_OK)
        status = make_ref(r, LC_STR_NONE, to, &refs[1], err);
    if (status != LOCI_OK)
        return status;
    item->fact_type = LC_STR("relationship");
    item->entity_label = from;
    return set_refs(r, item, refs[0], refs[1], err);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

typedef loci_status read_line(reading *r, const lc_json *json, loci_error *err);

static loci_status read_mcp_line(reading *r, const lc_json *json, loci_error *err)
{
    return lc_str_is(text_of(json, "type"), "relation") ? read_relation(r, json, err)
                                                        : read_entity(r, json, err);
}

static loci_status read_lines(reading *r, loci_str text, read_line *read, loci_error *err)
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

/* By the beginning of the file. */
static const char *detect(loci_str text)
{
    loci_str rest, trimmed = lc_str_trim(text), line = lc_str_split(trimmed, '\n', &rest);

    if (trimmed.len == 0 || strchr("[{\"", trimmed.ptr[0]) == NULL)
        return "markdown";
    if (trimmed.ptr[0] == '[' || memmem(line.ptr, line.len, "\"results\"", 9) != NULL ||
        lc_str_is(lc_str_trim(line), "{"))
        return "mem0";
    return memmem(line.ptr, line.len, "\"entityType\"", 12) != NULL ||
                   memmem(line.ptr, line.len, "\"relationType\"", 14) != NULL
               ? "mcp"
               : "jsonl";
}

loci_status lc_memory_import_read(lc_arena *arena, loci_str text, loci_str format,
                                  const lc_memory_input *like, lc_memory_import *out,
                                  loci_error *err)
{
    reading r = {arena, like, out, 1};

    *out = (lc_memory_import){
        .items = lc_arena_zalloc_array(arena, LC_IMPORT_MEMORIES_MAX, sizeof *out->items)};
    if (out->items == NULL)
        return lc_fail_memory(err);
    if (format.len == 0 || lc_str_is(format, "auto"))
        format = loci_str_of(detect(text));
    if (lc_str_is(format, "markdown"))
        return read_markdown(&r, text, err);
    if (lc_str_is(format, "mem0"))
        return read_mem0(&r, text, err);
    return read_lines(&r, text, lc_str_is(format, "mcp") ? read_mcp_line : read_object, err);
}
