/* sentence.c - One walk over the text. At each line end and each terminator it is decided whether
 * the sentence ends there; what a full stop after a word means is full_stop.c's.
 *
 * Looking ahead and back is bounded (INLINE_CODE_BYTES_MAX, LINE_BYTES_SHORT) or over spaces, which
 * are passed over once more at most: so the whole is linear.
 */
#include "text/sentence.h"

#include <string.h>

#include "base/str.h"
#include "text/character.h"
#include "text/full_stop.h"

/* Texts are wrapped at 60 columns and more; a line that ends before this was ended on purpose. */
#define LINE_BYTES_SHORT 45
#define INLINE_CODE_BYTES_MAX 300
#define OPENERS_MAX 4
#define CLOSERS_MAX 8

typedef struct walk {
    loci_str text;
    size_t begin;       /* Of the sentence. */
    size_t at;          /* What comes next. */
    size_t end;         /* Behind the last character that was no space. */
    size_t token_begin; /* Behind the last space. */
    size_t resumed_at;  /* Behind the last terminator that ended nothing; 0 = there was none. */
    bool is_lower_style;
} walk;

static bool is_one_of(uint32_t code_point, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == code_point)
            return true;
    }
    return false;
}

#define IS_ONE_OF(code_point, list) is_one_of(code_point, list, sizeof list / sizeof list[0])

/* Ends a sentence when a space follows. */
static bool is_soft_end(uint32_t c)
{
    return c == '.' || c == '!' || c == '?' || c == 0x2026 || c == 0x203D || c == 0x203C ||
           (c >= 0x2047 && c <= 0x2049);
}

/* Ends a sentence, space or not: ideographic, full-width, Arabic, Devanagari and others. */
static bool is_hard_end(uint32_t c)
{
    static const uint32_t list[] = {0x3002, 0xFF01, 0xFF1F, 0xFF61, 0xFF0E, 0x061F, 0x06D4,
                                    0x0964, 0x0965, 0x1362, 0x0589, 0x17D4, 0x104B};

    return IS_ONE_OF(c, list);
}

static bool is_closer(uint32_t c)
{
    static const uint32_t list[] = {'"',    '\'',   ')',    ']',    '}',    '*',    '_',
                                    '~',    0x2019, 0x201D, 0x00BB, 0x203A, 0x300D, 0x300F,
                                    0x3011, 0x300B, 0x3009, 0xFF09, 0xFF3D, 0xFF63};

    return IS_ONE_OF(c, list);
}

