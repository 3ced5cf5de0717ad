/* render.c - two levels are laid out, deeper ones are printed as JSON: an answer has a head (its
 * scalar members) and sections (its lists and objects). There is no recursion: the depth is fixed
 * here, not by the input. */
#include "cli/render.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/terminal.h"

#define TABLE_COLUMNS_MAX 32
#define TABLE_RANK_MAX 9

typedef struct table_column {
    loci_str title;
    unsigned rank;  /* The lowest is omitted first, TABLE_RANK_MAX last. */
    bool is_kept;   /* Cut last: half an id is useless. */
    bool is_number; /* Right-aligned. */
    bool is_out;    /* Omitted. */
    size_t widest;  /* Width of the widest cell, including the title. */
    size_t width;   /* After layout. */
} table_column;

typedef struct text_table {
    table_column columns[TABLE_COLUMNS_MAX];
    size_t column_count;
    loci_str *cells; /* row_count * column_count */
    size_t row_count;
} text_table;

/* ---- Layout of tables ------------------------------------------------------------------------ */

/* Cells are added row by row; layout happens at the end, when the widths are known. If the table is
 * too wide: omit columns of low rank until the others are readable, omit more until the rest fits
 * at all, then cut the widest columns. */

#define GAP 2
#define WIDTH_FLOOR 8  /* Narrower cells are useless. */
#define WIDTH_FINE 24  /* Enough to read text. */
#define COLUMNS_KEPT 2 /* The first columns identify the row. */

/* Width of the line if text columns are cut to `floor`. */
static size_t width_needed(const text_table *table, size_t floor)
{
    size_t needed = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        const table_column *column = &table->columns[i];
        bool is_cut = !column->is_kept && column->widest > floor;

        if (!column->is_out)
            needed += (is_cut ? floor : column->widest) + (needed > 0 ? GAP : 0);
    }
    return needed;
}

/* The column to omit next: the rightmost of the lowest rank, up to `rank_max`. */
static table_column *least_needed(text_table *table, unsigned rank_max)
{
    table_column *least = NULL;

    for (size_t i = COLUMNS_KEPT; i < table->column_count; i++) {
        table_column *column = &table->columns[i];

        if (!column->is_out && column->rank <= rank_max &&
            (least == NULL || column->rank <= least->rank))
            least = column;
    }
    return least;
}

static size_t line_width(const text_table *table)
{
    size_t width = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].is_out)
            width += table->columns[i].width + (width > 0 ? GAP : 0);
    }
    return width;
}

/* Narrows the widest column, one character at a time, until the line fits or no column is left. */
static void cut(text_table *table, size_t room, bool kept)
{
    while (line_width(table) > room) {
        table_column *widest = NULL;

        for (size_t i = 0; i < table->column_count; i++) {
            table_column *column = &table->columns[i];

            if (!column->is_out && column->is_kept == kept && column->width > WIDTH_FLOOR &&
                (widest == NULL || column->width > widest->width))
                widest = column;
        }
        if (widest == NULL)
            return;
        widest->width--;
    }
}

static void lay_out(text_table *table, size_t room)
{
    table_column *column;

    for (size_t i = 0; i < table->column_count; i++)
        table->columns[i].width = table->columns[i].widest;
    if (room == 0)
        return;
    while (width_needed(table, WIDTH_FINE) > room &&
           (column = least_needed(table, TABLE_RANK_MAX - 1)) != NULL)
        column->is_out = true;
    while (width_needed(table, WIDTH_FLOOR) > room &&
           (column = least_needed(table, TABLE_RANK_MAX)) != NULL)
        column->is_out = true;
    cut(table, room, false);
    cut(table, room, true);
}

static void append_spaces(lc_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lc_buf_append_byte(out, ' ');
}

