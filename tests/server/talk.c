/* talk.c - sockets and answers, byte by byte: no HTTP library would send such requests. */
#include "server/daemon.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_S 10
#define RECEIVE_BYTES_MAX (16u * 1024 * 1024)

int test_try_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

int test_connect(const test_daemon *daemon)
{
    int fd = test_try_connect(daemon->port);

    CHECK_LE(0, fd);
    return fd;
}

bool test_send(int socket, loci_str bytes)
{
    size_t at = 0;

    while (at < bytes.len) {
        ssize_t sent = send(socket, bytes.ptr + at, bytes.len - at, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        at += (size_t)sent;
    }
    return true;
}

loci_str test_receive_all(int socket)
{
    size_t room = 65536, len = 0;
    char *text = test_bytes(room);
    ssize_t got;

    while ((got = recv(socket, text + len, room - len, 0)) > 0) {
        len += (size_t)got;
        if (len == room && room < RECEIVE_BYTES_MAX) {
            char *larger = test_bytes(room * 4);

            memcpy(larger, text, len);
            text = larger;
            room *= 4;
        }
        if (len == room)
            break;
    }
    return (loci_str){text, len};
}

/* Where the head of an answer ends: behind its empty line; NULL when it does not. */
static const char *end_of_head(loci_str text)
{
    const char *end = memmem(text.ptr, text.len, "\r\n\r\n", 4);

    return end == NULL ? NULL : end + 4;
}

static size_t length_of(loci_str head)
{
    static const char name[] = "\r\nContent-Length: ";
    const char *at = memmem(head.ptr, head.len, name, sizeof name - 1);

    return at == NULL ? 0 : strtoul(at + sizeof name - 1, NULL, 10);
}

/* The first answer in `text`; false when it is not whole. */
static bool split_one(loci_str text, test_answer *out, size_t *out_bytes)
{
    const char *body = end_of_head(text);

    if (body == NULL || text.len < 12 || memcmp(text.ptr, "HTTP/1.", 7) != 0)
        return false;
    out->head = (loci_str){text.ptr, (size_t)(body - text.ptr)};
    out->body = (loci_str){body, length_of(out->head)};
    out->status = (int)strtol(text.ptr + 9, NULL, 10);
    if (text.len - out->head.len < out->body.len)
        return false;
    *out_bytes = out->head.len + out->body.len;
    return true;
}

size_t test_split_answers(loci_str text, test_answer *out, size_t max, loci_str *out_rest)
{
    size_t count = 0, bytes;

    while (count < max && split_one(text, &out[count], &bytes)) {
        text.ptr += bytes;
        text.len -= bytes;
        count++;
    }
    *out_rest = text;
    return count;
}

test_answer test_receive_one(int socket, char *buffer, size_t bytes)
{
    test_answer answer = {0};
    size_t len = 0, used;

    while (len < bytes - 1) {
        ssize_t got = recv(socket, buffer + len, bytes - 1 - len, 0);

        if (got <= 0)
            break;
        len += (size_t)got;
        buffer[len] = '\0';
        if (split_one((loci_str){buffer, len}, &answer, &used))
            return answer;
    }
    return (test_answer){0};
}

loci_str test_unchunk(loci_str text, bool *out_is_whole)
{
    char *from = memmem(text.ptr, text.len, "\r\n\r\n", 4), *start, *to;
    const char *end = text.ptr + text.len;
    bool is_whole = false;

    CHECK(from != NULL);
    start = to = from += 4;
    while (from < end && !is_whole) {
        char *data;
        size_t bytes = strtoul(from, &data, 16);

        data += 2;
        if (data + bytes > end)
            break;
        is_whole = bytes == 0;
        memmove(to, data, bytes);
        to += bytes;
        from = data + bytes + 2;
    }
    *to = '\0';
    if (out_is_whole != NULL)
        *out_is_whole = is_whole;
    return (loci_str){start, (size_t)(to - start)};
}

bool test_is_cut(int socket, int64_t within_ms)
{
    int64_t until_ms = test_now_ms() + within_ms;
    struct pollfd waiting = {.fd = socket, .events = POLLIN};
    char waste[4096];
    int64_t left_ms;

    while ((left_ms = until_ms - test_now_ms()) > 0) {
        if (poll(&waiting, 1, (int)left_ms) == 1 && recv(socket, waste, sizeof waste, 0) <= 0)
            return true;
    }
    return false;
}

test_answer test_ask(const test_daemon *daemon, const char *line, const char *token,
                     const char *body)
{
    int fd = test_connect(daemon);
    test_answer answer = {0};
    loci_str text, rest;

    text = loci_str_of(test_format("%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
                                   "%s%s%sContent-Length: %zu\r\n\r\n%s",
                                   line, daemon->port,
                                   token != NULL ? "Authorization: Bearer " : "",
                                   token != NULL ? token : "", token != NULL ? "\r\n" : "",
                                   body != NULL ? strlen(body) : 0, body != NULL ? body : ""));
    CHECK(test_send(fd, text));
    text = test_receive_all(fd);
    close(fd);
    if (test_split_answers(text, &answer, 1, &rest) != 1)
        test_fail(__FILE__, __LINE__, "no answer to %s: %.*s", line, (int)(text.len % 400),
                  text.ptr);
    return answer;
}
