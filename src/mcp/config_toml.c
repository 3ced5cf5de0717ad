/* config_toml.c - edits tables of a TOML file.
 *
 * The text is scanned into statements: headers ([a.b]) and assignments, each with its full path. An
 * entry is one table, added at the end of the file behind a line end: if the text before it ends
 * with a line end, that makes an empty line, and a removal can tell both cases apart. An entry that
 * was written in another form (an inline table, dotted keys) is found and removed, not changed.
 */
#include "mcp/config_edit.h"

#include "base/error.h"
#include "base/utf8.h"

#define PATH_MAX_NAMES 6  /* Longer paths are cut: entries have shorter ones. */
#define LIST_DEPTH_MAX 48 /* Less than JSON can have. */

typedef struct statement {
    size_t line;             /* Start of its line. */
    size_t value, value_end; /* Of an assignment. */
    size_t next_line;        /* Behind its line end. */
    loci_str path[PATH_MAX_NAMES];
    size_t path_count;
    bool is_header;
} statement;

typedef struct document {
    lc_arena *arena;
    loci_str text;
    statement *items;
    size_t count, capacity;
} document;

/* ---- Scanning -------------------------------------------------------------------------------- */

static char byte_at(loci_str text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

static void skip_spaces(loci_str text, size_t *at)
{
    while (byte_at(text, *at) == ' ' || byte_at(text, *at) == '\t')
        (*at)++;
}

static void skip_comment(loci_str text, size_t *at)
{
    if (byte_at(text, *at) != '#')
        return;
    while (*at < text.len && text.ptr[*at] != '\n')
        (*at)++;
    if (*at < text.len && text.ptr[*at - 1] == '\r')
        (*at)--;
}

/* Skips a line end; false if there is none. */
static bool skip_line_end(loci_str text, size_t *at)
{
    if (byte_at(text, *at) == '\r' && byte_at(text, *at + 1) == '\n')
        (*at)++;
    if (byte_at(text, *at) != '\n' || *at >= text.len)
        return false;
    (*at)++;
    return true;
}

/* Quotes around the string at `at`: 1 or 3. */
static size_t quote_count(loci_str text, size_t at)
{
    char quote = byte_at(text, at);

    return byte_at(text, at + 1) == quote && byte_at(text, at + 2) == quote ? 3 : 1;
}

static loci_status scan_string(loci_str text, size_t *at, loci_error *err)
{
    size_t start = *at, quotes = quote_count(text, *at);
    char quote = text.ptr[*at];

    for (*at += quotes; *at < text.len; (*at)++) {
        char byte = text.ptr[*at];

        if (byte == '\\' && quote == '"')
            (*at)++;
        else if (quotes == 1 && (byte == '\n' || byte == '\r'))
            break;
        else if (byte == quote && (quotes == 1 || quote_count(text, *at) == 3)) {
            *at += quotes;
            /* Up to two quotes may be the last characters of the string. */
            while (quotes == 3 && byte_at(text, *at) == quote)
                (*at)++;
            return LOCI_OK;
        }
    }
    return lc_config_fail(text, start, "the string does not end", err);
}

static bool is_bare(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

static bool is_end_of_word(char byte)
{
    return byte == ',' || byte == ']' || byte == '}' || byte == '#' || byte == '\n' ||
           byte == '\r' || byte == '\0';
}

static void append_code_point(uint32_t code_point, lc_buf *out)
{
    char bytes[4];

    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000))
        code_point = 0xFFFD;
    lc_buf_append(out, (loci_str){bytes, lc_utf8_encode(code_point, bytes)});
}

/* Appends what the escape behind the backslash at `at` means; returns where it ends. */
static size_t decode_escape(loci_str text, size_t at, lc_buf *out)
{
    static const char names[] = "btnfre\"\\", values[] = "\b\t\n\f\r\x1b\"\\";
    char name = byte_at(text, at + 1);
    const char *found = name != '\0' ? strchr(names, name) : NULL;
    size_t digits = name == 'u' ? 4 : name == 'U' ? 8 : name == 'x' ? 2 : 0;
    uint32_t code_point = 0;

    if (found != NULL) {
        lc_buf_append_byte(out, values[found - names]);
        return at + 2;
    }
    if (digits == 0) { /* A line end: it and the white space behind it mean nothing. */
        at++;
        while (at < text.len && strchr(" \t\r\n", text.ptr[at]) != NULL && text.ptr[at] != '\0')
            at++;
        return at;
    }
    for (at += 2; digits > 0 && at < text.len; digits--, at++) {
        char byte = text.ptr[at];
        uint32_t digit = byte >= '0' && byte <= '9'   ? (uint32_t)(byte - '0')
                         : byte >= 'a' && byte <= 'f' ? (uint32_t)(byte - 'a') + 10
                         : byte >= 'A' && byte <= 'F' ? (uint32_t)(byte - 'A') + 10
                                                      : 16;

        if (digit == 16)
            break;
        code_point = code_point << 4 | digit;
    }
    append_code_point(code_point, out);
    return at;
}

