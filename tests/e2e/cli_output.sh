#!/bin/bash
# Formats of answers, what a pipe gets, exit codes, and answers that cannot be written.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db
tab=$'\t'

run fact write city Oslo
run fact write user.name "Ada, Countess of \"Lovelace\""
run fact write user.note "$(printf 'two\nlines\tand a tab')"
run fact write limits '{"tokens":[1,2]}'
id=$("$LOCI" fact list --ids | head -1)

# ---- Formats ------------------------------------------------------------------------------------
run fact list -o csv --columns key,value
is "CSV of RFC 4180" "$(printf 'key,value\r\ncity,Oslo\r\nlimits,"{""tokens"":[1,2]}"\r
user.name,"Ada, Countess of ""Lovelace"""\r\nuser.note,"two\nlines\tand a tab"\r')" "$OUT"
parsed=$("$LOCI" fact list -o csv | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), rows[3]["value"] == "two\nlines\tand a tab", rows[0]["observed_at"][-1])')
is "other programs read it" "4 True Z" "$parsed"
run fact list -o tsv --columns key,value --prefix user.note
is "TSV has one line per row" "key${tab}value
user.note${tab}two\\nlines\\tand a tab" "$OUT"
run fact list -o json
is "-o json is --json" "$("$LOCI" fact list --json)" "$OUT"
run fact list --ids
is "ids alone" "4 $id" "$(wc -l <<<"$OUT") $(head -1 <<<"$OUT")"
run config list --ids --limit 2
is "names where there are no ids" "authority.titles
cache.user_bytes_max" "$OUT"
run fact get "$id" -o csv --columns key,value
is "a record is one row" "$(printf 'key,value\r\ncity,Oslo\r')" "$OUT"
run fact write city Bergen --ids
is "the id of a change" "fact_" "${OUT:0:5}"
run fact list -o table --prefix city
has "-o table is aligned in a pipe, too" "key   value" "$OUT"
run fact list --user nobody -o csv --columns key,id
is "an empty list has its columns" "$(printf 'key,id\r')" "$OUT"

# ---- Pipes --------------------------------------------------------------------------------------
run fact list --prefix city
is "a table in a pipe has tabs and no padding" "key value source observed_at id" \
    "$(line "$OUT" 1 | tr "$tab" ' ')"
has "and exact times" "Z$tab" "$(line "$OUT" 2)"
is "cut finds the value" Bergen "$(line "$OUT" 2 | cut -f2)"
run fact list --limit 1 -o csv
lacks "the cursor is not among the rows" cursor "$OUT"
has "but it is said that there is more" "more: --cursor " "$ERR"
run fact list --limit 1 -q
is "not with --quiet" "" "$ERR"

# ---- Terminals ----------------------------------------------------------------------------------
OUT=$(as_seen 80 --no-color fact write city Rome)
has "a change is a sentence" "changed city = Rome  (fact_" "$OUT"
OUT=$(LOCI_NOW=2100-01-01T00:00:00Z as_seen 80 --no-color fact list)
has "ages follow LOCI_NOW" " years ago" "$OUT"
OUT=$(as_seen 80 --no-color fact list -v)
has "-v has all members" "memory_type" "$OUT"
has "and exact times" "Z" "$(grep observed_at <<<"$OUT")"
lacks "and no log records" '"event"' "$OUT"
OUT=$(as_seen 80 --no-color fact write a b --store "$TMP/new.db" --create)
has "a new store is named" "Created the store $TMP/new.db" "$(flat "$OUT")"
lacks "without log records" '{"time"' "$OUT"
OUT=$(as_seen 80 --no-color fact write a c --store "$TMP/new.db")
lacks "once" Created "$OUT"

# ---- Wrong usage is 2, failure is 1 -------------------------------------------------------------
# exits CODE WORDS…
exits() {
    local code=$1
    shift
    run "$@"
    is "exit code of $*" "$code" "$RC"
}
exits 2 fact list --columns key,vaule
has "the known columns are named" "id, key, value" "$ERR"
exits 2 fact list -o xml
exits 2 fact list --ids --json
exits 2 fact list --json --columns key
exits 2 verify --ids
exits 2 doctor -o csv
exits 2 fact list --limit 0
exits 2 fact list --limit x
exits 2 fact list --cursor x
exits 2 forget
exits 2 migrate
exits 2 fact
exits 2 fact wrte
has "the nearest verb" "did you mean \`loci fact write\`" "$ERR"
exits 2 evnts
has "the nearest command" "did you mean \`loci events\`" "$ERR"
LOCI_NOW=soon exits 2 fact list
exits 1 fact current nothing
: >"$TMP/empty.md"
exits 1 import "$TMP/empty.md"
exits 1 call fact.list '{"limit":0}'
exits 1 fact list --store "$TMP/none.db"

# ---- Output that cannot be written --------------------------------------------------------------
for words in "fact list" "fact list -o csv" "help" "events" "export"; do
    # shellcheck disable=SC2086 # Several words.
    "$LOCI" $words >/dev/full 2>"$TMP/err"
    is "a full disk: $words" "1 yes" "$? $(grep -q 'cannot write to stdout' "$TMP/err" && echo yes)"
    # shellcheck disable=SC2086
    "$LOCI" $words >&- 2>"$TMP/err"
    is "a closed stdout: $words" "1 yes" \
        "$? $(grep -q 'cannot write to stdout' "$TMP/err" && echo yes)"
done
for i in $(seq 200); do
    printf '{"op":"fact.write","args":{"key":"k%d","value":"%01000d"}}\n' "$i" "$i"
done | "$LOCI" batch >/dev/null
("$LOCI" fact list --limit 200 2>"$TMP/err"; echo $? >"$TMP/rc") | true
is "a reader that went away is no news" "" "$(grep -v '^more:' "$TMP/err")"
is "but not a success" 1 "$(cat "$TMP/rc")"
("$LOCI" export 2>"$TMP/err"; echo $? >"$TMP/rc") | true
is "nor for an export" "1:" "$(cat "$TMP/rc"):$(cat "$TMP/err")"

# ---- Temporary files ----------------------------------------------------------------------------
mkdir "$TMP/scratch"
TMPDIR=$TMP/scratch run text count hello --store "$TMP/none.db"
is "text count needs no store" 0 "$RC"
is "and leaves nothing" "" "$(ls "$TMP/scratch")"
TMPDIR=$TMP/no/such run text count hello --store "$TMP/none.db"
has "TMPDIR is respected" "$TMP/no/such" "$ERR"
finish
