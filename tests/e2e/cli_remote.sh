#!/bin/bash
# Every command over --url: the same answers as on the file, clear errors, streams that go on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
STORE=$TMP/a.db
start --store "$STORE"
PORT=${URL##*:}
export LOCI_TOKEN=$TOKEN

# ---- The same on both ways ----------------------------------------------------------------------
# same NAME ARGUMENT… - a command that reads prints the same, with the same exit code.
same() {
    local name=$1
    shift
    run "$@" --store "$STORE"
    local out=$OUT err=$ERR rc=$RC
    run "$@" --url "$URL"
    is "$name: exit code" "$rc" "$RC"
    is "$name: output" "$out" "$OUT"
    is "$name: errors" "$err" "$ERR"
}

# alike NAME FIRST SECOND - outputs of two writes, but for ids, numbers and times.
strip() {
    printf '%s' "$1" | sed -E 's/_01[0-9A-HJKMNP-TV-Z]{24}/_ID/g
        s/[0-9-]{10}T[0-9:.]+Z/TIME/g
        s/(seq"?:? *)[0-9]+/\1N/g'
}
alike() { is "$1" "$(strip "$2")" "$(strip "$3")"; }

# twice NAME ARGUMENT… - a write, here for one user and there for another.
twice() {
    local name=$1
    shift
    run "$@" --user here --store "$STORE"
    local out=$OUT rc=$RC
    run "$@" --user there --url "$URL"
    is "$name: exit code" "$rc" "$RC"
    alike "$name: output" "$out" "$OUT"
}

twice "remember" remember "Lives in Austin"
twice "remember again" remember "Lives in Boston"
twice "a fact" fact write city Oslo
twice "a fact as JSON" fact write tags '["a","b"]' --json
twice "an empty value" fact write empty ""
twice "a todo" todo add "Send the report"
twice "a message" session append user "I moved to Rome"
twice "call" call fact.write '{"key":"n","value":1.50}'
twice "a wrong call" call fact.write '{"key":"n"}'
twice "an unknown operation" call no.such '{}'
twice "an import" import "$HERE/../../README.md"
for user in here there; do
    same "recall" recall "where does the user live" --user "$user" --json
    same "facts" fact list --user "$user"
    same "a value" fact current city --user "$user"
    same "a missing value" fact current nothing --user "$user"
    same "history" fact history city --user "$user"
    same "memories" memory list --user "$user" --json
    same "todos" todo --user "$user"
    same "entities" entity --user "$user"
    same "messages" session messages --user "$user" --json
    same "a context" context build --query "city" --user "$user" --json
    same "events" events --user "$user"
    same "events as JSON" events --user "$user" --after 1 --json
    same "events of types" events --user "$user" --after 0 --type fact.written,todo.added --json
done
same "a page" fact list --limit 1 --user here --json
same "settings" config get call.timeout_ms
same "operations" op list
same "text" text count "some words"
same "verify" verify
same "help" fact write --help
same "wrong usage" fact write --no-such-option
same "no verb" fact nothing
is "a persona of its own" "0:blue" "$(
    run fact write colour blue --persona work --url "$URL"
    run fact current colour --persona work --url "$URL"
    echo "$RC:$OUT")"
run fact current colour --url "$URL"
is "that others do not see" 1 "$RC"

CALLS='{"op":"fact.write","args":{"key":"b","value":1}}
{"op":"fact.current","args":{"key":"b"}}
{"op":"fact.current","args":{"key":"none"}}
not json
{"op":"fact.write","args":{"key":"c","value":1},"at":"2031-01-31T12:00:00Z"}
{"op":"fact.current","args":{"key":"c"}}'
feed "$CALLS" batch --user here2 --store "$STORE"
out=$OUT rc=$RC
feed "$CALLS" batch --user there2 --url "$URL"
is "batch: exit code" "$rc" "$RC"
alike "batch: answers" "$out" "$OUT"
has "batch: the time of a call" '"2031-01-31T12:00:00Z"' \
    "$("$LOCI" fact list --user there2 --json --store "$STORE")"
# shellcheck disable=SC2016 # A reference to the first answer.
GOOD='{"op":"fact.write","args":{"key":"d","value":1}}
{"op":"fact.write","args":{"key":"e","value":"$0.id"}}'
feed "$GOOD" batch --atomic --user here2 --store "$STORE"
out=$OUT
feed "$GOOD" batch --atomic --user there2 --url "$URL"
is "an atomic batch" 0 "$RC"
alike "its answers" "$out" "$OUT"
BAD=$GOOD'
{"op":"fact.current","args":{"key":"none"}}'
feed "$BAD" batch --atomic --user here2 --store "$STORE"
out=$OUT rc=$RC
feed "$BAD" batch --atomic --user there2 --url "$URL"
is "an atomic batch that fails: exit code" "$rc" "$RC"
is "an atomic batch that fails" "$out" "$OUT"
feed "$GOOD" batch --seed 1 --url "$URL"
is "a seed needs the store" 2 "$RC"

run memory store "Has a dog" --request-id r1 --user ids --url "$URL"
out=$OUT
run memory store "Has a dog" --request-id r1 --user ids --url "$URL"
has "a request id of one's own" "replayed" "$OUT"
is "a repeat has the same id" "$(awk 'NR == 1 { print $2 }' <<<"$out")" \
    "$(awk 'NR == 1 { print $2 }' <<<"$OUT")"

# ---- Which daemon -------------------------------------------------------------------------------
printf '%s\n' "$TOKEN" >"$TMP/file.token"
is "a token from a file" 0 "$(
    unset LOCI_TOKEN
    "$LOCI" fact list --user here --url "$URL" --token-file "$TMP/file.token" >/dev/null
    echo $?)"