static bool is_opener(uint32_t c)
{
    static const uint32_t list[] = {'"',    '\'',   '(',    '[',    '{',    '*',    '_',
                                    '~',    '`',    0x2018, 0x201C, 0x00AB, 0x2039, 0x300C,
                                    0x300E, 0x3010, 0xFF08, 0x00BF, 0x00A1};

    return IS_ONE_OF(c, list);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static size_t skip_blanks(loci_str text, size_t at)
{
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    return at;
}

static char byte_at(loci_str text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

static size_t count_run(loci_str text, size_t at, char byte)
{
    size_t count = 0;

    while (at + count < text.len && text.ptr[at + count] == byte)
        count++;
    return count;
}

static size_t line_end(loci_str text, size_t at)
{
    const char *found = at < text.len ? memchr(text.ptr + at, '\n', text.len - at) : NULL;

    return found != NULL ? (size_t)(found - text.ptr) : text.len;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Three or more backticks or tildes at the start of a line, whose first byte is at `at`. */
static size_t fence_length(loci_str text, size_t at)
{
    char byte = byte_at(text, at);
    size_t count = byte == '`' || byte == '~' ? count_run(text, at, byte) : 0;

    return count >= 3 ? count : 0;
}

/* The end of the fenced block that begins at `at`: its closing line, or the end of the text. */
static size_t skip_fence(loci_str text, size_t at)
{
    char byte = text.ptr[at];
    size_t length = fence_length(text, at);
    size_t line = line_end(text, at);

    while (line < text.len) {
        size_t mark = skip_blanks(text, line + 1);
        size_t count = count_run(text, mark, byte);

        line = line_end(text, mark);
        if (count >= length && skip_blanks(text, mark + count) == line)
            return mark + count;
    }
    for (line = text.len; is_blank(text.ptr[line - 1]) || text.ptr[line - 1] == '\n';)
        line--;
    return line;
}

/* "- ", "* ", "1. ", "2) ", "a) ", "# ", "> ", "| ": `at` is the first byte of a line that is no
 * blank. */
static bool is_marked(loci_str text, size_t at)
{
    size_t digits = 0;
    char byte = byte_at(text, at);

    if (byte == '#')
        return is_blank(byte_at(text, at + count_run(text, at, '#')));
    if (byte == '>' || byte == '|')
        return true;
    if (byte == '-' || byte == '*' || byte == '+')
        return is_blank(byte_at(text, at + 1));
    if (lc_character_read(text, at).code_point == 0x2022)
        return true;
    while (digits < 3 && byte_at(text, at + digits) >= '0' && byte_at(text, at + digits) <= '9')
        digits++;
    if (digits == 0 && byte_at(text, at + 1) == ')')
        return is_blank(byte_at(text, at + 2));
    byte = byte_at(text, at + digits);
    return digits > 0 && (byte == '.' || byte == ')') && is_blank(byte_at(text, at + digits + 1));
}

/* The first byte of the line that `at` is in, or where looking back ended. */
static size_t line_begin(loci_str text, size_t at)
{
    size_t begin = at;

    while (begin > 0 && at - begin < LINE_BYTES_SHORT && text.ptr[begin - 1] != '\n')
        begin--;
    return begin;
}

static bool is_line_start(loci_str text, size_t at)
{
    while (at > 0 && is_blank(text.ptr[at - 1]))
        at--;
    return at == 0 || text.ptr[at - 1] == '\n';
}

/* Whether the sentence ends at the line end at `w->at`. */
static bool ends_at_line(const walk *w)
{
    size_t next = skip_blanks(w->text, w->at + 1);
    size_t begin = line_begin(w->text, w->at);
    size_t first = skip_blanks(w->text, begin);
    char last = w->end > w->begin ? w->text.ptr[w->end - 1] : '\0';

    if (byte_at(w->text, next) == '\n' || next == w->text.len)
        return true;
    if (is_marked(w->text, next) || fence_length(w->text, next) > 0)
        return true;
    if (is_line_start(w->text, first) &&
        (w->text.ptr[first] == '|' || (w->text.ptr[first] == '#' && is_marked(w->text, first))))
        return true;
    if (w->at - begin >= LINE_BYTES_SHORT || last == ',')
        return false;
    return lc_character_read(w->text, next).kind != LC_CHARACTER_LOWER;
}

/* ---- Terminators ----------------------------------------------------------------------------- */

/* Behind inline code that begins at `at` with some backticks and ends with as many; behind the
 * backticks alone when it does not. */
static size_t skip_code(loci_str text, size_t at)
{
    size_t count = count_run(text, at, '`');
    size_t end = at + count;
    size_t limit = text.len - end > INLINE_CODE_BYTES_MAX ? end + INLINE_CODE_BYTES_MAX : text.len;

    for (size_t i = end; i < limit;) {
        size_t run = count_run((loci_str){text.ptr, limit}, i, '`');

        if (run == count)
            return i + run;
        if (text.ptr[i] == '\n' && byte_at(text, skip_blanks(text, i + 1)) == '\n')
            break; /* Code goes over no empty line. */
        i += run > 0 ? run : 1;
    }
    return end;
}

/* What follows the spaces at `at`, as full_stop.h wants it. */
static void look_ahead(loci_str text, size_t at, lc_full_stop *out)
{
    lc_character c = lc_character_read(text, at);
    size_t end;

    for (; c.kind == LC_CHARACTER_SPACE; c = lc_character_read(text, at))
        at += c.bytes;
    for (int i = 0; i < OPENERS_MAX && is_opener(c.code_point); i++) {
        at += c.bytes;
        c = lc_character_read(text, at);
    }
    out->next_kind = c.kind;
    for (end = at; end - at < 32 && lc_character_is_letter(c.kind);) {
        end += c.bytes;
        c = lc_character_read(text, end);
    }
    out->next = (loci_str){text.ptr + at, end - at};
    out->is_next_initial = out->next.len == 1 && c.code_point == '.';
}

static bool ends_at_soft(const walk *w, loci_str token, bool is_single_stop, size_t behind)
{
    lc_full_stop stop = {.before = token,
                         .is_first = w->token_begin == w->begin,
                         .is_after_stop = w->token_begin == w->resumed_at + 1,
                         .is_lower_style = w->is_lower_style};

    if (behind == w->text.len)
        return true;
    if (lc_character_read(w->text, behind).kind != LC_CHARACTER_SPACE)
        return false;
    look_ahead(w->text, behind, &stop);
    if (is_single_stop)
        return lc_full_stop_ends(&stop);
    return stop.next_kind != LC_CHARACTER_LOWER;
}

/* A quotation that goes on: 「はい。」と言った. A full-width stop in a number goes on too. */
static bool ends_at_hard(const walk *w, uint32_t last, bool is_closed, size_t behind)
{
    lc_character next = lc_character_read(w->text, behind);

    if (is_closed && next.code_point == 0x3068)
        return false;
    return last != 0xFF0E || next.kind != LC_CHARACTER_DIGIT;
}

/* Goes behind the terminators at `w->at` and what closes them; true when the sentence ends there.
 */
static bool read_terminators(walk *w)
{
    size_t from = w->at, count = 0;
    loci_str token = {w->text.ptr + w->token_begin, from - w->token_begin};
    uint32_t last = 0;
    bool is_hard = false, is_closed = false;
    bool is_stop = byte_at(w->text, from) == '.';
    lc_character c = lc_character_read(w->text, w->at);

    for (; is_soft_end(c.code_point) || is_hard_end(c.code_point); count++) {
        last = c.code_point;
        is_hard |= is_hard_end(last);
        w->at += c.bytes;
        c = lc_character_read(w->text, w->at);
    }
    for (int i = 0; i < CLOSERS_MAX && is_closer(c.code_point); i++) {
        is_closed = true;
        w->at += c.bytes;
        c = lc_character_read(w->text, w->at);
    }
    w->end = w->at;
    if (is_hard ? ends_at_hard(w, last, is_closed, w->at)
                : ends_at_soft(w, token, is_stop && count == 1, w->at))
        return true;
    w->resumed_at = w->at;
    return false;
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* One character, or one thing of several; true when the sentence ends with it or before it. */
static bool step(walk *w)
{
    lc_character c = lc_character_read(w->text, w->at);

    if (c.code_point == '\n' && ends_at_line(w))
        return true;
    if (c.kind == LC_CHARACTER_SPACE) {
        w->at += c.bytes;
        w->token_begin = w->at;
        return false;
    }
    if (is_soft_end(c.code_point) || is_hard_end(c.code_point))
        return read_terminators(w);
    w->at = c.code_point == '`' ? skip_code(w->text, w->at) : w->at + c.bytes;
    w->end = w->at;
    return false;
}

static size_t skip_spaces(loci_str text, size_t at)
{
    lc_character c = lc_character_read(text, at);

    for (; c.kind == LC_CHARACTER_SPACE; c = lc_character_read(text, at))
        at += c.bytes;
    return at;
}

static bool begins_lower(loci_str text, size_t at)
{
    lc_character c = lc_character_read(text, at);

    for (int i = 0; i < OPENERS_MAX && is_opener(c.code_point); i++) {
        at += c.bytes;
        c = lc_character_read(text, at);
    }
    return c.kind == LC_CHARACTER_LOWER;
}

bool lc_sentence_next(loci_str text, size_t *at, loci_str *out)
{
    size_t begin = skip_spaces(text, *at);
    walk w = {.text = text, .begin = begin, .at = begin, .end = begin, .token_begin = begin};

    if (begin == text.len) {
        *at = begin;
        return false;
    }
    if (fence_length(text, begin) > 0 && is_line_start(text, begin)) {
        w.end = skip_fence(text, begin);
        w.at = w.end;
    } else {
        w.is_lower_style = begins_lower(text, begin);
        while (w.at < text.len && !step(&w))
            ;
    }
    *out = (loci_str){text.ptr + begin, w.end - begin};
    *at = w.at;
    return true;
}