/* One row, or the titles if `cells` is NULL. */
static void write_line(const text_table *table, const lc_terminal *terminal, lc_buf *out,
                       const loci_str *cells)
{
    size_t padding = 0; /* Owed before the next cell: nothing follows the last one. */

    for (size_t i = 0; i < table->column_count; i++) {
        const table_column *column = &table->columns[i];
        loci_str text = cells != NULL ? cells[i] : column->title;
        size_t columns = lc_text_columns(text);
        bool is_cut = columns > column->width;

        if (column->is_out)
            continue;
        if (is_cut) {
            text.len = lc_text_cut(text, column->width - 1);
            columns = lc_text_columns(text) + 1;
        }
        append_spaces(out, padding + (column->is_number ? column->width - columns : 0));
        lc_terminal_append(terminal, out, cells == NULL ? LC_STYLE_HEADING : LC_STYLE_PLAIN, text);
        if (is_cut)
            lc_buf_append(out, LC_STR("…"));
        padding = GAP + (column->is_number ? 0 : column->width - columns);
    }
    lc_buf_append_byte(out, '\n');
}

static void write_left_out(const text_table *table, const lc_terminal *terminal, lc_buf *out,
                           size_t indent)
{
    char note[256] = "not shown (--json has all):";
    size_t len = strlen(note);
    bool any = false;

    for (size_t i = 0; i < table->column_count; i++) {
        loci_str title = table->columns[i].title;

        if (!table->columns[i].is_out || len + title.len + 2 > sizeof note)
            continue;
        note[len++] = ' ';
        memcpy(note + len, title.ptr, title.len);
        len += title.len;
        any = true;
    }
    if (!any)
        return;
    append_spaces(out, indent);
    if (indent + len > terminal->columns)
        len = lc_text_cut((loci_str){note, len}, terminal->columns - indent);
    lc_terminal_append(terminal, out, LC_STYLE_FAINT, (loci_str){note, len});
    lc_buf_append_byte(out, '\n');
}

static void table_write(text_table *table, const lc_terminal *terminal, lc_buf *out, size_t indent)
{
    lay_out(table, terminal->columns > indent ? terminal->columns - indent : terminal->columns);
    append_spaces(out, indent);
    write_line(table, terminal, out, NULL);
    for (size_t row = 0; row < table->row_count; row++) {
        append_spaces(out, indent);
        write_line(table, terminal, out, table->cells + row * table->column_count);
    }
    write_left_out(table, terminal, out, indent);
}

/* ---- Answers --------------------------------------------------------------------------------- */

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

/* Whether `list`, "name value", has `name`. */
static bool is_listed(const char *list, loci_str name)
{
    loci_str rest = loci_str_of(list);

    while (rest.ptr != NULL) {
        if (lc_str_eq(lc_str_split(rest, ' ', &rest), name))
            return true;
    }
    return false;
}

/* Whether the value is printed below its name, not beside it. */
static bool is_section(const lc_json *value)
{
    return is_list_of_objects(value) ||
           (lc_json_kind_of(value) == LC_JSON_OBJECT && lc_json_count(value) > 0);
}

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

/* Names may be user input. */
static void append_name(const lc_render_target *target, lc_style style, loci_str name)
{
    lc_buf visible;

    lc_buf_init(&visible, target->out->heap, target->out->category, LC_JSON_BYTES_MAX);
    lc_text_append_visible(&visible, name);
    lc_terminal_append(target->terminal, target->out, style, lc_buf_str(&visible));
    lc_buf_clear(&visible);
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
    size_t start;

    append_spaces(out, target->indent);
    append_name(target, LC_STYLE_FAINT, lc_json_name(member));
    if (is_text_of_lines(member)) {
        write_lines(out, lc_json_str(member), target->indent + 4);
        lc_buf_append_byte(out, '\n');
        return;
    }
    append_spaces(out, (width < label_width ? label_width - width : 0) + 2);
    start = out->len;
    lc_render_cell(out, member);
    if (out->len == start)
        lc_terminal_append(target->terminal, out, LC_STYLE_FAINT, LC_STR("none"));
    lc_buf_append_byte(out, '\n');
}

static bool is_hidden(const lc_render_target *target, const lc_json *member)
{
    return target->hidden != NULL && is_listed(target->hidden, lc_json_name(member)) &&
           (lc_json_kind_of(member) != LC_JSON_BOOL || lc_json_bool(member));
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
                (only_plain && is_section(member)))
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

/* Importance of a column: ids and times have less than text. */
static unsigned rank_of(loci_str name, lc_json_kind kind)
{
    if (is_id(name) || lc_str_is(name, "v") || kind == LC_JSON_ARRAY)
        return 2;
    if (ends_with(name, "_at"))
        return 4;
    if (kind == LC_JSON_INT || kind == LC_JSON_REAL || kind == LC_JSON_BOOL)
        return 3;
    return TABLE_RANK_MAX;
}

