#include "store/embed_source.h"

#include "base/str.h"

/* A provider may be down for days; the pause between attempts ends at an hour. */
#define ATTEMPTS_MAX 100

loci_status lc_embed_enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(tx,
                          &(lc_job_new){.kind = LC_STR(LC_EMBED_JOB),
                                        .attempts_max = ATTEMPTS_MAX,
                                        .unique = LC_STR("reembed")},
                          out, err);
}
