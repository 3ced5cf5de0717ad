/* mcp_doctor.c - `loci mcp doctor`: reads the configuration of clients, starts the server that it
 * names with the same command, arguments, variables and folder, and speaks both generations of the
 * protocol with it. It calls one tool, which only reads, and ends the server that it started by its
 * pid. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/config_file.h"
#include "cli/findings.h"
#include "cli/mcp_host.h"
#include "cli/opening.h"
#include "net/fetch.h"

#define TIMEOUT_MS 5000             /* For each answer. */
#define END_MS 3000                 /* For the server to end after its stdin was closed. */
#define SLOW_MS 1000                /* Clients wait for their servers when they start. */
#define LINE_BYTES_MAX (8u << 20)   /* One answer. */
#define ERRORS_BYTES_MAX 2048       /* Of stderr, for the message of a failure. */
#define TOOLS_BYTES_MAX (10 * 1024) /* The list of tools is in every context of the client. */
#define WORDS_MAX 64
#define STORES_MAX 16
#define ENTRIES_MAX 16 /* That name loci, of one client. */

/* An entry of a client that names loci. */
typedef struct entry {
    loci_str name;
    const char *path;  /* File that it is in. */
    const char *scope; /* "user", "project" or "local" */
    const lc_json *value;
} entry;

typedef struct check {
    lc_findings *findings;
    lc_cli *cli;
    const lc_mcp_host *host;
    entry entries[ENTRIES_MAX];
    size_t count;
    const char *stores[STORES_MAX]; /* Checked already, for any client. */
    size_t store_count;
} check;

/* ---- Entries --------------------------------------------------------------------------------- */

static loci_str text_of(const lc_json *object, const char *name)
{
    const lc_json *found = lc_json_find(object, name, LC_JSON_STRING);

    return found != NULL ? lc_json_str(found) : LC_STR_NONE;
}

/* The URL of an entry, whatever its client calls it. */
static loci_str url_of(const lc_json *value)
{
    loci_str url = text_of(value, "url");

    return url.ptr != NULL ? url : text_of(value, "httpUrl");
}

/* An entry of another name counts if it runs loci. */
static bool names_loci(loci_str name, const lc_json *value)
{
    return lc_str_is(name, "loci") ||
           (lc_json_find(value, "command", LC_JSON_STRING) != NULL && lc_mcp_entry_is_ours(value));
}

/* Adds the entries of one list of servers. */
static void take_entries(check *c, const lc_json *servers, const char *path, const char *scope)
{
    if (servers == NULL || lc_json_kind_of(servers) != LC_JSON_OBJECT)
        return;
    for (const lc_json *value = lc_json_first(servers); value != NULL;
         value = lc_json_next(value)) {
        if (names_loci(lc_json_name(value), value) && c->count < ENTRIES_MAX)
            c->entries[c->count++] = (entry){lc_json_name(value), path, scope, value};
    }
}

static void read_file(check *c, lc_mcp_scope scope)
{
    lc_config_place places[] = {{{loci_str_of(c->host->servers)}, 1},
                                {{LC_STR("projects"), loci_str_of(lc_mcp_project_folder(c->cli)),
                                  loci_str_of(c->host->servers)},
                                 3}};
    /* Claude Code also keeps servers per project in the file of the user. */
    bool has_local = scope == LC_MCP_SCOPE_USER && strcmp(c->host->name, "claude-code") == 0;
    lc_config_change change;
    const char *path;
    loci_error err;
    loci_status status = lc_mcp_host_file(c->cli, c->host, scope, &path, &err);

    if (status == LOCI_OK)
        status = lc_config_change_open(c->cli, path, &change, &err);
    for (size_t i = 0; status == LOCI_OK && i < (has_local ? 2 : 1); i++) {
        lc_config_file file = {c->host->format, change.before, change.existed};
        const lc_json *servers = NULL;

        status = lc_config_find(c->cli->arena, &file, &places[i], &servers, &err);
        if (status == LOCI_OK)
            take_entries(c, servers, path,
                         i == 1                       ? "local"
                         : scope == LC_MCP_SCOPE_USER ? "user"
                                                      : "project");
        else
            lc_find(c->findings, LC_BAD, "file", "Correct the file: the client cannot read it",
                    "%s: %s", path, err.message);
    }
}

