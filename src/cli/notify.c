#include "cli/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void lc_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    int descriptor;

    if (len < 2 || len >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') /* The abstract name space, where the first byte is NUL. */
        address.sun_path[0] = '\0';
    else
        bytes++; /* The terminating one of a path. */
    descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return;
    /* Whoever started us may have gone; the daemon serves all the same. */
    (void)sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                 bytes);
    (void)close(descriptor);
}
