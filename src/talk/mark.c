/* mark.c - a mark is known by the word it begins with, or by "only" at its end. Texts are compared
 * by spelling, without regard to case, against the phrases of talk/lexicon.h. */
#include "talk/mark.h"

#include <string.h>

#include "talk/lexicon.h"

#define DEPUTY 2 /* How far a deputy is below. */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static bool is_word_byte(char c)
{
    return is_letter(c) || c == '-' || c == '_';
}

static loci_str from(loci_str text, size_t at)
{
    return at >= text.len ? LC_STR_NONE : (loci_str){text.ptr + at, text.len - at};
}

/* The bytes of the first of the phrases that the text begins with; 0 without one. */
static size_t phrase_bytes(loci_str text, const char *phrases)
{
    loci_str rest = loci_str_of(phrases);

    while (rest.len > 0) {
        loci_str phrase = lc_str_split(rest, '|', &rest);
        size_t same = 0;

        while (same < phrase.len && same < text.len && lower(text.ptr[same]) == phrase.ptr[same])
            same++;
        if (same == phrase.len)
            return same;
    }
    return 0;
}

/* Where the word that starts at `at` ends; `at` when there is none. */
static size_t word_end(loci_str text, size_t at)
{
    while (at < text.len && is_word_byte(text.ptr[at]))
        at++;
    return at;
}

/* ---- Titles ---------------------------------------------------------------------------------- */

/* The rank of the words from `at` on, as many as a title has, and where they end. "Vice President"
 * is one title, "Editor-in-Chief" has a chief in it. */
static int rank_at(loci_str text, size_t at, size_t *out_end, lc_ranking *ranking)
{
    size_t end = word_end(text, at), second = end < text.len ? word_end(text, end + 1) : end;
    int rank = -1;

    *out_end = second;
    if (second > end + 1 && text.ptr[end] == ' ')
        rank = ranking((loci_str){text.ptr + at, second - at});
    if (rank >= 0)
        return rank;
    *out_end = end;
    rank = ranking((loci_str){text.ptr + at, end - at});
    for (size_t i = at; i < end && rank < 0; i++)
        if (text.ptr[i] == '-')
            rank = ranking((loci_str){text.ptr + i + 1, end - i - 1});
    return rank;
}

