/* table.h - rows and columns of text, aligned and cut to the width of a terminal.
 *
 * Cells are added row by row; layout happens at the end, when the widths are known. What does not
 * fit is taken from the widest columns first and from kept ones (ids, times) last, because half an
 * id is none.
 */
#ifndef LC_CLI_TABLE_H
#define LC_CLI_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/terminal.h"

#define LC_TABLE_COLUMNS_MAX 32
#define LC_TABLE_RANK_MAX 9

typedef struct lc_table_column {
    loci_str title;
    unsigned rank;  /* The lowest is left out first; LC_TABLE_RANK_MAX stays as long as it can. */
    bool is_kept;   /* Cut last: half an id is none. */
    bool is_number; /* To the right. */
    bool is_out;    /* Left out. */
    size_t widest;  /* Columns of the widest cell, the title too. */
    size_t width;   /* As laid out. */
} lc_table_column;

typedef struct lc_text_table {
    lc_arena *arena;
    lc_table_column columns[LC_TABLE_COLUMNS_MAX];
    size_t column_count;
    loci_str *cells; /* row_count * column_count, in `arena`. */
    size_t row_count;
    size_t row_max;
    bool has_no_titles;
} lc_text_table;

/* For up to `row_max` rows; the columns are set by the caller first. False when out of memory. */
bool lc_text_table_init(lc_text_table *table, lc_arena *arena, size_t row_max);
/* Sets the next row; `cells` has column_count texts that live as long as the arena. */
void lc_text_table_add(lc_text_table *table, const loci_str *cells);
/* Appends the table, each line indented. */
void lc_text_table_write(lc_text_table *table, const lc_terminal *terminal, lc_buf *out,
                         size_t indent);

#endif /* LC_CLI_TABLE_H */
