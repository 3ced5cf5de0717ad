#!/usr/bin/env bash
# The program and the daemon on a PostgreSQL server: what works with a file works there too.
set -u
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$here/serve_lib.sh"

coproc SERVER { exec "$here/../lib/postgres.sh" 2>/dev/null; }
read -r dir <&"${SERVER[0]}"
url="postgresql://loci:hush@/loci?host=$dir"
server() { echo "$1" >&"${SERVER[1]}"; read -r _ <&"${SERVER[0]}"; }

run fact list --store "$url"
has "a server without a store has none" "there is no store" "$ERR"
lacks "no password is said" hush "$OUT$ERR"
run init --store "$url"
is "init makes one" 0 "$RC"
has "and says so" "Created the store" "$OUT"
lacks "without the password" hush "$OUT$ERR"
run init --store "$url"
has "twice is harmless" "exists already" "$OUT"

export LOCI_STORE=$url
run fact write city Oslo
is "a fact is written" 0 "$RC"
run fact write city Bergen
run fact current city --json
has "and read" '"Bergen"' "$OUT"
run status
has "status names the driver" postgresql "$OUT"
lacks "and no password" hush "$OUT"
run doctor
is "the doctor is content" 0 "$RC"
lacks "and says no password" hush "$OUT$ERR"
run rebuild
is "it can be rebuilt" 0 "$RC"
run verify
is "and is sound" 0 "$RC"
run backup "$TMP/backup.db"
isnt "a backup is the server's affair" 0 "$RC"
has "which is said" pg_dump "$ERR"
unset LOCI_STORE

# There and back.
run migrate --from "$url" --to "$TMP/file.db"
is "a server moves into a file" 0 "$RC"
lacks "no password is said" hush "$OUT$ERR"
run fact history city --store "$TMP/file.db" --json
has "with its history" Oslo "$OUT"
second="postgresql://loci@/loci?host=$dir&options=-csearch_path%3Dsecond"
/usr/lib/postgresql/15/bin/psql -q -h "$dir" -U loci loci -c 'create schema second'
run migrate --from "$TMP/file.db" --to "$second"
is "and back" 0 "$RC"
run migrate --from "$TMP/file.db" --to "$second" --json
is "twice is harmless" '{"equal":true}' "$OUT"
run fact write city Narvik --store "$second"
run migrate --from "$TMP/file.db" --to "$second"
isnt "a store that holds more is not the same" 0 "$RC"
run migrate --from "$TMP/none.db" --to "$second"
has "there must be something to move" "there is no store" "$ERR"

# The daemon, whose server comes late, goes and comes back.
server stop
"$LOCI" serve --store "$url" --listen 127.0.0.1:0 --no-socket --token-file "$TMP/token" --json \
    >"$TMP/daemon.out" 2>"$TMP/daemon.log" </dev/null &
DAEMON=$!
wait_for 20 grep -q store.unavailable "$TMP/daemon.log"
is "it waits for its server" 0 "$(kill -0 "$DAEMON" 2>/dev/null; echo $?)"
server start
wait_for 20 test -s "$TMP/daemon.out"
URL=$(value "$(cat "$TMP/daemon.out")" address)
AUTH="Authorization: Bearer $(cat "$TMP/token")"
call fact.write '{"key":"k","value":1}'
is "then it serves" 200 "$STATUS"
LOCI_TOKEN=$(cat "$TMP/token") "$LOCI" export --url "$URL" >"$TMP/streamed.jsonl"
is "an export over HTTP" 0 "$?"
run export "$TMP/local.jsonl" --store "$url"
is "is that of the store" "$(md5sum <"$TMP/local.jsonl")" "$(md5sum <"$TMP/streamed.jsonl")"
server kill
call fact.write '{"key":"k","value":2}'
is "a server that is gone is unavailable" 503 "$STATUS"
call fact.current '{"key":"k"}'
is "to readers, too" 503 "$STATUS"
server start
call fact.write '{"key":"k","value":3}'
is "and when it is back all goes on" 200 "$STATUS"
call fact.current '{"key":"k"}'
has "with what was acked" '"value":3' "$BODY"

# A server that neither answers nor goes: the daemon's loop does not wait for it.
postmaster=$(head -1 "$dir/data/postmaster.pid")
mapfile -t backends < <(pgrep -P "$postmaster")
curl -sN --max-time 30 -H "$AUTH" "$URL/v1/events?stream=1&user_id=default&heartbeat_ms=100" \
    >"$TMP/stream" &
stream=$!
sleep 1.1 # The token is no longer cached.
call fact.write '{"key":"k","value":4}'
sleep 1.1
kill -STOP "$postmaster" "${backends[@]}"
for _ in 1 2 3; do
    curl -s --max-time 20 -o /dev/null -H "$AUTH" "$URL/v1/facts" &
    stalled+=($!)
    curl -s --max-time 20 -o "$TMP/ready" "$URL/readyz" &
    stalled+=($!)
done
sleep 0.2
slowest=0
for _ in $(seq 20); do
    ms=$(curl -s --max-time 20 -o /dev/null -w "%{time_total}" "$URL/livez" |
        tr -d . | sed "s/^0*//")
    [ "${ms:-0}" -le "$slowest" ] || slowest=$ms
    sleep 0.05
done
is "it answers while its server is stalled" yes \
    "$([ "$slowest" -lt 300000 ] && echo yes || echo "$slowest us")"
ask POST /v1/facts -H "Authorization: Bearer $(tr 'a-m' 'b-n' <"$TMP/token")" -d '{}'
is "and refuses tokens that nobody made" 401 "$STATUS"
kill -CONT "$postmaster" "${backends[@]}"
wait "${stalled[@]}"
json "what asks the store is answered in the end" "$(cat "$TMP/ready")"
call fact.write '{"key":"k","value":5}'
is "and then all goes on" 200 "$STATUS"
wait_for 10 grep -q '"value":5' "$TMP/stream"
has "streams, too" '"value":5' "$(cat "$TMP/stream")"
kill "$stream"
stop
is "it ends" 0 "$RC"
lacks "no record holds the password" hush "$(cat "$TMP/daemon.log" "$TMP/daemon.out")"
finish
