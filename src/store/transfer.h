/* transfer.h - exports a store as text and imports it: one JSON object per line.
 *
 *     {"loci":"export","format":1,"store_id":"…","schema_version":1}
 *     {"setting":"call.timeout_ms","tenant":"","value":30000}
 *     {"tenant":"default","user":"ann","seq":1,"type":"fact.written","v":1,"recorded_at":"…",
 *      "refs":{…},"payload":{…}}              or "erased":true in the place of the payload
 *     {"tenant":"default","user":"ann","head":{"seq":1,"recorded_at":"…","objects":0}}
 *     {"end":true,"events":1,"users":1,"settings":1,"hash":"…"}
 *
 * Users come in the order of their keys, events in that of their seq, a head behind its events: so
 * the same log gives the same bytes, and the export of an imported store equals the export that was
 * imported. The last line shows that the file was not truncated; its hash is over all lines but the
 * first and itself. Jobs and stored answers are not in it; projections are rebuilt from the events.
 */
#ifndef LC_STORE_TRANSFER_H
#define LC_STORE_TRANSFER_H

#include "store/upkeep.h"

#define LC_TRANSFER_FORMAT 1
#define LC_TRANSFER_LINE_BYTES_MAX                                                                 \
    (4u * 1024 * 1024) /* An event or a part of a snapshot, and names. */

typedef struct lc_transfer_counts {
    int64_t users;
    int64_t events;
    int64_t settings;
    int64_t events_skipped; /* Import: they were there already. */
} lc_transfer_counts;

/* Gets each line, without its end. */
typedef loci_status lc_export_line(void *ctx, loci_str line, loci_error *err);

/* Reads in pages: each user is consistent as of the moment it is reached. */
loci_status lc_export(const lc_upkeep *upkeep, lc_export_line *line, void *ctx,
                      lc_transfer_counts *out, loci_error *err);

/* Writes a file that appears when complete. An existing file is LOCI_ECONFLICT unless `replace`. */
loci_status lc_export_file(const lc_upkeep *upkeep, const char *path, bool replace,
                           lc_transfer_counts *out, loci_error *err);

/* A source of lines that is read more than once. */
typedef struct lc_import_source {
    /* Replaces the content of `line` with the next line, without its newline; `*found` is false at
     * the end. */
    loci_status (*next)(void *ctx, lc_buf *line, bool *found, loci_error *err);
    loci_status (*rewind)(void *ctx, loci_error *err);
    void *ctx;
} lc_import_source;

/* Checks that it is a complete export that this loci can read; does not read the store. LOCI_EINVAL
 * names the first invalid line, LOCI_EUNSUPPORTED says that a newer loci wrote it. Rewinds it. */
loci_status lc_import_check(const lc_catalogue *catalogue, lc_heap *heap,
                            const lc_import_source *source, lc_transfer_counts *out,
                            loci_error *err);

/* Checks the whole export, then compares it with the store, then writes: a failure before the third
 * step has changed nothing. Users whose log is the beginning of the imported one get the rest, so
 * an import that was interrupted is simply repeated; any other log is LOCI_ECONFLICT naming user
 * and event. Settings that are stored already are kept. */
loci_status lc_import(const lc_upkeep *upkeep, const lc_import_source *source,
                      lc_transfer_counts *out, loci_error *err);

/* Whether an import is under way, was interrupted, or ended less than an hour ago. Background jobs
 * may then not append to the log; they check this in the transaction that would append. */
loci_status lc_tx_is_held(lc_tx *tx, bool *out, loci_error *err);

loci_status lc_import_file(const lc_upkeep *upkeep, const char *path, lc_transfer_counts *out,
                           loci_error *err);

#endif /* LC_STORE_TRANSFER_H */
