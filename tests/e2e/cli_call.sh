#!/bin/bash
# `loci call`: the contract that programs rely on. One object on standard output and 0; or one error
# on standard error, nothing on standard output, and 1 (2 when the command was not understood).
. "$(dirname "$0")/lib.sh"
S=$TMP/a.db

# fails_with NAME RC CODE: the last run failed as it should.
fails_with() {
    is "$1: exit code" "$2" "$RC"
    is "$1: nothing on standard output" "" "$OUT"
    is "$1: one line" 1 "$(printf '%s\n' "$ERR" | wc -l)"
    is "$1: code" "$3" "$(value "$ERR" error.code)"
    isnt "$1: has a message" "" "$(value "$ERR" error.message)"
}

run call fact.write '{"key":"city","value":"Oslo"}' --store "$S"
is "a store that does not exist is created" 0 "$RC"
is "nothing on standard error" "" "$ERR"
is "one line" 1 "$(printf '%s\n' "$OUT" | wc -l)"
has "the answer has an id" "fact_" "$(value "$OUT" id)"

run --store "$S" call fact.current '{"key":"city"}'
is "options may come first" Oslo "$(value "$OUT" value)"
LOCI_STORE=$S run call fact.current '{"key":"city"}'
is "LOCI_STORE is the default" Oslo "$(value "$OUT" value)"
feed '{"key":"city"}' call fact.current - --store "$S"
is "- reads standard input" Oslo "$(value "$OUT" value)"
run call fact.list --store "$S"
is "no arguments are {}" 0 "$RC"
run call fact.list '' --store "$S"
is "empty arguments are {}" 0 "$RC"
feed '' call fact.list - --store "$S"
is "an empty standard input is {}" 0 "$RC"

run call fact.write '{"key":"city","value":"Paris"}' --user ada --store "$S"
is "--user acts for another user" 0 "$RC"
run call fact.current '{"key":"city"}' --store "$S"
is "the first user is not touched" Oslo "$(value "$OUT" value)"
LOCI_USER=ada run call fact.current '{"key":"city"}' --store "$S"
is "LOCI_USER does the same" Paris "$(value "$OUT" value)"
LOCI_USER=ada run call fact.current '{"key":"city","user_id":"default"}' --store "$S"
is "an argument outranks it" Oslo "$(value "$OUT" value)"
LOCI_TENANT=other run call fact.list --store "$S"
is "another tenant sees nothing" '[]' "$(value "$OUT" facts)"

run call --store "$S"
fails_with "no operation" 2 invalid_argument
run call fact.list '{}' more --store "$S"
fails_with "a word too many" 2 invalid_argument
run call fact.list --sotre "$S"
fails_with "an unknown option" 2 invalid_argument
has "the option meant is suggested" "--store" "$ERR"
run call fact.list --store
fails_with "an option without its value" 2 invalid_argument
run call fact.wirte '{}' --store "$S"
fails_with "an unknown operation" 1 not_found
has "the operation meant is suggested" "fact.write" "$ERR"
run call fact.list '{' --store "$S"
fails_with "broken JSON" 1 invalid_argument
run call fact.list '[]' --store "$S"
fails_with "arguments that are no object" 1 invalid_argument
run call fact.write '{"key":"k"}' --store "$S"
fails_with "a missing parameter" 1 invalid_argument
has "it is named" "value" "$ERR"
run call fact.current '{"key":5}' --store "$S"
fails_with "a wrong type" 1 invalid_argument
run call fact.current '{"kee":"city"}' --store "$S"
fails_with "an unknown parameter" 1 invalid_argument
run call fact.current '{"key":"nothing here"}' --store "$S"
fails_with "a key that is not there" 1 not_found
run call fact.current '{"key":"a","key":"b"}' --store "$S"
fails_with "a name twice" 1 invalid_argument
run call fact.current '{"key":"a\u0000b"}' --store "$S"
fails_with "an embedded NUL" 1 invalid_argument
run call fact.current "$(printf '{"key":"\xff"}')" --store "$S"
fails_with "broken UTF-8" 1 invalid_argument
run call fact.list --store "$TMP/no/such/directory/a.db"
is "a directory that is not there: exit code" 1 "$RC"
json "a directory that is not there: JSON" "$ERR"
run call fact.list --store "$S" --set no.such=1
is "an unknown setting: exit code" 1 "$RC"
is "an unknown setting: code" invalid_argument "$(value "$ERR" error.code)"
run call fact.list --store "$S" --set nonsense
is "--set without a value: code" invalid_argument "$(value "$ERR" error.code)"
run call fact.list --store postgresql://nowhere/loci
is "a URL that cannot be served: exit code" 1 "$RC"
json "a URL that cannot be served: JSON" "$ERR"

run call fact.write '{"key":"n","value":9223372036854775807}' --store "$S"
run call fact.current '{"key":"n"}' --store "$S"
has "integers stay exact" '"value":9223372036854775807' "$OUT"

"$LOCI" call fact.list --store "$S" >/dev/full 2>"$TMP/err"
is "an answer that cannot be written is a failure" 1 "$?"
run call fact.list --store "$S" --verbose
is "--verbose keeps the answer clean" 0 "$RC"
json "and logs JSON lines" "$OUT
$ERR"
finish
