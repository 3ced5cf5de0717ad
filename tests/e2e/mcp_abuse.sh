#!/bin/bash
# Bad input over stdio and HTTP: lines that are no messages, huge ones, halves, and clients that do
# not read.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
install_mcp
node_test abuse.mjs
finish
