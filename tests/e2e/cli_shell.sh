#!/bin/bash
# `loci shell`: commands from a script, and from a terminal (cli_shell.py).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)

# ---- A script -----------------------------------------------------------------------------------
feed 'fact write city Oslo

# A comment.
  fact current city
loci fact current city --json
fact write "two words" "it'"'"'s" --json
fact current two\ words
' shell --store "$TMP/a.db"
is "all commands succeed" 0 "$RC"
is "their answers, in order" "Oslo" "$(line "$OUT" 4)"
has "options of a line" '"value":"Oslo"' "$(line "$OUT" 5)"
is "quotes" "it's" "$(line "$OUT" 7)"
is "the new store is named, and nothing else" "Created the store $TMP/a.db" "$ERR"
feed 'fact current city' shell --store "$TMP/a.db"
is "a last line without an end" "0:Oslo" "$RC:$OUT"
feed '' shell --store "$TMP/none.db"
is "an empty script" "0:" "$RC:$OUT$ERR"
isnt "opens nothing" 0 "$(test -e "$TMP/none.db"; echo $?)"
feed 'fact current none
fact current city
fact write a "b
no-such-command
fact current city' shell --store "$TMP/a.db"
is "a failure is in the exit code" 1 "$RC"
is "and the others run" $'Oslo\nOslo' "$OUT"
has "each says what failed" 'no fact "none"' "$ERR"
has "an open quote" "a quote is not closed" "$ERR"
has "an unknown command" "no-such-command" "$ERR"
feed 'fact current none
fact current city' shell -e --store "$TMP/a.db"
is "-e stops at the first one" "1:" "$RC:$OUT"
feed 'exit
fact current city' shell --store "$TMP/a.db"
is "exit" "0:" "$RC:$OUT"
feed 'call fact.current -
batch
fact current city' shell --store "$TMP/a.db"
is "commands do not read the script" "Oslo" "$OUT"
feed 'fact current city' shell --json --store "$TMP/a.db"
has "options of the shell" '"value":"Oslo"' "$OUT"
feed 'fact write city Rome --store '"$TMP"'/b.db
fact current city
fact current city --store '"$TMP"'/b.db' shell --store "$TMP/a.db"
is "another store in a line" $'Oslo\nRome' "$(printf '%s\n' "$OUT" | tail -2)"
feed 'fact write later 1
fact current later' shell --store "$TMP/new.db"
is "the first write creates the store" 0 "$RC"
feed 'fact list' shell --store "$TMP/none.db"
is "a read does not" 1 "$RC"
printf 'fact list\n%070000d\nfact list\n' 0 >"$TMP/long"
"$LOCI" shell --store "$TMP/a.db" <"$TMP/long" >/dev/null 2>"$TMP/err"
is "a line that is too long" 1 "$?"
has "says so" "longer than the maximum" "$(cat "$TMP/err")"
is "a script leaves no history" 1 "$(test -e "$HOME/.local/state/loci/shell_history"; echo $?)"

# One process, one opening: forty commands open the store once.
yes "call fact.current '{\"key\":\"city\"}'" | head -40 >"$TMP/forty" # `call` logs with -v.
is "the store is opened once" 1 "$(
    "$LOCI" shell --store "$TMP/a.db" -v <"$TMP/forty" 2>&1 >/dev/null |
        grep -c '"event":"engine.opened"')"

# ---- A terminal, and a daemon -------------------------------------------------------------------
start --store "$TMP/a.db"
export LOCI_TOKEN=$TOKEN
feed 'fact write remote yes
fact current remote' shell --url "$URL"
is "over a URL" yes "$(line "$OUT" 4)"
is "on one connection" 0 "$RC"
if "$PYTHON" -S "$HERE/cli_shell.py" "$LOCI" "$TMP" "$URL" >"$TMP/terminal" 2>&1; then
    pass
else
    fail "on a terminal" "$(cat "$TMP/terminal")"
fi
stop
finish
