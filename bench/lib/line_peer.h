/* line_peer.h - a peer in a process of its own that answers questions, one line per line.
 *
 * A peer that cannot start, because npm is not reachable or a tool is missing, is left out: its
 * first answer never comes.
 */
#ifndef LC_BENCH_LIB_LINE_PEER_H
#define LC_BENCH_LIB_LINE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct line_peer {
    pid_t pid;
    FILE *to, *from;
} line_peer;

/* Starts `program` with one argument. */
void line_peer_start(line_peer *peer, const char *program, const char *arg);
/* Sends a line and waits for the answer; false when the peer is gone. */
bool line_peer_ask(line_peer *peer, const char *question, char *answer, size_t bytes);
/* Ends it by closing its input, and waits for it. */
void line_peer_stop(line_peer *peer);

/* A PostgreSQL server of our own that syncs (tests/lib/postgres.sh), on the disk of $TMPDIR; it
 * ends with the benchmark. */
typedef struct postgres_peer {
    line_peer process;
    char dir[256]; /* Of its socket. */
    int schema_count;
} postgres_peer;

void postgres_peer_start(postgres_peer *peer);
/* The URL of a new empty store, in `out`. */
void postgres_peer_new_store(postgres_peer *peer, char *out, size_t bytes);

#endif /* LC_BENCH_LIB_LINE_PEER_H */
