/* watch.h - notices commits, by this process or another.
 *
 * Two things depend on it: subscriptions, which are woken when a log may have grown, and caches,
 * which must know whether their entries are still current.
 *
 * Users are hashed into slots. The writer reports each commit of this process with its users:
 * listeners in their slots are woken through their descriptors and find out themselves what is new.
 * A needless wake-up is harmless. A thread polls the database every watch.interval_ms for the
 * commits of other processes; after one, all listeners are woken, and stored settings are reloaded.
 *
 * The version of a slot is a number for caches. If it is equal before a snapshot and later, nothing
 * of these users was committed in between:
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

#include "engine/engine.h"

extern const lc_setting lc_setting_watch_interval_ms;

typedef struct lc_watch lc_watch;

#define LC_WATCH_SLOTS 4096u
#define LC_WATCH_ALL LC_WATCH_SLOTS  /* Slot of a listener to all users. */
#define LC_WATCH_STALE_US_MAX 100000 /* Maximum age of a poll that versions rely on. */

/* A listener: a member of a subscription. */
typedef struct lc_listener {
    int fd;        /* An eventfd. */
    uint32_t slot; /* Of its user, or LC_WATCH_ALL. */
    struct lc_listener *next, *before;
} lc_listener;

/* `has_thread` false: only commits of this process are noticed. */
loci_status lc_watch_new(loci_engine *engine, bool has_thread, lc_watch **out, loci_error *err);
void lc_watch_free(lc_watch *watch); /* NULL is fine. */

/* Many users share a slot. */
uint32_t lc_watch_slot(loci_str tenant_id, loci_str user_id);
void lc_watch_add(lc_watch *watch, lc_listener *listener);
void lc_watch_remove(lc_watch *watch, lc_listener *listener);

/* Reports a commit of this process, before its callers are answered: the writes in it, linked by
 * `next`. Does not block. */
void lc_watch_wrote(lc_watch *watch, const lc_write *first);
/* Anything may have changed: the store was replaced, or a job wrote without the writer. */
void lc_watch_wrote_all(lc_watch *watch);

/* See above; 0 = unknown. Reads memory only. */
uint64_t lc_watch_version(lc_watch *watch, uint32_t slot);

#endif /* LC_ENGINE_WATCH_H */
