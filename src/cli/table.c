/* table.c - layout in three steps: leave out columns of low rank until the others have room to be
 * read, leave out more from the right until the rest fits at all, then cut the widest. */
#include "cli/table.h"

#include "base/str.h"

#define GAP 2
#define WIDTH_FLOOR 8  /* Narrower cells say nothing. */
#define WIDTH_FINE 24  /* With this much, text can be read. */
#define COLUMNS_KEPT 2 /* The first ones say which row it is. */

bool lc_text_table_init(lc_text_table *table, lc_arena *arena, size_t row_max)
{
    table->arena = arena;
    table->row_count = 0;
    table->row_max = row_max;
    table->cells = lc_arena_zalloc_array(arena, row_max * table->column_count + 1,
                                         sizeof *table->cells);
    for (size_t i = 0; i < table->column_count; i++)
        table->columns[i].widest = table->has_no_titles ? 0
                                                        : lc_text_columns(table->columns[i].title);
    return table->cells != NULL;
}

void lc_text_table_add(lc_text_table *table, const loci_str *cells)
{
    loci_str *row = table->cells + table->row_count * table->column_count;

    if (table->row_count == table->row_max)
        return;
    for (size_t i = 0; i < table->column_count; i++) {
        size_t columns = lc_text_columns(cells[i]);

        row[i] = cells[i];
        if (columns > table->columns[i].widest)
            table->columns[i].widest = columns;
    }
    table->row_count++;
}

/* What the line needs when text is cut down to `floor`. */
static size_t width_needed(const lc_text_table *table, size_t floor)
{
    size_t needed = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        const lc_table_column *column = &table->columns[i];
        bool is_cut = !column->is_kept && column->widest > floor;

        if (!column->is_out)
            needed += (is_cut ? floor : column->widest) + (needed > 0 ? GAP : 0);
    }
    return needed;
}

/* The column to leave out next: of the lowest rank up to `rank_max`, the rightmost. */
static lc_table_column *least_needed(lc_text_table *table, unsigned rank_max)
{
    lc_table_column *least = NULL;

    for (size_t i = COLUMNS_KEPT; i < table->column_count; i++) {
        lc_table_column *column = &table->columns[i];

        if (!column->is_out && column->rank <= rank_max &&
            (least == NULL || column->rank <= least->rank))
            least = column;
    }
    return least;
}

static void leave_out(lc_text_table *table, size_t room)
{
    lc_table_column *column;

    while (width_needed(table, WIDTH_FINE) > room &&
           (column = least_needed(table, LC_TABLE_RANK_MAX - 1)) != NULL)
        column->is_out = true;
    while (width_needed(table, WIDTH_FLOOR) > room &&
           (column = least_needed(table, LC_TABLE_RANK_MAX)) != NULL)
        column->is_out = true;
}

static size_t line_width(const lc_text_table *table)
{
    size_t width = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].is_out)
            width += table->columns[i].width + (width > 0 ? GAP : 0);
    }
    return width;
}

/* Takes from the widest column, one at a time, until the line fits or nothing is left to take. */
static void cut(lc_text_table *table, size_t room, bool kept)
{
    while (line_width(table) > room) {
        lc_table_column *widest = NULL;

        for (size_t i = 0; i < table->column_count; i++) {
            lc_table_column *column = &table->columns[i];

            if (!column->is_out && column->is_kept == kept && column->width > WIDTH_FLOOR &&
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
    for (size_t i = 0; i < table->column_count; i++)
        table->columns[i].width = table->columns[i].widest;
    if (room == 0)
        return;
    leave_out(table, room);
    cut(table, room, false);
    cut(table, room, true);
}

static void append_spaces(lc_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lc_buf_append_byte(out, ' ');
}

typedef struct lc_cell_place {
    const lc_table_column *column;
    lc_style style;
    bool is_last; /* Of its line: nothing is filled up behind it. */
} lc_cell_place;

static void write_cell(const lc_cell_place *place, const lc_terminal *terminal, lc_buf *out,
                       loci_str text)
{
    size_t columns = lc_text_columns(text);
    size_t width = place->column->width;
    bool is_cut = columns > width;

    if (is_cut) {
        text.len = lc_text_cut(text, width - 1);
        columns = lc_text_columns(text) + 1;
    }
    if (place->column->is_number)
        append_spaces(out, width - columns);
    lc_terminal_append(terminal, out, place->style, text);
    if (is_cut)
        lc_buf_append(out, LC_STR("…"));
    if (!place->column->is_number && !place->is_last)
        append_spaces(out, width - columns);
}

static size_t last_column(const lc_text_table *table)
{
    size_t last = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].is_out)
            last = i;
    }
    return last;
}

static void write_line(const lc_text_table *table, const lc_terminal *terminal, lc_buf *out,
                       const loci_str *cells)
{
    size_t last = last_column(table);
    bool is_first = true;

    for (size_t i = 0; i < table->column_count; i++) {
        const lc_table_column *column = &table->columns[i];
        lc_cell_place place = {.column = column, .is_last = i == last};

        if (column->is_out)
            continue;
        if (!is_first)
            append_spaces(out, GAP);
        is_first = false;
        place.style = cells == NULL ? LC_STYLE_HEADING : LC_STYLE_PLAIN;
        write_cell(&place, terminal, out, cells != NULL ? cells[i] : column->title);
    }
    lc_buf_append_byte(out, '\n');
}

static void write_left_out(const lc_text_table *table, const lc_terminal *terminal, lc_buf *out,
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

void lc_text_table_write(lc_text_table *table, const lc_terminal *terminal, lc_buf *out,
                         size_t indent)
{
    lay_out(table, terminal->columns > indent ? terminal->columns - indent : terminal->columns);
    if (!table->has_no_titles) {
        append_spaces(out, indent);
        write_line(table, terminal, out, NULL);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        append_spaces(out, indent);
        write_line(table, terminal, out, table->cells + row * table->column_count);
    }
    write_left_out(table, terminal, out, indent);
}
