#!/bin/bash
# text.count on the command line and over HTTP: exact with the data of the encodings beside the
# program, an estimate that says so where it is not.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

text="Seven tokens make up this sentence."
run init --store "$TMP/a.db"
run text count "$text" --store "$TMP/a.db" --json
is "it is counted" 0 "$RC"
is "exactly (script/data brings what that needs)" \
    '{"tokens":7,"encoding":"o200k_base","estimated":false}' "$OUT"
is "and quietly" "" "$ERR"
run text count "$text" --store "$TMP/none.db" --json
is "a store is not needed" '{"tokens":7,"encoding":"o200k_base","estimated":false}' "$OUT"
is "and none is created" no "$([ -e "$TMP/none.db" ] || echo no)"
run text count "<|endoftext|>" --encoding cl100k_base --store "$TMP/a.db" --json
is "special tokens are text" 7 "$(value "$OUT" tokens)"
is "the encoding is said" cl100k_base "$(value "$OUT" encoding)"
feed "$text" text count - --store "$TMP/a.db" --json
is "from standard input" 7 "$(value "$OUT" tokens)"
run text count "$text" --encoding nonsense --store "$TMP/a.db"
is "an unknown encoding is refused" 2 "$RC"
has "naming those that are known" "o200k_base, cl100k_base" "$ERR"

mkdir "$TMP/empty"
run text count "$text" --set data.dir="$TMP/empty" --store "$TMP/a.db" --json
is "without data it answers too" 0 "$RC"
is "and says that it guesses" true "$(value "$OUT" estimated)"
run text count "$text" --set data.dir="$TMP/empty" --store "$TMP/a.db"
has "the log says why" "o200k_base.loci is not in the folder" "$ERR"
head -c 1000 /dev/zero >"$TMP/empty/o200k_base.loci"
run text count "$text" --set data.dir="$TMP/empty" --store "$TMP/a.db" --json
is "with damaged data as well" true "$(value "$OUT" estimated)"
run text count "$text" --set data.dir="$TMP/empty" --store "$TMP/a.db"
has "the log says what to do" "run script/setup" "$ERR"

start --store "$TMP/a.db"
http POST /v1/text/count -d "{\"text\":\"$text\"}"
is "by its route" 200 "$STATUS"
is "the same answer" '{"tokens":7,"encoding":"o200k_base","estimated":false}' "$BODY"
call text.count '{"text":"","encoding":"cl100k_base"}'
is "nothing is no token" 0 "$(value "$BODY" tokens)"
python3 -c 'print("{\"text\":\"" + "ab" * 1000000 + "\"}")' >"$TMP/long.json"
http POST /v1/text/count -d "@$TMP/long.json"
is "two megabytes without a space" 200 "$STATUS"
stop
is "the daemon ends" 0 "$RC"
finish
