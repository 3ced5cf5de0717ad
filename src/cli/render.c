/* render.c - two levels are laid out, deeper ones are printed as JSON: an answer has a head (its
 * scalar members) and sections (its lists and objects). There is no recursion: the depth is fixed
 * here, not by the input. */
#include "cli/render.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/sentence.h"
#include "cli/table.h"
#include "cli/terminal.h"

#define GAP 2

static void append_spaces(lc_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lc_buf_append_byte(out, ' ');
}

/* ---- Declarations ---------------------------------------------------------------------------- */

bool lc_render_is_listed(const char *list, loci_str name)
{
    loci_str rest = loci_str_of(list);

    while (rest.ptr != NULL) {
        if (lc_str_eq(lc_str_split(rest, ' ', &rest), name))
            return true;
    }
    return false;
}

bool lc_render_find_member(const lc_record *record, loci_str name, lc_result *out)
{
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = record != NULL ? lc_record_members(record, members) : 0;

    for (size_t i = 0; i < count; i++) {
        if (!lc_str_is(name, members[i].name))
            continue;
        *out = members[i];
        return true;
    }
    return false;
}

static const lc_look *look_of(const lc_render_target *target)
{
    static const lc_look none = {0};

    return target->look != NULL ? target->look : &none;
}

/* The columns to show of the main list; NULL = all. */
static const char *columns_of(const lc_render_target *target)
{
    return target->columns != NULL ? target->columns : look_of(target)->columns;
}

static bool is_for_people(const lc_render_target *target)
{
    return target->terminal->is_terminal && !target->is_full;
}

static bool is_time(const lc_render_target *target, loci_str name)
{
    lc_result member;

    return lc_render_find_member(target->record, name, &member) && member.record == NULL &&
           member.kind == LC_PARAM_TIME;
}

static bool is_hidden(const lc_render_target *target, const lc_json *member)
{
    loci_str name = lc_json_name(member);

    if (lc_str_is(name, "next_cursor"))
        return true; /* cli/answer.c prints it. */
    if (target->is_full || !lc_render_is_listed(look_of(target)->hidden, name))
        return false;
    return lc_json_kind_of(member) != LC_JSON_BOOL || lc_json_bool(member);
}

/* ---- Values ---------------------------------------------------------------------------------- */

void lc_render_json(lc_buf *out, const lc_json *value)
{
    lc_buf text;
    lc_json_writer w;

    lc_buf_init(&text, out->heap, out->category, out->bytes_max);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, value);
    lc_text_append_visible(out, lc_buf_str(&text));
    lc_buf_clear(&text);
}

static void append_list(lc_buf *out, const lc_json *list)
{
    bool is_first = true;

    for (const lc_json *item = lc_json_first(list); item != NULL; item = lc_json_next(item)) {
        if (!is_first)
            lc_buf_append(out, LC_STR(", "));
        is_first = false;
        if (lc_json_kind_of(item) == LC_JSON_STRING)
            lc_text_append_visible(out, lc_json_str(item));
        else
            lc_render_json(out, item);
    }
}

void lc_render_cell(lc_buf *out, const lc_json *value)
{
    switch (lc_json_kind_of(value)) {
    case LC_JSON_NULL:
        break;
    case LC_JSON_BOOL:
        lc_buf_append(out, lc_json_bool(value) ? LC_STR("yes") : LC_STR("no"));
        break;
    case LC_JSON_STRING:
        lc_text_append_visible(out, lc_json_str(value));
        break;
    case LC_JSON_ARRAY:
        append_list(out, value);
        break;
    case LC_JSON_INT:
    case LC_JSON_REAL:
    case LC_JSON_OBJECT:
        lc_render_json(out, value);
        break;
    }
}

#define BAR_CELLS 10

/* 0.63 as "██████░░░░ 0.63". */
static void append_bar(lc_buf *out, const lc_json *value)
{
    double share = lc_json_real(value);
    int full = (int)(share * BAR_CELLS + 0.5);

    for (int i = 0; i < BAR_CELLS; i++)
        lc_buf_append(out, i < full ? LC_STR("█") : LC_STR("░"));
    lc_buf_append_format(out, " %.2f", share);
}