static table_column *find_column(text_table *table, loci_str name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (lc_str_eq(table->columns[i].title, name))
            return &table->columns[i];
    }
    return NULL;
}

/* One column per name that has a value in any row, in the order of first appearance or of `list`.
 */
static void choose_columns(text_table *table, const lc_json *rows, const char *list)
{
    loci_str order = loci_str_of(list);

    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        for (const lc_json *member = lc_json_first(row); member != NULL;
             member = lc_json_next(member)) {
            loci_str name = lc_json_name(member);
            lc_json_kind kind = lc_json_kind_of(member);
            bool is_number = kind == LC_JSON_INT || kind == LC_JSON_REAL;
            table_column *column = find_column(table, name);

            if (kind == LC_JSON_NULL || (list != NULL && !is_listed(list, name)))
                continue;
            if (column == NULL && table->column_count < TABLE_COLUMNS_MAX) {
                column = &table->columns[table->column_count++];
                *column = (table_column){
                    .title = name, .is_number = is_number, .widest = lc_text_columns(name)};
                column->is_kept = is_id(name) || lc_str_is(name, "name") ||
                                  lc_str_is(name, "key") || ends_with(name, "_at") || is_number;
                column->rank = rank_of(name, kind);
            } else if (column != NULL) {
                column->is_number = column->is_number && is_number;
            }
        }
    }
    for (size_t at = 0; order.ptr != NULL && at < table->column_count;) {
        table_column *found = find_column(table, lc_str_split(order, ' ', &order));

        if (found != NULL) {
            table_column moved = *found;

            *found = table->columns[at];
            table->columns[at++] = moved;
        }
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

/* "3 days ago", "in 2 hours". */
static void append_age(lc_buf *out, int64_t age_us)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {
        {31557600, "year"}, {2629800, "month"}, {86400, "day"}, {3600, "hour"}, {60, "minute"}};
    int64_t seconds = (age_us < 0 ? -age_us : age_us) / 1000000;

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        long long count = seconds / units[i].seconds;

        if (count == 0)
            continue;
        lc_buf_append_format(out, "%s%lld %s%s%s", age_us < 0 ? "in " : "", count, units[i].name,
                             count == 1 ? "" : "s", age_us < 0 ? "" : " ago");
        return;
    }
    lc_buf_append(out, LC_STR("just now"));
}

static void append_cell(const lc_render_target *target, lc_buf *out, loci_str name,
                        const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);
    int64_t us;

    if (target->bars != NULL && is_listed(target->bars, name) &&
        (kind == LC_JSON_REAL || kind == LC_JSON_INT))
        append_bar(out, value);
    else if (target->ages != NULL && is_listed(target->ages, name) && kind == LC_JSON_STRING &&
             lc_time_parse(lc_json_str(value), &us))
        append_age(out, target->now_us - us);
    else
        lc_render_cell(out, value);
}

static void add_row(const lc_render_target *target, text_table *table, const lc_json *row)
{
    loci_str *cells = table->cells + table->row_count++ * table->column_count;
    lc_buf text;

    lc_buf_init(&text, target->out->heap, target->out->category, target->out->bytes_max);
    for (size_t i = 0; i < table->column_count; i++) {
        const lc_json *value = lc_json_member(row, table->columns[i].title);
        size_t columns;

        lc_buf_reset(&text);
        if (value != NULL)
            append_cell(target, &text, table->columns[i].title, value);
        cells[i] = lc_arena_copy(target->arena, lc_buf_str(&text));
        if (cells[i].ptr == NULL)
            cells[i] = LC_STR("");
        columns = lc_text_columns(cells[i]);
        if (columns > table->columns[i].widest)
            table->columns[i].widest = columns;
    }
    lc_buf_clear(&text);
}

/* Whether two columns are equal in all rows. */
static bool has_equal_cells(const text_table *table, size_t a, size_t b)
{
    for (size_t row = 0; row < table->row_count; row++) {
        const loci_str *cells = table->cells + row * table->column_count;

        if (!lc_str_eq(cells[a], cells[b]))
            return false;
    }
    return true;
}

