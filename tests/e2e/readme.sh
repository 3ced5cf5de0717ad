#!/bin/bash
# Every command of README.md that uses `loci` works as printed, in that order, in an empty home.
#
# docs.sh runs the whole page with the program that was built. This script needs nothing but the
# program, so tests/package/ runs it with an installed one, also in another root.
#
# Run are lines of its ```sh blocks that begin with `loci` or `printf`. Left out: `loci mcp`, which
# changes the configuration of other programs and has tests of its own, `loci serve`, which stays,
# and commands that need a PostgreSQL server. A command that follows the log (-f) is ended after a
# moment.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir "$TMP/bin"
ln -s "$LOCI" "$TMP/bin/loci"
readme=$(dirname "$0")/../../README.md
commands=$(awk '/^```/ {inside = $0 == "```sh" && !inside; next} inside' "$readme" |
    sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' |
    grep -E '^(loci|printf) ' | grep -vE '^loci (mcp|serve)\b|postgresql://')
cd "$HOME" || exit 2
while read -r command; do
    case $command in
    *" -f "* | *" -f") seconds=1 expected=124 ;;
    *) seconds=60 expected=0 ;;
    esac
    OUT=$(PATH=$TMP/bin:$PATH timeout "$seconds" bash -c "$command" 2>&1 </dev/null)
    is "$command" "$expected" "$?"
    [ "$expected" = 124 ] || isnt "it prints something: $command" "" "$OUT"
done <<<"$commands"
is "there are commands to run" yes "$([ "$passed" -ge 25 ] && echo yes)"
finish
