/* page.h - lists in pages: `limit` and `cursor` in, `next_cursor` out.
 *
 * Every operation that lists something takes LC_PAGE_PARAMS, reads one row more than the limit to
 * learn whether there is a next page, and writes its answer with an lc_page. A cursor is the
 * position of the last row of a page as one URL-safe word, opaque to clients. The position itself
 * is a struct of the operation; an lc_position describes its encoding:
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

#define LC_CURSOR_BYTES_MAX 2048 /* Enough for a path (LC_FILE_PATH_BYTES_MAX) in base64. */

/* The two parameters, filled into the lc_page_args at `m` of the input struct `T`. */
#define LC_PAGE_PARAMS(T, m) LC_PAGE_MEMBERS(T, m.limit, m.cursor, "50")
/* With another default limit: for tables of the program, which are short and wanted whole. */
#define LC_PAGE_PARAMS_DEFAULT(T, m, limit_) LC_PAGE_MEMBERS(T, m.limit, m.cursor, limit_)
#define LC_PAGE_MEMBERS(T, limit_m, cursor_m, limit_)                                              \
    {LC_ARG_INT("limit", T, limit_m), .default_text = limit_, .min = 1, .max = LC_PAGE_ROWS_MAX,   \
     .help = "Maximum number of results per page"},                                                \
    {                                                                                              \
        LC_ARG_STR("cursor", T, cursor_m), .min = 1, .max = LC_CURSOR_BYTES_MAX,                   \
                                           .help = "next_cursor of the previous page (default: "   \
                                                   "the first page)"                               \
    }

/* Lists that take nothing else: their input is an lc_page_args. */
extern const lc_param lc_page_params[];

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

/* One page of a list on its way into the answer:
 *
 *     lc_seq_position last = {0};
 *     lc_page page = {call, &lc_position_by_seq, &last};
 *
 *     status = lc_page_begin(&page, &in->page, err);       last.seq is the cursor's
 *     lc_page_open(&page, "messages");
 *     …                                                    per row: if (lc_page_takes(&page)) …
 *     lc_page_close(&page);
 */
typedef struct lc_page {
    lc_call *call;
    const lc_position *position;
    void *at; /* The position: of the cursor, then of the last row, which the operation sets. */
    int64_t left;
    bool has_more; /* A row did not fit. */
    bool is_ended; /* lc_page_end() has run. */
} lc_page;

/* Reads the cursor, if one was given, into page->at, which keeps its values otherwise; texts live
 * as long as the call. Opens the answer's object, so that members may be written before the list.
 */
loci_status lc_page_begin(lc_page *page, const lc_page_args *args, loci_error *err);
void lc_page_open(lc_page *page, const char *name);
/* Whether one more row fits. The operation asks once per row, also for the one that does not. */
bool lc_page_takes(lc_page *page);
/* Ends the list, so that members may be written behind it. */
void lc_page_end(lc_page *page);
/* Ends the list, writes next_cursor and ends the answer. */
void lc_page_close(lc_page *page);

/* The cursor of the position at `at`, in `out`. */
loci_str lc_cursor_encode(const lc_op *op, const lc_position *position, const void *at,
                          char out[LC_CURSOR_BYTES_MAX]);

#endif /* LC_OPS_PAGE_H */
