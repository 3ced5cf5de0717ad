#!/bin/bash
# The API over HTTP: every operation by name and by its route, with the same JSON as the command
# line; errors, batches, repeats, methods.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
cd "$TMP" || exit 2
run config set store.transfer_dir "$TMP" --store "$TMP/a.db"
start --store "$TMP/a.db"

# ---- Without credentials

for path in /livez /readyz /healthz; do
    ask GET "$path"
    is "$path needs no token" 200 "$STATUS"
    ask HEAD "$path"
    is "$path takes HEAD" 200 "$STATUS"
done
is "ready is said in JSON" true "$(ask GET /readyz && value "$BODY" ready)"
ask GET /v1/facts
is "a call without a token" 401 "$STATUS"
is "is unauthenticated" unauthenticated "$(value "$BODY" code)"
has "and told how to come back" "Bearer" "$HEADERS"
ask POST /v1/call/fact.list -H 'Authorization: Bearer loci_wrong'
is "a wrong token" 401 "$STATUS"

# ---- Every operation, by name and by its route, beside the command line on the same store

call op.list '{}'
is "op.list" 200 "$STATUS"
json "its answer is JSON" "$BODY"
printf '%s' "$BODY" >operations.json

# One line per operation: name, method, path and query, body, example; made from the example.
python3 - operations.json >routes.tsv <<'PY'
import json, re, sys, urllib.parse
def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)
for op in json.load(open(sys.argv[1]))["operations"]:
    example = op.get("example") or {}
    if isinstance(example, str):
        example = json.loads(example)
    method, path, rest = "-", "-", dict(example)
    if op.get("http"):
        method, path = op["http"].split(" ")
        for name in re.findall(r"{(\w+)}", path):
            if name == "session_id": # Optional: the open session.
                rest.setdefault(name, "current")
            path = path.replace("{%s}" % name, urllib.parse.quote(text(rest.pop(name)), safe=""))
        if method == "GET":
            pairs = [(k, x) for k, v in rest.items() for x in (v if isinstance(v, list) else [v])]
            path += "?" + urllib.parse.urlencode([(k, text(v)) for k, v in pairs]) if pairs else ""
            rest = {}
    print("\t".join([op["name"], method, path, json.dumps(rest), json.dumps(example)]))
PY
is "the table has operations" yes "$([ "$(wc -l <routes.tsv)" -ge 10 ] && echo yes)"

# same A B - whether two answers are equal, except for members and texts that differ from call to
# call, and members that only the daemon has.
same() {
    printf '%s' "$1" >"$TMP/same.a" # Too long for arguments: op.list has more than 128 KiB.
    printf '%s' "$2" >"$TMP/same.b"
    python3 - "$TMP/same.a" "$TMP/same.b" <<'PY'
import json, re, sys
VOLATILE = {"counters", "memory", "seq", "embedded"} # The second finds nothing left to embed.
def clean(value):
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items() if k not in VOLATILE}
    if isinstance(value, list):
        return [clean(v) for v in value]
    if isinstance(value, str):
        return re.sub(r"[0-9A-HJKMNP-TV-Z]{26}|\d{4}-\d\d-\d\dT[0-9:.]+Z", "*", value)
    return value
a, b = (clean(json.load(open(path))) for path in sys.argv[1:3])
if a != b:
    sys.exit("%s\n  %s" % (json.dumps(a)[:600], json.dumps(b)[:600]))
PY
}

