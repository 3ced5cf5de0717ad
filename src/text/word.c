/* word.c - The text is brought to NFKC, keeping case, because case shows where the parts of
 * getUserName begin; each word is folded when it is written.
 *
 * Reading finds compounds: parts (runs of letters, digits and marks) with one link between each two
 * that joins them (an apostrophe, hyphen, full stop ...). The words that a compound gives depend on
 * its links alone; emit_compound() has the cases. Links that join only digits (comma, colon, slash)
 * end a compound elsewhere. A compound has at most PARTS_MAX parts, the rest is the next.
 */
#include "text/word.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/normalise.h"

#define PARTS_MAX 16

/* Bits of the links seen in a compound. */
enum {
    LINK_APOSTROPHE = 1,
    LINK_HYPHEN = 2,
    LINK_STOP = 4,
    LINK_COMMA = 8,
    LINK_COLON = 16,
    LINK_SLASH = 32,
    LINK_OTHER = 64, /* Underscore, at sign, ampersand. */
};
#define LINKS_OF_NUMBERS (LINK_HYPHEN | LINK_STOP | LINK_COMMA | LINK_COLON | LINK_SLASH)

typedef struct part {
    size_t begin, end;
    size_t characters; /* Without marks. */
    unsigned link;     /* To the part before; 0 for the first. */
    bool is_letters;   /* Has no digit. */
    bool is_digit_first, is_digit_last;
} part;

typedef struct splitter {
    loci_str text; /* In NFKC. */
    size_t at;
    lc_arena *arena;
    lc_words *out;
    lc_buf word; /* The one being folded. */
    part parts[PARTS_MAX];
    size_t part_count;
    unsigned links;
} splitter;

bool lc_words_add(lc_words *words, lc_arena *arena, loci_str item)
{
    if (words->count == words->capacity) {
        size_t capacity = words->capacity == 0 ? 32 : words->capacity * 2;
        loci_str *items = lc_arena_zalloc_array(arena, capacity, sizeof *items);

        if (items == NULL)
            return false;
        if (words->count > 0)
            memcpy(items, words->items, words->count * sizeof *items);
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->count++] = item;
    return true;
}

/* ---- Writing words --------------------------------------------------------------------------- */

