#include "lib/http_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/http_child.h"

#define ANSWER_BYTES 65536
#define PATIENCE_MS 20000

typedef struct connection {
    int fd;
    size_t len;
    char answer[ANSWER_BYTES + 1];
} connection;

typedef struct run {
    const http_load *load;
    int sent, answered;
    http_loaded result;
} run;

int http_load_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        bench_die("no connection");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static void send_next(run *r, connection *c)
{
    char text[HTTP_LOAD_REQUEST_BYTES];
    size_t bytes;

    if (r->sent == r->load->requests)
        return;
    bytes = r->load->request(r->load->ctx, r->sent++, text);
    if (send(c->fd, text, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        bench_die("a request could not be sent");
}

/* Whether the answer is whole. */
static bool is_whole(run *r, connection *c)
{
    static const char name[] = "Content-Length: ";
    char *end, *at;
    size_t body_bytes;

    c->answer[c->len] = '\0';
    end = strstr(c->answer, "\r\n\r\n");
    if (end == NULL)
        return false;
    at = strstr(c->answer, name);
    body_bytes = at == NULL || at > end ? 0 : strtoul(at + sizeof name - 1, NULL, 10);
    if (c->len < (size_t)(end + 4 - c->answer) + body_bytes)
        return false;
    r->result.body_bytes = body_bytes;
    r->result.failed += c->answer[9] != '2';
    return true;
}

static void receive(run *r, connection *c)
{
    ssize_t got = recv(c->fd, c->answer + c->len, ANSWER_BYTES - c->len, 0);

    if (got <= 0)
        bench_die("a connection was cut");
    c->len += (size_t)got;
    if (!is_whole(r, c))
        return;
    c->len = 0;
    r->answered++;
    send_next(r, c);
}

http_loaded http_load_run(const http_load *load)
{
    static connection connections[HTTP_LOAD_CONNECTIONS_MAX];
    struct epoll_event events[HTTP_LOAD_CONNECTIONS_MAX];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    run r = {.load = load};
    double began_s;

    for (int i = 0; i < load->connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};

        connections[i].len = 0;
        connections[i].fd = http_load_connect(load->port);
        epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event);
    }
    began_s = bench_now_s();
    for (int i = 0; i < load->connections; i++)
        send_next(&r, &connections[i]);
    while (r.answered < load->requests) {
        int count = epoll_wait(epoll, events, HTTP_LOAD_CONNECTIONS_MAX,
                               load->is_spinning ? 0 : PATIENCE_MS);

        if (count < 0 || (count == 0 && bench_now_s() - began_s > PATIENCE_MS / 1e3))
            bench_die("no answer");
        for (int i = 0; i < count; i++)
            receive(&r, events[i].data.ptr);
    }
    r.result.seconds = bench_now_s() - began_s;
    for (int i = 0; i < load->connections; i++)
        close(connections[i].fd);
    close(epoll);
    return r.result;
}
