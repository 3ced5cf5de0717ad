/* window_draw.c - one pass over the resources per region. */
#include "cli/window_draw.h"

#include <stdio.h>

#include "base/str.h"
#include "cli/drawing.h"

#define BAR_MIN 8
#define BAR_MAX 40
#define NAME_MIN 12        /* Columns of the names of resources, */
#define NAME_MAX 32        /* depending on the terminal. */
#define KIND_COLUMNS 11    /* "impressions" */
#define KIND_SCREEN_MIN 60 /* On a narrower screen there is no room for the kind. */
#define SIZE_COLUMNS 5     /* "10.5K" */

typedef struct state_look {
    const char *state, *symbol;
    lc_style style;
} state_look;

static const state_look looks[] = {
    {"unknown", "—", LC_STYLE_FAINT}, {"cold", "○", LC_STYLE_FAINT},
    {"loaded", "✓", LC_STYLE_GOOD},   {"hot", "◆", LC_STYLE_WARNING},
    {"indexed", "●", LC_STYLE_NAME},  {"offline", "✗", LC_STYLE_BAD},
};

/* The regions and the states of their resources. */
static const struct {
    const char *region, *heading, *states;
} regions[] = {{"active", "Active", "loaded|hot"},
               {"indexed", "Indexed", "indexed"},
               {"cold", "Cold", "cold|unknown"},
               {"offline", "Offline", "offline"}};

static double attention_of(const lc_json *resource)
{
    const lc_json *real = lc_json_find(resource, "attention", LC_JSON_REAL);
    const lc_json *integer = lc_json_find(resource, "attention", LC_JSON_INT);

    return real != NULL ? lc_json_real(real) : integer != NULL ? lc_json_real(integer) : 1;
}

static lc_style style_of(loci_str level)
{
    return lc_str_is(level, "critical") ? LC_STYLE_BAD
           : lc_str_is(level, "low")    ? LC_STYLE_GOOD
                                        : LC_STYLE_WARNING;
}

/* ██████░░░░░░  22 %  42K of 192K tokens  low */
static void draw_bar(lc_drawing *d, const lc_json *pressure, const lc_json *parsed)
{
    int64_t used = lc_member_int(pressure, "active_tokens");
    int64_t limit = lc_member_int(pressure, "limit");
    int64_t percent = limit > 0 ? (int64_t)((double)used * 100 / (double)limit) : 100;
    size_t columns = lc_drawing_columns(d);
    loci_str level = lc_member_str(pressure, "level");
    char facts[96], a[LC_TOKENS_BYTES], b[LC_TOKENS_BYTES];
    size_t facts_columns, bar, full;

    (void)snprintf(facts, sizeof facts, "  %lld %%  %s of %s tokens  ", (long long)percent,
                   lc_tokens_format(used, a), lc_tokens_format(limit, b));
    facts_columns = lc_text_columns(loci_str_of(facts)) + level.len;
    bar = columns > facts_columns + BAR_MIN ? columns - facts_columns : BAR_MIN;
    bar = bar > BAR_MAX ? BAR_MAX : bar;
    full = percent >= 100 ? bar : (size_t)percent * bar / 100;
    full = used > 0 && full == 0 ? 1 : full;
    lc_drawing_repeat(d, style_of(level), "█", full);
    lc_drawing_repeat(d, LC_STYLE_FAINT, "░", bar - full);
    lc_drawing_put_words(d, LC_STYLE_PLAIN, facts);
    lc_drawing_put(d, style_of(level), level, SIZE_MAX);
    lc_drawing_end_line(d);
    lc_drawing_put_words(d, LC_STYLE_FAINT, "policy ");
    lc_drawing_put(d, LC_STYLE_FAINT, lc_member_str(parsed, "policy"), SIZE_MAX);
    lc_drawing_end_line(d);
}

/* Appends a word of details, with a comma behind the one before. */
static void put_detail(lc_drawing *d, bool *has_details, const char *detail)
{
    lc_drawing_put_words(d, LC_STYLE_WARNING, *has_details ? ", " : "  ");
    lc_drawing_put_words(d, LC_STYLE_WARNING, detail);
    *has_details = true;
}

