#!/bin/bash
# Guarantees for agents: a scripted agent is killed and goes on, concurrent writes are all kept,
# and Anthropic's memory tool answers as its reference implementation does.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
install_mcp
node_test agent.mjs
node_test files.mjs "$REPOSITORY/tests/contract/memory/anthropic_memory.txt"
node_test race.mjs "$NPM/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
finish
