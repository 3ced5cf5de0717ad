/* attribution.c - reading the name, the title or the mark that a text begins with.
 *
 * Text in front of a statement is matched by spelling, without regard to case, against the phrases
 * of talk/lexicon.h. A mark is known by the word it begins with, or ends with before its colon
 * ("STAFF ONLY: ..."). */
#include "talk/attribution.h"

#include "talk/lexicon.h"

#define WHO_BYTES_MAX 80
#define DEPUTY 2 /* How far a deputy is below. */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
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

/* Signs and emoji at the front say nothing. */
static loci_str skip_signs(loci_str text)
{
    size_t at = 0;

    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];

        if (c == ' ' || c == '*' || c == '>' || c == '"' || c == '\t' || c == '\n')
            at++;
        else if (c == 0xE2 && at + 2 < text.len)
            at += 3;
        else if (c == 0xEF && at + 2 < text.len && text.ptr[at + 1] == '\xB8')
            at += 3;
        else if (c == 0xF0 && at + 3 < text.len)
            at += 4;
        else
            break;
    }
    return from(text, at);
}

/* ---- Titles ---------------------------------------------------------------------------------- */

/* Where the word that starts at `at` ends; `at` when there is none. */
static size_t word_end(loci_str text, size_t at)
{
    while (at < text.len && is_word_byte(text.ptr[at]))
        at++;
    return at;
}

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

/* ---- Who says it ----------------------------------------------------------------------------- */

/* "Victor (VP Engineering): ...": a name, what it is in parentheses, a colon. A name in small
 * letters counts only with a title: "note (old): ..." is nobody's. */
static bool read_named(loci_str text, lc_ranking *ranking, loci_str *out_who, loci_str *out_rest)
{
    size_t open = 0, close;

    if (text.len == 0)
        return false;
    while (open < text.len && open < WHO_BYTES_MAX &&
           (is_word_byte(text.ptr[open]) || strchr(" .&'/", text.ptr[open]) != NULL))
        open++;
    if (open >= text.len || text.ptr[open] != '(')
        return false;
    close = open + 1;
    while (close < text.len && close < open + WHO_BYTES_MAX && text.ptr[close] != ')')
        close++;
    if (close + 1 >= text.len || text.ptr[close] != ')' || text.ptr[close + 1] != ':')
        return false;
    if (!is_upper(text.ptr[0]) &&
        lc_rank_in((loci_str){text.ptr + open, close - open}, ranking) < 0)
        return false;
    *out_who = (loci_str){text.ptr, close + 1};
    *out_rest = lc_str_trim(from(text, close + 2));
    return true;
}

/* "Superintendent Rao: ...": a title and a name, nothing but capitals, before a colon. */
static bool read_titled(loci_str text, lc_ranking *ranking, loci_str *out_who, loci_str *out_rest)
{
    size_t end = 0;

    while (end < text.len && end < WHO_BYTES_MAX && text.ptr[end] != ':') {
        bool is_start = end == 0 || text.ptr[end - 1] == ' ';

        if (!is_word_byte(text.ptr[end]) && text.ptr[end] != ' ' && text.ptr[end] != '.')
            return false;
        if (is_start && !is_upper(text.ptr[end]))
            return false;
        end++;
    }
    if (end + 1 >= text.len || text.ptr[end] != ':' || text.ptr[end + 1] != ' ' ||
        lc_rank_in((loci_str){text.ptr, end}, ranking) < 0)
        return false;
    *out_who = (loci_str){text.ptr, end};
    *out_rest = lc_str_trim(from(text, end + 1));
    return true;
}

/* "Per the CEO, ...": only before a title, since "per unit" is none. */
static bool read_per(loci_str text, lc_ranking *ranking, loci_str *out_who, loci_str *out_rest)
{
    size_t opening = phrase_bytes(text, lc_phrases_per), end = 0;
    loci_str rest = from(text, opening);

    while (end < rest.len && end < WHO_BYTES_MAX && rest.ptr[end] != ',' && rest.ptr[end] != ':')
        end++;
    if (opening == 0 || end >= rest.len || end >= WHO_BYTES_MAX ||
        lc_rank_in((loci_str){rest.ptr, end}, ranking) < 0)
        return false;
    *out_who = (loci_str){rest.ptr, end};
    *out_rest = lc_str_trim(from(rest, end + 1));
    return true;
}

/* "The board says ...", "An intern told me ...": a title and a verb of saying. */
static bool read_says(loci_str text, lc_ranking *ranking, loci_str *out_who, loci_str *out_rest)
{
    size_t start = phrase_bytes(text, lc_phrases_articles);

    for (size_t at = start; at < text.len && at < start + WHO_BYTES_MAX / 2; at++) {
        size_t verb;

        if (!is_word_byte(text.ptr[at]) && text.ptr[at] != ' ')
            return false;
        verb = text.ptr[at] == ' ' ? phrase_bytes(from(text, at), lc_phrases_says) : 0;
        if (verb == 0)
            continue;
        *out_who = (loci_str){text.ptr + start, at - start};
        *out_rest = lc_str_trim(from(text, at + verb));
        return lc_rank_in(*out_who, ranking) >= 0 && out_rest->len > 0;
    }
    return false;
}

/* "[Mum]: ...": a name and a colon; marks are all capitals or have a colon inside. */
static bool is_speaker(loci_str text)
{
    size_t at = 1;

    while (at < text.len && (is_word_byte(text.ptr[at]) || text.ptr[at] == ' ' ||
                             text.ptr[at] == '.' || text.ptr[at] == ','))
        at++;
    return at > 2 && at + 1 < text.len && text.ptr[at] == ']' && text.ptr[at + 1] == ':' &&
           is_upper(text.ptr[1]) && !is_upper(text.ptr[2]);
}

