#!/bin/bash
# The MCP Inspector on the command line: schemas without a fault in every protocol generation, over
# stdio and HTTP; a call, a resource and a prompt.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
install_mcp

# inspect ARGUMENT… - sets OUT, ERR and RC.
inspect() {
    timeout 60 node "$NPM/node_modules/.bin/mcp-inspector" --cli "$@" >"$TMP/out" 2>"$TMP/err" \
        </dev/null
    RC=$?
    OUT=$(cat "$TMP/out")
    ERR=$(cat "$TMP/err")
}

# asked NAME PART ARGUMENT… - it succeeds, and what it prints has PART.
asked() {
    inspect "${@:3}" --format json -q
    is "$1" 0 "$RC"
    has "$1" "$2" "$OUT$ERR"
}

run --store "$TMP/a.db" fact write team Orion
run --store "$TMP/b.db" fact write team Orion
start --store "$TMP/b.db"
cd "$TMP" || exit 2
for era in legacy auto modern; do
    for transport in stdio http; do
        how=("$LOCI" --store "$TMP/a.db" mcp)
        [ "$transport" = stdio ] ||
            how=(--server-url "$URL/mcp" --header "$AUTH" --stored-auth-only)
        how+=(--protocol-era "$era")
        where="$era, $transport"
        inspect "${how[@]}" --method tools/list --strict
        is "$where: schemas have no error" 0 "$RC"
        lacks "$where: schemas have no warning" warning "$ERR"
        has "$where: tools are listed" read_facts "$OUT"
        # The rest is the same code in every generation, and each run takes a second: one of them
        # for each kind of request.
        case $era in
        legacy)
            asked "$where: a prompt" Orion "${how[@]}" --method prompts/get --prompt-name bootstrap
            ;;
        auto)
            asked "$where: a tool" Orion "${how[@]}" --method tools/call --tool-name read_facts \
                --tool-args-json '{"action":"current","key":"team"}'
            ;;
        modern)
            asked "$where: a resource" Orion "${how[@]}" --method resources/read --uri loci://facts
            ;;
        esac
    done
done
inspect "$LOCI" --store "$TMP/a.db" mcp --method tools/call --tool-name set_fact \
    --tool-args-json '{"key":"x"}' -q
is "a tool that refuses" 5 "$RC"
inspect --server-url "$URL/mcp" --stored-auth-only --method tools/list -q
is "the daemon asks for its token" 3 "$RC"
stop
is "the daemon ends" 0 "$RC"
finish