static void draw_resource(lc_drawing *d, const lc_json *resource, size_t name_columns)
{
    double attention = attention_of(resource);
    const lc_json *stale = lc_json_find(resource, "stale", LC_JSON_BOOL);
    loci_str state = lc_member_str(resource, "state"), summary = lc_member_str(resource, "summary");
    bool has_details = false;
    char number[32];
    size_t look = 0, start;

    while (look + 1 < sizeof looks / sizeof *looks && !lc_str_is(state, looks[look].state))
        look++;
    lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
    lc_drawing_put_words(d, looks[look].style, looks[look].symbol);
    lc_drawing_put_words(d, LC_STYLE_PLAIN, " ");
    start = d->used;
    lc_drawing_put(d, LC_STYLE_PLAIN, lc_member_str(resource, "name"), name_columns);
    lc_drawing_pad(d, start + name_columns + 1 - d->used);
    if (d->terminal->columns == 0 || d->terminal->columns >= KIND_SCREEN_MIN) {
        start = d->used;
        lc_drawing_put(d, LC_STYLE_FAINT, lc_member_str(resource, "kind"), KIND_COLUMNS);
        lc_drawing_pad(d, start + KIND_COLUMNS + 1 - d->used);
    }
    if (lc_member_int(resource, "size_tokens") > 0)
        (void)lc_tokens_format(lc_member_int(resource, "size_tokens"), number);
    else
        (void)snprintf(number, sizeof number, "-"); /* It was never read. */
    lc_drawing_pad(d, strlen(number) < SIZE_COLUMNS ? SIZE_COLUMNS - strlen(number) : 0);
    lc_drawing_put_words(d, LC_STYLE_PLAIN, number);
    if (stale != NULL && lc_json_bool(stale))
        put_detail(d, &has_details, "stale");
    if (lc_str_is(lc_member_str(resource, "mode"), "summary"))
        put_detail(d, &has_details, "summary only");
    if (attention != 1) {
        (void)snprintf(number, sizeof number, "attention %.3g", attention);
        put_detail(d, &has_details, number);
    }
    if (summary.len > 0) {
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_put(d, LC_STYLE_FAINT, summary, SIZE_MAX);
    }
    lc_drawing_end_line(d);
}

static void draw_attachments(lc_drawing *d, const lc_json *resource)
{
    for (const lc_json *link = lc_member_list(resource, "links"); link != NULL;
         link = lc_json_next(link)) {
        loci_str label = lc_member_str(link, "label");

        lc_drawing_put_words(d, LC_STYLE_FAINT, "      → ");
        lc_drawing_put(d, LC_STYLE_PLAIN, lc_member_str(link, "to"), SIZE_MAX);
        if (label.len > 0) {
            lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
            lc_drawing_put(d, LC_STYLE_FAINT, label, SIZE_MAX);
        }
        lc_drawing_end_line(d);
    }
    for (const lc_json *note = lc_member_list(resource, "annotations"); note != NULL;
         note = lc_json_next(note)) {
        if (lc_json_kind_of(note) != LC_JSON_STRING)
            continue;
        lc_drawing_put_words(d, LC_STYLE_FAINT, "      note: ");
        lc_drawing_put(d, LC_STYLE_PLAIN, lc_json_str(note), SIZE_MAX);
        lc_drawing_end_line(d);
    }
}

/* The columns of the longest name, within the maximum that leaves room for sizes. */
static size_t measure_names(const lc_drawing *d, const lc_json *parsed)
{
    size_t columns_max = NAME_MAX, widest = NAME_MIN;

    if (d->terminal->columns > 0 && d->terminal->columns / 2 < columns_max)
        columns_max = d->terminal->columns / 2;
    for (const lc_json *resource = lc_member_list(parsed, "resources"); resource != NULL;
         resource = lc_json_next(resource)) {
        size_t columns = lc_text_columns(lc_member_str(resource, "name"));

        widest = columns > widest ? columns : widest;
    }
    return widest < columns_max ? widest : columns_max;
}

static void draw_heading(lc_drawing *d, const char *heading, int64_t count, int64_t tokens)
{
    char facts[96], number[LC_TOKENS_BYTES];

    lc_drawing_end_line(d);
    lc_drawing_put_words(d, LC_STYLE_HEADING, heading);
    if (count > 0) {
        (void)snprintf(facts, sizeof facts, "  %lld resource%s, %s token%s", (long long)count,
                       count == 1 ? "" : "s", lc_tokens_format(tokens, number),
                       tokens == 1 ? "" : "s");
        lc_drawing_put_words(d, LC_STYLE_FAINT, facts);
    }
    lc_drawing_end_line(d);
}

