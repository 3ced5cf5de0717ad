#!/bin/bash
# `loci top`: once in a pipe and on terminals of 80 and 40 columns, with and without colour, and
# live until Ctrl-C. tests/unit/cli/test_guard_draw.c has the whole drawing, of fixed figures.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

if ! command -v tmux >/dev/null; then
    fail "tmux is installed" "run script/setup"
    finish
fi

export LOCI_STORE=$TMP/a.db
"$LOCI" init >/dev/null
run top --once
is "without a daemon" 1 "$RC"
has "it says what to do" "--url" "$ERR"

start --store "$TMP/a.db" --set guard.limit_bytes=4000000000
unset LOCI_STORE
export LOCI_URL=$URL LOCI_TOKEN=$TOKEN
call guard.report '{"agent_id":"writer","name":"contexts","bytes":524288000}'
run top --once
is "once" 0 "$RC"
has "the level" "normal  " "$OUT"
has "the limit" "of 3.7G, limit: setting" "$OUT"
has "the course" "trend  " "$OUT"
has "categories" "llm_buffers                       500M" "$OUT"
has "agents" "writer                            500M" "$OUT"
lacks "nothing is coloured in a pipe" $'\033' "$OUT"
run top --json
has "JSON is the answer of guard.status" '"level":"normal"' "$OUT"

for columns in 80 40; do
    NO_COLOR=1 as_seen "$columns" top --once >"$TMP/seen"
    lacks "$columns columns without colour" $'\033' "$(cat "$TMP/seen")"
    has "$columns columns" "llm_buffers" "$(cat "$TMP/seen")"
done
has "colour on a terminal" $'\033[' "$(TERM=xterm-256color as_seen 80 top --once)"

# ---- Live ---------------------------------------------------------------------------------------
screen() { tmux -S "$TMP/socket" capture-pane -p; }
# shellcheck disable=SC2317 # Called through the function that waits.
shows() { screen | grep -qF -- "$1"; }
printf 'set -g status off\n' >"$TMP/tmux.conf"
TERM=xterm-256color tmux -u -S "$TMP/socket" -f "$TMP/tmux.conf" new-session -d -x 80 -y 40 \
    "echo before; '$LOCI' top; echo \$? >'$TMP/code'; exec cat"
wait_for 20 shows writer || fail "it draws" "$(screen)"
call guard.report '{"agent_id":"reader","name":"contexts","bytes":1048576}'
wait_for 20 shows reader || fail "and draws again" "$(screen)"
tmux -S "$TMP/socket" send-keys C-c
wait_for 20 test -s "$TMP/code" || fail "Ctrl-C ends it" "$(screen)"
is "without an error" 0 "$(cat "$TMP/code")"
has "the screen comes back" before "$(screen)"
lacks "the drawing is gone" writer "$(screen)"
tmux -S "$TMP/socket" kill-server
stop
finish
