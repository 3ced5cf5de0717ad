#!/usr/bin/env bash
# Which commands create a missing store: no read; the first write to the default store; of stores
# that the user names: init, batch, --create, and writes of programs.
. "$(dirname "$0")/lib.sh"

N=$TMP/agnet.db
made() { [ -e "$N" ] && echo yes || echo no; }
# creates NAME WANTED - whether $N was created; removes it.
creates() {
    is "$1" "$2" "$(made)"
    rm -f "$N" "$N"-*
}
printf 'Lives in Oslo.\n' >"$TMP/notes.md"

# ---- Reads --------------------------------------------------------------------------------------
while read -r line; do
    read -r -a words <<<"$line"
    run "${words[@]}" --store "$N"
    creates "no store by $line" no
    run "${words[@]}" --store "$N" --create
    creates "not even with --create: $line" no
done <<'END'
doctor
status
events
verify
backup /dev/null/none
export
recall city
context build city
config
jobs
todo
entity
fact list
call fact.list {}
call store.status
where
hook user-prompt
END
feed '{"op":"fact.list"}' batch --store "$N"
is "batch: a first line that reads" 1 "$RC"
creates "batch: creates nothing" no
mcp() {
    local start='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},'
    start+='"protocolVersion":"2025-06-18","clientInfo":{"name":"t","version":"1"}}}'
    feed "$start
{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":$1}
" mcp --store "$N"
}
mcp '{"name":"recall","arguments":{"query":"x"}}'
has "mcp: a read says why" "there is no store at $N" "$OUT"
creates "mcp: no store by a read" no
mcp '{"name":"remember","arguments":{"text":"Lives in Oslo."}}'
creates "mcp: a store by a write" yes

# ---- Programs: stdin is no terminal -------------------------------------------------------------
run call fact.write '{"key":"a","value":1}' --store "$N"
is "call writes" 0 "$RC"
is "call says nothing on stderr" "" "$ERR"
creates "call" yes
run call fact.write '{"key":"a","value":1}' --store "$N" --verbose
has "call --verbose has a record" '"event":"store.created"' "$ERR"
creates "call --verbose" yes
run fact write a 1 --store "$N"
has "a write says that it created the store" "Created the store $N" "$ERR"
run fact write a 2 --store "$N"
is "once" "" "$ERR"
creates "a write" yes
run fact write a 1 --store "$N" --quiet
is "--quiet" "" "$ERR"
creates "a quiet write" yes
run import "$TMP/notes.md" --store "$N"
creates "import" yes
feed '{"op":"fact.write","args":{"key":"a","value":1}}' batch --store "$N"
is "batch says nothing" ":0" "$ERR:$RC"
creates "batch" yes
run init -q --store "$N"
is "init -q is quiet" "0:" "$RC:$OUT$ERR"
creates "init -q" yes
run init --store "$N"
creates "init" yes
run fact write a 1
is "the default store" "0:" "$RC:$ERR"

# ---- People: stdin and stderr are terminals -----------------------------------------------------
for line in "fact write a 1" "remember Lives-in-Oslo" 'call fact.write {"key":"a","value":1}' \
    "import $TMP/notes.md" "serve --listen 127.0.0.1:0 --no-socket" \
    "config set call.timeout_ms 5000"; do
    read -r -a words <<<"$line"
    on_terminal "" "${words[@]}" --store "$N"
    is "a person: $line" 1 "$RC"
    has "a person: $line: says how" "pass --create to create it" "$(flat "$OUT")"
    creates "a person: $line: no store" no
done
LOCI_STORE=$N on_terminal "" fact write a 1
creates "a person: LOCI_STORE" no
on_terminal "" fact write a 1 --store "$N" --create
is "a person: --create" 0 "$RC"
creates "a person: --create creates" yes
on_terminal "" init --store "$N"
creates "a person: init" yes
rm -rf "$HOME/.local"
on_terminal "" fact write a 1
is "a person: the default store" 0 "$RC"

# ---- Did you mean -----------------------------------------------------------------------------
run init --store "$TMP/agent.db"
run fact list --store "$N"
has "a similar name is suggested" "did you mean $TMP/agent.db?" "$ERR"
on_terminal "" fact write a 1 --store "$N"
has "to a person who writes, too" "did you mean $TMP/agent.db?" "$(flat "$OUT")"
run fact list --store "$TMP/quite-another"
lacks "another name is not" "did you mean" "$ERR"

finish
