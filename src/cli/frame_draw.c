/* frame_draw.c - see frame_draw.h.
 *
 *     planner  session chat-42
 *     ● Find the cause of the timeout  active
 *     │ ████▓▓▒▒▒▒▒▒▒▒░░░░░░  1.5K used, 800 reserved, 3K children, 2.7K free of 8K
 *     └ ○ Ask Ann  suspended 2 hours ago
 *       ░░░░░░░░░░░░░░░░░░░░  3K free of 3K
 *
 * Each level takes two columns: the line of a frame has a branch in the column of its parent's
 * symbol, the lines below it a stem if more of the tree follows. Levels that would take more than
 * half of the screen are replaced by an ellipsis. */
#include "cli/frame_draw.h"

#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/drawing.h"
#include "cli/render.h"

#define WIDE_COLUMNS 60     /* A narrower screen has the status on a line of its own. */
#define WITH_ID_COLUMNS 120 /* Screens with room for ids. */
#define BAR_WIDE 20
#define BAR_NARROW 10
#define GOAL_MIN 12

typedef struct node {
    const lc_json *frame;
    struct node *parent; /* NULL = drawn as a root. */
    struct node *first, *last, *next;
} node;

typedef struct forest {
    node *nodes; /* Newest first. */
    size_t count;
    lc_map by_id;
} forest;

typedef struct status_look {
    const char *status, *symbol;
    lc_style style;
} status_look;

static const status_look looks[] = {
    {"active", "●", LC_STYLE_GOOD},       {"waiting", "◐", LC_STYLE_WARNING},
    {"suspended", "○", LC_STYLE_WARNING}, {"completed", "✓", LC_STYLE_FAINT},
    {"failed", "✗", LC_STYLE_BAD},        {"cancelled", "—", LC_STYLE_FAINT},
};
#define LOOK_COUNT (sizeof looks / sizeof *looks)

/* ---- The trees ------------------------------------------------------------------------------- */

static loci_status plant(forest *f, const lc_json *list, lc_arena *arena, loci_error *err)
{
    size_t count = 0;

    for (const lc_json *frame = lc_member_list(list, "frames"); frame != NULL;
         frame = lc_json_next(frame))
        count++;
    f->nodes = lc_arena_alloc(arena, (count + 1) * sizeof *f->nodes);
    if (f->nodes == NULL)
        return lc_fail_memory(err);
    for (const lc_json *frame = lc_member_list(list, "frames"); frame != NULL;
         frame = lc_json_next(frame)) {
        node *added = &f->nodes[f->count++];

        *added = (node){.frame = frame};
        if (!lc_map_put(&f->by_id, lc_member_str(frame, "id"), added))
            return lc_fail_memory(err);
    }
    for (size_t i = f->count; i-- > 0;) { /* Oldest first. */
        node *child = &f->nodes[i];
        node *parent = lc_map_find(&f->by_id, lc_member_str(child->frame, "parent_id"));

        if (parent == NULL || parent == child)
            continue;
        child->parent = parent;
        if (parent->last != NULL)
            parent->last->next = child;
        else
            parent->first = child;
        parent->last = child;
    }
    return LOCI_OK;
}

/* The next one of a tree, parents before their children; NULL behind the last. */
static const node *walk(const node *at)
{
    if (at->first != NULL)
        return at->first;
    while (at != NULL && at->next == NULL)
        at = at->parent;
    return at != NULL ? at->next : NULL;
}

/* ---- Pieces of a frame ----------------------------------------------------------------------- */

static const status_look *look_of(const lc_json *frame)
{
    loci_str status = lc_member_str(frame, "status");
    size_t i = 0;

    while (i + 1 < LOOK_COUNT && !lc_str_is(status, looks[i].status))
        i++;
    return &looks[i];
}

static bool is_open(const lc_json *frame)
{
    return lc_str_is_choice(lc_member_str(frame, "status"), "active|waiting|suspended");
}

static bool is_wide(const lc_drawing *d)
{
    return lc_drawing_columns(d) >= WIDE_COLUMNS;
}

