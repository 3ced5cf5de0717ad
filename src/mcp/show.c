/* show.c - see own.h.
 *
 * A model reads lines better than JSON, and needs fewer tokens for them:
 *
 *     - [2026-03-01 09:30] "Prefers tabs" (mem_…; trust: web)
 *     - deadline = "Friday" (fact_…; status: superseded)
 *     - [2026-03-01 09:31] anna: "Let us meet on Thursday" (msg_…)
 *
 * Texts of users are written as JSON strings: quotes and line breaks inside are escaped, so that a
 * text can neither begin another line nor end its own and go on as something else. Characters that
 * JSON does not escape but a reader may take for a line break are replaced by spaces at the end.
 *
 * Long texts are cut, more if there are many items, so that a result is always short; the full
 * texts are in the resources.
 */
#include <stdio.h>

#include "base/assert.h"
#include "base/utf8.h"
#include "mcp/own.h"
#include "ops/tool.h"

#define CUT_BYTES_MIN 240

typedef struct shower {
    lc_buf *text;
    lc_json_writer *data; /* Or NULL. */
    size_t cut_bytes;     /* Of a text, or of the JSON of a value. */
    bool was_cut;
    bool has_line;     /* Members of the answer itself are being written in one line. */
    bool has_verbatim; /* The text is complete; what follows is data only. */
} shower;

/* ---- Values ---------------------------------------------------------------------------------- */

static void put_cut(shower *s, lc_json_writer *out, loci_str text)
{
    char cut[CUT_BYTES_MIN + 8];
    lc_buf whole;

    s->was_cut = true;
    if (s->cut_bytes <= CUT_BYTES_MIN) {
        size_t bytes = lc_utf8_cut(text, s->cut_bytes);

        (void)snprintf(cut, sizeof cut, "%.*s…", (int)bytes, text.ptr);
        lc_jw_text(out, cut);
        return;
    }
    lc_buf_init(&whole, out->buf->heap, LOCI_MEM_REQUESTS, s->cut_bytes + 8);
    lc_buf_append(&whole, (loci_str){text.ptr, lc_utf8_cut(text, s->cut_bytes)});
    lc_buf_append(&whole, LC_STR("…"));
    if (lc_buf_status(&whole, NULL) != LOCI_OK)
        out->buf->failure = LOCI_ERESOURCE;
    lc_jw_str(out, lc_buf_str(&whole));
    lc_buf_clear(&whole);
}

/* A value as JSON; one that is too long becomes a string with its beginning. */
static void put_value(shower *s, lc_json_writer *out, const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);
    lc_json_writer w;
    lc_buf json;

    if (kind == LC_JSON_STRING && lc_json_str(value).len > s->cut_bytes) {
        put_cut(s, out, lc_json_str(value));
    } else if (kind == LC_JSON_ARRAY || kind == LC_JSON_OBJECT) {
        lc_buf_init(&json, out->buf->heap, LOCI_MEM_REQUESTS, LC_MCP_RESULT_BYTES_MAX);
        lc_jw_init(&w, &json);
        lc_jw_value(&w, value);
        if (lc_buf_status(&json, NULL) != LOCI_OK) {
            out->buf->failure = LOCI_ERESOURCE;
            lc_jw_null(out);
        } else if (json.len > s->cut_bytes) {
            put_cut(s, out, lc_buf_str(&json));
        } else {
            lc_jw_raw(out, lc_buf_str(&json));
        }
        lc_buf_clear(&json);
    } else {
        lc_jw_value(out, value);
    }
}

/* A word that reads well without quotes. */
static bool is_plain(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            (c == '\0' || strchr("_.:/@-", c) == NULL))
            return false;
    }
    return text.len > 0 && text.len <= LC_KEY_BYTES_MAX;
}

/* As part of a line. */
static void say_value(shower *s, const lc_json *value)
{
    lc_json_writer w;

    if (lc_json_kind_of(value) == LC_JSON_STRING && is_plain(lc_json_str(value))) {
        lc_buf_append(s->text, lc_json_str(value));
    } else if (lc_json_kind_of(value) == LC_JSON_REAL) {
        lc_buf_append_format(s->text, "%.2f", lc_json_real(value));
    } else {
        lc_jw_init(&w, s->text);
        put_value(s, &w, value);
    }
}

