/* mark.c - the words of marks are data; a mark is known by the word it begins with, or ends with
 * before its colon ("STAFF ONLY: ..."). */
#include "talk/mark.h"

typedef struct mark_word {
    const char *word; /* Lower case; the mark's word may go on ("invalid" fits INVALIDATED). */
    lc_mark_kind kind;
} mark_word;

static const mark_word words[] = {
    {"invalid", LC_MARK_WITHDRAWN},
    {"retracted", LC_MARK_WITHDRAWN},
    {"superseded", LC_MARK_WITHDRAWN},
    {"cancelled", LC_MARK_WITHDRAWN},
    {"canceled", LC_MARK_WITHDRAWN},
    {"outdated", LC_MARK_WITHDRAWN},
    {"deprecated", LC_MARK_WITHDRAWN},
    {"obsolete", LC_MARK_WITHDRAWN},
    {"withdrawn", LC_MARK_WITHDRAWN},
    {"void", LC_MARK_WITHDRAWN},
    {"expired", LC_MARK_WITHDRAWN},
    {"revoked", LC_MARK_WITHDRAWN},
    {"restricted", LC_MARK_RESTRICTED},
    {"confidential", LC_MARK_RESTRICTED},
    {"private", LC_MARK_RESTRICTED},
    {"secret", LC_MARK_RESTRICTED},
    {"internal", LC_MARK_RESTRICTED},
    {"classified", LC_MARK_RESTRICTED},
    {"sensitive", LC_MARK_RESTRICTED},
    {"tenant:", LC_MARK_ORGANIZATION},
    {"organization:", LC_MARK_ORGANIZATION},
    {"organisation:", LC_MARK_ORGANIZATION},
    {"org:", LC_MARK_ORGANIZATION},
    {"company:", LC_MARK_ORGANIZATION},
    {"sandbox", LC_MARK_SUPPOSED},
    {"draft", LC_MARK_SUPPOSED},
    {"hypothetical", LC_MARK_SUPPOSED},
    {"brainstorm", LC_MARK_SUPPOSED},
    {"simulation", LC_MARK_SUPPOSED},
    {"simulated", LC_MARK_SUPPOSED},
    {"what-if", LC_MARK_SUPPOSED},
    {"mock", LC_MARK_SUPPOSED},
    {"role-play", LC_MARK_SUPPOSED},
    {"roleplay", LC_MARK_SUPPOSED},
    {"rehearsal", LC_MARK_SUPPOSED},
    {"test", LC_MARK_SUPPOSED},
    {"scope:", LC_MARK_SCOPE},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool starts(loci_str mark, const char *word)
{
    size_t len = strlen(word), same = 0;

    while (same < len && same < mark.len && lower(mark.ptr[same]) == word[same])
        same++;
    return same == len;
}

/* "[Test Lead]" is somebody: what is supposed stands alone or before a colon. */
static bool is_alone(loci_str mark)
{
    loci_str rest, first = lc_str_split(mark, ':', &rest);

    return memchr(first.ptr, ' ', first.len) == NULL;
}

/* "... restricted to VP+": who it is for stands behind the last "to" or "for". */
static loci_str audience_of(loci_str mark)
{
    static const loci_str leads[] = {LC_STR(" to "), LC_STR(" for ")};

    for (size_t i = mark.len; i-- > 3;) {
        loci_str rest = {mark.ptr + i, mark.len - i};

        for (size_t l = 0; l < sizeof leads / sizeof *leads; l++)
            if (lc_str_starts(rest, leads[l]))
                return (loci_str){rest.ptr + leads[l].len, rest.len - leads[l].len};
    }
    return mark;
}

/* "STAFF ONLY", "STAFF ONLY: why". */
static bool reads_only(loci_str mark, loci_str *out_audience)
{
    static const char only[] = " only";
    loci_str rest, first = lc_str_trim(lc_str_split(mark, ':', &rest));

    if (first.len < sizeof only ||
        !starts((loci_str){first.ptr + first.len - (sizeof only - 1), sizeof only - 1}, only))
        return false;
    *out_audience = (loci_str){first.ptr, first.len - (sizeof only - 1)};
    return true;
}

lc_mark lc_mark_of(loci_str text)
{
    loci_str mark, rest, audience;

    if (!lc_mark_read(text, &mark, &rest))
        return (lc_mark){0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        loci_str behind = LC_STR_NONE;

        if (!starts(mark, words[i].word))
            continue;
        if (words[i].kind == LC_MARK_SUPPOSED && !is_alone(mark))
            continue;
        if (words[i].kind == LC_MARK_RESTRICTED)
            return (lc_mark){LC_MARK_RESTRICTED, audience_of(mark)};
        if (memchr(mark.ptr, ':', mark.len) != NULL)
            (void)lc_str_split(mark, ':', &behind);
        return (lc_mark){words[i].kind,
                         words[i].kind == LC_MARK_SUPPOSED ? mark : lc_str_trim(behind)};
    }
    if (reads_only(mark, &audience))
        return (lc_mark){LC_MARK_RESTRICTED, audience};
    return (lc_mark){0};
}

static bool is_letter(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

bool lc_mark_is_name(loci_str a, loci_str b)
{
    size_t i = 0, j = 0;

    for (;;) {
        while (i < a.len && !is_letter(a.ptr[i]))
            i++;
        while (j < b.len && !is_letter(b.ptr[j]))
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        if (lower(a.ptr[i++]) != lower(b.ptr[j++]))
            return false;
    }
}
