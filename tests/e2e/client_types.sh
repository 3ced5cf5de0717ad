#!/bin/bash
# The types of the Python client: pyright accepts the client and a program under its strictest
# rules, for the oldest Python, and finds every mistake of a wrong program.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
install_clients
cp -r "$REPOSITORY/clients/python/loci_client" "$REPOSITORY"/tests/clients/{natural,wrong}.py "$TMP"
cd "$TMP" || exit 2
echo '{ "typeCheckingMode": "strict", "pythonVersion": "3.9",
    "include": ["natural.py", "loci_client"] }' >pyrightconfig.json
said=$("$NPM/node_modules/.bin/pyright" 2>&1)
is "the client and a program are accepted" "0 errors, 0 warnings, 0 informations" \
    "$(tail -1 <<<"$said")"
sed -i 's/"natural.py", "loci_client"/"wrong.py"/' pyrightconfig.json
said=$("$NPM/node_modules/.bin/pyright" --outputjson 2>/dev/null)
is "each mistake is found" "5 6 7 8 9" "$(printf '%s' "$said" | python3 -c '
import json, sys
print(*sorted({each["range"]["start"]["line"] + 1
               for each in json.load(sys.stdin)["generalDiagnostics"]
               if each["severity"] == "error"}))')"
finish
