#!/usr/bin/env bash
# An import that is interrupted leaves nothing, or says exactly what it left and how to go on; doing
# so ends with the same store as an import that was not interrupted. With a file and a server.
set -u
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"

coproc SERVER { exec "$here/../lib/postgres.sh" 2>/dev/null; }
read -r dir <&"${SERVER[0]}"
psql() { /usr/lib/postgresql/15/bin/psql -q -h "$dir" -U loci loci "$@"; }

# 24 users with 1,000 memories each: the import takes more than a second and many transactions.
USERS=24
TOTAL=$((USERS * 1000))
for i in $(seq 1000); do
    echo "- Person $i lives in town $((i * 7)) and likes tea $((i % 90))."
done >"$TMP/notes.md"
for user in $(seq "$USERS"); do
    "$LOCI" import "$TMP/notes.md" --user "u$user" --store "$TMP/source.db" -q >/dev/null
done
run export "$TMP/export.jsonl" --store "$TMP/source.db"
is "the export has all events" "$TOTAL" "$(value "$("$LOCI" call store.status --store \
    "$TMP/source.db")" events)"

events() {
    "$LOCI" call store.status --store "$S" 2>/dev/null | sed 's/.*"events":\([0-9]*\).*/\1/'
}
# shellcheck disable=SC2317 # wait_for calls it.
# at_least N - the store has N events; for wait_for.
at_least() { [ "$(events)" -ge "$1" ]; } 2>/dev/null

# new_store KIND - S is a new, empty store.
new_store() {
    if [ "$1" = sqlite ]; then
        S=$TMP/into.db
        rm -f "$S" "$S"-*
    else
        psql -c 'drop schema if exists cut cascade; create schema cut' 2>/dev/null
        S="postgresql://loci@/loci?host=$dir&options=-csearch_path%3Dcut"
    fi
    "$LOCI" init -q --store "$S"
}

# cut SIGNAL N - starts the import of the export, stops it when N events are in the store, and sends
# SIGNAL. Sets RC and ERR, and HAD to the number of events at that moment.
cut() {
    "$LOCI" import "$TMP/export.jsonl" --store "$S" >"$TMP/out" 2>"$TMP/err" &
    local pid=$!
    wait_for 60 at_least "$2"
    kill -STOP "$pid"
    HAD=$(events)
    kill "-$1" "$pid"
    kill -CONT "$pid"
    wait "$pid" 2>/dev/null
    RC=$?
    ERR=$(cat "$TMP/err")
}

# same NAME - S has the events of the source, and its log agrees with its tables.
same() {
    "$LOCI" export - -q --store "$S" >"$TMP/result.jsonl"
    is "$1: the same as without an interruption" \
        "$(grep '"seq":' "$TMP/export.jsonl" | sort | sha256sum)" \
        "$(grep '"seq":' "$TMP/result.jsonl" | sort | sha256sum)"
    run verify --store "$S"
    is "$1: verifies" 0 "$RC"
}

for kind in sqlite postgresql; do
    for at in 1 8000; do
        new_store "$kind"
        cut INT "$at"
        is "$kind, $at, SIGINT: it was in the middle" yes "$([ "$HAD" -lt "$TOTAL" ] && echo yes)"
        is "$kind, $at, SIGINT: the exit code" 130 "$RC"
        left=$(events)
        has "$kind, $at, SIGINT: says what is there" \
            "$left of $TOTAL events are in the store" "$ERR"
        has "$kind, $at, SIGINT: says how to go on" "import the same file again" "$ERR"
        run import "$TMP/export.jsonl" --store "$S" --json
        is "$kind, $at, SIGINT: the advice works" "0 $left" "$RC $(value "$OUT" skipped)"
        same "$kind, $at, SIGINT"
    done
    new_store "$kind"
    cut KILL 8000
    is "$kind, SIGKILL: it was in the middle" yes "$([ "$HAD" -lt "$TOTAL" ] && echo yes)"
    run import "$TMP/export.jsonl" --store "$S"
    is "$kind, SIGKILL: the same command goes on" 0 "$RC"
    same "$kind, SIGKILL"

    # While the input is read from a pipe, nothing has been written.
    for format in export.jsonl notes.md; do
        new_store "$kind"
        rm -f "$TMP/pipe"
        mkfifo "$TMP/pipe"
        "$LOCI" import - --store "$S" <"$TMP/pipe" >"$TMP/out" 2>"$TMP/err" &
        pid=$!
        exec 7>"$TMP/pipe"
        # More than fits into the pipe: when this is written, the program reads and handles signals.
        cat "$TMP/$format" "$TMP/$format" "$TMP/$format" | head -c 150000 >&7
        kill -INT "$pid"
        wait "$pid"
        is "$kind, $format from a pipe, SIGINT: the exit code" 130 "$?"
        exec 7>&-
        has "$kind, $format from a pipe: says so" "nothing was changed" "$(cat "$TMP/err")"
        is "$kind, $format from a pipe: nothing is left" 0 "$(events)"
    done

    # Notes are one transaction: all or nothing, whenever it is killed.
    for pause in 0.01 0.03 0.06; do
        new_store "$kind"
        "$LOCI" import "$TMP/notes.md" --store "$S" >/dev/null 2>&1 &
        pid=$!
        sleep "$pause"
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        left=$(events)
        has "$kind, notes, killed: nothing or all" " $left " " 0 1000 "
        run import "$TMP/notes.md" --store "$S" --json
        is "$kind, notes, killed: again has all" 1000 \
            "$("$LOCI" memory list --store "$S" --limit 1000 --json | grep -o '"id":"mem_' | wc -l)"
    done
done
finish
