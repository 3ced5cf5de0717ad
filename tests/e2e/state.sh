#!/bin/bash
# Plays the timelines of tests/state into the library and scores which facts the contexts show and
# hide. The floors are just below the scores that the rules reach today: they may rise, never fall.
. "$(dirname "$0")/lib.sh"
STATEBENCH=${BUILD_DIR:-$(dirname "$LOCI")}/bench/statebench
STATE=$(dirname "$0")/../state
TIMELINES=$STATE/timelines.jsonl

# score FILE OPTION… - sets OUT, ERR and RC.
score() {
    TMPDIR=$TMP "$STATEBENCH" --data "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    RC=$?
    OUT=$(cat "$TMP/out")
    ERR=$(cat "$TMP/err")
}

# figure NAME - of the line of all queries.
figure() { value "$(line "$OUT" 1)" "$1"; }

# ---- Our own timelines --------------------------------------------------------------------------
while read -r file perfect recall exposure refused; do
    score "$STATE/$file" --tracks --json --min-perfect "$perfect" --min-recall "$recall" \
        --max-exposure "$exposure"
    is "$file: the floors are kept: $ERR" 0 "$RC"
    is "$file: every query was asked" "$(grep -o '"type": *"query"' "$STATE/$file" | wc -l)" \
        "$(figure queries)"
    is "$file: calls that loci refused" "$refused" \
        "$(printf '%s\n' "$ERR" | sed -n 's/ of [0-9]* calls were refused.*//p')"
    printf '%s\n' "$OUT"
done <<'T'
timelines.jsonl 0.54 0.98 0.58
blind.jsonl     0.50 0.96 0.53 1
T
score "$TIMELINES" --tracks --json
first=$OUT
score "$TIMELINES" --tracks --json
is "the same file gives the same figures" "$first" "$OUT"

# ---- A scorer that cannot find faults would prove nothing ----------------------------------------
# timeline NAME WANTED FORBIDDEN - one fact that a later one takes the place of, and one query.
timeline() {
    python3 - "$@" <<'T'
import json, sys
source = {"type": "user", "identity": None, "authority": "peer"}
fact = {"id": "F-1", "key": "port", "value": "Rotterdam, 40% fee in total", "source": source,
        "ts": "2026-03-02T09:00:00", "is_valid": True, "scope": "global"}
later = {"id": "W-AUTO", "layer": "persistent_facts", "key": "port", "value": "Antwerp, $1,200 fee",
         "source": source, "scope": "global", "supersedes": "F-1"}
query = {"prompt": "Which port do we ship from?",
         "ground_truth": {"must_mention": sys.argv[2].split("/"),
                          "must_not_mention": sys.argv[3].split("/")}}
print(json.dumps({
    "id": sys.argv[1], "track": "own",
    "initial_state": {"identity_role": {"user_name": "Ida", "authority": "manager"},
                      "persistent_facts": [fact], "working_set": [],
                      "environment": {"now": "2026-03-02T09:01:00"}},
    # Not in the order of time: the query comes last.
    "events": [dict(query, type="query", ts="2026-03-02T09:05:00"),
               {"type": "supersession", "ts": "2026-03-02T09:03:00", "writes": [later]}]}))
T
}

timeline good Antwerp Rotterdam >"$TMP/good.jsonl"
score "$TMP/good.jsonl" --json --min-perfect 1 --min-recall 1 --max-exposure 0
is "a right context is perfect" "0 1.0 1.0 0.0" \
    "$RC $(figure perfect) $(figure recall) $(figure exposure)"

timeline swapped Rotterdam Antwerp >"$TMP/swapped.jsonl"
score "$TMP/swapped.jsonl" --json
is "what is missing and what is exposed counts" "0.0 0.0 1.0" \
    "$(figure perfect) $(figure recall) $(figure exposure)"
for bound in "--min-perfect 0.5" "--min-recall 0.5" "--max-exposure 0.5"; do
    # shellcheck disable=SC2086 # A name and its value.
    score "$TMP/swapped.jsonl" $bound
    is "beyond $bound" 1 "$RC"
done
score "$TMP/swapped.jsonl" --failures
has "what is missing is shown" "missing   Rotterdam" "$OUT"
has "what is exposed is shown" "exposed   Antwerp" "$OUT"

while IFS=';' read -r name wanted forbidden recall exposure; do
    timeline words "$wanted" "$forbidden" >"$TMP/words.jsonl"
    score "$TMP/words.jsonl" --json
    is "$name" "$recall $exposure" "$(figure recall) $(figure exposure)"
done <<'T'
half of them;40%/Antwerp;Hamburg;0.5;0.0
either;Antwerp;Hamburg|antwerp;1.0;1.0
any case;Antwerp;ANTWERP;1.0;1.0
a part of a word is not the word;Antwerp;Antwer;1.0;0.0
a sum with its sign;Antwerp;$1,200;1.0;1.0
a sum without its sign is another word;Antwerp;1,200;1.0;0.0
an ordinary word is not judged;total/Antwerp;Hamburg;1.0;0.0
what nobody said is not judged;Gdansk/Antwerp;Hamburg;1.0;0.0
what the question says is not guarded;Antwerp;port;1.0;0.0
T

# ---- Contexts for others, and bad input ----------------------------------------------------------
score "$TMP/good.jsonl" --contexts "$TMP/contexts.jsonl"
is "a context has its timeline" good "$(value "$(cat "$TMP/contexts.jsonl")" timeline)"
has "and its text" Antwerp "$(cat "$TMP/contexts.jsonl")"
score "$TMP/none.jsonl"
is "no file" 2 "$RC"
echo '[1]' >"$TMP/bad.jsonl"
score "$TMP/bad.jsonl"
is "no timeline" 2 "$RC"
score "$TMP/good.jsonl" --min-perfect many
is "no number" 2 "$RC"
is "the stores are gone" "" "$(find "$TMP" -name 'loci-state-*')"
finish