/* Folds the content of `word` and adds it. */
static loci_status emit_buffer(splitter *s, loci_error *err)
{
    lc_buf folded;
    loci_str item;
    loci_status status = lc_buf_status(&s->word, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_init(&folded, s->word.heap, s->word.category, SIZE_MAX);
    status = lc_text_fold(lc_buf_str(&s->word), &folded, err);
    lc_buf_reset(&s->word);
    if (status == LOCI_OK && folded.len > 0) {
        item = (loci_str){folded.ptr, lc_utf8_cut(lc_buf_str(&folded), LC_WORD_BYTES_MAX)};
        item = lc_arena_copy(s->arena, item);
        if (item.ptr == NULL || !lc_words_add(s->out, s->arena, item))
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&folded);
    return status;
}

static loci_status emit_range(splitter *s, size_t begin, size_t end, loci_error *err)
{
    loci_str range = {s->text.ptr + begin, end - begin};
    char *copy;

    /* Only the first LC_WORD_BYTES_MAX bytes are kept, so no more need folding. */
    range.len = lc_utf8_cut(range, LC_WORD_BYTES_MAX);
    if (!lc_text_is_ascii(range)) {
        lc_buf_append(&s->word, range);
        return emit_buffer(s, err);
    }
    copy = lc_arena_alloc(s->arena, range.len);
    if (copy == NULL || !lc_words_add(s->out, s->arena, (loci_str){copy, range.len}))
        return lc_fail_memory(err);
    for (size_t i = 0; i < range.len; i++)
        copy[i] = lc_ascii_lower(range.ptr[i]);
    return LOCI_OK;
}

/* ---- One part -------------------------------------------------------------------------------- */

/* Where the next piece of a camelCase part begins, after `from`; `end` when there is none. Before
 * an upper case letter after a lower one or a digit, and before the last of several upper case
 * letters when a lower one follows (HTTPServer). */
static size_t next_joint(loci_str text, size_t from, size_t end)
{
    lc_character c = lc_character_read(text, from);
    lc_character_kind before = c.kind;

    for (size_t at = from + c.bytes; at < end; at += c.bytes) {
        c = lc_character_read(text, at);
        if (c.kind == LC_CHARACTER_MARK || c.kind == LC_CHARACTER_IGNORED)
            continue;
        if (c.kind == LC_CHARACTER_UPPER) {
            lc_character next = lc_character_read((loci_str){text.ptr, end}, at + c.bytes);

            if (before == LC_CHARACTER_LOWER || before == LC_CHARACTER_DIGIT)
                return at;
            if (before == LC_CHARACTER_UPPER && next.kind == LC_CHARACTER_LOWER)
                return at;
        }
        before = c.kind;
    }
    return end;
}

/* A part whole, and its pieces when it is an identifier: lower case first, or three pieces. */
static loci_status emit_part(splitter *s, const part *p, loci_error *err)
{
    bool is_lower = lc_character_read(s->text, p->begin).kind == LC_CHARACTER_LOWER;
    size_t joint = next_joint(s->text, p->begin, p->end);
    loci_status status = emit_range(s, p->begin, p->end, err);

    if (joint == p->end || (!is_lower && next_joint(s->text, joint, p->end) == p->end))
        return status;
    for (size_t begin = p->begin; begin < p->end && status == LOCI_OK;) {
        size_t end = next_joint(s->text, begin, p->end);

        if (end - begin > 1) /* Single letters (the i of iPhone) find nothing. */
            status = emit_range(s, begin, end, err);
        begin = end;
    }
    return status;
}

static loci_status emit_parts(splitter *s, size_t characters_min, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < s->part_count && status == LOCI_OK; i++) {
        if (s->parts[i].characters >= characters_min)
            status = emit_part(s, &s->parts[i], err);
    }
    return status;
}

/* ---- Compounds ------------------------------------------------------------------------------- */

/* From the first part to the last, links and all. */
static loci_status emit_whole(splitter *s, loci_error *err)
{
    size_t begin = s->parts[0].begin, end = s->parts[s->part_count - 1].end;

    if (end - begin > LC_WORD_BYTES_MAX)
        return LOCI_OK;
    return emit_range(s, begin, end, err);
}

/* The parts with nothing between. */
static loci_status emit_joined(splitter *s, loci_error *err)
{
    size_t bytes = 0;

    for (size_t i = 0; i < s->part_count; i++)
        bytes += s->parts[i].end - s->parts[i].begin;
    if (bytes > LC_WORD_BYTES_MAX)
        return LOCI_OK;
    for (size_t i = 0; i < s->part_count; i++)
        lc_buf_append(&s->word, (loci_str){s->text.ptr + s->parts[i].begin,
                                           s->parts[i].end - s->parts[i].begin});
    return emit_buffer(s, err);
}

static bool part_is(const splitter *s, const part *p, const char *text)
{
    size_t length = strlen(text);

    if (p->end - p->begin != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (lc_ascii_lower(s->text.ptr[p->begin + i]) != text[i])
            return false;
    }
    return true;
}

/* Drops English endings that any word can have: John's, they're. Words with n't stay whole. */
static void drop_clitic(splitter *s)
{
    static const char *const endings[] = {"s", "re", "ve", "ll", "d", "m"};
    const part *last = &s->parts[s->part_count - 1];

    if (last->link != LINK_APOSTROPHE)
        return;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (part_is(s, last, endings[i])) {
            s->part_count--;
            break;
        }
    }
    s->links = 0;
    for (size_t i = 0; i < s->part_count; i++)
        s->links |= s->parts[i].link;
}

/* Every part begins with a digit; the first may be a letter or two and a number, as in v1.2. */
static bool is_number(const splitter *s)
{
    const part *first = &s->parts[0];

    if ((s->links & ~(unsigned)LINKS_OF_NUMBERS) != 0)
        return false;
    if (!first->is_digit_first && (first->is_letters || !first->is_digit_last))
        return false;
    for (size_t i = 1; i < s->part_count; i++) {
        if (!s->parts[i].is_digit_first)
            return false;
    }
    return true;
}