is "the Unix socket needs none" 0 "$(
    unset LOCI_TOKEN
    "$LOCI" fact list --user here --url "unix:$TMP/daemon.sock" >/dev/null
    echo $?)"
is "LOCI_URL" "Oslo" "$(LOCI_URL=$URL "$LOCI" fact current city --user there)"
is "--store is stronger than LOCI_URL" "Oslo" \
    "$(LOCI_URL=http://127.0.0.1:1 "$LOCI" fact current city --user there --store "$STORE")"
is "--url is stronger than LOCI_STORE" "Oslo" \
    "$(LOCI_STORE=$TMP/other.db "$LOCI" fact current city --user there --url "$URL")"
run where --url "$URL"
has "where says which" "$URL  (--url)" "$OUT"
LOCI_URL=$URL run where --json
is "where, from the environment" "$URL LOCI_URL" \
    "$(value "$OUT" daemon.value) $(value "$OUT" daemon.origin)"
LOCI_URL=$URL run
has "loci alone says which" "$URL (LOCI_URL)" "$OUT"
run status --url "$URL"
has "status says which" "daemon $URL" "$ERR"
has "and what the daemon has" "$STORE" "$OUT"
run doctor --url "$URL"
is "doctor" 0 "$RC"
has "doctor says which" "$URL (--url)" "$OUT"
LOCI_URL=$URL run doctor --json
is "doctor, from the environment" 0 "$RC"

