/* rows.h - answers as rows for other programs: CSV, TSV and ids.
 *
 * The rows of a list, or a record as one row, behind a line with the names. CSV is that of RFC
 * 4180: lines end with CR LF, fields with a comma, a quote or a line end are quoted. TSV has one
 * tab between fields; \t, \n, \r and \\ stand for these characters. In both, null is an empty
 * field (in CSV an empty text is ""), lists and objects are JSON, times are RFC 3339.
 */
#ifndef LC_CLI_ROWS_H
#define LC_CLI_ROWS_H

#include "base/json.h"
#include "ops/op.h"

typedef enum lc_rows_format { LC_ROWS_CSV, LC_ROWS_TSV, LC_ROWS_IDS } lc_rows_format;

/* The record of the rows that `op` answers: of its list, if it has columns, else of its answer. */
const lc_record *lc_rows_record(const lc_op *op);
/* Checks "a,b,c" against that record and returns it as "a b c", in the arena. LOCI_EINVAL naming
 * the unknown column and all known ones. */
loci_status lc_rows_check_columns(lc_arena *arena, const lc_op *op, const char *given,
                                  const char **out, loci_error *err);
/* The column that --ids prints; NULL if `op` answers none. */
const char *lc_rows_id(const lc_op *op);

/* `columns` "a b c"; NULL = all members of the record, in the order of the reference. */
void lc_rows_append(lc_buf *out, const lc_op *op, lc_rows_format format, const char *columns,
                    const lc_json *answer);

#endif /* LC_CLI_ROWS_H */