/* Columns without information are omitted first: copies of another column, and constants. */
static void rank_by_content(text_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        bool is_constant = table->row_count > 1;

        for (size_t row = 1; row < table->row_count; row++)
            is_constant &= lc_str_eq(table->cells[row * table->column_count + i], table->cells[i]);
        if (is_constant)
            table->columns[i].rank = 1;
        for (size_t earlier = 0; earlier < i; earlier++) {
            if (has_equal_cells(table, earlier, i))
                table->columns[i].rank = 0;
        }
    }
}

static void write_table(const lc_render_target *target, const lc_json *rows)
{
    lc_arena_mark mark = lc_arena_get_mark(target->arena);
    text_table table = {0};

    choose_columns(&table, rows, target->columns);
    table.cells = lc_arena_zalloc_array(target->arena, lc_json_count(rows) * table.column_count + 1,
                                        sizeof *table.cells);
    if (table.column_count > 0 && table.cells != NULL) {
        for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row))
            add_row(target, &table, row);
        if (target->columns == NULL)
            rank_by_content(&table);
        table_write(&table, target->terminal, target->out, target->indent);
    }
    lc_arena_rewind(target->arena, mark);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/*     ██████░░░░ 0.63  A text that may be longer than
 *                      the line
 *                      3 days ago · mem_01…
 */

#define TEXT_LINES_MAX 8
#define TEXT_ROOM_MIN 20
#define DETAILS_BYTES_MAX 2000

/* The longest beginning of whole words that fits; a word that is longer than the line is cut. */
static size_t line_of_words(loci_str text, size_t room)
{
    size_t fits = lc_text_cut(text, room), end = fits;

    if (fits == text.len)
        return fits;
    while (end > 0 && text.ptr[end] != ' ')
        end--;
    return end > 0 ? end : fits > 0 ? fits : text.len;
}

/* Writes words from column `indent` on; the first line begins where the output is. */
static void write_words(const lc_render_target *target, lc_style style, loci_str text,
                        size_t indent)
{
    size_t columns = target->terminal->columns;
    size_t room = columns > indent + TEXT_ROOM_MIN ? columns - indent : TEXT_ROOM_MIN;

    for (int line = 1; text.len > 0; line++) {
        bool is_last = line == TEXT_LINES_MAX;
        size_t bytes = line_of_words(text, is_last ? room - 1 : room);

        if (line > 1)
            append_spaces(target->out, indent);
        lc_terminal_append(target->terminal, target->out, style, (loci_str){text.ptr, bytes});
        text = lc_str_trim((loci_str){text.ptr + bytes, text.len - bytes});
        if (is_last && text.len > 0) {
            lc_buf_append(target->out, LC_STR("…"));
            text.len = 0;
        }
        lc_buf_append_byte(target->out, '\n');
    }
}

/* "status archived" of an object's member that needs its name, else the value alone. */
static void append_detail(const lc_render_target *target, lc_buf *out, const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);
    bool is_number = kind == LC_JSON_INT || kind == LC_JSON_REAL;

    if (out->len > 0)
        lc_buf_append(out, LC_STR(" · "));
    if (is_number)
        lc_buf_append_format(out, "%.*s ", LC_STR_ARG(lc_json_name(value)));
    if (kind == LC_JSON_REAL)
        lc_buf_append_format(out, "%.2f", lc_json_real(value));
    else
        append_cell(target, out, lc_json_name(value), value);
}

