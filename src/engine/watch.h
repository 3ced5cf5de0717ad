/* watch.h - notices that the log has grown, whoever wrote it.
 *
 * Commits of this process poke it directly; those of others are seen by a thread that asks the
 * database, every watch.interval_ms, whether anything changed. Listeners are told through their
 * descriptor and find out themselves what is new. The same thread takes over settings that another
 * process has stored.
 */
#ifndef LC_ENGINE_WATCH_H
#define LC_ENGINE_WATCH_H

#include "engine/engine.h"

typedef struct lc_watch lc_watch;

/* Something to be woken: a member of what listens. */
typedef struct lc_listener {
    int fd; /* An eventfd. */
    struct lc_listener *next, *before;
} lc_listener;

/* `has_thread` false: only this process's commits are noticed. */
loci_status lc_watch_new(loci_engine *engine, bool has_thread, lc_watch **out, loci_error *err);
void lc_watch_free(lc_watch *watch); /* NULL is fine. */

void lc_watch_add(lc_watch *watch, lc_listener *listener);
void lc_watch_remove(lc_watch *watch, lc_listener *listener);
/* The log may have grown. Cheap when nobody listens. */
void lc_watch_poke(lc_watch *watch);

#endif /* LC_ENGINE_WATCH_H */
