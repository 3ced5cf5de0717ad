/* embed_source.h - texts that want a vector, as the rooms that own them hand them out.
 *
 * A room that has texts worth finding by meaning registers one of these (engine/rooms.c). The job
 * that embeds them (engine/meaning.h) walks all sources, user by user, and keeps what it makes
 * in store/vector.h. Vectors follow the text: a room need not say that one has changed, only add
 * the job when it wants the new one soon (lc_embed_enqueue).
 */
#ifndef LC_STORE_EMBED_SOURCE_H
#define LC_STORE_EMBED_SOURCE_H

#include "store/job.h"

/* Kind of the job. */
#define LC_EMBED_JOB "model.reembed"

typedef struct lc_embed_page {
    loci_str tenant_id;
    loci_str user_id;
    loci_str cursor; /* Texts behind this one; "" = from the first. */
    int64_t limit;
} lc_embed_page;

/* Gets each text and the cursor that leads behind it, borrowed for the call. Non-OK stops. */
typedef loci_status lc_embed_visit(void *ctx, loci_str text, loci_str cursor, loci_error *err);

typedef struct lc_embed_source {
    const char *name; /* "fact"; kept in checkpoints. */
    /* Calls for up to `limit` texts, in an order that stays when others are added or go away. */
    loci_status (*each)(lc_tx *tx, const lc_embed_page *page, lc_embed_visit *visit, void *ctx,
                        loci_error *err);
} lc_embed_source;

/* Adds the job for the current user of `tx` unless it waits already; of the store itself: for all
 * users. */
loci_status lc_embed_enqueue(lc_tx *tx, lc_id *out, loci_error *err);

#endif /* LC_STORE_EMBED_SOURCE_H */