/* 1,000,000 and not 1,5: groups of three behind one of at most three. */
static bool is_grouped(const splitter *s)
{
    if (s->links != LINK_COMMA || s->parts[0].characters > 3)
        return false;
    for (size_t i = 1; i < s->part_count; i++) {
        if (s->parts[i].end - s->parts[i].begin != 3)
            return false;
    }
    return true;
}

static loci_status emit_number(splitter *s, loci_error *err)
{
    loci_status status = is_grouped(s) ? emit_joined(s, err) : emit_whole(s, err);

    if (status == LOCI_OK && (s->links & (LINK_HYPHEN | LINK_SLASH)) != 0)
        status = emit_parts(s, 1, err); /* A date is also found by its year. */
    return status;
}

static loci_status emit_apostrophes(splitter *s, loci_error *err)
{
    const part *last = &s->parts[s->part_count - 1];
    loci_status status;

    if (s->part_count == 2 && part_is(s, last, "t")) { /* don't, whichever apostrophe it has */
        lc_buf_append(&s->word, (loci_str){s->text.ptr + s->parts[0].begin,
                                           s->parts[0].end - s->parts[0].begin});
        lc_buf_append(&s->word, LC_STR("'t"));
        return emit_buffer(s, err);
    }
    status = emit_joined(s, err);
    return status == LOCI_OK ? emit_parts(s, 2, err) : status;
}

/* A pair of which one is short is written without the hyphen as well: e-mail, wi-fi, gpt-4. */
static loci_status emit_hyphens(splitter *s, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (s->part_count == 2 && (s->parts[0].characters <= 2 || s->parts[1].characters <= 2))
        status = emit_joined(s, err);
    return status == LOCI_OK ? emit_parts(s, 1, err) : status;
}

static bool is_acronym(const splitter *s)
{
    if (s->links != LINK_STOP)
        return false;
    for (size_t i = 0; i < s->part_count; i++) {
        if (s->parts[i].characters != 1)
            return false;
    }
    return true;
}

