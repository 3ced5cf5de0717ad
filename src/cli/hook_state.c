/* hook_state.c - see hook_state.h. */
#include "cli/hook_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"

#define PATH_BYTES 4096
#define LOG_BYTES_MAX (256 * 1024)
#define LINE_BYTES_MAX 4096
#define PRUNE_ENTRIES_MAX 2000
#define PRUNE_AGE_S (60 * INT64_C(86400))

/* For the signal handler, which has no other way to get them; set before the alarm. */
static char log_path[PATH_BYTES];
static char alarm_line[LINE_BYTES_MAX];
static size_t alarm_line_bytes;

/* ---- The directory --------------------------------------------------------------------------- */

/* "STATE/loci/NAME"; false without a state directory. */
static bool make_path(const char *name, char out[PATH_BYTES])
{
    const char *state = lc_cli_variable("XDG_STATE_HOME");
    const char *home = lc_cli_variable("HOME");
    int len = 0;

    if (state != NULL && state[0] == '/')
        len = snprintf(out, PATH_BYTES, "%s/loci/%s", state, name);
    else if (home != NULL && home[0] == '/')
        len = snprintf(out, PATH_BYTES, "%s/.local/state/loci/%s", home, name);
    return len > 0 && len < PATH_BYTES;
}

void lc_hook_state_open(void)
{
    char path[PATH_BYTES];

    if (make_path("hook.log", log_path) && make_path("hooks/x", path)) {
        for (char *at = path + 1; *at != '\0'; at++) {
            if (*at != '/')
                continue;
            *at = '\0';
            (void)mkdir(path, 0700); /* It may be there; otherwise opening a file in it fails. */
            *at = '/';
        }
    } else {
        log_path[0] = '\0';
    }
}

/* ---- The log --------------------------------------------------------------------------------- */

static size_t format_line(lc_cli *cli, const char *event, const char *text,
                          char out[LINE_BYTES_MAX])
{
    size_t len = 0;
    lc_json_writer w;
    lc_buf line;

    lc_buf_init(&line, cli->heap, LOCI_MEM_REQUESTS, LINE_BYTES_MAX - 1);
    lc_jw_init(&w, &line);
    lc_jw_object(&w);
    lc_jw_member_time(&w, "time", lc_clock_system_us(NULL));
    lc_jw_member_text(&w, "event", event);
    lc_jw_member_int(&w, "pid", getpid());
    lc_jw_member_text(&w, "error", text);
    lc_jw_end(&w);
    lc_buf_append_byte(&line, '\n');
    if (lc_buf_status(&line, NULL) == LOCI_OK) {
        memcpy(out, line.ptr, line.len);
        len = line.len;
    }
    lc_buf_clear(&line);
    return len;
}

/* Async-signal-safe. */
static void write_log(const char *line, size_t bytes)
{
    int descriptor = log_path[0] != '\0'
                         ? open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                                0600)
                         : -1;

    if (descriptor < 0)
        return;
    (void)!write(descriptor, line, bytes); /* In one piece: lines of two processes do not mix. */
    (void)close(descriptor);
}

static void rotate_log(void)
{
    char old[PATH_BYTES + 4];
    struct stat info;

    if (log_path[0] == '\0' || stat(log_path, &info) != 0 || info.st_size < LOG_BYTES_MAX)
        return;
    (void)snprintf(old, sizeof old, "%s.1", log_path);
    (void)rename(log_path, old); /* Of two processes one is late, and finds nothing. */
}

void lc_hook_log(lc_cli *cli, const char *event, const char *text)
{
    char line[LINE_BYTES_MAX];
    size_t bytes = format_line(cli, event, text, line);

    rotate_log();
    write_log(line, bytes);
}

/* ---- The time limit -------------------------------------------------------------------------- */

static void on_alarm(int signal_number)
{
    (void)signal_number;
    write_log(alarm_line, alarm_line_bytes);
    _exit(LC_EXIT_OK); /* The store is made for processes that end at any time. */
}

void lc_hook_set_alarm(lc_cli *cli, const char *event, int64_t timeout_ms)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000}};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    (void)sigemptyset(&action.sa_mask);
    if (timeout_ms > 0) {
        rotate_log();
        alarm_line_bytes = format_line(cli, event, "the time limit has passed", alarm_line);
        (void)sigaction(SIGALRM, &action, NULL); /* The signal exists. */
    }
    (void)setitimer(ITIMER_REAL, &timer, NULL); /* The values are in range. */
}

/* ---- Positions ------------------------------------------------------------------------------- */

static bool position_path(loci_str key, char out[PATH_BYTES])
{
    char name[LC_HASH_TEXT_BYTES + 16], hash[LC_HASH_TEXT_BYTES];

    lc_hash128_format(lc_hash128_of(key), hash);
    (void)snprintf(name, sizeof name, "hooks/%s", hash);
    return make_path(name, out);
}

lc_hook_position lc_hook_position_load(loci_str key)
{
    lc_hook_position position = {0};
    char path[PATH_BYTES], text[64] = "";
    ssize_t got = -1;
    int descriptor;

    if (!position_path(key, path))
        return position;
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (descriptor < 0)
        return position;
    got = read(descriptor, text, sizeof text - 1);
    (void)close(descriptor); /* Nothing was written. */
    if (got <= 0 || sscanf(text, "%" SCNd64 " %" SCNx64, &position.offset, &position.head) != 2 ||
        position.offset < 0)
        return (lc_hook_position){0};
    return position;
}

void lc_hook_position_store(loci_str key, lc_hook_position position)
{
    char path[PATH_BYTES], temporary[PATH_BYTES + 32], text[64];
    bool is_written;
    int descriptor, len;

    if (!position_path(key, path))
        return;
    (void)snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return;
    len = snprintf(text, sizeof text, "%" PRId64 " %" PRIx64 "\n", position.offset, position.head);
    is_written = lc_cli_write(descriptor, (loci_str){text, (size_t)len});
    (void)close(descriptor); /* A lost position only means that lines are read again. */
    if (!is_written || rename(temporary, path) != 0)
        (void)unlink(temporary);
}

void lc_hook_position_prune(void)
{
    char path[PATH_BYTES];
    struct dirent *entry;
    time_t now = time(NULL);
    DIR *directory;

    if (!make_path("hooks", path))
        return;
    directory = opendir(path);
    for (int i = 0;
         directory != NULL && i < PRUNE_ENTRIES_MAX && (entry = readdir(directory)) != NULL; i++) {
        struct stat info;

        if (fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode) && now - info.st_mtime > PRUNE_AGE_S)
            (void)unlinkat(dirfd(directory), entry->d_name, 0); /* The next run tries again. */
    }
    if (directory != NULL)
        (void)closedir(directory);
}
