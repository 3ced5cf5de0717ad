/* table.c - layout in three steps: omit columns until the others can be read, narrow the widest
 * ones until the line fits, wrap their cells at words. The first two columns say what a row is
 * about and are never omitted. */
#include "cli/table.h"

#include "base/str.h"

#define GAP 2
#define WIDTH_FLOOR 8    /* Narrower cells are useless. */
#define WIDTH_FINE 24    /* Enough to read text. */
#define COLUMNS_KEPT 2   /* The first ones. */
#define CELL_LINES_MAX 6 /* A longer cell ends with "…". */

/* Width of the line if no column is wider than `width_max`. */
static size_t line_width(const lc_text_table *table, size_t width_max)
{
    size_t width = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        const lc_text_column *column = &table->columns[i];

        if (!column->is_out)
            width += (column->width < width_max ? column->width : width_max) +
                     (width > 0 ? GAP : 0);
    }
    return width;
}

/* The column to omit next, the rightmost: of those with ids, or of all. */
static lc_text_column *least_needed(lc_text_table *table, bool only_ids)
{
    size_t first = only_ids ? 1 : COLUMNS_KEPT;

    for (size_t i = table->column_count; i > first; i--) {
        lc_text_column *column = &table->columns[i - 1];

        if (!column->is_out && (column->is_id || !only_ids))
            return column;
    }
    return NULL;
}

static void omit(lc_text_table *table, size_t room)
{
    lc_text_column *column;

    while (line_width(table, SIZE_MAX) > room && (column = least_needed(table, true)) != NULL)
        column->is_out = true;
    while (line_width(table, WIDTH_FINE) > room && (column = least_needed(table, false)) != NULL)
        column->is_out = true;
}

/* Narrows the widest column, one character at a time. */
static void narrow(lc_text_table *table, size_t room)
{
    while (line_width(table, SIZE_MAX) > room) {
        lc_text_column *widest = NULL;

        for (size_t i = 0; i < table->column_count; i++) {
            lc_text_column *column = &table->columns[i];

            if (!column->is_out && column->width > WIDTH_FLOOR &&
                (widest == NULL || column->width > widest->width))
                widest = column;
        }
        if (widest == NULL)
            return;
        widest->width--;
    }
}

static void lay_out(lc_text_table *table, size_t room)
{
    for (size_t i = 0; i < table->column_count; i++) {
        lc_text_column *column = &table->columns[i];

        column->is_out = false;
        column->widest = lc_text_columns(column->title);
        for (size_t row = 0; row < table->row_count; row++) {
            size_t columns = lc_text_columns(table->cells[row * table->column_count + i]);

            column->widest = columns > column->widest ? columns : column->widest;
        }
        column->width = column->widest;
    }
    if (room == 0)
        return;
    if (!table->is_chosen)
        omit(table, room);
    narrow(table, room);
}

static void append_spaces(lc_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lc_buf_append_byte(out, ' ');
}

typedef struct table_output {
    const lc_text_table *table;
    const lc_terminal *terminal;
    size_t indent;
    lc_buf *out;
} table_output;

/* One line of a row; `rests` are what is left of its cells. Returns whether anything is left. */
static bool write_line(const table_output *o, loci_str *rests, lc_style style, bool is_last)
{
    size_t padding = o->indent; /* Owed before the next cell: nothing follows the last one. */
    bool is_more = false;

    for (size_t i = 0; i < o->table->column_count; i++) {
        const lc_text_column *column = &o->table->columns[i];
        bool is_cut = is_last && lc_text_columns(rests[i]) > column->width;
        size_t bytes = is_cut ? lc_text_cut(rests[i], column->width - 1)
                              : lc_text_line(rests[i], column->width);
        loci_str part = {rests[i].ptr, bytes};
        size_t columns = lc_text_columns(part) + is_cut;

        if (column->is_out)
            continue;
        rests[i] = lc_text_rest(rests[i], bytes);
        is_more = is_more || rests[i].len > 0;
        if (part.len > 0) {
            append_spaces(o->out, padding + (column->is_number ? column->width - columns : 0));
            lc_terminal_append(o->terminal, o->out, style, part);
            if (is_cut)
                lc_buf_append(o->out, LC_STR("…"));
            padding = GAP + (column->is_number ? 0 : column->width - columns);
        } else {
            padding += column->width + GAP;
        }
    }
    lc_buf_append_byte(o->out, '\n');
    return is_more && !is_last;
}

static void write_row(const table_output *o, const loci_str *cells, lc_style style)
{
    loci_str rests[LC_TEXT_TABLE_COLUMNS_MAX];
    bool is_more = true;

    for (size_t i = 0; i < o->table->column_count; i++)
        rests[i] = cells != NULL ? cells[i] : o->table->columns[i].title;
    for (int line = 1; is_more; line++)
        is_more = write_line(o, rests, style, line == CELL_LINES_MAX);
}

/* For programs: one tab between cells. */
static void write_plain(const table_output *o, const loci_str *cells)
{
    append_spaces(o->out, o->indent);
    for (size_t i = 0; i < o->table->column_count; i++) {
        if (i > 0)
            lc_buf_append_byte(o->out, '\t');
        lc_buf_append(o->out, cells != NULL ? cells[i] : o->table->columns[i].title);
    }
    lc_buf_append_byte(o->out, '\n');
}

static void write_omitted(const table_output *o)
{
    lc_buf note;
    size_t room = o->terminal->columns - o->indent;
    bool any = false;

    lc_buf_init(&note, o->out->heap, o->out->category, 4096);
    lc_buf_append(&note, LC_STR("not shown:"));
    for (size_t i = 0; i < o->table->column_count; i++) {
        if (!o->table->columns[i].is_out)
            continue;
        lc_buf_append(&note, any ? LC_STR(", ") : LC_STR(" "));
        lc_buf_append(&note, o->table->columns[i].title);
        any = true;
    }
    if (any) {
        if (lc_text_columns(lc_buf_str(&note)) > room) {
            lc_buf_truncate(&note, lc_text_cut(lc_buf_str(&note), room - 1));
            lc_buf_append(&note, LC_STR("…"));
        }
        append_spaces(o->out, o->indent);
        lc_terminal_append(o->terminal, o->out, LC_STYLE_FAINT, lc_buf_str(&note));
        lc_buf_append_byte(o->out, '\n');
    }
    lc_buf_clear(&note);
}

void lc_text_table_write(lc_text_table *table, const lc_terminal *terminal, size_t indent,
                         lc_buf *out)
{
    table_output o = {table, terminal, indent, out};
    bool is_plain = !terminal->is_terminal && !table->is_padded;

    lay_out(table, terminal->columns > indent ? terminal->columns - indent : terminal->columns);
    for (size_t row = 0; row <= table->row_count; row++) { /* The titles first. */
        const loci_str *cells = row > 0 ? table->cells + (row - 1) * table->column_count : NULL;

        if (is_plain)
            write_plain(&o, cells);
        else
            write_row(&o, cells, cells == NULL ? LC_STYLE_HEADING : LC_STYLE_PLAIN);
    }
    if (terminal->columns > indent)
        write_omitted(&o);
}
