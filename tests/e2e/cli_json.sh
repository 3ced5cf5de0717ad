#!/bin/bash
# --json everywhere: whatever is asked, the answer is JSON on standard output, or an error is JSON
# on standard error.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db
run fact write city Oslo --json
json "a write" "$OUT"
id=$(value "$OUT" id)

# answers WORDS… - succeeds with JSON.
answers() {
    run "$@" --json
    is "$* --json: exit code" 0 "$RC"
    json "$* --json" "$OUT"
}
answers init
answers doctor
answers status
answers config
answers config list
answers config get call.timeout_ms
answers config set call.timeout_ms 20000
answers config unset call.timeout_ms
answers jobs
answers jobs list
answers events
answers fact list
answers fact current city
answers fact history city
answers fact get "$id"
answers op list
answers op get fact.write
answers verify
answers rebuild
answers backup "$TMP/backup.db"
answers export "$TMP/export.jsonl"
answers export -
answers import "$TMP/export.jsonl" --store "$TMP/imported.db"
answers restore "$TMP/backup.db" --yes
answers

# The example of every operation, run as the friendly command that help prints for it.
run call op.list
printf '%s' "$OUT" >"$TMP/ops.json"
for name in $(python3 -c '
import json, sys
answer = json.load(open(sys.argv[1]))
print(*[op["name"] for op in answer.get("operations") or answer.get("ops")])' "$TMP/ops.json"); do
    run help "$name"
    command=$(printf '%s\n' "$OUT" | sed -n '/^Example/{n;s/^  loci //p}')
    rm -rf "$TMP/work" && mkdir "$TMP/work"
    (
        cd "$TMP/work" || exit
        eval "$LOCI $command --json" >"$TMP/out" 2>"$TMP/err" </dev/null
    )
    if [ -s "$TMP/out" ]; then
        json "$name: the example answers" "$(cat "$TMP/out")"
    else
        # Made-up ids are not found; everything else about an example must be right.
        json "$name: the example's error" "$(cat "$TMP/err")"
        code=$(value "$(cat "$TMP/err")" error.code)
        case $code in
        not_found | conflict) pass ;;
        *) fail "$name: the example is wrong" "loci $command" "$(cat "$TMP/err")" ;;
        esac
    fi
done

# refuses WORDS… - fails with one line of JSON.
refuses() {
    run "$@" --json
    isnt "$* --json: fails" 0 "$RC"
    is "$* --json: nothing on standard output" "" "$OUT"
    json "$* --json" "$ERR"
}
refuses fact
refuses nonsense
refuses fact current nothing
refuses fact list --store "$TMP/none.db"
refuses config get no.such
refuses jobs get job_none
refuses jobs sing
refuses restore "$TMP/none"
refuses import "$TMP/none"
refuses completion
refuses events --after x
finish
