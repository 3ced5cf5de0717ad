#!/bin/bash
# `loci map`: the drawing of a window on terminals of 80 and 40 columns, compared with
# tests/e2e/terminal/map_80.txt and map_40.txt (LOCI_TEST_BLESS=1 accepts new output: read it
# first), in a pipe, with and without colour; and --watch, which follows changes of other processes,
# in a store and through a daemon.
bless=${LOCI_TEST_BLESS:-} # lib.sh unsets the variables of loci.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
golden=$(cd "$(dirname "$0")/terminal" && pwd)

if ! command -v tmux >/dev/null; then
    fail "tmux is installed" "run script/setup"
    finish
fi

export LOCI_STORE=$TMP/a.db
"$LOCI" batch --seed 7 <"$golden/window.jsonl" >"$TMP/answers"
lacks "the store is made" '"error"' "$(cat "$TMP/answers")"

# ---- Once ---------------------------------------------------------------------------------------
for columns in 80 40; do
    NO_COLOR=1 as_seen "$columns" map >"$TMP/seen"
    if [ -n "$bless" ]; then
        cp "$TMP/seen" "$golden/map_$columns.txt"
    fi
    is "a terminal of $columns columns" "" "$(diff "$golden/map_$columns.txt" "$TMP/seen")"
    lacks "without colour" $'\033' "$(cat "$TMP/seen")"
done
has "colour on a terminal" $'\033[' "$(TERM=xterm-256color as_seen 80 map)"
run map
is "in a pipe" 0 "$RC"
lacks "nothing is coloured in a pipe" $'\033' "$OUT"
has "nothing is cut in a pipe" "test. The release moved to Friday, because" "$OUT"
lacks "a name cannot turn the line around" $'\u202e' "$OUT"
run map --json
has "JSON is the answer of window.map" '"text":"@MM1.0|' "$OUT"
run map --json --watch
is "JSON cannot be watched" 2 "$RC"
has "and it says what to do instead" "loci events -f --json" "$ERR"
run map --user nobody
is "a user without a window" 1 "$RC"
has "learns how to open one" "window.open" "$ERR"
run map --store "$TMP/none.db"
is "a store that is not there" 1 "$RC"

# ---- --watch ------------------------------------------------------------------------------------
screen() { tmux -S "$TMP/socket" capture-pane -p; }
# shellcheck disable=SC2317 # Called through the function that waits.
shows() { screen | grep -qF -- "$1"; }

# watch ENVIRONMENT… - `loci map --watch` in a terminal of 80 × 24.
watch() {
    rm -f "$TMP/code"
    printf 'set -g status off\n' >"$TMP/tmux.conf"
    env "$@" TERM=xterm-256color tmux -u -S "$TMP/socket" -f "$TMP/tmux.conf" new-session -d \
        -x 80 -y 24 "echo before; '$LOCI' map --watch; echo \$? >'$TMP/code'; exec cat"
}

# end_watch - Ctrl-C; the screen is what it was before.
end_watch() {
    tmux -S "$TMP/socket" send-keys C-c
    wait_for 20 test -s "$TMP/code" || fail "$1: Ctrl-C ends it" "$(screen)"
    is "$1: without an error" 0 "$(cat "$TMP/code" 2>/dev/null)"
    has "$1: the screen comes back" "before" "$(screen)"
    lacks "$1: the drawing is gone" "rules.md" "$(screen)"
    tmux -S "$TMP/socket" kill-server
}

# follow NAME NOTE - a note that another process writes appears.
follow() {
    wait_for 20 shows "dashboard first." || fail "$1: it draws" "$(screen)"
    "$LOCI" resource annotate text:rules.md "$2" >/dev/null
    wait_for 20 shows "note: $2" || fail "$1: a new note appears" "$(screen)"
    "$LOCI" fact write city Oslo >/dev/null # Another event.
    tmux -S "$TMP/socket" resize-window -x 50 -y 8
    wait_for 20 shows "enlarge the terminal" || fail "$1: it follows the size" "$(screen)"
    is "$1: no more lines than there are" 8 "$(screen | wc -l)"
    end_watch "$1"
}

watch LOCI="$LOCI"
follow "in a store" "Tuesday is tomorrow."

"$LOCI" map --watch >"$TMP/drawings" 2>"$TMP/err" &
watcher=$!
# shellcheck disable=SC2317 # Called through the function that waits.
drawings_are() { [ "$(grep -c '^policy' "$TMP/drawings")" = "$1" ]; }
wait_for 20 drawings_are 1 || fail "the first drawing in a pipe" "$(cat "$TMP/err")"
"$LOCI" window policy size_first >/dev/null
wait_for 20 drawings_are 2 || fail "a second drawing" "$(cat "$TMP/drawings")"
is "with the change" "policy size_first" "$(grep '^policy' "$TMP/drawings" | tail -1)"
kill -INT "$watcher"
wait "$watcher"
is "a signal ends it" 0 "$?"

start --store "$TMP/a.db"
unset LOCI_STORE
export LOCI_URL=$URL LOCI_TOKEN=$TOKEN
run map
has "through a daemon" "policy size_first" "$OUT"
watch LOCI="$LOCI"
follow "a daemon" "Seen from afar."
stop
finish