# is_under_way ANSWER - whether it is that of a job that has not ended: a slow machine may need more
# time than one call has. The next call waits for the same job.
is_under_way() { [[ $1 =~ ^\{\"job_id\":\"[^\"]*\",\"status\":\"(queued|running)\" ]]; }

# by_cli OP JSON - what the command line answers, as status and JSON.
by_cli() {
    local tries=0
    run call "$1" "$2" --store "$TMP/a.db"
    while is_under_way "$OUT" && [ "$((tries++))" -lt 10 ]; do
        run call "$1" "$2" --store "$TMP/a.db"
    done
    if [ "$RC" = 0 ]; then
        CLI=$OUT
        CLI_CODE=ok
    else
        CLI=$(value "$ERR" error)
        CLI_CODE=$(value "$ERR" error.code)
    fi
}

http_code() { if [ "$STATUS" = 200 ]; then echo ok; else value "$BODY" code; fi; }

# An error over HTTP is the command line's with other names around it.
http_answer() {
    if [ "$STATUS" = 200 ]; then printf '%s' "$BODY"; return; fi
    printf '%s' "$BODY" | python3 -c '
import json, sys
problem = json.load(sys.stdin)
problem["message"] = problem.pop("detail")
for name in ("type", "title", "status", "trace_id"):
    problem.pop(name, None)
print(json.dumps(problem))'
}

# by_http COMMAND... - a request.
by_http() {
    local tries=0
    "$@"
    while is_under_way "$BODY" && [ "$((tries++))" -lt 10 ]; do "$@"; done
}

compare() { # NAME
    is "$1 has the code that the command line gives" "$CLI_CODE" "$(http_code)"
    local said
    if said=$(same "$CLI" "$(http_answer)" 2>&1); then
        pass
    else
        fail "$1 has the JSON that the command line gives" "$said"
    fi
}

# Before each try, undoes an operation that works only once.
renew() {
    case $1 in
    fact.retract) set -- fact.write '{"key":"city","value":"Oslo","source":"user"}' ;;
    session.close) set -- session.open '{"external_id":"chat-42"}' ;;
    identity.set) set -- session.open '{}' ;;
    file.create) set -- file.delete '{"path":"/memories/plan.md"}' ;;
    working.delete) set -- working.set '{"key":"draft","value":"Dear Anna"}' ;;
    resource.*)
        run call resource.forget '{"id":"text:rules"}' --store "$TMP/a.db"
        if [ "$1" != resource.discover ]; then
            run call resource.discover '{"text":"Deploy on Tuesdays only.","name":"rules"}' \
                --store "$TMP/a.db"
            run call resource.page_in '{"id":"text:rules"}' --store "$TMP/a.db"
        fi
        case $1 in
        resource.recover) set -- resource.offline '{"id":"text:rules"}' ;;
        resource.stale) set -- resource.page_out '{"id":"text:rules"}' ;;
        *) return ;;
        esac
        ;;
    *) return ;;
    esac
    run call "$@" --store "$TMP/a.db"
}

call fact.write '{"key":"city","value":"Oslo","source":"user"}'
is "the first write" 200 "$STATUS"
# From the second time on they are mentioned.
call memory.store '{"text":"Lives in Austin"}'
call memory.seed '{"memories":["My name is Alex","Prefers dark mode"]}'
while IFS=$'\t' read -r op method path body example; do
    case $op in
    # Both would replace the file under the other; the daemon alone does so below.
    store.restore) continue ;;
    # Ids and secrets of their own; some are made below.
    token.*) continue ;;
    # State of each process, not of the store: serve_signals.sh, test_activity.c.
    guard.* | pipeline.* | signal.* | store.activity) continue ;;
    esac
    renew "$op"
    by_cli "$op" "$example"
    renew "$op"
    by_http call "$op" "$example"
    compare "POST /v1/call/$op"
    [ "$method" != - ] || continue
    renew "$op"
    if [ "$method" = GET ]; then
        http GET "$path"
    else
        by_http http "$method" "$path" -d "$body"
    fi
    compare "$method $path"
done <routes.tsv
call fact.write '{"key":"city","value":"Oslo","source":"user"}'

# ---- Parameters

http GET '/v1/facts/current/city'
is "a path parameter" Oslo "$(value "$BODY" value)"
http POST /v1/facts -d '{"key":"a/b ü","value":1}'
is "a key with a slash is written" 200 "$STATUS"
http GET '/v1/facts/current/a%2Fb%20%C3%BC'
is "and read by its encoded path" 1 "$(value "$BODY" value)"
http GET '/v1/facts?limit=1'
isnt "an integer of the query" "" "$(value "$BODY" facts.0.key)"
has "and no more" IndexError "$(value "$BODY" facts.1.key)"
http GET '/v1/facts?limit=1&user_id=nobody'
is "user_id is a parameter too" '[]' "$(value "$BODY" facts)"
http PUT /v1/config/call.timeout_ms -d '{"value":20000,"name":"call.timeout_ms"}'
is "a body may say the path's parameter again" 200 "$STATUS"
http HEAD '/v1/facts?limit=1'
is "HEAD of a route" 200 "$STATUS"
lacks "has no body" '{' "$(cat "$TMP/body")"
has "but its type" "application/json" "$HEADERS"

# ---- Errors: each with its status and its code, as problem+json

