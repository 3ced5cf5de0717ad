/* json_read.c - one pass over the text, no recursion: the open containers are a stack of frames.
 *
 * Room for all values is taken at once, before reading. Every value but the first follows a comma
 * or an opening bracket, so counting those (16 bytes at a time) bounds the values from above. A
 * document of n values has at least 2n - 1 bytes, and one that breaks off lacks at most its open
 * levels and a value, which bounds the memory when a string is made of commas.
 *
 * Functions that read take and return the place in the text, or NULL after having failed. Names are
 * compared when their object ends, each with each while they are few, sorted when they are many.
 *
 * Invariants: next <= nodes_end, asserted where a value is made; the value at `next` has its name
 * set before it is made.
 */
#include "base/json_tree.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/number.h"
#include "base/str.h"
#include "base/utf8.h"

/* ---- Strings --------------------------------------------------------------------------------- */

/* A string is checked to its end first, which also shows whether it can be borrowed; decoding its
 * escapes then cannot meet anything unexpected, and never makes it longer. */

/* The end of a string, or the error in it. */
typedef struct checked_string {
    const char *stop; /* The closing quote, or where the flaw is. */
    const char *flaw; /* NULL when there is none. */
    bool has_escape;
} checked_string;

static const char ends_early[] = "the text ends too early";

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The four hexadecimal digits at `at`, or -1. */
static int hex4(const char *at, const char *end)
{
    int value = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high_surrogate(int unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(int unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Bytes of the \u escape at `at`, or 0 and the error in it. */
static size_t check_unicode(loci_str rest, unsigned flags, const char **out_flaw)
{
    const char *at = rest.ptr, *end = rest.ptr + rest.len;
    int unit = hex4(at + 2, end);

    if (unit < 0)
        *out_flaw = "expected four hexadecimal digits after \\u";
    else if (unit == 0 && (flags & LC_JSON_ALLOW_NUL) == 0)
        *out_flaw = "\\u0000 is not allowed in a string";
    else if (is_low_surrogate(unit))
        *out_flaw = "a low surrogate without a high one before it";
    else if (!is_high_surrogate(unit))
        return 6;
    else if (rest.len < 12 || at[6] != '\\' || at[7] != 'u' || !is_low_surrogate(hex4(at + 8, end)))
        *out_flaw = "a high surrogate without a low one after it";
    else
        return 12;
    return 0;
}

static size_t check_escape(loci_str rest, unsigned flags, const char **out_flaw)
{
    if (rest.len < 2) {
        *out_flaw = ends_early;
        return 0;
    }
    switch (rest.ptr[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return check_unicode(rest, flags, out_flaw);
    default:
        *out_flaw = "expected one of \"\\/bfnrtu after a backslash";
        return 0;
    }
}

/* Bytes of the character or escape that `rest` begins with, or 0 and the error in it. */
static size_t check_next(loci_str rest, unsigned flags, const char **out_flaw)
{
    size_t bytes;

    if (rest.ptr[0] == '\\')
        return check_escape(rest, flags, out_flaw);
    if ((unsigned char)rest.ptr[0] < 0x20) {
        *out_flaw = "a control character in a string must be escaped";
        return 0;
    }
    bytes = lc_utf8_char_bytes(rest.ptr, rest.ptr + rest.len);
    if (bytes == 0)
        *out_flaw = "this is not UTF-8";
    return bytes;
}

/* Checks the string at the beginning of `rest`, behind its opening quote. */
static checked_string check_string(loci_str rest, unsigned flags)
{
    const char *end = rest.ptr + rest.len;
    checked_string out = {.stop = rest.ptr};

    for (;;) {
        size_t bytes;

        out.stop = lc_json_scan(out.stop, end);
        if (out.stop == end) {
            out.flaw = ends_early;
            return out;
        }
        if (*out.stop == '"')
            return out;
        out.has_escape = out.has_escape || *out.stop == '\\';
        bytes = check_next((loci_str){out.stop, (size_t)(end - out.stop)}, flags, &out.flaw);
        if (bytes == 0)
            return out;
        out.stop += bytes;
    }
}

/* Decodes the checked \u escape at `*at`, moving behind it; returns the bytes written. */
static size_t decode_unicode(const char **at, const char *end, char *out)
{
    int unit = hex4(*at + 2, end);
    char bytes[4];
    size_t count;

    if (is_high_surrogate(unit)) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (hex4(*at + 8, end) - 0xDC00);
        *at += 6;
    }
    *at += 6;
    count = lc_utf8_encode((uint32_t)unit, bytes);
    memcpy(out, bytes, count);
    return count;
}

static char decode_letter(char letter)
{
    switch (letter) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return letter;
    }
}

/* The characters of a checked string; `ptr` is NULL when out of memory. */
static loci_str decode_string(lc_arena *arena, loci_str raw)
{
    char *text = lc_arena_alloc(arena, raw.len);
    char *to = text;
    const char *at = raw.ptr, *end = raw.ptr + raw.len;

    if (text == NULL)
        return (loci_str){NULL, 0};
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape != NULL ? escape : end) - at);

        memcpy(to, at, plain);
        to += plain;
        at += plain;
        if (escape == NULL)
            break;
        if (at[1] == 'u') {
            to += decode_unicode(&at, end, to);
        } else {
            *to++ = decode_letter(at[1]);
            at += 2;
        }
    }
    return (loci_str){text, (size_t)(to - text)};
}

