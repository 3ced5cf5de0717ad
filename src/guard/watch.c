/* watch.c - A regular file is the kernel's: writing to it arms a trigger, and POLLPRI reports it.
 */
#include "guard/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/str.h"

#define WRITE_BYTES_MAX 4096

/* The bytes of base64 text, or -1. */
static ssize_t decode(const char *text, char out[WRITE_BYTES_MAX])
{
    size_t len = strlen(text), bytes = len / 4 * 3;

    if (len > 0 && text[len - 1] == '=')
        bytes -= len > 1 && text[len - 2] == '=' ? 2 : 1;
    if (len % 4 != 0 || bytes > WRITE_BYTES_MAX ||
        !lc_base64_read((loci_str){text, len}, out, bytes))
        return -1;
    return (ssize_t)bytes;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = -1;

    if (strlen(path) < sizeof address.sun_path) {
        memcpy(address.sun_path, path, strlen(path));
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd); /* It was never connected. */
        fd = -1;
    }
    return fd;
}

loci_status lc_watch_open(const char *path, const char *write_text, lc_watch *out, loci_error *err)
{
    char bytes[WRITE_BYTES_MAX];
    ssize_t len = 0;
    lc_watch watch = {.fd = -1};
    struct stat what;

    *out = watch;
    if (path == NULL || path[0] == '\0' || strcmp(path, "/dev/null") == 0)
        return LOCI_OK;
    if (write_text != NULL && (len = decode(write_text, bytes)) < 0)
        return lc_fail(err, LOCI_EINVAL,
                       "guard: watch_write is not base64 of at most %d bytes; pass the value of "
                       "MEMORY_PRESSURE_WRITE unchanged",
                       WRITE_BYTES_MAX);
    if (stat(path, &what) != 0)
        return lc_fail(err, LOCI_EUNAVAILABLE, "guard: watch %s: %s", path, strerror(errno));
    watch.events = S_ISREG(what.st_mode) ? POLLPRI : POLLIN;
    /* A FIFO is opened for both, or it would end when its writer closes it. */
    watch.fd = S_ISSOCK(what.st_mode) ? connect_to(path)
                                      : open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (watch.fd < 0 || (len > 0 && write(watch.fd, bytes, (size_t)len) != len)) {
        int reason = errno;

        lc_watch_close(&watch);
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "guard: watch %s: %s; open the guard without a watch", path,
                       strerror(reason));
    }
    *out = watch;
    return LOCI_OK;
}

void lc_watch_close(lc_watch *watch)
{
    if (watch->fd >= 0)
        (void)close(watch->fd); /* Nothing written to it is buffered. */
    watch->fd = -1;
}

bool lc_watch_take(lc_watch *watch, short revents)
{
    char drain[512];
    bool is_event = (revents & watch->events) != 0;
    ssize_t got = 1;

    while (is_event && watch->events == POLLIN && got > 0)
        got = read(watch->fd, drain, sizeof drain);
    if ((revents & (POLLERR | POLLNVAL | POLLHUP)) != 0 || got == 0)
        lc_watch_close(watch);
    return is_event;
}
