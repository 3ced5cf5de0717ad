/* session.c - sessions of the older generation, and the subscriptions of clients.
 *
 * A session over HTTP is found by an id that cannot be guessed, and only by its owner. The table is
 * bounded: when it is full, or a session was idle for long, the one that was used longest ago ends;
 * its client gets 404 and initializes again, as the protocol asks it to.
 *
 * A listener does not queue notifications. It remembers which resources and lists have changed
 * since they were reported last, so its size is bounded by the number of its client's
 * subscriptions.
 */
#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "mcp/mcp_private.h"

/* ---- Listeners ------------------------------------------------------------------------------- */

static void link_listener(lc_mcp_listener *listener)
{
    lc_mcp_server *server = listener->server;

    listener->next = server->listeners;
    listener->previous = NULL;
    if (listener->next != NULL)
        listener->next->previous = listener;
    server->listeners = listener;
}

static void unlink_listener(lc_mcp_listener *listener)
{
    if (listener->previous != NULL)
        listener->previous->next = listener->next;
    else
        listener->server->listeners = listener->next;
    if (listener->next != NULL)
        listener->next->previous = listener->previous;
}

static void free_watched(lc_mcp_listener *listener)
{
    lc_heap *heap = listener->server->heap;

    for (size_t i = 0; i < listener->watched_count; i++)
        lc_heap_free(heap, (void *)(uintptr_t)listener->watched[i].uri.ptr,
                     listener->watched[i].uri.len, LOCI_MEM_REQUESTS);
    lc_heap_free(heap, listener->watched, listener->watched_room * sizeof *listener->watched,
                 LOCI_MEM_REQUESTS);
    listener->watched = NULL;
    listener->watched_count = listener->watched_room = 0;
}

lc_mcp_listener *lc_mcp_listener_new(lc_mcp_server *server, loci_str id, unsigned lists)
{
    lc_mcp_listener *listener = lc_heap_zalloc(server->heap, sizeof *listener, LOCI_MEM_REQUESTS);
    char *copy = listener != NULL ? lc_heap_alloc(server->heap, id.len, LOCI_MEM_REQUESTS) : NULL;

    if (copy == NULL) {
        lc_heap_free(server->heap, listener, sizeof *listener, LOCI_MEM_REQUESTS);
        return NULL;
    }
    memcpy(copy, id.ptr, id.len);
    listener->server = server;
    listener->id = (loci_str){copy, id.len};
    listener->lists = lists;
    lc_mcp_enter(server);
    link_listener(listener);
    lc_mcp_leave(server);
    return listener;
}

static void free_unlinked(lc_mcp_listener *listener)
{
    lc_heap *heap = listener->server->heap;

    free_watched(listener);
    lc_heap_free(heap, (void *)(uintptr_t)listener->id.ptr, listener->id.len, LOCI_MEM_REQUESTS);
    lc_heap_free(heap, listener, sizeof *listener, LOCI_MEM_REQUESTS);
}

void lc_mcp_listener_free(lc_mcp_listener *listener)
{
    if (listener == NULL)
        return;
    lc_mcp_enter(listener->server);
    unlink_listener(listener);
    lc_mcp_leave(listener->server);
    free_unlinked(listener);
}

static lc_mcp_watched *find_watched(const lc_mcp_listener *listener, loci_str uri)
{
    for (size_t i = 0; i < listener->watched_count; i++) {
        if (lc_str_eq(listener->watched[i].uri, uri))
            return &listener->watched[i];
    }
    return NULL;
}

/* Under the lock. */
static lc_mcp_watch_result watch(lc_mcp_listener *listener, loci_str uri)
{
    lc_heap *heap = listener->server->heap;
    char *copy;

    if (find_watched(listener, uri) != NULL)
        return LC_MCP_WATCHED;
    if (listener->watched_count == LC_MCP_URIS_MAX)
        return LC_MCP_TOO_MANY;
    if (listener->watched_count == listener->watched_room) {
        size_t room = listener->watched_room == 0 ? 4 : 2 * listener->watched_room;
        void *larger = lc_heap_resize(heap, listener->watched,
                                      listener->watched_room * sizeof *listener->watched,
                                      room * sizeof *listener->watched, LOCI_MEM_REQUESTS);

        if (larger == NULL)
            return LC_MCP_NO_MEMORY;
        listener->watched = larger;
        listener->watched_room = room;
    }
    copy = lc_heap_alloc(heap, uri.len, LOCI_MEM_REQUESTS);
    if (copy == NULL)
        return LC_MCP_NO_MEMORY;
    memcpy(copy, uri.ptr, uri.len);
    listener->watched[listener->watched_count++] = (lc_mcp_watched){.uri = {copy, uri.len}};
    return LC_MCP_WATCHED;
}