/* The branches in front of a frame, or the stems in front of the lines `below` it. */
static void put_branches(lc_drawing *d, const node *of, bool below)
{
    size_t depth = 0, shown;

    for (const node *at = of; at->parent != NULL; at = at->parent)
        depth++;
    shown = depth;
    if (d->terminal->columns > 0 && depth > d->terminal->columns / 4) {
        shown = d->terminal->columns / 4;
        lc_drawing_put_words(d, LC_STYLE_FAINT, "… ");
    }
    for (size_t level = shown; level > 0; level--) {
        const node *at = of;

        for (size_t up = 1; up < level; up++)
            at = at->parent;
        if (at == of && !below)
            lc_drawing_put_words(d, LC_STYLE_FAINT, at->next != NULL ? "├ " : "└ ");
        else
            lc_drawing_put_words(d, LC_STYLE_FAINT, at->next != NULL ? "│ " : "  ");
    }
    if (below)
        lc_drawing_put_words(d, LC_STYLE_FAINT, of->first != NULL ? "│ " : "  ");
}

/* "suspended 2 hours ago", "waiting for user, 3 min ago" */
static void append_status(const lc_frame_drawing *drawing, const lc_json *frame, lc_buf *out)
{
    bool has_ended = !is_open(frame);
    loci_str status = lc_member_str(frame, "status");
    loci_str waiting_for = lc_member_str(frame, "waiting_for");
    const char *since = has_ended ? "completed_at" : "updated_at";
    int64_t us;

    lc_buf_append(out, status);
    if (waiting_for.len > 0)
        lc_buf_append_format(out, " for %.*s,", LC_STR_ARG(waiting_for));
    if (!lc_str_is(status, "active") && lc_time_parse(lc_member_str(frame, since), &us)) {
        lc_buf_append_byte(out, ' ');
        lc_render_age(out, drawing->now_us - us);
    }
    if (has_ended) {
        const lc_json *budget = lc_json_find(frame, "budget", LC_JSON_OBJECT);
        char used[LC_TOKENS_BYTES], total[LC_TOKENS_BYTES];

        if (budget != NULL)
            lc_buf_append_format(out, ", %s of %s used",
                                 lc_tokens_format(lc_member_int(budget, "used"), used),
                                 lc_tokens_format(lc_member_int(budget, "total"), total));
    }
}

/* ---- The budget ------------------------------------------------------------------------------ */

static const struct {
    const char *member, *cell, *words;
    lc_style style;
} parts[] = {{"used", "█", "used", LC_STYLE_GOOD},
             {"reserved", "▓", "reserved", LC_STYLE_WARNING},
             {"subcall_allocation", "▒", "children", LC_STYLE_NAME}};
#define PART_COUNT (sizeof parts / sizeof *parts)

/* Every part that has tokens has a cell, and so have the free tokens. */
static void draw_bar(lc_drawing *d, const lc_json *budget, size_t cells)
{
    int64_t amounts[PART_COUNT], scale = lc_member_int(budget, "total"), sum = 0;
    size_t left = cells, kept = lc_member_int(budget, "available") > 0 ? 1 : 0;

    for (size_t i = 0; i < PART_COUNT; i++) {
        amounts[i] = lc_member_int(budget, parts[i].member);
        sum += amounts[i];
        kept += amounts[i] > 0 ? 1 : 0;
    }
    scale = sum > scale ? sum : scale;
    for (size_t i = 0; i < PART_COUNT; i++) {
        size_t full;

        if (amounts[i] <= 0)
            continue;
        kept--;
        full = (size_t)((double)amounts[i] * (double)cells / (double)scale + 0.5);
        full = full == 0 ? 1 : full > left - kept ? left - kept : full;
        lc_drawing_repeat(
            d, lc_member_int(budget, "over") > 0 && i == 0 ? LC_STYLE_BAD : parts[i].style,
            parts[i].cell, full);
        left -= full;
    }
    lc_drawing_repeat(d, LC_STYLE_FAINT, "░", left);
}

