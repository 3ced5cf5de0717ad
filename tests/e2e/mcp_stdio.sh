#!/bin/bash
# `loci mcp`: raw lines on stdin and stdout, both generations of the protocol, bad input, many
# processes on one store, and a daemon that comes and goes.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
export LOCI
here=$(cd "$(dirname "$0")" && pwd)
S=$TMP/a.db
P=io.modelcontextprotocol

# legacy ID METHOD [MEMBERS] - one request of the older generation.
legacy() { printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":{%s}}\n' "$1" "$2" "${3:-}"; }

# modern ID METHOD [MEMBERS] - one of the newer.
modern() {
    local meta="\"_meta\":{\"$P/protocolVersion\":\"2026-07-28\",\"$P/clientCapabilities\":{}}"
    legacy "$1" "$2" "${3:-}${3:+,}$meta"
}

# peer SCENARIO STORE ARGUMENT… - what tests/e2e/mcp_stdio.py says.
peer() { python3 "$here/mcp_stdio.py" "$@" 2>&1; }

# facts STORE PREFIX - how many fact.written events there are for keys with the prefix.
facts() {
    "$LOCI" --store "$1" events --after 0 --json 2>/dev/null </dev/null | python3 -c '
import json, sys
events = [json.loads(line) for line in sys.stdin]
keys = [e["payload"].get("key", "") for e in events if e["type"].startswith("fact.")]
keys = [k for k in keys if k.startswith(sys.argv[1])]
print(len(keys), len(set(keys)))' "$2"
}

# ---- Both generations ----------------------------------------------------------------------------
CLIENT='"capabilities":{},"clientInfo":{"name":"t","version":"1"}'
feed "$(legacy 1 initialize '"protocolVersion":"2025-06-18",'"$CLIENT")
{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}
$(legacy 2 ping)
$(legacy '"three"' tools/call '"name":"set_fact","arguments":{"key":"city","value":"Oslo"}')
" mcp --store "$S"
is "a session of the older generation ends well" 0 "$RC"
is "it answers requests only" 3 "$(printf '%s\n' "$OUT" | wc -l)"
has "it takes the client's version" '"protocolVersion":"2025-06-18"' "$(line "$OUT" 1)"
is "it answers ping" '{"jsonrpc":"2.0","id":2,"result":{}}' "$(line "$OUT" 2)"
has "it calls a tool" '"id":"three","result":{' "$OUT"
is "nothing is written to stderr" "" "$ERR"
run call event.list '{}' --store "$S"
has "what is written names the client" '"client":{"name":"t","version":"1"' "$OUT"
feed "$(modern 1 server/discover)
$(modern 2 tools/call '"name":"read_facts","arguments":{"action":"current","key":"city"}')
$(modern 3 ping)
" mcp --store "$S"
has "the newer generation is discovered" '"supportedVersions":["2026-07-28"]' "$OUT"
has "it reads what the older one wrote" 'Oslo' "$OUT"
has "its results are typed" '"resultType":"complete"' "$(line "$OUT" 1)"
has "it has no ping" '"code":-32601' "$OUT"
json "all is JSON" "$OUT"
run mcp --store "$TMP/none.db"
is "no input is no error" "0 " "$RC $OUT"
is "nothing is opened before it is needed" no "$([ -e "$TMP/none.db" ] && echo yes || echo no)"

# ---- The project it is started in ---------------------------------------------------------------
git init -q "$TMP/repo"
git -C "$TMP/repo" remote add origin git@github.com:acme/app.git
(cd "$TMP/repo" && env -u LOCI_PROJECT "$LOCI" mcp --store "$TMP/p.db" >"$TMP/out" <<END
$(legacy 1 tools/call '"name":"set_fact","arguments":{"key":"db","value":"x"}')
$(legacy 2 tools/call '"name":"set_fact","arguments":{"key":"name","value":"y","whose":"person"}')
END
)
run call event.list '{}' --store "$TMP/p.db"
is "facts belong to the project, unless the call says otherwise" "project:github.com/acme/app -" \
    "$(printf '%s' "$OUT" | python3 -c '
import json, sys
payloads = [event["payload"] for event in json.load(sys.stdin)["events"]]
persona = {payload["key"]: payload.get("persona_id", "-") for payload in payloads}
print(persona["db"], persona["name"])')"

# ---- Bad input -----------------------------------------------------------------------------------
feed 'nope
[]
{"jsonrpc":"2.0","id":1,"method":"nope"}

{"jsonrpc":"2.0","id":2,"method":"ping"}
{"jsonrpc":"2.0","id":3,"meth' mcp --store "$S"
is "bad input does not end it" 0 "$RC"
has "no JSON is a parse error" '"code":-32700' "$(line "$OUT" 1)"
has "a batch is refused" '"code":-32600' "$(line "$OUT" 2)"
has "an unknown method is named" 'Method not found: nope' "$(line "$OUT" 3)"
is "empty lines are skipped" '{"jsonrpc":"2.0","id":2,"result":{}}' "$(line "$OUT" 4)"
has "half a message at the end is an error" '"code":-32700' "$(line "$OUT" 5)"
feed '{"jsonrpc":"2.0","id":3,"method":"ping"}' mcp --store "$S"
is "a last line needs no line break" '{"jsonrpc":"2.0","id":3,"result":{}}' "$OUT"
printf '\377\376{}\n{"jsonrpc":"2.0","id":4,"method":"ping"}\r\n' >"$TMP/in"
OUT=$("$LOCI" mcp --store "$S" <"$TMP/in" 2>"$TMP/err")
has "broken UTF-8 is a parse error" '"code":-32700' "$(line "$OUT" 1)"
is "CRLF is understood" '{"jsonrpc":"2.0","id":4,"result":{}}' "$(line "$OUT" 2)"
for bytes in 4259840 4259841 9000000; do
    { printf '"'; head -c $((bytes - 2)) /dev/zero | tr '\0' x
      printf '"\n{"jsonrpc":"2.0","id":5,"method":"ping"}\n'; } >"$TMP/in"
    OUT=$("$LOCI" mcp --store "$S" <"$TMP/in" 2>"$TMP/err")
    if [ "$bytes" = 4259840 ]; then
        lacks "a line of $bytes bytes is read" 'more than' "$OUT"
    else
        has "a line of $bytes bytes is too long" 'more than 4259840 bytes' "$(line "$OUT" 1)"
    fi
    is "there is one error for it" 2 "$(printf '%s\n' "$OUT" | wc -l)"
    is "and the next line is read" '{"jsonrpc":"2.0","id":5,"result":{}}' "$(line "$OUT" 2)"
done
is "a client that never reads" "bounded 0" "$(peer deaf "$S" 3)"

# ---- Many processes on one store -----------------------------------------------------------------
is "20 calls in one process" "20 [0]" "$(peer many "$TMP/one.db" 1 20)"
is "all 20 are there, once" "20 20" "$(facts "$TMP/one.db" k)"
is "40 calls in two processes" "40 [0]" "$(peer many "$TMP/two.db" 2 20)"
is "all 40 are there, once" "40 40" "$(facts "$TMP/two.db" k)"
is "200 calls in eight processes" "200 [0]" "$(peer many "$TMP/eight.db" 8 25)"
is "all 200 are there, once" "200 200" "$(facts "$TMP/eight.db" k)"

# ---- Notices -------------------------------------------------------------------------------------
UPDATED='notifications/resources/updated loci://facts'
is "the older generation is told of changes" "{} $UPDATED None None 0 0" \
    "$(peer watch "$TMP/watch.db" legacy)"
is "so is the newer one" \
    "\"notifications/subscriptions/acknowledged\" $UPDATED {'$P/subscriptionId': 1} None 0 0" \
    "$(peer watch "$TMP/watch2.db" modern)"

# ---- With a daemon -------------------------------------------------------------------------------
export LOCI_SOCKET="$TMP/daemon.sock"
start --store "$TMP/d.db"
is "calls go to the daemon" "40 [0]" "$(peer many "$TMP/d.db" 2 20)"
is "and are carried out once" "40 40" "$(facts "$TMP/d.db" k)"
has "it has seen them" '"route":"/v1/call/{op}"' "$(cat "$TMP/daemon.log")"
is "a client is told of changes through it" "{} $UPDATED None None 0 0" \
    "$(peer watch "$TMP/d.db" legacy)"
feed "$(legacy 1 initialize '"protocolVersion":"2025-06-18","capabilities":{},
"clientInfo":{"name":"{a\r\nX-Evil: 1; model=m","version":"1/2"}' | tr -d '\n')
$(legacy 2 tools/call '"name":"set_fact","arguments":{"key":"who","value":"x"}')
" mcp --store "$TMP/d.db"
has "a client can call itself anything" '"outcome":"created"' "$OUT"
run call event.list '{"limit":1000}' --store "$TMP/d.db"
has "and is recorded through the daemon" \
    '"client":{"name":"-a--X-Evil: 1- model-m","version":"1-2"' "$OUT"
is "a call that hangs delays no other" "True True True 0" "$(peer stopped "$TMP/d.db" "$DAEMON")"
stop
is "the daemon ends well" 0 "$RC"
rm -f "$TMP/token"
start --store "$TMP/k.db"
is "calls survive a daemon that is killed" "True 60 True 0" \
    "$(peer killed "$TMP/k.db" "$DAEMON" 60)"
wait "$DAEMON" 2>/dev/null
is "none is lost, none is doubled" "60 60" "$(facts "$TMP/k.db" k)"
rm -f "$LOCI_SOCKET"
is "a call whose answer is lost is carried out once" "[0] created 0" "$(peer lost "$TMP/l.db")"
is "calls go to the store when the socket is dead" "5 [0]" "$(peer many "$TMP/k.db" 1 5)"
finish
