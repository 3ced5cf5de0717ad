/* arguments.c - one pass from left to right. The argument after an option is its value even if it
 * begins with a dash, so that any text can be given. Names are matched in full: an abbreviation
 * that is unique today may become ambiguous with the next option. */
#include "cli/arguments.h"

#include "base/error.h"
#include "base/str.h"
#include "ops/check.h"

static char folded(char byte)
{
    return byte == '_' ? '-' : byte;
}

bool lc_arguments_name_is(loci_str typed, const char *name)
{
    size_t len = strlen(name);

    if (typed.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (folded(typed.ptr[i]) != folded(name[i]))
            return false;
    }
    return true;
}

static const lc_option *find_long(const lc_option *list, loci_str typed, bool *out_negated)
{
    loci_str positive = typed;
    bool is_no = lc_str_starts(typed, LC_STR("no-")) || lc_str_starts(typed, LC_STR("no_"));

    if (is_no)
        positive = (loci_str){typed.ptr + 3, typed.len - 3};
    for (; list != NULL && list->name != NULL; list++) {
        *out_negated = false;
        if (lc_arguments_name_is(typed, list->name))
            return list;
        *out_negated = true;
        if (is_no && list->is_negatable && lc_arguments_name_is(positive, list->name))
            return list;
    }
    return NULL;
}

static const lc_option *find_letter(const lc_option *list, char letter)
{
    for (; list != NULL && list->name != NULL; list++) {
        if (list->letter == letter)
            return list;
    }
    return NULL;
}

static loci_status fail_unknown(const lc_argument_line *line, loci_str typed, loci_error *err)
{
    lc_nearest nearest = lc_nearest_to(typed);

    for (const lc_option *option = line->own; option != NULL && option->name != NULL; option++)
        lc_nearest_offer(&nearest, loci_str_of(option->name));
    for (const lc_option *option = line->global; option != NULL && option->name != NULL; option++)
        lc_nearest_offer(&nearest, loci_str_of(option->name));
    if (nearest.best.ptr != NULL)
        return lc_fail(err, LOCI_EINVAL, "unknown option --%.*s; did you mean --%.*s?",
                       LC_STR_ARG(typed), LC_STR_ARG(nearest.best));
    return lc_fail(err, LOCI_EINVAL, "unknown option --%.*s", LC_STR_ARG(typed));
}

/* Takes the value after '=' or the next argument, which `*at` then points to. */
static loci_status take_value(const lc_argument_line *line, size_t *at, const char *inside,
                              lc_given *given, loci_error *err)
{
    const lc_option *option = given->option;

    if (option->value == NULL && inside == NULL)
        return LOCI_OK;
    if (option->value == NULL && option->is_negatable && !given->is_negated) {
        loci_str text = loci_str_of(inside);

        if (!lc_str_is(text, "true") && !lc_str_is(text, "false"))
            return lc_fail(err, LOCI_EINVAL, "--%s takes true or false, not %.*s", option->name,
                           LC_STR_ARG(text));
        given->is_negated = lc_str_is(text, "false");
        return LOCI_OK;
    }
    if (option->value == NULL)
        return lc_fail(err, LOCI_EINVAL, "--%s takes no value", option->name);
    if (inside != NULL) {
        given->value = inside;
        return LOCI_OK;
    }
    if (*at + 1 >= line->count)
        return lc_fail(err, LOCI_EINVAL, "--%s needs a value: --%s %s", option->name, option->name,
                       option->value);
    given->value = line->items[++*at];
    return LOCI_OK;
}

/* Parses "--name", "--name=value", "-f" or "-fvalue". */
static loci_status parse_option(const lc_argument_line *line, size_t *at, lc_given *out,
                                loci_error *err)
{
    const char *text = line->items[*at] + 1;
    const char *inside;
    loci_str name;

    *out = (lc_given){0};
    if (text[0] == '-') {
        text++;
        inside = strchr(text, '=');
        name = (loci_str){text, inside != NULL ? (size_t)(inside - text) : strlen(text)};
        out->option = find_long(line->own, name, &out->is_negated);
        if (out->option == NULL)
            out->option = find_long(line->global, name, &out->is_negated);
        if (out->option == NULL)
            return fail_unknown(line, name, err);
        return take_value(line, at, inside != NULL ? inside + 1 : NULL, out, err);
    }
    out->option = find_letter(line->own, text[0]);
    if (out->option == NULL)
        out->option = find_letter(line->global, text[0]);
    if (out->option == NULL || (out->option->value == NULL && text[1] != '\0'))
        return lc_fail(err, LOCI_EINVAL, "unknown option -%s", text);
    return take_value(line, at, text[1] != '\0' ? text + 1 : NULL, out, err);
}

static bool is_word(const char *text)
{
    return text[0] != '-' || text[1] == '\0' || (text[1] >= '0' && text[1] <= '9');
}

loci_status lc_arguments_parse(lc_arena *arena, const lc_argument_line *line, lc_arguments *out,
                               loci_error *err)
{
    lc_arguments found = {0};
    bool only_words = false;
    size_t at;

    found.words = lc_arena_zalloc_array(arena, line->count + 1, sizeof *found.words);
    found.given = lc_arena_zalloc_array(arena, line->count + 1, sizeof *found.given);
    if (found.words == NULL || found.given == NULL)
        return lc_fail_memory(err);

    for (at = 0; at < line->count; at++) {
        const char *text = line->items[at];
        loci_status status;

        if (only_words || is_word(text)) {
            if (line->stops_at_word)
                break;
            found.words[found.word_count++] = text;
            continue;
        }
        if (strcmp(text, "--") == 0) {
            only_words = true;
            continue;
        }
        status = parse_option(line, &at, &found.given[found.given_count], err);
        if (status != LOCI_OK)
            return status;
        found.given_count++;
    }
    found.used_count = at;
    *out = found;
    return LOCI_OK;
}

bool lc_arguments_has(const lc_arguments *arguments, const char *option)
{
    for (size_t i = arguments->given_count; i > 0; i--) {
        if (strcmp(arguments->given[i - 1].option->name, option) == 0)
            return !arguments->given[i - 1].is_negated;
    }
    return false;
}

const char *lc_arguments_value(const lc_arguments *arguments, const char *option)
{
    for (size_t i = arguments->given_count; i > 0; i--) {
        if (strcmp(arguments->given[i - 1].option->name, option) == 0)
            return arguments->given[i - 1].value;
    }
    return NULL;
}