/* ---- Values ---------------------------------------------------------------------------------- */

#define PAIRWISE_MAX 16 /* Mostly 120 comparisons of lengths: as fast as sorting. */

/* An open container. */
typedef struct frame {
    lc_json *container;
    lc_json *last;  /* The member made last. */
    uint32_t count; /* Of members made. */
} frame;

typedef struct reader {
    lc_arena *arena;
    const char *begin;
    const char *end;
    unsigned flags;
    unsigned depth;
    lc_json *next; /* Where the next value goes. */
    lc_json *nodes_end;
    loci_error *err;
    loci_status status;
    frame frames[LC_JSON_DEPTH_MAX];
} reader;

/* ---- Failing --------------------------------------------------------------------------------- */

static const char *fail_at(reader *r, const char *at, loci_status status, const char *what)
{
    size_t line = 1;
    const char *line_begin = r->begin;

    for (const char *c = r->begin; c < at; c++) {
        if (*c == '\n') {
            line++;
            line_begin = c + 1;
        }
    }
    r->status = lc_fail(r->err, status, "line %zu, column %zu: %s", line,
                        lc_utf8_count((loci_str){line_begin, (size_t)(at - line_begin)}) + 1, what);
    return NULL;
}

static const char *refuse(reader *r, const char *at, const char *what)
{
    return fail_at(r, at, LOCI_EINVAL, at == r->end ? "the text ends too early" : what);
}