/* "1.5K used, 800 reserved, 2.7K free of 8K"; `is_short`: only the end. */
static void append_budget(lc_buf *out, const lc_json *budget, bool is_short)
{
    int64_t over = lc_member_int(budget, "over");
    char number[LC_TOKENS_BYTES], total[LC_TOKENS_BYTES];

    for (size_t i = 0; i < PART_COUNT && !is_short; i++) {
        int64_t amount = lc_member_int(budget, parts[i].member);

        if (amount > 0)
            lc_buf_append_format(out, "%s %s, ", lc_tokens_format(amount, number), parts[i].words);
    }
    lc_buf_append_format(
        out, over > 0 ? "%s over %s" : "%s free of %s",
        lc_tokens_format(over > 0 ? over : lc_member_int(budget, "available"), number),
        lc_tokens_format(lc_member_int(budget, "total"), total));
}

static void draw_budget(lc_drawing *d, const node *of, lc_buf *words)
{
    const lc_json *budget = lc_json_find(of->frame, "budget", LC_JSON_OBJECT);
    bool is_over;

    if (budget == NULL)
        return;
    is_over = lc_member_int(budget, "over") > 0;
    put_branches(d, of, true);
    draw_bar(d, budget, is_wide(d) ? BAR_WIDE : BAR_NARROW);
    lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
    lc_buf_reset(words);
    append_budget(words, budget, false);
    if (lc_text_columns(lc_buf_str(words)) > lc_drawing_columns_left(d)) {
        lc_buf_reset(words);
        append_budget(words, budget, true);
    }
    lc_drawing_put(d, is_over ? LC_STYLE_BAD : LC_STYLE_PLAIN, lc_buf_str(words), SIZE_MAX);
    lc_drawing_end_line(d);
}

/* ---- The drawing ----------------------------------------------------------------------------- */

static void draw_frame(const lc_frame_drawing *drawing, lc_drawing *d, const node *of,
                       lc_buf *words)
{
    const status_look *look = look_of(of->frame);
    loci_str error = lc_member_str(of->frame, "error");
    bool has_status_line = !is_wide(d) && look != &looks[0];
    size_t left, taken;

    lc_buf_reset(words);
    append_status(drawing, of->frame, words);
    put_branches(d, of, false);
    lc_drawing_put_words(d, look->style, look->symbol);
    lc_drawing_put_words(d, LC_STYLE_PLAIN, " ");
    left = lc_drawing_columns_left(d);
    taken = is_wide(d) ? lc_text_columns(lc_buf_str(words)) + 2 : 0;
    lc_drawing_put(d, LC_STYLE_PLAIN, lc_member_str(of->frame, "goal"),
                   left > taken + GOAL_MIN ? left - taken : GOAL_MIN);
    if (is_wide(d)) {
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_put(d, look->style, lc_buf_str(words), SIZE_MAX);
    }
    if (lc_drawing_columns_left(d) > 2 + lc_member_str(of->frame, "id").len &&
        (d->terminal->columns == 0 || d->terminal->columns >= WITH_ID_COLUMNS)) {
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_put(d, LC_STYLE_FAINT, lc_member_str(of->frame, "id"), SIZE_MAX);
    }
    lc_drawing_end_line(d);
    if (has_status_line) {
        put_branches(d, of, true);
        lc_drawing_put(d, look->style, lc_buf_str(words), SIZE_MAX);
        lc_drawing_end_line(d);
    }
    if (error.len > 0) {
        put_branches(d, of, true);
        lc_drawing_put_words(d, LC_STYLE_BAD, "error: ");
        lc_drawing_put(d, LC_STYLE_BAD, error, SIZE_MAX);
        lc_drawing_end_line(d);
    }
    if (is_open(of->frame))
        draw_budget(d, of, words);
}

/* "3 frames  ● 2 active  ○ 1 suspended", also the legend of the symbols */
static void draw_summary(lc_drawing *d, const forest *f)
{
    char words[64];

    (void)snprintf(words, sizeof words, "%zu frame%s", f->count, f->count == 1 ? "" : "s");
    lc_drawing_put_words(d, LC_STYLE_HEADING, words);
    for (size_t i = 0; i < LOOK_COUNT; i++) {
        size_t count = 0;

        for (size_t n = 0; n < f->count; n++)
            count += look_of(f->nodes[n].frame) == &looks[i] ? 1 : 0;
        if (count == 0)
            continue;
        (void)snprintf(words, sizeof words, " %zu %s", count, looks[i].status);
        if (lc_drawing_columns_left(d) < 3 + strlen(words))
            lc_drawing_end_line(d);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
        lc_drawing_put_words(d, looks[i].style, looks[i].symbol);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, words);
    }
    lc_drawing_end_line(d);
}