lc_mcp_watch_result lc_mcp_listener_watch(lc_mcp_listener *listener, loci_str uri)
{
    lc_mcp_watch_result result;

    lc_mcp_enter(listener->server);
    result = watch(listener, uri);
    lc_mcp_leave(listener->server);
    return result;
}

void lc_mcp_listener_unwatch(lc_mcp_listener *listener, loci_str uri)
{
    lc_mcp_watched *found;

    lc_mcp_enter(listener->server);
    found = find_watched(listener, uri);
    if (found != NULL) {
        lc_heap_free(listener->server->heap, (void *)(uintptr_t)found->uri.ptr, found->uri.len,
                     LOCI_MEM_REQUESTS);
        *found = listener->watched[--listener->watched_count];
    }
    lc_mcp_leave(listener->server);
}

void lc_mcp_listener_add_lists(lc_mcp_listener *listener, unsigned lists)
{
    lc_mcp_enter(listener->server);
    listener->lists |= lists;
    lc_mcp_leave(listener->server);
}

void lc_mcp_listener_on_change(lc_mcp_listener *listener, void (*wake)(void *ctx), void *ctx)
{
    lc_mcp_enter(listener->server);
    listener->wake = wake;
    listener->wake_ctx = ctx;
    lc_mcp_leave(listener->server);
}

bool lc_mcp_listener_tells(const lc_mcp_listener *listener, const void *ctx)
{
    bool is_told;

    lc_mcp_enter(listener->server);
    is_told = listener->wake_ctx == ctx;
    lc_mcp_leave(listener->server);
    return is_told;
}

void lc_mcp_listener_forget(lc_mcp_listener *listener, const void *ctx)
{
    lc_mcp_enter(listener->server);
    if (listener->wake_ctx == ctx) {
        listener->wake = NULL;
        listener->wake_ctx = NULL;
    }
    lc_mcp_leave(listener->server);
}

static bool wants_events(const lc_mcp_listener *listener)
{
    return (listener->lists & LC_MCP_RESOURCES) != 0 || listener->watched_count > 0;
}

bool lc_mcp_listener_wants_events(lc_mcp_listener *listener)
{
    bool is_wanted;

    lc_mcp_enter(listener->server);
    is_wanted = wants_events(listener);
    lc_mcp_leave(listener->server);
    return is_wanted;
}

static bool is_changed(const lc_mcp_provider *provider, loci_str uri, loci_str event_type)
{
    return provider->is_changed_by != NULL &&
           (event_type.ptr == NULL || provider->is_changed_by(provider->ctx, uri, event_type));
}

/* Under the lock. */
static void note(lc_mcp_listener *listener, loci_str event_type)
{
    const lc_mcp_provider *provider = listener->server->provider;

    if ((listener->lists & LC_MCP_RESOURCES) != 0 && is_changed(provider, LC_STR(""), event_type))
        listener->changed_lists |= LC_MCP_RESOURCES;
    for (size_t i = 0; i < listener->watched_count; i++) {
        lc_mcp_watched *watched = &listener->watched[i];

        if (!watched->is_changed)
            watched->is_changed = is_changed(provider, watched->uri, event_type);
    }
}

void lc_mcp_listener_note(lc_mcp_listener *listener, loci_str event_type)
{
    lc_mcp_enter(listener->server);
    note(listener, event_type);
    lc_mcp_leave(listener->server);
}

static void write_notice(const lc_mcp_listener *listener, const char *method, loci_str uri,
                         lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "jsonrpc", "2.0");
    lc_jw_member_text(&w, "method", method);
    if (uri.ptr != NULL || listener->id.ptr != NULL) {
        lc_jw_name(&w, "params");
        lc_jw_object(&w);
        if (listener->id.ptr != NULL) {
            lc_jw_name(&w, "_meta");
            lc_jw_object(&w);
            lc_jw_member_raw(&w, LC_MCP_META "subscriptionId", listener->id);
            lc_jw_end(&w);
        }
        if (uri.ptr != NULL)
            lc_jw_member_str(&w, "uri", uri);
        lc_jw_end(&w);
    }
    lc_jw_end(&w);
}

