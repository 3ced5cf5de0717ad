/* transcript.c - see transcript.h.
 *
 * The format is not specified by its maker and grows, so only the known parts are read:
 *
 *     {"type":"user", "uuid":…, "timestamp":…, "version":…, "message":{"content": TEXT | [BLOCK…]}}
 *     {"type":"assistant", …, "message":{"model":…, "content":[BLOCK…]}}
 *     BLOCK: {"type":"text","text":…} | {"type":"tool_result","content": TEXT | [BLOCK…]} | …
 *
 * Flags of a line (isMeta, isSidechain, isCompactSummary …) mark lines that no person wrote.
 */
#include "cli/transcript.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/time.h"
#include "base/utf8.h"

/* Elements that the program, or a hook, puts into the text of a user. */
static const char *const injected[] = {
    LC_TRANSCRIPT_TAG,      "system-reminder",      "user-prompt-submit-hook", "session-start-hook",
    "local-command-stdout", "local-command-stderr", "local-command-caveat",    "command-name",
    "command-message",      "command-args",         "command-contents",        "bash-input",
    "bash-stdout",          "bash-stderr",          "ide_opened_file",         "ide_selection",
    "task-notification",
};

/* Lines that are not part of the conversation although their type is that of a message. */
static const char *const silent[] = {"isMeta", "isSidechain", "isCompactSummary",
                                     "isVisibleInTranscriptOnly", "isApiErrorMessage"};

/* ---- Texts ----------------------------------------------------------------------------------- */

/* The name of an injected element that begins at `at` with "<name" or, if `closes`, "</name"; NULL
 * if there is none. */
static const char *tag_at(loci_str text, size_t at, bool closes)
{
    size_t lead = closes ? 2 : 1;

    if (at + lead >= text.len || text.ptr[at] != '<' || (closes && text.ptr[at + 1] != '/'))
        return NULL;
    for (size_t i = 0; i < sizeof injected / sizeof injected[0]; i++) {
        size_t len = strlen(injected[i]);
        const char *end = text.ptr + at + lead + len;

        if (len < text.len - at - lead && memcmp(text.ptr + at + lead, injected[i], len) == 0 &&
            (*end == '>' || *end == ' ' || *end == '\n'))
            return injected[i];
    }
    return NULL;
}

/* Behind the element that begins at `at`; one that is never closed reaches to the end. */
static size_t skip_element(loci_str text, size_t at, const char *name)
{
    for (size_t i = at + 1; i < text.len; i++) {
        const char *end;

        if (tag_at(text, i, true) != name)
            continue;
        end = memchr(text.ptr + i, '>', text.len - i);
        return end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
    }
    return text.len;
}

bool lc_transcript_clean(lc_arena *arena, loci_str text, size_t bytes_max, loci_str *out)
{
    char *copy = lc_arena_alloc(arena, text.len + 1);
    loci_str kept = {copy, 0};

    *out = LC_STR_NONE;
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < text.len;) {
        const char *name = text.ptr[i] == '<' ? tag_at(text, i, false) : NULL;

        if (name != NULL) {
            i = skip_element(text, i, name);
            continue;
        }
        copy[kept.len++] = text.ptr[i] != '\0' ? text.ptr[i] : ' ';
        i++;
    }
    kept = lc_str_trim(kept);
    if (kept.len > bytes_max)
        kept.len = lc_utf8_cut(kept, bytes_max);
    if (kept.len > 0)
        *out = kept;
    return true;
}

/* ---- Messages -------------------------------------------------------------------------------- */

typedef struct reading {
    lc_arena *arena;
    const lc_transcript_limits *limits;
    lc_transcript_line *out;
    loci_str uuid;
    loci_str at;
    size_t block; /* Position in the line, whatever was left out before it. */
} reading;

static bool make_id(reading *r, loci_str *out)
{
    char text[320];
    int len = r->block == 0
                  ? snprintf(text, sizeof text, "%.*s", LC_STR_ARG(r->uuid))
                  : snprintf(text, sizeof text, "%.*s#%zu", LC_STR_ARG(r->uuid), r->block);

    *out = lc_arena_copy(r->arena, (loci_str){text, (size_t)len});
    return out->ptr != NULL;
}

static bool add(reading *r, const char *role, loci_str text, size_t bytes_max)
{
    lc_transcript_message *to = &r->out->messages[r->out->count];

    if (r->out->count == LC_TRANSCRIPT_MESSAGES_MAX || bytes_max == 0)
        return true;
    if (!lc_transcript_clean(r->arena, text, bytes_max, &to->text) || !make_id(r, &to->external_id))
        return false;
    to->role = role;
    to->at = r->at;
    if (to->text.ptr != NULL)
        r->out->count++;
    return true;
}