/* "2026-03-01 09:30" of "2026-03-01T09:30:00Z": seconds matter to programs only. */
static void say_time(shower *s, loci_str time)
{
    loci_str rest, day = lc_str_split(time, 'T', &rest);

    lc_buf_append(s->text, day);
    if (rest.len >= 5) {
        lc_buf_append_byte(s->text, ' ');
        lc_buf_append(s->text, (loci_str){rest.ptr, 5});
    }
}

/* ---- One item, one line ---------------------------------------------------------------------- */

/* A member of an item. */
typedef struct part {
    lc_shown shown;
    lc_result result;
    const lc_json *value; /* NULL = it is not there. */
    bool is_said;
} part;

typedef struct item {
    part parts[LC_RECORD_MEMBERS_MAX];
    size_t count;
} item;

/* The members that items of `record` can have; the same for all items of a list. */
static void read_parts(const lc_record *record, loci_str shows, item *out)
{
    out->count = 0;
    while (out->count < LC_RECORD_MEMBERS_MAX &&
           lc_shown_next(&shows, &out->parts[out->count].shown)) {
        part *p = &out->parts[out->count];

        if (lc_shown_find(record, &p->shown, &p->result))
            out->count++;
    }
}

static void read_item(item *it, const lc_json *object)
{
    for (size_t i = 0; i < it->count; i++) {
        part *p = &it->parts[i];

        p->value = lc_json_member(object, p->shown.source);
        if (p->value != NULL && lc_json_kind_of(p->value) == LC_JSON_NULL)
            p->value = NULL;
        p->is_said = p->value == NULL;
    }
}

static part *find_part(item *it, const char *name)
{
    for (size_t i = 0; i < it->count; i++) {
        if (!it->parts[i].is_said && lc_str_is(it->parts[i].shown.name, name))
            return &it->parts[i];
    }
    return NULL;
}

/* Whether the part has its default value, which is not shown. */
static bool is_usual(const part *p)
{
    loci_str text;

    if (lc_json_kind_of(p->value) == LC_JSON_BOOL)
        return !lc_json_bool(p->value);
    if (lc_json_kind_of(p->value) != LC_JSON_STRING)
        return false;
    text = lc_json_str(p->value);
    return (lc_str_is(p->shown.name, "status") && lc_str_is(text, "valid")) ||
           (lc_str_is(p->shown.name, "trust") && lc_str_is(text, "user"));
}

static bool is_id(loci_str name)
{
    return lc_str_is(name, "id") ||
           (name.len > 3 && memcmp(name.ptr + name.len - 3, "_id", 3) == 0);
}

/* A persona is a project here; its id means nothing to a model. */
static bool is_whose(const part *p)
{
    return lc_str_is(p->shown.name, LC_TOOL_WHOSE);
}

static void say_part(shower *s, part *p)
{
    p->is_said = true;
    if (lc_json_kind_of(p->value) == LC_JSON_BOOL) {
        lc_buf_append(s->text, p->shown.name);
        return;
    }
    if (!is_id(p->shown.name)) {
        lc_buf_append(s->text, p->shown.name);
        lc_buf_append(s->text, LC_STR(": "));
    }
    if (is_whose(p))
        lc_buf_append(s->text, LC_STR("project"));
    else if (p->result.record == NULL && p->result.kind == LC_PARAM_TIME)
        say_time(s, lc_json_str(p->value));
    else
        say_value(s, p->value);
}

/* The part that a person would read first: date, name, who said it, text. */
static void say_head(shower *s, item *it)
{
    static const char *const labels[] = {"speaker", "role"};
    static const char *const bodies[] = {"text", "quote"};
    part *key = find_part(it, "key"), *value = find_part(it, "value"), *label = NULL;

    for (size_t i = 0; key == NULL && i < it->count; i++) {
        part *p = &it->parts[i];

        /* In front only the time that it is of. */
        if (p->value != NULL && p->result.record == NULL && p->result.kind == LC_PARAM_TIME &&
            !lc_str_is(p->shown.name, "due_at")) {
            lc_buf_append(s->text, LC_STR(" ["));
            say_time(s, lc_json_str(p->value));
            lc_buf_append_byte(s->text, ']');
            p->is_said = true;
            break;
        }
    }
    if (key != NULL) {
        lc_buf_append_byte(s->text, ' ');
        say_value(s, key->value);
        key->is_said = true;
    }
    if (value != NULL) {
        lc_buf_append(s->text, LC_STR(" = "));
        say_value(s, value->value);
        value->is_said = true;
    }
    for (size_t i = 0; label == NULL && i < sizeof labels / sizeof labels[0]; i++)
        label = find_part(it, labels[i]);
    if (label != NULL) {
        lc_buf_append_byte(s->text, ' ');
        say_value(s, label->value);
        lc_buf_append_byte(s->text, ':');
        label->is_said = true;
    }
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        part *body = find_part(it, bodies[i]);
        lc_json_writer w;

        if (body == NULL)
            continue;
        lc_buf_append_byte(s->text, ' ');
        lc_jw_init(&w, s->text);
        put_value(s, &w, body->value); /* Always in quotes. */
        body->is_said = true;
    }
}