static const char *fail_memory(reader *r)
{
    r->status = lc_fail_memory(r->err);
    return NULL;
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* Commas and opening brackets. '[' and '{' differ in the bit of 0x20 alone. */
static size_t count_separators(const char *at, const char *end)
{
    size_t count = 0;

#ifdef __SSE2__
    const __m128i comma = _mm_set1_epi8(',');
    const __m128i brace = _mm_set1_epi8('{');
    const __m128i bit = _mm_set1_epi8(0x20);
    const __m128i zero = _mm_setzero_si128();

    while (end - at >= 16) {
        __m128i sums = zero; /* 16 counters of a byte each, so at most 255 rounds. */

        for (int i = 0; i < 255 && end - at >= 16; i++, at += 16) {
            __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
            __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(block, comma),
                                        _mm_cmpeq_epi8(_mm_or_si128(block, bit), brace));

            sums = _mm_sub_epi8(sums, hits);
        }
        sums = _mm_sad_epu8(sums, zero);
        count += (size_t)_mm_cvtsi128_si64(sums) +
                 (size_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
    }
#endif
    for (; at < end; at++)
        count += *at == ',' || (*at | 0x20) == '{';
    return count;
}

/* An upper bound of the number of values in `text`, up to its first error. */
static size_t bound_values(loci_str text)
{
    size_t by_separators = 1 + count_separators(text.ptr, text.ptr + text.len);
    size_t by_bytes = text.len / 2 + LC_JSON_DEPTH_MAX + 2;

    return by_separators < by_bytes ? by_separators : by_bytes;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static inline const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* Makes the next value, whose name is set already. */
static inline lc_json *make(reader *r, lc_json_kind kind)
{
    lc_json *value = r->next++;

    LC_ASSERT(value < r->nodes_end);
    value->text_bytes = 0;
    value->kind = (uint32_t)kind & 0x7F;
    value->is_last = r->depth == 0;
    if (r->depth > 0) {
        r->frames[r->depth - 1].last = value;
        r->frames[r->depth - 1].count++;
    }
    return value;
}

/* Reads the string that begins at `at`, behind its quote; returns behind its closing quote. */
static inline const char *read_string(reader *r, const char *at, loci_str *out)
{
    const char *quote = lc_json_scan(at, r->end);
    checked_string string;

    if (quote < r->end && *quote == '"') {
        *out = (loci_str){at, (size_t)(quote - at)};
        return quote + 1;
    }
    string = check_string((loci_str){at, (size_t)(r->end - at)}, r->flags);
    if (string.flaw != NULL)
        return refuse(r, string.stop, string.flaw);
    *out = (loci_str){at, (size_t)(string.stop - at)};
    if (string.has_escape)
        *out = decode_string(r->arena, *out);
    return out->ptr != NULL ? string.stop + 1 : fail_memory(r);
}

static const char *read_text(reader *r, const char *at)
{
    loci_str text;
    lc_json *value;

    at = read_string(r, at + 1, &text);
    if (at == NULL)
        return NULL;
    value = make(r, LC_JSON_STRING);
    value->as.text = text.ptr;
    value->text_bytes = (uint32_t)text.len & 0xFFFFFF;
    return at;
}

static const char *read_any_number(reader *r, const char *at)
{
    lc_number number = lc_number_read((loci_str){at, (size_t)(r->end - at)});

    if (number.kind == LC_NUMBER_NONE)
        return refuse(r, at + number.bytes, "expected a digit");
    if (number.kind == LC_NUMBER_BIG_INT)
        return refuse(r, at, "an integer outside -2^63 .. 2^63-1");
    if (number.kind == LC_NUMBER_INT) {
        make(r, LC_JSON_INT)->as.integer = number.integer;
        return at + number.bytes;
    }
    if (isinf(number.real))
        return refuse(r, at, "a number too large for a double");
    make(r, LC_JSON_REAL)->as.real = number.real;
    return at + number.bytes;
}

/* Most numbers are short integers, and are not worth a call. */
static inline const char *read_number(reader *r, const char *at)
{
    const char *first = at + (*at == '-');
    const char *digit = first;
    int64_t value = 0;

    while (digit < r->end && (unsigned char)(*digit - '0') <= 9 && digit - first < 18)
        value = value * 10 + (*digit++ - '0');
    if (digit == first || digit == r->end || *first == '0' || *digit == '.' ||
        (*digit | 0x20) == 'e' || (unsigned char)(*digit - '0') <= 9)
        return read_any_number(r, at);
    make(r, LC_JSON_INT)->as.integer = first == at ? value : -value;
    return digit;
}

static const char *read_word(reader *r, const char *at, loci_str word)
{
    if ((size_t)(r->end - at) < word.len || memcmp(at, word.ptr, word.len) != 0)
        return refuse(r, at, "expected a value");
    return at + word.len;
}

static const char *read_bool(reader *r, const char *at, bool value)
{
    at = read_word(r, at, value ? LC_STR("true") : LC_STR("false"));
    if (at != NULL)
        make(r, LC_JSON_BOOL)->as.boolean = value;
    return at;
}

static const char *open_container(reader *r, const char *at, lc_json_kind kind)
{
    if (r->depth == LC_JSON_DEPTH_MAX)
        return fail_at(r, at, LOCI_ELIMIT, "nested too deep");
    r->frames[r->depth] = (frame){.container = make(r, kind)};
    r->depth++;
    return at + 1;
}

/* Reads a scalar, or opens a container. */
static const char *read_value(reader *r, const char *at)
{
    if (at == r->end)
        return refuse(r, at, "");
    switch (*at) {
    case '{':
        return open_container(r, at, LC_JSON_OBJECT);
    case '[':
        return open_container(r, at, LC_JSON_ARRAY);
    case '"':
        return read_text(r, at);
    case 't':
        return read_bool(r, at, true);
    case 'f':
        return read_bool(r, at, false);
    case 'n':
        at = read_word(r, at, LC_STR("null"));
        if (at != NULL)
            make(r, LC_JSON_NULL)->as.integer = 0;
        return at;
    default:
        if (*at == '-' || (unsigned char)(*at - '0') <= 9)
            return read_number(r, at);
        return refuse(r, at, "expected a value");
    }
}

/* ---- Containers ------------------------------------------------------------------------------ */

/* Length and two bytes of a name: equal for equal names, and rarely for others. */
static uint32_t mark_of(const lc_json *member)
{
    uint32_t bytes = member->name_bytes;

    if (bytes == 0)
        return 0;
    return bytes << 16 | (uint32_t)(unsigned char)member->name[0] << 8 |
           (unsigned char)member->name[bytes - 1];
}

static const lc_json *find_twin_among_few(const lc_json *object)
{
    const lc_json *members[PAIRWISE_MAX];
    uint32_t marks[PAIRWISE_MAX];
    size_t count = 0;

    for (const lc_json *at = lc_json_first(object); at != NULL; at = lc_json_next(at), count++) {
        members[count] = at;
        marks[count] = mark_of(at);
        for (size_t i = 0; i < count; i++) {
            if (marks[i] == marks[count] && lc_json_is_same_name(members[i], at))
                return at;
        }
    }
    return NULL;
}

static bool find_twin_among_many(reader *r, const lc_json *object, const lc_json **out)
{
    lc_arena_mark mark = lc_arena_get_mark(r->arena);
    size_t count = lc_json_count(object);
    lc_json_entry *entries = lc_json_sort_members(r->arena, object);

    *out = NULL;
    if (entries == NULL)
        return false;
    for (size_t i = 1; i < count && *out == NULL; i++) {
        if (lc_json_is_same_name(entries[i - 1].member, entries[i].member))
            *out = entries[i].member; /* The later one: the sort is stable. */
    }
    lc_arena_rewind(r->arena, mark);
    return true;
}

static const char *check_names(reader *r, const char *at, const lc_json *object)
{
    const lc_json *twin = NULL;

    if (lc_json_count(object) <= PAIRWISE_MAX)
        twin = find_twin_among_few(object);
    else if (!find_twin_among_many(r, object, &twin))
        return fail_memory(r);
    if (twin == NULL)
        return at;
    /* A name that had escapes is not in the text; then the end of the object is reported. */
    if ((uintptr_t)twin->name >= (uintptr_t)r->begin && (uintptr_t)twin->name < (uintptr_t)r->end)
        at = twin->name;
    return fail_at(r, at, LOCI_EINVAL, "a name for the second time in one object");
}

static const char *close_container(reader *r, const char *at)
{
    frame *top = &r->frames[--r->depth];
    lc_json *container = top->container;

    container->as.container.count = top->count;
    container->as.container.span = (uint32_t)(r->next - container);
    if (top->last != NULL)
        top->last->is_last = 1;
    if (container->kind == LC_JSON_OBJECT && top->count > 1)
        return check_names(r, at, container);
    return at;
}

static const char *read_name(reader *r, const char *at)
{
    loci_str name;

    if (at == r->end || *at != '"')
        return refuse(r, at, "expected a name in quotes");
    at = read_string(r, at + 1, &name);
    if (at == NULL)
        return NULL;
    at = skip_space(at, r->end);
    if (at == r->end || *at != ':')
        return refuse(r, at, "expected ':' after a name");
    LC_ASSERT(r->next < r->nodes_end);
    r->next->name = name.ptr;
    r->next->name_bytes = (uint32_t)name.len;
    return at + 1;
}

/* Continues after a value, or, if `was_opened`, after an opening bracket: closes the containers
 * that end here and stops where the next value begins, or at the end of the text. */
static const char *go_on(reader *r, const char *at, bool was_opened)
{
    for (; at != NULL && r->depth > 0; was_opened = false) {
        bool is_object = r->frames[r->depth - 1].container->kind == LC_JSON_OBJECT;

        at = skip_space(at, r->end);
        if (at == r->end)
            return refuse(r, at, "");
        if (*at == (is_object ? '}' : ']')) {
            at = close_container(r, at + 1);
            continue;
        }
        if (!was_opened && *at != ',')
            return refuse(r, at,
                          is_object ? "expected ',' or '}' after a member"
                                    : "expected ',' or ']' after an element");
        if (!was_opened)
            at = skip_space(at + 1, r->end);
        if (is_object)
            return read_name(r, at);
        LC_ASSERT(r->next < r->nodes_end);
        r->next->name = NULL;
        return at;
    }
    if (at == NULL)
        return NULL;
    at = skip_space(at, r->end);
    return at == r->end ? at : refuse(r, at, "expected the end of the text");
}

static loci_status read_document(reader *r)
{
    const char *at = r->begin;

    r->next->name = NULL;
    r->next->name_bytes = 0;
    do {
        unsigned depth = r->depth;

        at = read_value(r, skip_space(at, r->end));
        if (at != NULL)
            at = go_on(r, at, r->depth > depth);
    } while (at != NULL && r->depth > 0);
    return r->status;
}

loci_status lc_json_parse(lc_arena *arena, loci_str text, unsigned flags, const lc_json **out,
                          loci_error *err)
{
    reader r;
    lc_json *nodes;
    size_t count;

    if (text.len == 0)
        text.ptr = ""; /* Not NULL, to which C does not let us add even nothing. */
    if (text.len > LC_JSON_BYTES_MAX)
        return lc_fail(err, LOCI_ELIMIT, "JSON text is longer than %u bytes", LC_JSON_BYTES_MAX);
    count = bound_values(text);
    nodes = lc_arena_alloc(arena, count * sizeof *nodes);
    if (nodes == NULL)
        return lc_fail_memory(err);

    r.arena = arena;
    r.begin = text.ptr;
    r.end = r.begin + text.len;
    r.flags = flags;
    r.depth = 0;
    r.next = nodes;
    r.nodes_end = nodes + count;
    r.err = err;
    r.status = LOCI_OK; /* The frames are not cleared: those above `depth` are never read. */
    if (read_document(&r) == LOCI_OK)
        *out = nodes;
    return r.status;
}

const char *lc_json_reason_in_line(const char *message)
{
    static const char first[] = "line 1, ";

    return strncmp(message, first, sizeof first - 1) == 0 ? message + sizeof first - 1 : message;
}