/* A mark in brackets at the front: "[RESTRICTED: ...] text". False when there is none. */
static bool read_mark(loci_str text, loci_str *out_mark, loci_str *out_rest)
{
    loci_str clean = skip_signs(text);
    const char *end;

    if (clean.len < 3 || clean.ptr[0] != '[')
        return false;
    end = memchr(clean.ptr, ']', clean.len);
    if (end == NULL || end == clean.ptr + 1)
        return false;
    *out_mark = lc_str_trim((loci_str){clean.ptr + 1, (size_t)(end - clean.ptr) - 1});
    clean = lc_str_trim(from(clean, (size_t)(end - clean.ptr) + 1));
    if (clean.len > 0 && clean.ptr[0] == ':')
        clean = lc_str_trim(from(clean, 1));
    *out_rest = clean;
    return out_mark->len > 0;
}

lc_attribution lc_attribution_of(loci_str text, lc_ranking *ranking)
{
    loci_str clean = skip_signs(text);
    lc_attribution out = {.rank = -1, .words = clean};
    loci_str mark, rest, who, after;
    bool is_marked = read_mark(clean, &mark, &rest);

    if (is_marked && mark.len <= WHO_BYTES_MAX &&
        (lc_rank_in(mark, ranking) >= 0 || memchr(mark.ptr, '(', mark.len) != NULL ||
         is_speaker(clean) || read_named(rest, ranking, &who, &after))) {
        out = (lc_attribution){.who = mark, .rank = lc_rank_in(mark, ranking), .words = rest};
        clean = rest;
    }
    if (read_named(clean, ranking, &who, &rest) || read_per(clean, ranking, &who, &rest) ||
        read_titled(clean, ranking, &who, &rest) || read_says(clean, ranking, &who, &rest)) {
        int rank = lc_rank_in(who, ranking);

        out.who = who;
        out.rank = rank > out.rank ? rank : out.rank;
        out.words = rest;
    }
    out.has_title = out.rank >= 0;
    if (out.rank < 0 && out.who.len > 0 && memchr(out.who.ptr, '(', out.who.len) != NULL)
        out.rank = lc_rank_in(LC_STR("staff"), ranking);
    return out;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* "... restricted to VP+": who it is for stands behind the last "to" or "for". */
static loci_str audience_of(loci_str mark)
{
    for (size_t i = mark.len; i-- > 3;) {
        loci_str rest = {mark.ptr + i, mark.len - i};
        size_t lead = lc_str_starts(rest, LC_STR(" to "))    ? 4
                      : lc_str_starts(rest, LC_STR(" for ")) ? 5
                                                             : 0;

        if (lead > 0)
            return (loci_str){rest.ptr + lead, rest.len - lead};
    }
    return mark;
}

lc_mark lc_mark_of(loci_str text)
{
    static const struct {
        lc_mark_kind kind;
        const char *words;
    } marks[] = {
        {LC_MARK_WITHDRAWN, lc_marks_withdrawn},       {LC_MARK_RESTRICTED, lc_marks_restricted},
        {LC_MARK_EXCLUDED, lc_marks_excluded},         {LC_MARK_SUPPOSED, lc_marks_supposed},
        {LC_MARK_ORGANIZATION, lc_marks_organization}, {LC_MARK_SCOPE, lc_marks_scope},
    };
    static const loci_str only = LC_STR(" only");
    loci_str mark, rest, behind = LC_STR_NONE, first;

    if (!read_mark(text, &mark, &rest))
        return (lc_mark){0};
    first = lc_str_split(mark, ':', &behind);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        lc_mark_kind kind = marks[i].kind;

        /* "[Test Lead]" is somebody: what is supposed stands alone or before a colon. */
        if (phrase_bytes(mark, marks[i].words) == 0 ||
            (kind == LC_MARK_SUPPOSED && memchr(first.ptr, ' ', first.len) != NULL))
            continue;
        if (kind == LC_MARK_RESTRICTED)
            return (lc_mark){kind, audience_of(mark)};
        if (kind == LC_MARK_EXCLUDED || kind == LC_MARK_SUPPOSED)
            return (lc_mark){kind, mark};
        return (lc_mark){kind, lc_str_trim(behind)};
    }
    first = lc_str_trim(first); /* "STAFF ONLY", "STAFF ONLY: why". */
    if (first.len > only.len && phrase_bytes(from(first, first.len - only.len), only.ptr) > 0)
        return (lc_mark){LC_MARK_RESTRICTED, {first.ptr, first.len - only.len}};
    return (lc_mark){0};
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

bool lc_mark_has_name(loci_str audience, loci_str name)
{
    for (size_t at = 0; name.len > 0 && at + name.len <= audience.len; at++) {
        bool begins = at == 0 || !is_letter(audience.ptr[at - 1]);
        bool ends = at + name.len == audience.len || !is_letter(audience.ptr[at + name.len]);

        if (begins && ends && lc_mark_is_name((loci_str){audience.ptr + at, name.len}, name))
            return true;
    }
    return false;
}

bool lc_mark_is_outsider(loci_str audience)
{
    for (size_t at = 0; at < audience.len; at++)
        if ((at == 0 || !is_letter(audience.ptr[at - 1])) &&
            phrase_bytes(from(audience, at), lc_phrases_outsiders) > 0)
            return true;
    return false;
}
