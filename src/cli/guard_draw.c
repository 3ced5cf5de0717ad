/* guard_draw.c - One function per part of the answer. Lists are drawn largest first by the daemon's
 * own order, and only their first rows: a screen is for the few that matter. */
#include "cli/guard_draw.h"

#include <stdio.h>

#include "base/str.h"
#include "cli/drawing.h"

#define ROWS_MAX 8
#define BAR_MIN 8
#define BAR_MAX 40
#define BYTES_COLUMNS 6 /* "1023.9" is never needed: "1.0G", "900M". */
#define NAME_MAX 32
#define WIDE 60 /* Narrower screens have no room for details. */
#define SIZE_TEXT_BYTES 24

/* 910, 1.2K, 42M, 3.5G; 1024 to the K. */
static const char *size_text(int64_t bytes, char out[SIZE_TEXT_BYTES])
{
    static const char units[] = "KMGTP";
    double value = (double)bytes;
    int unit = -1;

    while ((value >= 1024 || value <= -1024) && units[unit + 1] != '\0') {
        value /= 1024;
        unit++;
    }
    if (unit < 0)
        (void)snprintf(out, SIZE_TEXT_BYTES, "%lld", (long long)bytes);
    else
        (void)snprintf(out, SIZE_TEXT_BYTES, value < 10 && value > -10 ? "%.1f%c" : "%.0f%c", value,
                       units[unit]);
    return out;
}

static void put_size(lc_drawing *d, lc_style style, int64_t bytes)
{
    char text[SIZE_TEXT_BYTES];
    size_t columns = lc_text_columns(loci_str_of(size_text(bytes, text)));

    lc_drawing_pad(d, columns < BYTES_COLUMNS ? BYTES_COLUMNS - columns : 0);
    lc_drawing_put_words(d, style, text);
}

static void put_name(lc_drawing *d, loci_str name, size_t width)
{
    size_t before = d->used;

    lc_drawing_put(d, LC_STYLE_PLAIN, name, width);
    lc_drawing_pad(d, width - (d->used - before));
}

static size_t name_width(const lc_drawing *d)
{
    size_t width = lc_drawing_columns(d) / 2;

    return width < NAME_MAX ? width : NAME_MAX;
}

static bool is_wide(const lc_drawing *d)
{
    return d->terminal->columns == 0 || d->terminal->columns >= WIDE;
}

static bool is_set(const lc_json *status, const char *name)
{
    const lc_json *member = lc_json_find(status, name, LC_JSON_BOOL);

    return member != NULL && lc_json_bool(member);
}

static lc_style level_style(loci_str level)
{
    return lc_str_is(level, "normal")     ? LC_STYLE_GOOD
           : lc_str_is(level, "elevated") ? LC_STYLE_WARNING
                                          : LC_STYLE_BAD;
}

/* ---- Usage ----------------------------------------------------------------------------------- */

static void draw_usage(lc_drawing *d, const lc_json *status)
{
    int64_t used = lc_member_int(status, "used_bytes"),
            limit = lc_member_int(status, "limit_bytes");
    loci_str level = lc_member_str(status, "level"), from = lc_member_str(status, "limit_from");
    size_t width = lc_drawing_columns(d) / 3, filled;
    char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES], text[96];

    width = width < BAR_MIN ? BAR_MIN : width > BAR_MAX ? BAR_MAX : width;
    lc_drawing_put(d, level_style(level), level, SIZE_MAX);
    if (limit > 0) {
        filled = used >= limit ? width : (size_t)((double)used / (double)limit * (double)width);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_repeat(d, level_style(level), "█", filled);
        lc_drawing_repeat(d, LC_STYLE_FAINT, "░", width - filled);
        (void)snprintf(text, sizeof text, "  %.0f %%", (double)used / (double)limit * 100);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, text);
    }
    lc_drawing_end_line(d);
    if (limit > 0)
        (void)snprintf(text, sizeof text, "%s of %s", size_text(used, a), size_text(limit, b));
    else
        (void)snprintf(text, sizeof text, "%s, no limit known", size_text(used, a));
    lc_drawing_put_words(d, LC_STYLE_PLAIN, text);
    if (from.len > 0) {
        lc_drawing_put_words(d, LC_STYLE_FAINT, ", limit: ");
        lc_drawing_put(d, LC_STYLE_FAINT, from, SIZE_MAX);
    }
    lc_drawing_end_line(d);
    if (lc_member_int(status, "need_bytes") > 0) {
        (void)snprintf(text, sizeof text, "%s to be freed",
                       size_text(lc_member_int(status, "need_bytes"), a));
        lc_drawing_put_words(d, LC_STYLE_WARNING, text);
        lc_drawing_end_line(d);
    }
    if (is_set(status, "spike") || is_set(status, "stalled")) {
        lc_drawing_put_words(d, LC_STYLE_WARNING,
                             is_set(status, "spike") ? "rising fast"
                                                     : "the system waits for memory");
        lc_drawing_end_line(d);
    }
}

