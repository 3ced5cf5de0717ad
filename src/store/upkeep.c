#include "store/upkeep.h"

#include <stdio.h>

#include "base/str.h"
#include "base/utf8.h"

#define LABEL_PART_BYTES 40

static const lc_sql count_sql = {
    "select count(*), cast(coalesce(sum(seq), 0) as bigint) from heads where user_id <> ''", "",
    "ii"};

void lc_user_label(char out[LC_USER_LABEL_BYTES], loci_str tenant_id, loci_str user_id)
{
    int tenant_bytes = (int)lc_utf8_cut(tenant_id, LABEL_PART_BYTES);
    int user_bytes = (int)lc_utf8_cut(user_id, LABEL_PART_BYTES);

    (void)snprintf(out, LC_USER_LABEL_BYTES, "%.*s/%.*s", tenant_bytes,
                   tenant_id.ptr != NULL ? tenant_id.ptr : "", user_bytes,
                   user_id.ptr != NULL ? user_id.ptr : ""); /* Two parts and a slash always fit. */
}

bool lc_status_is_about_data(loci_status status)
{
    switch (status) {
    case LOCI_EINVAL:
    case LOCI_ENOTFOUND:
    case LOCI_ECONFLICT:
    case LOCI_ELIMIT:
    case LOCI_EUNSUPPORTED:
    case LOCI_ECORRUPT:
    case LOCI_EINTERNAL: /* A constraint that the replayed rows break. */
        return true;
    default:
        return false;
    }
}

typedef struct counts {
    int64_t users;
    int64_t events;
} counts;

static loci_status count_heads(lc_tx *tx, void *ctx, loci_error *err)
{
    counts *out = ctx;
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &count_sql, NULL, &rows, &found, err);

    if (status == LOCI_OK && found)
        *out = (counts){lc_rows_i64(&rows, 0), lc_rows_i64(&rows, 1)};
    lc_rows_end(&rows);
    return status;
}

loci_status lc_upkeep_count(lc_db *db, int64_t *out_users, int64_t *out_events, loci_error *err)
{
    counts total = {0};
    loci_status status = lc_db_read(db, INT64_MAX, count_heads, &total, err);

    if (status == LOCI_OK) {
        *out_users = total.users;
        *out_events = total.events;
    }
    return status;
}

loci_status lc_upkeep_report(const lc_upkeep *upkeep, const char *what, int64_t done, int64_t total,
                             loci_error *err)
{
    if (upkeep->progress == NULL)
        return LOCI_OK;
    return upkeep->progress(upkeep->ctx, what, done, total, err);
}