/* Under the lock. */
static bool next_notice(lc_mcp_listener *listener, lc_buf *out)
{
    static const struct {
        unsigned list;
        const char *method;
    } lists[] = {
        {LC_MCP_TOOLS, "notifications/tools/list_changed"},
        {LC_MCP_PROMPTS, "notifications/prompts/list_changed"},
        {LC_MCP_RESOURCES, "notifications/resources/list_changed"},
    };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if ((listener->changed_lists & lists[i].list) == 0)
            continue;
        listener->changed_lists &= ~lists[i].list;
        write_notice(listener, lists[i].method, LC_STR_NONE, out);
        return true;
    }
    for (size_t i = 0; i < listener->watched_count; i++) {
        if (!listener->watched[i].is_changed)
            continue;
        listener->watched[i].is_changed = false;
        write_notice(listener, "notifications/resources/updated", listener->watched[i].uri, out);
        return true;
    }
    return false;
}

bool lc_mcp_listener_next(lc_mcp_listener *listener, lc_buf *out)
{
    bool has_one;

    lc_mcp_enter(listener->server);
    has_one = next_notice(listener, out);
    lc_mcp_leave(listener->server);
    return has_one;
}

void lc_mcp_listener_write_end(const lc_mcp_listener *listener, lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "jsonrpc", "2.0");
    lc_jw_member_raw(&w, "id", listener->id);
    lc_jw_name(&w, "result");
    lc_jw_object(&w);
    lc_jw_member_text(&w, "resultType", "complete");
    lc_jw_name(&w, "_meta");
    lc_jw_object(&w);
    lc_jw_member_raw(&w, LC_MCP_META "subscriptionId", listener->id);
    lc_jw_member_raw(&w, LC_MCP_META "serverInfo", listener->server->info);
    lc_jw_end(&w);
    lc_jw_end(&w);
    lc_jw_end(&w);
}

