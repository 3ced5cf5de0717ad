/* state_match.c - the matching of the Python scorer, without regular expressions.
 *
 * What Python calls \w is a letter or number of any script, or '_'. A phrase that begins with a
 * word character or '$' must not follow one; a phrase that ends with a word character or '%' must
 * not be followed by a word character. Lowering is character by character: the few letters whose
 * lower case is longer are the same in text and phrase, so they match all the same.
 */
#include "lib/state_match.h"

#include <utf8proc.h>

#include "base/str.h"
#include "base/utf8.h"
#include "lib/state_input.h"
#include "text/character.h"

static const char ordinary[] =
    " a an the and or but if then than as at by for from in into of on to with before after during"
    " until per via using about is was are were be been will would can could should may might do"
    " does did not no yes it its this that these those you your day days week weeks month months"
    " quarter quarters year years time date deadline schedule today tomorrow yesterday budget cost"
    " costs price amount total color colour size option options detail details spec specs quantity"
    " number model product item order discount quote requirement requirements approved approve"
    " agreed agree decided decide chose choose selected select allocated allocate confirmed confirm"
    " expected expect requested request mentioned wanted final arriving returning ";

loci_str state_lower(lc_arena *arena, loci_str text)
{
    /* No character grows to more than four bytes, and each has one at least. */
    char *out = state_alloc(arena, text.len * 4 + 1);
    size_t len = 0;

    for (size_t at = 0; at < text.len;) {
        lc_character c = lc_character_read(text, at);

        if (c.code_point == LC_CHARACTER_INVALID)
            out[len++] = text.ptr[at];
        else
            len += lc_utf8_encode((uint32_t)utf8proc_tolower((utf8proc_int32_t)c.code_point),
                                  out + len);
        at += c.bytes;
    }
    return (loci_str){out, len};
}

static bool is_number(uint32_t code_point)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code_point);

    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

static bool is_alphanumeric(uint32_t code_point)
{
    utf8proc_category_t category;

    if (code_point == LC_CHARACTER_INVALID)
        return false;
    category = utf8proc_category((utf8proc_int32_t)code_point);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
           is_number(code_point);
}

static bool is_word(uint32_t code_point)
{
    return code_point == '_' || is_alphanumeric(code_point);
}

/* The character that ends at byte `end`, or that begins there; invalid when there is none. */
static uint32_t character_before(loci_str text, size_t end)
{
    size_t at = end;

    if (end == 0)
        return LC_CHARACTER_INVALID;
    do
        at--;
    while (at > 0 && ((unsigned char)text.ptr[at] & 0xC0) == 0x80);
    return lc_character_read(text, at).code_point;
}

static uint32_t character_at(loci_str text, size_t at)
{
    return at < text.len ? lc_character_read(text, at).code_point : LC_CHARACTER_INVALID;
}

static bool is_part_found(loci_str text, loci_str part)
{
    uint32_t first = character_at(part, 0);
    uint32_t last = character_before(part, part.len);
    bool bounds_left = is_word(first) || first == '$';
    bool bounds_right = is_word(last) || last == '%';

    for (size_t at = 0; at + part.len <= text.len; at++) {
        const char *hit = memmem(text.ptr + at, text.len - at, part.ptr, part.len);
        uint32_t before, after;

        if (hit == NULL)
            return false;
        at = (size_t)(hit - text.ptr);
        before = character_before(text, at);
        after = character_at(text, at + part.len);
        if (!(bounds_left && (is_word(before) || before == '$')) &&
            !(bounds_right && is_word(after)))
            return true;
    }
    return false;
}

bool state_is_found(loci_str text, loci_str phrase)
{
    loci_str rest = phrase;

    while (rest.ptr != NULL) {
        loci_str part = lc_str_trim(lc_str_split(rest, '|', &rest));

        if (part.len > 0 && is_part_found(text, part))
            return true;
    }
    return false;
}

static bool is_ordinary(loci_str phrase)
{
    const char *at = ordinary;

    if (memchr(phrase.ptr, ' ', phrase.len) != NULL)
        return false;
    while ((at = memmem(at, strlen(at), phrase.ptr, phrase.len)) != NULL) {
        if (at[-1] == ' ' && at[phrase.len] == ' ')
            return true;
        at++;
    }
    return false;
}

bool state_is_meaningful(loci_str phrase)
{
    loci_str bare = lc_str_trim(phrase);
    size_t characters = 0;
    bool has_alphanumeric = false, has_digit = false;

    for (size_t at = 0; at < bare.len; characters++) {
        lc_character c = lc_character_read(bare, at);

        has_alphanumeric |= is_alphanumeric(c.code_point);
        has_digit |= c.code_point != LC_CHARACTER_INVALID && is_number(c.code_point);
        at += c.bytes;
    }
    return has_alphanumeric && !is_ordinary(bare) && (characters >= 3 || has_digit);
}
