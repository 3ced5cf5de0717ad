/* test_export.c - store.export over HTTP: the lines are the file's, a slow client costs the daemon
 * little and others nothing, and a client can always tell a whole export from a part. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/calls.h"
#include "lib/files.h"
#include "server/daemon.h"

enum {
    FACTS = 24,
    FACTS_MANY = 120,
    VALUE_BYTES = 400000,
    STREAMS_MAX = 4 /* The engine's maximum. */
};

/* A store with 0.4 MB per fact, and the file that store.export makes of it. */
static const char *make_store(int facts, loci_str *out_export)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    const char *file = test_path(test_tmpdir(), "export.jsonl");
    char *value = test_bytes(VALUE_BYTES + 1);
    loci_engine *engine = test_open(store);
    loci_error err;

    memset(value, 'v', VALUE_BYTES);
    for (int i = 0; i < facts; i++) {
        const char *args = test_format("{\"key\":\"k%d\",\"value\":\"%s\",\"user_id\":\"u%d\"}", i,
                                       value, i % 3);

        CHECK_OK(test_try(engine, "fact.write", loci_str_of(args), &err), err);
    }
    (void)test_call(engine, "store.export", "{'path':'%s'}", file);
    test_close(engine);
    *out_export = test_read_file(file);
    return store;
}

static void ask_for_export(const test_daemon *daemon, int fd, const char *token)
{
    CHECK(test_send(fd,
                    loci_str_of(test_format("POST /v1/store/export HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                            "Authorization: Bearer %s\r\nConnection: close\r\n"
                                            "Content-Length: 0\r\nTrace-Id: export-test\r\n\r\n",
                                            token != NULL ? token : daemon->token))));
}

static loci_str receive_export(int fd, bool *out_is_whole)
{
    loci_str text = test_receive_all(fd);

    close(fd);
    CHECK(memmem(text.ptr, text.len, "application/x-ndjson", 20) != NULL);
    return test_unchunk(text, out_is_whole);
}

/* That an export is the file's content, read at full speed. */
static void check_export(const test_daemon *daemon, loci_str expected)
{
    int fd = test_connect(daemon);
    bool is_whole;
    loci_str got;

    ask_for_export(daemon, fd, NULL);
    got = receive_export(fd, &is_whole);
    CHECK(is_whole);
    CHECK_EQ(got.len, expected.len);
    CHECK_EQ(memcmp(got.ptr, expected.ptr, got.len), 0);
}

/* Whether the rest of an export arrives as a whole; without keeping it. */
static bool read_away(int fd)
{
    static const char last_chunk[] = "\r\n0\r\n\r\n";
    size_t last_bytes = sizeof last_chunk - 1, len = 0;
    char bytes[65536];
    ssize_t got;

    while ((got = recv(fd, bytes + len, sizeof bytes - len, 0)) > 0) {
        len += (size_t)got;
        if (len > last_bytes) {
            memmove(bytes, bytes + len - last_bytes, last_bytes);
            len = last_bytes;
        }
    }
    close(fd);
    return got == 0 && len == last_bytes && memcmp(bytes, last_chunk, last_bytes) == 0;
}

/* A client that has read the status line and nothing else. The kernel buffers less for it than an
 * export has. */
static int open_stalled(const test_daemon *daemon, const char *token)
{
    int fd = test_connect(daemon);
    char begin[16] = "";

    ask_for_export(daemon, fd, token);
    CHECK_EQ(recv(fd, begin, 12, MSG_WAITALL), 12);
    CHECK_EQ(strcmp(begin, "HTTP/1.1 200"), 0);
    return fd;
}

/* That the client of `fd` gets less than the export, and knows. */
static void check_cut(int fd)
{
    bool is_whole;
    loci_str got = receive_export(fd, &is_whole);

    CHECK(!is_whole);
    CHECK(memmem(got.ptr, got.len, "{\"end\":true", 11) == NULL);
}

TEST(export, is_the_file_of_the_command_line)
{
    loci_str expected;
    const char *store = make_store(FACTS, &expected), *copy = test_path(test_tmpdir(), "copy.db");
    const char *file = test_path(test_tmpdir(), "received.jsonl");
    const char *again = test_path(test_tmpdir(), "again.jsonl");
    test_daemon daemon = test_daemon_start_on(store, NULL);
    loci_engine *engine;
    loci_str got;

    check_export(&daemon, expected);
    test_daemon_stop(&daemon);
    test_write_file(file, expected);
    engine = test_open(copy);
    (void)test_call(engine, "store.import", "{'path':'%s'}", file);
    (void)test_call(engine, "store.export", "{'path':'%s'}", again);
    test_close(engine);
    got = test_read_file(again); /* The first line names the store. */
    got.len -= (size_t)(strchr(got.ptr, '\n') - got.ptr);
    expected.len -= (size_t)(strchr(expected.ptr, '\n') - expected.ptr);
    CHECK_EQ(got.len, expected.len);
    CHECK_EQ(memcmp(strchr(got.ptr, '\n'), strchr(expected.ptr, '\n'), got.len), 0);
}

