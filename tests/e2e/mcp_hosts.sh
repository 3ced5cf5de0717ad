#!/bin/bash
# Programs that people use loci from: Claude Code, Codex and Gemini CLI find the server that was
# added with their own commands and the one that `loci mcp install` wrote, and those that connect
# without an account do; Mastra calls every tool. Large to install, so only `script/test --all` runs
# this.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
npm_install hosts --legacy-peer-deps "$NODE_PACKAGE" \
    @anthropic-ai/claude-code@2.1.325 @openai/codex@0.166.0 \
    @google/gemini-cli@0.61.0 @mastra/core@1.71.0 @mastra/mcp@2.0.0 ajv@8.20.0
export DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
export GEMINI_CLI_TRUST_WORKSPACE=true # It starts no servers in an untrusted folder.
unset CODEX_HOME CLAUDE_CONFIG_DIR XDG_CONFIG_HOME

# host ARGUMENT… - a program of the packages; sets OUT and RC. Both of its outputs matter.
host() {
    OUT=$(cd "$HOME" && timeout 120 "$NPM/node_modules/.bin/$1" "${@:2}" 2>&1 </dev/null)
    RC=$?
}

# added NAME CONNECTED - the host lists the server, and says CONNECTED of it.
added() {
    host "$1" mcp list
    is "$1: mcp list" 0 "$RC"
    has "$1: the server is listed" "$LOCI" "$OUT"
    has "$1: its state" "$2" "$OUT"
}

# fresh - a home that no host has seen.
fresh() {
    rm -rf "$HOME"
    mkdir -p "$HOME"
}

run --store "$TMP/a.db" init
server=("$LOCI" --store "$TMP/a.db" mcp)

fresh
host claude mcp add --scope user loci -- "${server[@]}"
is "Claude Code adds the server" 0 "$RC"
added claude "✔ Connected"
host codex mcp add loci -- "${server[@]}"
is "Codex adds the server" 0 "$RC"
added codex enabled
host gemini mcp add --scope user loci "${server[@]}"
is "Gemini CLI adds the server" 0 "$RC"
added gemini Connected

fresh
for pair in "claude-code:claude:✔ Connected" codex:codex:enabled gemini:gemini:Connected; do
    IFS=: read -r client program state <<<"$pair"
    run --store "$TMP/a.db" mcp install "$client" --yes
    is "loci mcp install $client" 0 "$RC"
    added "$program" "$state"
    run --store "$TMP/a.db" mcp uninstall "$client" --yes
    is "loci mcp uninstall $client" 0 "$RC"
    host "$program" mcp list
    lacks "$program no longer lists it" "$LOCI" "$OUT"
done

fresh
start --store "$TMP/b.db"
host claude mcp add --scope user --transport http loci "$URL/mcp" --header "$AUTH"
is "Claude Code adds the daemon" 0 "$RC"
host claude mcp list
has "Claude Code reaches the daemon" "✔ Connected" "$OUT"
stop
is "the daemon ends" 0 "$RC"

node_test mastra.mjs
finish
