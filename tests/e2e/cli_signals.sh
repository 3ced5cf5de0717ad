#!/bin/bash
# Ctrl-C: work stops, says so, and leaves the store whole.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db
for i in $(seq 3000); do
    printf '{"op":"fact.write","args":{"key":"k%s","value":%s}}\n' $((i % 100)) "$i"
done >"$TMP/lines"
"$LOCI" batch <"$TMP/lines" >/dev/null

# A batch that waits for its next line.
mkfifo "$TMP/pipe"
"$LOCI" batch <"$TMP/pipe" >"$TMP/out" 2>"$TMP/err" &
pid=$!
exec 7>"$TMP/pipe"
echo '{"op":"fact.write","args":{"key":"a","value":1}}' >&7
wait_for 10 test -s "$TMP/out"
kill -INT "$pid"
wait "$pid"
is "a waiting batch ends like an interrupted command" 130 "$?"
exec 7>&-
run call fact.current '{"key":"a"}'
is "what it answered is kept" 1 "$(value "$OUT" value)"

# Long work, stopped somewhere: wherever it was, nothing may be broken.
for command in verify rebuild "backup $TMP/b.db" "export $TMP/e.jsonl" "import $TMP/lines"; do
    # shellcheck disable=SC2086
    "$LOCI" $command >"$TMP/out" 2>"$TMP/err" &
    pid=$!
    sleep 0.02
    kill -INT "$pid" 2>/dev/null
    wait "$pid"
    rc=$?
    case $rc in
    0 | 1 | 130) pass ;;
    *) fail "loci $command after Ctrl-C" "exit code $rc" "$(cat "$TMP/err")" ;;
    esac
    run fact list --limit 1
    is "the store is fine after loci $command was stopped" 0 "$RC"
done
is "no half of an export is left" "" "$(find "$TMP" -name '*.part')"
run verify
is "all of it verifies" 0 "$RC"

# Terminating a batch in the middle of its input keeps exactly what it answered.
"$LOCI" batch --store "$TMP/k.db" <"$TMP/lines" >"$TMP/killed" 2>/dev/null &
pid=$!
wait_for 10 test -s "$TMP/killed"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
answered=$(grep -c '^{"ok":.*}$' "$TMP/killed")
run call event.list '{"limit":1}' --store "$TMP/k.db"
head_seq=$(value "$OUT" head_seq)
is "killed: what was answered is there, and at most one more" yes \
    "$([ "$head_seq" -ge "$answered" ] && [ "$head_seq" -le $((answered + 1)) ] && echo yes)"
finish