/* ---- The server ------------------------------------------------------------------------------ */

typedef struct server {
    check *c;
    pid_t pid;
    int in, out, err; /* Our ends of its stdin, stdout and stderr; -1 once closed. */
    lc_buf answers;   /* Read and not yet taken. */
    lc_buf errors;
    int64_t started_us;
    int next_id;
} server;

static void close_end(int *descriptor)
{
    if (*descriptor >= 0)
        (void)close(*descriptor); /* A pipe. */
    *descriptor = -1;
}

/* The command and its arguments, ended by NULL. */
static bool list_words(lc_cli *cli, const lc_json *value, char *out[WORDS_MAX])
{
    const lc_json *args = lc_json_find(value, "args", LC_JSON_ARRAY);
    size_t count = 0;

    out[count++] = (char *)lc_arena_copy(cli->arena, text_of(value, "command")).ptr;
    for (const lc_json *arg = args != NULL ? lc_json_first(args) : NULL; arg != NULL;
         arg = lc_json_next(arg)) {
        if (count + 1 == WORDS_MAX || lc_json_kind_of(arg) != LC_JSON_STRING)
            return false;
        out[count++] = (char *)lc_arena_copy(cli->arena, lc_json_str(arg)).ptr;
    }
    out[count] = NULL;
    return out[0] != NULL;
}

/* In the child: never returns. */
static void become(const lc_json *value, char *const *words, const int ends[3], int report)
{
    const lc_json *env = lc_json_find(value, "env", LC_JSON_OBJECT);
    loci_str folder = text_of(value, "cwd");
    char text[PATH_MAX];
    int why;

    for (const lc_json *variable = env != NULL ? lc_json_first(env) : NULL; variable != NULL;
         variable = lc_json_next(variable)) {
        char name[256];

        if (lc_json_kind_of(variable) != LC_JSON_STRING)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", LC_STR_ARG(lc_json_name(variable)));
        (void)snprintf(text, sizeof text, "%.*s", LC_STR_ARG(lc_json_str(variable)));
        (void)setenv(name, text, 1); /* Too little memory shows in exec, too. */
    }
    (void)snprintf(text, sizeof text, "%.*s", LC_STR_ARG(folder));
    (void)signal(SIGPIPE, SIG_DFL);
    if ((folder.len == 0 || chdir(text) == 0) && dup2(ends[0], STDIN_FILENO) >= 0 &&
        dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[2], STDERR_FILENO) >= 0)
        (void)execvp(words[0], words);
    why = errno;
    (void)!write(report, &why, sizeof why); /* The parent then sees that nothing was reported. */
    _exit(127);
}

/* 0, or the errno that starting failed with. */
static int start(server *s, const lc_json *value, char *const *words)
{
    int pipes[4][2]; /* stdin, stdout, stderr, report of a failed exec */
    int why = 0;

    for (size_t i = 0; i < 4; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0) {
            why = errno;
            while (i-- > 0) {
                (void)close(pipes[i][0]); /* Unused. */
                (void)close(pipes[i][1]);
            }
            return why;
        }
    }
    s->started_us = lc_clock_monotonic_us();
    s->pid = fork();
    if (s->pid == 0)
        become(value, words, (int[3]){pipes[0][0], pipes[1][1], pipes[2][1]}, pipes[3][1]);
    if (s->pid < 0)
        why = errno;
    s->in = pipes[0][1];
    s->out = pipes[1][0];
    s->err = pipes[2][0];
    (void)close(pipes[0][0]); /* The child's ends. */
    (void)close(pipes[1][1]);
    (void)close(pipes[2][1]);
    (void)close(pipes[3][1]);
    if (s->pid > 0 && read(pipes[3][0], &why, sizeof why) != (ssize_t)sizeof why)
        why = 0; /* The end of file: exec succeeded. */
    (void)close(pipes[3][0]);
    return why;
}