/* The text of a scanned string, quotes included, in `out`. */
static void decode_string(loci_str quoted, lc_buf *out)
{
    size_t quotes = quoted.len >= 6 ? quote_count(quoted, 0) : 1;
    bool has_escapes = quoted.ptr[0] == '"';
    loci_str text = {quoted.ptr, quoted.len - quotes};
    size_t at = quotes;

    if (quotes == 3)
        (void)skip_line_end(text, &at); /* The first one does not belong to the string. */
    while (at < text.len) {
        if (has_escapes && text.ptr[at] == '\\')
            at = decode_escape(text, at, out);
        else
            lc_buf_append_byte(out, text.ptr[at++]);
    }
}

/* Reads "a.'b c'.d" and adds its names to a path. */
static loci_status scan_path(document *doc, size_t *at, statement *s, loci_error *err)
{
    lc_heap *heap = doc->arena->heap;
    loci_status status = LOCI_OK;

    for (;;) {
        size_t start = *at;
        loci_str name;

        if (byte_at(doc->text, *at) == '"' || byte_at(doc->text, *at) == '\'') {
            lc_buf decoded;

            status = scan_string(doc->text, at, err);
            if (status != LOCI_OK)
                return status;
            lc_buf_init(&decoded, heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
            decode_string((loci_str){doc->text.ptr + start, *at - start}, &decoded);
            status = lc_buf_status(&decoded, err);
            name = lc_arena_copy(doc->arena, lc_buf_str(&decoded));
            lc_buf_clear(&decoded);
            if (status == LOCI_OK && name.ptr == NULL)
                status = lc_fail_memory(err);
            if (status != LOCI_OK)
                return status;
        } else {
            while (is_bare(byte_at(doc->text, *at)))
                (*at)++;
            name = (loci_str){doc->text.ptr + start, *at - start};
            if (name.len == 0)
                return lc_config_fail(doc->text, *at, "expected a key", err);
        }
        if (s->path_count < PATH_MAX_NAMES)
            s->path[s->path_count++] = name;
        skip_spaces(doc->text, at);
        if (byte_at(doc->text, *at) != '.')
            return LOCI_OK;
        (*at)++;
        skip_spaces(doc->text, at);
    }
}

/* Writes a scalar: numbers and booleans that JSON has too as they are, everything else as text. */
static void write_word(lc_arena *arena, loci_str word, lc_json_writer *w)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *json;

    if (lc_json_parse(arena, word, 0, &json, NULL) == LOCI_OK &&
        lc_json_kind_of(json) != LC_JSON_NULL)
        lc_jw_value(w, json);
    else
        lc_jw_str(w, word);
    lc_arena_rewind(arena, mark);
}

/* Reads a string, a number, a date or a boolean. */
static loci_status scan_scalar(document *doc, size_t *at, lc_json_writer *w, loci_error *err)
{
    size_t start = *at;
    char first = byte_at(doc->text, *at);
    lc_buf text;
    loci_status status;

    if (first != '"' && first != '\'') {
        while (!is_end_of_word(byte_at(doc->text, *at)))
            (*at)++;
        while (*at > start && (doc->text.ptr[*at - 1] == ' ' || doc->text.ptr[*at - 1] == '\t'))
            (*at)--;
        if (*at == start || memchr(doc->text.ptr + start, '=', *at - start) != NULL)
            return lc_config_fail(doc->text, start, "expected a value", err);
        if (w != NULL)
            write_word(doc->arena, (loci_str){doc->text.ptr + start, *at - start}, w);
        return LOCI_OK;
    }
    status = scan_string(doc->text, at, err);
    if (status != LOCI_OK || w == NULL)
        return status;
    lc_buf_init(&text, doc->arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    decode_string((loci_str){doc->text.ptr + start, *at - start}, &text);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK)
        lc_jw_str(w, lc_buf_str(&text));
    lc_buf_clear(&text);
    return status;
}

