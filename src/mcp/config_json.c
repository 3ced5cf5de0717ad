/* config_json.c - edits JSON with comments and trailing commas.
 *
 * The text is scanned once into nodes that know their bytes; an edit copies the text with the
 * changed bytes in between. So that a removal can restore the text from before the insertion, the
 * form of an insertion says what was there:
 *
 *     { "a": 1 }          behind other members: a comma behind the last one, or behind the new one
 *                         if the object has a trailing comma
 *     {}                  into an empty object: directly behind the brace, {"loci": …}
 *     (no such object)    in an object of its own: never directly behind the brace
 *     (a blank file)      { "mcpServers": … }, one space behind the brace
 *     (no file)           the brace ends its line
 *
 * Everything that was between two tokens stays: white space and comments are never moved.
 */
#include "mcp/config_edit.h"

#include "base/error.h"
#include "base/utf8.h"

#define NONE UINT32_MAX
#define NOWHERE SIZE_MAX
#define VALUE_DEPTH_MAX 16 /* Depth of values that loci writes. */

typedef struct node {
    size_t key, key_end; /* The quoted name; equal if it has none. */
    size_t start, end;   /* The value. */
    size_t comma;        /* The comma behind it, or NOWHERE. */
    uint32_t parent, previous, next, first, last;
    char kind; /* Its first byte: '{' '[' '"' or that of a number or word. */
} node;

typedef struct document {
    loci_str text;
    lc_arena *arena;
    node *nodes;
    size_t count, capacity;
    bool exists;   /* The file does. */
    size_t body;   /* Behind the byte order mark. */
    uint32_t root; /* NONE: white space and comments only. */
} document;

/* ---- Scanning -------------------------------------------------------------------------------- */