static loci_str text_of(const lc_json *block)
{
    const lc_json *text = lc_json_find(block, "text", LC_JSON_STRING);

    return text != NULL ? lc_json_str(text) : LC_STR("");
}

static bool is_of_type(const lc_json *value, const char *type)
{
    const lc_json *given = lc_json_kind_of(value) == LC_JSON_OBJECT
                               ? lc_json_find(value, "type", LC_JSON_STRING)
                               : NULL;

    return given != NULL && lc_str_is(lc_json_str(given), type);
}

/* The answer of a tool: a text, or blocks whose texts are joined. */
static bool add_result(reading *r, const lc_json *block)
{
    const lc_json *content = lc_json_member(block, LC_STR("content"));
    bool is_added = true;
    lc_buf text;

    if (content == NULL)
        return true;
    if (lc_json_kind_of(content) == LC_JSON_STRING)
        return add(r, "tool", lc_json_str(content), r->limits->tool_bytes_max);
    if (lc_json_kind_of(content) != LC_JSON_ARRAY)
        return true;
    lc_buf_init(&text, r->arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    for (const lc_json *part = lc_json_first(content); part != NULL; part = lc_json_next(part)) {
        if (!is_of_type(part, "text"))
            continue;
        lc_buf_append(&text, text.len > 0 ? LC_STR("\n") : LC_STR(""));
        lc_buf_append(&text, text_of(part));
    }
    is_added = lc_buf_status(&text, NULL) == LOCI_OK &&
               add(r, "tool", lc_buf_str(&text), r->limits->tool_bytes_max);
    lc_buf_clear(&text);
    return is_added;
}

static bool add_content(reading *r, const char *role, const lc_json *content)
{
    size_t bytes_max = r->limits->text_bytes_max;
    bool is_added = true;

    if (lc_json_kind_of(content) == LC_JSON_STRING)
        return add(r, role, lc_json_str(content), bytes_max);
    if (lc_json_kind_of(content) != LC_JSON_ARRAY)
        return true;
    for (const lc_json *block = lc_json_first(content); block != NULL && is_added;
         block = lc_json_next(block), r->block++) {
        if (is_of_type(block, "text"))
            is_added = add(r, role, text_of(block), bytes_max);
        else if (is_of_type(block, "tool_result"))
            is_added = add_result(r, block);
    }
    return is_added;
}

static bool is_silent(const lc_json *line)
{
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        const lc_json *flag = lc_json_find(line, silent[i], LC_JSON_BOOL);

        if (flag != NULL && lc_json_bool(flag))
            return true;
    }
    return false;
}

/* A short printable name, or none: it becomes a part of the client's name. */
static loci_str name_in(const lc_json *object, const char *member)
{
    const lc_json *value = lc_json_find(object, member, LC_JSON_STRING);
    loci_str name = value != NULL ? lc_json_str(value) : LC_STR_NONE;

    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] > '~')
            return LC_STR_NONE;
    return name.len <= 100 ? name : LC_STR_NONE;
}

loci_status lc_transcript_read(lc_arena *arena, loci_str line, const lc_transcript_limits *limits,
                               lc_transcript_line *out, loci_error *err)
{
    reading r = {.arena = arena, .limits = limits, .out = out};
    const lc_json *json, *message, *content;
    const char *role;
    int64_t at_us;
    loci_status status = lc_json_parse(arena, line, LC_JSON_ALLOW_NUL, &json, err);

    out->count = 0;
    out->version = out->model = LC_STR_NONE;
    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || lc_json_kind_of(json) != LC_JSON_OBJECT || is_silent(json))
        return LOCI_OK;
    role = is_of_type(json, "user") ? "user" : is_of_type(json, "assistant") ? "assistant" : NULL;
    message = lc_json_find(json, "message", LC_JSON_OBJECT);
    r.uuid = name_in(json, "uuid");
    r.at = name_in(json, "timestamp");
    if (role == NULL || message == NULL || r.uuid.len == 0)
        return LOCI_OK;
    if (r.at.len > 0 && !lc_time_parse(r.at, &at_us))
        r.at = LC_STR_NONE;
    out->version = name_in(json, "version");
    out->model = name_in(message, "model");
    content = lc_json_member(message, LC_STR("content"));
    /* "<synthetic>": the program speaks, not a model. */
    if (content == NULL || (out->model.len > 0 && out->model.ptr[0] == '<'))
        return LOCI_OK;
    return add_content(&r, role, content) ? LOCI_OK : lc_fail_memory(err);
}
