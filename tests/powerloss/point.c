/* point.c - Acknowledgements go through a memory file at descriptor 100, which the program
 * inherits: a low one could be closed by it and come back as the database, with acknowledgements
 * written into it. */
#include "point.h"

#include "lib/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ACK_FD 100
#define ARGS_MAX 16
#define EXIT_DARK 99

static void each_file(const char *dir, void (*visit)(const char *path, const char *name, void *ctx),
                      void *ctx)
{
    DIR *files = opendir(dir);
    const struct dirent *entry;

    if (files == NULL)
        test_fail(__FILE__, __LINE__, "cannot list %s: %s", dir, strerror(errno));
    while ((entry = readdir(files)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            visit(test_path(dir, entry->d_name), entry->d_name, ctx);
    closedir(files);
}

static void copy_file(const char *path, const char *name, void *dir)
{
    test_write_file(test_path(dir, name), test_read_file(path));
}

/* Shared memory does not outlive a power cut. */
static void remove_shm(const char *path, const char *name, void *ctx)
{
    (void)ctx;
    if (strlen(name) > 4 && strcmp(name + strlen(name) - 4, "-shm") == 0)
        unlink(path);
}

static void remove_file(const char *path, const char *name, void *ctx)
{
    (void)name;
    (void)ctx;
    (void)remove(path); /* Not everything need be empty: the rest goes with the test. */
}

static const char *new_dir(void)
{
    static char base[256]; /* Goes with the test that made it. */
    static unsigned serial;

    if (base[0] == '\0' || !test_file_exists(base))
        CHECK_LT(snprintf(base, sizeof base, "%s", test_tmpdir()), sizeof base);
    return test_format("%s/%u", base, ++serial);
}

/* `text` with every DIR replaced. */
static loci_str replace_dir(loci_str text, const char *dir)
{
    const char *end;
    size_t count = 0;
    char *result;
    char *to;

    if (text.len == 0)
        return (loci_str){"", 0};
    end = text.ptr + text.len;
    for (const char *from = text.ptr; end - from >= 3; from++)
        count += memcmp(from, "DIR", 3) == 0;
    result = test_bytes(text.len + count * strlen(dir));
    to = result;
    for (const char *from = text.ptr; from < end;) {
        if (end - from >= 3 && memcmp(from, "DIR", 3) == 0) {
            to = stpcpy(to, dir);
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    return (loci_str){result, (size_t)(to - result)};
}

static int open_acks(void)
{
    int fd = memfd_create("acks", MFD_CLOEXEC);

    if (fd < 0 || dup2(fd, ACK_FD) != ACK_FD)
        test_fail(__FILE__, __LINE__, "acks: %s", strerror(errno));
    return fd;
}

static loci_str close_acks(int fd)
{
    off_t bytes = lseek(fd, 0, SEEK_END);
    char *text = test_bytes((size_t)bytes);
    ssize_t got = pread(fd, text, (size_t)bytes, 0);

    close(fd);
    close(ACK_FD);
    return (loci_str){text, got < 0 ? 0 : (size_t)got};
}

point point_begin(const point_plan *plan)
{
    point p = {.dir = new_dir()};
    const char *count_file = test_format("%s.count", p.dir);
    const char *env[8] = {
        test_format("LD_PRELOAD=%s", test_build_path("tests/powerloss.so")),
        test_format("POWERLOSS_DIR=%s", p.dir),
        test_format("POWERLOSS_AT=%llu", (unsigned long long)plan->at),
        test_format("POWERLOSS_SEED=%llu", (unsigned long long)plan->seed),
        test_format("POWERLOSS_COUNT=%s", count_file),
        plan->is_lying ? "POWERLOSS_LIE=1" : NULL,
    };
    const char *argv[ARGS_MAX] = {0};
    test_process process;
    int acks;

    if (mkdir(p.dir, 0700) != 0)
        test_fail(__FILE__, __LINE__, "mkdir %s: %s", p.dir, strerror(errno));
    if (plan->like != NULL)
        each_file(plan->like, copy_file, (void *)p.dir);
    for (size_t i = 0; plan->argv[i] != NULL; i++)
        argv[i] = replace_dir(loci_str_of(plan->argv[i]), p.dir).ptr;

    p.input = replace_dir(plan->input, p.dir);
    acks = open_acks();
    process = test_process_run(&(test_command){.argv = argv, .input = p.input, .env = env});
    p.acks = close_acks(acks);
    p.out = process.out;
    p.went_dark = process.exit_code == EXIT_DARK;
    if (!p.went_dark && process.exit_code != 0)
        test_fail(__FILE__, __LINE__, "POWERLOSS_AT=%llu POWERLOSS_SEED=%llu in %s: exit %d: %.*s",
                  (unsigned long long)plan->at, (unsigned long long)plan->seed, p.dir,
                  process.exit_code, (int)process.err.len, process.err.ptr);
    if (!p.went_dark)
        p.changes = strtoull(test_read_file(count_file).ptr, NULL, 10);
    each_file(p.dir, remove_shm, NULL);
    return p;
}

void point_end(point *p)
{
    each_file(p->dir, remove_file, NULL);
    (void)rmdir(p->dir);
}

bool point_next_line(loci_str *text, loci_str *out_line)
{
    const char *end = text->len == 0 ? NULL : memchr(text->ptr, '\n', text->len);

    if (end == NULL)
        return false;
    *out_line = (loci_str){text->ptr, (size_t)(end - text->ptr)};
    text->ptr = end + 1;
    text->len -= out_line->len + 1;
    return true;
}

bool point_is_whole(const char *path, const char **out_problem)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *check = NULL;
    bool is_whole = false;

    *out_problem = "";
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "pragma integrity_check", -1, &check, NULL) == SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW) {
        *out_problem = test_format("%s", (const char *)sqlite3_column_text(check, 0));
        is_whole = strcmp(*out_problem, "ok") == 0;
    } else {
        *out_problem = test_format("%s", sqlite3_errmsg(db));
    }
    sqlite3_finalize(check);
    sqlite3_close(db);
    return is_whole;
}

__attribute__((format(printf, 3, 0))) static void note(const point_tally *tally, const point *p,
                                                       const char *format, va_list list)
{
    char text[1024];

    if (tally->is_control)
        return;
    vsnprintf(text, sizeof text, format, list);
    test_fail(__FILE__, __LINE__, "%s in %s: %s", tally->what, p->dir, text);
}

void point_note_lost(point_tally *tally, const point *p, const char *format, ...)
{
    va_list list;

    tally->lost++;
    va_start(list, format);
    note(tally, p, format, list);
    va_end(list);
}

void point_note_corrupt(point_tally *tally, const point *p, const char *format, ...)
{
    va_list list;

    tally->corrupt++;
    va_start(list, format);
    note(tally, p, format, list);
    va_end(list);
}

void point_report(const point_tally *tally)
{
    printf("     %-28s points %llu  dark %llu  lost %llu  corrupt %llu%s\n", tally->what,
           (unsigned long long)tally->points, (unsigned long long)tally->dark,
           (unsigned long long)tally->lost, (unsigned long long)tally->corrupt,
           tally->is_control ? "  (lying disk: must not be 0)" : "");
    CHECK(tally->dark > 0);
    if (tally->is_control)
        CHECK(tally->lost + tally->corrupt > 0);
}
