#!/bin/bash
# /v1/events as a stream: its events, its permissions and its start position. A reader gets each
# event exactly once, from any writer and however often the reader reconnects.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
start --store "$TMP/a.db"

# follow NAME PATH [CURL-ARGUMENT…] - a stream into $TMP/NAME until it is ended; sets FOLLOWER.
follow() {
    curl -sSN --max-time 60 -H "$AUTH" -H 'Accept: text/event-stream' -D "$TMP/$1.headers" \
        "${@:3}" "$URL$2" >"$TMP/$1" 2>/dev/null &
    FOLLOWER=$!
    wait_for 10 test -s "$TMP/$1" || fail "the stream $1 begins"
}
end() {
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}
said() { grep -qF -- "$2" "$TMP/$1"; }
count() { grep -c -- "$2" "$TMP/$1"; }
# shellcheck disable=SC2317 # Called by wait_for.
has_count() { [ "$(count "$1" "$2")" -ge "$3" ]; }
write() { call fact.write "{\"key\":\"$2\",\"value\":$3,\"user_id\":\"$1\"}"; }
# refused PATH [CURL-ARGUMENT…] - requests a stream that the daemon refuses.
refused() { http GET "$1" -H 'Accept: text/event-stream' "${@:2}"; }

# ---- One user ------------------------------------------------------------------------------------
for i in 1 2 3; do write ada "k$i" "$i"; done
follow replay "/v1/events?user_id=ada&after_seq=0"
replay=$FOLLOWER
wait_for 10 said replay "id: 3"
is "it is a stream" "text/event-stream" \
    "$(sed -n 's/\r$//; s/^[Cc]ontent-[Tt]ype: //p' "$TMP/replay.headers")"
is "how long to wait before coming back" "retry: 1000" "$(head -1 "$TMP/replay")"
is "what was there comes first, in order" "id: 1 id: 2 id: 3" "$(grep '^id:' "$TMP/replay" | xargs)"
is "an event is named by its type" 3 "$(count replay '^event: fact.written$')"
json "data is the event, on one line" "$(sed -n 's/^data: //p' "$TMP/replay")"
is "and says whose it is" '"ada"' "$(sed -n 's/^data: //p' "$TMP/replay" | head -1 | python3 -c '
import json, sys
print(json.dumps(json.load(sys.stdin)["user_id"]))')"
write ada k4 4
write bob k1 1
wait_for 10 said replay "id: 4"
is "what is new follows" 4 "$(count replay '^id:')"
lacks "and nothing of anybody else" '"bob"' "$(cat "$TMP/replay")"
end "$replay"

# ---- One session ---------------------------------------------------------------------------------
say() {
    call session.append "{\"session_id\":\"$1\",\"role\":\"user\",\"text\":\"$2\",
        \"user_id\":\"zoe\"}"
}
say chat-1 "First."
session=$(value "$BODY" session_id)
say chat-2 "Other."
follow chat "/v1/events?user_id=zoe&session_id=chat-1&after_seq=0"
chat=$FOLLOWER
follow same "/v1/events?user_id=zoe&session_id=chat-2&after_seq=0"
same=$FOLLOWER
follow byid "/v1/events?user_id=zoe&session_id=$session&types=session.message"
byid=$FOLLOWER
say chat-2 "Another."
say chat-1 "Second."
wait_for 10 said chat "Second."
is "a stream of one session has its messages" 2 "$(count chat '^event: session.message$')"
is "and its opening" 1 "$(count chat '^event: session.opened$')"
lacks "and no other session's" "ther." "$(cat "$TMP/chat")"
wait_for 10 said same "Another."
is "two sessions do not share their pages" 2 "$(count same '^event: session.message$')"
wait_for 10 said byid "Second."
is "by its id, new messages only" 1 "$(count byid '^id:')"
for pid in $chat $same $byid; do end "$pid"; done
http GET "/v1/events?user_id=zoe&session_id=chat-2&type=session.message"
is "a page of one session" 200 "$STATUS"
has "has its messages" "Another." "$BODY"
lacks "and no others" "Second." "$BODY"
refused "/v1/events?user_id=zoe&session_id=chat-9"
is "a session that is not there" 404 "$STATUS"
has "is named" "no session chat-9" "$BODY"

follow fresh "/v1/events?user_id=ada"
fresh=$FOLLOWER
write ada k5 5
wait_for 10 said fresh "id: 5"
is "without a place only what is new" "id: 5" "$(grep '^id:' "$TMP/fresh" | xargs)"
end "$fresh"

follow back "/v1/events?user_id=ada&after_seq=0" -H 'Last-Event-ID: 3'
back=$FOLLOWER
wait_for 10 said back "id: 5"
is "the header outranks the query" "id: 4 id: 5" "$(grep '^id:' "$TMP/back" | xargs)"
end "$back"

follow query "/v1/events?user_id=ada&after_seq=4&stream=1" -H 'Accept: */*'
query=$FOLLOWER
wait_for 10 said query "id: 5"
is "a stream can be asked for without a header" "id: 5" "$(grep '^id:' "$TMP/query" | xargs)"
end "$query"

