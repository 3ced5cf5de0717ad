#!/bin/bash
# The daemon as a process: where it listens, who starts it, how it ends, and that what it answered
# outlives it.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
cd "$TMP" || exit 2
export LOCI_STORE=$TMP/a.db

# ---- Where it listens

run serve --listen 0.0.0.0:0 --no-socket
is "a public address without a token is refused" 1 "$RC"
has "and it says what to do" "loci token create" "$ERR"
run serve --listen nonsense --no-socket
is "an address that is none" 2 "$RC"
run serve --listen 127.0.0.1:99999 --no-socket
is "a port that is none" 2 "$RC"
has "and it shows one" "write 127.0.0.1:7077" "$ERR"
run serve --lisen 127.0.0.1:0
is "an option that is none" 2 "$RC"
run serve --token-file /nowhere/token
is "a token file that cannot be made" 1 "$RC"
echo loci_of_another_store >foreign.token
run serve --listen 127.0.0.1:0 --no-socket --token-file foreign.token
is "a token file of another store" 1 "$RC"
has "and it says what to do about it" "remove the file" "$ERR"
run serve --set server.connections_max=0
is "a limit out of its range" 1 "$RC"

mkdir -m 700 runtime
export XDG_RUNTIME_DIR=$TMP/runtime
launch --listen 127.0.0.1:0
unset XDG_RUNTIME_DIR
socket=$(sed -n 's/^  socket  //p' daemon.out)
has "without --socket it is in the runtime directory" "$TMP/runtime/loci/" "$socket"
is "in a directory of our own" 700 "$(stat -c %a "$TMP/runtime/loci")"
is "and for ourselves" 600 "$(stat -c %a "$socket")"
is "it answers there" 200 \
    "$(curl -sS -o /dev/null -w '%{http_code}' --unix-socket "$socket" http://localhost/v1/facts)"
stop INT
is "SIGINT ends it with 0" 0 "$RC"
is "its socket is gone" gone "$([ -e "$socket" ] || echo gone)"

# ---- The log

# A pipe without a reader has room for some 200 lines. A reader that comes later gets all lines that
# fitted, and the number of lost lines.
mkfifo log.pipe
exec 5<>log.pipe
rm -f daemon.out
"$LOCI" serve --listen 127.0.0.1:0 --no-socket --token-file "$TMP/token" --json \
    >daemon.out 2>log.pipe </dev/null 5>&- &
DAEMON=$!
wait_for 20 test -s daemon.out
URL=$(value "$(cat daemon.out)" address)
AUTH="Authorization: Bearer $(cat "$TMP/token")"
is "a log that nobody reads stalls no request" "3000 200" \
    "$(curl -sS --max-time 120 -o /dev/null -w '%{http_code}\n' "$URL/livez?n=[1-3000]" | sort |
        uniq -c | xargs)"
http GET /metrics
is "and what it cost is counted" yes \
    "$([ "$(sed -n 's/^loci_log_lost_total //p' <<<"$BODY")" -gt 0 ] && echo yes)"
cat <&5 >log.read &
reader=$!
wait_for 20 grep -q '"event":"log.lost"' log.read
stop TERM
is "it ends as usual" 0 "$RC"
wait_for 20 grep -q '"event":"server.stopped"' log.read
kill "$reader"
wait "$reader" 2>/dev/null
exec 5>&-
lines=$(grep -c '"event":"http.request"' log.read)
lost=$(sed -n 's/.*"event":"log.lost","fields":{"count":\([0-9]*\)}.*/\1/p' log.read |
    awk '{ sum += $1 } END { print sum }')
is "no line is missing that was not counted" 3001 "$((lines + lost))"

