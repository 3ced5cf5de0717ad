/* event_page.h - pages of events as text, shared by the streams that send them.
 *
 * A page is the formatted result of one read of the log. It never changes. Streams of one user at
 * the same place of the log borrow the same page: many stalled streams keep one page together, and
 * a write that wakes many streams is read and formatted once. A page lives as long as a stream has
 * it; the last few small ones stay a little longer, for the streams that were woken by the same
 * write and are filled next.
 */
#ifndef LC_SERVER_EVENT_PAGE_H
#define LC_SERVER_EVENT_PAGE_H

#include "base/env.h"
#include "ops/surface.h"

typedef struct lc_event_pages lc_event_pages; /* All pages of a daemon. */

typedef struct lc_event_page {
    struct lc_event_page *next, **link; /* In the list of pages that can be shared; or NULL. */
    int64_t holders;
    size_t bytes;                     /* Of this block. */
    lc_subscription_place begin, end; /* Texts are in this block; those of `end` are not set. */
    loci_str text;
} lc_event_page;

loci_status lc_event_pages_new(lc_heap *heap, lc_event_pages **out, loci_error *err);
void lc_event_pages_free(lc_event_pages *pages); /* No stream has a page any more. NULL is fine. */

/* The page that begins at `place`, for one more holder; NULL when there is none. */
lc_event_page *lc_event_page_find(lc_event_pages *pages, const lc_subscription_place *place);
/* A page of one holder; NULL when out of memory. `begin` and `end` are the places before and after
 * the read; NULL when the page cannot be shared. Texts are copied. */
lc_event_page *lc_event_page_new(lc_event_pages *pages, loci_str text,
                                 const lc_subscription_place *begin,
                                 const lc_subscription_place *end);
/* Any thread. NULL is fine. */
void lc_event_page_release(lc_event_pages *pages, lc_event_page *page);

#endif /* LC_SERVER_EVENT_PAGE_H */
