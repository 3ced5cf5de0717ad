/* serve.c - `loci serve`: the daemon.
 *
 * SIGTERM and SIGINT drain; a second signal ends the process at once (cli.c). SIGHUP is ignored, so
 * that the daemon survives its terminal.
 */
#include "cli/command.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/opening.h"
#include "ops/surface.h"
#include "server/http.h"
#include "server/server.h"

/* ---- systemd --------------------------------------------------------------------------------- */

/* sd_notify(3) without its library: sends "READY=1\nSTATUS=…" to $NOTIFY_SOCKET, if set. */
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    int descriptor;

    if (len < 2 || len >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') /* The abstract namespace: the first byte is NUL. */
        address.sun_path[0] = '\0';
    else
        bytes++; /* The terminating one of a path. */
    descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return;
    /* Best effort: the daemon does not depend on its supervisor. */
    (void)sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                 bytes);
    (void)close(descriptor);
}

/* ---- Serving --------------------------------------------------------------------------------- */

#define LISTEN_DEFAULT "127.0.0.1:7077"
#define HOSTS_MAX 32
#define OPEN_PAUSE_MS 250 /* Back-off between attempts to open a PostgreSQL store. */
#define OPEN_PAUSE_MS_MAX 5000

typedef struct serving {
    lc_cli *cli;
    const char *store;
    const char *store_label; /* For display. */
    const char *socket_path; /* NULL = none. */
    const char *token_file;  /* NULL = none. */
    loci_engine *engine;
    bool is_file; /* The store is one that --store can name again. */
    const char *hosts[HOSTS_MAX + 1];
    bool logs_all;
    lc_log_queue *log_queue;
    lc_env env; /* Of the server. */
} serving;

static void prepare_process(bool has_core_dumps)
{
    struct sigaction action;
    struct rlimit files;

    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGHUP, &action, NULL); /* Cannot fail. */
    /* A core dump, or a debugger of the same user, would show tokens and the texts of users. */
    if (!has_core_dumps)
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* Cannot fail with this value. */
    /* Each connection and each event stream needs a descriptor; the default soft limit of 1024
     * exists for programs that use select(). */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* Best effort. */
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void print_json(const serving *s, const char *address)
{
    lc_json_writer w;

    lc_jw_init(&w, &s->cli->out);
    lc_jw_object(&w);
    lc_jw_member_text(&w, "address", address);
    lc_jw_member_text(&w, "socket", s->socket_path);
    lc_jw_member_text(&w, "store", s->store_label);
    lc_jw_member_text(&w, "token_file", s->token_file);
    lc_jw_member_text(&w, "version", loci_version());
    lc_jw_end(&w);
    lc_buf_append_byte(&s->cli->out, '\n');
}

/* Three commands that can be pasted. */
static void print_examples(const serving *s, const char *address)
{
    static const char *const tries[] = {
        "/v1/facts -d '{\"key\":\"city\",\"value\":\"Oslo\"}'",
        "/v1/facts/current/city",
        "'/v1/events?after=0'",
    };
    lc_cli *cli = s->cli;

    if (s->token_file == NULL && s->socket_path == NULL)
        return;
    lc_cli_print(cli, "\nTry in another terminal:\n");
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        bool is_quoted = tries[i][0] == '\'';

        if (s->token_file != NULL)
            lc_cli_print(cli, "  curl -H \"Authorization: Bearer $(cat '%s')\" %s", s->token_file,
                         is_quoted ? "'" : "");
        else
            lc_cli_print(cli, "  curl --unix-socket '%s' %s", s->socket_path, is_quoted ? "'" : "");
        lc_cli_print(cli, "%s%s\n", s->token_file != NULL ? address : "http://localhost",
                     tries[i] + (is_quoted ? 1 : 0));
    }
    lc_cli_print(cli, "\nPress Ctrl-C to stop.\n");
}

/* Without a token no client can use the TCP address. Prints how to create one. */
static void print_way_in(const serving *s)
{
    lc_cli *cli = s->cli;

    if (s->token_file != NULL || lc_token_exists_any(s->engine))
        return;
    lc_cli_print(cli, "  token   none yet; make one with: loci ");
    if (s->is_file)
        lc_cli_print(cli, "--store '%s' ", s->store_label);
    lc_cli_print(cli, "token create NAME --scopes read,write\n");
    if (s->socket_path != NULL)
        lc_cli_print(cli,
                     "          you need none on the socket: "
                     "curl --unix-socket '%s' http://localhost/v1/facts\n",
                     s->socket_path);
}

static void tell_ready(void *ctx, const char *address)
{
    const serving *s = ctx;
    lc_cli *cli = s->cli;
    char state[512];

    if (cli->globals.wants_json) {
        print_json(s, address);
    } else {
        lc_cli_print(cli, "loci %s listening on ", loci_version());
        lc_cli_print_styled(cli, LC_STYLE_NAME, address);
        lc_cli_print(cli, "\n  store   %s\n", s->store_label);
        if (s->socket_path != NULL)
            lc_cli_print(cli, "  socket  %s\n", s->socket_path);
        if (s->token_file != NULL)
            lc_cli_print(cli, "  token   in %s\n", s->token_file);
        print_way_in(s);
        if (cli->out_terminal.is_terminal)
            print_examples(s, address);
    }
    (void)lc_cli_flush(cli); /* Best effort: the daemon also runs with stdout closed. */
    (void)snprintf(state, sizeof state, "READY=1\nSTATUS=Listening on %s", address);
    notify(state);
}

static void tell_stopping(void *ctx)
{
    const serving *s = ctx;

    if (s->cli->err_terminal.is_terminal)
        lc_cli_note(s->cli, "\nFinishing accepted requests; press Ctrl-C again to stop at once.");
    notify("STOPPING=1\nSTATUS=Finishing accepted requests");
}

