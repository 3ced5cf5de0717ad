/* Every operation × every kind of token, over HTTP: alone, in batches, as a repeat of a request
 * that another caller made, and as a stream. */
#include "lib/rights.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "server/daemon.h"

typedef struct http {
    test_daemon daemon;
    rights_world world;
} http;

static loci_status status_of(int status)
{
    switch (status) {
    case 200:
    case 202:
        return LOCI_OK;
    case 400:
        return LOCI_EINVAL;
    case 401:
        return LOCI_EAUTH;
    case 403:
        return LOCI_EFORBIDDEN;
    case 404:
        return LOCI_ENOTFOUND;
    default:
        return LOCI_ECONFLICT; /* Some other error. */
    }
}

static loci_status ask(void *ctx, const rights_call *call, const char **text)
{
    const http *h = ctx;
    const char *line = test_format("POST /v1/call/%s", call->op->name), *body = call->args;
    test_answer answer;

    if (call->beside != NULL) {
        line = "POST /v1/batch";
        body = test_format(
            "{\"calls\":[{\"op\":\"%s\",\"args\":%s},{\"op\":\"fact.list\",\"args\":%s}]}",
            call->op->name, call->args, call->beside);
    }
    if (call->request_id != NULL) /* The rest of the request line becomes a header of its own. */
        line = test_format("%s HTTP/1.1\r\nIdempotency-Key: %s\r\nX-Rest:", line, call->request_id);
    answer = test_ask(&h->daemon, line, call->token, body);
    CHECK(answer.status >= 200 && answer.status < 500);
    *text = test_format("%.*s%.*s", (int)answer.head.len, answer.head.ptr, (int)answer.body.len,
                        answer.body.ptr);
    return status_of(answer.status);
}

static void start(http *h)
{
    const char *folder = test_tmpdir();
    const char *store = test_path(folder, "store.db");
    const char *settings[] = {test_format("store.transfer_dir=%s", folder), NULL};

    rights_fill(&h->world, store);
    h->daemon = test_daemon_start_on(store, settings);
}

TEST(rights, every_operation_obeys_every_kind_of_token)
{
    http h;

    test_timeout(300);
    start(&h);
    rights_walk(&h.world, ask, &h);
    test_daemon_stop(&h.daemon);
    CHECK(strstr(h.daemon.process.err.ptr, "CANARY") == NULL);
}

/* Everything that a stream says within a moment. */
static const char *follow(const http *h, const char *token, const char *user, int *status)
{
    int fd = test_connect(&h->daemon);
    char buffer[65536];
    size_t len = 0;
    ssize_t got;

    CHECK(test_send(fd, loci_str_of(test_format(
                            "GET /v1/events?after_seq=0&user_id=%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                            "Accept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
                            user, token))));
    /* A stream without events says nothing after its head. */
    while (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, len == 0 ? 10000 : 100) > 0 &&
           len < sizeof buffer - 1 && (got = read(fd, buffer + len, sizeof buffer - 1 - len)) > 0)
        len += (size_t)got;
    buffer[len] = '\0';
    close(fd);
    CHECK_LT(12, (int)len);
    *status = (buffer[9] - '0') * 100 + (buffer[10] - '0') * 10 + (buffer[11] - '0');
    return test_format("%s", buffer);
}

/* A stream shows what event.list does, to the same callers. */
TEST(rights, streams_obey_every_kind_of_token)
{
    static const char *const users[] = {"ada", "bob"};
    const lc_op *op = lc_op_find(loci_str_of("event.list"));
    int shown = 0;
    http h;

    start(&h);
    for (size_t k = 0; k < rights_kind_count; k++) {
        for (size_t u = 0; u < 2; u++) {
            const rights_kind *kind = &rights_kinds[k];
            int status;
            const char *text = follow(&h, h.world.tokens[k], users[u], &status);

            rights_check_text(kind, "the stream", text);
            CHECK_STATUS(rights_expected(kind, op, users[u], NULL), status_of(status));
            shown += strstr(text, "CANARY") != NULL;
        }
    }
    CHECK_LT(8, shown);
    test_daemon_stop(&h.daemon);
}
