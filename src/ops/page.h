/* page.h - lists in pages: `limit` and `cursor` in, `next_cursor` out.
 *
 * Every operation that lists something takes LC_PAGE_PARAMS, reads one row more than the limit to
 * learn whether there is a next page, and ends its answer with lc_page_end(). A cursor is the
 * position of the last row of a page as one URL-safe word, opaque to clients. The position itself
 * is a struct of the operation; an lc_position tells how to encode it:
 *
 *     typedef struct list_position { loci_str key, id; } list_position;
 *     static const lc_position by_key = {"ss", {offsetof(list_position, key), offsetof(…, id)}};
 *
 * A cursor carries a check over its bytes and the operation's name: a damaged cursor, and one of
 * another operation, are LOCI_EINVAL. It holds no secret and grants nothing: rows are filtered by
 * the caller's rights on every page.
 */
#ifndef LC_OPS_PAGE_H
#define LC_OPS_PAGE_H

#include "base/limits.h"
#include "ops/op.h"

typedef struct lc_page_args {
    int64_t limit;
    loci_str cursor; /* None = the first page. */
} lc_page_args;

#define LC_CURSOR_BYTES_MAX 1024

/* The two parameters, filled into the lc_page_args at `m` of the input struct `T`. */
#define LC_PAGE_PARAMS(T, m) LC_PAGE_PARAMS_DEFAULT(T, m, "50")
/* With another default limit: for tables of the program, which are short and wanted whole. */
#define LC_PAGE_PARAMS_DEFAULT(T, m, limit_)                                                       \
    {LC_ARG_INT("limit", T, m.limit), .default_text = limit_, .min = 1, .max = LC_PAGE_ROWS_MAX,   \
     .help = "Maximum number of results per page"},                                                \
    {                                                                                              \
        LC_ARG_STR("cursor", T, m.cursor), .min = 1, .max = LC_CURSOR_BYTES_MAX,                   \
                                           .help = "Position of the page: next_cursor of the "     \
                                                   "previous page (default: the first page)"       \
    }

/* The member that every list's answer ends with. */
#define LC_PAGE_RESULT                                                                             \
    {                                                                                              \
        "next_cursor", LC_PARAM_STRING, "Cursor of the next page; null on the last page",          \
            LC_RESULT_NULLABLE                                                                     \
    }

#define LC_POSITION_FIELDS_MAX 4

/* How the struct of a position is encoded: per field, 'i' int64_t or 's' loci_str, and where it is.
 */
typedef struct lc_position {
    const char *kinds;
    size_t offsets[LC_POSITION_FIELDS_MAX];
} lc_position;

/* The position of lists in the order of events, up or down. */
typedef struct lc_seq_position {
    int64_t seq;
} lc_seq_position;
extern const lc_position lc_position_by_seq;

/* The position of lists that are ordered by a unique name or id. */
typedef struct lc_name_position {
    loci_str name;
} lc_name_position;
extern const lc_position lc_position_by_name;

/* Reads the cursor, if one was given, into the position struct at `out`, which keeps its values
 * otherwise. Texts live as long as the call. */
loci_status lc_page_begin(lc_call *call, const lc_page_args *page, const lc_position *position,
                          void *out, loci_error *err);
/* Writes the member next_cursor: of the position at `last`, or null for NULL, the last page. */
void lc_page_end(lc_call *call, const lc_position *position, const void *last);

/* The cursor of the position at `at`, in `out`. */
loci_str lc_cursor_encode(const lc_op *op, const lc_position *position, const void *at,
                          char out[LC_CURSOR_BYTES_MAX]);

#endif /* LC_OPS_PAGE_H */