wrong() { # NAME STATUS CODE METHOD PATH [CURL-ARGUMENT…]
    http "${@:4}"
    is "$1: status" "$2" "$STATUS"
    is "$1: code" "$3" "$(value "$BODY" code)"
    has "$1: type" "application/problem+json" "$HEADERS"
    is "$1: status inside" "$2" "$(value "$BODY" status)"
    isnt "$1: a message" "" "$(value "$BODY" detail)"
}
wrong "not JSON" 400 invalid_argument POST /v1/call/fact.write -d '{"key":'
wrong "no object" 400 invalid_argument POST /v1/call/fact.write -d '[]'
wrong "unknown parameter" 400 invalid_argument POST /v1/call/fact.write -d '{"kye":"a","value":1}'
has "with what was meant" '\"key\"' "$BODY"
wrong "unknown query parameter" 400 invalid_argument GET '/v1/facts?limti=1'
wrong "wrong kind" 400 invalid_argument GET '/v1/facts?limit=ten'
wrong "given twice" 400 invalid_argument GET '/v1/facts?limit=1&limit=2'
wrong "path and body differ" 400 invalid_argument PUT /v1/config/call.timeout_ms \
    -d '{"name":"x","value":1}'
wrong "a query for a call" 400 invalid_argument POST '/v1/call/fact.list?limit=1'
wrong "a body for GET" 400 invalid_argument GET /v1/facts -d '{"limit":1}'
wrong "not UTF-8" 400 invalid_argument GET '/v1/facts/current/%ff'
wrong "a NUL" 400 invalid_argument GET '/v1/facts/current/a%00b'
wrong "broken escape in the query" 400 invalid_argument GET '/v1/facts?user_id=%f'
wrong "unknown operation" 404 not_found POST /v1/call/fact.wrote -d '{}'
has "with what was meant" fact.write "$BODY"
wrong "unknown path" 404 not_found GET /v1/fact
has "with what was meant" /v1/facts "$BODY"
wrong "trailing slash" 404 not_found GET /v1/facts/
wrong "nothing there" 404 not_found GET /v1/facts/current/never-written
wrong "conflict" 409 conflict POST /v1/facts -d '{"key":"x","value":1,"expected_seq":0}'
has "with its data" head_seq "$BODY$(value "$BODY" detail)"
wrong "wrong method" 405 unsupported DELETE /v1/facts
has "with what is allowed" "Allow: GET, HEAD, POST, OPTIONS" "$HEADERS"
wrong "a call by GET" 405 unsupported GET /v1/call/fact.list
head -c 5000000 /dev/zero | tr '\0' ' ' >big
wrong "too much" 413 limit POST /v1/call/fact.write --data-binary @big
http OPTIONS /v1/facts
is "OPTIONS" 204 "$STATUS"
has "says what is allowed" "Allow: GET, HEAD, POST, OPTIONS" "$HEADERS"
lacks "and opens nothing to other origins" "Access-Control" "$HEADERS"
http OPTIONS /v1/nothing
is "OPTIONS of nothing" 404 "$STATUS"

# ---- Repeats

http POST /v1/facts -H 'Idempotency-Key: once' -d '{"key":"repeat","value":1}'
first=$BODY
lacks "a first answer is no repeat" replayed "$BODY$HEADERS"
http POST /v1/facts -H 'Idempotency-Key: once' -d '{"value":1,"key":"repeat"}'
is "a repeat gets the first answer and says so" "${first%\}},\"replayed\":true}" "$BODY"
has "in a header, too" "Idempotency-Replayed: true" "$HEADERS"
is "so does the command line" "$BODY" "$(
    "$LOCI" --store "$TMP/a.db" call fact.write '{"key":"repeat","value":1,"request_id":"once"}')"
http POST /v1/call/fact.write -H 'Idempotency-Key: once' -d '{"key":"repeat","value":2}'
is "another call under the same key" 409 "$STATUS"
http POST /v1/facts -H 'Idempotency-Key: a' -d '{"key":"r","value":1,"request_id":"b"}'
is "key and request_id that differ" 400 "$STATUS"
http POST /v1/facts -H "Idempotency-Key: $(printf 'k%.0s' {1..300})" -d '{"key":"r","value":1}'
is "a key that is too long" 400 "$STATUS"

# ---- Batches