# A value full of line breaks is still one line, and no field of its own.
call fact.write '{"key":"evil","value":"a\n\nid: 99\nevent: reset\ndata: x\r","user_id":"eve"}'
follow evil "/v1/events?user_id=eve&after_seq=0"
evil=$FOLLOWER
wait_for 10 said evil "id: 1"
is "no text of a user is a field" "retry: 1000 id: 1 event: fact.written" \
    "$(grep -v '^data: {' "$TMP/evil" | xargs)"
end "$evil"

# ---- Filters and heartbeats ----------------------------------------------------------------------
follow none "/v1/events?user_id=ada&after_seq=0&types=no.such,other&heartbeat_ms=100"
none=$FOLLOWER
wait_for 10 said none ": hb"
sleep 1
is "types that nothing has" 0 "$(count none '^id:')"
beats=$(count none '^: hb')
is "a silent stream says that it lives, not too often" yes \
    "$([ "$beats" -ge 2 ] && [ "$beats" -le 20 ] && echo yes || echo "$beats times")"
end "$none"
follow some "/v1/events?user_id=ada&after_seq=0&types=no.such,%20fact.written"
some=$FOLLOWER
wait_for 10 said some "id: 5"
is "types that something has" 5 "$(count some '^id:')"
end "$some"

# ---- All users -----------------------------------------------------------------------------------
follow all "/v1/events"
all=$FOLLOWER
follow again "/v1/events" -H 'Last-Event-ID: 7'
again=$FOLLOWER
write ada k6 6
write bob k2 2
write new k1 1
for name in all again; do wait_for 10 has_count "$name" '^data: {"user_id"' 3; done
is "all users, live" 3 "$(count all '^data: {"user_id"')"
is "without ids" 0 "$(count all '^id:')"
is "who comes for the first time is not told to begin anew" 0 "$(count all '^event: reset')"
is "who comes back is" "event: reset" "$(grep '^event:' "$TMP/again" | head -1)"
end "$all"
end "$again"

# A reader that does not read: large events fill what the system holds for it, and then more users
# write than the feed of the daemon has room for. It is told that it missed some.
follow lag "/v1/events"
lag=$FOLLOWER
kill -STOP "$lag"
python3 -c '
import json
def write(user, key, value):
    print(json.dumps({"op": "fact.write", "args": {"key": key, "value": value, "user_id": user}}))
for i in range(24):
    write("lag", "large", str(i) + "x" * 700000)
for i in range(4500):
    write("lag%d" % i, "small", i)' | "$LOCI" batch --store "$TMP/a.db" >/dev/null
kill -CONT "$lag"
wait_for 20 said lag "event: reset"
is "a slow reader is told" yes "$(said lag 'event: reset' && echo yes)"
end "$lag"

# ---- Wrong ---------------------------------------------------------------------------------------
for path in "/v1/events?user_id=ada&after_seq=x" "/v1/events?user_id=ada&after_seq=-1" \
    "/v1/events?user_id=" "/v1/events?user_id=a%00b" "/v1/events?user_id=a%0Ab" \
    "/v1/events?types=A%20B" "/v1/events?types=" "/v1/events?after_seq=3" \
    "/v1/events?heartbeat_ms=99" "/v1/events?heartbeat_ms=x" \
    "/v1/events?limit=3" "/v1/events?user_id=a&user_id=b"; do
    refused "$path"
    is "bad request: $path" 400 "$STATUS"
    json "with a reason" "$BODY"
done
refused "/v1/events?user_id=ada" -H 'Last-Event-ID: abc'
is "a bad Last-Event-ID" 400 "$STATUS"
has "is named" "Last-Event-ID" "$BODY"
refused "/v1/events?limit=3"
has "what is not taken is named" "limit" "$BODY"
ask GET "/v1/events" -H 'Accept: text/event-stream'
is "nobody gets nothing" 401 "$STATUS"

# ---- Narrowed to a user --------------------------------------------------------------------------
call token.create '{"name":"bob","user_id":"bob","scopes":["read"]}'
narrow="Authorization: Bearer $(value "$BODY" token)"
AUTH=$narrow follow own "/v1/events?after_seq=0"
own=$FOLLOWER
wait_for 10 said own "id: 2"
is "a narrowed caller gets its own" "id: 1 id: 2" "$(grep '^id:' "$TMP/own" | xargs)"
lacks "and nothing else" '"ada"' "$(cat "$TMP/own")"
end "$own"
AUTH=$narrow refused "/v1/events?user_id=ada"
is "another user is not there" 404 "$STATUS"

# ---- Many writers, several processes, readers that come and go -----------------------------------
writers=4
each=40
for w in $(seq "$writers"); do
    (
        for i in $(seq "$each"); do
            printf '{"op":"fact.write","args":{"key":"w%s","value":%s,"user_id":"busy"}}\n' \
                "$w" "$i"
        done | "$LOCI" batch --store "$TMP/a.db" >/dev/null
    ) &
    pids="${pids:-} $!"