/* ---- Running --------------------------------------------------------------------------------- */

static loci_status choose_socket(serving *s, const lc_arguments *arguments, loci_error *err)
{
    const char *given = lc_arguments_value(arguments, "socket");
    loci_status status = LOCI_OK;

    if (lc_arguments_has(arguments, "no-socket"))
        return LOCI_OK;
    if (given != NULL)
        s->socket_path = given;
    else
        status = lc_socket_path_find(s->cli, s->store, &s->socket_path, err);
    if (status == LOCI_OK && given == NULL && s->socket_path != NULL)
        status = lc_socket_path_prepare(s->cli, s->socket_path, err);
    return status;
}

static loci_status take_hosts(serving *s, const lc_arguments *arguments, loci_error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < arguments->given_count; i++) {
        const lc_given *given = &arguments->given[i];

        if (strcmp(given->option->name, "host") != 0)
            continue;
        if (count == HOSTS_MAX)
            return lc_fail(err, LOCI_ELIMIT, "--host may be given at most %d times", HOSTS_MAX);
        s->hosts[count++] = given->value;
    }
    return LOCI_OK;
}

static loci_status serve(serving *s, loci_engine *engine, const char *listen, loci_error *err)
{
    lc_server_options options = {
        .engine = engine,
        .env = &s->env,
        .log_ctx = s->log_queue,
        .log_queue = s->log_queue,
        .listen = listen,
        .socket_path = s->socket_path,
        .hosts = s->hosts,
        .drain_ms_max = lc_setting_view_i64(engine, "server.drain_ms"),
        .ready = tell_ready,
        .stopping = tell_stopping,
        .ready_ctx = s,
        .stop_fd = lc_interrupt_fd(),
    };

    if (options.stop_fd < 0)
        return lc_fail(err, LOCI_ERESOURCE, "cannot open a descriptor to wait for signals");
    options.log = s->logs_all ? lc_opening_log : lc_opening_log_warnings;
    return lc_server_run(&options, err);
}

/* Whether the failure may be fixed at the database server while the daemon retries: it is down or
 * full, the role or the database is missing, or the schema is newer and will be rolled back. */
static bool is_temporary(loci_status status)
{
    return status == LOCI_EUNAVAILABLE || status == LOCI_EDEADLINE || status == LOCI_EFORBIDDEN ||
           status == LOCI_ERESOURCE || status == LOCI_ENOTFOUND || status == LOCI_EUNSUPPORTED;
}

/* Retries, because a supervisor would only restart the daemon again and again. */
static loci_status open_patiently(lc_cli *cli, const lc_opening *opening, bool is_file,
                                  loci_engine **out, loci_error *err)
{
    struct pollfd stop = {.fd = lc_interrupt_fd(), .events = POLLIN};
    loci_status status = lc_opening_run(cli, opening, out, err);
    char fields[128];
    int pause_ms = OPEN_PAUSE_MS;

    while (!is_file && is_temporary(status)) {
        (void)snprintf(fields, sizeof fields, "{\"code\":\"%s\",\"retry_ms\":%d}",
                       loci_status_name(status), pause_ms);
        lc_opening_log(NULL, LOCI_LOG_WARN, "store.unavailable", loci_str_of(fields));
        lc_cli_note(cli, "%s", err->message);
        if (poll(&stop, 1, pause_ms) != 0)
            return status;
        pause_ms = pause_ms * 2 < OPEN_PAUSE_MS_MAX ? pause_ms * 2 : OPEN_PAUSE_MS_MAX;
        status = lc_opening_run(cli, opening, out, err);
    }
    return status;
}

int lc_command_serve(lc_cli *cli, const lc_arguments *arguments)
{
    lc_opening opening = {.ends_on_fault = true, .notes_creation = true, .lives_long = true};
    serving s = {.cli = cli, .token_file = lc_arguments_value(arguments, "token-file")};
    const char *listen = lc_arguments_value(arguments, "listen");
    loci_engine *engine = NULL;
    lc_store_path path;
    loci_error err;
    loci_status status;

    prepare_process(lc_arguments_has(arguments, "core-dumps"));
    if (listen == NULL)
        listen = getenv("LOCI_LISTEN");
    if (listen == NULL || listen[0] == '\0')
        listen = LISTEN_DEFAULT;
    if (lc_http_check_address(listen, &err) != LOCI_OK)
        return lc_cli_report_usage(cli, &err);
    s.logs_all = cli->globals.is_verbose || !cli->err_terminal.is_terminal;
    opening.logs_all = s.logs_all;
    status = lc_log_queue_open(cli->heap, STDERR_FILENO, lc_opening_lost_line, &s.log_queue, &err);
    opening.log_queue = s.log_queue;
    if (status == LOCI_OK)
        status = lc_store_path_find(cli, &path, &err);
    s.store = path.text;
    s.store_label = path.label;
    s.is_file = path.is_file;
    if (status == LOCI_OK)
        status = take_hosts(&s, arguments, &err);
    if (status == LOCI_OK)
        status = open_patiently(cli, &opening, path.is_file, &engine, &err);
    if (status == LOCI_OK)
        status = choose_socket(&s, arguments, &err); /* The directory of the store exists now. */
    if (status == LOCI_OK && s.token_file != NULL)
        status = lc_token_file_make(cli, engine, s.token_file, &err);
    s.engine = engine;
    if (status == LOCI_OK)
        status = serve(&s, engine, listen, &err);
    lc_engine_shut_down(engine);
    loci_close(engine);
    lc_log_queue_close(s.log_queue); /* Last: the engine logs until it is closed. */
    return status == LOCI_OK ? LC_EXIT_OK : lc_cli_report(cli, &err);
}