/* The columns of a row behind its text, and those of its parts in a line of their own. */
static void write_details(const lc_render_target *target, const lc_json *row, size_t indent)
{
    const lc_json *parts = NULL;
    lc_buf line;

    lc_buf_init(&line, target->out->heap, target->out->category, DETAILS_BYTES_MAX);
    for (loci_str rest = loci_str_of(target->columns); rest.ptr != NULL;) {
        loci_str name = lc_str_split(rest, ' ', &rest);
        const lc_json *value = lc_json_member(row, name);

        if (value == NULL || lc_json_kind_of(value) == LC_JSON_NULL || lc_str_is(name, "text") ||
            (target->bars != NULL && is_listed(target->bars, name)))
            continue;
        if (lc_json_kind_of(value) == LC_JSON_OBJECT)
            parts = value;
        else
            append_detail(target, &line, value);
    }
    for (int i = 0; i < 2; i++) {
        if (line.len > 0) {
            append_spaces(target->out, indent);
            write_words(target, LC_STYLE_FAINT, lc_buf_str(&line), indent);
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
    lc_buf lead, text;

    lc_buf_init(&lead, target->out->heap, target->out->category, DETAILS_BYTES_MAX);
    lc_buf_init(&text, target->out->heap, target->out->category, target->out->bytes_max);
    for (const lc_json *row = lc_json_first(rows); row != NULL; row = lc_json_next(row)) {
        const lc_json *score = target->bars != NULL ? lc_json_member(row, loci_str_of(target->bars))
                                                    : NULL;
        const lc_json *body = lc_json_member(row, LC_STR("text"));
        size_t indent;

        lc_buf_reset(&lead);
        lc_buf_reset(&text);
        append_spaces(&lead, target->indent);
        if (score != NULL) {
            append_bar(&lead, score);
            append_spaces(&lead, GAP);
        }
        if (body != NULL)
            lc_render_cell(&text, body);
        indent = lc_text_columns(lc_buf_str(&lead));
        lc_buf_append(target->out, lc_buf_str(&lead));
        write_words(target, LC_STYLE_PLAIN, lc_buf_str(&text), indent);
        write_details(target, row, score != NULL ? indent : indent + GAP);
    }
    lc_buf_clear(&text);
    lc_buf_clear(&lead);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void write_rows(const lc_render_target *target, const lc_json *rows)
{
    if (target->is_of_texts && target->terminal->is_terminal)
        write_texts(target, rows);
    else
        write_table(target, rows);
}

static void write_section(const lc_render_target *target, const lc_json *member)
{
    lc_render_target inner = *target;

    append_spaces(target->out, target->indent);
    append_name(target, LC_STYLE_HEADING, lc_json_name(member));
    lc_buf_append_byte(target->out, '\n');

    inner.indent += 2;
    if (lc_json_kind_of(member) == LC_JSON_ARRAY)
        write_rows(&inner, member);
    else
        (void)write_head(&inner, member, false); /* Empty or not. */
}

/* The only member that is neither null nor hidden, or NULL. */
static const lc_json *single_member(const lc_render_target *target, const lc_json *object)
{
    const lc_json *found = NULL;

    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        if (lc_json_kind_of(member) == LC_JSON_NULL || is_hidden(target, member))
            continue;
        if (found != NULL)
            return NULL;
        found = member;
    }
    return found;
}

static void write_sections(const lc_render_target *target, const lc_json *first, bool any)
{
    for (const lc_json *member = first; member != NULL; member = lc_json_next(member)) {
        if (!is_section(member) || is_hidden(target, member))
            continue;
        if (any)
            lc_buf_append_byte(target->out, '\n');
        write_section(target, member);
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

static void write_object(const lc_render_target *target, const lc_json *object)
{
    const lc_json *first = lc_json_first(object);
    const lc_json *single = single_member(target, object);

    if (target->text != NULL && lc_json_find(object, target->text, LC_JSON_STRING) != NULL) {
        write_text(target->out, lc_json_str(lc_json_member(object, loci_str_of(target->text))));
        write_sections(target, first, true);
        return;
    }
    if (single != NULL && lc_json_kind_of(single) == LC_JSON_ARRAY && lc_json_count(single) == 0) {
        append_spaces(target->out, target->indent);
        lc_buf_append(target->out, LC_STR("no "));
        append_name(target, LC_STYLE_PLAIN, lc_json_name(single));
        lc_buf_append_byte(target->out, '\n');
        return;
    }
    if (first == NULL || !is_list_of_objects(first)) {
        write_sections(target, first, write_head(target, object, true));
        return;
    }
    /* The list is the main result: it has no heading, and the other members follow it. */
    write_rows(target, first);
    if (single == NULL) {
        lc_buf_append_byte(target->out, '\n');
        write_sections(target, lc_json_next(first), write_head(target, object, true));
    }
}

void lc_render(const lc_render_target *target, const lc_json *value)
{
    if (lc_json_kind_of(value) == LC_JSON_OBJECT) {
        write_object(target, value);
        return;
    }
    if (is_list_of_objects(value)) {
        write_table(target, value);
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
