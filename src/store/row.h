/* row.h - a struct, its row in a table, its part of an event and its part of an answer.
 *
 * A room declares a struct and one array of lc_column (store/catalogue.h), one line per member:
 * its offset, its type, and where else it appears. Everything that is the same for all members is
 * done here from that array:
 *
 *     static const lc_column columns[] = {
 *         LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
 *         LC_STRING_COLUMN(lc_note, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED),
 *         LC_STRING_COLUMN(lc_note, text, "body", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "",
 *                          .json = "text", .help = "What was noted"),
 *         {0},
 *     };
 *     const lc_row_type lc_note_row = {columns};
 *
 * The table uses the same array. A record that is kept in several tables has an array of its own,
 * in the order of its answers, and a test that compares it with the tables.
 *
 * In SQL, with lc_sql.row = &lc_note_row:
 *
 *     {row}       the columns: "select {row} from notes". A column that the table named directly
 *                 behind it ("{row} from notes") does not have is read as NULL.
 *     {n.row}     the same, each as n.id
 *     {values}    their parameters, numbered behind those of lc_sql.params:
 *                 "insert into notes (tenant_id, user_id, {row}) values ($1, $2, {values})"
 *     {set}       "update notes set {set} where …": id = $3, … without the table's key
 *     {excluded}  "on conflict (…) do update set {excluded}": the same from the refused row
 *
 * Text that was read is borrowed from the row and ends with it: lc_row_keep() moves all of it into
 * an arena, lc_row_copy() into one block of the caller's.
 */
#ifndef LC_STORE_ROW_H
#define LC_STORE_ROW_H

#include "base/json.h"
#include "store/event.h"

#define LC_ROW_COLUMNS_MAX 40 /* Stored members of one record. */

struct lc_row_type {
    const lc_column *columns; /* Ends with {0}. Columns without a member or a kind are skipped. */
    unsigned without;         /* LC_COL_PART: skip the columns with that flag. 0 = all. */
    size_t bytes;             /* Of the struct; for lc_event_type.insert and lc_recall_read(). */
};

/* How many columns {row} stands for. */
size_t lc_row_width(const lc_row_type *type);
/* The arguments for {values} and {set}: lc_row_width() of them. */
void lc_row_bind(const lc_row_type *type, const void *row, lc_arg *out);
/* The current row of a statement that selects {row}. Members that are not selected get their
 * default. A word that `choices` does not have, or text that does not fit its array, is
 * LOCI_ECORRUPT. */
loci_status lc_row_read(const lc_rows *rows, void *out, loci_error *err);

/* Reads the next row: false at the end, and if `*status` is or becomes a failure. So a walk is
 *
 *     loci_status status = lc_tx_query(tx, &sql, args, &rows, err);
 *
 *     while (lc_row_next(&rows, &note, &status, err))
 *         status = visit(ctx, &note, err);
 *     lc_rows_end(&rows);
 */
bool lc_row_next(lc_rows *rows, void *out, loci_status *status, loci_error *err);
/* The first row of an answer, its text in the arena; `*found` is false if there is none. */
loci_status lc_row_find(lc_tx *tx, const lc_query *query, lc_arena *arena, void *out, bool *found,
                        loci_error *err);

/* Moves all text into the arena; false if out of memory, and then `row` is unchanged. */
bool lc_row_keep(const lc_row_type *type, lc_arena *arena, void *row);
/* Bytes of all text, at least 1: what lc_row_copy() needs. */
size_t lc_row_bytes(const lc_row_type *type, const void *row);
/* Moves all text to `to`. */
void lc_row_copy(const lc_row_type *type, void *row, char *to);

/* Writes the members that belong into the open object: `part` is LC_COL_REFS or LC_COL_PAYLOAD. */
void lc_row_encode(const lc_row_type *type, const void *row, unsigned part, lc_json_writer *out);
/* Appends an event with the members of `row`. `out_seq` may be NULL. */
loci_status lc_row_append(lc_tx *tx, const lc_event_type *event, const lc_row_type *type,
                          const void *row, int64_t *out_seq, loci_error *err);
/* Reads a whole event back; absent members get their default, also all payload members of an erased
 * event. Text lives in the event or in `arena`. */
loci_status lc_row_decode(const lc_row_type *type, const lc_event *event, lc_arena *arena,
                          void *out, loci_error *err);
/* The same for an event that is parsed already. */
loci_status lc_row_decode_json(const lc_row_type *type, const lc_event *event,
                               const lc_event_json *json, lc_arena *arena, void *out,
                               loci_error *err);

/* For `apply`: inserts `row`, of the user of the event. `sql` is "insert into notes (tenant_id,
 * user_id, {row}) values ($1, $2, {values})". lc_event_type.insert needs no `apply` at all. */
loci_status lc_row_insert(lc_tx *tx, const lc_event *event, const lc_sql *sql, const void *row,
                          loci_error *err);

/* Applies an event whose type has `insert`: decodes its row and inserts it. */
loci_status lc_row_apply(lc_tx *tx, const lc_event *event, loci_error *err);

/* Writes the members that answers show into the open object. */
void lc_row_put(const lc_row_type *type, const void *row, lc_json_writer *out);
/* The name of a column in answers. */
const char *lc_column_shown_name(const lc_column *column);

/* For lc_sql_rewrite(): appends the expansion of the braces at `at` and returns where they end. */
const char *lc_row_expand(lc_buf *out, const lc_sql *sql, const char *at,
                          const lc_catalogue *catalogue, lc_dialect dialect);

#endif /* LC_STORE_ROW_H */