void lc_render_age(lc_buf *out, int64_t age_us)
{
    static const struct {
        int64_t seconds;
        const char *one, *many;
    } units[] = {{31557600, "year", "years"},
                 {2629800, "month", "months"},
                 {86400, "day", "days"},
                 {3600, "hour", "hours"},
                 {60, "min", "min"}};
    int64_t seconds = (age_us < 0 ? -age_us : age_us) / 1000000;

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        long long count = seconds / units[i].seconds;

        if (count == 0)
            continue;
        lc_buf_append_format(out, "%s%lld %s%s", age_us < 0 ? "in " : "", count,
                             count == 1 ? units[i].one : units[i].many, age_us < 0 ? "" : " ago");
        return;
    }
    lc_buf_append(out, LC_STR("just now"));
}

/* A member of target->record. */
static void append_value(const lc_render_target *target, lc_buf *out, const lc_json *value)
{
    loci_str name = lc_json_name(value);
    lc_json_kind kind = lc_json_kind_of(value);
    const char *bar = look_of(target)->bar;
    int64_t us;

    if (is_for_people(target) && bar != NULL && lc_str_is(name, bar) &&
        (kind == LC_JSON_REAL || kind == LC_JSON_INT))
        append_bar(out, value);
    else if (is_for_people(target) && kind == LC_JSON_STRING && is_time(target, name) &&
             lc_time_parse(lc_json_str(value), &us))
        lc_render_age(out, target->now_us - us);
    else
        lc_render_cell(out, value);
}

/* Names may be user input. */
static void append_name(const lc_render_target *target, lc_style style, loci_str name)
{
    lc_buf visible;

    lc_buf_init(&visible, target->out->heap, target->out->category, LC_JSON_BYTES_MAX);
    lc_text_append_visible(&visible, name);
    lc_terminal_append(target->terminal, target->out, style, lc_buf_str(&visible));
    lc_buf_clear(&visible);
}

#define TEXT_LINES_MAX 8
#define TEXT_ROOM_MIN 20

/* A token or a path must not be broken: it could not be copied. */
static bool is_unbroken(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') /* Also other bytes of UTF-8. */
            return false;
    }
    return true;
}

/* `lines_max` 0 = all of them. */
static void write_words(const lc_render_target *target, lc_style style, loci_str text,
                        size_t indent, int lines_max)
{
    size_t columns = target->terminal->columns;
    size_t room = columns > indent + TEXT_ROOM_MIN ? columns - indent : TEXT_ROOM_MIN;
    bool is_whole = columns == 0 || is_unbroken(text);

    for (int line = 1; text.len > 0; line++) {
        bool is_last = !is_whole && line == lines_max && lc_text_columns(text) > room;
        size_t bytes = is_whole ? text.len : lc_text_line(text, is_last ? room - 1 : room);

        if (line > 1)
            append_spaces(target->out, indent);
        lc_terminal_append(target->terminal, target->out, style, (loci_str){text.ptr, bytes});
        text = is_last ? LC_STR("") : lc_text_rest(text, bytes);
        if (is_last)
            lc_buf_append(target->out, LC_STR("…"));
        lc_buf_append_byte(target->out, '\n');
    }
}

void lc_render_words(const lc_render_target *target, lc_style style, loci_str text, size_t indent)
{
    write_words(target, style, text, indent, 0);
}

/* ---- Records --------------------------------------------------------------------------------- */

#define LABEL_COLUMNS_MAX 28 /* One long name must not push all values to the right. */

static bool is_list_of_objects(const lc_json *value)
{
    if (lc_json_kind_of(value) != LC_JSON_ARRAY || lc_json_count(value) == 0)
        return false;
    for (const lc_json *item = lc_json_first(value); item != NULL; item = lc_json_next(item)) {
        if (lc_json_kind_of(item) != LC_JSON_OBJECT)
            return false;
    }
    return true;
}

/* Whether the value is printed below its name, not beside it. */
static bool is_section(const lc_json *value)
{
    return is_list_of_objects(value) ||
           (lc_json_kind_of(value) == LC_JSON_OBJECT && lc_json_count(value) > 0);
}