/* Reads the available bytes; false at the end of stdout. */
static bool read_some(server *s, int timeout_ms)
{
    struct pollfd ends[] = {{.fd = s->out, .events = POLLIN}, {.fd = s->err, .events = POLLIN}};
    lc_buf *bufs[] = {&s->answers, &s->errors};
    bool is_open = true;

    if (poll(ends, 2, timeout_ms) <= 0)
        return true;
    for (size_t i = 0; i < 2; i++) {
        char bytes[16384];
        ssize_t got;

        if (ends[i].revents == 0)
            continue;
        got = read(ends[i].fd, bytes, sizeof bytes);
        if (got > 0 && (i == 0 || bufs[i]->len < ERRORS_BYTES_MAX))
            lc_buf_append(bufs[i], (loci_str){bytes, (size_t)got});
        if (got == 0 && i == 0)
            is_open = false;
        if (got == 0)
            close_end(i == 0 ? &s->out : &s->err);
    }
    return is_open;
}

/* Takes the next line; false if there is none before the deadline. */
static bool take_line(server *s, int64_t deadline_us, loci_str *out)
{
    for (;;) {
        const char *end = s->answers.len > 0 ? memchr(s->answers.ptr, '\n', s->answers.len) : NULL;
        int64_t left_us = deadline_us - lc_clock_monotonic_us();

        if (end != NULL) {
            size_t len = (size_t)(end - s->answers.ptr);

            *out = lc_arena_copy(s->c->cli->arena, (loci_str){s->answers.ptr, len});
            memmove(s->answers.ptr, end + 1, s->answers.len - len - 1);
            lc_buf_truncate(&s->answers, s->answers.len - len - 1);
            return out->ptr != NULL;
        }
        if (left_us <= 0 || lc_interrupt_is_set() || s->answers.failure != LOCI_OK || s->out < 0)
            return false;
        (void)read_some(s, (int)(left_us / 1000) + 1); /* The end shows in s->out. */
    }
}

