#!/bin/bash
# bench/talk measures what it says: tiny conversations whose figures are known beforehand.
. "$(dirname "$0")/lib.sh"
TALK=${BUILD_DIR:-$(dirname "$LOCI")}/bench/talk

# talk OPTION… - sets OUT, ERR and RC.
talk() {
    TMPDIR=$TMP "$TALK" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
    RC=$?
    OUT=$(cat "$TMP/out")
    ERR=$(cat "$TMP/err")
}

# figure CASE NAME - of the line of that case.
figure() { value "$(printf '%s\n' "$OUT" | grep -F "\"case\":\"$1\"")" "$2"; }

# ---- Evidence -----------------------------------------------------------------------------------
# Turn 3 is too long for 500 tokens, and takes more than half of 2,000. Turn 4 is stale for the
# first question, and later than turn 2.
python3 - >"$TMP/chat.jsonl" <<'T'
import json
long = " ".join(f"stone {n} of the old harbour wall" for n in range(150))
print(json.dumps({"conversation": "harbour", "about": "The answer is SECRET."}))
for n, text in enumerate(["Hello there.", "The harbour pilot is  called\nMarguerite.", long,
                          "The harbour pilot takes the ferry at pier nine."], 1):
    print(json.dumps({"turn": n, "at": f"2026-02-0{n}T09:00:00Z", "role": "user",
                      "speaker": "Ida", "text": text}))
for question, category, evidence, stale in [
        ("Who is the harbour pilot?", "update", [2], [4]),
        ("How many stones has the harbour wall?", "single", [3], []),
        ("Which pier has the ferry, and who is the pilot?", "multi", [2, 4], []),
        ("Which SECRET is it?", "abstain", [], [])]:
    print(json.dumps({"question": question, "category": category, "evidence": evidence,
                      "stale": stale, "answer": ""}))
T
talk --data "$TMP/chat.jsonl" --json
first=$OUT
is "a conversation is played: $ERR" 0 "$RC"
is "questions with evidence" 3 "$(figure 'evidence all 500' questions)"
is "a text is found whatever its whitespace" 1.0 "$(figure 'evidence category update 500' loci)"
is "a turn that does not fit is not shown" "0.0 0.0" \
    "$(figure 'evidence category single 500' loci) $(figure 'evidence category single 500' bm25)"
is "but with more room" "1.0 1.0" \
    "$(figure 'evidence category single 8000' loci) $(figure 'evidence category single 8000' bm25)"
is "shares are averaged over questions" 0.6667 "$(figure 'evidence all 500' bm25)"
is "the unlimited budget shows all" 1.0 "$(figure 'evidence all 1000000' loci)"
is "a stale turn behind the current one is not fresh" "1.0 0.0" \
    "$(figure 'update 1000000' current) $(figure 'update 1000000' fresh)"
is "questions without evidence" 1 "$(figure 'tokens without evidence 2000' questions)"
is "the header is not played" 4 "$(figure 'facts all' turns)"
talk --data "$TMP/chat.jsonl" --json
is "the same file gives the same figures" "$first" "$OUT"
talk --data "$TMP/chat.jsonl" --min-evidence 0.6 --min-whole 0.9
is "bounds are kept: $ERR" 0 "$RC"
talk --data "$TMP/chat.jsonl" --min-ratio 9
is "beyond a bound" 1 "$RC"

# ---- Changes ------------------------------------------------------------------------------------
cat >"$TMP/lines.txt" <<'T'
Good morning.
Actually, the shoe size is 44.
T
talk --changes-only "$TMP/lines.txt" --json --rules --max-wrong 0
is "a changed fact is found" "1 1 2 500.0" \
    "$RC $(figure 'facts lines.txt' changed) $(figure 'facts all' turns) $(
        figure 'facts all' changed_per_1000)"
is "its rule too" 1 "$(figure 'rule explicit' changed)"
talk --changes-only "$TMP/lines.txt" --failures
has "the change is shown" "superseded shoe_size (explicit): 39 -> 44" "$OUT"
has "and the turn" "turn 2, user: Actually, the shoe size is 44." "$OUT"

# case_of SAID MUST_SHOW KIND - a line about the port, which is Rotterdam.
case_of() {
    printf '{"key":"port","value":"Rotterdam","said":"%s","question":"Which port?",' "$1"
    printf '"must_show":"%s","kind":"%s"}\n' "$2" "$3"
}
{
    case_of "Actually, the port is Antwerp." Antwerp change
    case_of "Good morning." Antwerp change
    case_of "Good morning." Rotterdam keep
    case_of "Actually, the port is Antwerp." Rotterdam keep
    echo '{"key":"shoe_size","new":"44","said":"Actually, the shoe size is 44."}'
    echo '{"key":"car","new":"Volvo","said":"Actually, the shoe size is 44."}'
} >"$TMP/cases.jsonl"
talk --data "$TMP/cases.jsonl" --json
is "cases" "4 2 1 2 1 2 1" "$(figure 'cases cases.jsonl' changes) $(
    figure 'cases cases.jsonl' asked) $(figure 'cases cases.jsonl' shown) $(
    figure 'cases cases.jsonl' right) $(
    figure 'cases cases.jsonl' wrong) $(figure 'cases cases.jsonl' keeps) $(
    figure 'cases cases.jsonl' kept)"
talk --data "$TMP/cases.jsonl" --min-right 0.6
is "too few right changes" 1 "$RC"

# ---- Bad input ----------------------------------------------------------------------------------
echo '{"initial_state":{}}' >"$TMP/state.jsonl"
for file in "$TMP/none.jsonl" "$TMP/state.jsonl"; do
    talk --data "$file"
    is "$file" 2 "$RC"
done
has "the program that reads timelines" statebench "$ERR"
talk --data "$TMP/chat.jsonl" --min-ratio many
is "no number" 2 "$RC"
is "the stores are gone" "" "$(find "$TMP" -name 'loci-state-*')"
finish
