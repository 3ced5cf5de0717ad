#!/bin/bash
# Bad input over stdio and HTTP: lines that are no messages, huge ones, halves, and clients that do
# not read.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/mcp_lib.sh
. "$(dirname "$0")/mcp_lib.sh"
# shellcheck disable=SC2086 # A list.
npm_install mcp $MCP_PACKAGES
node_test abuse.mjs
finish
