#!/bin/bash
# `loci events`: the log as it is, and as it grows, whichever process writes.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db
for i in $(seq 25); do
    printf '{"op":"fact.write","args":{"key":"k%s","value":%s}}\n' "$i" "$i"
done | "$LOCI" batch >/dev/null

run events
is "without options the last twenty" 20 "$(printf '%s\n' "$OUT" | wc -l)"
has "the newest is last" "k25" "$(line "$OUT" 20)"
has "and it says that there are more" "--after 0" "$ERR"
run events --after 0
is "all of them" 25 "$(printf '%s\n' "$OUT" | wc -l)"
run events --after 23 --json
is "after a seq" "24 25" "$(printf '%s\n' "$OUT" | python3 -c '
import json, sys
print(*[json.loads(line)["seq"] for line in sys.stdin])')"
run events --type no.such.type
is "of a type that there is none of" "" "$OUT"
run events --after 0 --type fact.written
is "of a type" 25 "$(printf '%s\n' "$OUT" | wc -l)"
run call session.append '{"session_id":"chat-1","role":"user","text":"One."}' --user cleo
run call session.append '{"session_id":"chat-2","role":"user","text":"Two."}' --user cleo
run call fact.write '{"session_id":"chat-1","key":"a","value":1}' --user cleo
run call session.close '{"session_id":"chat-1"}' --user cleo
types() { python3 -c '
import json, sys
print(*[json.loads(line)["type"] for line in sys.stdin])'; }
run events --user cleo --session chat-1 --json \
    --type session.opened,session.message,fact.written,session.ended
is "of a session, by its name" "session.opened session.message fact.written session.ended" \
    "$(printf '%s\n' "$OUT" | types)"
session=$(printf '%s\n' "$OUT" | head -1 | python3 -c 'import json, sys
print(json.load(sys.stdin)["refs"]["id"])')
run events --user cleo --session "$session" --type session.message
has "and by its id" "One." "$OUT"
lacks "not those of others" "Two." "$OUT"
run events --session chat-1
is "a session of somebody else" "1" "$RC"
has "says so" "no session chat-1" "$ERR"
run events -f --all-users --session chat-1
is "a session has one user" 2 "$RC"
run events --user nobody
is "of a user without any" "0:" "$RC:$OUT"
run events --after -3
is "a seq that is none" 2 "$RC"
run events --all-users
is "all users need -f" 2 "$RC"
run events --store "$TMP/none.db"
is "a store that is not there" 1 "$RC"

# ---- Following ----------------------------------------------------------------------------------
# shellcheck disable=SC2317 # Called through the function that waits.
count_is() { [ "$(wc -l <"$1")" = "$2" ]; }
"$LOCI" events -f --json >"$TMP/follow" 2>"$TMP/follow.err" &
follower=$!
"$LOCI" events -f --after 20 --json >"$TMP/from20" 2>/dev/null &
from20=$!
"$LOCI" events -f --user ada --json >"$TMP/ada" 2>/dev/null &
ada=$!
"$LOCI" events -f --all-users --json >"$TMP/all" 2>/dev/null &
all=$!
"$LOCI" events -f --user cleo --session chat-2 --json >"$TMP/chat" 2>/dev/null &
chat=$!
wait_for 10 count_is "$TMP/from20" 5
is "what was there comes first" 5 "$(wc -l <"$TMP/from20")"
sleep 0.5 # So that those who want only new events have begun.
for i in $(seq 5); do run fact write "new$i" "$i"; done
run fact write hers 1 --user ada
run call session.append '{"session_id":"chat-3","role":"user","text":"Three."}' --user cleo
run call session.append '{"session_id":"chat-2","role":"user","text":"Four."}' --user cleo
wait_for 10 count_is "$TMP/chat" 1
has "one session is followed" "Four." "$(cat "$TMP/chat")"
wait_for 10 count_is "$TMP/follow" 5
is "another process's writes are seen, each once" "26 27 28 29 30" \
    "$(python3 -c '
import json, sys
print(*[json.loads(line)["seq"] for line in open(sys.argv[1])])' "$TMP/follow")"
wait_for 10 count_is "$TMP/from20" 10
is "none missed, none twice" "21 22 23 24 25 26 27 28 29 30" \
    "$(python3 -c '
import json, sys
print(*[json.loads(line)["seq"] for line in open(sys.argv[1])])' "$TMP/from20")"
wait_for 10 count_is "$TMP/ada" 1
is "a user's stream is that user's" 1 "$(wc -l <"$TMP/ada")"
wait_for 10 count_is "$TMP/all" 9
is "all users' stream has all" 9 "$(wc -l <"$TMP/all")" # The session chat-3 is opened, too.
for pid in $follower $from20 $ada $all $chat; do
    kill -INT "$pid"
    wait "$pid"
    is "a signal ends it cleanly" 0 "$?"
done
is "and quietly" "" "$(cat "$TMP/follow.err")"
(timeout 20 "$LOCI" events -f --after 0; echo $? >"$TMP/rc") | head -3 >/dev/null &
sleep 0.3
run fact write wake up
wait_for 10 test -s "$TMP/rc"
isnt "a closed pipe ends it, too" 124 "$(cat "$TMP/rc" 2>/dev/null || echo 124)"
finish