done
for w in 5 6; do
    (
        for i in $(seq "$each"); do
            curl -sS -H "$AUTH" -o /dev/null "$URL/v1/call/fact.write" \
                -d "{\"key\":\"w$w\",\"value\":$i,\"user_id\":\"busy\"}"
        done
    ) &
    pids="$pids $!"
done
total=$(((writers + 2) * each))
follow steady "/v1/events?user_id=busy&after_seq=0"
steady=$FOLLOWER
# Another one is cut again and again, and goes on where it was.
: >"$TMP/restless"
last=0
for _ in $(seq 200); do
    timeout 0.4 curl -sSN -H "$AUTH" -H 'Accept: text/event-stream' -H "Last-Event-ID: $last" \
        "$URL/v1/events?user_id=busy&after_seq=0" 2>/dev/null >"$TMP/part"
    # Only what has come whole counts, as for an EventSource.
    python3 -c '
import sys
text = open(sys.argv[1]).read()
blocks = text.split("\n\n")[:-1]
for block in blocks:
    for line in block.split("\n"):
        if line.startswith("id: "):
            print(line[4:])' "$TMP/part" >>"$TMP/restless"
    last=$(tail -1 "$TMP/restless")
    last=${last:-0}
    [ "$last" = "$total" ] && break
done
# shellcheck disable=SC2086 # A list.
wait $pids
wait_for 20 said steady "id: $total"
seq "$total" >"$TMP/expected"
is "none missed, none twice, in order" "" \
    "$(sed -n 's/^id: //p' "$TMP/steady" | diff - "$TMP/expected" | head -5)"
is "nor by who was cut" "" "$(diff "$TMP/restless" "$TMP/expected" | head -5)"

# A large event comes whole.
python3 -c 'import json
print(json.dumps({"key": "big", "value": "x" * 900000, "user_id": "big"}))' >"$TMP/big.json"
call fact.write "@$TMP/big.json"
follow big "/v1/events?user_id=big&after_seq=0"
big=$FOLLOWER
is_large() { [ "$(stat -c %s "$1")" -gt 900000 ]; }
wait_for 10 is_large "$TMP/big"
is "a large event comes whole" yes "$(is_large "$TMP/big" && echo yes)"
end "$big"

# ---- Tokens --------------------------------------------------------------------------------------
# A stream ends with its token: within a second, with a reason, and the daemon closes it.
# token NAME [MEMBERS] - sets AUTH to a new one, and ID.
token() {
    call token.create "{\"name\":\"$1\",\"scopes\":[\"read\"]${2:-}}"
    ID=$(value "$BODY" id)
    AUTH="Authorization: Bearer $(value "$BODY" token)"
}
# ended FOLLOWER - how long until it ended by itself, in ms, at most 3 s.
ended() {
    local since=$(($(date +%s%N) / 1000000))
    for _ in $(seq 300); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.01
    done
    echo $(($(date +%s%N) / 1000000 - since))
}
admin=$AUTH
token revoked
revoked_id=$ID
follow revoked "/v1/events?user_id=ada"
revoked=$FOLLOWER
AUTH=$admin
token expiring ',"ttl_s":2'
follow expiring "/v1/events?user_id=ada"
expiring=$FOLLOWER
AUTH=$admin
token elsewhere
elsewhere_id=$ID
follow elsewhere "/v1/events"
elsewhere=$FOLLOWER
AUTH=$admin
token kept
follow kept "/v1/events?user_id=ada&heartbeat_ms=100"
kept=$FOLLOWER
AUTH=$admin
call token.revoke "{\"id\":\"$revoked_id\"}"
took=$(ended "$revoked")
is "a stream ends within a second of the revocation" yes \
    "$([ "$took" -lt 1000 ] && echo yes || echo "$took ms")"
has "and says why" 'data: {"reason":"token_revoked"}' "$(tail -2 "$TMP/revoked")"
wait "$revoked"
is "the connection is closed properly" 0 "$?"
"$LOCI" token revoke "$elsewhere_id" --store "$TMP/a.db" >/dev/null
took=$(ended "$elsewhere")
is "also when another process revokes" yes \
    "$([ "$took" -lt 1000 ] && echo yes || echo "$took ms")"
has "with the reason" 'token_revoked' "$(tail -2 "$TMP/elsewhere")"
took=$(ended "$expiring")
is "a stream ends when its token expires" yes \
    "$([ "$took" -lt 3000 ] && echo yes || echo "$took ms")"
has "and says that" 'data: {"reason":"token_expired"}' "$(tail -2 "$TMP/expiring")"
is "streams of other tokens stay" yes "$(kill -0 "$kept" && echo yes)"
end "$kept"

# ---- The end -------------------------------------------------------------------------------------
stop
is "the daemon ends although streams are open" 0 "$RC"
wait "$steady"
is "and ends them cleanly" 0 "$?"
finish