/* Reads "name =" of an inline table. */
static loci_status scan_name(document *doc, size_t *at, lc_json_writer *w, loci_error *err)
{
    statement s = {0};
    lc_buf name;
    loci_status status = scan_path(doc, at, &s, err);

    if (status == LOCI_OK && byte_at(doc->text, *at) != '=')
        status = lc_config_fail(doc->text, *at, "expected '='", err);
    if (status != LOCI_OK)
        return status;
    (*at)++;
    skip_spaces(doc->text, at);
    if (w == NULL)
        return LOCI_OK;
    lc_buf_init(&name, doc->arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    for (size_t i = 0; i < s.path_count; i++) {
        lc_buf_append(&name, i > 0 ? LC_STR(".") : LC_STR(""));
        lc_buf_append(&name, s.path[i]);
    }
    status = lc_buf_status(&name, err);
    if (status == LOCI_OK)
        lc_jw_name_str(w, lc_buf_str(&name));
    lc_buf_clear(&name);
    return status;
}

/* The token that may come next in a list. */
typedef enum next_token { ITEM, ASSIGNED_VALUE, COMMA } next_token;

/* Reads a value and writes it as JSON, unless `w` is NULL. Lists may go over several lines. */
static loci_status scan_value(document *doc, size_t *at, lc_json_writer *w, loci_error *err)
{
    loci_str text = doc->text;
    char closers[LIST_DEPTH_MAX];
    next_token next = ASSIGNED_VALUE;
    loci_status status = LOCI_OK;
    size_t depth = 0;

    do {
        char byte;

        while (depth > 0 && (skip_spaces(text, at), skip_comment(text, at), true) &&
               skip_line_end(text, at))
            continue;
        byte = byte_at(text, *at);
        if (depth > 0 && byte == closers[depth - 1] && next != ASSIGNED_VALUE) {
            (*at)++;
            depth--;
            next = COMMA;
            if (w != NULL)
                lc_jw_end(w);
        } else if (next == COMMA) {
            if (byte != ',')
                return lc_config_fail(text, *at, "expected ',' or the end of the list", err);
            (*at)++;
            next = ITEM;
        } else if (next == ITEM && closers[depth - 1] == '}') {
            status = scan_name(doc, at, w, err);
            next = ASSIGNED_VALUE;
        } else if (byte == '[' || byte == '{') {
            if (depth == LIST_DEPTH_MAX)
                return lc_config_fail(text, *at, "too many nested lists", err);
            (*at)++;
            closers[depth++] = byte == '[' ? ']' : '}';
            next = ITEM;
            if (w != NULL && byte == '[')
                lc_jw_array(w);
            else if (w != NULL)
                lc_jw_object(w);
        } else {
            status = scan_scalar(doc, at, w, err);
            next = COMMA;
        }
    } while (status == LOCI_OK && (depth > 0 || next == ASSIGNED_VALUE));
    return status;
}

static loci_status scan_header(document *doc, size_t *at, statement *s, loci_error *err)
{
    size_t brackets = byte_at(doc->text, *at + 1) == '[' ? 2 : 1;
    loci_status status;

    *at += brackets;
    skip_spaces(doc->text, at);
    s->is_header = true;
    status = scan_path(doc, at, s, err);
    for (; status == LOCI_OK && brackets > 0; brackets--, (*at)++) {
        if (byte_at(doc->text, *at) != ']')
            return lc_config_fail(doc->text, *at, "expected ']'", err);
    }
    return status;
}

static loci_status scan_assignment(document *doc, size_t *at, const statement *table, statement *s,
                                   loci_error *err)
{
    loci_status status;

    for (size_t i = 0; table != NULL && i < table->path_count; i++)
        s->path[s->path_count++] = table->path[i];
    status = scan_path(doc, at, s, err);
    if (status == LOCI_OK && byte_at(doc->text, *at) != '=')
        status = lc_config_fail(doc->text, *at, "expected '='", err);
    if (status != LOCI_OK)
        return status;
    (*at)++;
    skip_spaces(doc->text, at);
    s->value = *at;
    status = scan_value(doc, at, NULL, err);
    s->value_end = *at;
    return status;
}

static loci_status add_statement(document *doc, const statement *s, loci_error *err)
{
    if (doc->count == doc->capacity) {
        size_t capacity = doc->capacity == 0 ? 32 : doc->capacity * 2;
        statement *items = lc_arena_zalloc_array(doc->arena, capacity, sizeof *items);

        if (items == NULL)
            return lc_fail_memory(err);
        if (doc->count > 0)
            memcpy(items, doc->items, doc->count * sizeof *items);
        doc->items = items;
        doc->capacity = capacity;
    }
    doc->items[doc->count++] = *s;
    return LOCI_OK;
}

static loci_status scan(lc_arena *arena, loci_str text, document *out, loci_error *err)
{
    document doc = {.arena = arena, .text = text};
    size_t at = lc_str_starts(text, LC_STR("\xEF\xBB\xBF")) ? 3 : 0;
    statement table = {0};
    loci_status status = LOCI_OK;

    if (text.len > LC_CONFIG_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the file is larger than %u MB",
                       LC_CONFIG_BYTES_MAX >> 20);
    if (!lc_utf8_is_valid(text))
        return lc_fail(err, LOCI_EINVAL, "the file is not UTF-8 text");
    if (text.len > 0 && text.ptr[text.len - 1] == '\r') /* A table behind it would complete it. */
        return lc_config_fail(text, text.len - 1, "half a line end", err);
    while (status == LOCI_OK && at < text.len) {
        statement s = {.line = at};
        bool is_empty;

        skip_spaces(text, &at);
        is_empty = at == text.len || strchr("#\r\n", text.ptr[at]) != NULL;
        if (is_empty && byte_at(text, at) == '\0' && at < text.len)
            return lc_config_fail(text, at, "expected a key", err);
        if (!is_empty && text.ptr[at] == '[')
            status = scan_header(&doc, &at, &s, err);
        else if (!is_empty)
            status = scan_assignment(&doc, &at, &table, &s, err);
        if (status != LOCI_OK)
            return status;
        skip_spaces(text, &at);
        skip_comment(text, &at);
        if (at < text.len && !skip_line_end(text, &at))
            return lc_config_fail(text, at, "expected the end of the line", err);
        s.next_line = at;
        if (!is_empty)
            status = add_statement(&doc, &s, err);
        if (s.is_header)
            table = s;
    }
    if (status == LOCI_OK)
        *out = doc;
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool starts_with(const statement *s, const lc_config_place *place)
{
    for (size_t i = 0; i < place->count; i++) {
        if (i >= s->path_count || !lc_str_eq(s->path[i], place->names[i]))
            return false;
    }
    return true;
}

/* The value of an assignment as JSON. */
static loci_status write_assigned(document *doc, const statement *s, lc_json_writer *w,
                                  loci_error *err)
{
    size_t at = s->value;

    return scan_value(doc, &at, w, err);
}

/* Writes the members whose path is `place` and one more name; then, as objects, those below. */
static loci_status write_members(document *doc, const lc_config_place *place, lc_json_writer *w,
                                 loci_error *err)
{
    size_t depth = place->count;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < doc->count && status == LOCI_OK; i++) {
        const statement *s = &doc->items[i];

        if (!s->is_header && starts_with(s, place) && s->path_count == depth + 1) {
            lc_jw_name_str(w, s->path[depth]);
            status = write_assigned(doc, s, w, err);
        }
    }
    for (size_t i = 0; i < doc->count && status == LOCI_OK; i++) {
        loci_str name = doc->items[i].path[depth];
        bool is_first = true;

        if (!starts_with(&doc->items[i], place) || doc->items[i].path_count != depth + 2 ||
            doc->items[i].is_header)
            continue;
        for (size_t j = 0; j < i; j++)
            is_first = is_first &&
                       !(starts_with(&doc->items[j], place) &&
                         doc->items[j].path_count == depth + 2 && !doc->items[j].is_header &&
                         lc_str_eq(doc->items[j].path[depth], name));
        if (!is_first)
            continue;
        lc_jw_name_str(w, name);
        lc_jw_object(w);
        for (size_t j = i; j < doc->count && status == LOCI_OK; j++) {
            const statement *s = &doc->items[j];

            if (s->is_header || !starts_with(s, place) || s->path_count != depth + 2 ||
                !lc_str_eq(s->path[depth], name))
                continue;
            lc_jw_name_str(w, s->path[depth + 1]);
            status = write_assigned(doc, s, w, err);
        }
        if (status == LOCI_OK)
            lc_jw_end(w);
    }
    return status;
}

/* The assignment of an inline table that is at, or around, `place`; NULL if there is none. */
static const statement *find_inline(const document *doc, const lc_config_place *place)
{
    for (size_t i = 0; i < doc->count; i++) {
        const statement *s = &doc->items[i];
        lc_config_place outer = *place;

        outer.count = s->path_count;
        if (!s->is_header && s->path_count > 0 && s->path_count <= place->count &&
            starts_with(s, &outer))
            return s;
    }
    return NULL;
}

static loci_status fail_inline(const document *doc, const lc_config_place *place, loci_error *err)
{
    return lc_config_fail(doc->text, find_inline(doc, place)->line,
                          "an inline table is here; write it as a table with a header of its own",
                          err);
}

static bool has_any(const document *doc, const lc_config_place *place)
{
    for (size_t i = 0; i < doc->count; i++) {
        if (starts_with(&doc->items[i], place))
            return true;
    }
    return false;
}

loci_status lc_config_toml_find(lc_arena *arena, const lc_config_file *file,
                                const lc_config_place *place, const lc_json **out, loci_error *err)
{
    document doc;
    const statement *inline_table;
    const lc_json *json = NULL;
    lc_json_writer w;
    lc_buf text;
    loci_str copy;
    loci_status status;

    status = scan(arena, file->text, &doc, err);
    if (status != LOCI_OK)
        return status;
    inline_table = find_inline(&doc, place);
    if (inline_table == NULL && !has_any(&doc, place)) {
        *out = NULL;
        return LOCI_OK;
    }
    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    lc_jw_init(&w, &text);
    if (inline_table != NULL) {
        status = write_assigned(&doc, inline_table, &w, err);
    } else {
        lc_jw_object(&w);
        status = write_members(&doc, place, &w, err);
        if (status == LOCI_OK)
            lc_jw_end(&w);
    }
    if (status == LOCI_OK)
        status = lc_buf_status(&text, err);
    copy = lc_arena_copy(arena, lc_buf_str(&text));
    if (status == LOCI_OK && copy.ptr == NULL)
        status = lc_fail_memory(err);
    if (status == LOCI_OK)
        status = lc_json_parse(arena, copy, LC_JSON_ALLOW_NUL, &json, err);
    lc_buf_clear(&text);
    for (size_t i = inline_table != NULL ? inline_table->path_count : place->count;
         status == LOCI_OK && json != NULL && i < place->count; i++)
        json = lc_json_kind_of(json) == LC_JSON_OBJECT ? lc_json_member(json, place->names[i])
                                                       : NULL;
    if (status == LOCI_OK)
        *out = json;
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void print_string(loci_str text, lc_buf *out)
{
    lc_buf_append_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte == '"' || byte == '\\')
            lc_buf_append_byte(out, '\\');
        if (byte < 0x20 || byte == 0x7F)
            lc_buf_append_format(out, "\\u%04X", byte);
        else
            lc_buf_append_byte(out, (char)byte);
    }
    lc_buf_append_byte(out, '"');
}

