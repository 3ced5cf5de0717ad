#!/bin/bash
# The adapters of the Node.js client with the packages that they serve: LangGraph's own suite for
# checkpointers, a graph, a store, the OpenAI Agents SDK, the AI SDK, and the types of all.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
# shellcheck source=tests/e2e/client_lib.sh
. "$(dirname "$0")/client_lib.sh"
install_adapters
client_package

# ---- A project with the hosts and the packed client
mkdir -p "$TMP/project/node_modules"
cd "$TMP/project" || exit 2
echo '{ "name": "project", "private": true, "type": "module" }' >package.json
for package in "$NPM"/node_modules/*; do
    ln -s "$package" node_modules/
done
mkdir node_modules/loci-client
tar -xzf "$CLIENT" -C node_modules/loci-client --strip-components 1
cp "$REPOSITORY"/tests/clients/*.m[jt]s .
said=$("$NPM/node_modules/.bin/tsc" --strict --skipLibCheck --noEmit --module nodenext \
    --target es2022 --lib es2023,dom natural_adapters.mts 2>&1)
is "programs compile under tsc --strict" "" "$said"
is "adapters are required, too" "function function function" \
    "$(node --input-type=commonjs -e 'console.log(...["langgraph", "openai-agents", "ai-sdk"].map(
        (name) => typeof Object.values(require("loci-client/" + name))[0]))' 2>&1)"

# ---- With a daemon
export LANGSMITH_TRACING=false LANGCHAIN_TRACING_V2=false OPENAI_AGENTS_DISABLE_TRACING=1
client_daemon
# Its command does not start in version 1.1.1 (it imports a name that is not exported).
echo 'export default { test: { globals: true, include: ["langgraph_suite.mjs"], watch: false } };' \
    >vitest.config.mjs
NO_COLOR=1 timeout 300 node "$NPM/node_modules/vitest/vitest.mjs" run --reporter=dot \
    >"$TMP/suite.log" 2>&1 </dev/null
is "LangGraph's suite passes" 0 "$?"
ran=$(sed -n 's/^ *Tests  *\([0-9]*\) passed ([0-9]*)$/\1/p' "$TMP/suite.log")
if [ "${ran:-0}" -ge 700 ]; then
    pass
else
    fail "with all of its tests" "$(tail -60 "$TMP/suite.log")"
fi
page_file graph.mjs >"$TMP/program"
mv "$TMP/program" graph.mjs
is "the graph of the manual" "$(page_file graph.out)" \
    "$(LOCI_URL=unix:$SOCKET timeout 60 node graph.mjs 2>&1)"
client_test node langgraph.mjs
client_test node openai_agents.mjs
client_test node ai_sdk.mjs
stop
is "the daemon ends" 0 "$RC"
finish