static bool has_same_scope(const lc_json *a, const lc_json *b)
{
    static const char *const names[] = {"actor_id", "session_id", "thread_id"};

    for (size_t i = 0; i < 3; i++) {
        if (!lc_str_eq(lc_member_str(a, names[i]), lc_member_str(b, names[i])))
            return false;
    }
    return true;
}

static void draw_scope(lc_drawing *d, const lc_json *scope)
{
    static const char *const names[] = {"session_id", "thread_id"};
    static const char *const words[] = {"  session ", "  thread "};

    lc_drawing_put(d, LC_STYLE_NAME, lc_member_str(scope, "actor_id"), SIZE_MAX);
    for (size_t i = 0; i < 2; i++) {
        if (lc_member_str(scope, names[i]).len == 0)
            continue;
        lc_drawing_put_words(d, LC_STYLE_FAINT, words[i]);
        lc_drawing_put(d, LC_STYLE_FAINT, lc_member_str(scope, names[i]), SIZE_MAX);
    }
    lc_drawing_end_line(d);
}

static void draw_legend(lc_drawing *d)
{
    lc_drawing_end_line(d);
    for (size_t i = 0; i < PART_COUNT; i++) {
        lc_drawing_put_words(d, parts[i].style, parts[i].cell);
        lc_drawing_put_words(d, LC_STYLE_FAINT, " ");
        lc_drawing_put_words(d, LC_STYLE_FAINT, parts[i].words);
        lc_drawing_put_words(d, LC_STYLE_PLAIN, "  ");
    }
    lc_drawing_put_words(d, LC_STYLE_FAINT, "░ free");
    lc_drawing_end_line(d);
}

static void draw_trees(const lc_frame_drawing *drawing, lc_drawing *d, const forest *f)
{
    const lc_json *drawn = NULL; /* Scope of the tree above. */
    bool has_bars = false;
    lc_buf words;

    lc_buf_init(&words, drawing->out->heap, LOCI_MEM_REQUESTS, drawing->out->bytes_max);
    for (size_t i = 0; i < f->count; i++) {
        const lc_json *scope = lc_json_find(f->nodes[i].frame, "scope", LC_JSON_OBJECT);

        if (f->nodes[i].parent != NULL)
            continue;
        lc_drawing_end_line(d);
        if (scope != NULL && (drawn == NULL || !has_same_scope(scope, drawn)))
            draw_scope(d, scope);
        drawn = scope;
        for (const node *at = &f->nodes[i]; at != NULL; at = walk(at)) {
            draw_frame(drawing, d, at, &words);
            has_bars = has_bars || is_open(at->frame);
        }
    }
    if (has_bars)
        draw_legend(d);
    lc_buf_clear(&words);
}

loci_status lc_frame_draw(const lc_frame_drawing *drawing, const lc_json *list, loci_error *err)
{
    forest f = {0};
    lc_drawing d;
    loci_status status;

    lc_map_init(&f.by_id, drawing->out->heap, LOCI_MEM_REQUESTS);
    lc_drawing_init(&d, drawing->terminal, drawing->out);
    status = plant(&f, list, drawing->arena, err);
    if (status == LOCI_OK && f.count > 0) {
        draw_summary(&d, &f);
        draw_trees(drawing, &d, &f);
    } else if (status == LOCI_OK) {
        lc_drawing_put_words(&d, LC_STYLE_PLAIN, "No frames; `loci frame push GOAL` pushes one.");
        lc_drawing_end_line(&d);
    }
    if (status == LOCI_OK && lc_json_find(list, "next_cursor", LC_JSON_STRING) != NULL) {
        lc_drawing_put_words(&d, LC_STYLE_FAINT, "… older frames: see `loci frame list`");
        lc_drawing_end_line(&d);
    }
    lc_drawing_clear(&d);
    lc_map_clear(&f.by_id);
    return status;
}