static loci_status emit_compound(splitter *s, loci_error *err)
{
    loci_status status;

    drop_clitic(s);
    if (s->links == 0)
        return emit_parts(s, 1, err);
    if (is_number(s))
        return emit_number(s, err);
    if (s->links == LINK_APOSTROPHE)
        return emit_apostrophes(s, err);
    if (s->links == LINK_HYPHEN)
        return emit_hyphens(s, err);
    if (is_acronym(s))
        return emit_joined(s, err);
    status = emit_whole(s, err);
    return status == LOCI_OK ? emit_parts(s, 1, err) : status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_part_start(lc_character_kind kind)
{
    return (lc_character_is_letter(kind) && kind != LC_CHARACTER_DENSE) ||
           kind == LC_CHARACTER_DIGIT;
}

static void read_part(splitter *s, part *p)
{
    lc_character c = lc_character_read(s->text, s->at);

    p->begin = s->at;
    p->is_letters = true;
    p->is_digit_first = c.kind == LC_CHARACTER_DIGIT;
    for (; c.bytes > 0; c = lc_character_read(s->text, s->at)) {
        if (is_part_start(c.kind)) {
            p->characters++;
            p->is_letters &= c.kind != LC_CHARACTER_DIGIT;
            p->is_digit_last = c.kind == LC_CHARACTER_DIGIT;
        } else if (c.kind != LC_CHARACTER_MARK && c.kind != LC_CHARACTER_IGNORED) {
            break;
        }
        s->at += c.bytes;
    }
    p->end = s->at;
}

static unsigned link_of(uint32_t code_point)
{
    switch (code_point) {
    case '\'':
    case 0x2019:
        return LINK_APOSTROPHE;
    case '-':
    case 0x2010:
        return LINK_HYPHEN;
    case '.':
        return LINK_STOP;
    case ',':
        return LINK_COMMA;
    case ':':
        return LINK_COLON;
    case '/':
        return LINK_SLASH;
    case '_':
    case '@':
    case '&':
        return LINK_OTHER;
    default:
        return 0;
    }
}

/* The link at the end of part `p`, or 0; `out_next` gets where the part behind it begins. */
static unsigned read_link(const splitter *s, const part *p, size_t *out_next)
{
    lc_character c = lc_character_read(s->text, s->at);
    unsigned link = link_of(c.code_point);
    lc_character next = lc_character_read(s->text, s->at + c.bytes);
    bool is_digits = p->is_digit_last && next.kind == LC_CHARACTER_DIGIT;

    if (link == 0 || !is_part_start(next.kind))
        return 0;
    if ((link & (LINK_COMMA | LINK_COLON | LINK_SLASH)) != 0 && !is_digits)
        return 0;
    if (link == LINK_APOSTROPHE && (p->is_digit_last || next.kind == LC_CHARACTER_DIGIT))
        return 0;
    *out_next = s->at + c.bytes;
    return link;
}

/* The bytes of ++ or # behind a language's short name: C++, C#, F#. Else 0. */
static size_t read_suffix(const splitter *s, const part *p)
{
    loci_str rest = {s->text.ptr + s->at, s->text.len - s->at};
    size_t bytes = 0;

    if (!p->is_letters || p->characters > 2)
        return 0;
    if (lc_str_starts(rest, LC_STR("++")))
        bytes = 2;
    else if (lc_str_starts(rest, LC_STR("#")))
        bytes = 1;
    return is_part_start(lc_character_read(s->text, s->at + bytes).kind) ? 0 : bytes;
}

static loci_status read_compound(splitter *s, loci_error *err)
{
    unsigned link = 0;
    size_t suffix;

    s->part_count = 0;
    s->links = 0;
    do {
        part *p = &s->parts[s->part_count++];

        *p = (part){.link = link};
        s->links |= link;
        read_part(s, p);
        link = s->part_count < PARTS_MAX ? read_link(s, p, &s->at) : 0;
    } while (link != 0);

    suffix = s->part_count == 1 ? read_suffix(s, &s->parts[0]) : 0;
    if (suffix > 0) {
        s->at += suffix;
        return emit_range(s, s->parts[0].begin, s->at, err);
    }
    return emit_compound(s, err);
}

/* Pairs of adjacent characters; a single character is a word. */
static loci_status read_dense(splitter *s, loci_error *err)
{
    size_t before = s->at, begin = s->at, units = 0;
    loci_status status = LOCI_OK;
    lc_character c = lc_character_read(s->text, s->at);

    while (c.kind == LC_CHARACTER_DENSE && status == LOCI_OK) {
        begin = s->at;
        do {
            s->at += c.bytes;
            c = lc_character_read(s->text, s->at);
        } while (c.kind == LC_CHARACTER_MARK || c.kind == LC_CHARACTER_IGNORED);
        if (units++ > 0)
            status = emit_range(s, before, s->at, err);
        before = begin;
    }
    if (units == 1 && status == LOCI_OK)
        status = emit_range(s, begin, s->at, err);
    return status;
}

loci_status lc_words_split(lc_arena *arena, loci_str text, lc_words *out, loci_error *err)
{
    lc_words words = {0};
    splitter s = {.arena = arena, .out = &words};
    lc_buf composed;
    loci_status status = LOCI_OK;

    lc_buf_init(&composed, arena->heap, arena->category, SIZE_MAX);
    lc_buf_init(&s.word, arena->heap, arena->category, SIZE_MAX);
    s.text = text;
    if (!lc_text_is_ascii(text)) {
        status = lc_text_nfkc(text, &composed, err);
        s.text = lc_buf_str(&composed);
    }
    while (s.at < s.text.len && status == LOCI_OK) {
        lc_character c = lc_character_read(s.text, s.at);

        if (c.kind == LC_CHARACTER_DENSE)
            status = read_dense(&s, err);
        else if (is_part_start(c.kind))
            status = read_compound(&s, err);
        else
            s.at += c.bytes;
    }
    if (status == LOCI_OK)
        *out = words;
    lc_buf_clear(&s.word);
    lc_buf_clear(&composed);
    return status;
}