start
first_token=$TOKEN
is "the token file is for its owner only" 600 "$(stat -c %a "$TMP/token")"
run serve --listen "${URL#http://}" --no-socket
is "a port that is taken" 1 "$RC"
kill -KILL "$DAEMON"
wait "$DAEMON" 2>/dev/null
is "a killed daemon leaves its socket" there "$([ -e "$TMP/daemon.sock" ] && echo there)"
start
is "the next one takes it over, and keeps the token" "$first_token" "$TOKEN"
is "which still counts" 200 "$(http GET /v1/facts && echo "$STATUS")"
kill -HUP "$DAEMON"
is "SIGHUP changes nothing" 200 "$(http GET /v1/facts && echo "$STATUS")"
stop TERM
is "SIGTERM ends it with 0" 0 "$RC"
export LOCI_LISTEN=127.0.0.1:0
launch --no-socket
unset LOCI_LISTEN
has "LOCI_LISTEN says where" "http://127.0.0.1:" "$(cat daemon.out)"
lacks "without a socket there is none" socket "$(cat daemon.out)"
stop TERM
launch --listen 0.0.0.0:0 --no-socket
has "with a token a public address is fine" "http://0.0.0.0:" "$(cat daemon.out)"
stop TERM

# ---- Telling systemd

listen_for_systemd() { # NAME
    : >notified # Here, not in the background: what was bound before does not count.
    python3 - "$1" >notified <<'PY' &
import os, socket, sys
name = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0" + name[1:] if name[0] == "@" else name)
s.settimeout(30)
print("bound", flush=True)
for _ in range(2):
    print(s.recv(4096).decode().split("\n")[0], flush=True)
PY
    LISTENER=$!
    wait_for 10 grep -q bound notified
}
for name in "$TMP/notify" "@loci-test-$$"; do
    listen_for_systemd "$name"
    export NOTIFY_SOCKET=$name
    launch --listen 127.0.0.1:0 --no-socket
    unset NOTIFY_SOCKET
    wait_for 20 grep -q READY notified
    is "it says when it is ready" "READY=1" "$(sed -n 2p notified)"
    stop TERM
    wait "$LISTENER"
    is "and when it ends" "STOPPING=1" "$(sed -n 3p notified)"
done

# ---- Draining: what was accepted is answered; a second signal does not wait

start --set server.drain_ms=20000
exec 7<>"/dev/tcp/127.0.0.1/${URL##*:}"
printf 'POST /v1/facts HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\nContent-Length: 25\r\n\r\n' "$AUTH" >&7
sleep 0.3
kill -TERM "$DAEMON"
sleep 0.3
is "it waits for what was accepted" alive "$(kill -0 "$DAEMON" 2>/dev/null && echo alive)"
printf '{"key":"drained","value":1}'  | head -c 25 >&7
read -r -t 10 -u 7 answer
exec 7<&- 7>&-
has "and answers it" "HTTP/1.1 400" "$answer"
wait "$DAEMON"
is "then it ends with 0" 0 "$?"

start --set server.drain_ms=20000
exec 7<>"/dev/tcp/127.0.0.1/${URL##*:}"
printf 'POST /v1/facts HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\nContent-Length: 25\r\n\r\n' "$AUTH" >&7
sleep 0.3
kill -TERM "$DAEMON"
sleep 0.3
stop TERM
is "the second signal ends it at once" 143 "$RC"
exec 7<&- 7>&-

# ---- Each answered write is in the store, whenever the signal came

start
cat >writer.py <<'PY'
import http.client, json, sys, threading
host, token, out = sys.argv[1], sys.argv[2], open(sys.argv[3], "w")
lock = threading.Lock()
def write(number):
    connection = http.client.HTTPConnection(host, timeout=20)
    for i in range(100000):
        key = "drain-%d-%d" % (number, i)
        try:
            connection.request("POST", "/v1/facts", json.dumps({"key": key, "value": i}),
                               {"Authorization": "Bearer " + token})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return
        with lock:
            out.write("%d %s\n" % (answer.status, json.loads(body).get("id", "-")))
        if answer.will_close:
            return
threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
PY
"$PYTHON" writer.py "${URL#http://}" "$TOKEN" answers &
writer=$!
sleep 2
stop TERM
is "a busy daemon ends with 0" 0 "$RC"
wait "$writer"
grep '^200 ' answers | cut -d' ' -f2 | sort >acked
is "it was busy" yes "$([ "$(wc -l <acked)" -gt 100 ] && echo yes)"
is "nothing but success was answered" "" "$(grep -v '^200 ' answers | head -3)"
run call store.export '{"path":"all.ndjson","force":true}'
grep -o 'fact_[0-9A-Z]\{26\}' all.ndjson | sort -u >stored
is "every acknowledged write is in the store" "" "$(comm -23 acked stored | head -3)"
run verify
is "which is whole" 0 "$RC"

# ---- Sessions

# A restart does not end sessions, unless session.close_on_shutdown is on.
launch --listen 127.0.0.1:0
run call session.open '{"external_id":"over-restarts","user_id":"sessions"}'
stop TERM
run call session.get '{"session_id":"over-restarts","user_id":"sessions"}'
is "a session outlives the daemon" active "$(value "$OUT" state)"
launch --listen 127.0.0.1:0 --set session.close_on_shutdown=true
stop TERM
run call session.get '{"session_id":"over-restarts","user_id":"sessions"}'
is "unless the daemon is to close it" "ended shutdown" \
    "$(value "$OUT" state) $(value "$OUT" end_reason)"

# ---- Secrets in memory ---------------------------------------------------------------------------
# The kernel gives the files of a process that leaves no core to root; root's are always root's.
as_other=()
other=$(mktemp -d)
chmod 755 "$other"
cp "$LOCI" "$other/loci"
if [ "$(id -u)" = 0 ]; then
    as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chown -R 65534:65534 "$other"
fi
# owner [FLAG] - of the files of a daemon that is not root's.
owner() {
    "${as_other[@]}" env HOME="$other" "$other/loci" serve --store "$other/a.db" \
        --listen 127.0.0.1:0 --no-socket --token-file "$other/token" --json "$@" \
        >"$TMP/other.out" 2>/dev/null &
    DAEMON=$!
    wait_for 20 test -s "$TMP/other.out"
    OWNER=$(stat -c %u "/proc/$DAEMON/environ")
    stop
    rm -f "$TMP/other.out"
}
owner
is "no core shows tokens" 0 "$OWNER"
owner --core-dumps
isnt "unless that is asked for" 0 "$OWNER"
rm -rf "$other"

# ---- A store without a token: how to get in ------------------------------------------------------
launch --store "$TMP/new.db" --listen 127.0.0.1:0 --socket "$TMP/new.sock"
said=$(cat "$TMP/daemon.out")
URL=$(sed -n 's/.*listening on //p' "$TMP/daemon.out")
has "the command that makes a token" \
    "loci --store '$TMP/new.db' token create NAME --scopes read,write" "$said"
has "and the socket that needs none" "curl --unix-socket '$TMP/new.sock' http://localhost/" "$said"
ask GET /v1/facts
is "no token is 401" 401 "$STATUS"
has "which says how to get one" "loci token create NAME" "$BODY"
lacks "and not where the store is" "$TMP" "$BODY"
is "the socket works" 200 "$(curl -sS --unix-socket "$TMP/new.sock" -o /dev/null \
    -w '%{http_code}' http://localhost/v1/facts)"
TOKEN=$("$LOCI" --store "$TMP/new.db" token create NAME --scopes read,write --json)
AUTH="Authorization: Bearer $(value "$TOKEN" token)" http GET /v1/facts
is "so does the token" 200 "$STATUS"
stop
launch --store "$TMP/new.db" --listen 127.0.0.1:0 --socket "$TMP/new.sock"
lacks "with a token nothing is said" "none yet" "$(cat "$TMP/daemon.out")"
stop
finish
