/* watch.h - notices that the log has grown, whoever wrote it.
 *
 * Commits of this process mark whom they are about and wake a thread, which tells the listeners;
 * those of others are seen by the same thread, which asks the database, every watch.interval_ms,
 * whether anything changed. Listeners are told through their descriptor and find out themselves
 * what is new; being told in vain is harmless. The thread also takes over settings that another
 * process has stored.
 */
#ifndef LC_ENGINE_WATCH_H
#define LC_ENGINE_WATCH_H

#include "engine/engine.h"

typedef struct lc_watch lc_watch;

#define LC_WATCH_SLOTS 4096u
#define LC_WATCH_ALL LC_WATCH_SLOTS /* Of a listener: whoever it is about. */

/* Something to be woken: a member of what listens. */
typedef struct lc_listener {
    int fd;        /* An eventfd. */
    uint32_t slot; /* Of its user, or LC_WATCH_ALL. */
    struct lc_listener *next, *before;
} lc_listener;

/* `has_thread` false: only this process's commits are noticed, and told by who wakes. */
loci_status lc_watch_new(loci_engine *engine, bool has_thread, lc_watch **out, loci_error *err);
void lc_watch_free(lc_watch *watch); /* NULL is fine. */

/* Many users share a slot. */
uint32_t lc_watch_slot(loci_str tenant_id, loci_str user_id);
void lc_watch_add(lc_watch *watch, lc_listener *listener);
void lc_watch_remove(lc_watch *watch, lc_listener *listener);

/* After a commit: mark the slots of those whose log may have grown, then wake once. Neither waits
 * for anything. */
void lc_watch_mark(lc_watch *watch, uint32_t slot);
void lc_watch_wake(lc_watch *watch);
/* Anything may have changed: tells everybody, here and now. */
void lc_watch_poke(lc_watch *watch);

#endif /* LC_ENGINE_WATCH_H */
