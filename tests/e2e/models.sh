#!/bin/bash
# Models from the command line and over HTTP, with a provider on this machine.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

coproc PROVIDER { "$BUILD_DIR/tests/fake_provider" 8; }
provider=$PROVIDER_PID
read -r -u "${PROVIDER[0]}" address
has "the provider says where it listens" "http://127.0.0.1:" "$address"


cat >"$TMP/config.json" <<JSON
{"model.embed_url": "$address", "model.embed_model": "small", "model.embed_dimensions": 8,
 "model.embed_key": {"env": "EMBED_KEY"}, "call.timeout_ms": 20000}
JSON
export EMBED_KEY=sk-canary-e2e
loci() { "$LOCI" --store "$TMP/a.db" --config "$TMP/config.json" "$@"; }

# A provider on this machine has to be allowed.
out=$(loci call model.embed '{"texts":["a"]}' 2>&1)
has "private addresses are refused" "model.allow_private" "$out"
loci call config.set '{"name":"model.allow_private","value":true}' >/dev/null
out=$(loci call model.embed '{"texts":["a","b"]}')
is "it embeds" '"provider:small:8"' "$(value "$out" generation | sed 's/.*/"&"/')"
loci call fact.write '{"key":"city","value":"Oslo"}' >/dev/null
out=$(loci model reembed --json 2>&1)
has "every fact gets its vector" '"embedded":1' "$out"
has "people are told, too" "provider:small:8" "$(loci model status 2>&1)"

# libcurl is loaded when a provider is used. A file that is no library stands for a missing one.
mkdir "$TMP/no-curl"
: >"$TMP/no-curl/libcurl.so.4"
out=$(LD_LIBRARY_PATH=$TMP/no-curl loci call model.embed '{"texts":["a"]}' 2>&1)
is "without libcurl a provider is unsupported" 1 $?
has "and the package is named" "apt install libcurl4" "$out"
has "all else works without libcurl" '"value":"Oslo"' \
    "$(LD_LIBRARY_PATH=$TMP/no-curl loci call fact.current '{"key":"city"}' 2>&1)"

start --store "$TMP/a.db" --config "$TMP/config.json"
http POST /v1/models/embed -d '{"texts":["The cat sat on the mat"],"encoding":"base64"}'
is "embedding over HTTP" 200 "$STATUS"
has "says of which generation" '"generation":"provider:small:8"' "$BODY"
http GET /v1/models
is "and the status" 200 "$STATUS"
has "counts" '"embed_calls":1' "$BODY"
has "vectors" '"vectors":1' "$BODY"
http GET /metrics
has "which the figures show" "loci_model_calls_total 1" "$BODY"
http POST /v1/models/reembed -d '{"scope":"store"}'
has "nothing is left to do" '"embedded":0' "$BODY"

# The provider goes away: only what needs it fails.
kill "$provider"
wait "$provider" 2>/dev/null
http POST /v1/models/embed -d '{"texts":["a"]}'
is "without it there is no vector" 503 "$STATUS"
call fact.write '{"key":"city","value":"Bergen"}'
is "and everything else goes on" 200 "$STATUS"
http POST /v1/models/reembed -d '{"wait":false}'
is "the work waits" 200 "$STATUS"
http GET /v1/models
has "and the reason is shown" '"error_code":"unavailable"' "$BODY"
stop
is "the daemon ends well" 0 "$RC"
is "the key is in no file" "" "$(grep -l canary "$TMP"/a.db* "$TMP/daemon.log" "$TMP/daemon.out" \
    "$TMP/body" 2>/dev/null)"
finish