loci_status lc_config_fail(loci_str text, size_t at, const char *what, loci_error *err)
{
    size_t line = 1, line_start = 0;

    for (size_t i = 0; i < at && i < text.len; i++) {
        if (text.ptr[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    return lc_fail(err, LOCI_EINVAL, "line %zu, column %zu: %s", line,
                   lc_utf8_count((loci_str){text.ptr + line_start, at - line_start}) + 1, what);
}

loci_str lc_config_line_end(loci_str text)
{
    const char *feed = text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;

    return feed != NULL && feed > text.ptr && feed[-1] == '\r' ? LC_STR("\r\n") : LC_STR("\n");
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static char byte_at(loci_str text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

/* The end of the comment at `at`, for a line comment before its line feed; `at` if there is no
 * comment, NOWHERE if it does not end. */
static size_t comment_end(loci_str text, size_t at)
{
    if (byte_at(text, at) != '/')
        return at;
    if (byte_at(text, at + 1) == '/') {
        while (at < text.len && text.ptr[at] != '\n')
            at++;
        return at;
    }
    if (byte_at(text, at + 1) != '*')
        return at;
    for (at += 2; at + 1 < text.len; at++) {
        if (text.ptr[at] == '*' && text.ptr[at + 1] == '/')
            return at + 2;
    }
    return NOWHERE;
}

static loci_status skip_blank(loci_str text, size_t *at, loci_error *err)
{
    for (;;) {
        size_t end;

        while (*at < text.len && is_space(text.ptr[*at]))
            (*at)++;
        end = comment_end(text, *at);
        if (end == NOWHERE)
            return lc_config_fail(text, *at, "the comment does not end", err);
        if (end == *at)
            return LOCI_OK;
        *at = end;
    }
}

static loci_status scan_string(loci_str text, size_t *at, loci_error *err)
{
    size_t start = (*at)++;

    for (; *at < text.len && text.ptr[*at] != '"'; (*at)++) {
        if ((unsigned char)text.ptr[*at] < 0x20)
            return lc_config_fail(text, *at, "a control character in a string", err);
        if (text.ptr[*at] != '\\')
            continue;
        (*at)++;
        if (*at >= text.len || strchr("\"\\/bfnrtu", text.ptr[*at]) == NULL ||
            text.ptr[*at] == '\0')
            return lc_config_fail(text, *at, "an unknown escape in a string", err);
    }
    if (*at >= text.len)
        return lc_config_fail(text, start, "the string does not end", err);
    (*at)++;
    return LOCI_OK;
}

/* A number, true, false or null; which one, lc_json_parse() knows. */
static loci_status scan_word(document *doc, size_t *at, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(doc->arena);
    size_t start = *at;
    const lc_json *json;
    loci_status status;

    while (*at < doc->text.len && !is_space(doc->text.ptr[*at]) &&
           strchr(",]}/\"[{:", doc->text.ptr[*at]) == NULL)
        (*at)++;
    status = lc_json_parse(doc->arena, (loci_str){doc->text.ptr + start, *at - start}, 0, &json,
                           NULL);
    lc_arena_rewind(doc->arena, mark);
    if (status == LOCI_ERESOURCE)
        return lc_fail_memory(err);
    /* Numbers that loci could not store are fine in the files of others. */
    if (status != LOCI_OK && (start == *at || strchr("-0123456789", doc->text.ptr[start]) == NULL))
        return lc_config_fail(doc->text, start, "expected a value", err);
    for (size_t i = start; status != LOCI_OK && i < *at; i++) {
        if (strchr("-+.eE0123456789", doc->text.ptr[i]) == NULL || doc->text.ptr[i] == '\0')
            return lc_config_fail(doc->text, start, "expected a value", err);
    }
    return LOCI_OK;
}

/* Adds a node below `parent`; NONE when out of memory. */
static uint32_t add_node(document *doc, uint32_t parent, const node *made)
{
    uint32_t index = (uint32_t)doc->count;

    if (doc->count == doc->capacity) {
        size_t capacity = doc->capacity == 0 ? 64 : doc->capacity * 2;
        node *nodes = lc_arena_zalloc_array(doc->arena, capacity, sizeof *nodes);

        if (nodes == NULL)
            return NONE;
        if (doc->count > 0)
            memcpy(nodes, doc->nodes, doc->count * sizeof *nodes);
        doc->nodes = nodes;
        doc->capacity = capacity;
    }
    doc->nodes[index] = *made;
    doc->nodes[index].parent = parent;
    doc->count++;
    if (parent != NONE) {
        node *above = &doc->nodes[parent];

        doc->nodes[index].previous = above->last;
        if (above->last != NONE)
            doc->nodes[above->last].next = index;
        else
            above->first = index;
        above->last = index;
    }
    return index;
}

static loci_status scan_key(document *doc, size_t *at, node *made, loci_error *err)
{
    loci_status status;

    if (byte_at(doc->text, *at) != '"')
        return lc_config_fail(doc->text, *at, "expected a name in quotes or '}'", err);
    made->key = *at;
    status = scan_string(doc->text, at, err);
    made->key_end = *at;
    if (status == LOCI_OK)
        status = skip_blank(doc->text, at, err);
    if (status == LOCI_OK && byte_at(doc->text, *at) != ':')
        status = lc_config_fail(doc->text, *at, "expected ':' after a name", err);
    if (status == LOCI_OK) {
        (*at)++;
        status = skip_blank(doc->text, at, err);
    }
    return status;
}

/* Reads a member, an element or the root; a container is only opened. */
static loci_status scan_value(document *doc, uint32_t parent, size_t *at, uint32_t *out,
                              loci_error *err)
{
    node made = {.comma = NOWHERE, .previous = NONE, .next = NONE, .first = NONE, .last = NONE};
    loci_status status = LOCI_OK;

    if (parent != NONE && doc->nodes[parent].kind == '{')
        status = scan_key(doc, at, &made, err);
    if (status != LOCI_OK)
        return status;
    made.start = *at;
    made.kind = byte_at(doc->text, *at);
    if (made.kind == '{' || made.kind == '[')
        (*at)++;
    else if (made.kind == '"')
        status = scan_string(doc->text, at, err);
    else
        status = scan_word(doc, at, err);
    made.end = *at;
    if (status == LOCI_OK) {
        *out = add_node(doc, parent, &made);
        if (*out == NONE)
            status = lc_fail_memory(err);
    }
    return status;
}

static bool is_container(const node *n)
{
    return n->kind == '{' || n->kind == '[';
}

/* Everything below the root, which is open. */
static loci_status scan_root(document *doc, size_t *at, loci_error *err)
{
    uint32_t current = is_container(&doc->nodes[doc->root]) ? doc->root : NONE;
    bool is_behind_value = false;
    unsigned depth = 1;

    while (current != NONE) {
        loci_status status = skip_blank(doc->text, at, err);
        uint32_t child;

        if (status != LOCI_OK)
            return status;
        if (byte_at(doc->text, *at) == (doc->nodes[current].kind == '{' ? '}' : ']')) {
            doc->nodes[current].end = ++*at;
            current = doc->nodes[current].parent;
            is_behind_value = true;
            depth--;
            continue;
        }
        if (is_behind_value) {
            if (byte_at(doc->text, *at) != ',')
                return lc_config_fail(doc->text, *at, "expected ',' or the end of the list", err);
            doc->nodes[doc->nodes[current].last].comma = (*at)++;
            is_behind_value = false;
            continue;
        }
        status = scan_value(doc, current, at, &child, err);
        if (status != LOCI_OK)
            return status;
        is_behind_value = !is_container(&doc->nodes[child]);
        if (!is_behind_value) {
            current = child;
            if (++depth > LC_CONFIG_DEPTH_MAX)
                return lc_config_fail(doc->text, *at, "too many nested lists", err);
        }
    }
    return LOCI_OK;
}

static loci_status scan(lc_arena *arena, const lc_config_file *file, document *out, loci_error *err)
{
    loci_str text = file->text;
    document doc = {.text = text, .arena = arena, .exists = file->exists, .root = NONE};
    loci_status status;
    size_t at;

    if (text.len > LC_CONFIG_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the file is larger than %u MB",
                       LC_CONFIG_BYTES_MAX >> 20);
    if (!lc_utf8_is_valid(text))
        return lc_fail(err, LOCI_EINVAL, "the file is not UTF-8 text");
    doc.body = lc_str_starts(text, LC_STR("\xEF\xBB\xBF")) ? 3 : 0;
    at = doc.body;
    status = skip_blank(text, &at, err);
    if (status == LOCI_OK && at < text.len) {
        status = scan_value(&doc, NONE, &at, &doc.root, err);
        if (status == LOCI_OK)
            status = scan_root(&doc, &at, err);
        if (status == LOCI_OK)
            status = skip_blank(text, &at, err);
        if (status == LOCI_OK && at < text.len)
            status = lc_config_fail(text, at, "expected the end of the file", err);
    }
    if (status == LOCI_OK)
        *out = doc;
    return status;
}

/* ---- Finding --------------------------------------------------------------------------------- */

static size_t item_start(const node *n)
{
    return n->key_end > n->key ? n->key : n->start;
}

static bool has_name(const document *doc, const node *n, loci_str name)
{
    loci_str quoted = {doc->text.ptr + n->key, n->key_end - n->key};
    lc_arena_mark mark = lc_arena_get_mark(doc->arena);
    const lc_json *json;
    bool is_same;

    if (n->key_end == n->key)
        return false;
    if (memchr(quoted.ptr, '\\', quoted.len) == NULL)
        return lc_str_eq((loci_str){quoted.ptr + 1, quoted.len - 2}, name);
    is_same = lc_json_parse(doc->arena, quoted, LC_JSON_ALLOW_NUL, &json, NULL) == LOCI_OK &&
              lc_str_eq(lc_json_str(json), name);
    lc_arena_rewind(doc->arena, mark);
    return is_same;
}

static loci_status find_member(const document *doc, uint32_t object, loci_str name, uint32_t *out,
                               loci_error *err)
{
    uint32_t found = NONE;

    for (uint32_t i = doc->nodes[object].first; i != NONE; i = doc->nodes[i].next) {
        if (!has_name(doc, &doc->nodes[i], name))
            continue;
        if (found != NONE)
            return lc_config_fail(doc->text, doc->nodes[i].key, "the name occurs twice", err);
        found = i;
    }
    *out = found;
    return LOCI_OK;
}

/* Where a path leads: `node` is its last existing value (NONE in a blank file), which `matched`
 * names lead to. All values before the last name are objects. */
typedef struct trail {
    uint32_t node;
    size_t matched;
} trail;

static loci_status follow(const document *doc, const lc_config_place *place, trail *out,
                          loci_error *err)
{
    trail at = {.node = doc->root};

    while (at.node != NONE) {
        uint32_t next;
        loci_status status;

        if (at.matched == place->count)
            break;
        if (doc->nodes[at.node].kind != '{')
            return lc_config_fail(
                doc->text, doc->nodes[at.node].start,
                at.matched == 0 ? "the file is not a JSON object" : "expected an object here", err);
        status = find_member(doc, at.node, place->names[at.matched], &next, err);
        if (status != LOCI_OK)
            return status;
        if (next == NONE)
            break;
        at = (trail){next, at.matched + 1};
    }
    *out = at;
    return LOCI_OK;
}

/* The value as strict JSON, in doc->arena: comments and trailing commas become spaces. */
static loci_str plain_text(const document *doc, const node *n)
{
    loci_str copy = lc_arena_copy(doc->arena,
                                  (loci_str){doc->text.ptr + n->start, n->end - n->start});
    char *bytes = (char *)copy.ptr; /* Just made. */

    if (bytes == NULL)
        return copy;
    for (size_t at = 0; at < copy.len;) {
        size_t end = comment_end(copy, at);

        if (end != at) {
            memset(bytes + at, ' ', end - at);
            at = end;
        } else if (bytes[at] == '"') {
            (void)scan_string(copy, &at, NULL); /* It was scanned before. */
        } else {
            at++;
        }
    }
    for (size_t i = 0; i < doc->count; i++) {
        const node *other = &doc->nodes[i];

        if (other->comma != NOWHERE && other->next == NONE && other->start > n->start &&
            other->comma < n->end)
            bytes[other->comma - n->start] = ' ';
    }
    return copy;
}

loci_status lc_config_json_find(lc_arena *arena, const lc_config_file *file,
                                const lc_config_place *place, const lc_json **out, loci_error *err)
{
    document doc;
    trail at;
    loci_str text;
    loci_status status;

    status = scan(arena, file, &doc, err);
    if (status == LOCI_OK)
        status = follow(&doc, place, &at, err);
    if (status != LOCI_OK)
        return status;
    if (at.node == NONE || at.matched < place->count) {
        *out = NULL;
        return LOCI_OK;
    }
    text = plain_text(&doc, &doc.nodes[at.node]);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    return lc_json_parse(arena, text, LC_JSON_ALLOW_NUL, out, err);
}

/* ---- Layout ---------------------------------------------------------------------------------- */

typedef struct layout {
    loci_str line_end;
    loci_str unit; /* One level of indentation. */
    loci_str base; /* Indentation of the line that the value is in. */
    bool is_inline;
} layout;

/* White space at the beginning of the line of `at`; sets whether only white space is before `at`.
 */
static loci_str line_indent(loci_str text, size_t at, bool *out_is_first)
{
    size_t start = at, end;

    while (start > 0 && text.ptr[start - 1] != '\n')
        start--;
    if (start == 0 && lc_str_starts(text, LC_STR("\xEF\xBB\xBF")))
        start = 3;
    end = start;
    while (end < at && (text.ptr[end] == ' ' || text.ptr[end] == '\t'))
        end++;
    if (out_is_first != NULL)
        *out_is_first = end == at && start > 0;
    return (loci_str){text.ptr + start, end - start};
}

static loci_str find_unit(const document *doc)
{
    bool is_first;

    if (doc->root == NONE)
        return LC_STR("  ");
    for (uint32_t i = doc->nodes[doc->root].first; i != NONE; i = doc->nodes[i].next) {
        loci_str indent = line_indent(doc->text, item_start(&doc->nodes[i]), &is_first);

        if (is_first && indent.len > 0)
            return indent;
    }
    return LC_STR("  ");
}

static bool has_line_feed(const document *doc, const node *n)
{
    return memchr(doc->text.ptr + n->start, '\n', n->end - n->start) != NULL;
}

static layout find_layout(const document *doc, uint32_t container)
{
    const node *n = &doc->nodes[container];
    layout l = {.line_end = lc_config_line_end(doc->text), .unit = find_unit(doc)};

    /* An empty list is written in lines unless the list around it is in one line. */
    if (n->first != NONE)
        l.is_inline = !has_line_feed(doc, n);
    else
        l.is_inline = n->parent != NONE && !has_line_feed(doc, &doc->nodes[n->parent]);
    l.base = line_indent(doc->text, item_start(n), NULL);
    return l;
}

/* The object or array that print() is in, per level. */
typedef struct level {
    bool is_in_lines;
    bool is_spaced; /* In one line, with a space inside the brackets. */
} level;

static void break_line(const layout *l, size_t depth, lc_buf *out)
{
    lc_buf_append(out, l->line_end);
    lc_buf_append(out, l->base);
    for (size_t i = 0; i < depth; i++)
        lc_buf_append(out, l->unit);
}

/* Appends `value`, JSON without white space: objects in lines, lists of plain values in one. */
static void print(const layout *l, loci_str value, lc_buf *out)
{
    level levels[VALUE_DEPTH_MAX] = {{0}};
    size_t depth = 0;

    for (size_t at = 0; at < value.len;) {
        char byte = value.ptr[at];
        char next = byte_at(value, at + 1);
        size_t start = at++;

        if (byte == '"') {
            at = start;
            (void)scan_string(value, &at, NULL); /* Written by lc_jw_str(). */
            lc_buf_append(out, (loci_str){value.ptr + start, at - start});
        } else if ((byte == '{' && next != '}') || (byte == '[' && (next == '{' || next == '['))) {
            level *opened = &levels[++depth % VALUE_DEPTH_MAX];

            *opened = (level){!l->is_inline, l->is_inline};
            lc_buf_append_byte(out, byte);
            if (opened->is_in_lines)
                break_line(l, depth, out);
            else
                lc_buf_append_byte(out, ' ');
        } else if (byte == '{' || byte == '[') {
            levels[++depth % VALUE_DEPTH_MAX] = (level){false, false};
            lc_buf_append_byte(out, byte);
        } else if (byte == '}' || byte == ']') {
            level closed = levels[depth-- % VALUE_DEPTH_MAX];

            if (closed.is_in_lines)
                break_line(l, depth, out);
            else if (closed.is_spaced)
                lc_buf_append_byte(out, ' ');
            lc_buf_append_byte(out, byte);
        } else if (byte == ',') {
            lc_buf_append_byte(out, byte);
            if (levels[depth % VALUE_DEPTH_MAX].is_in_lines)
                break_line(l, depth, out);
            else
                lc_buf_append_byte(out, ' ');
        } else {
            lc_buf_append_byte(out, byte);
            if (byte == ':')
                lc_buf_append_byte(out, ' ');
        }
    }
}

/* ---- Editing --------------------------------------------------------------------------------- */

/* A member or, without a name, an element. */
typedef struct item {
    loci_str name; /* In JSON: with quotes. */
    loci_str value;
} item;

static void print_item(const layout *l, const item *it, lc_buf *out)
{
    lc_buf_append(out, it->name);
    if (it->name.len > 0)
        lc_buf_append(out, LC_STR(": "));
    print(l, it->value, out);
}

static void append_span(const document *doc, size_t from, size_t to, lc_buf *out)
{
    lc_buf_append(out, (loci_str){doc->text.ptr + from, to - from});
}

/* Behind the comments that follow `at` in its line: they belong to the token before them. */
static size_t skip_line_comments(loci_str text, size_t at)
{
    for (;;) {
        size_t start = at, end;

        while (byte_at(text, start) == ' ' || byte_at(text, start) == '\t')
            start++;
        end = comment_end(text, start);
        if (end == start || end == NOWHERE)
            return at;
        if (text.ptr[start + 1] == '*' && memchr(text.ptr + start, '\n', end - start) != NULL)
            return at;
        /* White space at the end of a line comment stays behind the inserted text, where a removal
         * finds it. */
        while (text.ptr[start + 1] == '/' && is_space(text.ptr[end - 1]))
            end--;
        at = end;
    }
}

static void add_behind(const document *doc, uint32_t container, const item *it, lc_buf *out)
{
    layout l = find_layout(doc, container);
    const node *last = &doc->nodes[doc->nodes[container].last];
    bool has_trailing = last->comma != NOWHERE;
    size_t point = has_trailing ? last->comma + 1 : last->end;
    size_t behind = skip_line_comments(doc->text, point);
    bool is_first;
    loci_str indent = line_indent(doc->text, item_start(last), &is_first);
    lc_buf deeper;

    append_span(doc, 0, point, out);
    if (!has_trailing)
        lc_buf_append_byte(out, ',');
    append_span(doc, point, behind, out);
    lc_buf_init(&deeper, out->heap, out->category, LC_CONFIG_BYTES_MAX);
    if (l.is_inline) {
        lc_buf_append_byte(out, ' ');
    } else {
        if (!is_first) {
            lc_buf_append(&deeper, l.base);
            lc_buf_append(&deeper, l.unit);
            indent = lc_buf_str(&deeper);
        }
        l.base = indent;
        break_line(&l, 0, out);
    }
    print_item(&l, it, out);
    lc_buf_clear(&deeper);
    if (has_trailing)
        lc_buf_append_byte(out, ',');
    append_span(doc, behind, doc->text.len, out);
}

static void add_to_blank(const document *doc, const item *it, lc_buf *out)
{
    layout l = {.line_end = lc_config_line_end(doc->text), .unit = LC_STR("  ")};

    append_span(doc, 0, doc->body, out);
    lc_buf_append_byte(out, '{');
    if (doc->exists) {
        lc_buf_append_byte(out, ' ');
    } else {
        l.base = l.unit;
        break_line(&l, 0, out);
    }
    print_item(&l, it, out);
    lc_buf_append(out, doc->exists ? LC_STR(" }") : LC_STR("\n}\n"));
    append_span(doc, doc->body, doc->text.len, out);
}

static void add_item(const document *doc, uint32_t container, const item *it, lc_buf *out)
{
    layout l;

    if (doc->nodes[container].first != NONE) {
        add_behind(doc, container, it, out);
        return;
    }
    l = find_layout(doc, container);
    append_span(doc, 0, doc->nodes[container].start + 1, out);
    print_item(&l, it, out);
    append_span(doc, doc->nodes[container].start + 1, doc->text.len, out);
}

/* Quotes `name` into `scratch`, which must outlive the result. */
static loci_str quote(lc_arena *arena, loci_str name, lc_buf *scratch)
{
    lc_json_writer w;

    lc_buf_reset(scratch);
    lc_jw_init(&w, scratch);
    lc_jw_str(&w, name);
    return lc_arena_copy(arena, lc_buf_str(scratch));
}

/* Adds `value` at the end of a path, of which the first names may exist. */
static loci_status add_at(const document *doc, const lc_config_place *place, const trail *at,
                          loci_str value, lc_buf *out, loci_error *err)
{
    item it = {0};
    lc_buf scratch;
    loci_status status;

    lc_buf_init(&scratch, out->heap, out->category, LC_CONFIG_BYTES_MAX);
    for (size_t i = place->count; i > at->matched + 1 && value.ptr != NULL; i--) {
        loci_str name = quote(doc->arena, place->names[i - 1], &scratch);

        lc_buf_reset(&scratch);
        lc_buf_append_byte(&scratch, '{');
        lc_buf_append(&scratch, name);
        lc_buf_append_byte(&scratch, ':');
        lc_buf_append(&scratch, value);
        lc_buf_append_byte(&scratch, '}');
        value = lc_arena_copy(doc->arena, lc_buf_str(&scratch));
    }
    it.value = value;
    it.name = quote(doc->arena, place->names[at->matched], &scratch);
    status = lc_buf_status(&scratch, err);
    lc_buf_clear(&scratch);
    if (status != LOCI_OK)
        return status;
    if (it.value.ptr == NULL || it.name.ptr == NULL)
        return lc_fail_memory(err);
    if (at->node == NONE)
        add_to_blank(doc, &it, out);
    else
        add_item(doc, at->node, &it, out);
    return lc_buf_status(out, err);
}

/* Removes one of several items. */
static void cut_item(const document *doc, uint32_t index, lc_buf *out)
{
    const node *n = &doc->nodes[index];
    size_t start = item_start(n);
    size_t comma = n->comma;
    size_t from = start;

    while (from > 0 && is_space(doc->text.ptr[from - 1]))
        from--;
    if (comma == NOWHERE) {
        size_t before = doc->nodes[n->previous].comma;

        append_span(doc, 0, before, out);
        append_span(doc, before + 1, from, out);
        append_span(doc, n->end, doc->text.len, out);
        return;
    }
    append_span(doc, 0, from, out);
    append_span(doc, n->end, comma, out);
    append_span(doc, comma + 1, doc->text.len, out);
}

static void cut_span(const document *doc, size_t from, size_t to, size_t comma, lc_buf *out)
{
    append_span(doc, 0, from, out);
    if (comma != NOWHERE) {
        append_span(doc, to, comma, out);
        to = comma + 1;
    }
    append_span(doc, to, doc->text.len, out);
}

static bool is_blank(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_space(text.ptr[i]))
            return false;
    }
    return true;
}

/* Removes an item and the lists that were made for it (see the top of this file). */
static void remove_item(const document *doc, uint32_t index, lc_buf *out, bool *out_exists)
{
    const node *n = &doc->nodes[index];
    const node *above = &doc->nodes[n->parent];

    *out_exists = true;
    while (n->previous == NONE && n->next == NONE && item_start(n) != above->start + 1 &&
           n->parent != doc->root) {
        index = n->parent;
        n = above;
        above = &doc->nodes[n->parent];
    }
    if (n->previous != NONE || n->next != NONE) {
        cut_item(doc, index, out);
    } else if (item_start(n) == above->start + 1) {
        cut_span(doc, item_start(n), n->end, n->comma, out);
    } else if (doc->text.ptr[above->start + 1] == ' ' && item_start(n) == above->start + 2 &&
               n->end + 2 == above->end) {
        cut_span(doc, above->start, above->end, NOWHERE, out);
    } else if (is_blank((loci_str){doc->text.ptr + doc->body, above->start - doc->body}) &&
               is_blank((loci_str){doc->text.ptr + above->end, doc->text.len - above->end}) &&
               is_blank((loci_str){doc->text.ptr + above->start + 1,
                                   item_start(n) - above->start - 1}) &&
               is_blank((loci_str){doc->text.ptr + n->end, above->end - 1 - n->end})) {
        *out_exists = false;
    } else { /* Comments were added to the file: they stay, in an object without members. */
        cut_span(doc, item_start(n), n->end, n->comma, out);
    }
}

static loci_status replace_value(const document *doc, uint32_t index, loci_str value, lc_buf *out,
                                 loci_error *err)
{
    const node *n = &doc->nodes[index];
    layout l = find_layout(doc, n->parent != NONE ? n->parent : index);

    l.base = line_indent(doc->text, item_start(n), NULL);
    append_span(doc, 0, n->start, out);
    print(&l, value, out);
    append_span(doc, n->end, doc->text.len, out);
    return lc_buf_status(out, err);
}

/* ---- An existing entry ----------------------------------------------------------------------- */

static loci_status compare(lc_arena *arena, lc_heap *heap, const loci_str texts[2],
                           bool *out_is_same, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_buf canonical[2];
    const lc_json *json;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < 2; i++) {
        lc_buf_init(&canonical[i], heap, LOCI_MEM_REQUESTS, LC_CONFIG_BYTES_MAX);
        if (status == LOCI_OK)
            status = lc_json_parse(arena, texts[i], LC_JSON_ALLOW_NUL, &json, err);
        if (status == LOCI_OK)
            status = lc_json_canonical(arena, json, &canonical[i], err);
        if (status == LOCI_OK)
            status = lc_buf_status(&canonical[i], err);
    }
    *out_is_same = status == LOCI_OK &&
                   lc_str_eq(lc_buf_str(&canonical[0]), lc_buf_str(&canonical[1]));
    lc_buf_clear(&canonical[0]);
    lc_buf_clear(&canonical[1]);
    lc_arena_rewind(arena, mark);
    /* A value that loci cannot parse, such as a number out of range, is a different value. */
    return status == LOCI_ERESOURCE ? status : LOCI_OK;
}

/* One step of put: sets the member of the object at `place`, or removes it if it has no value. */
static loci_status put_member(lc_arena *arena, const lc_config_file *file,
                              const lc_config_place *place, const item *member, lc_buf *out,
                              loci_error *err)
{
    document doc;
    trail at;
    uint32_t found = NONE;
    loci_status status;

    status = scan(arena, file, &doc, err);
    if (status == LOCI_OK)
        status = follow(&doc, place, &at, err);
    if (status == LOCI_OK)
        status = find_member(&doc, at.node, member->name, &found, err);
    if (status != LOCI_OK)
        return status;
    if (found == NONE && member->value.ptr != NULL) {
        lc_config_place deeper = {.names = {member->name}, .count = 1};

        return add_at(&doc, &deeper, &(trail){.node = at.node}, member->value, out, err);
    }
    if (found != NONE && member->value.ptr == NULL) {
        if (doc.nodes[found].previous != NONE || doc.nodes[found].next != NONE)
            cut_item(&doc, found, out);
        else
            cut_span(&doc, item_start(&doc.nodes[found]), doc.nodes[found].end,
                     doc.nodes[found].comma, out);
    } else if (found != NONE) {
        loci_str texts[2] = {plain_text(&doc, &doc.nodes[found]), member->value};
        bool is_same;

        if (texts[0].ptr == NULL)
            return lc_fail_memory(err);
        status = compare(arena, out->heap, texts, &is_same, err);
        if (status != LOCI_OK)
            return status;
        if (!is_same)
            return replace_value(&doc, found, member->value, out, err);
        lc_buf_append(out, file->text);
    } else {
        lc_buf_append(out, file->text);
    }
    return lc_buf_status(out, err);
}

static loci_status put_members(lc_arena *arena, const lc_config_file *file,
                               const lc_config_place *place, const lc_config_entry *entry,
                               lc_buf *out, loci_error *err)
{
    lc_config_file now = *file;
    lc_buf value, step;
    const lc_json *wanted;
    loci_status status = lc_json_parse(arena, entry->value, LC_JSON_ALLOW_NUL, &wanted, err);

    lc_buf_init(&value, out->heap, out->category, LC_CONFIG_BYTES_MAX);
    lc_buf_init(&step, out->heap, out->category, LC_CONFIG_BYTES_MAX);
    for (size_t i = 0; status == LOCI_OK && entry->own[i] != NULL; i++) {
        const lc_json *member = lc_json_member(wanted, loci_str_of(entry->own[i]));
        item it = {.name = loci_str_of(entry->own[i])};
        lc_json_writer w;

        lc_buf_reset(&value);
        if (member != NULL) {
            lc_jw_init(&w, &value);
            lc_jw_value(&w, member);
            it.value = lc_buf_str(&value);
        }
        lc_buf_reset(&step);
        status = lc_buf_status(&value, err);
        if (status == LOCI_OK)
            status = put_member(arena, &now, place, &it, &step, err);
        if (status == LOCI_OK)
            now.text = lc_arena_copy(arena, lc_buf_str(&step));
        if (status == LOCI_OK && now.text.ptr == NULL)
            status = lc_fail_memory(err);
    }
    if (status == LOCI_OK) {
        lc_buf_append(out, now.text);
        status = lc_buf_status(out, err);
    }
    lc_buf_clear(&value);
    lc_buf_clear(&step);
    return status;
}

loci_status lc_config_json_put(lc_arena *arena, const lc_config_file *file,
                               const lc_config_place *place, const lc_config_entry *entry,
                               lc_buf *out, loci_error *err)
{
    document doc;
    trail at;
    loci_status status;

    status = scan(arena, file, &doc, err);
    if (status == LOCI_OK)
        status = follow(&doc, place, &at, err);
    if (status != LOCI_OK)
        return status;
    if (at.node == NONE || at.matched < place->count) {
        if (at.node != NONE && doc.nodes[at.node].kind != '{')
            return lc_config_fail(file->text, doc.nodes[at.node].start, "expected an object here",
                                  err);
        return add_at(&doc, place, &at, entry->value, out, err);
    }
    if (doc.nodes[at.node].kind == '{' && doc.nodes[at.node].first != NONE)
        return put_members(arena, file, place, entry, out, err);
    return replace_value(&doc, at.node, entry->value, out, err);
}

loci_status lc_config_json_remove(lc_arena *arena, const lc_config_file *file,
                                  const lc_config_place *place, lc_buf *out, bool *out_exists,
                                  loci_error *err)
{
    document doc;
    trail at;
    loci_status status;

    status = scan(arena, file, &doc, err);
    if (status == LOCI_OK)
        status = follow(&doc, place, &at, err);
    if (status != LOCI_OK)
        return status;
    if (at.node == NONE || at.matched < place->count)
        return lc_fail(err, LOCI_ENOTFOUND, "there is no entry %.*s",
                       LC_STR_ARG(place->names[place->count - 1]));
    remove_item(&doc, at.node, out, out_exists);
    return lc_buf_status(out, err);
}

/* ---- Elements of arrays ---------------------------------------------------------------------- */

loci_status lc_config_add_element(lc_arena *arena, const lc_config_file *file,
                                  const lc_config_place *place, loci_str value, lc_buf *out,
                                  loci_error *err)
{
    document doc;
    trail at;
    lc_buf list;
    loci_status status;

    status = scan(arena, file, &doc, err);
    if (status == LOCI_OK)
        status = follow(&doc, place, &at, err);
    if (status != LOCI_OK)
        return status;
    if (at.node != NONE && at.matched == place->count) {
        if (doc.nodes[at.node].kind != '[')
            return lc_config_fail(file->text, doc.nodes[at.node].start, "expected an array here",
                                  err);
        add_item(&doc, at.node, &(item){.value = value}, out);
        return lc_buf_status(out, err);
    }
    if (at.node != NONE && doc.nodes[at.node].kind != '{')
        return lc_config_fail(file->text, doc.nodes[at.node].start, "expected an object here", err);
    lc_buf_init(&list, out->heap, out->category, LC_CONFIG_BYTES_MAX);
    lc_buf_append_byte(&list, '[');
    lc_buf_append(&list, value);
    lc_buf_append_byte(&list, ']');
    status = lc_buf_status(&list, err);
    if (status == LOCI_OK)
        status = add_at(&doc, place, &at, lc_buf_str(&list), out, err);
    lc_buf_clear(&list);
    return status;
}

loci_status lc_config_remove_element(lc_arena *arena, const lc_config_file *file,
                                     const lc_config_element *element, lc_buf *out,
                                     bool *out_exists, loci_error *err)
{
    document doc;
    trail at;
    uint32_t child = NONE;
    loci_status status;

    status = scan(arena, file, &doc, err);
    if (status == LOCI_OK)
        status = follow(&doc, &element->array, &at, err);
    if (status != LOCI_OK)
        return status;
    if (at.node != NONE && at.matched == element->array.count && doc.nodes[at.node].kind == '[') {
        child = doc.nodes[at.node].first;
        for (size_t i = 0; i < element->index && child != NONE; i++)
            child = doc.nodes[child].next;
    }
    if (child == NONE)
        return lc_fail(err, LOCI_ENOTFOUND, "there is no such element");
    remove_item(&doc, child, out, out_exists);
    return lc_buf_status(out, err);
}
