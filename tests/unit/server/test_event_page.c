/* Pages of events are shared by streams that would read the same, and by no others. */
#include "lib/test.h"

#include "server/event_page.h"

/* Positions of two databases can be equal, while a tenant moves from one to the other. */
TEST(event_page, streams_of_another_database_do_not_share_pages)
{
    int here, there;
    lc_subscription_place begin = {.source = &here, .tenant_id = LC_STR("t"), .version = 7};
    lc_subscription_place end = {.source = &here, .after_seq = 5}, other = begin;
    lc_event_pages *pages = NULL;
    lc_event_page *page, *found;
    loci_error err;
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    CHECK_OK(lc_event_pages_new(&heap, &pages, &err), err);
    page = lc_event_page_new(pages, LC_STR("text"), &begin, &end);
    CHECK(page != NULL);
    found = lc_event_page_find(pages, &begin);
    CHECK(found == page);
    lc_event_page_release(pages, found);
    other.source = &there;
    CHECK(lc_event_page_find(pages, &other) == NULL);
    lc_event_page_release(pages, page);
    lc_event_pages_free(pages);
}
