#!/bin/bash
# The first minute with loci: no store, no arguments, no knowledge.
. "$(dirname "$0")/lib.sh"

run
is "loci alone succeeds" 0 "$RC"
has "it says what loci is" "state engine for AI agents" "$OUT"
has "it says what to do first" "loci init" "$OUT"
has "it says where the store will be" "$HOME/.local/share/loci/loci.db" "$OUT"
is "it makes nothing" "" "$(find "$HOME" -mindepth 1)"

run fact list
is "looking before there is a store fails" 1 "$RC"
has "and says how to make one" "loci init" "$ERR"
is "and makes nothing" "" "$(find "$HOME" -mindepth 1)"

run doctor
is "doctor sees that there is no store" 1 "$RC"
has "and says what to do" "loci init" "$OUT"

run init
is "init succeeds" 0 "$RC"
has "init says where" "$HOME/.local/share/loci/loci.db" "$OUT"
has "init says what next" "loci fact write" "$OUT"
is "the store is there" yes "$([ -s "$HOME/.local/share/loci/loci.db" ] && echo yes)"
is "its directory is the user's alone" 700 "$(stat -c %a "$HOME/.local/share/loci")"

run init
is "init twice is harmless" 0 "$RC"
has "and says so" "already" "$OUT"

run
has "loci alone now shows the store" "Your store: $HOME/.local/share/loci/loci.db" "$OUT"
lacks "and no longer asks for init" "There is no store yet" "$OUT"

# The commands that the welcome text suggests must work as printed.
while read -r words; do
    # shellcheck disable=SC2086
    run $words
    is "the suggestion works: loci $words" 0 "$RC"
done < <(printf '%s\n' "$OUT" | awk -F '  +' '$2 ~ /^loci / { print substr($2, 6) }')

run fact current city
has "what was written is read" "Oslo" "$OUT"

rm -r "$HOME/.local"
run fact write city Oslo
is "the first write makes the store by itself" 0 "$RC"
run fact current city
has "and it can be read" "Oslo" "$OUT"

XDG_DATA_HOME=$TMP/data run init
is "XDG_DATA_HOME is honoured" yes "$([ -s "$TMP/data/loci/loci.db" ] && echo yes)"
LOCI_STORE=$TMP/env.db run init
is "LOCI_STORE is honoured" yes "$([ -s "$TMP/env.db" ] && echo yes)"
LOCI_STORE=$TMP/env2.db run init --store "$TMP/flag.db"
is "--store outranks it" yes "$([ -s "$TMP/flag.db" ] && [ ! -e "$TMP/env2.db" ] && echo yes)"
HOME='' run
is "no home is an error" 1 "$RC"
has "that says what to do" "--store" "$ERR"

run --version
has "the version" "loci 0." "$OUT"
run --version --json
json "the version as JSON" "$OUT"
finish
