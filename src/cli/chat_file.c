/* chat_file.c - see chat_file.h. One function per format; all of them end in add(). */
#include "cli/chat_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cli/transcript.h"

#define NAME_BYTES_MAX 256
#define SESSION_BYTES_MAX 200 /* Leaves room for "#NUMBER-HASH". */

typedef struct reading {
    lc_arena *arena;
    const lc_chat_file *file;
    lc_chat_visit *visit;
    void *ctx;
    lc_chat_piece *piece;
    const char *format; /* Of the file; NULL = not known yet. */
    size_t first_line;  /* Number of the line where the text begins. */
    char place[128];    /* "line 3", "conversation 2" */
} reading;

/* "chat.jsonl: line 3: …" */
__attribute__((format(printf, 3, 4))) static loci_status fail(const reading *r, loci_error *err,
                                                              const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* Cut if it is too long. */
    va_end(args);
    return lc_fail(err, LOCI_EINVAL, "%.*s: %s: %s", LC_STR_ARG(r->file->name), r->place, text);
}

static loci_status parse(const reading *r, loci_str text, const lc_json **out, loci_error *err)
{
    bool is_line = strncmp(r->place, "line ", 5) == 0;
    loci_error reason;
    loci_status status = lc_json_parse(r->arena, text, LC_JSON_ALLOW_NUL, out, &reason);

    if (status == LOCI_OK)
        return LOCI_OK;
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    return fail(r, err, "%s", is_line ? lc_json_reason_in_line(reason.message) : reason.message);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static const struct {
    const char *word, *role;
} roles[] = {
    {"user", "user"},        {"human", "user"},          {"you", "user"},
    {"me", "user"},          {"assistant", "assistant"}, {"ai", "assistant"},
    {"model", "assistant"},  {"bot", "assistant"},       {"chatgpt", "assistant"},
    {"claude", "assistant"}, {"tool", "tool"},           {"function", "tool"},
    {"system", "system"},    {"developer", "system"},
};

/* NULL = unknown. */
static const char *role_of(loci_str word)
{
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (word.len == strlen(roles[i].word) &&
            strncasecmp(word.ptr, roles[i].word, word.len) == 0)
            return roles[i].role;
    return NULL;
}

static loci_status check_name(const reading *r, const char *what, loci_str name, size_t bytes_max,
                              loci_error *err)
{
    if (name.len == 0 || name.len > bytes_max)
        return fail(r, err, "%s has %zu bytes, expected 1 to %zu", what, name.len, bytes_max);
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return fail(r, err, "%s has a control character", what);
    return LOCI_OK;
}

static loci_status flush(reading *r, loci_error *err)
{
    loci_status status = r->piece->count > 0 ? r->visit(r->ctx, r->piece, err) : LOCI_OK;

    r->piece->count = r->piece->bytes = 0;
    return status;
}

/* U+0000 becomes a space: no text in loci has it. */
static bool clean(lc_arena *arena, loci_str *text)
{
    char *copy;

    *text = lc_str_trim(*text);
    if (text->len == 0 || memchr(text->ptr, '\0', text->len) == NULL)
        return true;
    copy = lc_arena_alloc(arena, text->len);
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < text->len; i++)
        copy[i] = text->ptr[i] != '\0' ? text->ptr[i] : ' ';
    *text = lc_str_trim((loci_str){copy, text->len});
    return true;
}