static void put_data(shower *s, const item *it)
{
    lc_jw_object(s->data);
    for (size_t i = 0; i < it->count; i++) {
        const part *p = &it->parts[i];

        if (p->value == NULL)
            continue;
        lc_jw_name_str(s->data, p->shown.name);
        if (is_whose(p))
            lc_jw_text(s->data, "project");
        else
            put_value(s, s->data, p->value);
    }
    lc_jw_end(s->data);
}

static void put_item(shower *s, item *it)
{
    bool is_open = false, has_head;
    size_t begin;

    if (s->data != NULL)
        put_data(s, it);
    lc_buf_append_byte(s->text, '-');
    begin = s->text->len;
    say_head(s, it);
    has_head = s->text->len > begin;
    for (size_t i = 0; i < it->count; i++) {
        if (it->parts[i].is_said || is_usual(&it->parts[i]))
            continue;
        lc_buf_append(s->text, is_open ? LC_STR("; ") : has_head ? LC_STR(" (") : LC_STR(" "));
        say_part(s, &it->parts[i]);
        is_open = true;
    }
    lc_buf_append(s->text, is_open && has_head ? LC_STR(")\n") : LC_STR("\n"));
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void end_line(shower *s)
{
    if (s->has_line)
        lc_buf_append_byte(s->text, '\n');
    s->has_line = false;
}

static void put_items(shower *s, const lc_shown *shown, const lc_record *record,
                      const lc_json *value)
{
    bool is_list = lc_json_kind_of(value) == LC_JSON_ARRAY;
    const lc_json *at = is_list ? lc_json_first(value) : value;
    item it;

    end_line(s);
    if (s->data != NULL) {
        lc_jw_name_str(s->data, shown->name);
        lc_jw_array(s->data);
    }
    if (at == NULL)
        lc_buf_append_format(s->text, "No %.*s.\n", LC_STR_ARG(shown->name));
    read_parts(record, shown->inner, &it);
    for (; at != NULL; at = is_list ? lc_json_next(at) : NULL) {
        read_item(&it, at);
        put_item(s, &it);
    }
    if (s->data != NULL)
        lc_jw_end(s->data);
}

/* The meaning of a member's value, for the model. */
static const struct {
    const char *name, *value, *meaning;
} meanings[] = {
    {"outcome", "claimed",
     "It contradicts what someone with more authority or trust said, so it changed nothing and is "
     "kept as a claim. Ask the user which is right."},
    {"outcome", "late", "A newer value is known; this one is in the history."},
    {"outcome", "mentioned", "It was known already."},
    {"outcome", "repeated", "It was known already."},
    {"outcome", "kept_both", "Other statements about the same subject are kept as well."},
    {"dry_run", "true",
     "Nothing was removed yet. Show this to the user; if the user agrees, repeat the call with "
     "dry_run false."},
    {"dry_run", "false", "It is gone for good."},
};

static void say_meaning(shower *s, const lc_shown *shown, const lc_json *value)
{
    loci_str text = lc_json_kind_of(value) == LC_JSON_STRING ? lc_json_str(value) : LC_STR_NONE;

    if (lc_json_kind_of(value) == LC_JSON_BOOL)
        text = lc_json_bool(value) ? LC_STR("true") : LC_STR("false");
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (lc_str_is(shown->name, meanings[i].name) && lc_str_is(text, meanings[i].value))
            lc_buf_append_format(s->text, "%s\n", meanings[i].meaning);
    }
}

static void put_member(shower *s, const lc_shown *shown, const lc_json *value)
{
    if (s->data != NULL) {
        lc_jw_name_str(s->data, shown->name);
        if (shown->is_verbatim)
            lc_jw_value(s->data, value);
        else
            put_value(s, s->data, value);
    }
    if (s->has_verbatim)
        return;
    if (shown->is_verbatim && lc_json_kind_of(value) == LC_JSON_STRING) {
        lc_buf_append(s->text, lc_json_str(value));
        s->has_verbatim = true;
    } else if (lc_str_is(shown->name, "next_cursor")) {
        end_line(s);
        lc_buf_append(s->text, LC_STR("There are more: repeat the call with cursor "));
        say_value(s, value);
        lc_buf_append(s->text, LC_STR(".\n"));
    } else {
        lc_buf_append(s->text, s->has_line ? LC_STR(", ") : LC_STR(""));
        lc_buf_append(s->text, shown->name);
        lc_buf_append(s->text, LC_STR(": "));
        say_value(s, value);
        s->has_line = true;
    }
}