void lc_mcp_announce(lc_mcp_exchange *exchange, unsigned lists)
{
    lc_mcp_server *server = exchange->server;

    lc_mcp_enter(server);
    for (lc_mcp_listener *at = server->listeners; at != NULL; at = at->next) {
        if ((at->lists & lists) == 0)
            continue;
        at->changed_lists |= at->lists & lists;
        if (at->wake != NULL)
            at->wake(at->wake_ctx);
    }
    lc_mcp_leave(server);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

lc_mcp_session *lc_mcp_session_new(lc_mcp_server *server)
{
    lc_mcp_session *session = lc_heap_zalloc(server->heap, sizeof *session, LOCI_MEM_REQUESTS);

    if (session == NULL)
        return NULL;
    session->server = server;
    session->users = 1;
    session->level = LC_MCP_LEVEL_DEFAULT;
    session->used_us = lc_clock_monotonic_us();
    session->notices.server = server;
    lc_arena_init(&session->arena, server->heap, LOCI_MEM_REQUESTS);
    lc_mcp_enter(server);
    link_listener(&session->notices);
    lc_mcp_leave(server);
    return session;
}

/* Under the lock. Takes it out of the table; true when it has no user any more. */
static bool unlist(lc_mcp_session *session)
{
    lc_mcp_server *server = session->server;

    session->has_ended = true;
    if (!session->is_listed)
        return false;
    session->is_listed = false;
    if (session->newer != NULL)
        session->newer->older = session->older;
    else
        server->sessions = session->older;
    if (session->older != NULL)
        session->older->newer = session->newer;
    else
        server->oldest = session->newer;
    server->session_count--;
    return --session->users == 0;
}

/* Under the lock. */
static void list_first(lc_mcp_session *session)
{
    lc_mcp_server *server = session->server;

    session->newer = NULL;
    session->older = server->sessions;
    if (session->older != NULL)
        session->older->newer = session;
    else
        server->oldest = session;
    server->sessions = session;
    server->session_count++;
    session->is_listed = true;
    session->users++;
    session->used_us = lc_clock_monotonic_us();
}

static void free_session(lc_mcp_session *session)
{
    lc_mcp_server *server = session->server;

    LC_ASSERT(session->exchanges == NULL);
    while (session->listeners != NULL) {
        lc_mcp_listener *first = session->listeners;

        session->listeners = first->sibling;
        lc_mcp_listener_free(first);
    }
    lc_mcp_enter(server);
    unlink_listener(&session->notices);
    lc_mcp_leave(server);
    free_watched(&session->notices);
    lc_arena_clear(&session->arena);
    lc_heap_free(server->heap, session, sizeof *session, LOCI_MEM_REQUESTS);
}

void lc_mcp_session_hold(lc_mcp_session *session)
{
    session->users++;
}

void lc_mcp_session_release(lc_mcp_session *session)
{
    bool is_last;

    if (session == NULL)
        return;
    lc_mcp_enter(session->server);
    is_last = --session->users == 0;
    lc_mcp_leave(session->server);
    if (is_last)
        free_session(session);
}

/* The session to end before another one is begun, or NULL; it has one more user. */
static lc_mcp_session *choose_expired(lc_mcp_server *server)
{
    lc_mcp_session *oldest;

    lc_mcp_enter(server);
    oldest = server->oldest;
    if (oldest != NULL && server->session_count < LC_MCP_SESSIONS_MAX &&
        lc_clock_monotonic_us() - oldest->used_us < LC_MCP_SESSION_IDLE_S * INT64_C(1000000))
        oldest = NULL;
    if (oldest != NULL)
        lc_mcp_session_hold(oldest);
    lc_mcp_leave(server);
    return oldest;
}

lc_mcp_session *lc_mcp_session_begin(lc_mcp_server *server, const char *owner)
{
    unsigned char secret[(LC_MCP_SESSION_ID_BYTES - 1) / 2];
    lc_mcp_session *expired;
    lc_mcp_session *session;

    while ((expired = choose_expired(server)) != NULL) {
        lc_mcp_session_end(expired);
        lc_mcp_session_release(expired);
    }
    if (!lc_random_secret(secret, sizeof secret))
        return NULL;
    session = lc_mcp_session_new(server);
    if (session == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof secret; i++)
        (void)snprintf(session->id + 2 * i, 3, "%02x", secret[i]);
    (void)snprintf(session->owner.text, sizeof session->owner.text, "%s", owner);
    lc_mcp_enter(server);
    list_first(session);
    lc_mcp_leave(server);
    return session;
}

lc_mcp_session *lc_mcp_session_find(lc_mcp_server *server, loci_str id, const char *owner)
{
    lc_mcp_session *at;

    lc_mcp_enter(server);
    for (at = server->sessions; at != NULL; at = at->older) {
        if (lc_str_is(id, at->id) && strcmp(at->owner.text, owner) == 0)
            break;
    }
    if (at != NULL) { /* It was used last now. */
        (void)unlist(at);
        at->has_ended = false;
        list_first(at);
        lc_mcp_session_hold(at);
    }
    lc_mcp_leave(server);
    return at;
}

bool lc_mcp_session_has_ended(const lc_mcp_session *session)
{
    bool has_ended;

    lc_mcp_enter(session->server);
    has_ended = session->has_ended;
    lc_mcp_leave(session->server);
    return has_ended;
}

lc_mcp_listener *lc_mcp_session_listener(lc_mcp_session *session)
{
    return &session->notices;
}

void lc_mcp_session_end(lc_mcp_session *session)
{
    lc_mcp_server *server = session->server;
    lc_mcp_exchange *waiting;
    lc_mcp_reply_fn *reply;
    bool is_last;

    lc_mcp_enter(server);
    lc_mcp_session_hold(session);
    (void)unlist(session); /* The caller and this function use it. */
    if (session->notices.wake != NULL)
        session->notices.wake(session->notices.wake_ctx);
    lc_mcp_leave(server);
    /* The client will not answer the questions any more. */
    for (;;) {
        lc_mcp_enter(server);
        for (waiting = session->exchanges; waiting != NULL; waiting = waiting->next) {
            if (waiting->ask != 0)
                break;
        }
        reply = NULL;
        if (waiting != NULL) {
            reply = waiting->reply;
            waiting->ask = 0;
        }
        lc_mcp_leave(server);
        if (waiting == NULL)
            break;
        reply(waiting->reply_ctx, waiting, NULL);
    }
    lc_mcp_enter(server);
    is_last = --session->users == 0;
    lc_mcp_leave(server);
    if (is_last)
        free_session(session);
}

/* ---- Exchanges of a session ------------------------------------------------------------------ */

void lc_mcp_session_add(lc_mcp_session *session, lc_mcp_exchange *exchange)
{
    lc_mcp_enter(session->server);
    exchange->previous = NULL;
    exchange->next = session->exchanges;
    if (exchange->next != NULL)
        exchange->next->previous = exchange;
    session->exchanges = exchange;
    exchange->is_listed = true;
    lc_mcp_leave(session->server);
}

void lc_mcp_session_remove(lc_mcp_exchange *exchange)
{
    lc_mcp_session *session = exchange->session;

    if (session == NULL || !exchange->is_listed)
        return;
    lc_mcp_enter(session->server);
    if (exchange->previous != NULL)
        exchange->previous->next = exchange->next;
    else
        session->exchanges = exchange->next;
    if (exchange->next != NULL)
        exchange->next->previous = exchange->previous;
    exchange->is_listed = false;
    lc_mcp_leave(session->server);
}

void lc_mcp_session_cancel(lc_mcp_session *session, loci_str id)
{
    lc_mcp_listener *ended = NULL;

    lc_mcp_enter(session->server);
    for (lc_mcp_exchange *at = session->exchanges; at != NULL; at = at->next) {
        if (lc_str_eq(at->id, id))
            __atomic_store_n(&at->is_cancelled, 1, __ATOMIC_SEQ_CST);
    }
    for (lc_mcp_listener **at = &session->listeners; *at != NULL; at = &(*at)->sibling) {
        if (!lc_str_eq((*at)->id, id))
            continue;
        ended = *at;
        *at = ended->sibling;
        session->listener_count--;
        break;
    }
    lc_mcp_leave(session->server);
    lc_mcp_listener_free(ended);
}

lc_mcp_exchange *lc_mcp_session_take_ask(lc_mcp_session *session, loci_str id)
{
    lc_mcp_exchange *at;
    int64_t number;

    if (!lc_str_to_i64(id, &number) || number <= 0)
        return NULL;
    lc_mcp_enter(session->server);
    for (at = session->exchanges; at != NULL && at->ask != number; at = at->next)
        ;
    if (at != NULL)
        at->ask = 0;
    lc_mcp_leave(session->server);
    return at;
}

/* ---- Listeners of a session ------------------------------------------------------------------ */

bool lc_mcp_session_wants_events(lc_mcp_session *session)
{
    bool is_wanted;

    lc_mcp_enter(session->server);
    is_wanted = wants_events(&session->notices);
    for (lc_mcp_listener *at = session->listeners; !is_wanted && at != NULL; at = at->sibling)
        is_wanted = wants_events(at);
    lc_mcp_leave(session->server);
    return is_wanted;
}

void lc_mcp_session_note(lc_mcp_session *session, loci_str event_type)
{
    lc_mcp_enter(session->server);
    note(&session->notices, event_type);
    for (lc_mcp_listener *at = session->listeners; at != NULL; at = at->sibling)
        note(at, event_type);
    lc_mcp_leave(session->server);
}

bool lc_mcp_session_next(lc_mcp_session *session, lc_buf *out)
{
    bool has_one;

    lc_mcp_enter(session->server);
    has_one = next_notice(&session->notices, out);
    for (lc_mcp_listener *at = session->listeners; !has_one && at != NULL; at = at->sibling)
        has_one = next_notice(at, out);
    lc_mcp_leave(session->server);
    return has_one;
}

bool lc_mcp_session_close_next(lc_mcp_session *session, lc_buf *out)
{
    lc_mcp_listener *first;

    lc_mcp_enter(session->server);
    first = session->listeners;
    if (first != NULL) {
        session->listeners = first->sibling;
        session->listener_count--;
    }
    lc_mcp_leave(session->server);
    if (first == NULL)
        return false;
    lc_mcp_listener_write_end(first, out);
    lc_mcp_listener_free(first);
    return true;
}
