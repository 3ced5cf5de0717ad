#include "lib/line_peer.h"

#include <libpq-fe.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/rounds.h"

void line_peer_start(line_peer *peer, const char *program, const char *arg)
{
    int to[2], from[2];

    (void)signal(SIGPIPE, SIG_IGN); /* A peer that is gone is an answer that does not come. */
    if (pipe(to) != 0 || pipe(from) != 0 || (peer->pid = fork()) < 0)
        bench_die("no process for a peer");
    if (peer->pid == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        for (int fd = 3; fd < 64; fd++)
            (void)close(fd);
        (void)execlp(program, program, arg, (char *)NULL);
        _exit(127);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    peer->to = fdopen(to[1], "w");
    peer->from = fdopen(from[0], "r");
    if (peer->to == NULL || peer->from == NULL)
        bench_die("no pipe to a peer");
}

bool line_peer_ask(line_peer *peer, const char *question, char *answer, size_t bytes)
{
    if (fprintf(peer->to, "%s\n", question) < 0 || fflush(peer->to) != 0)
        return false;
    return fgets(answer, (int)bytes, peer->from) != NULL;
}

void line_peer_stop(line_peer *peer)
{
    (void)fclose(peer->to);
    (void)fclose(peer->from);
    (void)waitpid(peer->pid, NULL, 0);
}

/* ---- PostgreSQL ------------------------------------------------------------------------------ */

void postgres_peer_start(postgres_peer *peer)
{
    line_peer_start(&peer->process, "tests/lib/postgres.sh", "fsync=on");
    if (fgets(peer->dir, sizeof peer->dir, peer->process.from) == NULL)
        bench_die("no server: run from the root of the repository, after script/setup");
    peer->dir[strcspn(peer->dir, "\n")] = '\0';
}

void postgres_peer_new_store(postgres_peer *peer, char *out, size_t bytes)
{
    char sql[64];
    PGconn *conn;
    PGresult *result;

    snprintf(out, bytes, "postgresql://loci@/loci?host=%s", peer->dir);
    snprintf(sql, sizeof sql, "create schema b%d", ++peer->schema_count);
    conn = PQconnectdb(out);
    result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_die(PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
    snprintf(out, bytes, "postgresql://loci@/loci?host=%s&options=-csearch_path%%3Db%d", peer->dir,
             peer->schema_count);
}