batch() { http POST /v1/batch "${@:2}" -d "$1"; }
# shellcheck disable=SC2016 # The $0 is loci's.
second='{"op":"fact.get","args":{"id":"$0.id"}}'
batch "{\"calls\":[{\"op\":\"fact.write\",\"args\":{\"key\":\"batch-one\",\"value\":1}},$second]}"
is "a batch" 200 "$STATUS"
is "answers all" batch-one "$(value "$BODY" answers.1.key)"
second='{"op":"fact.get","args":{"id":"no"}}'
batch "{\"calls\":[{\"op\":\"fact.write\",\"args\":{\"key\":\"b2\",\"value\":1}},$second]}"
is "one that fails" 404 "$STATUS"
is "says which" 1 "$(value "$BODY" index)"
call fact.current '{"key":"b2"}'
is "and changed nothing" 404 "$STATUS"
batch '{"calls":[{"op":"fact.write","args":{"key":"b3","value":1}}]}' -H 'Idempotency-Key: batch'
first=$BODY
batch '{"calls":[{"op":"fact.write","args":{"key":"b3","value":1}}]}' -H 'Idempotency-Key: batch'
is "a repeated batch gets the first answers" "${first%\}},\"replayed\":true}" "$BODY"
has "with the header" "Idempotency-Replayed: true" "$HEADERS"
batch '{"calls":[{"op":"fact.write","args":{"key":"b4","value":1},"at":"2020-01-01T00:00:00Z"}]}'
is "an admin may say when" 200 "$STATUS"
for body in '' '[]' '{}' '{"calls":1}' '{"calls":[]}' '{"calls":[1]}' '{"calls":[{}]}' \
    '{"calls":[{"op":1}]}' '{"calls":[{"op":"fact.list","x":1}]}' '{"calls":[],"more":1}' \
    '{"calls":[{"op":"fact.list","args":[]}]}' '{"calls":[{"op":"fact.list","at":"soon"}]}' \
    '{"calls":[{"op":"store.verify"}]}'; do
    batch "$body"
    is "a batch of $body" 400 "$STATUS"
    isnt "has a message" "" "$(value "$BODY" detail)"
done
batch '{"calls":[{"op":"fact.lits"}]}'
is "an unknown operation in a batch" 404 "$STATUS"
is "says which" 0 "$(value "$BODY" index)"
batch "{\"calls\":[$(printf '{"op":"fact.list"},%.0s' {1..100}){\"op\":\"fact.list\"}]}"
is "a batch of 101" limit "$(value "$BODY" code)"

# ---- Scopes

narrow() { # SCOPE - a token with that scope only
    call token.create "{\"name\":\"narrow\",\"scopes\":[\"$1\"]}"
    AUTH="Authorization: Bearer $(value "$BODY" token)"
}
narrow read
http GET /v1/facts
is "a reader reads" 200 "$STATUS"
http POST /v1/facts -d '{"key":"k","value":1}'
is "and writes nothing" 403 "$STATUS"
batch '{"calls":[{"op":"fact.write","args":{"key":"k","value":1}}]}'
is "not in a batch either" 403 "$STATUS"
http GET /v1/store
is "nor sees the whole store" 403 "$STATUS"
AUTH="Authorization: Bearer $TOKEN"
narrow write
batch '{"calls":[{"op":"fact.write","args":{"key":"k","value":1},"at":"2020-01-01T00:00:00Z"}]}'
is "a writer does not say when" 403 "$STATUS"
AUTH="Authorization: Bearer $TOKEN"

# ---- The list of events and the stream of them

http GET '/v1/events?after_seq=0&limit=1'
json "without more it is a list" "$BODY"
curl -sS --max-time 2 -N -H "$AUTH" -H 'Accept: text/event-stream' \
    "$URL/v1/events?user_id=default&after_seq=0" >stream 2>/dev/null
has "a stream for who accepts one" 'data: ' "$(cat stream)"
curl -sS --max-time 2 -N -H "$AUTH" \
    "$URL/v1/events?user_id=default&after_seq=0&stream=1" >stream 2>/dev/null
has "and for who asks for one" 'data: ' "$(cat stream)"

# ---- The Unix socket: no token for ourselves

is "our own user needs no token there" 200 "$(curl -sS --unix-socket "$TMP/daemon.sock" \
    -o /dev/null -w '%{http_code}' http://localhost/v1/facts)"

# ---- The log: routes and codes, and nothing that users say

http GET '/v1/nowhere' -H 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
is "an error has the trace id of the caller" 4bf92f3577b34da6a3ce929d0e0e4736 \
    "$(value "$BODY" trace_id)"