/* Text with several lines is printed below its label, indented. */
static void write_lines(lc_buf *out, loci_str text, size_t indent)
{
    loci_str rest = text;

    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        lc_buf_append_byte(out, '\n');
        append_spaces(out, line.len > 0 ? indent : 0);
        lc_text_append_visible(out, line);
    }
}

static bool is_text_of_lines(const lc_json *value)
{
    return lc_json_kind_of(value) == LC_JSON_STRING && lc_json_str(value).len > 0 &&
           memchr(lc_json_str(value).ptr, '\n', lc_json_str(value).len) != NULL;
}

static void write_member(const lc_render_target *target, const lc_json *member, size_t label_width)
{
    lc_buf *out = target->out;
    size_t width = lc_text_columns(lc_json_name(member));
    size_t gap = (width < label_width ? label_width - width : 0) + GAP;
    size_t at = target->indent + width + gap;
    lc_buf text;

    append_spaces(out, target->indent);
    append_name(target, LC_STYLE_FAINT, lc_json_name(member));
    if (is_text_of_lines(member)) {
        write_lines(out, lc_json_str(member), target->indent + 4);
        lc_buf_append_byte(out, '\n');
        return;
    }
    lc_buf_init(&text, out->heap, out->category, out->bytes_max);
    append_value(target, &text, member);
    /* A word that does not fit beside its name goes below it. */
    if (at + text.len > target->terminal->columns && target->terminal->columns > 0 &&
        is_unbroken(lc_buf_str(&text))) {
        lc_buf_append_byte(out, '\n');
        append_spaces(out, target->indent + 4);
    } else {
        append_spaces(out, gap);
    }
    if (text.len > 0) {
        lc_render_words(target, LC_STYLE_PLAIN, lc_buf_str(&text), at);
    } else {
        lc_terminal_append(target->terminal, out, LC_STYLE_FAINT, LC_STR("none"));
        lc_buf_append_byte(out, '\n');
    }
    lc_buf_clear(&text);
}

static bool is_empty_list(const lc_json *value)
{
    return lc_json_kind_of(value) == LC_JSON_ARRAY && lc_json_count(value) == 0;
}

/* Writes the scalar members. Returns whether there were any. */
static bool write_head(const lc_render_target *target, const lc_json *object, bool only_plain)
{
    size_t label_width = 0;
    bool any = false;

    for (int pass = 0; pass < 2; pass++) {
        for (const lc_json *member = lc_json_first(object); member != NULL;
             member = lc_json_next(member)) {
            size_t width = lc_text_columns(lc_json_name(member));

            if (lc_json_kind_of(member) == LC_JSON_NULL || is_hidden(target, member) ||
                (only_plain && is_section(member)) ||
                (is_empty_list(member) && is_for_people(target)))
                continue;
            any = true;
            if (pass == 1)
                write_member(target, member, label_width);
            else if (width > label_width && width <= LABEL_COLUMNS_MAX)
                label_width = width;
        }
    }
    return any;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool ends_with(loci_str text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

static bool is_id(loci_str name)
{
    return lc_str_is(name, "id") || ends_with(name, "_id") || ends_with(name, "_by");
}

static bool has_value(const lc_json *rows, loci_str name)
{
    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        const lc_json *value = lc_json_member(row, name);

        if (value != NULL && lc_json_kind_of(value) != LC_JSON_NULL && !is_empty_list(value) &&
            !(lc_json_kind_of(value) == LC_JSON_STRING && lc_json_str(value).len == 0))
            return true;
    }
    return false;
}

static bool is_of_numbers(const lc_json *rows, loci_str name)
{
    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        const lc_json *value = lc_json_member(row, name);
        lc_json_kind kind = value != NULL ? lc_json_kind_of(value) : LC_JSON_NULL;

        if (kind != LC_JSON_NULL && kind != LC_JSON_INT && kind != LC_JSON_REAL)
            return false;
    }
    return true;
}

static void add_column(lc_text_table *table, const lc_json *rows, loci_str name)
{
    if (table->column_count < LC_TEXT_TABLE_COLUMNS_MAX)
        table->columns[table->column_count++] = (lc_text_column){
            .title = name, .is_id = is_id(name), .is_number = is_of_numbers(rows, name)};
}

