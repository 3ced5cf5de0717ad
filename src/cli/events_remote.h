/* events_remote.h - events of a daemon: pages of event.list, or a stream of server-sent events that
 * is opened again where it broke. */
#ifndef LC_CLI_EVENTS_REMOTE_H
#define LC_CLI_EVENTS_REMOTE_H

#include "cli/link.h"

typedef struct lc_remote_events {
    lc_link *link;
    const char *user;    /* NULL = the user "default", or with `of_all` every user. */
    const char *types;   /* "fact.written,fact.retracted"; NULL = all. */
    const char *session; /* Id or external_id; NULL = all. */
    int64_t after_seq;   /* -1 = only new ones. */
    bool of_all;
    bool (*show)(void *ctx, loci_str event); /* An event as JSON; false ends it. */
    /* Follow: when all that has arrived was shown, and once per second; false ends it. Or NULL. */
    bool (*rest)(void *ctx);
    void *ctx;
} lc_remote_events;

/* The last seq of the user's log. */
loci_status lc_remote_events_head(const lc_remote_events *events, int64_t *out, loci_error *err);
/* Shows the events after `after_seq` that there are. */
loci_status lc_remote_events_list(const lc_remote_events *events, loci_error *err);
/* Shows events as they happen, until Ctrl-C or until `show` ends it. A connection that breaks is
 * opened again and goes on after the last event; a token that is refused ends it. */
loci_status lc_remote_events_follow(const lc_remote_events *events, loci_error *err);

#endif /* LC_CLI_EVENTS_REMOTE_H */
