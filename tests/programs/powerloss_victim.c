/* powerloss_victim.c - what the power-loss shim is tested with: a program whose durability is
 * known.
 *
 *     powerloss_victim rows DIR COUNT     rows in SQLite (WAL, FULL): every acknowledged one must
 * stay powerloss_victim names DIR COUNT    files written, fsynced and renamed, but the directory is
 * not fsynced: some acknowledged ones must vanish powerloss_victim safe-names …       the same with
 * the directory fsynced: none may vanish
 *
 * Acknowledges over descriptor 100: one number a line.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACK_FD 100

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "powerloss_victim: %s\n", what);
    exit(1);
}

static void acknowledge(int number)
{
    char line[32];
    int bytes = snprintf(line, sizeof line, "%d\n", number);

    if (write(ACK_FD, line, (size_t)bytes) != bytes)
        die("nobody to acknowledge to");
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
}

static void write_rows(const char *dir, int count)
{
    char text[4096];
    sqlite3 *db;

    snprintf(text, sizeof text, "%s/rows.db", dir);
    if (sqlite3_open(text, &db) != SQLITE_OK)
        die("cannot open");
    run(db, "pragma journal_mode=wal; pragma synchronous=full; pragma wal_autocheckpoint=20");
    run(db, "create table if not exists rows(n integer primary key, filler blob);"
            "create table if not exists twins(n integer primary key)");
    for (int n = 1; n <= count; n++) {
        snprintf(text, sizeof text,
                 "begin immediate; insert into rows values(%d, zeroblob(700)); "
                 "insert into twins values(%d); commit",
                 n, n);
        run(db, text);
        acknowledge(n);
    }
    sqlite3_close(db);
}

static void sync_path(const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd < 0 || fsync(fd) != 0)
        die("fsync");
    close(fd);
}

static void write_names(const char *dir, int count, int is_safe)
{
    char temporary[4096];
    char final[4096];

    for (int n = 1; n <= count; n++) {
        int fd;

        snprintf(temporary, sizeof temporary, "%s/%d.tmp", dir, n);
        snprintf(final, sizeof final, "%s/%d", dir, n);
        fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, "whole\n", 6) != 6 || close(fd) != 0)
            die("write");
        sync_path(temporary);
        if (rename(temporary, final) != 0)
            die("rename");
        if (is_safe)
            sync_path(dir);
        acknowledge(n);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        die("usage: powerloss_victim rows|names|safe-names DIR COUNT");
    if (strcmp(argv[1], "rows") == 0)
        write_rows(argv[2], (int)strtol(argv[3], NULL, 10));
    else
        write_names(argv[2], (int)strtol(argv[3], NULL, 10), strcmp(argv[1], "safe-names") == 0);
    return 0;
}