static void say_warnings(shower *s, const lc_json *answer)
{
    const lc_json *warnings = lc_json_find(answer, "warnings", LC_JSON_ARRAY);

    for (const lc_json *at = warnings != NULL ? lc_json_first(warnings) : NULL; at != NULL;
         at = lc_json_next(at)) {
        const lc_json *parameter, *kind;

        if (lc_json_kind_of(at) == LC_JSON_STRING) {
            lc_buf_append_format(s->text, "Note: %.*s.\n", LC_STR_ARG(lc_json_str(at)));
            continue;
        }
        parameter = lc_json_find(at, "parameter", LC_JSON_STRING);
        kind = lc_json_find(at, "kind", LC_JSON_STRING);
        if (parameter != NULL && kind != NULL)
            lc_buf_append_format(s->text,
                                 "A secret (%.*s) in %.*s was not stored; do not write secrets.\n",
                                 LC_STR_ARG(lc_json_str(kind)), LC_STR_ARG(lc_json_str(parameter)));
    }
}

/* How many items the answer has in all. */
static size_t count_items(const lc_mcp_view *view, const lc_json *answer)
{
    loci_str rest = view->shows;
    size_t count = 1;
    lc_shown shown;

    while (lc_shown_next(&rest, &shown)) {
        const lc_json *value = lc_json_member(answer, shown.source);

        if (value != NULL && lc_json_kind_of(value) == LC_JSON_ARRAY && shown.inner.ptr != NULL)
            count += lc_json_count(value);
    }
    return count;
}

/* Line breaks that JSON strings may have as they are: U+0080 to U+009F, DEL, U+2028, U+2029. */
static void blank_breaks(lc_buf *text, size_t from)
{
    unsigned char *at = (unsigned char *)text->ptr;

    for (size_t i = from; i < text->len; i++) {
        size_t left = text->len - i;

        if (at[i] == 0x7f)
            at[i] = ' ';
        else if (left >= 2 && at[i] == 0xc2 && at[i + 1] < 0xa0)
            at[i] = at[i + 1] = ' ';
        else if (left >= 3 && at[i] == 0xe2 && at[i + 1] == 0x80 && (at[i + 2] & 0xfe) == 0xa8)
            at[i] = at[i + 1] = at[i + 2] = ' ';
    }
}

void lc_mcp_show(const lc_mcp_view *view, const lc_json *answer, lc_buf *text, lc_json_writer *data)
{
    size_t begin = text->len, cut_bytes = view->bytes / count_items(view, answer);
    shower s = {.text = text, .data = data};
    loci_str rest = view->shows;
    lc_shown shown;

    s.cut_bytes = cut_bytes > CUT_BYTES_MIN ? cut_bytes : CUT_BYTES_MIN;
    if (data != NULL)
        lc_jw_object(data);
    while (lc_shown_next(&rest, &shown)) {
        bool is_answer = shown.source.ptr == NULL;
        const lc_json *value = is_answer ? answer : lc_json_member(answer, shown.source);
        lc_result result = {.record = view->record};

        if (value == NULL || lc_json_kind_of(value) == LC_JSON_NULL ||
            (!is_answer && !lc_shown_find(view->record, &shown, &result)))
            continue;
        if (shown.inner.ptr != NULL)
            put_items(&s, &shown, result.record, value);
        else
            put_member(&s, &shown, value);
    }
    if (data != NULL)
        lc_jw_end(data);
    end_line(&s);
    if (s.has_verbatim)
        return;
    for (rest = view->shows; lc_shown_next(&rest, &shown);) {
        const lc_json *value = lc_json_member(answer, shown.source);

        if (value != NULL)
            say_meaning(&s, &shown, value);
    }
    say_warnings(&s, answer);
    if (s.was_cut)
        lc_buf_append(text, LC_STR("Texts that end in … were cut; read the resource "
                                   "loci://memories/{id}, facts/{key} or sessions/{id}.\n"));
    if (lc_buf_status(text, NULL) == LOCI_OK)
        blank_breaks(text, begin);
}