/* The columns that are declared or chosen, in their order; people do not see empty ones. */
static void take_columns(const lc_render_target *target, lc_text_table *table, const lc_json *rows,
                         const char *list)
{
    for (loci_str rest = loci_str_of(list); rest.ptr != NULL;) {
        loci_str name = lc_str_split(rest, ' ', &rest);

        if (target->columns != NULL || !target->terminal->is_terminal || has_value(rows, name))
            add_column(table, rows, name);
    }
}

/* One column per name that has a value in any row, in the order of first appearance. */
static void find_columns(lc_text_table *table, const lc_json *rows)
{
    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        for (const lc_json *member = lc_json_first(row); member != NULL;
             member = lc_json_next(member)) {
            loci_str name = lc_json_name(member);
            bool is_known = false;

            for (size_t i = 0; i < table->column_count; i++)
                is_known = is_known || lc_str_eq(table->columns[i].title, name);
            if (!is_known && has_value(rows, name))
                add_column(table, rows, name);
        }
    }
}

static loci_str make_cell(const lc_render_target *target, const lc_json *value)
{
    loci_str cell = LC_STR("");
    lc_buf text;

    lc_buf_init(&text, target->out->heap, target->out->category, target->out->bytes_max);
    if (value != NULL)
        append_value(target, &text, value);
    if (text.len > 0)
        cell = lc_arena_copy(target->arena, lc_buf_str(&text));
    lc_buf_clear(&text);
    return cell.ptr != NULL ? cell : LC_STR("");
}

/* `list` = the columns, NULL = all. */
static void write_table(const lc_render_target *target, const lc_json *rows, const char *list)
{
    lc_arena_mark mark = lc_arena_get_mark(target->arena);
    lc_text_table table = {.is_chosen = target->columns != NULL, .is_padded = target->is_table};
    loci_str *cells;

    if (list != NULL)
        take_columns(target, &table, rows, list);
    else
        find_columns(&table, rows);
    cells = lc_arena_zalloc_array(target->arena, lc_json_count(rows) * table.column_count + 1,
                                  sizeof *cells);
    if (table.column_count > 0 && cells != NULL) {
        for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
            for (size_t i = 0; i < table.column_count; i++)
                cells[table.row_count * table.column_count + i] = make_cell(
                    target, lc_json_member(row, table.columns[i].title));
            table.row_count++;
        }
        table.cells = cells;
        lc_text_table_write(&table, target->terminal, target->indent, target->out);
    }
    lc_arena_rewind(target->arena, mark);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/*     ██████░░░░ 0.63  A text that may be longer than
 *                      the line
 *                      3 days ago · mem_01…
 */

#define DETAILS_BYTES_MAX 2000
#define BAR_SCREEN_MIN 60 /* On a narrower screen the bar would take the place of the text. */

/* "status archived" of an object's member that needs its name, else the value alone. */
static void append_detail(const lc_render_target *target, lc_buf *out, const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);

    if (out->len > 0)
        lc_buf_append(out, LC_STR(" · "));
    if (kind == LC_JSON_INT || kind == LC_JSON_REAL)
        lc_buf_append_format(out, "%.*s ", LC_STR_ARG(lc_json_name(value)));
    if (kind == LC_JSON_REAL)
        lc_buf_append_format(out, "%.2f", lc_json_real(value));
    else
        append_value(target, out, value);
}

/* The columns of a row behind its text, and those of its parts in a line of their own. */
static void write_details(const lc_render_target *target, const lc_json *row, size_t indent)
{
    const lc_json *parts = NULL;
    lc_buf line;

    lc_buf_init(&line, target->out->heap, target->out->category, DETAILS_BYTES_MAX);
    for (loci_str rest = loci_str_of(columns_of(target)); rest.ptr != NULL;) {
        loci_str name = lc_str_split(rest, ' ', &rest);
        const lc_json *value = lc_json_member(row, name);

        if (value == NULL || lc_json_kind_of(value) == LC_JSON_NULL || lc_str_is(name, "text") ||
            (look_of(target)->bar != NULL && lc_str_is(name, look_of(target)->bar)))
            continue;
        if (lc_json_kind_of(value) == LC_JSON_OBJECT)
            parts = value;
        else
            append_detail(target, &line, value);
    }
    for (int i = 0; i < 2; i++) {
        if (line.len > 0) {
            append_spaces(target->out, indent);
            lc_render_words(target, LC_STYLE_FAINT, lc_buf_str(&line), indent);
        }
        lc_buf_reset(&line);
        for (const lc_json *part = parts != NULL ? lc_json_first(parts) : NULL; part != NULL;
             part = lc_json_next(part))
            append_detail(target, &line, part);
        if (parts == NULL)
            break;
    }
    lc_buf_clear(&line);
}

