#!/bin/bash
# Clients that others wrote: both versions of the official SDK use everything that the server
# offers, and agent frameworks list and call every tool; over stdio and over HTTP.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
install_mcp
node_test clients.mjs
node_test frameworks.mjs
finish
