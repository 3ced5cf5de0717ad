#!/bin/bash
# The OpenAPI document: two linters find no problem in it, and a proxy that checks all requests and
# answers against it finds no problem in any operation of the daemon.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"

run reference --openapi
is "the document needs no daemon" 0 "$RC"
json "it is JSON" "$OUT"
printf '%s\n' "$OUT" >"$TMP/openapi.json"

# ---- The tools, at versions that Debian's Node.js runs, fetched once -----------------------------
npm_install openapi @redocly/cli@1.34.5 @stoplight/spectral-cli@6.16.3 @stoplight/prism-cli@5.14.2
tool() { "$NPM/node_modules/.bin/$1" "${@:2}"; }
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

lint=$(cd "$TMP" && tool redocly lint --format=json openapi.json 2>"$TMP/redocly.err")
is "redocly finds nothing" "0 errors, 0 warnings" "$(printf '%s' "$lint" | python3 -c '
import json, sys
totals = json.load(sys.stdin)["totals"]
print("%d errors, %d warnings" % (totals["errors"], totals["warnings"]))' 2>&1 | tail -1)"
echo 'extends: ["spectral:oas"]' >"$TMP/spectral.yaml"
lint=$(tool spectral lint --quiet -f json -r "$TMP/spectral.yaml" "$TMP/openapi.json" 2>&1)
is "spectral finds nothing" "[]" "$(printf '%s' "$lint" | tr -d '[:space:]' | head -c 600)"

# ---- Every operation, through a proxy that knows the document ------------------------------------
# Answers are open, so that later versions can add members; here every schema is closed.
python3 - "$TMP/openapi.json" >"$TMP/closed.json" <<'EOF'
import json, sys

def close(value):
    if isinstance(value, list):
        for each in value:
            close(each)
    elif isinstance(value, dict):
        # A schema in a rule about several arguments has "properties" but no type.
        if "properties" in value and "type" in value and isinstance(value["properties"], dict):
            value.setdefault("additionalProperties", False)
        for name, each in value.items():
            if name != "Problem":
                close(each)

document = json.load(open(sys.argv[1]))
close(document)
json.dump(document, sys.stdout)
EOF
run --store "$TMP/a.db" config set store.transfer_dir "$TMP"
start --store "$TMP/a.db"
"$NPM/node_modules/.bin/prism" proxy "$TMP/closed.json" "$URL" \
    --errors --host 127.0.0.1 --port 0 >"$TMP/prism.log" 2>&1 &
prism=$!
# shellcheck disable=SC2317 # Called by wait_for.
is_listening() { grep -q 'listening on http' "$TMP/prism.log"; }
wait_for 60 is_listening || fail "prism starts" "$(tail -3 "$TMP/prism.log")"
proxy=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "$TMP/prism.log" | tail -1)
python3 "$(dirname "$0")/serve_openapi.py" "$proxy" "$TOKEN" >"$TMP/driven" 2>&1
is "every operation keeps to the document" 0 "$?"
has "both ways" "by its route" "$(cat "$TMP/driven")"
tail -20 "$TMP/driven" | grep -v '^ok' >&2
kill "$prism"
wait "$prism" 2>/dev/null
stop
is "the daemon ends" 0 "$RC"
finish
