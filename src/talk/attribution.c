/* attribution.c - reading the name or title that a text begins with. */
#include "talk/attribution.h"

#define WHO_BYTES_MAX 80
#define DEPUTY 2 /* How far a deputy is below. */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || (unsigned char)c >= 0x80;
}

static loci_str from(loci_str text, size_t at)
{
    return at >= text.len ? LC_STR_NONE : (loci_str){text.ptr + at, text.len - at};
}

static bool starts_folded(loci_str text, const char *lower)
{
    size_t len = strlen(lower);

    if (text.len < len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((is_upper(text.ptr[i]) ? text.ptr[i] + ('a' - 'A') : text.ptr[i]) != lower[i])
            return false;
    return true;
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

/* Where the word that starts at `at` ends; `at` when there is none. */
static size_t word_end(loci_str text, size_t at)
{
    while (at < text.len && is_word_byte(text.ptr[at]))
        at++;
    return at;
}

/* "Deputy Head" is below the head. */
static bool is_below(loci_str word)
{
    static const char *const words[] = {"deputy", "assistant", "associate", "acting",
                                        "junior", "trainee",   "interim"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word.len == strlen(words[i]) && starts_folded(word, words[i]))
            return true;
    return false;
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
    bool is_lower = false;

    for (size_t at = 0; at < text.len;) {
        size_t end;
        int rank;

        if (!is_word_byte(text.ptr[at])) {
            at++;
            continue;
        }
        rank = rank_at(text, at, &end, ranking);
        if (is_lower && rank > 0)
            rank -= DEPUTY;
        is_lower = is_below((loci_str){text.ptr + at, end - at});
        best = rank > best ? rank : best;
        at = end;
    }
    return best;
}

bool lc_mark_read(loci_str text, loci_str *out_mark, loci_str *out_rest)
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
    static const char *const openings[] = {"per the ",          "per our ",        "per ",
                                           "according to the ", "according to ",   "as per the ",
                                           "as per ",           "by order of the "};

    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        loci_str rest;
        size_t end = 0;

        if (!starts_folded(text, openings[i]))
            continue;
        rest = from(text, strlen(openings[i]));
        while (end < rest.len && end < WHO_BYTES_MAX && rest.ptr[end] != ',' &&
               rest.ptr[end] != ':')
            end++;
        if (end >= rest.len || end >= WHO_BYTES_MAX ||
            lc_rank_in((loci_str){rest.ptr, end}, ranking) < 0)
            return false;
        *out_who = (loci_str){rest.ptr, end};
        *out_rest = lc_str_trim(from(rest, end + 1));
        return true;
    }
    return false;
}

/* "The board says ...", "An intern told me ...": a title and a verb of saying. */
static bool read_says(loci_str text, lc_ranking *ranking, loci_str *out_who, loci_str *out_rest)
{
    static const char *const articles[] = {"the ", "an ", "a ", "our ", "my ", ""};
    static const char *const verbs[] = {" says ",    " said ",    " says: ",    " told me ",
                                        " told us ", " insists ", " announced "};
    size_t start = 0;

    for (size_t i = 0; start == 0 && i < sizeof articles / sizeof *articles; i++)
        if (starts_folded(text, articles[i]))
            start = strlen(articles[i]);
    for (size_t at = start; at < text.len && at < start + WHO_BYTES_MAX / 2; at++) {
        if (!is_word_byte(text.ptr[at]) && text.ptr[at] != ' ')
            return false;
        if (text.ptr[at] != ' ') /* As all of them begin. */
            continue;
        for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
            if (!starts_folded(from(text, at), verbs[v]))
                continue;
            *out_who = (loci_str){text.ptr + start, at - start};
            *out_rest = lc_str_trim(from(text, at + strlen(verbs[v])));
            return lc_rank_in(*out_who, ranking) >= 0 && out_rest->len > 0;
        }
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

lc_attribution lc_attribution_of(loci_str text, lc_ranking *ranking)
{
    loci_str clean = skip_signs(text);
    lc_attribution out = {.rank = -1, .words = clean};
    loci_str mark, rest, who, after;
    bool is_marked = lc_mark_read(clean, &mark, &rest);

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
