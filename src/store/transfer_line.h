/* transfer_line.h - one line of an export, between C and JSON. Only transfer*.c and import*.c use
 * this. */
#ifndef LC_STORE_TRANSFER_LINE_H
#define LC_STORE_TRANSFER_LINE_H

#include "base/hash.h"
#include "base/json.h"
#include "store/event.h"
#include "store/store_room.h"
#include "store/transfer.h"

typedef enum lc_line_kind {
    LC_LINE_HEADER,
    LC_LINE_SETTING,
    LC_LINE_EVENT,
    LC_LINE_HEAD,
    LC_LINE_END
} lc_line_kind;

typedef struct lc_line {
    lc_line_kind kind;
    int64_t format; /* Header. */
    int64_t schema_version;
    lc_setting_row setting; /* Setting. */
    lc_event event; /* Event; type and version known to the catalogue. Head: only its owner. */
    lc_head head;   /* Head. */
    lc_transfer_counts counts; /* End. */
    char hash[LC_HASH_TEXT_BYTES];
} lc_line;

/* Reads `text`, which must outlive `out`, with the help of `arena`. Anything that lc_line_put…
 * would not have written is LOCI_EINVAL, or LOCI_EUNSUPPORTED for types and versions of a newer
 * loci. */
loci_status lc_line_read(const lc_catalogue *catalogue, lc_arena *arena, loci_str text,
                         lc_line *out, loci_error *err);

/* Each appends one line, without its newline. */
void lc_line_put_header(lc_buf *out, const char *store_id, int64_t schema_version);
void lc_line_put_setting(lc_buf *out, const lc_setting_row *row);
void lc_line_put_event(lc_buf *out, const lc_event *event);
void lc_line_put_head(lc_buf *out, loci_str tenant_id, loci_str user_id, const lc_head *head);
void lc_line_put_end(lc_buf *out, const lc_transfer_counts *counts, lc_hash128 hash);

#endif /* LC_STORE_TRANSFER_LINE_H */