/* The course of usage, scaled from its smallest to its largest value: small changes of a large
 * process would be flat otherwise. */
static void draw_trend(lc_drawing *d, const lc_json *status)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const lc_json *first = lc_member_list(status, "history_bytes");
    int64_t least = INT64_MAX, most = 0, trend = lc_member_int(status, "trend_bytes_per_s");
    char text[64], number[SIZE_TEXT_BYTES];

    for (const lc_json *at = first; at != NULL; at = lc_json_next(at)) {
        int64_t bytes = lc_json_kind_of(at) == LC_JSON_INT ? lc_json_int(at) : 0;

        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    if (first == NULL)
        return;
    lc_drawing_put_words(d, LC_STYLE_FAINT, "trend  ");
    for (const lc_json *at = first; at != NULL; at = lc_json_next(at)) {
        int64_t bytes = lc_json_kind_of(at) == LC_JSON_INT ? lc_json_int(at) : 0;
        double share = most > least ? (double)(bytes - least) / (double)(most - least) : 0;

        lc_drawing_put_words(d, LC_STYLE_NAME, blocks[(int)(share * 7)]);
    }
    (void)snprintf(text, sizeof text, "  %s%s/s", trend > 0 ? "+" : "", size_text(trend, number));
    lc_drawing_put_words(d, LC_STYLE_PLAIN, text);
    lc_drawing_end_line(d);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void draw_heading(lc_drawing *d, const char *heading)
{
    lc_drawing_end_line(d);
    lc_drawing_put_words(d, LC_STYLE_HEADING, heading);
    lc_drawing_end_line(d);
}

static void draw_categories(lc_drawing *d, const lc_json *status)
{
    const lc_json *categories = lc_json_find(status, "categories", LC_JSON_OBJECT);
    bool has_heading = false;

    for (const lc_json *at = categories != NULL ? lc_json_first(categories) : NULL; at != NULL;
         at = lc_json_next(at)) {
        if (lc_json_kind_of(at) != LC_JSON_INT || lc_json_int(at) == 0)
            continue;
        if (!has_heading)
            draw_heading(d, "Categories");
        has_heading = true;
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        put_name(d, lc_json_name(at), name_width(d));
        put_size(d, LC_STYLE_PLAIN, lc_json_int(at));
        lc_drawing_end_line(d);
    }
}

static void put_cache(lc_drawing *d, const lc_json *cache)
{
    char text[96], number[SIZE_TEXT_BYTES];

    put_name(d, lc_member_str(cache, "name"), name_width(d));
    put_size(d, LC_STYLE_PLAIN, lc_member_int(cache, "bytes"));
    if (is_wide(d) && lc_member_int(cache, "evictions") > 0) {
        (void)snprintf(text, sizeof text, "  freed %s in %lld evictions",
                       size_text(lc_member_int(cache, "freed_bytes"), number),
                       (long long)lc_member_int(cache, "evictions"));
        lc_drawing_put_words(d, LC_STYLE_FAINT, text);
    }
}

static void put_pipeline(lc_drawing *d, const lc_json *pipeline)
{
    loci_str state = lc_member_str(pipeline, "state");
    char text[32];

    put_name(d, lc_member_str(pipeline, "name"), name_width(d));
    put_size(d, LC_STYLE_PLAIN, lc_member_int(pipeline, "bytes"));
    lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
    lc_drawing_put(d, lc_str_is(state, "running") ? LC_STYLE_GOOD : LC_STYLE_WARNING, state,
                   SIZE_MAX);
    if (is_wide(d)) {
        (void)snprintf(text, sizeof text, "  priority %lld",
                       (long long)lc_member_int(pipeline, "priority"));
        lc_drawing_put_words(d, LC_STYLE_FAINT, text);
    }
}

static void put_agent(lc_drawing *d, const lc_json *agent)
{
    char text[96];

    put_name(d, lc_member_str(agent, "agent_id"), name_width(d));
    put_size(d, LC_STYLE_PLAIN, lc_member_int(agent, "bytes"));
    lc_drawing_put_words(d, LC_STYLE_PLAIN, is_set(agent, "listening") ? "  listens" : "");
    if (lc_member_int(agent, "signals") > 0) {
        (void)snprintf(text, sizeof text, "  %lld signals wait",
                       (long long)lc_member_int(agent, "signals"));
        lc_drawing_put_words(d, LC_STYLE_WARNING, text);
    }
}

static void put_decision(lc_drawing *d, const lc_json *decision)
{
    int64_t ms = lc_member_int(decision, "ms_ago");
    char text[64], number[SIZE_TEXT_BYTES];
    loci_str name = lc_member_str(decision, "name");

    (void)snprintf(text, sizeof text, "%5lld s  ", (long long)(ms / 1000));
    lc_drawing_put_words(d, LC_STYLE_FAINT, text);
    lc_drawing_put(d, level_style(lc_member_str(decision, "level")),
                   lc_member_str(decision, "what"), SIZE_MAX);
    lc_drawing_put_words(d, LC_STYLE_PLAIN, name.len > 0 ? " " : "");
    lc_drawing_put(d, LC_STYLE_PLAIN, name, SIZE_MAX);
    if (lc_member_int(decision, "bytes") > 0) {
        (void)snprintf(text, sizeof text, "  %s",
                       size_text(lc_member_int(decision, "bytes"), number));
        lc_drawing_put_words(d, LC_STYLE_FAINT, text);
    }
}

typedef struct listing {
    const char *member, *heading;
    void (*put)(lc_drawing *d, const lc_json *row);
    bool is_newest_last; /* The last rows are drawn, the newest first. */
} listing;

static void draw_list(lc_drawing *d, const lc_json *status, const listing *what)
{
    const lc_json *rows[ROWS_MAX];
    size_t count = 0;
    char text[64];

    for (const lc_json *at = lc_member_list(status, what->member); at != NULL;
         at = lc_json_next(at), count++) {
        if (what->is_newest_last || count < ROWS_MAX)
            rows[count % ROWS_MAX] = at;
    }
    if (count == 0)
        return;
    draw_heading(d, what->heading);
    for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        what->put(d, rows[what->is_newest_last ? (count - 1 - i) % ROWS_MAX : i]);
        lc_drawing_end_line(d);
    }
    if (count > ROWS_MAX && !what->is_newest_last) {
        (void)snprintf(text, sizeof text, "  … %zu more", count - ROWS_MAX);
        lc_drawing_put_words(d, LC_STYLE_FAINT, text);
        lc_drawing_end_line(d);
    }
}

