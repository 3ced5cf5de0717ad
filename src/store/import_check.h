/* import_check.h - the order in which the lines of an export must come; the inner part of import.
 */
#ifndef LC_STORE_IMPORT_CHECK_H
#define LC_STORE_IMPORT_CHECK_H

#include "store/transfer_line.h"

typedef struct lc_import_order {
    bool has_header;
    bool has_end;
    bool has_open_user; /* Its head has not come yet. */
    bool has_user;      /* tenant_id and user_id are set. */
    lc_buf tenant_id;   /* The last user. */
    lc_buf user_id;
    int64_t seq; /* Of its last event, */
    int64_t recorded_at;
    bool has_setting;
    lc_buf setting_tenant_id; /* The last setting. */
    lc_buf setting_name;
    lc_transfer_counts counts;
    lc_hash128 hash;
} lc_import_order;

void lc_import_order_init(lc_import_order *order, lc_heap *heap);
void lc_import_order_clear(lc_import_order *order);
/* Takes the next line, whose text is `text`. LOCI_EINVAL: it cannot come here. */
loci_status lc_import_order_take(lc_import_order *order, const lc_line *line, loci_str text,
                                 loci_error *err);

#endif /* LC_STORE_IMPORT_CHECK_H */
