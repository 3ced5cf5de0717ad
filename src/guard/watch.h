/* watch.h - systemd's protocol by which a service manager reports memory pressure to a process.
 *
 * $MEMORY_PRESSURE_WATCH names a file, a FIFO or a socket, $MEMORY_PRESSURE_WRITE has bytes to be
 * written to it first, in base64. "/dev/null" turns it off.
 */
#ifndef LC_GUARD_WATCH_H
#define LC_GUARD_WATCH_H

#include "loci.h"

#include <poll.h>
#include <stdbool.h>

typedef struct lc_watch {
    int fd;       /* -1 = there is none. */
    short events; /* For poll(): POLLPRI of a file, POLLIN of the others. */
} lc_watch;

/* `path` NULL or "/dev/null": a watch without events. LOCI_EINVAL: `write` is no base64;
 * LOCI_EUNAVAILABLE: it cannot be opened. `write` may be NULL. */
loci_status lc_watch_open(const char *path, const char *write, lc_watch *out, loci_error *err);
void lc_watch_close(lc_watch *watch);
/* Whether `revents` of poll() report pressure; reads the data of the event. A broken watch is
 * closed. */
bool lc_watch_take(lc_watch *watch, short revents);

#endif /* LC_GUARD_WATCH_H */
