/* subscription.c - following the log.
 *
 * A stream of one user is a position in its log: the next page is read from the store when the last
 * one is used up, so no event is missed or repeated, even if the reader is slow or another process
 * wrote it. There is no order across users: a stream of all users is a position in the feed of the
 * watch (engine/feed.h), which has the users whose logs grew and the seqs of the new events, so it
 * reads the logs of these users only. If it falls so far behind that the feed has lost its
 * position, it skips to the present and reports `lagged`. So does every stream after a restore:
 * events that it returned may be gone. The events of a log have no gaps: where there is one, the
 * events were deleted when the log was compacted, and the stream goes on behind them and reports
 * `lagged`, too.
 */
#include "engine/subscription.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/internal.h"
#include "session/session.h"
#include "store/backup.h"
#include "store/event.h"
#include "store/snapshot.h"

#define PAGE_EVENTS 64
#define PAGE_BYTES (16 * 1024) /* A page ends with the event that reaches this. */
#define PAGE_RANGES 64         /* Users of a page, so that a transaction stays short. */
#define READ_MS_MAX 10000

struct loci_subscription {
    lc_listener listener; /* First: its descriptor is ours. */
    loci_engine *engine;  /* Of the tenant's database, */
    loci_engine *main;    /* and the one that was asked. */
    lc_arena arena;       /* Names. */
    loci_str tenant_id;
    loci_str user_id;
    loci_str types;        /* Comma-separated; none = all. */
    loci_str session_name; /* As it was asked for; none = all. */
    loci_str session_id;   /* ses_…, in `arena`. */
    bool is_of_all;
    bool is_resumed;
    int64_t after_seq;
    int64_t until_seq;      /* Later events are not wanted yet, */
    int64_t until_position; /* nor those behind this end of the feed. */
    int64_t read_count;     /* Events of the last page, those of other types included. */
    int64_t page_limit;     /* Events to read next: less where they are large. */
    bool is_page_full;      /* Full of events or bytes: there may be more behind it. */
    bool has_gap;           /* Events of the last page have been deleted (store/snapshot.h). */
    bool has_lagged;
    int64_t base_seq;          /* Events until here are known to be deleted. */
    int64_t restore_mark;      /* Of the store that it was read from. */
    loci_answer *first, *last; /* Read, not yet taken. */
    int pending_count;
    size_t page_bytes; /* Of the page being read. */
};

static bool is_wanted(const loci_subscription *sub, const lc_event *event)
{
    loci_str rest = sub->types;

    if (sub->session_id.ptr != NULL && !lc_event_names(event, sub->session_id))
        return false;
    if (rest.ptr == NULL)
        return true;
    while (rest.ptr != NULL) {
        if (lc_str_is(lc_str_trim(lc_str_split(rest, ',', &rest)), event->type->name))
            return true;
    }
    return false;
}

