#!/bin/bash
# The client for Node.js as a program gets it: packed, installed in a clean project, imported and
# required, type-checked; every operation, pages, faults, and a stream across a restart.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
# shellcheck source=tests/e2e/client_lib.sh
. "$(dirname "$0")/client_lib.sh"
install_clients
client_package
files=$(tar -tzf "$CLIENT")
has "the package has the module" package/dist/esm/index.js "$files"
has "and that for require" package/dist/cjs/index.d.ts "$files"
has "and its page" package/README.md "$files"
lacks "and no sources" package/src "$files"

# ---- In a clean project
mkdir "$TMP/project"
cd "$TMP/project" || exit 2
echo '{ "name": "project", "private": true, "type": "module" }' >package.json
npm install --cache "$TMP/cache" --offline --no-audit --no-fund "$CLIENT" >"$TMP/npm.log" 2>&1
is "it installs without a network" 0 "$?"
is "and brings nothing along" "loci-client" "$(cd node_modules && echo *)"
cp "$REPOSITORY"/tests/clients/*.m[jt]s "$REPOSITORY"/tests/clients/*.cts .
# No library of types but the compiler's own: those of the client must be enough.
said=$("$NPM/node_modules/.bin/tsc" --strict --noEmit --module nodenext --target es2022 \
    --lib es2022,dom natural.mts natural.cts 2>&1)
is "programs compile under tsc --strict" "" "$said"
is "it is required" "function 0.1.0" \
    "$(node --input-type=commonjs -e 'const l = require("loci-client");
        console.log(typeof l.Loci, l.VERSION)' 2>&1)"
is "its version is that of its package" \
    "$(value "$(cat "$REPOSITORY/clients/node/package.json")" version)" \
    "$(node -e 'import("loci-client").then((l) => console.log(l.VERSION))')"

# ---- With a daemon
client_daemon
client_test node calls.mjs
ln -s "$NPM/node_modules/@anthropic-ai" node_modules/@anthropic-ai
said=$("$NPM/node_modules/.bin/tsc" --strict --skipLibCheck --noEmit --module nodenext \
    --target es2022 natural_memory.mts 2>&1)
is "the memory tool has the types of the SDK" "" "$said"
client_test node memory_tool.mjs
page_file agent.mjs >"$TMP/program"
mv "$TMP/program" agent.mjs
is "the program of the manual" "$(page_file agent.out)" \
    "$(LOCI_URL=unix:$SOCKET timeout 60 node agent.mjs 2>&1)"
client_restarts node stream.mjs
stop
is "the daemon ends" 0 "$RC"
finish
