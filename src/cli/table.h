/* table.h - rows of cells as a table: aligned and fitted to a terminal, or one tab between cells.
 *
 * On a terminal no line is wider than the screen. If the table is too wide, columns with ids are
 * omitted first, then the last columns, then cells are wrapped; nothing is cut before that. In a
 * pipe nothing is padded, omitted or wrapped: `cut -f2` gets the second column.
 */
#ifndef LC_CLI_TABLE_H
#define LC_CLI_TABLE_H

#include "cli/terminal.h"

#define LC_TEXT_TABLE_COLUMNS_MAX 48 /* As many as a record has members. */

typedef struct lc_text_column {
    loci_str title;
    bool is_id;     /* Omitted first. */
    bool is_number; /* Right-aligned. */
    bool is_out;    /* Omitted. */
    size_t widest;  /* Columns of the widest cell, including the title. */
    size_t width;   /* After layout. */
} lc_text_column;

typedef struct lc_text_table {
    lc_text_column columns[LC_TEXT_TABLE_COLUMNS_MAX];
    size_t column_count;
    const loci_str *cells; /* row_count * column_count; borrowed. */
    size_t row_count;
    bool is_chosen; /* The user named the columns: none is omitted. */
    bool is_padded; /* Aligned although it is not on a terminal. */
} lc_text_table;

/* Lays the table out, which sets `is_out` and the widths, and appends it, each line behind `indent`
 * spaces. */
void lc_text_table_write(lc_text_table *table, const lc_terminal *terminal, size_t indent,
                         lc_buf *out);

#endif /* LC_CLI_TABLE_H */
