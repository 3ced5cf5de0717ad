/* character.c - categories come from utf8proc; ASCII, most of all text, from a table. */
#include "text/character.h"

#include <utf8proc.h>

#include "base/utf8.h"

/* ASCII: o other, s space, l lower, u upper, d digit. */
static const char ascii_kinds[129] = "ooooooooosssssoooooooooooooooooo"
                                     "sooooooooooooooodddddddddd"
                                     "oooooo"
                                     "ouuuuuuuuuuuuuuuuuuuuuuuuuuooooo"
                                     "ollllllllllllllllllllllllllooooo";

static lc_character_kind ascii_kind(unsigned char byte)
{
    switch (ascii_kinds[byte]) {
    case 's':
        return LC_CHARACTER_SPACE;
    case 'l':
        return LC_CHARACTER_LOWER;
    case 'u':
        return LC_CHARACTER_UPPER;
    case 'd':
        return LC_CHARACTER_DIGIT;
    default:
        return LC_CHARACTER_OTHER;
    }
}

bool lc_character_is_dense(uint32_t code_point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1100, 0x11FF},   {0x1780, 0x17FF},
        {0x2E80, 0x2FDF}, {0x3005, 0x3007}, {0x3021, 0x3029},   {0x3031, 0x303C},
        {0x3040, 0x312F}, {0x3130, 0x318F}, {0x31A0, 0x31BF},   {0x31F0, 0x31FF},
        {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA960, 0xA97F},   {0xAC00, 0xD7FF},
        {0xF900, 0xFAFF}, {0xFF66, 0xFFDC}, {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFF},
    };

    if (code_point < ranges[0].first)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code_point <= ranges[i].last)
            return code_point >= ranges[i].first;
    }
    return false;
}

/* Characters that search ignores: Unicode's default ignorable ones, without variation selectors,
 * which are marks. */
static bool is_ignored(uint32_t code_point)
{
    return code_point == 0x00AD || code_point == 0x200C || code_point == 0x200D ||
           code_point == 0x2060 || code_point == 0xFEFF;
}

lc_character_kind lc_character_kind_of(uint32_t code_point)
{
    if (code_point < 0x80)
        return ascii_kind((unsigned char)code_point);
    if (code_point > 0x10FFFF)
        return LC_CHARACTER_OTHER;
    switch (utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return LC_CHARACTER_UPPER;
    case UTF8PROC_CATEGORY_LL:
        return LC_CHARACTER_LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
        return lc_character_is_dense(code_point) ? LC_CHARACTER_DENSE : LC_CHARACTER_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return LC_CHARACTER_MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NO:
        return LC_CHARACTER_DIGIT;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return LC_CHARACTER_SPACE;
    default:
        if (code_point == 0x85)
            return LC_CHARACTER_SPACE; /* Next line: a control by category. */
        return is_ignored(code_point) ? LC_CHARACTER_IGNORED : LC_CHARACTER_OTHER;
    }
}

lc_character lc_character_read(loci_str text, size_t at)
{
    const unsigned char *byte = (const unsigned char *)text.ptr + at;
    lc_character c = {.bytes = 1};

    if (at >= text.len)
        return (lc_character){.code_point = LC_CHARACTER_INVALID};
    if (byte[0] < 0x80) {
        c.code_point = byte[0];
        c.kind = ascii_kind(byte[0]);
        return c;
    }
    c.bytes = (unsigned)lc_utf8_char_bytes(text.ptr + at, text.ptr + text.len);
    switch (c.bytes) {
    case 2:
        c.code_point = (byte[0] & 0x1Fu) << 6 | (byte[1] & 0x3Fu);
        break;
    case 3:
        c.code_point = (byte[0] & 0x0Fu) << 12 | (byte[1] & 0x3Fu) << 6 | (byte[2] & 0x3Fu);
        break;
    case 4:
        c.code_point = (byte[0] & 0x07u) << 18 | (byte[1] & 0x3Fu) << 12 | (byte[2] & 0x3Fu) << 6 |
                       (byte[3] & 0x3Fu);
        break;
    default:
        return (lc_character){.code_point = LC_CHARACTER_INVALID, .bytes = 1};
    }
    c.kind = lc_character_kind_of(c.code_point);
    return c;
}