static loci_status keep_event(void *ctx, const lc_event *event, loci_error *err)
{
    loci_subscription *sub = ctx;
    lc_json_writer out;
    lc_buf text;
    loci_answer *answer = NULL;
    loci_status status;

    if (event->seq > sub->until_seq)
        return LOCI_OK;
    if (sub->page_bytes >= PAGE_BYTES) { /* The event is read again with the next page. */
        sub->is_page_full = true;
        return LOCI_OK;
    }
    sub->has_gap |= event->seq > sub->after_seq + 1 && sub->after_seq >= sub->base_seq;
    if (!is_wanted(sub, event)) {
        sub->after_seq = event->seq;
        sub->read_count++;
        return LOCI_OK;
    }
    lc_buf_init(&text, sub->arena.heap, LOCI_MEM_REQUESTS, 4u * LC_EVENT_BYTES_MAX);
    lc_jw_init(&out, &text);
    lc_event_write(&out, event);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        answer = lc_answer_new(sub->arena.heap, lc_buf_str(&text));
        if (answer == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    if (status != LOCI_OK)
        return status;
    if (sub->last == NULL)
        sub->first = answer;
    else
        sub->last->next = answer;
    sub->last = answer;
    sub->pending_count++;
    sub->page_bytes += answer->len;
    sub->after_seq = event->seq; /* Last: an event that failed is read again. */
    sub->read_count++;
    return LOCI_OK;
}

/* The next events of one user after `*seq`, which moves with every event queued. */
static loci_status read_user(loci_subscription *sub, lc_tx *tx, loci_str user_id, int64_t *seq,
                             loci_error *err)
{
    lc_event_range range = {.tenant_id = sub->tenant_id,
                            .user_id = user_id,
                            .after_seq = *seq,
                            .limit = sub->page_limit};
    loci_status status;

    sub->after_seq = *seq;
    sub->read_count = 0;
    sub->is_page_full = sub->has_gap = false;
    status = lc_event_each(tx, &range, keep_event, sub, err);
    sub->has_lagged |= sub->has_gap;
    *seq = sub->after_seq;
    /* Rows that did not fit into a page are not read again only to be dropped. */
    sub->page_limit = sub->is_page_full ? sub->read_count : 2 * sub->page_limit;
    if (sub->page_limit > PAGE_EVENTS)
        sub->page_limit = PAGE_EVENTS;
    sub->is_page_full |= sub->read_count == range.limit;
    return status;
}

/* A page of the next events of all users: of one user after the other, as the feed has them. The
 * feed may move meanwhile; what came after the snapshot is left for the next page. */
static loci_status read_all(loci_subscription *sub, lc_tx *tx, loci_error *err)
{
    lc_watch *watch = sub->engine->watch;
    loci_status status = LOCI_OK;
    lc_watch_growth grown;

    for (int i = 0; status == LOCI_OK; i++) {
        int64_t seq;
        bool is_done;

        lc_watch_find(watch, &sub->listener, &grown);
        sub->has_lagged |= grown.is_lost;
        sub->is_page_full = grown.count > 0;
        if (grown.count > sub->until_position - grown.position)
            grown.count = sub->until_position - grown.position;
        if (grown.count <= 0 || i == PAGE_RANGES || sub->pending_count >= PAGE_EVENTS ||
            sub->page_bytes >= PAGE_BYTES)
            return LOCI_OK;
        seq = grown.after_seq;
        sub->until_seq = seq + grown.count;
        status = read_user(sub, tx, grown.user_id, &seq, err);
        /* Some may have been deleted since: then the range ends with fewer events. */
        is_done = status == LOCI_OK && !sub->is_page_full;
        lc_watch_move(watch, &sub->listener,
                      grown.position + (is_done ? grown.count : seq - grown.after_seq));
    }
    return status;
}

/* Once: a session that is opened later under the same name is another one. */
static loci_status find_session(loci_subscription *sub, lc_tx *tx, loci_error *err)
{
    lc_id id;
    loci_status status;

    if (sub->session_name.ptr == NULL || sub->session_id.ptr != NULL)
        return LOCI_OK;
    status = lc_session_find_id(tx, sub->session_name, &id, err);
    if (status != LOCI_OK)
        return status;
    sub->session_id = lc_arena_copy(&sub->arena, lc_id_str(&id));
    return sub->session_id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Starts at the end of the log or at the requested position. If the position of a resumed stream is
 * behind the last event, a restore has replaced the log; if it is inside a snapshot, the events
 * that the stream would send next have been deleted. */
static loci_status find_start(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_subscription *sub = ctx;
    lc_head head = {0};
    loci_status status = lc_tx_restore_mark(tx, &sub->restore_mark, err);

    if (status != LOCI_OK)
        return status;
    tx->tenant_id = sub->tenant_id;
    tx->user_id = sub->user_id;
    status = find_session(sub, tx, err);
    if (status == LOCI_OK)
        status = lc_tx_head(tx, &head, err);
    if (status == LOCI_OK && sub->is_resumed && sub->after_seq > head.seq) {
        sub->has_lagged = true;
        sub->after_seq = -1;
    }
    sub->base_seq = 0;
    if (status == LOCI_OK && sub->after_seq >= 0)
        status = lc_snapshot_base(tx, sub->tenant_id, sub->user_id, &sub->base_seq, err);
    sub->has_lagged |= sub->is_resumed && sub->after_seq >= 0 && sub->after_seq < sub->base_seq;
    if (sub->after_seq < 0)
        sub->after_seq = head.seq;
    return status;
}

static loci_status refill(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_subscription *sub = ctx;
    int64_t mark = 0;
    loci_status status;

    sub->page_bytes = 0;
    if (sub->is_of_all)
        return read_all(sub, tx, err);
    status = lc_tx_restore_mark(tx, &mark, err);
    if (status != LOCI_OK)
        return status;
    if (mark != sub->restore_mark) {
        sub->has_lagged = true;
        sub->after_seq = -1;
        return find_start(tx, sub, err);
    }
    sub->until_seq = INT64_MAX;
    status = read_user(sub, tx, sub->user_id, &sub->after_seq, err);
    /* One report for all gaps between the events that a snapshot has left. */
    return status == LOCI_OK && sub->has_gap
               ? lc_snapshot_base(tx, sub->tenant_id, sub->user_id, &sub->base_seq, err)
               : status;
}

static loci_status read_store(loci_subscription *sub, lc_tx_body *body, loci_error *err)
{
    return lc_engine_read(sub->engine,
                          &(lc_read){.deadline_us = lc_clock_monotonic_us() + READ_MS_MAX * 1000,
                                     .body = body,
                                     .ctx = sub},
                          err);
}

/* NULL also for a host that was built before the member was added. */
static const char *session_of(const loci_subscribe_options *options)
{
    return options->size >= sizeof *options ? options->session_id : NULL;
}

static loci_status set_names(loci_subscription *sub, const loci_subscribe_options *options,
                             loci_error *err)
{
    const loci_principal *principal = options->principal;
    const char *session = session_of(options);
    loci_str tenant_id = lc_engine_tenant_of(sub->engine, principal);
    loci_str user_id = options->user_id != NULL ? loci_str_of(options->user_id) : LC_STR("default");

    if (principal != NULL && principal->persona != NULL && principal->persona[0] != '\0')
        return lc_fail(
            err, LOCI_EFORBIDDEN,
            "the log has the events of all personas; this caller is limited to one persona");
    if (principal != NULL && principal->user != NULL && principal->user[0] != '\0') {
        if (sub->is_of_all)
            return lc_fail(err, LOCI_EFORBIDDEN, "this caller may only follow its own user");
        if (options->user_id != NULL && !lc_str_is(user_id, principal->user))
            return lc_fail(err, LOCI_ENOTFOUND, "user %.*s not found", LC_STR_ARG(user_id));
        user_id = loci_str_of(principal->user);
    }
    if (session != NULL && sub->is_of_all)
        return lc_fail(err, LOCI_EINVAL, "session_id: a session has one user; pass user_id");
    sub->tenant_id = lc_arena_copy(&sub->arena, tenant_id);
    sub->user_id = lc_arena_copy(&sub->arena, user_id);
    if (options->types != NULL)
        sub->types = lc_arena_copy(&sub->arena, loci_str_of(options->types));
    if (session != NULL)
        sub->session_name = lc_arena_copy(&sub->arena, loci_str_of(session));
    if (sub->tenant_id.ptr == NULL || sub->user_id.ptr == NULL ||
        (options->types != NULL && sub->types.ptr == NULL) ||
        (session != NULL && sub->session_name.ptr == NULL))
        return lc_fail_memory(err);
    return LOCI_OK;
}

static loci_status start(void *ctx, loci_error *err)
{
    loci_subscription *sub = ctx;

    sub->listener.fd = eventfd(1,
                               EFD_CLOEXEC | EFD_NONBLOCK); /* Readable: there may be a backlog. */
    if (sub->listener.fd < 0)
        return lc_fail(err, LOCI_ERESOURCE, "cannot open an eventfd: too many open files");
    sub->listener.tenant_id = sub->tenant_id;
    sub->listener.user_id = sub->user_id;
    sub->listener.is_of_all = sub->is_of_all;
    if (sub->is_of_all)
        return lc_watch_add_all(sub->engine->watch, &sub->listener, err);
    lc_watch_add(sub->engine->watch, &sub->listener);
    return read_store(sub, find_start, err);
}

loci_status loci_subscribe(loci_engine *engine, const loci_subscribe_options *options,
                           loci_subscription **out, loci_error *err)
{
    static const loci_subscribe_options none = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_engine *main = engine;
    loci_subscription *sub;
    loci_status status;
    lc_heap *heap;

    if (options == NULL)
        options = &none;
    status = lc_engine_of_tenant(engine, lc_engine_tenant_of(engine, options->principal), &engine,
                                 err);
    if (status != LOCI_OK)
        return status;
    heap = &engine->env.heap;
    sub = lc_heap_zalloc(heap, sizeof *sub, LOCI_MEM_REQUESTS);
    if (sub == NULL)
        return lc_fail_memory(err);
    sub->engine = engine;
    sub->main = main;
    sub->listener.fd = -1;
    sub->is_of_all = (options->flags & LOCI_SUBSCRIBE_ALL_USERS) != 0;
    sub->is_resumed = (options->flags & LOCI_SUBSCRIBE_RESUMED) != 0;
    sub->after_seq = options->after_seq;
    sub->page_limit = PAGE_EVENTS;
    lc_arena_init(&sub->arena, heap, LOCI_MEM_REQUESTS);
    status = set_names(sub, options, err);
    if (status == LOCI_OK)
        status = lc_engine_guard(engine, start, sub, err);
    if (status == LOCI_OK)
        *out = sub;
    else
        loci_subscription_close(sub);
    return status;
}

int loci_subscription_fd(const loci_subscription *subscription)
{
    return subscription->listener.fd;
}

static void take_first(loci_subscription *sub, loci_answer **out)
{
    *out = sub->first;
    if (sub->first == NULL)
        return;
    sub->first = sub->first->next;
    if (sub->first == NULL)
        sub->last = NULL;
    sub->pending_count--;
}

/* The descriptor is reset before the log is read, so that a later event makes it readable again. A
 * full page of events of other types is not the end of the log: read on. */
static loci_status fill(void *ctx, loci_error *err)
{
    loci_subscription *sub = ctx;
    eventfd_t ignored;
    int64_t before;
    loci_status status = LOCI_OK;

    (void)eventfd_read(sub->listener.fd, &ignored); /* EAGAIN: it was not readable. */
    if (sub->is_of_all)
        status = lc_watch_catch_up(sub->engine->watch, err);
    while (status == LOCI_OK) {
        before = sub->after_seq;
        sub->until_position = lc_watch_end(sub->engine->watch); /* Before the snapshot. */
        status = read_store(sub, refill, err);
        if (sub->first != NULL || (sub->is_of_all ? !sub->is_page_full : sub->after_seq == before))
            break;
    }
    return status;
}

/* Fails when the tenant has moved: its events are in another database now. */
static loci_status check_route(const loci_subscription *sub, loci_error *err)
{
    loci_engine *now;
    loci_status status = lc_engine_of_tenant(sub->main, sub->tenant_id, &now, err);

    return status != LOCI_OK || now == sub->engine
               ? status
               : lc_fail(err, LOCI_EUNAVAILABLE,
                         "tenant %.*s was moved to another database; open a new stream",
                         LC_STR_ARG(sub->tenant_id));
}

loci_status loci_subscription_next(loci_subscription *sub, loci_answer **out, int *out_lagged,
                                   loci_error *err)
{
    loci_status status = LOCI_OK;

    if (sub->first == NULL)
        status = check_route(sub, err);
    if (status == LOCI_OK && sub->first == NULL)
        status = lc_engine_guard(sub->engine, fill, sub, err);
    if (status != LOCI_OK) {
        (void)eventfd_write(sub->listener.fd,
                            1); /* The events that were not read are still there. */
        return status;
    }
    take_first(sub, out);
    /* Behind a full page there may be another. */
    if (sub->first != NULL || sub->is_page_full)
        (void)eventfd_write(sub->listener.fd, 1);
    if (out_lagged != NULL)
        *out_lagged = sub->has_lagged;
    sub->has_lagged = false;
    return LOCI_OK;
}

bool lc_subscription_place_get(loci_subscription *sub, lc_subscription_place *out)
{
    lc_watch *watch = sub->engine->watch;
    lc_watch_growth grown;

    if (sub->first != NULL || sub->has_lagged)
        return false;
    *out = (lc_subscription_place){
        .source = sub->engine,
        .tenant_id = sub->tenant_id,
        .user_id = sub->user_id,
        .types = sub->types,
        .session_id = sub->session_id,
        .restore_mark = sub->restore_mark,
        .after_seq = sub->after_seq,
        .is_page_full = sub->is_page_full,
    };
    if (!sub->is_of_all) {
        out->version = lc_watch_version(watch, lc_watch_slot(sub->tenant_id, sub->user_id));
        return true;
    }
    lc_watch_find(watch, &sub->listener, &grown);
    sub->has_lagged = grown.is_lost;
    out->after_seq = grown.position;
    out->version = 1 + (uint64_t)grown.end;
    return !grown.is_lost;
}

void lc_subscription_skip(loci_subscription *sub, const lc_subscription_place *end)
{
    if (sub->is_of_all)
        lc_watch_move(sub->engine->watch, &sub->listener, end->after_seq);
    else
        sub->after_seq = end->after_seq;
    sub->is_page_full = end->is_page_full;
    if (end->is_page_full)
        (void)eventfd_write(sub->listener.fd, 1);
}

void loci_subscription_close(loci_subscription *sub)
{
    loci_answer *answer;

    if (sub == NULL)
        return;
    if (sub->listener.fd >= 0) {
        lc_watch_remove(sub->engine->watch, &sub->listener);
        (void)close(sub->listener.fd); /* Nothing is written to it. */
    }
    for (take_first(sub, &answer); answer != NULL; take_first(sub, &answer))
        loci_answer_free(answer);
    lc_arena_clear(&sub->arena);
    lc_heap_free(&sub->engine->env.heap, sub, sizeof *sub, LOCI_MEM_REQUESTS);
}
