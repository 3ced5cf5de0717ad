/* sentence.c - patterns are written by us (ops/), values come from users: a value is never read as
 * part of a pattern, and a long one is cut so that the rest of the sentence can be seen. */
#include "cli/sentence.h"

#include "base/str.h"
#include "base/time.h"
#include "cli/render.h"

#define VALUE_COLUMNS_MAX 160

static const lc_json *find_value(const lc_sentence *s, loci_str name)
{
    const lc_json *value = lc_json_member(s->answer, name);

    if ((value == NULL || lc_json_kind_of(value) == LC_JSON_NULL) && s->args != NULL)
        value = lc_json_member(s->args, name);
    return value;
}

/* The end of "name words}" in `rest`, which begins behind the brace. */
static loci_str take_placeholder(loci_str *rest, loci_str *out_words)
{
    loci_str inside = lc_str_split(*rest, '}', rest);

    return lc_str_split(inside, ' ', out_words);
}

/* Whether there is something to say about it. */
static bool is_given(const lc_json *value)
{
    switch (value != NULL ? lc_json_kind_of(value) : LC_JSON_NULL) {
    case LC_JSON_NULL:
        return false;
    case LC_JSON_BOOL:
        return lc_json_bool(value);
    case LC_JSON_INT:
        return lc_json_int(value) != 0;
    case LC_JSON_STRING:
        return lc_json_str(value).len > 0;
    case LC_JSON_ARRAY:
    case LC_JSON_OBJECT:
        return lc_json_count(value) > 0;
    case LC_JSON_REAL:
        break;
    }
    return true;
}

static bool is_part_given(const lc_sentence *s, loci_str part)
{
    while (part.len > 0) {
        loci_str rest, words;

        (void)lc_str_split(part, '{', &rest); /* Only placeholders matter. */
        if (rest.ptr == NULL)
            return true;
        if (!is_given(find_value(s, take_placeholder(&rest, &words))))
            return false;
        part = rest;
    }
    return true;
}

/* The replacement of `text` in "a=b,c=d"; empty if there is none. */
static loci_str find_word(loci_str words, loci_str text)
{
    while (words.ptr != NULL) {
        loci_str replacement;
        loci_str pair = lc_str_split(words, ',', &words);

        if (lc_str_eq(lc_str_split(pair, '=', &replacement), text))
            return replacement;
    }
    return LC_STR_NONE;
}

/* {"fact":1,"event":2} as "fact 1, event 2". */
static void append_counts(lc_buf *out, const lc_json *counts)
{
    bool is_first = true;

    for (const lc_json *count = lc_json_first(counts); count != NULL; count = lc_json_next(count)) {
        if (!is_given(count))
            continue;
        lc_buf_append(out, is_first ? LC_STR("") : LC_STR(", "));
        lc_text_append_visible(out, lc_json_name(count));
        lc_buf_append_byte(out, ' ');
        lc_render_cell(out, count);
        is_first = false;
    }
}

static void append_value(lc_buf *out, const lc_sentence *s, loci_str name, loci_str words)
{
    const lc_json *value = find_value(s, name);
    lc_result member;
    loci_str replacement;
    lc_buf text;
    int64_t us;

    lc_buf_init(&text, out->heap, out->category, out->bytes_max);
    if (value != NULL && lc_json_kind_of(value) == LC_JSON_STRING &&
        lc_render_find_member(s->record, name, &member) && member.record == NULL &&
        member.kind == LC_PARAM_TIME && lc_time_parse(lc_json_str(value), &us))
        lc_render_age(&text, s->now_us - us);
    else if (value != NULL && lc_json_kind_of(value) == LC_JSON_OBJECT &&
             lc_json_member(s->answer, name) != NULL)
        append_counts(&text, value);
    else if (value != NULL)
        lc_render_cell(&text, value);
    else
        lc_buf_append(&text, LC_STR("no")); /* As a flag that is not set. */
    replacement = find_word(words, lc_buf_str(&text));
    if (replacement.ptr != NULL) {
        lc_buf_append(out, replacement);
    } else if (lc_text_columns(lc_buf_str(&text)) > VALUE_COLUMNS_MAX) {
        lc_buf_truncate(&text, lc_text_cut(lc_buf_str(&text), VALUE_COLUMNS_MAX - 1));
        lc_buf_append(out, lc_buf_str(&text));
        lc_buf_append(out, LC_STR("…"));
    } else {
        lc_buf_append(out, lc_buf_str(&text));
    }
    lc_buf_clear(&text);
}

static void append_part(lc_buf *out, const lc_sentence *s, loci_str part)
{
    while (part.len > 0) {
        loci_str rest, words;

        lc_buf_append(out, lc_str_split(part, '{', &rest));
        if (rest.ptr != NULL) {
            loci_str name = take_placeholder(&rest, &words);

            append_value(out, s, name, words);
        }
        part = rest;
    }
}

void lc_sentence_append(lc_buf *out, const lc_sentence *sentence)
{
    loci_str rest = loci_str_of(sentence->pattern);

    while (rest.len > 0) {
        loci_str optional;

        append_part(out, sentence, lc_str_split(rest, '[', &rest));
        optional = rest.ptr != NULL ? lc_str_split(rest, ']', &rest) : LC_STR("");
        if (is_part_given(sentence, optional))
            append_part(out, sentence, optional);
    }
}