# ---- Errors -------------------------------------------------------------------------------------
# wrong NAME CODE PART ARGUMENT… - an error that says what to do and never contains the token.
wrong() {
    local name=$1 rc=$2 part=$3
    shift 3
    run "$@"
    is "$name: exit code" "$rc" "$RC"
    has "$name" "$part" "$ERR"
    lacks "$name: no token" "$TOKEN" "$ERR$OUT"
}
serve_fake() {
    python3 "$HERE/cli_remote.py" "$@" >"$TMP/fake.port" 2>/dev/null &
    FAKE=$!
    wait_for 10 test -s "$TMP/fake.port"
    FAKE_URL=http://127.0.0.1:$(head -1 "$TMP/fake.port")
}
end_fake() {
    kill "$FAKE"
    wait "$FAKE" 2>/dev/null
    rm -f "$TMP/fake.port"
}
wrong "both" 2 "exclude each other" fact list --url "$URL" --store "$STORE"
wrong "a token file alone" 2 "needs --url" fact list --token-file "$TMP/file.token"
wrong "no URL" 1 "must look like" fact list --url 127.0.0.1:7077
wrong "a path" 1 "without a path" fact list --url "$URL/mcp"
wrong "a tenant" 1 "tenant from the token" fact list --url "$URL" --tenant acme
wrong "a file of settings" 1 "its own settings" fact list --url "$URL" --config "$TMP/c.json"
wrong "a setting" 1 "its own settings" fact list --url "$URL" --set log.level=info
wrong "refused" 1 "cannot connect to http://127.0.0.1:1: Connection refused" fact list \
    --url http://127.0.0.1:1
has "refused: the next step" "loci serve" "$ERR"
LOCI_TOKEN=loci_wrong wrong "a wrong token" 1 "$URL refuses the token" fact list --url "$URL"
lacks "a wrong token is not shown" loci_wrong "$ERR"
LOCI_TOKEN='' wrong "no token" 1 "$URL needs a token: set LOCI_TOKEN" fact list --url "$URL"
LOCI_TOKEN=$'a\nX-Evil: 1' wrong "a token with a line break" 1 "LOCI_TOKEN has no token" \
    fact list --url "$URL"
LOCI_URL=$URL LOCI_STORE=$STORE wrong "both in the environment" 1 "both set" fact list
wrong "a plain URL of another machine" 1 "not sent there without TLS" fact list \
    --url http://192.0.2.1:7077
for command in init serve "migrate --from a --to b"; do
    # shellcheck disable=SC2086 # Words of a command.
    wrong "$command" 2 "needs the store itself" $command --url "$URL"
done
wrong "a backup" 1 "store.transfer_dir" backup "$TMP/b.db" --url "$URL"
wrong "an import of an export" 1 "store.transfer_dir" import "$TMP/none.jsonl" --url "$URL"
run export --url "$URL"
out=$OUT
is "an export over HTTP" "0:" "$RC:$ERR"
run export --store "$STORE"
# Jobs of the daemon, such as embedding, count objects between the two exports.
steady() { sed 's/"objects":[0-9]*//; s/"hash":.*//' <<<"$1"; }
is "an export over HTTP is that of the store" "$(steady "$OUT")" "$(steady "$out")"
serve_fake web
wrong "a web server" 1 "$FAKE_URL does not answer like a loci daemon" fact list --url "$FAKE_URL"
wrong "a web server, written to" 1 "does not answer like a loci daemon" fact write a b \
    --url "$FAKE_URL"
end_fake
serve_fake mail
wrong "another protocol" 1 "$FAKE_URL does not answer with HTTP" fact list --url "$FAKE_URL"
end_fake
serve_fake newer
wrong "a newer daemon" 1 "the daemon is loci 9.9.9, this program" fact list --url "$FAKE_URL"
end_fake
serve_fake silent
wrong "a deadline" 1 "$FAKE_URL did not answer in time" fact list --url "$FAKE_URL" \
    --set call.timeout_ms=300
end_fake
serve_fake silent
"$LOCI" fact list --url "$FAKE_URL" >/dev/null 2>"$TMP/err" &
waiting=$!
wait_for 10 grep -q asked "$TMP/fake.port"
kill -INT "$waiting"
wait "$waiting"
is "Ctrl-C" 130 "$?"
end_fake
wrong "TLS where there is none" 1 "does not speak TLS" fact list --url "https://127.0.0.1:$PORT"

# ---- TLS, through a proxy that sends chunks -----------------------------------------------------
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$TMP/key.pem" -out "$TMP/ca.pem" 2>/dev/null
cat "$TMP/key.pem" "$TMP/ca.pem" >"$TMP/cert.pem"
serve_fake tls "$TMP/cert.pem" "$PORT"
TLS_URL=https://127.0.0.1:${FAKE_URL##*:}
wrong "a certificate that is not trusted" 1 "the certificate of $TLS_URL is not trusted" \
    fact list --url "$TLS_URL"