/* A client that does not read makes its export wait, but no other call. */
TEST(export, waits_for_a_slow_client)
{
    /* A buffer for a page of 8 MiB and the cache of SQLite; the export has 48 MB. */
    enum { KIB_EACH = 32 * 1024 };
    loci_str expected;
    test_daemon daemon = test_daemon_start_on(make_store(FACTS_MANY, &expected), NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    int sockets[STREAMS_MAX], status;
    int64_t before_kib, each_kib, until_ms;

    CHECK(read_away(open_stalled(&daemon, NULL)));
    before_kib = test_daemon_memory_kib(&daemon);
    for (int i = 0; i < STREAMS_MAX - 1; i++)
        sockets[i] = open_stalled(&daemon, NULL);
    /* In this time the others would have read all, too. */
    CHECK(read_away(open_stalled(&daemon, NULL)));
    each_kib = (test_daemon_memory_kib(&daemon) - before_kib) / (STREAMS_MAX - 1);
    printf("    export: a slow client costs %lld KiB\n", (long long)each_kib);
    CHECK_LE(each_kib, test_is_sanitized() ? 8 * KIB_EACH : KIB_EACH);

    until_ms = test_now_ms() + 10000; /* The thread of the last one may not have ended yet. */
    do {
        int fd = test_connect(&daemon);
        char begin[16] = "";

        ask_for_export(&daemon, fd, NULL);
        CHECK_EQ(recv(fd, begin, 12, MSG_WAITALL), 12);
        status = (int)strtol(begin + 9, NULL, 10);
        sockets[STREAMS_MAX - 1] = fd;
        if (status != 200)
            close(fd);
    } while (status != 200 && test_now_ms() < until_ms);
    CHECK_EQ(status, 200);
    CHECK_EQ(test_ask(&daemon, "POST /v1/store/export", daemon.token, "{}").status, 503);
    CHECK_EQ(test_ask(&daemon, "GET /v1/facts?user_id=u0&limit=1", daemon.token, NULL).status, 200);

    close(sockets[1]); /* A client that leaves ends its export. */
    CHECK(read_away(sockets[0]));
    for (int i = 2; i < STREAMS_MAX; i++)
        close(sockets[i]);
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

TEST(export, is_cut_when_the_daemon_stops)
{
    loci_str expected;
    test_daemon daemon = test_daemon_start_on(make_store(FACTS, &expected), NULL);
    int fd = open_stalled(&daemon, NULL);

    test_daemon_stop(&daemon);
    check_cut(fd);
    CHECK_CONTAINS(daemon.process.err, "http.stream_cut");
    CHECK_CONTAINS(daemon.process.err, "\"trace_id\":\"export-test\"");
}

TEST(export, is_cut_when_its_token_is_revoked)
{
    loci_str expected;
    test_daemon daemon = test_daemon_start_on(make_store(FACTS, &expected), NULL);
    test_answer made = test_ask(&daemon, "POST /v1/tokens", daemon.token,
                                "{\"name\":\"t\",\"scopes\":[\"admin\"]}");
    const char *token = test_format("%.*s", LC_STR_ARG(test_member_text(made.body, "token")));
    const char *id = test_format("%.*s", LC_STR_ARG(test_member_text(made.body, "id")));
    int fd = open_stalled(&daemon, token), events = test_connect(&daemon);
    loci_str said;

    CHECK(test_send(events, loci_str_of(test_format("GET /v1/events?stream=1 HTTP/1.1\r\n"
                                                    "Host: 127.0.0.1\r\nConnection: close\r\n"
                                                    "Authorization: Bearer %s\r\n\r\n",
                                                    token))));
    CHECK_EQ(
        test_ask(&daemon, test_format("POST /v1/tokens/%s/revoke", id), daemon.token, NULL).status,
        200);
    said = test_receive_all(events); /* The daemon has looked at the tokens of all streams then. */
    CHECK_CONTAINS(said, "token_revoked");
    close(events);
    check_cut(fd);
    test_daemon_stop(&daemon);
}

/* The daemon cannot take back the part that it sent before it found the error. */
TEST(export, is_cut_when_the_store_is_damaged)
{
    loci_str expected;
    const char *store = make_store(FACTS, &expected);
    const char *argv[] = {test_loci(), "export", "--url", "", NULL};
    test_process client;
    test_daemon daemon;
    int fd;

    test_store_run(store, "delete from events where user_id = 'u2' and seq = 5");
    daemon = test_daemon_start_on(store, NULL);
    fd = test_connect(&daemon);
    ask_for_export(&daemon, fd, NULL);
    check_cut(fd);
    argv[3] = test_format("http://127.0.0.1:%d", daemon.port);
    client = test_process_run(&(test_command){
        .argv = argv, .env = (const char *[]){test_format("LOCI_TOKEN=%s", daemon.token), NULL}});
    CHECK_EQ(client.exit_code, 1);
    CHECK_CONTAINS(client.err, "closed the connection");
    test_daemon_stop(&daemon);
    CHECK_CONTAINS(daemon.process.err, "\"code\":\"corrupt\"");
}