/* Prints a string or a list of strings: loci writes nothing else. */
static void print_json(const lc_json *value, lc_buf *out)
{
    if (lc_json_kind_of(value) == LC_JSON_STRING) {
        print_string(lc_json_str(value), out);
        return;
    }
    lc_buf_append_byte(out, '[');
    for (const lc_json *item = lc_json_first(value); item != NULL; item = lc_json_next(item)) {
        print_string(lc_json_str(item), out);
        if (lc_json_next(item) != NULL)
            lc_buf_append(out, LC_STR(", "));
    }
    lc_buf_append_byte(out, ']');
}

static void print_key(loci_str name, lc_buf *out)
{
    bool is_plain = name.len > 0;

    for (size_t i = 0; i < name.len; i++)
        is_plain = is_plain && is_bare(name.ptr[i]);
    if (is_plain)
        lc_buf_append(out, name);
    else
        print_string(name, out);
}

static void print_assignment(const lc_json *member, lc_buf *out)
{
    print_key(lc_json_name(member), out);
    lc_buf_append(out, LC_STR(" = "));
    print_json(member, out);
}

static void append_table(const lc_config_file *file, const lc_config_place *place,
                         const lc_json *entry, lc_buf *out)
{
    loci_str line_end = lc_config_line_end(file->text);

    lc_buf_append(out, file->text);
    if (file->exists)
        lc_buf_append(out, line_end);
    lc_buf_append_byte(out, '[');
    for (size_t i = 0; i < place->count; i++) {
        lc_buf_append(out, i > 0 ? LC_STR(".") : LC_STR(""));
        print_key(place->names[i], out);
    }
    lc_buf_append_byte(out, ']');
    lc_buf_append(out, line_end);
    for (const lc_json *member = lc_json_first(entry); member != NULL;
         member = lc_json_next(member)) {
        print_assignment(member, out);
        lc_buf_append(out, line_end);
    }
}

