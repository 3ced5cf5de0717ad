/* transfer.h - a store as text, and back: one JSON object a line.
 *
 *     {"loci":"export","format":1,"store_id":"…","schema_version":1}
 *     {"setting":"call.timeout_ms","tenant":"","value":30000}
 *     {"tenant":"default","user":"ann","seq":1,"type":"fact.written","v":1,"recorded_at":"…",
 *      "refs":{…},"payload":{…}}              or "erased":true in the place of the payload
 *     {"tenant":"default","user":"ann","head":{"seq":1,"recorded_at":"…","objects":0}}
 *     {"end":true,"events":1,"users":1,"settings":1,"hash":"…"}
 *
 * Users come in the order of their keys, events in that of their seq, a head behind its events: so
 * the same log gives the same bytes, and an export of an import is the export. The last line tells
 * a whole file from one that was cut off; its hash is over all lines but the first and itself. Jobs
 * and stored answers are not in it; projections are made from the events again.
 */
#ifndef LC_STORE_TRANSFER_H
#define LC_STORE_TRANSFER_H

#include "store/upkeep.h"

#define LC_TRANSFER_FORMAT 1
#define LC_TRANSFER_LINE_BYTES_MAX                                                                 \
    (4u * 1024 * 1024) /* An event of LC_EVENT_BYTES_MAX and names. */

typedef struct lc_transfer_counts {
    int64_t users;
    int64_t events;
    int64_t settings;
    int64_t events_skipped; /* Import: they were there already. */
} lc_transfer_counts;

/* Gets each line, without its end. */
typedef loci_status lc_export_line(void *ctx, loci_str line, loci_error *err);

/* In pages: each user is exact as of the moment it is reached. */
loci_status lc_export(const lc_upkeep *upkeep, lc_export_line *line, void *ctx,
                      lc_transfer_counts *out, loci_error *err);

/* Into a file that appears when it is whole. One that exists is LOCI_ECONFLICT unless `replace`. */
loci_status lc_export_file(const lc_upkeep *upkeep, const char *path, bool replace,
                           lc_transfer_counts *out, loci_error *err);

/* Lines to be read more than once. */
typedef struct lc_import_source {
    /* The next line, without its end, replaces what is in `line`; `*found` is false at the end. */
    loci_status (*next)(void *ctx, lc_buf *line, bool *found, loci_error *err);
    loci_status (*rewind)(void *ctx, loci_error *err);
    void *ctx;
} lc_import_source;

/* Whether it is a whole export that this loci can read; the store is not looked at. LOCI_EINVAL
 * says in which line it is not, LOCI_EUNSUPPORTED that a newer loci wrote it. Ends where it began.
 */
loci_status lc_import_check(const lc_catalogue *catalogue, lc_heap *heap,
                            const lc_import_source *source, lc_transfer_counts *out,
                            loci_error *err);

/* Checks the whole, then compares it with the store, then writes: what fails before the third step
 * has changed nothing. Users whose log is the beginning of the imported one get the rest, so an
 * import that was interrupted is simply repeated; any other log is LOCI_ECONFLICT naming user and
 * event. Settings that are stored already stay. */
loci_status lc_import(const lc_upkeep *upkeep, const lc_import_source *source,
                      lc_transfer_counts *out, loci_error *err);

/* Whether an import is under way, was interrupted, or ended less than an hour ago. Nothing may then
 * be appended to the log that no caller asked for; asked in the transaction that would append. */
loci_status lc_tx_is_held(lc_tx *tx, bool *out, loci_error *err);

loci_status lc_import_file(const lc_upkeep *upkeep, const char *path, lc_transfer_counts *out,
                           loci_error *err);

#endif /* LC_STORE_TRANSFER_H */
