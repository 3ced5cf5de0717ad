/* http_child.c - forks, and learns the port through a pipe or from what the daemon says. */
#include "lib/http_child.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The child, with its standard output at `*out_read`; 0 in the child itself. */
static pid_t fork_with_pipe(int *out_read)
{
    int ends[2];
    pid_t parent = getpid(), pid;

    if (pipe(ends) != 0)
        bench_die("no pipe");
    pid = fork();
    if (pid < 0)
        bench_die("no process");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
    }
    close(ends[1]);
    *out_read = ends[0];
    return pid;
}

static int read_port(int fd)
{
    char said[2048];
    const char *at;
    ssize_t got = read(fd, said, sizeof said - 1);

    close(fd);
    if (got <= 0)
        bench_die("a server did not start");
    said[got] = '\0';
    at = strstr(said, "127.0.0.1:");
    return at == NULL ? 0 : (int)strtol(at + strlen("127.0.0.1:"), NULL, 10);
}

/* ---- loci ------------------------------------------------------------------------------------ */

static const char *find_loci(void)
{
    static char path[4096];
    const char *given = getenv("LOCI");
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 16);
    char *end;

    if (given != NULL)
        return given;
    path[len > 0 ? len : 0] = '\0';
    for (int up = 0; up < 2; up++) /* BUILD/bench/http -> BUILD */
        if ((end = strrchr(path, '/')) != NULL)
            *end = '\0';
    strncat(path, "/loci", sizeof path - strlen(path) - 1);
    return path;
}

static void become_loci(const char *store, const char *token_file)
{
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDERR_FILENO); /* Its log: written, as in earnest, but kept nowhere. */
    execl(find_loci(), "loci", "serve", "--json", "--listen", "127.0.0.1:0", "--no-socket",
          "--store", store, "--token-file", token_file, (char *)NULL);
    _exit(127);
}

static http_child start_loci(const char *store, const char *token_file)
{
    http_child child = {0};
    FILE *file;
    int fd;

    fflush(stdout);
    child.pid = fork_with_pipe(&fd);
    if (child.pid == 0)
        become_loci(store, token_file);
    child.port = read_port(fd);
    file = fopen(token_file, "r");
    if (file == NULL || fgets(child.token, sizeof child.token, file) == NULL)
        bench_die("no token");
    fclose(file);
    child.token[strcspn(child.token, "\n")] = '\0';
    return child;
}

http_child http_child_loci(const char *dir)
{
    char store[512], token_file[512];

    snprintf(store, sizeof store, "%s/served.db", dir);
    snprintf(token_file, sizeof token_file, "%s/served.token", dir);
    return start_loci(store, token_file);
}

http_child http_child_loci_on(const char *dir, const char *store, int number)
{
    char token_file[512];

    snprintf(token_file, sizeof token_file, "%s/token-%d", dir, number);
    remove(token_file); /* It may be of another store. */
    return start_loci(store, token_file);
}

/* ---- Echo ------------------------------------------------------------------------------------ */

typedef struct echo {
    char *answer;
    size_t answer_bytes;
} echo;

static enum MHD_Result echo_request(void *cls, struct MHD_Connection *connection, const char *path,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_bytes, void **context)
{
    static int begun;
    const echo *e = cls;
    struct MHD_Response *response;
    enum MHD_Result result;

    (void)path;
    (void)method;
    (void)version;
    (void)upload;
    if (*context == NULL) {
        *context = &begun;
        return MHD_YES;
    }
    if (*upload_bytes != 0) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    response = MHD_create_response_from_buffer(e->answer_bytes, e->answer, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static void become_echo(size_t body_bytes)
{
    echo e = {calloc(1, body_bytes + 1), body_bytes};
    struct MHD_Daemon *daemon;

    memset(e.answer, 'x', body_bytes);
    daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, echo_request, &e,
                              MHD_OPTION_CONNECTION_LIMIT, 4096u, MHD_OPTION_END);
    if (daemon == NULL)
        _exit(1);
    printf("127.0.0.1:%u\n",
           (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    for (;;)
        pause(); /* Until it is told to end. */
}

http_child http_child_echo(size_t body_bytes)
{
    http_child child = {0};
    int fd;

    fflush(stdout);
    child.pid = fork_with_pipe(&fd);
    if (child.pid == 0)
        become_echo(body_bytes);
    child.port = read_port(fd);
    return child;
}

void http_child_stop(http_child *child)
{
    int status = 0;

    kill(child->pid, SIGTERM);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
}

/* ---- Figures --------------------------------------------------------------------------------- */

double http_child_cpu_us(const http_child *child)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(child->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        bench_die("no clock of the server");
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

int64_t http_child_memory_kib(const http_child *child)
{
    char text[4096] = "";
    const char *at;
    FILE *file;

    snprintf(text, sizeof text, "/proc/%d/status", (int)child->pid);
    file = fopen(text, "r");
    if (file == NULL)
        bench_die("the server is gone");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    at = strstr(text, "RssAnon:");
    return at == NULL ? 0 : strtoll(at + strlen("RssAnon:"), NULL, 10);
}