has "so has the header" "Trace-Id: 4bf92f3577b34da6a3ce929d0e0e4736" "$HEADERS"
wait_for 20 grep -q '"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"' "$TMP/daemon.log"
http GET '/v1/facts'
has "a request without one gets 32 digits" yes \
    "$(printf '%s\n' "$HEADERS" | grep -qE '^Trace-Id: [0-9a-f]{32}$' && echo yes)"
lacks "request_id is the idempotency key and nothing else" '"request_id"' "$(cat "$TMP/daemon.log")"
http GET '/v1/facts' -H 'X-Request-Id: the-last-one'
wait_for 20 grep -q the-last-one "$TMP/daemon.log" # Lines are written a moment later.
log=$(cat "$TMP/daemon.log")
has "requests are logged" '"event":"http.request"' "$log"
has "by their route" '/v1/facts/current/{key}' "$log"
for secret in Oslo never-written batch-one '"kye"' "${TOKEN: -20}"; do
    lacks "the log does not hold $secret" "$secret" "$log"
done
said=$(
    python3 - "$TMP/daemon.log" 2>&1 <<'PY'
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
requests = [r["fields"] for r in records if r["event"] == "http.request"]
assert len(requests) > 100, len(requests)
for r in requests:
    assert set(r) == {"trace_id", "method", "route", "status", "code", "took_us", "bytes",
                      "token_id"}, r
PY
)
is "every record is whole" "" "$said"

# ---- Files: only in the directory for them

for path in "$TMP/out.db" ../out.db sub/out.db ..; do
    call store.backup "{\"path\":\"$path\"}"
    is "the path $path" 403 "$STATUS"
done
ln -s "$TMP/outside" "$TMP/link"
call store.export '{"path":"link","force":true}'
is "a link" 403 "$STATUS"
http PUT /v1/config/store.transfer_dir -d '{"value":"/"}'
is "another directory" 403 "$STATUS"
for path in a.db a.db-wal a.db-shm a.db-journal; do
    call store.export "{\"path\":\"$path\",\"force\":true}"
    is "the store's own file $path" 400 "$STATUS"
done
run config set store.transfer_dir '""' --store "$TMP/a.db"
# shellcheck disable=SC2317 # Called by wait_for.
without_directory() { call store.backup '{"path":"new.db"}' && [ "$STATUS" = 403 ]; }
wait_for 10 without_directory || fail "files without a directory for them" "$STATUS"
has "says what to do" store.transfer_dir "$BODY"
run config set store.transfer_dir "$TMP" --store "$TMP/a.db"
# shellcheck disable=SC2317 # Called by wait_for.
with_directory() { call store.backup '{"path":"new.db","force":true}' && [ "$STATUS" = 200 ]; }
wait_for 10 with_directory || fail "files with a directory for them" "$STATUS"

# ---- Everything at once: the store put back as it was, under the daemon

call store.restore '{"path":"backup.db"}'
is "a restore" 200 "$STATUS"
http GET '/v1/facts/current/city'
is "what was backed up is there" 200 "$STATUS"
http GET '/v1/facts/current/batch-one'
is "and what came later is not" 404 "$STATUS"

# ---- Another process writes to the same store: every read sees it

seen=0
for i in 1 2 3 4 5 6; do
    run call fact.write --store "$TMP/a.db" "{\"key\":\"shared\",\"value\":$i}"
    for _ in 1 2 3; do
        http GET '/v1/facts/current/shared'
        [ "$(value "$BODY" value)" != "$i" ] || seen=$((seen + 1))
    done
done
is "what another process wrote is read at once, each time" 18 "$seen"
call store.status '{}'
hits=$(value "$BODY" counters.user_cache_hits)
is "uses of state in memory are counted" yes "$([ "$hits" -ge 0 ] && echo yes)"

# ---- The doctor

run doctor --url "$URL" --token-file "$TMP/token"
is "the doctor is content" 0 "$RC"
run doctor --url "unix:$TMP/daemon.sock" --json
is "also over the socket" true "$(value "$OUT" ok)"
run doctor --url http://127.0.0.1:1
is "and not with a daemon that is not there" 1 "$RC"

# ---- The end

stop TERM
is "SIGTERM ends it with 0" 0 "$RC"
is "and takes its socket away" gone "$([ -e "$TMP/daemon.sock" ] || echo gone)"
has "the log says so" server.stopped "$(cat "$TMP/daemon.log")"
run verify --store "$TMP/a.db"
is "the store is whole" 0 "$RC"
finish