static loci_status make_id(const reading *r, loci_str session, size_t number, lc_chat_message *to,
                           loci_error *err)
{
    char id[NAME_BYTES_MAX + 1];
    int len = snprintf(id, sizeof id, "%.*s#%zu-%08" PRIx32, LC_STR_ARG(session), number,
                       (uint32_t)lc_hash64(to->text)); /* Fits: see SESSION_BYTES_MAX. */

    to->external_id = lc_arena_copy(r->arena, (loci_str){id, (size_t)len});
    return to->external_id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Adds a message unless it is blank. Without an id it gets one from `number`. */
static loci_status add(reading *r, loci_str session, const lc_chat_message *message, size_t number,
                       loci_error *err)
{
    lc_chat_message m = *message;
    lc_chat_piece *piece = r->piece;
    loci_status status = LOCI_OK;

    if (!clean(r->arena, &m.text))
        return lc_fail_memory(err);
    if (m.text.len == 0)
        return LOCI_OK;
    if (m.text.len > LC_CHAT_MESSAGE_BYTES_MAX)
        return fail(r, err, "the text has %zu bytes, the maximum is %u", m.text.len,
                    LC_CHAT_MESSAGE_BYTES_MAX);
    status = check_name(r, "the id of the conversation", session, SESSION_BYTES_MAX, err);
    if (status == LOCI_OK && m.external_id.len == 0)
        status = make_id(r, session, number, &m, err);
    if (status == LOCI_OK)
        status = check_name(r, "the id of the message", m.external_id, NAME_BYTES_MAX, err);
    if (status == LOCI_OK && m.speaker.len > 0)
        status = check_name(r, "speaker", m.speaker, NAME_BYTES_MAX, err);
    if (status == LOCI_OK && (piece->count == LC_CHAT_PIECE_MESSAGES_MAX ||
                              piece->bytes + m.text.len > LC_CHAT_PIECE_BYTES_MAX ||
                              (piece->count > 0 && !lc_str_eq(piece->session, session))))
        status = flush(r, err);
    if (status != LOCI_OK)
        return status;
    piece->format = r->format;
    piece->session = session;
    piece->messages[piece->count++] = m;
    piece->bytes += m.text.len;
    return LOCI_OK;
}

/* ---- Parts of JSON --------------------------------------------------------------------------- */

static loci_str text_in(const lc_json *object, const char *name)
{
    const lc_json *value = lc_json_find(object, name, LC_JSON_STRING);

    return value != NULL ? lc_json_str(value) : LC_STR_NONE;
}

/* A string, or the texts of an array of strings and objects with `text`, as paragraphs. Images and
 * calls of tools have no text. */
static loci_status join_parts(const reading *r, const lc_json *content, loci_str *out,
                              loci_error *err)
{
    loci_status status = LOCI_OK;
    lc_buf text;

    *out = LC_STR_NONE;
    if (content != NULL && lc_json_kind_of(content) == LC_JSON_STRING)
        *out = lc_json_str(content);
    if (content == NULL || lc_json_kind_of(content) != LC_JSON_ARRAY)
        return LOCI_OK;
    lc_buf_init(&text, r->arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    for (const lc_json *each = lc_json_first(content); each != NULL; each = lc_json_next(each)) {
        loci_str part = lc_json_kind_of(each) == LC_JSON_STRING ? lc_json_str(each)
                                                                : text_in(each, "text");

        if (part.len > 0 && text.len > 0)
            lc_buf_append(&text, LC_STR("\n\n"));
        lc_buf_append(&text, part);
    }
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK && text.len > 0) {
        *out = lc_arena_copy(r->arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* A time as RFC 3339, or as seconds or milliseconds since 1970; null = not said. */
static loci_status read_time(const reading *r, const lc_json *value, int64_t *out, loci_error *err)
{
    double seconds = 0;
    lc_json_kind kind = value != NULL ? lc_json_kind_of(value) : LC_JSON_NULL;

    *out = LC_CHAT_NO_TIME;
    if (kind == LC_JSON_NULL || (kind == LC_JSON_STRING && lc_time_parse(lc_json_str(value), out)))
        return LOCI_OK;
    if (kind == LC_JSON_STRING)
        return fail(r, err, "the time \"%.*s\" is not RFC 3339, such as 2026-01-02T03:04:05Z",
                    LC_STR_ARG(lc_json_str(value)));
    if (kind == LC_JSON_INT || kind == LC_JSON_REAL)
        seconds = lc_json_real(value) > 1e11 ? lc_json_real(value) / 1000 : lc_json_real(value);
    if (seconds <= 0 || seconds > 1e11)
        return fail(r, err, "the time is neither RFC 3339 nor seconds since 1970");
    *out = (int64_t)(seconds * 1e6);
    return LOCI_OK;
}

/* ---- JSON lines ------------------------------------------------------------------------------ */

static const lc_json *either(const lc_json *object, const char *name, const char *other)
{
    const lc_json *value = lc_json_member(object, loci_str_of(name));

    return value != NULL ? value : lc_json_member(object, loci_str_of(other));
}

static loci_status read_message(reading *r, const lc_json *line, size_t number, loci_error *err)
{
    const lc_json *content = either(line, "text", "content");
    const lc_json *session = lc_json_member(line, LC_STR("session"));
    loci_str role = text_in(line, "role"), name = r->file->name, id = text_in(line, "id");
    lc_chat_message message = {.role = role_of(role),
                               .speaker = text_in(line, "speaker"),
                               .external_id = text_in(line, "external_id")};
    loci_status status;

    if (message.role == NULL && role.len == 0)
        return fail(r, err,
                    "expected an object {role, text}, optionally with at, speaker, session");
    if (message.role == NULL)
        return fail(r, err, "unknown role \"%.*s\", expected user, assistant, tool or system",
                    LC_STR_ARG(role));
    if (content == NULL)
        return fail(r, err, "the message has neither text nor content");
    if (session != NULL && lc_json_kind_of(session) == LC_JSON_STRING)
        name = lc_json_str(session);
    else if (session != NULL && lc_json_kind_of(session) != LC_JSON_NULL)
        return fail(r, err, "session: expected a string");
    if (id.len > 0 && message.external_id.len == 0) { /* Such as 1: unique in its session. */
        char text[2 * NAME_BYTES_MAX];
        int len = snprintf(text, sizeof text, "%.*s#%.*s", LC_STR_ARG(name), LC_STR_ARG(id));

        if (len < 0 || len > NAME_BYTES_MAX)
            return fail(r, err, "session and id together have more than %d bytes", NAME_BYTES_MAX);
        message.external_id = lc_arena_copy(r->arena, (loci_str){text, (size_t)len});
        if (message.external_id.ptr == NULL)
            return lc_fail_memory(err);
    }
    status = read_time(r, either(line, "at", "timestamp"), &message.at_us, err);
    if (status == LOCI_OK)
        status = join_parts(r, content, &message.text, err);
    return status == LOCI_OK ? add(r, name, &message, number, err) : status;
}

/* ---- Claude Code ----------------------------------------------------------------------------- */

/* The name of the file without ".jsonl" is the id of the session, too. */
static loci_str session_of_file(loci_str name)
{
    loci_str end = LC_STR(".jsonl");

    if (name.len > end.len && memcmp(name.ptr + name.len - end.len, end.ptr, end.len) == 0)
        name.len -= end.len;
    return name;
}

static loci_status read_claude_code(reading *r, const lc_json *json, loci_str text, loci_error *err)
{
    lc_transcript_limits limits = {LC_CHAT_MESSAGE_BYTES_MAX, r->file->tool_bytes_max};
    lc_transcript_line *line = lc_arena_zalloc_array(r->arena, 1, sizeof *line);
    loci_str session = text_in(json, "sessionId");
    loci_status status = line != NULL ? lc_transcript_read(r->arena, text, &limits, line, err)
                                      : lc_fail_memory(err);

    for (size_t i = 0; status == LOCI_OK && i < line->count; i++) {
        const lc_transcript_message *from = &line->messages[i];
        lc_chat_message message = {.role = from->role,
                                   .text = from->text,
                                   .external_id = from->external_id,
                                   .at_us = LC_CHAT_NO_TIME};

        if (from->at.len > 0)
            (void)lc_time_parse(from->at, &message.at_us); /* Was checked. */
        status = add(r, session.len > 0 ? session : session_of_file(r->file->name), &message, 0,
                     err);
    }
    return status;
}

/* The first line that is a message, or has a type, decides for the file. */
static const char *format_of_line(const lc_json *line)
{
    if (lc_json_find(line, "role", LC_JSON_STRING) != NULL)
        return "jsonl";
    return lc_json_find(line, "type", LC_JSON_STRING) != NULL ? "claude-code" : "jsonl";
}

static loci_status read_lines(reading *r, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(r->arena);
    loci_str rest = r->file->text;
    loci_status status = LOCI_OK;

    for (size_t number = r->first_line; rest.ptr != NULL && status == LOCI_OK; number++) {
        loci_str text = lc_str_trim(lc_str_split(rest, '\n', &rest));
        const lc_json *line;

        if (text.len == 0)
            continue;
        (void)snprintf(r->place, sizeof r->place, "line %zu", number);
        status = parse(r, text, &line, err);
        if (status == LOCI_OK && lc_json_kind_of(line) != LC_JSON_OBJECT)
            status = fail(r, err, "expected an object {role, text}");
        if (status == LOCI_OK && r->format == NULL)
            r->format = format_of_line(line);
        if (status == LOCI_OK)
            status = strcmp(r->format, "jsonl") == 0 ? read_message(r, line, number, err)
                                                     : read_claude_code(r, line, text, err);
        if (status == LOCI_OK && r->piece->count == LC_CHAT_PIECE_MESSAGES_MAX)
            status = flush(r, err);
        if (r->piece->count == 0)
            lc_arena_rewind(r->arena, mark);
    }
    return status == LOCI_OK ? flush(r, err) : status;
}

/* ---- ChatGPT --------------------------------------------------------------------------------- */

/* Messages that people see: no calls of tools, no thoughts, no hidden instructions. */
static loci_status add_node(reading *r, loci_str session, const lc_json *node, size_t number,
                            loci_error *err)
{
    const lc_json *json = lc_json_find(node, "message", LC_JSON_OBJECT);
    const lc_json *content = lc_json_find(json, "content", LC_JSON_OBJECT);
    const lc_json *hidden = lc_json_find(lc_json_find(json, "metadata", LC_JSON_OBJECT),
                                         "is_visually_hidden_from_conversation", LC_JSON_BOOL);
    loci_str type = text_in(content, "content_type"), to = text_in(json, "recipient");
    loci_str role = text_in(lc_json_find(json, "author", LC_JSON_OBJECT), "role");
    lc_chat_message message = {.role = role_of(role), .external_id = text_in(json, "id")};
    loci_status status;

    if (content == NULL || (hidden != NULL && lc_json_bool(hidden)) ||
        (to.len > 0 && !lc_str_is(to, "all")) ||
        !(lc_str_is(type, "text") || lc_str_is(type, "multimodal_text")))
        return LOCI_OK;
    if (message.role == NULL)
        return fail(r, err, "message %.*s: unknown role \"%.*s\"", LC_STR_ARG(message.external_id),
                    LC_STR_ARG(role));
    status = read_time(r, lc_json_member(json, LC_STR("create_time")), &message.at_us, err);
    if (status == LOCI_OK)
        status = join_parts(r, lc_json_member(content, LC_STR("parts")), &message.text, err);
    return status == LOCI_OK ? add(r, session, &message, number, err) : status;
}

/* Nodes of a tree from its root on, in the arena. */
typedef struct node_path {
    const lc_json **nodes;
    size_t count;
} node_path;

/* The path to current_node. */
static loci_status find_path(const reading *r, const lc_json *chat, lc_map *nodes, node_path *out,
                             loci_error *err)
{
    const lc_json *mapping = lc_json_find(chat, "mapping", LC_JSON_OBJECT);
    size_t room = lc_json_count(mapping), count = 0;
    const lc_json **path = lc_arena_alloc(r->arena, (room + 1) * sizeof(lc_json *));
    loci_str id = text_in(chat, "current_node");

    if (path == NULL)
        return lc_fail_memory(err);
    if (id.len == 0 && room > 0)
        return fail(r, err, "current_node is missing");
    for (const lc_json *node = lc_json_first(mapping); node != NULL; node = lc_json_next(node))
        if (!lc_map_put(nodes, lc_json_name(node), (void *)(uintptr_t)node))
            return lc_fail_memory(err);
    for (; id.len > 0; count++) {
        const lc_json *node = lc_map_find(nodes, id);

        if (node == NULL)
            return fail(r, err, "the mapping has no node %.*s", LC_STR_ARG(id));
        if (count == room)
            return fail(r, err, "node %.*s is its own ancestor", LC_STR_ARG(id));
        path[count] = node;
        id = text_in(node, "parent");
    }
    for (size_t i = 0; i < count / 2; i++) {
        const lc_json *swapped = path[i];

        path[i] = path[count - 1 - i];
        path[count - 1 - i] = swapped;
    }
    *out = (node_path){path, count};
    return LOCI_OK;
}

static loci_status read_chatgpt(reading *r, const lc_json *chat, loci_str session, loci_error *err)
{
    node_path path = {0};
    lc_map nodes;
    loci_status status;

    lc_map_init(&nodes, r->arena->heap, LOCI_MEM_REQUESTS);
    status = find_path(r, chat, &nodes, &path, err);
    lc_map_clear(&nodes);
    for (size_t i = 0; i < path.count && status == LOCI_OK; i++)
        status = add_node(r, session, path.nodes[i], i + 1, err);
    return status;
}

/* ---- Claude ---------------------------------------------------------------------------------- */

static loci_status read_claude(reading *r, const lc_json *chat, loci_str session, loci_error *err)
{
    const lc_json *list = lc_json_find(chat, "chat_messages", LC_JSON_ARRAY);
    loci_status status = LOCI_OK;
    size_t number = 1;

    for (const lc_json *json = lc_json_first(list); json != NULL && status == LOCI_OK;
         json = lc_json_next(json), number++) {
        loci_str sender = text_in(json, "sender");
        lc_chat_message message = {.role = role_of(sender), .external_id = text_in(json, "uuid")};

        if (message.role == NULL)
            return fail(r, err, "message %zu: unknown sender \"%.*s\"", number, LC_STR_ARG(sender));
        status = read_time(r, lc_json_find(json, "created_at", LC_JSON_STRING), &message.at_us,
                           err);
        if (status == LOCI_OK) /* `text` has placeholders for parts without text. */
            status = join_parts(r, lc_json_find(json, "content", LC_JSON_ARRAY), &message.text,
                                err);
        if (status == LOCI_OK && message.text.len == 0)
            message.text = text_in(json, "text");
        if (status == LOCI_OK)
            status = add(r, session, &message, number, err);
    }
    return status;
}

/* ---- Exports: one conversation, or an array of them -------------------------------------------
 */

/* Behind the JSON value that begins at `at`; 0 if the text ends within it. An export may be larger
 * than one document that is read, so its conversations are cut apart first. */
static size_t end_of_value(loci_str text, size_t at)
{
    size_t depth = 0;
    bool is_string = false;

    for (; at < text.len; at++) {
        char c = text.ptr[at];

        if (is_string) {
            if (c == '\\')
                at++;
            else if (c == '"')
                is_string = false;
        } else if (c == '"') {
            is_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth-- <= 1) {
            return at + 1;
        }
    }
    return 0;
}

static const char *format_of_chat(const lc_json *chat)
{
    if (lc_json_find(chat, "mapping", LC_JSON_OBJECT) != NULL)
        return "chatgpt";
    return lc_json_find(chat, "chat_messages", LC_JSON_ARRAY) != NULL ? "claude" : NULL;
}

static loci_status fail_unknown(const reading *r, loci_error *err)
{
    return lc_fail(err, LOCI_EINVAL,
                   "%.*s: the format is unknown; known are JSON lines {role, text}, Markdown with "
                   "role headings (## User, **User:** or User:), conversations.json of ChatGPT or "
                   "Claude, and sessions of Claude Code (.jsonl)",
                   LC_STR_ARG(r->file->name));
}

static loci_status read_chat(reading *r, const lc_json *chat, size_t number, loci_error *err)
{
    static const char *const members[] = {"conversation_id", "uuid", "id"};
    const char *format = format_of_chat(chat);
    loci_str session = LC_STR_NONE, title = text_in(chat, "title");
    char name[2 * NAME_BYTES_MAX];
    loci_status status = LOCI_OK;

    if (format == NULL && r->format == NULL)
        return fail_unknown(r, err);
    if (format == NULL)
        return fail(r, err, "it has neither mapping nor chat_messages");
    r->format = format;
    for (size_t i = 0; i < sizeof members / sizeof members[0] && session.len == 0; i++)
        session = text_in(chat, members[i]);
    if (title.len == 0)
        title = text_in(chat, "name");
    title.len = lc_utf8_cut(title, 60);
    if (title.len > 0)
        (void)snprintf(r->place, sizeof r->place, "conversation %zu (%.*s)", number,
                       LC_STR_ARG(title));
    if (session.len == 0) {
        int len = snprintf(name, sizeof name, "%.*s#%zu", LC_STR_ARG(r->file->name), number);

        if (len >= (int)sizeof name)
            return fail(r, err, "the name of the file is too long");
        session = (loci_str){name, (size_t)len};
    }
    status = strcmp(format, "chatgpt") == 0 ? read_chatgpt(r, chat, session, err)
                                            : read_claude(r, chat, session, err);
    return status == LOCI_OK ? flush(r, err) : status; /* The name is on the stack. */
}

static size_t skip_space(loci_str text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.ptr[at], 4) != NULL)
        at++;
    return at;
}

static loci_status read_array(reading *r, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(r->arena);
    loci_str text = r->file->text;
    size_t at = skip_space(text, 1), number = 1;
    loci_status status = LOCI_OK;

    for (; status == LOCI_OK && at < text.len && text.ptr[at] != ']'; number++) {
        size_t end = end_of_value(text, at);
        const lc_json *chat;

        (void)snprintf(r->place, sizeof r->place, "conversation %zu", number);
        if (text.ptr[at] != '{')
            return r->format == NULL ? fail_unknown(r, err) : fail(r, err, "expected an object");
        if (end == 0)
            return fail(r, err, "the file ends within it");
        status = parse(r, (loci_str){text.ptr + at, end - at}, &chat, err);
        if (status == LOCI_OK)
            status = read_chat(r, chat, number, err);
        lc_arena_rewind(r->arena, mark);
        at = skip_space(text, end);
        if (status == LOCI_OK && at < text.len && text.ptr[at] == ',')
            at = skip_space(text, at + 1);
        else if (status == LOCI_OK && (at == text.len || text.ptr[at] != ']'))
            return fail(r, err, "expected ',' or ']' behind it");
    }
    if (status == LOCI_OK && (at >= text.len || skip_space(text, at + 1) < text.len))
        return fail(r, err,
                    at >= text.len ? "the file ends before ']'"
                                   : "there is text behind the last ']'");
    return status == LOCI_OK && r->format == NULL ? fail_unknown(r, err) : status;
}

/* One pretty-printed object is a conversation; everything else that begins with '{' is lines. */
static loci_status read_objects(reading *r, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(r->arena);
    loci_str text = r->file->text;
    size_t end = end_of_value(text, 0);
    bool is_chat = false;
    const lc_json *chat;
    loci_status status = LOCI_OK;

    (void)snprintf(r->place, sizeof r->place, "conversation 1");
    if (end > 0 && skip_space(text, end) == text.len &&
        lc_json_parse(r->arena, text, LC_JSON_ALLOW_NUL, &chat, NULL) == LOCI_OK)
        is_chat = format_of_chat(chat) != NULL;
    if (is_chat)
        status = read_chat(r, chat, 1, err);
    lc_arena_rewind(r->arena, mark);
    return is_chat ? status : read_lines(r, err);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

typedef enum style { NO_STYLE, HEADING, BOLD, PLAIN } style;

/* "User", "You said": the role, or NULL. */
static const char *role_of_heading(loci_str name)
{
    loci_str said = LC_STR(" said");

    name = lc_str_trim(name);
    if (name.len > said.len && memcmp(name.ptr + name.len - said.len, said.ptr, said.len) == 0)
        name.len -= said.len;
    return role_of(name);
}

/* Whether the line begins a message; `rest` is the text behind the role. */
static style read_heading(loci_str line, const char **role, loci_str *rest)
{
    style is = PLAIN;
    loci_str name;

    *rest = LC_STR_NONE;
    if (line.len > 0 && line.ptr[0] == '#') {
        while (line.len > 0 && line.ptr[0] == '#')
            line.ptr++, line.len--;
        line = lc_str_trim(line);
        if (line.len > 0 && line.ptr[line.len - 1] == ':')
            line.len--;
        *role = role_of_heading(line);
        return *role != NULL ? HEADING : NO_STYLE;
    }
    if (lc_str_starts(line, LC_STR("**"))) {
        is = BOLD;
        line.ptr += 2, line.len -= 2;
    }
    name = lc_str_split(line, ':', rest);
    if (rest->ptr == NULL)
        return NO_STYLE;
    if (is == BOLD && lc_str_starts(*rest, LC_STR("**"))) /* **User:** */
        rest->ptr += 2, rest->len -= 2;
    else if (is == BOLD && name.len > 2 && memcmp(name.ptr + name.len - 2, "**", 2) == 0)
        name.len -= 2; /* **User**: */
    else if (is == BOLD)
        return NO_STYLE;
    if (rest->len > 0 && memchr(" \t\r", rest->ptr[0], 3) == NULL)
        return NO_STYLE;
    *role = role_of_heading(name);
    return *role != NULL ? is : NO_STYLE;
}

static loci_status add_text(reading *r, const char *role, loci_str text, size_t number,
                            loci_error *err)
{
    lc_chat_message message = {.role = role, .text = text, .at_us = LC_CHAT_NO_TIME};

    return role != NULL ? add(r, r->file->name, &message, number, err) : LOCI_OK;
}

/* The first heading decides for the style of all: "User:" in a text below "## User" is text. So is
 * everything in a code block. Text before the first heading is no message. */
static loci_status read_markdown(reading *r, loci_error *err)
{
    loci_str rest = r->file->text, text = LC_STR_NONE;
    const char *role = NULL;
    style used = NO_STYLE;
    bool is_code = false, is_first = true;
    size_t number = 0, line_number = r->first_line;
    loci_status status = LOCI_OK;

    r->format = "markdown";
    (void)snprintf(r->place, sizeof r->place, "line %zu", line_number);
    if (!lc_utf8_is_valid(r->file->text))
        return fail(r, err, "the file is not UTF-8 text");
    for (; rest.ptr != NULL && status == LOCI_OK; line_number++) {
        loci_str line = lc_str_split(rest, '\n', &rest), behind;
        const char *next = NULL;
        style is = is_code ? NO_STYLE : read_heading(line, &next, &behind);

        if (lc_str_starts(lc_str_trim(line), LC_STR("```")))
            is_code = !is_code;
        if (is != NO_STYLE && (used == is || (used == NO_STYLE && (is != PLAIN || is_first)))) {
            status = add_text(r, role, text, number++, err);
            (void)snprintf(r->place, sizeof r->place, "line %zu", line_number);
            used = is;
            role = next;
            text = behind.ptr != NULL ? behind : (loci_str){line.ptr + line.len, 0};
        } else if (role != NULL) {
            text.len = (size_t)(line.ptr + line.len - text.ptr);
        }
        is_first = is_first && lc_str_trim(line).len == 0;
    }
    if (used == NO_STYLE)
        return fail_unknown(r, err);
    if (status == LOCI_OK)
        status = add_text(r, role, text, number, err);
    return status == LOCI_OK ? flush(r, err) : status;
}

loci_status lc_chat_file_read(lc_arena *arena, const lc_chat_file *file, lc_chat_visit *visit,
                              void *ctx, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_chat_file at = *file;
    reading r = {.arena = arena, .file = &at, .visit = visit, .ctx = ctx};
    loci_status status;

    r.piece = lc_arena_zalloc_array(arena, 1, sizeof *r.piece);
    if (r.piece == NULL)
        return lc_fail_memory(err);
    if (lc_str_starts(at.text, LC_STR("\xef\xbb\xbf"))) /* A byte order mark. */
        at.text.ptr += 3, at.text.len -= 3;
    r.first_line = 1;
    for (size_t i = 0, space = skip_space(at.text, 0); i < space; i++)
        r.first_line += at.text.ptr[i] == '\n';
    at.text = lc_str_trim(at.text);
    if (at.text.len == 0)
        status = fail_unknown(&r, err);
    else if (at.text.ptr[0] == '[')
        status = read_array(&r, err);
    else if (at.text.ptr[0] == '{')
        status = read_objects(&r, err);
    else
        status = read_markdown(&r, err);
    lc_arena_rewind(arena, mark);
    return status;
}
