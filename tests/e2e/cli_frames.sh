#!/bin/bash
# `loci frames`: the trees on terminals of 80 and 40 columns, compared with
# tests/e2e/terminal/frames_80.txt and frames_40.txt (LOCI_TEST_BLESS=1 accepts new output: read it
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

# call OPERATION ARGUMENTS - its answer in OUT.
call() {
    run call --create "$1" "$2"
    is "$1" 0 "$RC"
}
# push ARGUMENTS - the new id in ID.
push() {
    call frame.push "$1"
    ID=$(value "$OUT" id)
}

export LOCI_NOW=2026-03-01T09:00:00Z
push '{"goal":"Find the cause of the timeout","budget":8000,
    "scope":{"actor_id":"planner","session_id":"chat-42"}}'
root=$ID
call frame.use "{\"frame_id\":\"$root\",\"tokens\":1500}"
call frame.reserve "{\"frame_id\":\"$root\",\"tokens\":500}"
push "{\"goal\":\"Read the pool\",\"parent_id\":\"$root\",\"budget\":3000}"
pool=$ID
push "{\"goal\":\"Measure\",\"parent_id\":\"$pool\",\"budget\":500}"
call frame.use "{\"frame_id\":\"$ID\",\"tokens\":260}"
call frame.pop "{\"id\":\"$ID\",\"result\":\"12 ms\"}"
push "{\"goal\":\"Read the tests of the pool, which are long\",\"parent_id\":\"$pool\",
    \"budget\":1000}"
call frame.use "{\"frame_id\":\"$ID\",\"tokens\":1200}"
call frame.tool_begin "{\"frame_id\":\"$ID\",\"call_id\":\"c1\",\"name\":\"grep\"}"
call frame.tool_end "{\"frame_id\":\"$ID\",\"call_id\":\"c1\",\"error\":\"no such file\"}"
push "{\"goal\":\"Ask Ann \\u202ewhether the limit may change for good\",
    \"parent_id\":\"$root\",\"budget\":1000}"
call frame.suspend "{\"id\":\"$ID\",\"reason\":\"waits for approval\"}"
ask=$ID token=$(value "$OUT" token)
push '{"goal":"Write the report","actor_id":"writer"}'
call frame.update "{\"id\":\"$ID\",\"status\":\"waiting\",\"waiting_for\":\"user\"}"

# ---- Once ---------------------------------------------------------------------------------------
export LOCI_NOW=2026-03-01T11:05:00Z
for columns in 80 40; do
    NO_COLOR=1 as_seen "$columns" frames >"$TMP/seen"
    if [ -n "$bless" ]; then
        cp "$TMP/seen" "$golden/frames_$columns.txt"
    fi
    is "a terminal of $columns columns" "" "$(diff "$golden/frames_$columns.txt" "$TMP/seen")"
    lacks "without colour" $'\033' "$(cat "$TMP/seen")"
done
has "colour on a terminal" $'\033[' "$(TERM=xterm-256color as_seen 80 frames)"
run frames
is "in a pipe" 0 "$RC"
lacks "nothing is coloured in a pipe" $'\033' "$OUT"
has "suspended work has its age and id" "may change for good  suspended 2 hours ago  frm_" "$OUT"
lacks "a goal cannot turn the line around" $'\u202e' "$OUT"
lacks "frames that have ended are not drawn" "Measure" "$OUT"
run frames --all
has "unless they are asked for" "✓ Measure  completed 2 hours ago, 260 of 500 used" "$OUT"
run frames --json
is "JSON is the answer of frame.list" "5 Write the report" "$(printf '%s' "$OUT" | python3 -c '
import json, sys
frames = json.load(sys.stdin)["frames"]
print(len(frames), frames[0]["goal"])')"
run frames --json --watch
is "JSON cannot be watched" 2 "$RC"
has "and it says what to do instead" "loci events -f --json" "$ERR"
run frames --user nobody
is "a user without frames" "No frames; \`loci frame push GOAL\` pushes one." "$OUT"
run frames --store "$TMP/none.db"
is "a store that is not there" 1 "$RC"
call frame.resume "{\"token\":\"$token\"}" # Before the token expires, which is long ago.
unset LOCI_NOW

# ---- --watch ------------------------------------------------------------------------------------
screen() { tmux -S "$TMP/socket" capture-pane -p; }
# shellcheck disable=SC2317 # Called through the function that waits.
shows() { screen | grep -qF -- "$1"; }

# follow NAME - `loci frames --watch` in a terminal of 80 × 30 shows a new frame of another process,
# follows the size of the terminal and ends with Ctrl-C.
follow() {
    rm -f "$TMP/code"
    printf 'set -g status off\n' >"$TMP/tmux.conf"
    TERM=xterm-256color tmux -u -S "$TMP/socket" -f "$TMP/tmux.conf" new-session -d -x 80 -y 30 \
        "echo before; '$LOCI' frames --watch; echo \$? >'$TMP/code'; exec cat"
    wait_for 20 shows "Write the report" || fail "$1: it draws" "$(screen)"
    call frame.push "{\"goal\":\"Seen $1\",\"parent_id\":\"$root\",\"budget\":10}"
    wait_for 20 shows "● Seen $1" || fail "$1: a new frame appears" "$(screen)"
    call frame.pop "{\"id\":\"$(value "$OUT" id)\"}"
    tmux -S "$TMP/socket" resize-window -x 50 -y 8
    wait_for 20 shows "enlarge the terminal" || fail "$1: it follows the size" "$(screen)"
    is "$1: no more lines than there are" 8 "$(screen | wc -l)"
    tmux -S "$TMP/socket" send-keys C-c
    wait_for 20 test -s "$TMP/code" || fail "$1: Ctrl-C ends it" "$(screen)"
    is "$1: without an error" 0 "$(cat "$TMP/code" 2>/dev/null)"
    has "$1: the screen comes back" "before" "$(screen)"
    lacks "$1: the drawing is gone" "Write the report" "$(screen)"
    tmux -S "$TMP/socket" kill-server
}

follow "in a store"

"$LOCI" frames --watch >"$TMP/drawings" 2>"$TMP/err" &
watcher=$!
# shellcheck disable=SC2317 # Called through the function that waits.
drawings_are() { [ "$(grep -c '^5 frames' "$TMP/drawings")" = "$1" ]; }
wait_for 20 drawings_are 1 || fail "the first drawing in a pipe" "$(cat "$TMP/err")"
call frame.suspend "{\"id\":\"$ask\"}"
wait_for 20 drawings_are 2 || fail "a second drawing" "$(cat "$TMP/drawings")"
has "with the change" "○ 1 suspended" "$(grep '^5 frames' "$TMP/drawings" | tail -1)"
has "and its age" "for good  suspended just now" "$(cat "$TMP/drawings")"
kill -INT "$watcher"
wait "$watcher"
is "a signal ends it" 0 "$?"

start --store "$TMP/a.db"
unset LOCI_STORE
export LOCI_URL=$URL LOCI_TOKEN=$TOKEN
run frames
has "through a daemon" "● Find the cause of the timeout  active" "$OUT"
follow "through a daemon"
stop
finish
