/* daemon.c - starts, watches and ends the daemon of a test. */
#include "server/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTINGS_MAX 8
#define START_MS 30000

static pid_t running; /* 0 = none. */

int64_t test_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void test_sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void end_left_over(void)
{
    if (running != 0 && kill(running, SIGKILL) == 0)
        waitpid(running, NULL, 0);
    running = 0;
}

/* The port it says it listens on; 0 when it has not yet. */
static int read_port(const test_daemon *daemon)
{
    static const char address[] = "http://127.0.0.1:";
    char said[2048];
    ssize_t got = pread(daemon->process.out_file, said, sizeof said - 1, 0);
    const char *at;

    if (got <= 0)
        return 0;
    said[got] = '\0';
    at = strstr(said, address);
    return at != NULL && strchr(at, '\n') != NULL ? (int)strtol(at + strlen(address), NULL, 10) : 0;
}

static void wait_until_ready(test_daemon *daemon, const char *token_file)
{
    int64_t until_ms = test_now_ms() + START_MS;
    loci_str token;

    while ((daemon->port = read_port(daemon)) == 0) {
        if (test_now_ms() > until_ms || waitpid(daemon->process.pid, NULL, WNOHANG) != 0) {
            char said[1024] = "";

            (void)!pread(daemon->process.err_file, said, sizeof said - 1, 0);
            test_fail(__FILE__, __LINE__, "the daemon does not start: %s", said);
        }
        test_sleep_ms(5);
    }
    token = test_read_file(token_file);
    while (token.len > 0 && token.ptr[token.len - 1] == '\n')
        token.len--;
    CHECK_LT(token.len, sizeof daemon->token);
    memcpy(daemon->token, token.ptr, token.len);
}

test_daemon test_daemon_start_on(const char *store, const char *const *settings)
{
    const char *argv[16 + 2 * SETTINGS_MAX] = {test_loci(),    "serve",       "--json",
                                               "--listen",     "127.0.0.1:0", "--no-socket",
                                               "--core-dumps", /* For /proc/PID/fd. */
                                               "--store",      store,         "--token-file"};
    const char *token_file = test_format("%s.token", store);
    test_daemon daemon = {.store = store};
    size_t count = 10;
    static bool is_armed;

    if (!is_armed)
        atexit(end_left_over);
    is_armed = true;
    end_left_over();
    argv[count++] = token_file;
    for (size_t i = 0; settings != NULL && settings[i] != NULL; i++) {
        CHECK_LT(i, SETTINGS_MAX);
        argv[count++] = "--set";
        argv[count++] = settings[i];
    }
    daemon.process = test_process_start(&(test_command){.argv = argv, .timeout_seconds = 60});
    running = daemon.process.pid;
    wait_until_ready(&daemon, token_file);
    return daemon;
}

test_daemon test_daemon_start(const char *const *settings)
{
    return test_daemon_start_on(test_path(test_tmpdir(), "store.db"), settings);
}

void test_daemon_wait(test_daemon *daemon)
{
    test_process_wait(&daemon->process);
    running = 0;
    CHECK(!daemon->process.timed_out);
    if (daemon->process.exit_code != 0)
        test_fail(__FILE__, __LINE__, "the daemon ended with %d: …%s", daemon->process.exit_code,
                  daemon->process.err.len > 4000
                      ? daemon->process.err.ptr + daemon->process.err.len - 4000
                      : daemon->process.err.ptr);
    CHECK(strstr(daemon->process.err.ptr, "Sanitizer") == NULL);
}

void test_daemon_stop(test_daemon *daemon)
{
    CHECK_EQ(kill(daemon->process.pid, SIGTERM), 0);
    test_daemon_wait(daemon);
}

/* Files are not counted: the engine opens those when they are first needed. */
int test_daemon_descriptors(const test_daemon *daemon)
{
    const char *path = test_format("/proc/%d/fd", (int)daemon->process.pid);
    DIR *dir = opendir(path);
    struct dirent *entry;
    int count = 0;

    CHECK(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        char name[512], what[64] = "";

        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        (void)!readlink(name, what, sizeof what - 1);
        count += strncmp(what, "socket:", 7) == 0 || strncmp(what, "anon_inode:", 11) == 0;
    }
    closedir(dir);
    return count;
}

int64_t test_daemon_memory_kib(const test_daemon *daemon)
{
    char text[4096] = "";
    FILE *file = fopen(test_format("/proc/%d/status", (int)daemon->process.pid), "r");
    const char *at;

    CHECK(file != NULL);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    at = strstr(text, "RssAnon:");
    return at != NULL ? strtoll(at + strlen("RssAnon:"), NULL, 10) : 0;
}

void test_daemon_check(const test_daemon *daemon, int descriptors)
{
    int64_t until_ms = test_now_ms() + 5000;
    int now = 0;

    CHECK_EQ(test_ask(daemon, "GET /livez", NULL, NULL).status, 200);
    while ((now = test_daemon_descriptors(daemon)) > descriptors && test_now_ms() < until_ms)
        test_sleep_ms(10);
    CHECK_LE(now, descriptors);
}
