#!/bin/bash
# Memories on the command line: the short commands, bars for scores, ages for times.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db

run remember "Lives in Austin"
is "remember" 0 "$RC"
has "says what happened" created "$OUT"
has "says how it was read" home "$OUT"
run remember "Lives in Denver"
has "a statement about the same attribute replaces the older one" superseded "$OUT"
old=$(date -u -d '3 days ago' +%Y-%m-%dT%H:%M:%SZ)
run remember "John handles backend" --observed-at "$old" --importance 2
id=$(value "$("$LOCI" recall backend --json)" results.0.id)

run recall "where does the user live?"
is "recall" 0 "$RC"
lacks "a program gets the score as a number" "█" "$OUT"
OUT=$(as_seen 80 recall "where does the user live?")
has "a score is a bar" "█" "$OUT"
has "a time is an age" "just now" "$OUT"
has "the current home" "Lives in Denver" "$OUT"
lacks "not the former one" Austin "$OUT"
OUT=$(as_seen 80 recall backend --limit 1)
has "an older time" "3 days ago" "$OUT"
run recall backend --json
is "JSON has the time itself" "$old" "$(value "$OUT" results.0.observed_at)"

# A question needs no verb, and the verb of the operation still works.
run context "Where does the user live?"
has "context answers a question" "Lives in Denver" "$OUT"
same=$(printf '%s' "$OUT" | grep -v time)
run context build "Where does the user live?"
is "with its verb, too" "$same" "$(printf '%s' "$OUT" | grep -v time)"
run observe "My city is Porto."
has "observe stores what a message states" "created" "$OUT"
is "as a fact" Porto "$("$LOCI" fact current city)"

# On a terminal of 80 columns nothing is cut: the text is wrapped, and its id is below it.
long="The boat of the club is at the third jetty behind the old harbour office"
long="$long, and the key is with Tom"
run remember "$long" --metadata '{"a":1}'
seen=$(as_seen 80 --no-color recall "harbour jetty" --explain --limit 1)
has "a long text is wrapped" "                 harbour office, and the key is with Tom" "$seen"
has "the id is below it" " · mem_" "$seen"
has "the score is explained" "similarity 0." "$seen"
has "and what came close" near_misses "$seen"
is "no line is longer" "" "$(printf '%s\n' "$seen" | grep -E '^.{81}' || true)"
run recall "harbour jetty" --limit 1
has "elsewhere a result is one line" "$long" "$OUT"
run recall "no such thing at all" --min-score 0.99
is "without a result" "no results" "$OUT"

run pin "$id"
is "pin" 0 "$RC"
run memory foundation
has "pinned memories" "John handles backend" "$OUT"
run memory cards John
has "a card" "[person:john]: John handles backend" "$OUT"
run entity list
has "entities" person:john "$OUT"
run todo add "Call Anna" --due-at "$(date -u -d '50 hours' +%Y-%m-%dT%H:%M:%SZ)"
OUT=$(as_seen 80 todo list)
has "a time to come" "in 2 days" "$OUT"
run context build "What does John do?" --budget 500
has "contexts contain memories" "John handles backend" "$OUT"
run forget --entity person:john --dry-run
is "a dry run" 0 "$RC"
has "says what would go" "$id" "$OUT"
has "and shows it" "John handles backend" "$OUT"
run forget "$id" --wait
is "forget" 0 "$RC"
run recall backend
lacks "it is not found any more" "John handles backend" "$OUT"
run entity list
lacks "nor is who it was about" person:john "$OUT"
lacks "nor is it in the file" "John handles backend" "$(tr -d '\0' <"$TMP/a.db")"
run forget
is "what to forget must be said" 2 "$RC"
run remember ""
is "an empty text is refused" 2 "$RC"

# Files of other programs, and files of loci itself.
printf -- '- Plays the cello\n- Keeps bees\n' >"$TMP/notes.md"
run import "$TMP/notes.md"
is "import notes" 0 "$RC"
run recall cello --limit 1
has "they are memories" "Plays the cello" "$OUT"
run import "$TMP/notes.md" --json
is "a repeat only counts" "0 2" "$(value "$OUT" created) $(value "$OUT" mentioned)"
printf '[{"fact":"Owns a kayak","invalid_at":"2020-01-01T00:00:00Z"}]' >"$TMP/zep.json"
"$LOCI" import - --format zep <"$TMP/zep.json" >"$TMP/out"
has "from stdin" ended "$(cat "$TMP/out")"
run recall kayak
lacks "what is over is not found" kayak "$OUT"
run export "$TMP/all.jsonl"
run import "$TMP/all.jsonl" --store "$TMP/b.db"
is "a file of export is a store" 0 "$RC"
run recall cello --limit 1 --store "$TMP/b.db"
has "with its memories" "Plays the cello" "$OUT"
run import "$TMP/none.md"
has "a missing file is named" "none.md" "$ERR"
run help remember
has "help" "Lives in Austin" "$OUT"
finish