static void write_texts(const lc_render_target *target, const lc_json *rows)
{
    const char *bar = look_of(target)->bar;
    lc_buf lead, text;

    lc_buf_init(&lead, target->out->heap, target->out->category, DETAILS_BYTES_MAX);
    lc_buf_init(&text, target->out->heap, target->out->category, target->out->bytes_max);
    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        const lc_json *score = bar != NULL ? lc_json_member(row, loci_str_of(bar)) : NULL;
        const lc_json *body = lc_json_member(row, LC_STR("text"));
        size_t indent;

        lc_buf_reset(&lead);
        lc_buf_reset(&text);
        append_spaces(&lead, target->indent);
        if (score != NULL && target->terminal->columns >= BAR_SCREEN_MIN) {
            append_bar(&lead, score);
            append_spaces(&lead, GAP);
        } else if (score != NULL) {
            lc_buf_append_format(&lead, "%.2f  ", lc_json_real(score));
        }
        if (body != NULL)
            lc_render_cell(&text, body);
        indent = lc_text_columns(lc_buf_str(&lead));
        lc_buf_append(target->out, lc_buf_str(&lead));
        write_words(target, LC_STYLE_PLAIN, lc_buf_str(&text), indent, TEXT_LINES_MAX);
        write_details(target, row, score != NULL ? indent : indent + GAP);
    }
    lc_buf_clear(&text);
    lc_buf_clear(&lead);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Each row with all its members, one below the other. */
static void write_records(const lc_render_target *target, const lc_json *rows)
{
    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        if (row != lc_json_first(rows))
            lc_buf_append_byte(target->out, '\n');
        (void)write_head(target, row, false); /* Empty or not. */
    }
}

/* The rows of a list; `target` has their record. */
static void write_rows(const lc_render_target *target, const lc_json *rows, bool is_main)
{
    if (target->is_full && is_main && target->terminal->is_terminal && target->columns == NULL) {
        write_records(target, rows);
        return;
    }
    if (is_main && look_of(target)->is_of_texts && is_for_people(target) && !target->is_table &&
        target->columns == NULL)
        write_texts(target, rows);
    else
        write_table(target, rows, is_main && !target->is_full ? columns_of(target) : NULL);
}

/* The name of the list that the columns of the look are about; "" = none. */
static loci_str main_list_of(const lc_render_target *target)
{
    const char *name = "";

    if (target->record == NULL || columns_of(target) == NULL ||
        lc_record_rows(target->record, &name) == NULL)
        return LC_STR("");
    return loci_str_of(name);
}

static void write_section(const lc_render_target *target, const lc_json *member, bool has_heading)
{
    bool is_main = lc_str_eq(lc_json_name(member), main_list_of(target));
    lc_render_target inner = *target;
    lc_result declared;

    inner.record = lc_render_find_member(target->record, lc_json_name(member), &declared)
                       ? declared.record
                       : NULL;
    if (has_heading) {
        append_spaces(target->out, target->indent);
        append_name(target, LC_STYLE_HEADING, lc_json_name(member));
        lc_buf_append_byte(target->out, '\n');
        inner.indent += GAP;
    }
    if (lc_json_kind_of(member) == LC_JSON_ARRAY)
        write_rows(&inner, member, is_main);
    else
        (void)write_head(&inner, member, false); /* Empty or not. */
}

