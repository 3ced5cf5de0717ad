/* watch.h - notices commits, by this process or another.
 *
 * Two things depend on it: subscriptions, which are woken when their log has grown, and caches,
 * which must know whether their entries are still current.
 *
 * The watch follows the commits, not the users: after commits it reads which logs have grown
 * since it last read (store/grown.h), once per process, and wakes the listeners of these users
 * through their descriptors. A listener of one user then reads its log. The growth itself goes to
 * listeners of all users through the feed (engine/feed.h). A needless wake-up is harmless.
 *
 * A thread does this work. The writer reports each commit of this process to it; for the commits of
 * other processes it polls the database every watch.interval_ms. An engine without threads notices
 * its own commits only, and reads the growth when a subscription of all users is read.
 *
 * The version of a slot is a number for caches; users are hashed into slots. If it is equal before
 * a snapshot and later, nothing of these users was committed in between:
 *
 *   - A store that knows its state (lc_db_driver.state) is asked at each use, so every commit of
 *     every process changes the version at once.
 *   - For other stores the version counts this process's commits to the slot and the changes that
 *     the thread found. It is unknown when the last poll is older than LC_WATCH_STALE_US_MAX, so
 *     that is how old a cached answer can be: neither a lost server nor a suspended process keeps
 *     outdated rows alive.
 */
#ifndef LC_ENGINE_WATCH_H
#define LC_ENGINE_WATCH_H

#include "base/limits.h"
#include "engine/engine.h"

extern const lc_setting lc_setting_watch_interval_ms;

typedef struct lc_watch lc_watch;

#define LC_WATCH_SLOTS 4096u
#define LC_WATCH_STALE_US_MAX 100000 /* Maximum age of a poll that versions rely on. */

/* A listener: a member of a subscription. The caller sets the first four. */
typedef struct lc_listener {
    int fd;             /* An eventfd. */
    loci_str tenant_id; /* Borrowed while it listens, */
    loci_str user_id;   /* and not set with `is_of_all`. */
    bool is_of_all;     /* Listens to all users of the tenant. */
    int64_t position;   /* In the feed, of a listener of all users. */
    uint64_t hash;      /* Of its user. */
    struct lc_listener *next, **link;
} lc_listener;

/* `has_thread` false: only commits of this process are noticed. */
loci_status lc_watch_new(loci_engine *engine, bool has_thread, lc_watch **out, loci_error *err);
void lc_watch_free(lc_watch *watch); /* NULL is fine. */

/* Many users share a slot. */
uint32_t lc_watch_slot(loci_str tenant_id, loci_str user_id);

/* Begins to listen to one user. The listener reads the log afterwards. */
void lc_watch_add(lc_watch *watch, lc_listener *listener);
/* Begins to listen to all users, behind everything that was committed before the call. Reads the
 * store; in the same time for any number of users. */
loci_status lc_watch_add_all(lc_watch *watch, lc_listener *listener, loci_error *err);
/* Of both kinds. */
void lc_watch_remove(lc_watch *watch, lc_listener *listener);

/* Reports a commit of this process, before its callers are answered: the writes in it, linked by
 * `next`. Does not block. */
void lc_watch_wrote(lc_watch *watch, const lc_write *first);
/* Anything may have changed: a job wrote without the writer. */
void lc_watch_wrote_all(lc_watch *watch);
/* The store was replaced by another. */
void lc_watch_replaced(lc_watch *watch);

/* Wakes all listeners, although nothing was committed: each should read. NULL is fine. */
void lc_watch_wake_all(lc_watch *watch);

/* See above; 0 = unknown. Reads memory only. */
uint64_t lc_watch_version(lc_watch *watch, uint32_t slot);

/* ---- For listeners of all users -------------------------------------------------------------- */

/* The next events for a listener. */
typedef struct lc_watch_growth {
    bool is_lost;      /* Events were dropped, or belong to a store that was replaced, */
    int64_t end;       /* and the listener continues here: the end of the feed. */
    int64_t position;  /* Of the first event, */
    int64_t after_seq; /* which has the next seq, */
    int64_t count;     /* and how many follow each other. 0 = none. */
    loci_str user_id;  /* Of these events; in `name`. */
    char name[LC_ID_BYTES_MAX];
} lc_watch_growth;

/* Without a thread: reads which logs have grown. With one: nothing. */
loci_status lc_watch_catch_up(lc_watch *watch, loci_error *err);
void lc_watch_find(lc_watch *watch, lc_listener *listener, lc_watch_growth *out);
/* The end of the feed. A snapshot that is taken later sees all events before it, and maybe none
 * behind it. */
int64_t lc_watch_end(lc_watch *watch);
/* The listener has handled everything before `position`. */
void lc_watch_move(lc_watch *watch, lc_listener *listener, int64_t position);

#endif /* LC_ENGINE_WATCH_H */