static void draw_admission(lc_drawing *d, const lc_json *status)
{
    const lc_json *admission = lc_json_find(status, "admission", LC_JSON_OBJECT);
    char text[128];

    if (admission == NULL)
        return;
    draw_heading(d, "Admission");
    (void)snprintf(text, sizeof text, "  %lld of %lld in flight, %lld queued",
                   (long long)lc_member_int(admission, "in_flight"),
                   (long long)lc_member_int(admission, "window"),
                   (long long)lc_member_int(admission, "queued"));
    lc_drawing_put_words(d, LC_STYLE_PLAIN, text);
    lc_drawing_end_line(d);
    (void)snprintf(text, sizeof text, "  %lld admitted, %lld rejected",
                   (long long)lc_member_int(admission, "admitted_total"),
                   (long long)lc_member_int(admission, "rejected_total"));
    lc_drawing_put_words(d, LC_STYLE_PLAIN, text);
    lc_drawing_end_line(d);
}

void lc_guard_draw(const lc_terminal *terminal, const lc_json *status, lc_buf *out)
{
    static const listing caches = {"caches", "Caches", put_cache, false};
    static const listing pipelines = {"pipelines", "Pipelines", put_pipeline, false};
    static const listing agents = {"agents", "Agents", put_agent, false};
    static const listing decisions = {"decisions", "Decisions", put_decision, true};
    lc_drawing d;

    lc_drawing_init(&d, terminal, out);
    draw_usage(&d, status);
    draw_trend(&d, status);
    draw_categories(&d, status);
    draw_list(&d, status, &caches);
    draw_list(&d, status, &pipelines);
    draw_list(&d, status, &agents);
    draw_admission(&d, status);
    draw_list(&d, status, &decisions);
    lc_drawing_clear(&d);
}
