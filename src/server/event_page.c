/* event_page.c - Invariant: a page is in the list from when it can be shared until its last holder
 * releases it; list, holders and the recent pages are changed under the lock only. The list is
 * searched from end to end: it has at most one page per stream. */
#include "server/event_page.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

#define RECENT_PAGES 16
#define RECENT_BYTES_MAX (64u * 1024) /* A larger page is not kept: 1 MiB in all. */

struct lc_event_pages {
    lc_heap *heap;
    pthread_mutex_t lock;
    lc_event_page *first;
    lc_event_page *recent[RECENT_PAGES]; /* Each is a holder of its page, or NULL. */
    size_t next_recent;
};

loci_status lc_event_pages_new(lc_heap *heap, lc_event_pages **out, loci_error *err)
{
    lc_event_pages *pages = lc_heap_zalloc(heap, sizeof *pages, LOCI_MEM_REQUESTS);

    if (pages == NULL)
        return lc_fail_memory(err);
    pages->heap = heap;
    (void)pthread_mutex_init(&pages->lock, NULL); /* Cannot fail on Linux. */
    *out = pages;
    return LOCI_OK;
}

/* The lock is held. */
static void drop(lc_event_pages *pages, lc_event_page *page)
{
    if (page == NULL || --page->holders > 0)
        return;
    if (page->link != NULL) {
        *page->link = page->next;
        if (page->next != NULL)
            page->next->link = page->link;
    }
    lc_heap_free(pages->heap, page, page->bytes, LOCI_MEM_REQUESTS);
}

void lc_event_pages_free(lc_event_pages *pages)
{
    if (pages == NULL)
        return;
    for (size_t i = 0; i < RECENT_PAGES; i++)
        drop(pages, pages->recent[i]);
    (void)pthread_mutex_destroy(&pages->lock);
    lc_heap_free(pages->heap, pages, sizeof *pages, LOCI_MEM_REQUESTS);
}

static bool is_next(const lc_event_page *page, const lc_subscription_place *place)
{
    const lc_subscription_place *begin = &page->begin;

    return begin->source == place->source && begin->after_seq == place->after_seq &&
           begin->restore_mark == place->restore_mark &&
           (page->end.is_page_full || (place->version != 0 && begin->version == place->version)) &&
           lc_str_eq(begin->user_id, place->user_id) &&
           lc_str_eq(begin->tenant_id, place->tenant_id) && lc_str_eq(begin->types, place->types) &&
           lc_str_eq(begin->session_id, place->session_id);
}

lc_event_page *lc_event_page_find(lc_event_pages *pages, const lc_subscription_place *place)
{
    lc_event_page *page;

    (void)pthread_mutex_lock(&pages->lock);
    for (page = pages->first; page != NULL && !is_next(page, place); page = page->next)
        ;
    if (page != NULL)
        page->holders++;
    (void)pthread_mutex_unlock(&pages->lock);
    return page;
}

static loci_str put(char **at, loci_str text)
{
    loci_str copy = {*at, text.len};

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

/* The lock is held. */
static void share(lc_event_pages *pages, lc_event_page *page)
{
    page->next = pages->first;
    if (page->next != NULL)
        page->next->link = &page->next;
    page->link = &pages->first;
    pages->first = page;
    if (page->bytes > RECENT_BYTES_MAX)
        return;
    drop(pages, pages->recent[pages->next_recent]);
    page->holders++;
    pages->recent[pages->next_recent] = page;
    pages->next_recent = (pages->next_recent + 1) % RECENT_PAGES;
}

lc_event_page *lc_event_page_new(lc_event_pages *pages, loci_str text,
                                 const lc_subscription_place *begin,
                                 const lc_subscription_place *end)
{
    static const lc_subscription_place none;
    bool is_shared = begin != NULL && end != NULL;
    const lc_subscription_place *key = is_shared ? begin : &none;
    size_t bytes = sizeof(lc_event_page) + text.len + key->tenant_id.len + key->user_id.len +
                   key->types.len + key->session_id.len;
    lc_event_page *page = lc_heap_alloc(pages->heap, bytes, LOCI_MEM_REQUESTS);
    char *at = (char *)(page + 1);

    if (page == NULL)
        return NULL;
    *page = (lc_event_page){.holders = 1, .bytes = bytes, .begin = *key};
    page->begin.tenant_id = put(&at, key->tenant_id);
    page->begin.user_id = put(&at, key->user_id);
    page->begin.types = put(&at, key->types);
    page->begin.session_id = put(&at, key->session_id);
    page->text = put(&at, text);
    if (is_shared) {
        page->end = (lc_subscription_place){.after_seq = end->after_seq,
                                            .is_page_full = end->is_page_full};
        (void)pthread_mutex_lock(&pages->lock);
        share(pages, page);
        (void)pthread_mutex_unlock(&pages->lock);
    }
    return page;
}

void lc_event_page_release(lc_event_pages *pages, lc_event_page *page)
{
    if (page == NULL)
        return;
    (void)pthread_mutex_lock(&pages->lock);
    drop(pages, page);
    (void)pthread_mutex_unlock(&pages->lock);
}
