/* mcp.c - `loci mcp`: the Model Context Protocol on stdin and stdout, one message per line.
 *
 * One loop waits for everything: lines of the client, answers of the engine or the daemon, events
 * of the log, room on stdout. Requests run side by side, so a slow one does not delay `ping` or a
 * cancellation, and writes that are sent together share a commit.
 *
 * Memory is bounded whatever the client does: while too many requests are running or too much is
 * waiting to be written, nothing more is read; a line that is too long is skipped up to its end;
 * notices are remembered as "has changed", not as messages.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/mcp_backend.h"
#include "cli/mcp_host.h"
#include "cli/project.h"
#include "mcp/dispatch.h"

#define READ_BYTES (64u * 1024)
#define LIVE_MAX 64                      /* Requests running at a time. */
#define WAITING_BYTES_MAX (1024u * 1024) /* Not written yet: nothing more is read. */
#define OUT_BYTES_MAX (8 * (size_t)LC_ANSWER_BYTES_MAX)
#define PIPE_BYTES 4096  /* A writable pipe takes this many bytes at once. */
#define END_MS_MAX 10000 /* For requests that run when stdin ends. */

typedef struct stdio_link {
    lc_cli *cli;
    lc_mcp_server *server;
    lc_mcp_session *session;
    lc_mcp_backend *backend;
    lc_buf in;        /* The part of a line that was read so far. */
    bool is_skipping; /* The rest of a line that was too long. */
    bool has_ended;   /* Stdin. */
    lc_buf out;
    size_t written_bytes; /* Of `out`. */
    bool is_out_socket;
    bool is_broken; /* Stdout: the client has gone. */
    size_t live_count;
} stdio_link;

/* ---- Writing --------------------------------------------------------------------------------- */

static size_t waiting_bytes(const stdio_link *link)
{
    return link->out.len - link->written_bytes;
}

/* Writes as much as stdout takes without waiting. Its O_NONBLOCK is left alone: the client may
 * share the open file with us. */
static void write_some(stdio_link *link)
{
    while (waiting_bytes(link) > 0 && !link->is_broken) {
        const char *at = link->out.ptr + link->written_bytes;
        size_t bytes = waiting_bytes(link);
        struct pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT};
        ssize_t written;

        if (link->is_out_socket) {
            written = send(STDOUT_FILENO, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        } else {
            if (poll(&room, 1, 0) <= 0)
                return;
            written = write(STDOUT_FILENO, at, bytes < PIPE_BYTES ? bytes : PIPE_BYTES);
        }
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (written <= 0)
            link->is_broken = true;
        else
            link->written_bytes += (size_t)written;
    }
    if (link->written_bytes == link->out.len) {
        lc_buf_reset(&link->out);
        link->written_bytes = 0;
    }
}

/* A message is one line: a line break between its values becomes a space. */
static void put_line(stdio_link *link, loci_str message)
{
    size_t begin = link->out.len;

    if (message.ptr == NULL)
        return;
    lc_buf_append(&link->out, message);
    lc_buf_append_byte(&link->out, '\n');
    if (link->out.failure != LOCI_OK) {
        link->is_broken = true; /* An answer is lost: the client must not wait for it. */
        return;
    }
    for (char *at = link->out.ptr + begin;
         (at = memchr(at, '\n', (size_t)(link->out.ptr + link->out.len - 1 - at))) != NULL;)
        *at = ' ';
}

/* ---- The transport --------------------------------------------------------------------------- */

static void run_operation(void *ctx, lc_mcp_exchange *exchange, const char *operation,
                          loci_str args)
{
    stdio_link *link = ctx;

    lc_mcp_backend_run(link->backend, exchange, operation, args);
}

static void send_message(void *ctx, const lc_mcp_exchange *exchange, loci_str message)
{
    (void)exchange;
    put_line(ctx, message);
}

static void answer_message(void *ctx, const lc_mcp_answer *answer)
{
    stdio_link *link = ctx;

    link->live_count--;
    put_line(link, answer->message);
}

static const lc_mcp_transport transport = {
    .run = run_operation, .send = send_message, .answer = answer_message};

