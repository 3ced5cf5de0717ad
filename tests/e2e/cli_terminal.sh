#!/bin/bash
# Output on a terminal: runs the friendly commands in terminals of 80 and 40 columns and compares
# with tests/e2e/terminal/80.txt and 40.txt. LOCI_TEST_BLESS=1 accepts new output: read it first.
# The store (calls.jsonl), the clock, the seed and the embedder are fixed, so the output is, too.
bless=${LOCI_TEST_BLESS:-} # lib.sh unsets the variables of loci.
. "$(dirname "$0")/lib.sh"
golden=$(cd "$(dirname "$0")/terminal" && pwd)

if ! command -v tmux >/dev/null; then
    fail "tmux is installed" "run script/setup"
    finish
fi

# tour - runs in the terminal; every command is shown before its output.
cat >"$TMP/tour" <<'EOF'
cd "$(dirname "$0")" || exit
t() {
    printf '$ loci %s\n' "$*"
    "$LOCI" "$@"
}
t fact list
t fact list --prefix user.
t fact list --columns value,key
t fact list --limit 1
t fact history city
t fact current city
t fact current nothing
t fact write city Bergen
t fact write city Tromsø
t fact write breakfast "Only coffee, but from a freshly cleaned pot and with a newspaper"
t fact retract city
t fact write city
t memory list
t recall "short answers" --limit 1
t remember "Lives in Tromsø"
t todo
t todo add "Buy brown cheese"
t session messages
t session list
t file list
t file view /memories/notes.md
t environment list --limit 1
t config list --limit 3
t config set call.timeout_ms 5000
t config get call.timeout_ms
t user list
t op list --limit 3
t fact forget limits --dry-run
t verify
t events
t entity
t fact wrte
t fact list --limit 0
t where
t help chat-log
EOF

# capture COLUMNS - the screen after the tour. The server is ours: its socket is in $TMP.
capture() {
    local work=$TMP/$1
    mkdir "$work"
    cp "$TMP/tour" "$work/tour"
    "$LOCI" batch --seed 7 --store "$work/loci.db" <"$golden/calls.jsonl" >"$work/answers"
    lacks "the store is made" '"error"' "$(cat "$work/answers")"
    printf 'set -g history-limit 10000\nset -g status off\n' >"$work/tmux.conf"
    env LOCI="$LOCI" LOCI_STORE=loci.db LOCI_NOW=2026-03-01T12:00:00Z \
        LOCI_MODEL_EMBEDDER=lexical TERM=xterm-256color \
        tmux -u -S "$work/socket" -f "$work/tmux.conf" new-session -d -x "$1" -y 50 \
        "bash '$work/tour'; touch '$work/done'; exec cat"
    wait_for 120 test -e "$work/done" || fail "the tour ends" "$1 columns"
    tmux -S "$work/socket" capture-pane -p -S - >"$work/screen"
    tmux -S "$work/socket" kill-server
}

for columns in 80 40; do
    capture "$columns"
    # Blank lines at the end of the screen are not the program's.
    sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$TMP/$columns/screen" >"$TMP/$columns/seen"
    if [ -n "$bless" ]; then
        cp "$TMP/$columns/seen" "$golden/$columns.txt"
    fi
    difference=$(diff "$golden/$columns.txt" "$TMP/$columns/seen")
    is "a terminal of $columns columns" "" "$difference"
done
finish