/* The lists and objects but that of the name `but`. */
static void write_sections(const lc_render_target *target, const lc_json *object, loci_str but,
                           bool any)
{
    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        if (!is_section(member) || is_hidden(target, member) ||
            lc_str_eq(lc_json_name(member), but))
            continue;
        if (any)
            lc_buf_append_byte(target->out, '\n');
        write_section(target, member, true);
        any = true;
    }
}

/* Lines as they are, tabs included; other control characters are escaped. */
static void write_text(lc_buf *out, loci_str text)
{
    while (text.len > 0) {
        loci_str line = lc_str_split(text, '\n', &text);

        while (line.ptr != NULL) {
            bool has_tab = line.len > 0 && memchr(line.ptr, '\t', line.len) != NULL;

            lc_text_append_visible(out, lc_str_split(line, '\t', &line));
            if (has_tab)
                lc_buf_append_byte(out, '\t');
        }
        lc_buf_append_byte(out, '\n');
    }
}

/* A change in one sentence, then the lists of the answer: they say what else happened. */
static void write_sentence(const lc_render_target *target, const lc_json *object)
{
    lc_buf text;

    lc_buf_init(&text, target->out->heap, target->out->category, target->out->bytes_max);
    lc_sentence_append(&text, &(lc_sentence){.pattern = look_of(target)->sentence,
                                             .answer = object,
                                             .args = target->args,
                                             .record = target->record,
                                             .now_us = target->now_us});
    lc_render_words(target, LC_STYLE_PLAIN, lc_buf_str(&text), GAP);
    lc_buf_clear(&text);
    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        if (is_list_of_objects(member) && !is_hidden(target, member)) {
            lc_buf_append_byte(target->out, '\n');
            write_section(target, member, true);
        }
    }
}

/* The list first, without a heading; the other members follow it. */
static void write_list(const lc_render_target *target, const lc_json *object, const lc_json *list)
{
    lc_buf rest;
    lc_render_target after = *target;

    if (!is_list_of_objects(list)) {
        append_spaces(target->out, target->indent);
        lc_buf_append(target->out, LC_STR("no "));
        append_name(target, LC_STYLE_PLAIN, lc_json_name(list));
        lc_buf_append_byte(target->out, '\n');
    } else {
        write_section(target, list, false);
    }
    lc_buf_init(&rest, target->out->heap, target->out->category, target->out->bytes_max);
    after.out = &rest;
    if (lc_json_count(list) > 0)
        write_sections(&after, object, lc_json_name(list), write_head(&after, object, true));
    if (rest.len > 0) {
        lc_buf_append_byte(target->out, '\n');
        lc_buf_append(target->out, lc_buf_str(&rest));
    }
    lc_buf_clear(&rest);
}

static void write_object(const lc_render_target *target, const lc_json *object)
{
    const lc_look *look = look_of(target);
    const lc_json *list = lc_json_member(object, main_list_of(target));
    const lc_json *text = look->text != NULL ? lc_json_find(object, look->text, LC_JSON_STRING)
                                             : NULL;

    if (text != NULL && !target->is_full) {
        write_text(target->out, lc_json_str(text));
        write_sections(target, object, LC_STR(""), true);
    } else if (look->sentence != NULL && is_for_people(target) && !target->is_table) {
        write_sentence(target, object);
    } else if (list != NULL && look->sentence == NULL && lc_json_kind_of(list) == LC_JSON_ARRAY) {
        write_list(target, object, list);
    } else {
        write_sections(target, object, LC_STR(""), write_head(target, object, true));
    }
}

void lc_render(const lc_render_target *target, const lc_json *value)
{
    if (lc_json_kind_of(value) == LC_JSON_OBJECT) {
        write_object(target, value);
        return;
    }
    if (is_list_of_objects(value)) {
        write_table(target, value, target->columns);
        return;
    }
    if (lc_json_kind_of(value) != LC_JSON_ARRAY) {
        append_spaces(target->out, target->indent);
        lc_render_cell(target->out, value);
        lc_buf_append_byte(target->out, '\n');
        return;
    }
    for (const lc_json *item = lc_json_first(value); item != NULL; item = lc_json_next(item)) {
        append_spaces(target->out, target->indent);
        lc_render_cell(target->out, item);
        lc_buf_append_byte(target->out, '\n');
    }
}