int lc_rank_in(loci_str text, lc_ranking *ranking)
{
    int best = -1;
    bool is_below = false; /* "Deputy Head" is below the head. */

    for (size_t at = 0; at < text.len;) {
        size_t end;
        int rank;

        if (!is_word_byte(text.ptr[at])) {
            at++;
            continue;
        }
        rank = rank_at(text, at, &end, ranking);
        if (is_below && rank > 0)
            rank -= DEPUTY;
        is_below = phrase_bytes((loci_str){text.ptr + at, end - at}, lc_phrases_below) == end - at;
        best = rank > best ? rank : best;
        at = end;
    }
    return best;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Equal but for case, spaces and signs: "Acme Corp" and "ACME-Corp". */
static bool is_name(loci_str a, loci_str b)
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

/* Is the name among the words of `text`? */
static bool has_name(loci_str text, loci_str name)
{
    for (size_t at = 0; name.len > 0 && at + name.len <= text.len; at++) {
        bool begins = at == 0 || !is_letter(text.ptr[at - 1]);
        bool ends = at + name.len == text.len || !is_letter(text.ptr[at + name.len]);

        if (begins && ends && is_name((loci_str){text.ptr + at, name.len}, name))
            return true;
    }
    return false;
}

/* "nurses" is "nurse". */
static loci_str singular(loci_str word)
{
    if (word.len > 3 && lower(word.ptr[word.len - 1]) == 's')
        word.len--;
    return word;
}

/* Is every word of the audience a title, or one that only joins them? "VP+", "managers and above";
 * not "Security team". */
static bool has_only_titles(loci_str audience, lc_ranking *ranking)
{
    static const char joints[] = "and|or|above|up|only|level|the|all|higher|eyes|use";

    for (size_t at = 0; at < audience.len;) {
        size_t end = at;
        loci_str word;

        if (!is_word_byte(audience.ptr[at])) {
            at++;
            continue;
        }
        if (rank_at(audience, at, &end, ranking) >= 0) {
            at = end;
            continue;
        }
        end = word_end(audience, at);
        word = (loci_str){audience.ptr + at, end - at};
        if (phrase_bytes(word, joints) != word.len)
            return false;
        at = end;
    }
    return true;
}

/* People who have a title and no rank: a manager is not more than a patient. */
static bool names_outsiders(loci_str audience)
{
    for (size_t at = 0; at < audience.len; at++)
        if ((at == 0 || !is_letter(audience.ptr[at - 1])) &&
            phrase_bytes(from(audience, at), lc_phrases_outsiders) > 0)
            return true;
    return false;
}

/* Whether the reader is in the audience of a text: an organisation, the bearers of a title, or, if
 * only a title is named, all readers of at least that rank. */
static bool is_for_reader(loci_str audience, const lc_reader *reader, lc_ranking *ranking)
{
    int needed = lc_rank_in(audience, ranking);

    if (has_name(audience, reader->organization) ||
        has_name(reader->title, singular(lc_str_trim(audience))))
        return true;
    return needed >= 0 && reader->rank >= needed && has_only_titles(audience, ranking) &&
           !names_outsiders(audience);
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Signs and emoji at the front say nothing. Letters of two bytes begin with 0xC3 or more, emoji and
 * invisible characters with 0xC2 or 0xE2 and more. */
static loci_str skip_signs(loci_str text)
{
    size_t at = 0;

    while (at < text.len && text.ptr[at] != '[') {
        unsigned char c = (unsigned char)text.ptr[at];

        if (c < 0x80 ? is_letter(text.ptr[at]) : c > 0xC2 && c < 0xE2)
            break;
        at++;
    }
    return from(text, at);
}

/* The mark: the text in brackets at the front, without them; empty if there is no mark. */
static loci_str mark_of(loci_str text)
{
    loci_str clean = skip_signs(text);
    const char *end = clean.len > 2 && clean.ptr[0] == '[' ? memchr(clean.ptr, ']', clean.len)
                                                           : NULL;

    if (end == NULL)
        return LC_STR_NONE;
    return lc_str_trim((loci_str){clean.ptr + 1, (size_t)(end - clean.ptr) - 1});
}

/* "... restricted to VP+": the audience is named behind the last "to" or "for". */
static loci_str audience_of(loci_str mark)
{
    for (size_t i = mark.len; i-- > 3;) {
        loci_str rest = {mark.ptr + i, mark.len - i};
        size_t lead = phrase_bytes(rest, " to | for ");

        if (lead > 0)
            return (loci_str){rest.ptr + lead, rest.len - lead};
    }
    return mark;
}

static lc_mark_verdict restricted_unless(bool is_open)
{
    return is_open ? LC_MARK_OPEN : LC_MARK_RESTRICTED;
}

lc_mark_verdict lc_mark_judge(loci_str text, const lc_reader *reader, lc_ranking *ranking)
{
    static const loci_str only = LC_STR(" only");
    loci_str mark = mark_of(text), behind = LC_STR_NONE, first = lc_str_split(mark, ':', &behind);
    size_t bytes;

    if (mark.len == 0)
        return LC_MARK_OPEN;
    if (phrase_bytes(mark, lc_marks_withdrawn) > 0)
        return LC_MARK_WITHDRAWN;
    if (phrase_bytes(mark, lc_marks_restricted) > 0)
        return restricted_unless(is_for_reader(audience_of(mark), reader, ranking));
    if (phrase_bytes(mark, lc_marks_excluded) > 0) {
        int named = lc_rank_in(mark, ranking);

        return restricted_unless(named >= 0 && reader->rank > named);
    }
    if (phrase_bytes(mark, lc_marks_organization) > 0)
        return restricted_unless(reader->organization.len > 0 &&
                                 is_name(behind, reader->organization));
    if (phrase_bytes(mark, lc_marks_scope) > 0)
        return lc_str_eq(lc_str_trim(behind), reader->scope) ? LC_MARK_OPEN : LC_MARK_SUPPOSED;
    /* "[Test Lead]" is a person: what is supposed stands alone or before a colon. */
    bytes = phrase_bytes(mark, lc_marks_supposed);
    if (bytes > 0 && memchr(first.ptr, ' ', first.len) == NULL)
        return has_name(reader->query, (loci_str){mark.ptr, bytes}) ? LC_MARK_OPEN
                                                                    : LC_MARK_SUPPOSED;
    first = lc_str_trim(first); /* "STAFF ONLY", "STAFF ONLY: why". */
    if (first.len > only.len && phrase_bytes(from(first, first.len - only.len), only.ptr) > 0)
        return restricted_unless(
            is_for_reader((loci_str){first.ptr, first.len - only.len}, reader, ranking));
    return LC_MARK_OPEN;
}
