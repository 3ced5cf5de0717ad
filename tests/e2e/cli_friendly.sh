#!/bin/bash
# Operations as commands: every way to give a value, and what people see.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db

# stored KEY - the value as JSON.
stored() { value "$("$LOCI" call fact.current "{\"key\":\"$1\"}")" value; }
# writes NAME EXPECTED WORDS…: `fact write k WORDS…` stores EXPECTED.
writes() {
    local name=$1 expected=$2
    shift 2
    run fact write k "$@"
    is "$name: exit code" 0 "$RC"
    is "$name" "$expected" "$(stored k)"
}
writes "text" Oslo Oslo
writes "text with spaces" "two words" "two words"
writes "a number" 42 42
writes "a negative number" -5 -5
writes "a fraction" 2.5 2.5
writes "true" true true
writes "an object" '{"a":[1]}' '{"a":[1]}'
writes "almost JSON is text" "{a}" "{a}"
writes "a number with a leading zero is text" 007 007
writes "a version number is text" 3.10 3.10
writes "a number in another form is text" 1e3 1e3
writes "a whole number with a point" 3.0 3.0
writes "JSON when asked for" 3.1 3.10 --json-value
writes "text when asked for" '[1]' '[1]' --text
run fact write k '{"a":1'
has "broken JSON gets a note" "stored as text" "$ERR"
run fact write k '{"a":1' --text
is "no note when text is asked for" "" "$ERR"
run fact write k abc --json-value
is "not JSON although asked for" 2 "$RC"
run fact write k abc --json-value --text
is "both" 2 "$RC"

run fact write ended secret-value
run fact current ended
is "fact current prints the value" secret-value "$OUT"
run fact current ended -v
has "-v prints the rest" "authority" "$OUT"
run fact retract ended
run fact current ended
is "without a valid fact: exit code" 1 "$RC"
has "without a valid fact: the reason" "retracted" "$ERR"
is "without a valid fact: no value" "" "$OUT"
lacks "nor elsewhere" secret-value "$("$LOCI" fact current ended --json)"
writes "a JSON string" 42 '"42"'
writes "by name" Bergen --value Bergen
writes "by name with =" Bodø --value=Bodø
writes "an option before the words" x --source user x
writes "a text with a dash" -x --value -x
writes "a text with a dash behind --" --x -- --x
writes "@@ is an @" @ada @@ada
printf 'from a file\n' >"$TMP/text"
writes "a file" "from a file" "@$TMP/text"
writes "a file by name" "from a file" --value "@$TMP/text"
echo '{"n":1}' >"$TMP/json"
writes "a file of JSON" '{"n":1}' "@$TMP/json"
feed 'from standard input' fact write k -
is "standard input" "from standard input" "$(stored k)"
run fact write k @/no/such/file
is "a file that is not there" 1 "$RC"
has "says how to write an @" "@@" "$ERR"
run fact.write k dotted
is "noun.verb works, too" dotted "$(stored k)"
run fact --user default write k between
is "global options between noun and verb" between "$(stored k)"
run fact write k "$(printf '\xff\xfe')"
is "broken UTF-8 is refused" 2 "$RC"

run fact write k v --observed_at 2026-01-01T00:00:00Z
is "underscores are dashes" 0 "$RC"
run fact write k v --expected-seq 0
is "a conflict is an error" 1 "$RC"
has "in words" "loci: " "$ERR"
run config list --changed
is "a flag" 0 "$RC"
run config list --no-changed
is "its opposite" 0 "$RC"
run config list --changed=false
is "its opposite, spelt out" 0 "$RC"

# ---- Control characters in a terminal -----------------------------------------------------------
run fact write evil "$(printf 'a\033[31mred\007\ntwo')"
run fact current evil
is "a program gets every byte of a value" "$(printf 'a\033[31mred\007\ntwo')" "$OUT"
OUT=$(script -qec "'$LOCI' fact current evil" /dev/null)
lacks "a value cannot act on the terminal" "$(printf '\033[31m')" "$OUT"
run fact current evil -v
lacks "stored text cannot act on the terminal" "$(printf '\033')" "$OUT"
has "it is shown as what it is" '\x1b[31mred' "$OUT"
run fact list
lacks "no colours in a pipe" "$(printf '\033')" "$OUT"
has "a table has a head" "key" "$(line "$OUT" 1)"
# widest_line - columns of the widest line of standard input.
widest_line() {
    python3 -c '
import sys, unicodedata
def columns(line):
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)
print(max(columns(line.rstrip("\n")) for line in sys.stdin))'
}
if command -v script >/dev/null; then
    has "colours on a terminal" "$(printf '\033[')" "$(as_seen 80 fact list)"
    lacks "not with --no-color" "$(printf '\033[')" "$(as_seen 80 fact list --no-color)"
    lacks "not with NO_COLOR" "$(printf '\033[')" "$(NO_COLOR=1 as_seen 80 fact list)"
    run fact write wide "$(printf '東京%.0s' $(seq 100))"
    widest=$(as_seen 60 fact list --no-color | widest_line)
    is "a table stays within the terminal" yes \
        "$([ "$widest" -le 60 ] && [ "$widest" -gt 40 ] && echo yes)"
fi
run fact list --quiet
is "--quiet still answers" 0 "$RC"
run fact current nothing
is "an error in words" 1 "$RC"
lacks "no JSON among the words" '{"error"' "$ERR"
run fact current nothing --json
is "an error as JSON with --json" not_found "$(value "$ERR" error.code)"
is "a table of an answer that is empty" "no facts" "$("$LOCI" fact list --user nobody)"
finish