static void send_notices(stdio_link *link)
{
    lc_buf text;

    lc_buf_init(&text, link->cli->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    while (waiting_bytes(link) < WAITING_BYTES_MAX && lc_mcp_session_next(link->session, &text)) {
        if (lc_buf_status(&text, NULL) == LOCI_OK)
            put_line(link, lc_buf_str(&text));
        lc_buf_reset(&text);
    }
    lc_buf_clear(&text);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool may_start(const stdio_link *link)
{
    return link->live_count < LIVE_MAX && waiting_bytes(link) < WAITING_BYTES_MAX;
}

static bool may_read(const stdio_link *link)
{
    return !link->has_ended && !link->is_broken && may_start(link);
}

static void receive_line(stdio_link *link, loci_str line)
{
    lc_mcp_incoming incoming = {
        .text = line, .session = link->session, .transport = &transport, .ctx = link};

    if (lc_str_trim(line).len == 0)
        return;
    link->live_count++;
    lc_mcp_receive(link->server, &incoming);
}

static void refuse_line(stdio_link *link)
{
    lc_mcp_incoming incoming = {.session = link->session, .transport = &transport, .ctx = link};

    link->live_count++;
    lc_mcp_refuse_large(link->server, &incoming, LC_MCP_MESSAGE_BYTES_MAX);
}

/* Takes the complete lines out of `in`, as long as more may be started. */
static void take_lines(stdio_link *link)
{
    size_t begin = 0;

    while (may_start(link) && begin < link->in.len) {
        const char *at = link->in.ptr + begin;
        const char *end = memchr(at, '\n', link->in.len - begin);

        if (end == NULL)
            break;
        begin += (size_t)(end - at) + 1;
        if (link->is_skipping)
            link->is_skipping = false;
        else if ((size_t)(end - at) > LC_MCP_MESSAGE_BYTES_MAX)
            refuse_line(link);
        else
            receive_line(link, (loci_str){at, (size_t)(end - at)});
    }
    if (begin > 0) {
        memmove(link->in.ptr, link->in.ptr + begin, link->in.len - begin);
        lc_buf_truncate(&link->in, link->in.len - begin);
    }
    if (link->in.len > LC_MCP_MESSAGE_BYTES_MAX &&
        memchr(link->in.ptr, '\n', link->in.len) == NULL) {
        if (!link->is_skipping)
            refuse_line(link);
        link->is_skipping = true;
        lc_buf_reset(&link->in);
    }
}

static void read_some(stdio_link *link)
{
    char *room = lc_buf_reserve(&link->in, READ_BYTES);
    ssize_t got = room != NULL ? read(STDIN_FILENO, room, READ_BYTES) : 0;

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got > 0) {
        lc_buf_grew(&link->in, (size_t)got);
        return;
    }
    link->has_ended = true;
}

/* A last line without its end: complete it is a message, cut off it is answered with an error. */
static void take_rest(stdio_link *link)
{
    if (link->in.len > 0 && !link->is_skipping)
        receive_line(link, lc_buf_str(&link->in));
    lc_buf_reset(&link->in);
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Waits until something can be done, at most `timeout_ms`. Whether the backend was woken. */
static bool wait_for_work(stdio_link *link, int timeout_ms)
{
    struct pollfd watched[3 + LC_MCP_BACKEND_FDS_MAX];
    size_t count = 0, stdin_at = 0, backend_at;
    bool is_reading = may_read(link);

    if (!lc_interrupt_is_set())
        watched[count++] = (struct pollfd){.fd = lc_interrupt_fd(), .events = POLLIN};
    if (is_reading) {
        stdin_at = count;
        watched[count++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    }
    if (waiting_bytes(link) > 0 && !link->is_broken)
        watched[count++] = (struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT};
    backend_at = count;
    count += lc_mcp_backend_watch(link->backend, watched + count);
    if (poll(watched, count, timeout_ms) <= 0)
        return false;
    if (is_reading && watched[stdin_at].revents != 0)
        read_some(link);
    return watched[backend_at].revents != 0;
}

/* Lines that were read while too many requests were running, and can be started now. */
static bool has_lines(const stdio_link *link)
{
    return may_start(link) && link->in.len > 0 && memchr(link->in.ptr, '\n', link->in.len) != NULL;
}

static void work(stdio_link *link, bool is_backend_woken)
{
    loci_str type;

    lc_mcp_backend_step(link->backend, is_backend_woken);
    take_lines(link);
    if (link->has_ended && !has_lines(link) && may_start(link))
        take_rest(link);
    lc_mcp_backend_follow(link->backend, lc_mcp_session_wants_events(link->session));
    while (lc_mcp_backend_next_event(link->backend, &type))
        lc_mcp_session_note(link->session, type);
    send_notices(link);
    write_some(link);
}

static void serve(stdio_link *link)
{
    int64_t end_us = INT64_MAX;

    for (;;) {
        int64_t now_us = lc_clock_monotonic_us();
        bool must_end = link->has_ended || link->is_broken || lc_interrupt_is_set();

        if (must_end && end_us == INT64_MAX) {
            end_us = now_us + END_MS_MAX * INT64_C(1000);
            lc_mcp_session_end(link->session);
        }
        if (must_end && (now_us >= end_us ||
                         (link->live_count == 0 &&
                          (link->is_broken || (link->in.len == 0 && waiting_bytes(link) == 0)))))
            return;
        work(link, wait_for_work(link, has_lines(link) ? 0
                                       : must_end      ? 100
                                                       : lc_mcp_backend_wait_ms(link->backend)));
    }
}

/* Notifies clients of the newer generation that their subscriptions end. */
static void end_listeners(stdio_link *link)
{
    lc_buf text;

    lc_buf_init(&text, link->cli->heap, LOCI_MEM_REQUESTS, LC_MCP_MESSAGE_BYTES_MAX);
    while (lc_mcp_session_close_next(link->session, &text)) {
        if (lc_buf_status(&text, NULL) == LOCI_OK)
            put_line(link, lc_buf_str(&text));
        lc_buf_reset(&text);
    }
    lc_buf_clear(&text);
    write_some(link);
}

static void open_buffers(stdio_link *link)
{
    struct stat about;

    lc_buf_init(&link->in, link->cli->heap, LOCI_MEM_REQUESTS,
                LC_MCP_MESSAGE_BYTES_MAX + 2 * (size_t)READ_BYTES);
    lc_buf_init(&link->out, link->cli->heap, LOCI_MEM_REQUESTS, OUT_BYTES_MAX);
    link->is_out_socket = fstat(STDOUT_FILENO, &about) == 0 && S_ISSOCK(about.st_mode);
}

/* `loci mcp install` and its relatives. */
static int run_word(lc_cli *cli, const lc_arguments *arguments)
{
    loci_str word = loci_str_of(arguments->words[0]);

    if (lc_str_is(word, "install"))
        return lc_command_mcp_install(cli, arguments);
    if (lc_str_is(word, "uninstall"))
        return lc_command_mcp_uninstall(cli, arguments);
    if (lc_str_is(word, "doctor"))
        return lc_command_mcp_doctor(cli, arguments);
    return lc_command_mcp_clients(cli, arguments);
}

int lc_command_mcp(lc_cli *cli, const lc_arguments *arguments)
{
    lc_mcp_defaults defaults = {.user_id = loci_str_of(cli->globals.user)};
    stdio_link link = {.cli = cli};
    lc_mcp_provider *provider = NULL;
    lc_whose whose = {0};
    loci_error err;
    loci_status status;

    if (arguments->word_count > 0)
        return run_word(cli, arguments);
    for (size_t i = 0; i < arguments->given_count; i++) {
        const lc_option *option = lc_command_find(LC_STR("mcp"))->options;

        while (option->name != NULL && option != arguments->given[i].option)
            option++;
        if (option->name != NULL)
            return lc_cli_usage(cli, "--%s needs a word such as install: loci mcp install CLIENT",
                                option->name);
    }
    status = lc_whose_find(cli, NULL, &whose, &err); /* Clients start it in the project. */
    defaults.persona_id = loci_str_of(whose.persona_id);
    if (status == LOCI_OK)
        status = lc_mcp_provider_new(cli->heap, &defaults, &provider, &err);
    if (status == LOCI_OK)
        status = lc_mcp_server_new(cli->heap, provider, (lc_mcp_lock){0}, &link.server, &err);
    if (status == LOCI_OK) {
        link.session = lc_mcp_session_new(link.server);
        status = link.session != NULL ? LOCI_OK : lc_fail_memory(&err);
    }
    if (status == LOCI_OK)
        status = lc_mcp_backend_new(cli, &link.backend, &err);
    if (status == LOCI_OK) {
        open_buffers(&link);
        serve(&link);
        end_listeners(&link);
    }
    lc_mcp_backend_free(link.backend);
    lc_buf_clear(&link.in);
    lc_buf_clear(&link.out);
    if (link.live_count == 0) { /* Otherwise a request was given up: the process ends anyway. */
        lc_mcp_session_release(link.session);
        lc_mcp_server_free(link.server);
        lc_mcp_provider_free(provider);
    }
    return status == LOCI_OK ? LC_EXIT_OK : lc_cli_report(cli, &err);
}