static void draw_region(lc_drawing *d, const lc_json *parsed, size_t region)
{
    size_t name_columns = measure_names(d, parsed);
    int64_t count = 0, tokens = 0;

    for (int is_drawing = 0; is_drawing < 2; is_drawing++) {
        if (is_drawing && count == 0)
            return;
        if (is_drawing)
            draw_heading(d, regions[region].heading, count, tokens);
        for (const lc_json *resource = lc_member_list(parsed, "resources"); resource != NULL;
             resource = lc_json_next(resource)) {
            if (!lc_str_is_choice(lc_member_str(resource, "state"), regions[region].states))
                continue;
            count++;
            tokens += lc_member_int(resource, "size_tokens");
            if (is_drawing) {
                draw_resource(d, resource, name_columns);
                draw_attachments(d, resource);
            }
        }
        for (const lc_json *group = lc_member_list(parsed, "groups"); group != NULL;
             group = lc_json_next(group)) {
            char facts[96], number[LC_TOKENS_BYTES];

            if (!lc_str_is(lc_member_str(group, "region"), regions[region].region))
                continue;
            count += lc_member_int(group, "count");
            tokens += lc_member_int(group, "size_tokens");
            if (!is_drawing)
                continue;
            (void)snprintf(facts, sizeof facts, "  + %lld more: %.*s, %s tokens",
                           (long long)lc_member_int(group, "count"),
                           LC_STR_ARG(lc_member_str(group, "kind")),
                           lc_tokens_format(lc_member_int(group, "size_tokens"), number));
            lc_drawing_put_words(d, LC_STYLE_FAINT, facts);
            lc_drawing_end_line(d);
        }
    }
}

/* The last part of a URI: behind a slash, or behind the scheme. */
static loci_str last_part(loci_str uri)
{
    size_t at = uri.len, scheme = 0;

    while (at > 0 && (at == uri.len || uri.ptr[at - 1] != '/'))
        at--;
    while (scheme < uri.len && uri.ptr[scheme] >= 'a' && uri.ptr[scheme] <= 'z')
        scheme++;
    if (at == 0 && scheme + 1 < uri.len && uri.ptr[scheme] == ':')
        at = scheme + 1;
    return (loci_str){uri.ptr + at, uri.len - at};
}

static void draw_candidates(lc_drawing *d, const lc_json *pressure)
{
    const lc_json *candidate = lc_member_list(pressure, "candidates");

    if (candidate == NULL)
        return;
    draw_heading(d, "Page out next", 0, 0);
    for (; candidate != NULL; candidate = lc_json_next(candidate)) {
        char number[LC_TOKENS_BYTES];

        (void)lc_tokens_format(lc_member_int(candidate, "tokens"), number);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_pad(d, strlen(number) < SIZE_COLUMNS ? SIZE_COLUMNS - strlen(number) : 0);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, number);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_put(d, LC_STYLE_NAME, last_part(lc_member_str(candidate, "uri")), NAME_MAX);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_put(d, LC_STYLE_FAINT, lc_member_str(candidate, "reason"), SIZE_MAX);
        lc_drawing_end_line(d);
    }
}

static void draw_warning(lc_drawing *d, loci_str warning)
{
    while (warning.len > 0) {
        size_t bytes = d->terminal->columns == 0 ? warning.len
                                                 : lc_text_line(warning, d->terminal->columns);

        lc_drawing_put(d, LC_STYLE_BAD, (loci_str){warning.ptr, bytes}, SIZE_MAX);
        lc_drawing_end_line(d);
        warning = lc_text_rest(warning, bytes);
    }
}

void lc_window_draw(const lc_terminal *terminal, const lc_json *map, const lc_json *parsed,
                    lc_buf *out)
{
    const lc_json *pressure = lc_json_find(map, "pressure", LC_JSON_OBJECT);
    lc_drawing d;

    lc_drawing_init(&d, terminal, out);
    if (pressure != NULL) {
        draw_bar(&d, pressure, parsed);
        draw_warning(&d, lc_member_str(pressure, "warning"));
    }
    for (size_t region = 0; region < sizeof regions / sizeof *regions; region++)
        draw_region(&d, parsed, region);
    if (lc_member_list(parsed, "resources") == NULL && lc_member_list(parsed, "groups") == NULL) {
        lc_drawing_end_line(&d);
        lc_drawing_put_words(&d, LC_STYLE_PLAIN,
                             "The window has no resources; `loci resource discover` adds "
                             "them.");
        lc_drawing_end_line(&d);
    }
    if (pressure != NULL)
        draw_candidates(&d, pressure);
    lc_drawing_clear(&d);
}