static void append_span(const document *doc, size_t from, size_t to, lc_buf *out)
{
    lc_buf_append(out, (loci_str){doc->text.ptr + from, to - from});
}

/* The header that is exactly `place`: its index, or doc->count. */
static size_t find_header(const document *doc, const lc_config_place *place)
{
    size_t i = 0;

    while (i < doc->count && !(doc->items[i].is_header && starts_with(&doc->items[i], place) &&
                               doc->items[i].path_count == place->count))
        i++;
    return i;
}

static bool is_own(const lc_config_entry *entry, loci_str name)
{
    for (size_t i = 0; entry->own[i] != NULL; i++) {
        if (lc_str_is(name, entry->own[i]))
            return true;
    }
    return false;
}

static loci_status compare(document *doc, const statement *s, const lc_json *wanted,
                           bool *out_is_same, loci_error *err)
{
    lc_buf now, then;
    lc_json_writer w;
    loci_status status;

    lc_buf_init(&now, doc->arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    lc_buf_init(&then, doc->arena->heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
    lc_jw_init(&w, &now);
    status = write_assigned(doc, s, &w, err);
    lc_jw_init(&w, &then);
    lc_jw_value(&w, wanted);
    if (status == LOCI_OK)
        status = lc_buf_status(&now, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&then, err);
    *out_is_same = lc_str_eq(lc_buf_str(&now), lc_buf_str(&then));
    lc_buf_clear(&now);
    lc_buf_clear(&then);
    return status;
}

/* Changes the assignments behind the header `header`. */
static loci_status change_table(document *doc, size_t header, const lc_config_entry *entry,
                                const lc_json *wanted, lc_buf *out, loci_error *err)
{
    loci_str line_end = lc_config_line_end(doc->text);
    size_t depth = doc->items[header].path_count;
    size_t done = 0, last = header, i;
    loci_status status = LOCI_OK;

    for (i = header + 1; i < doc->count && !doc->items[i].is_header; i++) {
        const statement *s = &doc->items[i];
        const lc_json *member;
        bool is_same = false;

        last = i;
        if (s->path_count != depth + 1 || !is_own(entry, s->path[depth]))
            continue;
        member = lc_json_member(wanted, s->path[depth]);
        if (member == NULL) {
            append_span(doc, done, s->line, out);
            done = s->next_line;
            continue;
        }
        status = compare(doc, s, member, &is_same, err);
        if (status != LOCI_OK)
            return status;
        if (!is_same) {
            append_span(doc, done, s->value, out);
            print_json(member, out);
            done = s->value_end;
        }
    }
    append_span(doc, done, doc->items[last].next_line > done ? doc->items[last].next_line : done,
                out);
    done = doc->items[last].next_line > done ? doc->items[last].next_line : done;
    for (const lc_json *member = lc_json_first(wanted); member != NULL;
         member = lc_json_next(member)) {
        bool is_there = false;

        for (i = header + 1; i < doc->count && !doc->items[i].is_header; i++)
            is_there = is_there || (doc->items[i].path_count == depth + 1 &&
                                    lc_str_eq(doc->items[i].path[depth], lc_json_name(member)));
        if (is_there)
            continue;
        if (out->len > 0 && out->ptr[out->len - 1] != '\n')
            lc_buf_append(out, line_end);
        print_assignment(member, out);
        lc_buf_append(out, line_end);
    }
    append_span(doc, done, doc->text.len, out);
    return lc_buf_status(out, err);
}

loci_status lc_config_toml_put(lc_arena *arena, const lc_config_file *file,
                               const lc_config_place *place, const lc_config_entry *entry,
                               lc_buf *out, loci_error *err)
{
    document doc;
    const lc_json *wanted;
    size_t header;
    loci_status status;

    status = scan(arena, file->text, &doc, err);
    if (status == LOCI_OK)
        status = lc_json_parse(arena, entry->value, LC_JSON_ALLOW_NUL, &wanted, err);
    if (status != LOCI_OK)
        return status;
    if (find_inline(&doc, place) != NULL)
        return fail_inline(&doc, place, err);
    header = find_header(&doc, place);
    for (size_t i = 0; header == doc.count && i < doc.count; i++) {
        if (!doc.items[i].is_header && starts_with(&doc.items[i], place) &&
            doc.items[i].path_count == place->count + 1)
            return lc_config_fail(file->text, doc.items[i].line,
                                  "the entry has no header of its own; write it as a table", err);
    }
    if (header < doc.count)
        return change_table(&doc, header, entry, wanted, out, err);
    append_table(file, place, wanted, out);
    return lc_buf_status(out, err);
}

/* Where the line end before `at` starts; `at` if there is none. */
static size_t line_end_before(loci_str text, size_t at)
{
    if (at == 0 || text.ptr[at - 1] != '\n')
        return at;
    return at > 1 && text.ptr[at - 2] == '\r' ? at - 2 : at - 1;
}

loci_status lc_config_toml_remove(lc_arena *arena, const lc_config_file *file,
                                  const lc_config_place *place, lc_buf *out, bool *out_exists,
                                  loci_error *err)
{
    document doc;
    size_t done = 0;
    bool is_added_file = false;
    loci_status status;

    status = scan(arena, file->text, &doc, err);
    if (status != LOCI_OK)
        return status;
    if (!has_any(&doc, place) && find_inline(&doc, place) != NULL)
        return fail_inline(&doc, place, err);
    if (!has_any(&doc, place))
        return lc_fail(err, LOCI_ENOTFOUND, "there is no entry %.*s",
                       LC_STR_ARG(place->names[place->count - 1]));
    for (size_t i = 0; i < doc.count; i++) {
        size_t from = doc.items[i].line, before;

        if (!starts_with(&doc.items[i], place))
            continue;
        before = line_end_before(doc.text, from);
        if (doc.items[i].is_header) {
            bool is_behind_empty_line = before < from &&
                                        (before == 0 || doc.text.ptr[before - 1] == '\n');

            is_added_file = from == 0;
            while (i + 1 < doc.count && !doc.items[i + 1].is_header)
                i++;
            if (is_behind_empty_line || doc.items[i].next_line == doc.text.len)
                from = before;
        }
        append_span(&doc, done, from > done ? from : done, out);
        done = doc.items[i].next_line;
    }
    append_span(&doc, done, doc.text.len, out);
    *out_exists = out->len > 0 || !is_added_file;
    return lc_buf_status(out, err);
}

/* ---- Any format ------------------------------------------------------------------------------ */

loci_status lc_config_find(lc_arena *arena, const lc_config_file *file,
                           const lc_config_place *place, const lc_json **out, loci_error *err)
{
    return file->format == LC_CONFIG_TOML ? lc_config_toml_find(arena, file, place, out, err)
                                          : lc_config_json_find(arena, file, place, out, err);
}

loci_status lc_config_put(lc_arena *arena, const lc_config_file *file, const lc_config_place *place,
                          const lc_config_entry *entry, lc_buf *out, loci_error *err)
{
    return file->format == LC_CONFIG_TOML ? lc_config_toml_put(arena, file, place, entry, out, err)
                                          : lc_config_json_put(arena, file, place, entry, out, err);
}

loci_status lc_config_remove(lc_arena *arena, const lc_config_file *file,
                             const lc_config_place *place, lc_buf *out, bool *out_exists,
                             loci_error *err)
{
    return file->format == LC_CONFIG_TOML
               ? lc_config_toml_remove(arena, file, place, out, out_exists, err)
               : lc_config_json_remove(arena, file, place, out, out_exists, err);
}