export LOCI_CA_FILE=$TMP/ca.pem
run fact current city --user there --url "$TLS_URL"
is "a call over TLS" "0:Oslo" "$RC:$OUT$ERR"
feed "$CALLS" batch --user tls --url "$TLS_URL"
is "several calls over TLS" 4 "$(printf '%s\n' "$OUT" | grep -c '^{"ok":')"
run doctor --url "$TLS_URL"
is "doctor over TLS" 0 "$RC"
LOCI_CA_FILE=$TMP/none.pem wrong "no such file of authorities" 1 LOCI_CA_FILE fact list \
    --url "$TLS_URL"
unset LOCI_CA_FILE
end_fake

# ---- Following, over a restart ------------------------------------------------------------------
# shellcheck disable=SC2317 # Called through the function that waits.
count_is() { [ "$(wc -l <"$1")" = "$2" ]; }
seqs() {
    python3 -c '
import json, sys
print(*[json.loads(line)["seq"] for line in open(sys.argv[1])])' "$1"
}
for i in 1 2 3; do run fact write "k$i" "$i" --user follow --store "$STORE"; done
"$LOCI" events -f --after 1 --user follow --json --url "$URL" >"$TMP/follow" 2>"$TMP/follow.err" &
follower=$!
wait_for 10 count_is "$TMP/follow" 2
is "what was there comes first" "2 3" "$(seqs "$TMP/follow")"
run fact write k4 4 --user follow --url "$URL"
wait_for 10 count_is "$TMP/follow" 3
stop
run fact write k5 5 --user follow --store "$STORE"
wait_for 10 grep -q "was lost" "$TMP/follow.err"
launch --listen "127.0.0.1:$PORT" --socket "$TMP/daemon.sock" --store "$STORE" --json
run fact write k6 6 --user follow --url "$URL"
wait_for 20 count_is "$TMP/follow" 5
is "none missed, none twice, over a restart" "2 3 4 5 6" "$(seqs "$TMP/follow")"
kill -INT "$follower"
wait "$follower"
is "a signal ends it cleanly" 0 "$?"
LOCI_TOKEN=loci_wrong wrong "a wrong token" 1 "refuses the token" events -f --url "$URL"

run token create narrow --user-id follow --scopes read --json --store "$STORE"
narrow=$(value "$OUT" token)
LOCI_TOKEN=$narrow "$LOCI" events -f --after 4 --json --url "$URL" >"$TMP/narrow" 2>"$TMP/err" &
follower=$!
wait_for 10 count_is "$TMP/narrow" 2
is "a token of one user follows that user" "5 6" "$(seqs "$TMP/narrow")"
kill -INT "$follower"
wait "$follower"
LOCI_TOKEN=$narrow run events --after 4 --json --url "$URL"
is "and lists it" 2 "$(printf '%s\n' "$OUT" | wc -l)"

# ---- MCP and hooks ------------------------------------------------------------------------------
ask_mcp() {
    cat <<END
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",\
"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall",\
"arguments":{"query":"where does the user live"}}}
END
}
has "MCP over a URL" "Lives in" "$(ask_mcp | "$LOCI" mcp --user there --url "$URL")"
has "MCP without a daemon says so" "no daemon answers at http://127.0.0.1:1" \
    "$(ask_mcp | "$LOCI" mcp --user there --url http://127.0.0.1:1)"
run mcp install cursor --print --url "$URL" --token-file "$TMP/file.token"
has "an entry for a client" '"--url"' "$OUT"
lacks "without the token" "$TOKEN" "$OUT"
feed '{"prompt":"Where do I live?"}' hook user-prompt --format text --user there --url "$URL"
has "a hook over a URL" "Lives in" "$OUT"
stop
finish
