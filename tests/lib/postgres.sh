#!/usr/bin/env bash
# postgres.sh [--replica-of DIR] [SETTING=VALUE…] - runs a PostgreSQL server for as long as its
# standard input is open: tests have the other end of a pipe, so the server ends with them, even if
# they are killed.
#
# Prints one line when the server is ready: the directory of its socket. User `loci` and database
# `loci` need no password there; user `locked` does. It listens on nothing else. Settings are passed
# to the server; without any it does not sync and keeps its data in memory if possible, which is for
# functional tests only. With --replica-of it is a streaming replica of the server that printed DIR.
set -euo pipefail

bin=${LOCI_TEST_POSTGRES_BIN:-/usr/lib/postgresql/15/bin}
[ -x "$bin/initdb" ] || { echo "postgres.sh: no PostgreSQL in $bin: run script/setup" >&2; exit 1; }

primary=
if [ "${1:-}" = --replica-of ]; then
    primary=$2
    shift 2
fi

# Thousands of tables are created and dropped: vacuuming them is wasted work.
settings=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off)
parent=${TMPDIR:-/tmp}
memory_kb_min=2000000
if [ $# != 0 ]; then
    settings=()
elif [ -w /dev/shm ] && [ "$(df --output=avail /dev/shm | tail -n 1)" -gt "$memory_kb_min" ]; then
    parent=/dev/shm
fi
for setting in "$@"; do
    settings+=(-c "$setting")
done

# The server refuses to run as root.
as_owner=()
[ "$(id -u)" != 0 ] || as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups)

dir=$(mktemp -d "$parent/loci-pg-XXXXXX")
server=
clean_up() {
    [ -z "$server" ] || kill -QUIT "$server" 2>/dev/null || true # At once, without a checkpoint.
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' TERM INT HUP
chmod 755 "$dir"
[ "$(id -u)" != 0 ] || chown postgres "$dir"
cd "$dir"

if [ -n "$primary" ]; then
    "${as_owner[@]}" "$bin/pg_basebackup" --pgdata="$dir/data" --host="$primary" --username=loci \
        --write-recovery-conf --checkpoint=fast --no-sync >initdb.log 2>&1 ||
        { cat initdb.log >&2; exit 1; }
else
    "${as_owner[@]}" "$bin/initdb" --pgdata="$dir/data" --username=loci --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >initdb.log 2>&1 ||
        { cat initdb.log >&2; exit 1; }
    cat >"$dir/data/pg_hba.conf" <<HBA
local all locked scram-sha-256
local all all trust
local replication loci trust
HBA
fi

start() {
    "${as_owner[@]}" "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= \
        -c max_connections=200 -c shared_buffers=64MB -c max_wal_size=1GB \
        "${settings[@]}" </dev/null >>"$dir/server.log" 2>&1 &
    server=$!
    for _ in $(seq 200); do
        "$bin/pg_isready" -q -h "$dir" && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    cat "$dir/server.log" >&2
    exit 1
}

start
[ -n "$primary" ] ||
    "$bin/psql" -q -h "$dir" -U loci -d postgres -c 'create database loci' \
        -c "create role locked login password 'right'"
echo "$dir"

# Commands, one a line: `kill` (as a crash), `stop`, `start` and `promote` the server.
while read -r command; do
    case $command in
    kill) kill -QUIT "$server"; wait "$server" 2>/dev/null || true; echo killed ;;
    stop) kill -INT "$server"; wait "$server" 2>/dev/null || true; echo stopped ;;
    start) start; echo started ;;
    promote) "${as_owner[@]}" "$bin/pg_ctl" promote -D "$dir/data" >/dev/null; echo promoted ;;
    *) echo "postgres.sh: unknown command $command" >&2 ;;
    esac
done