/* Sends a request and returns the message that answers it, or NULL. */
static const lc_json *ask(server *s, const char *method, const char *params)
{
    int64_t deadline_us = lc_clock_monotonic_us() + TIMEOUT_MS * INT64_C(1000);
    int id = ++s->next_id;
    lc_buf line;
    bool is_sent;
    loci_str text;

    lc_buf_init(&line, s->c->cli->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    lc_buf_append_format(&line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":", id,
                         method);
    lc_buf_append(&line, loci_str_of(params));
    lc_buf_append(&line, LC_STR("}\n"));
    is_sent = s->in >= 0 && lc_cli_write(s->in, lc_buf_str(&line));
    lc_buf_clear(&line);
    while (is_sent && take_line(s, deadline_us, &text)) {
        const lc_json *message = NULL, *number;

        if (lc_json_parse(s->c->cli->arena, text, LC_JSON_ALLOW_NUL, &message, NULL) != LOCI_OK) {
            lc_find(
                s->c->findings, LC_BAD, "output",
                "Nothing but messages may be on stdout: does a script around the program print?",
                "a line that is not JSON: %.80s", text.ptr);
            return NULL;
        }
        number = lc_json_find(message, "id", LC_JSON_INT);
        if (number != NULL && lc_json_int(number) == id)
            return message;
    }
    return NULL;
}

/* Ends the server: closing its stdin should be enough. Adds a finding if it is not. */
static void stop(server *s)
{
    int64_t deadline_us = lc_clock_monotonic_us() + END_MS * INT64_C(1000);
    pid_t ended = 0;
    int status = 0;

    close_end(&s->in);
    while (s->pid > 0 && (ended = waitpid(s->pid, &status, WNOHANG)) == 0 &&
           lc_clock_monotonic_us() < deadline_us) {
        if (s->out >= 0 || s->err >= 0)
            (void)read_some(s, 20); /* It may be waiting for room in a pipe. */
        else
            (void)poll(NULL, 0, 20);
    }
    if (s->pid > 0 && ended == 0) {
        lc_find(s->c->findings, LC_NOTE, "end", NULL,
                "the server was still running %d ms after its stdin was closed and was killed",
                END_MS);
        (void)kill(s->pid, SIGKILL); /* Our child, not waited for yet: the pid is its own. */
        (void)waitpid(s->pid, &status, 0);
    }
    close_end(&s->out);
    close_end(&s->err);
    lc_buf_clear(&s->answers);
    lc_buf_clear(&s->errors);
}

/* ---- Talking --------------------------------------------------------------------------------- */

#define CLIENT_INFO "{\"name\":\"loci-doctor\",\"version\":\"1\"}"
#define META                                                                                       \
    "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                      \
    "\"io.modelcontextprotocol/clientCapabilities\":{},"                                           \
    "\"io.modelcontextprotocol/clientInfo\":" CLIENT_INFO "}}"

/* The result of an answer; adds a failure and returns NULL if there is none. */
static const lc_json *result_of(server *s, const char *method, const lc_json *message)
{
    const lc_json *result = lc_json_find(message, "result", LC_JSON_OBJECT);
    const lc_json *error = lc_json_find(message, "error", LC_JSON_OBJECT);
    char advice[ERRORS_BYTES_MAX + 64] = "Run the command by hand to see what it prints";

    if (result != NULL)
        return result;
    while (message == NULL && s->err >= 0 && s->errors.len < ERRORS_BYTES_MAX && s->out < 0)
        (void)read_some(s, 100); /* The rest of stderr, up to its end. */
    if (s->errors.len > 0)
        (void)snprintf(advice, sizeof advice, "It printed: %.*s",
                       LC_STR_ARG(lc_buf_str(&s->errors)));
    if (error != NULL)
        lc_find(s->c->findings, LC_BAD, method, NULL, "%.*s",
                LC_STR_ARG(text_of(error, "message")));
    else
        lc_find(s->c->findings, LC_BAD, method, advice, "%s",
                s->out < 0 ? "the server ended without an answer" : "no answer in time");
    return NULL;
}

static bool check_start(server *s)
{
    const lc_json *result = result_of(
        s, "initialize",
        ask(s, "initialize",
            "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":" CLIENT_INFO
            "}"));
    const lc_json *info = lc_json_find(result, "serverInfo", LC_JSON_OBJECT);
    double took_ms = (double)(lc_clock_monotonic_us() - s->started_us) / 1000;

    if (result == NULL)
        return false;
    lc_find(s->c->findings, took_ms < SLOW_MS ? LC_GOOD : LC_NOTE, "start",
            took_ms < SLOW_MS ? NULL : "Clients wait for it: is the machine busy?",
            "%.*s %.*s answered after %.1f ms, protocol %.*s", LC_STR_ARG(text_of(info, "name")),
            LC_STR_ARG(text_of(info, "version")), took_ms,
            LC_STR_ARG(text_of(result, "protocolVersion")));
    if (!lc_str_is(text_of(info, "name"), "loci"))
        lc_find(s->c->findings, LC_BAD, "server", "Run `loci mcp install` for this client again",
                "the server is not loci");
    else if (!lc_str_is(text_of(info, "version"), loci_version()))
        lc_find(s->c->findings, LC_NOTE, "version", "Run `loci mcp install` again after an upgrade",
                "the client starts version %.*s, this program is %s",
                LC_STR_ARG(text_of(info, "version")), loci_version());
    return lc_cli_write(s->in,
                        LC_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
}

static bool is_read_only(const lc_json *tool)
{
    const lc_json *annotations = lc_json_find(tool, "annotations", LC_JSON_OBJECT);
    const lc_json *hint = lc_json_find(annotations, "readOnlyHint", LC_JSON_BOOL);

    return hint != NULL && lc_json_bool(hint);
}

/* Writes a value that the schema of a required argument allows. */
static void write_argument(lc_json_writer *w, loci_str name, const lc_json *schema)
{
    const lc_json *choices = lc_json_find(schema, "enum", LC_JSON_ARRAY);
    loci_str type = text_of(schema, "type");

    lc_jw_name_str(w, name);
    if (choices != NULL && lc_json_first(choices) != NULL)
        lc_jw_value(w, lc_json_first(choices));
    else if (lc_str_is(type, "integer") || lc_str_is(type, "number"))
        lc_jw_int(w, 1);
    else if (lc_str_is(type, "boolean"))
        lc_jw_bool(w, false);
    else
        lc_jw_text(w, "loci doctor");
}

static void check_call(server *s, const lc_json *tool)
{
    const lc_json *schema = lc_json_find(tool, "inputSchema", LC_JSON_OBJECT);
    const lc_json *properties = lc_json_find(schema, "properties", LC_JSON_OBJECT);
    const lc_json *required = lc_json_find(schema, "required", LC_JSON_ARRAY);
    const lc_json *result, *is_error;
    loci_str name = text_of(tool, "name");
    int64_t began_us = lc_clock_monotonic_us();
    lc_json_writer w;
    lc_buf params;

    lc_buf_init(&params, s->c->cli->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    lc_jw_init(&w, &params);
    lc_jw_object(&w);
    lc_jw_member_str(&w, "name", name);
    lc_jw_name(&w, "arguments");
    lc_jw_object(&w);
    for (const lc_json *item = required != NULL ? lc_json_first(required) : NULL; item != NULL;
         item = lc_json_next(item)) {
        if (lc_json_kind_of(item) == LC_JSON_STRING)
            write_argument(&w, lc_json_str(item),
                           properties != NULL ? lc_json_member(properties, lc_json_str(item))
                                              : NULL);
    }
    lc_jw_end(&w);
    lc_jw_end(&w);
    result = lc_buf_terminate(&params) != NULL
                 ? result_of(s, "tools/call", ask(s, "tools/call", params.ptr))
                 : NULL;
    lc_buf_clear(&params);
    is_error = lc_json_find(result, "isError", LC_JSON_BOOL);
    if (result == NULL)
        return;
    if (is_error != NULL && lc_json_bool(is_error)) {
        const lc_json *content = lc_json_find(result, "content", LC_JSON_ARRAY);

        lc_find(s->c->findings, LC_BAD, "call", NULL, "%.*s: %.*s", LC_STR_ARG(name),
                LC_STR_ARG(text_of(content != NULL ? lc_json_first(content) : NULL, "text")));
    } else {
        lc_find(s->c->findings, LC_GOOD, "call", NULL, "%.*s answered in %.1f ms", LC_STR_ARG(name),
                (double)(lc_clock_monotonic_us() - began_us) / 1000);
    }
}

static void check_tools(server *s)
{
    const lc_json *result = result_of(s, "tools/list", ask(s, "tools/list", "{}"));
    const lc_json *tools = lc_json_find(result, "tools", LC_JSON_ARRAY);
    const lc_json *tool = tools != NULL ? lc_json_first(tools) : NULL;
    lc_json_writer w;
    lc_buf text;

    if (result == NULL)
        return;
    lc_buf_init(&text, s->c->cli->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, result);
    lc_find(s->c->findings,
            tool == NULL                 ? LC_BAD
            : text.len > TOOLS_BYTES_MAX ? LC_NOTE
                                         : LC_GOOD,
            "tools", tool == NULL ? "Run `loci doctor`" : NULL, "%zu tools in %.1f kB",
            tools != NULL ? lc_json_count(tools) : 0, (double)text.len / 1024);
    lc_buf_clear(&text);
    while (tool != NULL && !is_read_only(tool))
        tool = lc_json_next(tool);
    if (tool != NULL)
        check_call(s, tool);
}

static void check_discover(server *s)
{
    const lc_json *result = result_of(s, "discover", ask(s, "server/discover", META));
    const lc_json *versions = lc_json_find(result, "supportedVersions", LC_JSON_ARRAY);
    const lc_json *first = versions != NULL ? lc_json_first(versions) : NULL;

    if (result == NULL)
        return;
    if (first != NULL && lc_json_kind_of(first) == LC_JSON_STRING)
        lc_find(s->c->findings, LC_GOOD, "discover", NULL, "protocol %.*s is supported too",
                LC_STR_ARG(lc_json_str(first)));
    else
        lc_find(s->c->findings, LC_BAD, "discover", NULL, "server/discover names no version");
}

/* ---- One entry ------------------------------------------------------------------------------- */

/* The value behind an option in the arguments of an entry; none if it is not there. */
static loci_str option_of(const lc_json *value, const char *option)
{
    const lc_json *args = lc_json_find(value, "args", LC_JSON_ARRAY);
    loci_str found = LC_STR_NONE;

    for (const lc_json *arg = args != NULL ? lc_json_first(args) : NULL; arg != NULL;
         arg = lc_json_next(arg)) {
        const lc_json *next = lc_json_next(arg);
        loci_str text, rest;

        if (lc_json_kind_of(arg) != LC_JSON_STRING)
            continue;
        text = lc_str_split(lc_json_str(arg), '=', &rest);
        if (!lc_str_is(text, option))
            continue;
        if (rest.ptr != NULL)
            found = rest;
        else if (next != NULL && lc_json_kind_of(next) == LC_JSON_STRING)
            found = lc_json_str(next);
    }
    return found;
}

static void check_program(check *c, const char *command)
{
    const char *found = lc_mcp_program_find(c->cli, command);
    char real[PATH_MAX], own[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);

    if (found == NULL)
        lc_find(c->findings, LC_BAD, "program",
                "Run `loci mcp install` for this client again: it writes the path of this program",
                strchr(command, '/') != NULL ? "%s is not there or cannot be run"
                                             : "%s is not in the PATH",
                command);
    else if (len > 0 && (own[len] = '\0', realpath(found, real) != NULL) && strcmp(real, own) != 0)
        lc_find(c->findings, LC_NOTE, "program", "Run `loci mcp install` again to use this program",
                "%s is another program than this one (%s)", found, own);
    else
        lc_find(c->findings, LC_GOOD, "program", NULL, "%s", found);
    if (found != NULL && strchr(command, '/') == NULL)
        lc_find(c->findings, LC_NOTE, "path",
                "If the client does not find it, install with --scope user, which writes the path",
                "the entry relies on the PATH of the client");
}

static void check_daemon(check *c, const lc_store_path *store)
{
    const char *socket = NULL;
    char url[PATH_MAX];
    lc_fetch fetch = {.method = "GET", .path = "/livez", .timeout_ms = TIMEOUT_MS};
    loci_error err;
    lc_buf body;
    int http = 0;

    if (lc_socket_path_find(c->cli, store->text, &socket, &err) != LOCI_OK || socket == NULL ||
        access(socket, F_OK) != 0) {
        lc_find(c->findings, LC_GOOD, "daemon", NULL,
                "none is running for this store; the server opens the store itself");
        return;
    }
    (void)snprintf(url, sizeof url, "unix:%s", socket);
    lc_buf_init(&body, c->cli->heap, LOCI_MEM_REQUESTS, 64 * 1024);
    if (lc_fetch_run(&(lc_endpoint){.url = url}, &fetch, &http, &body, &err) == LOCI_OK &&
        http == 200)
        lc_find(c->findings, LC_GOOD, "daemon", NULL, "the server uses the daemon at %s", socket);
    else
        lc_find(c->findings, LC_NOTE, "daemon", "Remove the socket if no daemon is running",
                "nothing answers at %s; the server opens the store itself", socket);
    lc_buf_clear(&body);
}

/* Whether the store is met for the first time: checking its content takes time. */
static bool is_new_store(check *c, const char *store)
{
    for (size_t i = 0; i < c->store_count; i++) {
        if (strcmp(c->stores[i], store) == 0)
            return false;
    }
    if (c->store_count < STORES_MAX)
        c->stores[c->store_count++] = store;
    return true;
}

/* Compares the store of the entry with the one of the command line, and checks it. */
static void check_store(check *c, const lc_json *value)
{
    const char *given = c->cli->globals.store;
    loci_str named = option_of(value, "--store");
    lc_store_path ours, theirs;
    loci_error err;

    if (lc_store_path_find(c->cli, &ours, &err) != LOCI_OK)
        return; /* The check of the store reports it. */
    if (named.ptr != NULL)
        c->cli->globals.store = lc_arena_copy(c->cli->arena, named).ptr;
    if (lc_store_path_find(c->cli, &theirs, &err) == LOCI_OK) {
        if (strcmp(ours.text, theirs.text) != 0)
            lc_find(c->findings, LC_NOTE, "store",
                    "Install again with --store if both should use the same store",
                    "the entry uses %s, commands use %s (%s)", theirs.label, ours.label,
                    ours.origin);
        else if (named.ptr == NULL && !ours.is_default)
            lc_find(c->findings, LC_NOTE, "store",
                    "Install again: the store is then written to the entry",
                    "commands use %s (%s), which the client may not know", ours.label, ours.origin);
        if (!lc_store_path_exists(&theirs))
            lc_find(c->findings, LC_NOTE, "store", NULL,
                    "%s does not exist yet; the first write creates it", theirs.label);
        else if (is_new_store(c, theirs.text))
            lc_doctor_check_store(c->findings);
        else
            lc_find(c->findings, LC_GOOD, "store", NULL, "%s, see above", theirs.label);
        check_daemon(c, &theirs);
    }
    c->cli->globals.store = given;
}

static void check_command(check *c, const lc_json *value)
{
    server s = {.c = c, .in = -1, .out = -1, .err = -1};
    char *words[WORDS_MAX];
    int why;

    if (!list_words(c->cli, value, words)) {
        lc_find(c->findings, LC_BAD, "entry", "Run `loci mcp install` for this client again",
                "\"command\" is not a text, or \"args\" is not a list of texts");
        return;
    }
    check_program(c, words[0]);
    lc_buf_init(&s.answers, c->cli->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX);
    lc_buf_init(&s.errors, c->cli->heap, LOCI_MEM_REQUESTS, 64 * 1024);
    why = start(&s, value, words);
    if (why != 0)
        lc_find(c->findings, LC_BAD, "start", NULL, "%s: %s", words[0], strerror(why));
    else if (check_start(&s)) {
        check_tools(&s);
        check_discover(&s);
    }
    stop(&s);
    check_store(c, value);
}

/* A server that is reached by its URL is not started: only whether it answers is checked. */
static void check_url(check *c, loci_str url)
{
    char base[PATH_MAX];
    lc_fetch fetch = {.method = "GET", .path = "/livez", .timeout_ms = TIMEOUT_MS};
    loci_error err;
    lc_buf body;
    int http = 0;

    (void)snprintf(base, sizeof base, "%.*s", LC_STR_ARG(url));
    if (url.len > 4 && strcmp(base + strlen(base) - 4, "/mcp") == 0)
        base[strlen(base) - 4] = '\0';
    lc_buf_init(&body, c->cli->heap, LOCI_MEM_REQUESTS, 64 * 1024);
    if (lc_fetch_run(&(lc_endpoint){.url = base}, &fetch, &http, &body, &err) != LOCI_OK)
        lc_find(c->findings, LC_BAD, "daemon", "Start it with `loci serve`", "%s", err.message);
    else if (http != 200)
        lc_find(c->findings, LC_BAD, "daemon", "Another program is listening there", "HTTP %d",
                http);
    else
        lc_find(c->findings, LC_GOOD, "daemon", NULL, "%s answers", base);
    lc_buf_clear(&body);
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

/* Counts the events whose list has a hook of ours; `*out_command` is one of them. */
static size_t count_hooks(check *c, const lc_config_file *file, loci_str *out_command)
{
    size_t count = 0;

    for (size_t i = 0; lc_mcp_hook_events[i] != NULL; i++) {
        lc_config_place place = {{LC_STR("hooks"), loci_str_of(lc_mcp_hook_events[i])}, 2};
        const lc_json *list = NULL;
        bool is_there = false;

        if (lc_config_find(c->cli->arena, file, &place, &list, NULL) != LOCI_OK || list == NULL ||
            lc_json_kind_of(list) != LC_JSON_ARRAY)
            continue;
        for (const lc_json *item = lc_json_first(list); item != NULL; item = lc_json_next(item))
            is_there = lc_mcp_hook_is_ours(item, out_command) || is_there;
        count += is_there;
    }
    return count;
}

static void check_hooks(check *c, lc_mcp_scope scope)
{
    lc_config_file file = {.format = LC_CONFIG_JSON};
    lc_config_change change;
    loci_str command = LC_STR_NONE;
    const char *path = NULL;
    size_t all = 0, found;
    loci_error err;

    if (lc_mcp_host_hooks(c->cli, c->host, scope, &path, &err) != LOCI_OK || path == NULL)
        return;
    if (lc_config_change_open(c->cli, path, &change, &err) != LOCI_OK) {
        lc_find(c->findings, LC_BAD, "hooks", NULL, "%s", err.message);
        return;
    }
    while (lc_mcp_hook_events[all] != NULL)
        all++;
    file.text = change.before;
    file.exists = change.existed;
    found = count_hooks(c, &file, &command);
    if (found == all)
        lc_find(c->findings, LC_GOOD, "hooks", NULL, "%s has all %zu", path, all);
    else if (found > 0)
        lc_find(c->findings, LC_BAD, "hooks", "Run `loci mcp install claude-code --hooks` again",
                "%s has %zu of %zu", path, found, all);
    else if (scope == LC_MCP_SCOPE_USER)
        lc_find(c->findings, LC_NOTE, "hooks",
                "Run `loci mcp install claude-code --hooks` for memory without tool calls",
                "%s has none", path);
    if (found > 0) {
        loci_str rest, first = lc_str_split(command, ' ', &rest);
        const char *program = lc_arena_copy(c->cli->arena, first).ptr;

        if (program != NULL && program[0] != '\'' && lc_mcp_program_find(c->cli, program) == NULL)
            lc_find(c->findings, LC_BAD, "hooks",
                    "Run `loci mcp install claude-code --hooks` again",
                    "the hooks run %s, which is not there", program);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static void check_entry(check *c, const entry *e)
{
    loci_str url = url_of(e->value);

    lc_find(c->findings, LC_GOOD, "entry", NULL, "\"%.*s\" in %s (%s)", LC_STR_ARG(e->name),
            e->path, e->scope);
    if (lc_json_find(e->value, "command", LC_JSON_STRING) != NULL)
        check_command(c, e->value);
    else if (url.ptr != NULL)
        check_url(c, url);
    else
        lc_find(c->findings, LC_BAD, "entry", "Run `loci mcp install` for this client again",
                "it has neither a command nor a URL");
}

/* Whether the client has an entry for loci, or a file that cannot be read. */
static bool check_host(check *c, const lc_mcp_host *host, bool is_asked_for)
{
    lc_findings *findings = c->findings;
    size_t before = findings->count;

    findings->subject = host->title;
    c->host = host;
    c->count = 0;
    read_file(c, LC_MCP_SCOPE_USER);
    if (host->in_project != NULL)
        read_file(c, LC_MCP_SCOPE_PROJECT);
    if (c->count == 0 && findings->count == before) {
        char advice[96];

        (void)snprintf(advice, sizeof advice, "Run `loci mcp install %s`", host->name);
        if (is_asked_for)
            lc_find(findings, LC_BAD, "entry", advice, "%s has no entry for loci", host->title);
        return is_asked_for;
    }
    if (c->count > 1)
        lc_find(findings, LC_NOTE, "entries", "Keep one: `loci mcp uninstall` removes an entry",
                "%zu entries name loci; the client may start each of them", c->count);
    for (size_t i = 0; i < c->count; i++)
        check_entry(c, &c->entries[i]);
    check_hooks(c, LC_MCP_SCOPE_USER);
    check_hooks(c, LC_MCP_SCOPE_PROJECT);
    return true;
}

int lc_command_mcp_doctor(lc_cli *cli, const lc_arguments *arguments)
{
    const char *word = arguments->word_count > 1 ? arguments->words[1] : NULL;
    const lc_mcp_host *asked = word != NULL ? lc_mcp_host_find(loci_str_of(word)) : NULL;
    lc_findings *findings = lc_arena_zalloc_array(cli->arena, 1, sizeof *findings);
    check c = {.findings = findings, .cli = cli};
    bool is_any = false;

    if (word != NULL && asked == NULL)
        return lc_cli_usage(cli, "unknown client \"%s\"; `loci mcp clients` lists them", word);
    if (findings == NULL)
        return lc_cli_report_memory(cli);
    findings->cli = cli;
    for (const lc_mcp_host *host = lc_mcp_hosts(); host->name != NULL; host++) {
        if (asked == NULL || asked == host)
            is_any = check_host(&c, host, asked != NULL) || is_any;
    }
    findings->subject = NULL;
    if (!is_any)
        lc_find(findings, LC_BAD, "clients", "Run `loci mcp install CLIENT`",
                "no client has an entry for loci");
    lc_findings_print(findings);
    return findings->is_any_bad ? LC_EXIT_FAILED : LC_EXIT_OK;
}
