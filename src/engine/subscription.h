/* subscription.h - lets subscriptions (loci.h) share the pages they read.
 *
 * Two subscriptions at the same place of a log, or of the feed of all users, get the same page
 * next: if it is full, because events never change; otherwise if the version is known and
 * unchanged, because then nothing was appended. So one of them can take the page that the other has
 * read, and skip it.
 */
#ifndef LC_ENGINE_SUBSCRIPTION_H
#define LC_ENGINE_SUBSCRIPTION_H

#include "loci.h"

#include <stdbool.h>

/* Texts are borrowed from the subscription. */
typedef struct lc_subscription_place {
    const void *source;                             /* The engine of the database; only compared. */
    loci_str tenant_id, user_id, types, session_id; /* No user: all of the tenant. */
    int64_t restore_mark; /* Of the store; another one means another log. */
    uint64_t version;     /* Of the user's slot (engine/watch.h), or of the feed; 0 = unknown. */
    int64_t after_seq;    /* Or the position in the feed. */
    bool is_page_full;    /* There may be more behind the page that was read last. */
} lc_subscription_place;

/* False in the middle of a page, and when events were missed. */
bool lc_subscription_place_get(loci_subscription *sub, lc_subscription_place *out);
/* Continues at `end`, behind the page that another subscription has read from the same place. */
void lc_subscription_skip(loci_subscription *sub, const lc_subscription_place *end);

#endif /* LC_ENGINE_SUBSCRIPTION_H */
